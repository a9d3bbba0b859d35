# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The machines' kernels: Debian's, installed in the root, and the debug kernel in the cache
# (see debug-kernel.sh). Runs inside the root.

KERNEL_DEBUG=/cache/debug-kernel

# kernel_list: every installed release, oldest first.
kernel_list() {
	find /usr/lib/modules -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V
	[ ! -e "$KERNEL_DEBUG/release" ] || cat "$KERNEL_DEBUG/release"
}

# kernel_find PREFIX: the one release that begins with PREFIX; without a PREFIX the newest of
# Debian's; "debug" is the debug kernel.
kernel_find() {
	local found
	case $1 in
	debug)
		cat "$KERNEL_DEBUG/release" 2>/dev/null ||
			die "no debug kernel yet; build it (once, 12 minutes on 2 cores): tools/lab/ohca-lab debug-kernel"
		return
		;;
	'')
		found=$(find /usr/lib/modules -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V | tail -n 1)
		;;
	*)
		found=$(kernel_list | awk -v p="$1" 'index($0, p) == 1')
		;;
	esac
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
