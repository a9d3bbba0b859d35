# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of kernels (--kernel), which run.sh runs.
# shellcheck disable=SC2015 # "A && B || fail" fails if either does
# shellcheck disable=SC2016 # for shells in the root and in machines

kernel_tests=(
	"kernels                --kernel takes whole components of a version"
	"kernels_further        further kernels are used only if they are asked for"
	"kernels_newest         headers that are on the mirror before their kernel are not used"
	"kernels_arm64          the kernels of arm64 machines are used only if they are asked for"
	"kernel_path!           --kernel takes a folder with a kernel, and a built tree"
	"kernel_twice!          several kernels of one release do not disturb each other"
)

# kernel_found TREE VERSION: what kernel_find finds among the releases in TREE.
kernel_found() {
	KERNEL_RELEASES=$1 KERNEL_DEBUG=$work KERNEL_64K=$work/64k KERNEL_ARM64=$work/arm64 bash -c 'LAB=tools/lab verb=run
		for noun in log packages kernel; do
			. "$LAB/lib/$noun.sh"
		done
		kernel_find "$1"' sh "$2" 2>"$work/err"
}

test_kernels() {
	local found wanted version failed=0 tree=$work/releases
	refused "no kernel '6.2'; there are 6\\.12\\..* 7\\.2\\..* 6\\.1 7\\.3" run --kernel 6.2 -- true || return
	refused "no kernel '6.12.'" run --kernel 6.12. -- true || return
	mkdir -p "$tree"/{6.12.118+deb13-amd64,7.2.9+deb13-amd64,7.2.12+deb13-amd64,7.21.1-rc1}
	while read -r version wanted; do
		found=$(kernel_found "$tree" "$version")
		status=$?
		[ "$found" = "${wanted#-}" ] && [ "$status" = "$([ "$wanted" = - ] && echo 2 || echo 0)" ] ||
			fail "$version: status $status, $found" || failed=1
	done <<-'END'
		6 6.12.118+deb13-amd64
		6.1 -
		6.12 6.12.118+deb13-amd64
		6.12.11 -
		6.12.118 6.12.118+deb13-amd64
		6.12.118+deb13-amd64 6.12.118+deb13-amd64
		7 -
		7.2 -
		7.2.1 -
		7.2.9 7.2.9+deb13-amd64
		7.2.12 7.2.12+deb13-amd64
		7.21 7.21.1-rc1
		.* -
	END
	return "$failed"
}

# What is not in every root is used only if it is asked for.
test_kernels_further() {
	local tree=$work/further
	mkdir -p "$tree"/{6.1.0-56-amd64,6.12.118+deb13-amd64,7.2.12+deb13-amd64,7.3.4+deb13-amd64}
	[ "$(kernel_found "$tree" "")" = 7.2.12+deb13-amd64 ] || fail "not the newest of all roots" || return
	[ "$(kernel_found "$tree" 6.1)" = 6.1.0-56-amd64 ] || fail "no 6.1" || return
	[ "$(kernel_found "$tree" 7.3)" = 7.3.4+deb13-amd64 ] || fail "no 7.3" || return
	status=0
	kernel_found "$tree" 7 || status=$?
	[ "$status" = 2 ] && grep -q "could be any of 7.2.12+deb13-amd64 7.3.4+deb13-amd64" "$work/err" || fail "7: status $status"
}

