# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Builds this checkout, read-only at /repo, into the cache. A part is built only when the contents of its sources
# differ from the hash in its stamp. If another checkout has built it from the same contents, the results are copied.
# Runs inside the root.
#
# $BUILD/ohcad/ohcad                   the device; ohcad-san/ohcad with sanitizers
# $BUILD/ohcactl/ohcactl               the control tool
# $BUILD/guest/ohca-barrier …          the programs of machines, see guest/*.c
# $BUILD/ohca-ssh                      see ssh.c
# $BUILD/tsc_khz                       prints the frequency of the machines' clock without KVM
# $BUILD/module-NAME/ohca.ko           the driver, for the kernel of that name (kernel.sh)
# $BUILD/module-NAME/install/          the driver and the module index, as in /lib/modules/RELEASE
# $BUILD/provider/libohca-rdmav*.so    the provider
# $BUILD/selftests/machine/            the tests that run in machines
# $BUILD/kmod-NAME/kmod/RELEASE/       their modules, for the kernel of that name
# $BUILD/*-arm64/                      the programs, provider and tests for arm64 machines (see arch.sh)
# $BUILD/PART.stamp                    the hash of PART's sources
# $BUILD/PART.known                    a hash of all files' hashes, and what build_hash made of these for PART
# $BUILD/used                          its time is that of the last use; held shared by each run that uses the results

BUILDS=/cache/build
BUILD=$BUILDS/${OHCA_CHECKOUT:-default}

# Hash and name of each file of all parts, and a hash of those; read once for each process.
build_sums='' build_sum=''

# build_hash PART SOURCE...: sets $build_hashed to a hash over the contents and names of all files of these sources, and
# over the root. While no file of any part differs, it is the one that was made for PART before; the list of sources is in such a
# file, too.
build_hash() {
	local part=$1 sum=''
	shift
	[ -n "$build_sums" ] || build_sums=$(find /repo/{Kbuild,Documentation,drivers,include,uapi,tools,selftests/ohca} /etc/ohca \
		-type f -print0 | sort -z | xargs -0 sha256sum)
	[ -n "$build_sum" ] || build_sum=$(sha256sum <<<"$build_sums")
	{ read -r sum build_hashed <"$BUILD/$part.known"; } 2>/dev/null || :
	[[ $sum != "${build_sum%% *}" || ! $build_hashed =~ ^[0-9a-f]{64}$ ]] || return 0
	build_hashed=$({
		cat /etc/ohca/stamp
		awk -v sources="$*" '
			BEGIN { n = split(sources, source, " ") }
			{
				for (i = 1; i <= n; i++)
					if (index($2 "/", source[i] "/") == 1)
						print
			}' <<<"$build_sums"
	} | sha256sum)
	build_hashed=${build_hashed%% *}
	echo "${build_sum%% *} $build_hashed" >"$BUILD/$part.known"
}

# build_needed PART OUTPUT... -- SOURCE...: whether PART, with the OUTPUTs in $BUILD, has to be built, because it was
# never built from the present contents of the SOURCEs and $build_salt. Takes the build's lock, which lasts until build_done or the
# end of the process.
build_needed() {
	local part=$1 outputs=() hash
	shift
	while [ "$1" != -- ]; do
		outputs+=("$1")
		shift
	done
	shift
	[ -d "$BUILD" ] || mkdir -p "$BUILD"
	: >"$BUILD/used"
	exec 7>"$BUILD/lock"
	flock 7
	build_hash "$part" "$@"
	hash=$build_hashed${build_salt-}
	if { build_stamp_is "$BUILD/$part.stamp" "$hash" && build_is_whole "$BUILD" "${outputs[@]}"; } ||
		build_copy "$part" "$hash" "${outputs[@]}"; then
		exec 7>&-
		return 1
	fi
	build_prune
	rm -f "$BUILD/$part.stamp"
	build_stamp=$hash build_outputs=("${outputs[@]}")
}

