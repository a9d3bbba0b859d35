#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Makes the driver a part of a kernel's source tree: copies it with its headers, and adds it to the files that list drivers.
# May be repeated.
set -eu

usage()
{
	echo "usage: kernel-tree.sh KERNEL_SOURCE" >&2
	exit 2
}

die()
{
	echo "kernel-tree.sh: $*" >&2
	exit 1
}

# copy DIR FILE...: copies only files that differ, so that unchanged files are not built again, and removes sources that are not
# there any more.
copy()
{
	copy_to=$1
	shift
	mkdir -p "$copy_to"
	for file; do
		cmp -s "$file" "$copy_to/${file##*/}" || cp "$file" "$copy_to/"
	done
	for file in "$copy_to"/*.[ch]; do
		[ -e "$top/${copy_to#"$tree/"}/${file##*/}" ] || rm "$file"
	done
}

# has FILE TEXT: a line of the tree's file begins with it.
has()
{
	grep -q "^$2" "$tree/$1"
}

# before FILE TEXT LINE: inserts LINE before the first line of the file that begins with TEXT, unless it is there.
before()
{
	! has "$1" "$3" || return 0
	has "$1" "$2" || die "$1: no line '$2': not a kernel that this can be added to"
	sed -i "0,\\|^$2|s||$3\n&|" "$tree/$1"
}

[ $# -eq 1 ] || usage
tree=${1%/}
top=$(cd "$(dirname "$0")/.." && pwd)
driver=drivers/infiniband/hw/ohca
if [ ! -f "$tree/drivers/infiniband/Kconfig" ] || [ ! -f "$tree/MAINTAINERS" ]; then
	die "$tree: not a kernel's source tree"
fi

copy "$tree/$driver" "$top/$driver"/*.[ch] "$top/$driver/Kconfig" "$top/$driver/Makefile"
copy "$tree/include/ohca" "$top"/include/ohca/*.h
cmp -s "$top/uapi/rdma/ohca-abi.h" "$tree/include/uapi/rdma/ohca-abi.h" ||
	cp "$top/uapi/rdma/ohca-abi.h" "$tree/include/uapi/rdma/"
before drivers/infiniband/Kconfig 'source "drivers/infiniband/hw/qedr/Kconfig"' "source \"$driver/Kconfig\""
# shellcheck disable=SC2016 # make's variable
has drivers/infiniband/hw/Makefile 'obj-$(CONFIG_INFINIBAND_OHCA)' ||
	printf 'obj-$(CONFIG_INFINIBAND_OHCA)\t\t+= ohca/\n' >> "$tree/drivers/infiniband/hw/Makefile"

# The entries of MAINTAINERS are sorted, and each ends with an empty line. 3C59X is the first.
title=$(head -n 1 "$top/$driver/MAINTAINERS")
grep -qxF "$title" "$tree/MAINTAINERS" || {
	LC_ALL=C awk -v entry="$top/$driver/MAINTAINERS" -v title="$title" '
		/^3C59X / { list = 1 }
		list && !done && last == "" && /^[A-Z0-9]/ && $0 > title {
			while ((getline line < entry) > 0)
				print line
			print ""
			done = 1
		}
		{ print; last = $0 }
		END { exit !done }' "$tree/MAINTAINERS" > "$tree/MAINTAINERS.new" || die "MAINTAINERS: no place for '$title'"
	mv "$tree/MAINTAINERS.new" "$tree/MAINTAINERS"
}
