# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The machines' kernels: Debian's, installed in the root, and the debug kernel in the cache
# (see debug-kernel.sh). Runs inside the root.

KERNEL_DEBUG=/cache/debug-kernel

# kernel_list: every installed release, oldest first.
kernel_list() {
	kernel_debian
	[ ! -e "$KERNEL_DEBUG/release" ] || cat "$KERNEL_DEBUG/release"
}

# kernel_debian: Debian's releases, oldest first.
kernel_debian() {
	find /usr/lib/modules -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V
}

# kernel_find PREFIX: the one release of Debian's that begins with PREFIX; without a PREFIX the
# newest; the debug kernel by "debug" or its whole name.
kernel_find() {
	local found
	if [ "$1" = debug ] || { [ -n "$1" ] && kernel_is_debug "$1"; }; then
		cat "$KERNEL_DEBUG/release" 2>/dev/null ||
			die "no debug kernel yet; build it (once, 12 minutes on 2 cores): tools/lab/ohca-lab debug-kernel"
		return
	fi
	if [ -z "$1" ]; then
		found=$(kernel_debian | tail -n 1)
	else
		found=$(kernel_debian | awk -v p="$1" 'index($0, p) == 1')
	fi
	case $found in
	'') die_usage "no kernel $1; there are: $(kernel_list | xargs)" ;;
	*$'\n'*) die_usage "kernel $1 could be: $(xargs <<<"$found")" ;;
	esac
	echo "$found"
}

kernel_is_debug() {
	[ "$1" = "$(cat "$KERNEL_DEBUG/release" 2>/dev/null)" ]
}

# kernel_image RELEASE: the bootable file.
kernel_image() {
	if kernel_is_debug "$1"; then
		echo "$KERNEL_DEBUG/bzImage"
	else
		echo "/boot/vmlinuz-$1"
	fi
}

# kernel_modules RELEASE: the folder of its modules.
kernel_modules() {
	if kernel_is_debug "$1"; then
		echo "$KERNEL_DEBUG/modules/lib/modules/$1"
	else
		echo "/usr/lib/modules/$1"
	fi
}

# kernel_build RELEASE: the tree that modules for it are built against.
kernel_build() {
	if kernel_is_debug "$1"; then
		echo "$KERNEL_DEBUG/linux"
	else
		echo "/usr/lib/modules/$1/build"
	fi
}