test_kernels_newest() {
	local found
	found=$(bash -c 'set -euo pipefail
		. tools/lab/lib/packages.sh
		# The packages that apt knows, by the beginning of their names
		apt-cache() {
			printf "%s\n" linux-{headers,image}-6.1.0-{9,48,56}-amd64 linux-headers-6.1.0-{56,57}-{amd64,common,rt-amd64} \
				linux-image-6.1.0-57-{amd64-unsigned,rt-amd64} linux-{headers,image}-6.12.5+deb13-amd64 |
				grep -e "^${!#}"
		}
		kernel_newest 6.1 amd64 linux-image
		kernel_newest 6.12 amd64 linux-image
		kernel_newest 6.2 amd64 linux-image') || :
	[ "$(xargs <<<"$found")" = "6.1.0-56-amd64 6.12.5+deb13-amd64" ] || fail "found $found"
}

# The kernels of arm64 machines are found by their names only.
test_kernels_arm64() {
	local tree=$work/releases.amd64
	mkdir -p "$tree"/7.2.12+deb13-amd64 "$work"/arm64/7.2.12+deb13-arm64{,-16k}
	[ "$(kernel_found "$tree" arm64)" = 7.2.12+deb13-arm64 ] || fail "no arm64" || return
	[ "$(kernel_found "$tree" arm64-16k)" = 7.2.12+deb13-arm64-16k ] || fail "no arm64-16k" || return
	[ "$(kernel_found "$tree" 7.2)" = 7.2.12+deb13-amd64 ] || fail "7.2 is another one" || return
	status=0
	kernel_found "$tree" arm64-64k || status=$?
	[ "$status" = 2 ] && grep -q "'ohca-lab arm64-64k-kernel' builds it" "$work/err" || fail "arm64-64k: status $status" || return
	mkdir -p "$work/64k"
	echo 7.2.12-ohca-arm64-64k >"$work/64k/release"
	[ "$(kernel_found "$tree" arm64-64k)" = 7.2.12-ohca-arm64-64k ] || fail "no arm64-64k" || return
	refused "machines of --kernel arm64 are emulated" run --kernel arm64 --accel kvm -- true
}

# kernel_runs FOLDER RELEASE: a machine with the kernel in that folder has it, and the driver works there.
kernel_runs() {
	lab run --kernel "$1" --timeout 1500 -- sh -c 'uname -r; ls /sys/class/infiniband'
	[ "$status" = 0 ] && [ "$(xargs <"$work/out")" = "$2 ohca_0" ] || fail "$1: status $status"
}

# kernel_folder DIR RELEASE: makes a folder with what "make install" and "make modules_install" make. Links in it are for inside of the
# root.
kernel_folder() {
	local headers
	mkdir -p "$1/boot" "$1/lib/modules"
	cp "$CACHE/root/boot/vmlinuz-$2" "$1/boot/"
	cp -al "$CACHE/root/usr/lib/modules/$2" "$1/lib/modules/"
	headers=$(readlink -f "$CACHE/root/usr/src/linux-headers-$2")
	ln -sfn "$headers" "$1/lib/modules/$2/build"
}

# kernel_release: prints the release that these tests use.
kernel_release() {
	find "$CACHE/root/usr/lib/modules" -mindepth 1 -maxdepth 1 -name '6.12*' -printf '%f\n'
}

# kernel_package KIND RELEASE FOLDER...: packs these folders of a kernel as "make bindeb-pkg" does
kernel_package() {
	local dir=$other/package kind=$1 release=$2
	shift 2
	rm -rf "$dir"
	mkdir -p "$dir/DEBIAN"
	(cd "$other/kernel" && cp -al --parents "$@" "$dir") || return
	find "$dir" \( -name 'modules.dep*' -o -name 'modules.alias*' -o -name 'modules.symbols*' -o -path '*/modules/*/build' \) -delete
	printf '%s\n' "Package: $kind-$release" "Version: 1" "Architecture: amd64" "Maintainer: test <test@localhost>" \
		"Description: test" >"$dir/DEBIAN/control"
	dpkg-deb -Znone --build "$dir" "$other/$kind-${release}_1_amd64.deb" >/dev/null
}

# A folder, a package, and then a tree in which the same kernel could have been built. Its links are for inside of the root, where the
# modules are uncompressed in the folder of the disk image.
test_kernel_path() {
	local release tree=$other/tree headers modules name
	release=$(kernel_release)
	headers=$CACHE/root/usr/src/linux-headers-$release
	kernel_folder "$other/kernel" "$release"
	kernel_runs "$other/kernel" "$release" || return
	if command -v dpkg-deb >/dev/null; then
		kernel_package linux-image "$release" boot lib/modules || return
		lab run --kernel "$other/linux-image-${release}_1_amd64.deb" -- true
		[ "$status" = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "no linux-headers-$release" "$work/err" ||
			fail "no headers: status $status" || return
		mkdir -p "$other/kernel/usr/src"
		cp -a "$headers" "$other/kernel/usr/src/"
		kernel_package linux-headers "$release" usr/src && kernel_runs "$other/linux-image-${release}_1_amd64.deb" "$release" ||
			return
	fi
	lab exec -- bash -c 'for noun in log seal arch image; do . "tools/lab/lib/$noun.sh"; done; arch_set amd64; image_setup && echo "$IMAGE"'
	modules=$(cat "$work/out")/modules-$release/lib/modules/$release
	mkdir -p "$tree"/{arch/x86/boot,include/config}
	cp "$CACHE/root/boot/vmlinuz-$release" "$tree/arch/x86/boot/bzImage"
	cp "$headers/include/config/kernel.release" "$tree/include/config/"
	for name in drivers lib net crypto fs mm virt block; do
		ln -s "$modules/kernel/$name" "$tree/$name"
	done
	ln -s "$modules"/modules.builtin{,.modinfo} "$tree/"
	for name in "" arch arch/x86 include include/config; do
		find "$headers/$name/" -mindepth 1 -maxdepth 1 -printf '%f\n' | while read -r file; do
			[ -e "$tree/$name/$file" ] || ln -s "/usr/src/linux-headers-$release/$name/$file" "$tree/$name/$file"
		done
	done
	find "$CACHE/${modules#/cache/}/kernel" -name '*.ko' -printf '%P\n' | grep -v ^arch/ | sed 's/ko$/o/' >"$tree/modules.order"
	kernel_runs "$tree" "$release" || return
	# Modules that were built again are copied again. The driver is not built again.
	rm "$tree/block"
	cp -r "$CACHE/${modules#/cache/}/kernel/block" "$tree/"
	kernel_runs "$tree" "$release" && grep -q 'copying kernel' "$work/err" || fail "a module has changed" || return
	! grep 'building ohca' "$work/err" || fail "the driver was built for a change of a module" || return
	kernel_runs "$tree" "$release" || return
	! grep 'copying kernel' "$work/err" || fail "nothing has changed"
}

# kernels_beside RELEASE PID: builds for one kernel do not replace those for others of the same release, and a changed kernel is copied
# beside the one that the process uses.
kernels_beside() {
	local release=$1 using=$2 kernel
	until [ -e "$work/twice/begun" ]; do
		kill -0 "$using" 2>/dev/null || fail "it does not begin: $(cat "$work/twice/out")" || return
		sleep 0.1
	done
	touch "$other/one/boot/vmlinuz-$release"
	for kernel in "$other/two" "$release" "$other/one"; do
		kernel_runs "$kernel" "$release" || return
		! grep 'building ohca' "$work/err" || fail "$kernel: the driver was built again" || return
	done
	grep -q 'copying kernel' "$work/err" || fail "the kernel was not copied again"
}

# Kernels of one release, one of them Debian's, each with a driver of its own. A run keeps the kernel that it began with, although
# that was built again meanwhile.
test_kernel_twice() {
	local release using
	release=$(kernel_release)
	kernel_folder "$other/one" "$release"
	kernel_folder "$other/two" "$release"
	kernel_runs "$other/one" "$release" && kernel_runs "$other/two" "$release" || return
	mkdir "$work/twice"
	"$LAB" run --kernel "$other/one" --timeout 1500 --share "$work/twice" -- sh -c '
		if [ "$OHCA_BOOT" = 0 ]; then
			: >begun
			until [ -e go ]; do sleep 0.1; done
			ohca-host reset
			exec sleep 1000
		fi
		uname -r' >"$work/twice/out" 2>&1 </dev/null &
	using=$!
	if ! kernels_beside "$release" "$using"; then
		kill "$using"
		wait "$using"
		return 1
	fi
	: >"$work/twice/go"
	wait "$using" && [ "$(tr -d '\r' <"$work/twice/out" | tail -n 1)" = "$release" ] || fail "after its reset: $(cat "$work/twice/out")"
}
