#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build-kernel.sh NAME DIR: builds a small kernel for machines from Debian's linux-source package, with the RDMA core, its
# users, and soft-RoCE. Runs inside the root ("ohca-lab NAME-kernel"). If it was interrupted, it continues where it was.
# NAME is
#   debug      with KASAN, lockdep, kmemleak, UBSAN, the sleep-in-atomic, DMA-API and object checks and fault injection
#   arm64-64k  for arm64 machines, with pages of 64 KiB
# NAME-kernel.config has what it has beyond machine.config. NAME-kernel.patch, if there is one, corrects its source.
#
# DIR/bzImage (the bootable file, whatever its format is), DIR/modules (a modules_install tree), DIR/linux (for out-of-tree
# modules), DIR/release (its name, written last). Removes DIR/modules.ext4, which image.sh makes of the modules. Does nothing
# if the kernel was built from the same configuration and patch. DIR/patch is the one that DIR/linux has.

set -euo pipefail
name=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
shopt -s nullglob
# shellcheck source=/dev/null
. "$here/lib/log.sh"
archives=(/usr/src/linux-source-*.tar.xz)
[ ${#archives[@]} = 1 ] || { echo "build-kernel.sh: no linux-source package here" >&2 && exit 1; }
archive=${archives[0]}
case $name in
debug)
	configs=(defconfig kvm_guest.config) image=bzImage file=arch/x86/boot/bzImage minutes="12 to 40"
	;;
arm64-64k)
	configs=(defconfig virt.config) image=Image file=arch/arm64/boot/Image minutes=10
	export ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-
	unset CC # that of the root's architecture
	;;
*)
	echo "build-kernel.sh: no such kernel: $name" >&2
	exit 2
	;;
esac

# correct: corrects the source by the patch, after taking back the one that it has.
correct() {
	if [ -s "$dir/patch" ]; then
		patch -s -f -R -p1 <"$dir/patch"
	fi
	: >"$dir/patch"
	[ -e "$patch" ] || return 0
	if ! patch -s -f -p1 --dry-run <"$patch"; then
		echo "build-kernel.sh: $name-kernel.patch does not fit $dir/linux, of ${archive##*/}" >&2
		return 1
	fi
	patch -s -f -p1 <"$patch"
	cp "$patch" "$dir/patch"
}

mkdir -p "$dir"
patch=$here/$name-kernel.patch
# The two lists as one; the second one's head is no part of it.
config=$(cat "$here/$name-kernel.config" && sed 1,2d "$here/machine.config")
stamp="${archive##*/} $(sha256sum <<<"$config")"
[ ! -e "$patch" ] || stamp+=" $(sha256sum <"$patch")"
if [ -e "$dir/release" ] && [ "$stamp" = "$(cat "$dir/stamp" 2>/dev/null)" ]; then
	exit 0
fi
if [ ! -e "$dir/linux/Makefile" ]; then
	echo "unpacking ${archive##*/}" >&2
	rm -rf "$dir/linux" "$dir/unpacking" "$dir/patch"
	mkdir "$dir/unpacking"
	tar -xf "$archive" -C "$dir/unpacking"
	mv "$dir"/unpacking/* "$dir/linux"
	rmdir "$dir/unpacking"
fi
cd "$dir/linux"
rm -f "$dir/release" "$dir/stamp"
cmp -s "$patch" "$dir/patch" || correct
make -s "${configs[@]}" >/dev/null
./scripts/kconfig/merge_config.sh -m .config "$here/machine.config" "$here/$name-kernel.config" >/dev/null
make -s olddefconfig
# merge_config.sh silently drops an option that it can't set; here a missing check is an error.
while IFS= read -r line; do
	case $line in
	CONFIG_*=*) grep -qxF "$line" .config || missing+=" $line" ;;
	esac
done <<<"$config"
[ -z "${missing:-}" ] || { echo "build-kernel.sh: not accepted by this kernel:$missing" >&2 && exit 1; }

echo "building the kernel; this takes about $minutes minutes on 2 cores" >&2
progress_begin "building the kernel" "$dir/build.log"
make -j"$(nproc)" "$image" modules >"$dir/build.log" 2>&1 || status=$?
progress_end
if [ "${status-0}" != 0 ]; then
	tail -n 40 "$dir/build.log" >&2
	exit 1
fi
rm -rf "$dir/modules" "$dir/modules.ext4"
make -s INSTALL_MOD_PATH="$dir/modules" INSTALL_MOD_STRIP=1 modules_install
cp "$file" "$dir/bzImage"
echo "$stamp" >"$dir/stamp"
make -s kernelrelease >"$dir/release.new"
mv "$dir/release.new" "$dir/release"
