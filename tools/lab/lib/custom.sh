# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A kernel of the user's (--kernel PATH): a built Linux tree, a folder with a bootable file and modules, as "make install" and "make
# modules_install" leave them, or a Debian package, as "make bindeb-pkg" makes it. It is copied into the form of the debug kernel, and takes its place. Runs inside
# the root; custom_check and custom_unpack outside.
#
# $OHCA_CACHE/kernels/HASH/       an unpacked Debian package and that of its headers; HASH is that of its path
# $OHCA_CACHE/kernels/HASH/stamp  what was unpacked
# $OHCA_CACHE/kernels/lock        held while one is unpacked
# /run/custom                     the user's folder
# /run/custom-build               the tree to which its lib/modules/RELEASE/build leads
# $BUILD/kernel-HASH/             HASH is that of the folder's name
# $BUILD/kernel-HASH/lock         held while a run is prepared with that kernel
# $BUILD/kernel-HASH/COPY.use     held shared by each run that uses COPY, whose name is a hash of what it was copied from
# $BUILD/kernel-HASH/COPY/        a copy, until there is a newer one and no run uses it:
#   release      its release
#   bzImage      the bootable file
#   modules/     in lib/modules/RELEASE its modules that a machine could use
#   linux        link to the tree for building modules
#   interface    what modules for it depend on: the kernel can change without them
#   stamp        the copy is complete

CUSTOM=/run/custom
CUSTOM_BUILD=/run/custom-build