# build_use: keeps the results of this checkout until this process has ended, however long its machines stay.
build_use() {
	mkdir -p "$BUILD"
	exec {BUILD_USE}>"$BUILD/used"
	flock -s "$BUILD_USE"
}

# build_prune: removes the results of checkouts that were not used for two days. Those that a run uses stay.
build_prune() {
	local used
	find "$BUILDS" -mindepth 2 -maxdepth 2 -name used -mmin +2880 | while read -r used; do
		flock -n -x "$used" rm -rf "${used%/used}" || :
	done
}

# build_stamp_is FILE STAMP: whether the file was written with "echo STAMP".
build_stamp_is() {
	local text=''
	{ IFS= read -rd '' text <"$1"; } 2>/dev/null || :
	[ "$text" = "$2"$'\n' ]
}

# build_is_whole DIR OUTPUT...: whether the OUTPUTs exist and, if they are files, match their seals.
build_is_whole() {
	local dir=$1 output files=()
	shift
	for output; do
		[ -d "$dir/$output" ] || files+=("$dir/$output")
	done
	[ ${#files[@]} = 0 ] || seal_holds "${files[@]}"
}

# build_copy PART HASH OUTPUT...: copies the OUTPUTs from another checkout that has built PART from the same contents;
# false if there is none.
build_copy() {
	local part=$1 hash=$2 stamp from
	shift 2
	for stamp in "$BUILDS"/*/"$part.stamp"; do
		from=${stamp%/*}
		[ "$from" != "$BUILD" ] || continue
		[ "$(cat "$stamp" 2>/dev/null)" = "$hash" ] || continue
		build_is_whole "$from" "$@" || continue
		# The other checkout may begin to build it again meanwhile.
		if build_copy_from "$from" "$@" && [ "$(cat "$stamp" 2>/dev/null)" = "$hash" ]; then
			echo "$hash" >"$BUILD/$part.stamp"
			return 0
		fi
		rm -rf "${@/#/$BUILD/}"
		return 1
	done
	return 1
}

# build_copy_from DIR OUTPUT...: the part of build_copy for one of them.
build_copy_from() {
	local from=$1 output
	shift
	for output; do
		rm -rf "${BUILD:?}/$output"
		mkdir -p "$(dirname "$BUILD/$output")"
		cp -aL --reflink=auto "$from/$output" "$BUILD/$output" || return 1
		[ -d "$BUILD/$output" ] || seal "$BUILD/$output"
	done
}

# build_done PART: marks PART as built.
build_done() {
	local output
	for output in "${build_outputs[@]}"; do
		[ -d "$BUILD/$output" ] || seal "$BUILD/$output"
	done
	echo "$build_stamp" >"$BUILD/$1.stamp"
	exec 7>&-
}

# build_make PART ARGUMENT...: runs make, and prints its output only if it fails.
build_make() {
	local part=$1 log=$BUILD/$1.log status=0
	shift
	mkdir -p "$BUILD"
	progress_begin "building $part" "$log"
	make --no-print-directory -s -j"$(nproc)" "$@" >"$log" 2>&1 || status=1
	progress_end
	if [ "$status" != 0 ]; then
		cat "$log" >&2
		die "could not build $part"
	fi
	# The output without the lines of steps: warnings.
	grep -vE '^ *$|^  [A-Z]+ +[^ ]+$|Skipping BTF' "$log" >&2 || :
}

# build_ohcad [SAN]: builds ohcad; with SAN, with sanitizers in $BUILD/ohcad-san.
build_ohcad() {
	local part=ohcad${1:+-san}
	build_needed "$part" "$part/ohcad" -- /repo/tools/ohcad /repo/tools/program.mk /repo/include || return 0
	note "building $part"
	build_make "$part" -C /repo/tools/ohcad O="$BUILD/$part" SAN="${1:-}"
	build_done "$part"
}

build_ohcactl() {
	build_needed ohcactl ohcactl/ohcactl -- /repo/tools/ohcactl /repo/tools/program.mk || return 0
	note "building ohcactl"
	build_make ohcactl -C /repo/tools/ohcactl O="$BUILD/ohcactl"
	build_done ohcactl
}

build_tsc_khz() {
	build_needed tsc_khz tsc_khz -- /repo/tools/lab/tsc_khz.c || return 0
	cc -O2 -Wall -Wextra -Werror -o "$BUILD/tsc_khz" /repo/tools/lab/tsc_khz.c
	build_done tsc_khz
}

build_ssh() {
	build_needed ssh ohca-ssh -- /repo/tools/lab/ssh.c || return 0
	cc -std=gnu11 -D_GNU_SOURCE -O2 -s -static -Wall -Wextra -Werror -o "$BUILD/ohca-ssh" /repo/tools/lab/ssh.c
	build_done ssh
}

# The programs in guest/*.c
BUILD_GUESTS=(barrier host session wait)

# build_guests: builds all of them. Those that are called often start faster if they are linked statically.
build_guests() {
	local name static dir=guest$arch_suffix
	build_needed "$dir" "${BUILD_GUESTS[@]/#/$dir/ohca-}" -- /repo/tools/lab/guest || return 0
	mkdir -p "$BUILD/$dir"
	for name in "${BUILD_GUESTS[@]}"; do
		static=-static
		[ "$name" != wait ] || static=''
		# shellcheck disable=SC2086 # words
		$arch_cc -std=gnu11 -D_GNU_SOURCE -O2 -s $static -Wall -Wextra -Werror -o "$BUILD/$dir/ohca-$name" "/repo/tools/lab/guest/$name.c"
	done
	build_done "$dir"
}

# build_module RELEASE: builds the driver in a folder of links to the sources, so that the source tree stays clean,
# and there is a folder for each kernel.
build_module() {
	local release=$1 part dir
	part=module-$(kernel_name "$1")
	dir=$BUILD/$part
	if build_salt=$(kernel_salt "$release") build_needed "$part" "$part/ohca.ko" -- /repo/drivers /repo/include /repo/uapi /repo/Kbuild; then
		note "building ohca.ko for $release"
		build_links "$dir/src" Kbuild drivers include uapi
		build_make "$part" -C "$(kernel_build "$release")" "${arch_kbuild[@]}" M="$dir/src" modules
		cp "$dir/src/drivers/infiniband/hw/ohca/ohca.ko" "$dir/ohca.ko"
		build_done "$part"
	fi
	build_index "$release"
}

# build_links DIR NAME...: makes the tree of /repo below the NAMEs in DIR, of links; links to files that were removed
# are removed.
build_links() {
	local dir=$1
	shift
	mkdir -p "$dir"
	find "$dir" -xtype l -delete
	(cd /repo && cp -rsf "${@/#//repo/}" "$dir/")
}

# build_index RELEASE: makes depmod's index of the machines' modules and ohca.ko.
build_index() {
	local dir tree base stamp
	dir=$BUILD/module-$(kernel_name "$1")
	tree=$dir/tree
	image_setup
	base=$(image_modules_of "$1")
	exec 7>"$BUILD/lock"
	flock 7
	stamp="$base $(<"$dir.stamp")"
	if build_stamp_is "$dir/install.stamp" "$stamp"; then
		exec 7>&-
		return
	fi
	rm -f "$dir/install.stamp"
	rm -rf "$tree" "$dir/install"
	mkdir -p "$tree/lib/modules" "$dir/install/updates"
	cp -al "$base/lib/modules/$1" "$tree/lib/modules/"
	rm -f "$tree/lib/modules/$1"/modules.{dep,alias,symbols,softdep,weakdep,devname}*
	rm -f "$tree/lib/modules/$1"/{build,source}
	mkdir -p "$tree/lib/modules/$1/updates"
	cp "$dir/ohca.ko" "$tree/lib/modules/$1/updates/"
	depmod -b "$tree" "$1"
	cp "$tree/lib/modules/$1"/modules.{dep,alias,symbols}{,.bin} "$tree/lib/modules/$1"/modules.{softdep,weakdep} "$dir/install/"
	cp "$dir/ohca.ko" "$dir/install/updates/"
	arch_strip "$dir/install/updates/ohca.ko"
	rm -rf "$tree"
	echo "$stamp" >"$dir/install.stamp"
	exec 7>&-
}

BUILD_PROVIDER=libohca-rdmav34.so

# build_provider: builds libohca inside rdma-core's source, of the same release as the machines' libibverbs.
build_provider() {
	local source so dir=provider$arch_suffix
	build_needed "$dir" "$dir/$BUILD_PROVIDER" "$dir/build/include" -- /repo/tools/rdma-core /repo/include /repo/uapi ||
		return 0
	note "building the provider${arch_suffix:+ for $arch_name}"
	source=$BUILD/rdma-core
	if ! cmp -s /etc/ohca/stamp "$source/.unpacked"; then
		rm -rf "$source"
		mkdir -p "$source"
		tar -xf /usr/src/rdma-core_*.tar.* -C "$source" --strip-components 1
		cp /etc/ohca/stamp "$source/.unpacked"
	fi
	# If the provider was copied from another checkout, only the headers exist.
	[ -e "$BUILD/$dir/build/build.ninja" ] || rm -rf "${BUILD:?}/$dir"
	mkdir -p "$BUILD/$dir"
	: >"$BUILD/$dir.log"
	progress_begin "building the provider" "$BUILD/$dir.log"
	{
		sh /repo/tools/rdma-core/overlay.sh "$source" &&
			so=$(sh /repo/tools/rdma-core/build.sh "$source" "$BUILD/$dir/build" ${arch_suffix:+"$arch_gnu"} | tee /dev/stderr | tail -n 1)
	} >"$BUILD/$dir.log" 2>&1 || so=''
	progress_end
	if [ -z "$so" ]; then
		cat "$BUILD/$dir.log" >&2
		die "could not build the provider"
	fi
	grep -A 5 'warning:' "$BUILD/$dir.log" >&2 || :
	cp "$so" "$BUILD/$dir/"
	build_done "$dir"
}

# build_selftests RELEASE: builds the programs that run in machines, at /opt/ohca there. Some need the compiler of a
# group of packages that may be installed later.
build_selftests() {
	local part=selftests$arch_suffix out
	out=$BUILD/$part/machine
	if build_needed "$part" "$part/machine" -- /repo/selftests/ohca /repo/include /repo/uapi \
		/repo/Documentation/{tutorial,firstqp}.rst /repo/Documentation/examples /repo/tools/lab/lib/klog.awk /etc/ohca; then
		note "building the machines' tests${arch_suffix:+ for $arch_name}"
		mkdir -p "$out"
		find "$out" -name '*.sh' -delete
		build_make "$part" -C /repo/selftests/ohca O="$out" "${arch_make[@]}"
		build_done "$part"
	fi
	[ -e /repo/selftests/ohca/kmod ] || return 0
	part=kmod-$(kernel_name "$1")
	if build_salt=$(kernel_salt "$1") build_needed "$part" "$part/kmod/$1" -- /repo/selftests/ohca/kmod /repo/include; then
		note "building the machines' test module for $1"
		build_make "$part" -C /repo/selftests/ohca O="$BUILD/$part" KDIR="$(kernel_build "$1")" "${arch_kbuild[@]}" kmod
		build_done "$part"
	fi
}

# build_all [KERNEL...]: builds everything, for all kernels of kernel_list, or for these.
build_all() {
	local release kernel releases=()
	for kernel; do
		release=$(kernel_find "$kernel") || exit
		releases+=("$release")
	done
	[ $# -gt 0 ] || mapfile -t releases < <(kernel_list)
	build_ohcad ""
	build_ohcactl
	build_tsc_khz
	build_ssh
	for release in "${releases[@]}"; do
		arch_set "$(kernel_arch "$release")"
		build_guests
		build_module "$release"
		build_selftests "$release"
		build_provider
	done
}
