# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The machines' kernels: Debian's, installed in the root, and those in the cache that were built (see build-kernel.sh): the debug
# kernel, in whose place there can be the user's (see custom.sh), and the one of arm64 machines with pages of 64 KiB. Debian's are
# those of packages.base, which every root has, the further ones of packages.kernels, and those of packages.arm64 for arm64 machines,
# which the root gets when one of them is asked for.
# Runs inside the root; functions on releases also outside, with other folders.

KERNEL_RELEASES=${KERNEL_RELEASES:-/usr/lib/modules}
KERNEL_ARM64=${KERNEL_ARM64:-/usr/local/lib/machine/arm64/usr/lib/modules}
KERNEL_DEBUG=${KERNEL_DEBUG:-/cache/debug-kernel}
KERNEL_64K=${KERNEL_64K:-/cache/arm64-64k-kernel}
# If the user's kernel is in the place of the debug kernel: what tells it from others
KERNEL_USER=

# kernel_list: every release for which everything is built, oldest first.
kernel_list() {
	kernel_main
	[ ! -e "$KERNEL_DEBUG/release" ] || cat "$KERNEL_DEBUG/release"
}

# kernel_debian: Debian's releases, oldest first.
kernel_debian() {
	find "$KERNEL_RELEASES" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V
}

# kernel_main: those of them that every root has.
kernel_main() {
	local release further
	further=$(kernel_series kernels)
	for release in $(kernel_debian); do
		kernel_of_series "$release" "$further" || echo "$release"
	done
}

# kernel_find VERSION: prints the one release of Debian's kernels that is VERSION, or begins with it and continues
# with another component: 6.12 matches 6.12.118+deb13-amd64, 6.1 does not. Without a VERSION, prints the newest that every root has.
# The debug kernel is found by "debug" or its whole name, those of arm64 machines by "arm64", "arm64-16k" and "arm64-64k".
kernel_find() {
	local found
	case $1 in
	debug)
		cat "$KERNEL_DEBUG/release" 2>/dev/null ||
			die_usage "no debug kernel yet; 'ohca-lab debug-kernel' builds it, once"
		return
		;;
	arm64-64k)
		cat "$KERNEL_64K/release" 2>/dev/null ||
			die_usage "no such kernel yet; 'ohca-lab arm64-64k-kernel' builds it, once"
		return
		;;
	arm64 | arm64-16k)
		KERNEL_RELEASES=$KERNEL_ARM64 kernel_debian | grep -e "[0-9]-$1\$"
		return
		;;
	esac
	if [ -n "$1" ] && [ -n "$(kernel_home "$1")" ]; then
		echo "$1"
		return
	fi
	if [ -z "$1" ]; then
		found=$(kernel_main | tail -n 1)
	else
		found=$(kernel_debian | KERNEL_VERSION=$1 awk '{
			version = ENVIRON["KERNEL_VERSION"]
			if (index($0, version) == 1 && substr($0, length(version) + 1) ~ /^($|[^0-9A-Za-z])/)
				print
		}')
	fi
	case $found in
	'') die_usage "--kernel: there is no kernel '$1'; there are $({ kernel_list && kernel_series kernels; } | xargs)" ;;
	*$'\n'*) die_usage "--kernel: '$1' could be any of $(xargs <<<"$found")" ;;
	esac
	echo "$found"
}

# kernel_home RELEASE: prints the folder of a kernel that was built; nothing if it is one of Debian's.
kernel_home() {
	local dir release
	for dir in "$KERNEL_DEBUG" "$KERNEL_64K"; do
		release=''
		{ read -r release <"$dir/release"; } 2>/dev/null || :
		[ "$1" != "$release" ] || echo "$dir"
	done
}

# kernel_is_user RELEASE: whether it is the user's, in the debug kernel's place.
kernel_is_user() {
	[ -n "$KERNEL_USER" ] && [ "$(kernel_home "$1")" = "$KERNEL_DEBUG" ]
}

# kernel_name RELEASE: prints the name of what is built for that kernel. The user's may have the release of another one.
kernel_name() {
	! kernel_is_user "$1" || set -- "$1.$KERNEL_USER"
	echo "$1"
}

# kernel_arch RELEASE: prints the architecture of its machines.
kernel_arch() {
	case $1 in
	*-arm64 | *-arm64-16k | *-arm64-64k) echo arm64 ;;
	*) echo amd64 ;;
	esac
}

# kernel_salt RELEASE: prints what tells one build of a kernel from another one. Modules for it depend on that, and
# snapshots with it.
kernel_salt() {
	local home file
	home=$(kernel_home "$1")
	file=$home/interface
	[ -e "$file" ] || file=$home/stamp
	[ -z "$home" ] || sed 's/^/ /' "$file"
}

# kernel_path RELEASE NAME PATH: prints the path of NAME in the folder of a kernel that was built, or PATH if it is one of Debian's.
kernel_path() {
	local home
	home=$(kernel_home "$1")
	if [ -n "$home" ]; then
		echo "$home/$2"
	else
		echo "$3"
	fi
}

# kernel_image RELEASE: prints the path of the bootable file.
kernel_image() {
	kernel_path "$1" bzImage "$(arch_tree "$(kernel_arch "$1")")/boot/vmlinuz-$1"
}

# kernel_modules RELEASE: prints the folder of its modules.
kernel_modules() {
	kernel_path "$1" "modules/lib/modules/$1" "$(arch_tree "$(kernel_arch "$1")")/usr/lib/modules/$1"
}

# kernel_build RELEASE: prints the tree for building modules.
kernel_build() {
	kernel_path "$1" linux "/usr/src/linux-headers-$1"
}