# custom_is PATH: whether the value of --kernel is a path rather than a version.
custom_is() {
	[[ $1 = */* ]]
}

# custom_check PATH: ends the program with a message unless it is such a folder. Exports OHCA_KERNEL and OHCA_KERNEL_BUILD, which the
# root finds at /run/custom and /run/custom-build (see enter.sh).
custom_check() {
	if [[ $1 = *.deb ]]; then
		custom_unpack "$1"
		set -- "$CUSTOM_UNPACKED"
	fi
	[ -d "$1" ] || die_usage "--kernel: no such folder or package: $1"
	[[ -n $(custom_release "$1") && -n $(custom_image "$1") ]] || die_usage "--kernel: $1 is no built Linux tree \
(arch/x86/boot/bzImage, include/config/kernel.release), and has no bzImage or boot/vmlinuz-* with one lib/modules/RELEASE"
	OHCA_KERNEL=$(realpath -- "$1")
	OHCA_KERNEL_BUILD=$(readlink -e -- "$1/lib/modules/$(custom_release "$1")/build") || OHCA_KERNEL_BUILD=''
	export OHCA_KERNEL OHCA_KERNEL_BUILD
}

# custom_unpack FILE: unpacks the package of a kernel, and that of its headers in the same folder, unless that was done before.
# Sets $CUSTOM_UNPACKED to the folder. Removes the packages that were not used for two days. Ends the program with a message if it
# is no such package.
custom_unpack() {
	local release headers stamp
	[[ -f $1 && -r $1 ]] || die_usage "--kernel: can't read $1"
	command -v dpkg-deb >/dev/null || die_usage "--kernel: dpkg-deb is missing here, which unpacks $1"
	release=$(dpkg-deb --field "$1" Package 2>/dev/null) || release=''
	[[ $release = linux-image-* ]] || die_usage "--kernel: $1 is no Debian package of a kernel (linux-image-RELEASE)"
	release=${release#linux-image-}
	headers=$(find "$(dirname -- "$1")" -maxdepth 1 -name "linux-headers-${release}_*.deb" -print -quit)
	[ -n "$headers" ] || die_usage "--kernel: no linux-headers-${release}_*.deb beside $1, with which the driver could be built"
	CUSTOM_UNPACKED=$OHCA_CACHE/kernels/$(realpath -- "$1" | sha256sum | cut -c 1-12)
	stamp=$(stat -L -c '%n %s %Y' -- "$1" "$headers")
	mkdir -p "$OHCA_CACHE/kernels"
	exec 7>"$OHCA_CACHE/kernels/lock"
	flock 7
	if [ "$(cat "$CUSTOM_UNPACKED/stamp" 2>/dev/null)" = "$stamp" ]; then
		touch "$CUSTOM_UNPACKED"
		exec 7>&-
		return
	fi
	note "unpacking kernel $release"
	find "$OHCA_CACHE/kernels" -mindepth 1 -maxdepth 1 -type d -mmin +2880 -exec rm -rf {} +
	rm -rf "$CUSTOM_UNPACKED"
	mkdir "$CUSTOM_UNPACKED"
	dpkg-deb --extract "$1" "$CUSTOM_UNPACKED" || die "--kernel: $1 can't be unpacked"
	dpkg-deb --extract "$headers" "$CUSTOM_UNPACKED" || die "--kernel: $headers can't be unpacked"
	[ -e "$CUSTOM_UNPACKED/lib" ] || ln -s usr/lib "$CUSTOM_UNPACKED/lib"
	[ ! -d "$CUSTOM_UNPACKED/lib/modules/$release" ] ||
		ln -sfn "$CUSTOM_UNPACKED/usr/src/linux-headers-$release" "$CUSTOM_UNPACKED/lib/modules/$release/build"
	echo "$stamp" >"$CUSTOM_UNPACKED/stamp"
	exec 7>&-
}

# custom_is_tree DIR
custom_is_tree() {
	[ -e "$1/include/config/kernel.release" ]
}

# custom_release DIR: prints the kernel's release; nothing if there are none or several.
custom_release() {
	local found=()
	if custom_is_tree "$1"; then
		cat "$1/include/config/kernel.release"
		return
	fi
	mapfile -t found < <(find -L "$1/lib/modules" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null)
	[ ${#found[@]} != 1 ] || echo "${found[0]}"
}

# custom_image DIR: prints the path of the bootable file.
custom_image() {
	local file
	for file in "$1/arch/x86/boot/bzImage" "$1/bzImage" "$1/vmlinuz" "$1/boot/vmlinuz-$(custom_release "$1")"; do
		[ -f "$file" ] || continue
		echo "$file"
		return
	done
}

# custom_setup: copies the kernel unless that was done before, and sets $KERNEL_DEBUG to the copy, which stays until this run ends.
# Nobody else prepares a run with this kernel before custom_ready.
custom_setup() {
	local release image build stamp all interface
	release=$(custom_release "$CUSTOM")
	image=$(custom_image "$CUSTOM")
	build=$CUSTOM
	custom_is_tree "$CUSTOM" || build=${OHCA_KERNEL_BUILD:+$CUSTOM_BUILD}
	KERNEL_USER=$(sha256sum <<<"$OHCA_KERNEL" | cut -c 1-12)
	all=$BUILD/kernel-$KERNEL_USER
	mkdir -p "$all"
	exec {CUSTOM_LOCK}>"$all/lock"
	if ! flock -n "$CUSTOM_LOCK"; then
		note "waiting for another ohca-lab that prepares a run with this kernel"
		flock "$CUSTOM_LOCK"
	fi
	stamp=$(custom_stamp "$release" "$image")
	KERNEL_DEBUG=$all/$stamp
	exec {CUSTOM_USE}>"$KERNEL_DEBUG.use"
	flock -s "$CUSTOM_USE"
	if [ ! -e "$KERNEL_DEBUG/stamp" ]; then
		[ -e "$build/Makefile" ] || die "--kernel: no tree to build modules with: lib/modules/$release/build leads to none"
		note "copying kernel $release"
		custom_prune "$all"
		rm -rf "$KERNEL_DEBUG"
		mkdir "$KERNEL_DEBUG"
		cp "$image" "$KERNEL_DEBUG/bzImage"
		ln -s "$build" "$KERNEL_DEBUG/linux"
		custom_modules "$release"
		echo "$release" >"$KERNEL_DEBUG/release"
		echo "$stamp" >"$KERNEL_DEBUG/stamp"
	fi
	interface=$(custom_interface "$build")
	echo "$interface" >"$KERNEL_DEBUG/interface"
}

# custom_ready: the run has what it needs of the kernel's builds.
custom_ready() {
	[ -z "$KERNEL_USER" ] || flock -u "$CUSTOM_LOCK"
}

# custom_prune FOLDER: removes the copies there that no run uses.
custom_prune() {
	local use
	for use in "$1"/*.use; do
		! flock -n -x "$use" rm -rf "${use%.use}" || rm "$use"
	done
}

# custom_stamp RELEASE IMAGE: prints a hash of the names, sizes and times of the bootable file and of all modules.
custom_stamp() {
	{
		stat -L -c '%n %s %Y' "$2" "$CUSTOM/modules.order" "$CUSTOM/lib/modules/$1"/{,modules.order} 2>/dev/null || :
		if custom_is_tree "$CUSTOM"; then
			(cd "$CUSTOM" && sed 's/\.o$/.ko/' modules.order | xargs -r stat -L -c '%n %s %y' 2>/dev/null) || :
		fi
	} | sha256sum | cut -c 1-12
}

# custom_interface BUILD: prints a hash of what modules that are built in that tree depend on: exported symbols, headers (with the
# configuration and the release among them), and programs. With the kernel's types (BTF) in modules, they depend on the kernel as
# a whole.
custom_interface() {
	{
		cat "$1/Module.symvers"
		find -L "$1/include" "$1/arch/x86/include" -name '*.h' -printf '%P %s %T@\n' | sort
		stat -L -c '%n %s %Y' "$1"/{Makefile,scripts/{module.lds,mod/modpost},tools/objtool/objtool}
		! grep -q '^#define CONFIG_DEBUG_INFO_BTF_MODULES 1' "$1/include/generated/autoconf.h" ||
			stat -L -c '%s %Y' "$1/vmlinux"
	} 2>/dev/null | sha256sum
}

# custom_modules RELEASE: copies the modules. Ends the program if the kernel lacks one without which a machine can't start.
custom_modules() {
	local from=$CUSTOM/lib/modules/$1 module lacks=''
	if custom_is_tree "$CUSTOM"; then
		from=/tmp/custom/lib/modules/$1
		custom_install "$1" /tmp/custom
	fi
	image_modules "$1" "$from" "$KERNEL_DEBUG/modules" '^kernel/drivers/(md|scsi/device_handler)/|/(scsi_debug|sg)[.]ko'
	find "$KERNEL_DEBUG/modules" -name '*.ko' -exec strip --strip-debug {} +
	rm -rf /tmp/custom
	for module in "${IMAGE_BOOT_MODULES[@]}" ib_uverbs; do
		modprobe -d "$KERNEL_DEBUG/modules" -S "$1" --show-depends "$module" >/dev/null 2>&1 || lacks+=" $module"
	done
	[ -z "$lacks" ] || die "--kernel: the kernel lacks$lacks, as modules or built in"
}

# custom_install RELEASE DIR: makes DIR what "make modules_install" would, with links to the modules of the tree.
custom_install() {
	local to=$2/lib/modules/$1
	mkdir -p "$to/kernel"
	cp "$CUSTOM"/modules.builtin{,.modinfo} "$to/"
	sed 's/\.o$/.ko/' "$CUSTOM/modules.order" >"$to/list"
	sed 's,^,kernel/,' "$to/list" >"$to/modules.order"
	(cd "$to/kernel" && sed 's,/[^/]*$,,' ../list | sort -u | xargs -r mkdir -p)
	while IFS= read -r module; do
		ln -s "$CUSTOM/$module" "$to/kernel/$module"
	done <"$to/list"
	depmod -b "$2" "$1"
}
