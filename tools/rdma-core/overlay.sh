#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Copy libohca, the hardware interface and the kernel ABI into an unpacked rdma-core source.  May be repeated.
set -eu

usage() {
	echo "usage: overlay.sh RDMA_CORE_SOURCE" >&2
	exit 2
}

die() {
	echo "overlay.sh: $*" >&2
	exit 1
}

# copy FILE DIR: copies only a file that differs, so that unchanged files are not built again
copy() {
	cmp -s "$1" "$2/${1##*/}" || cp "$1" "$2/"
}

# add_after FILE ANCHOR LINE: insert LINE after each line that is ANCHOR, unless it is there
add_after() {
	grep -qF "$2" "$1" || die "$1: no '$2' there: not an rdma-core that this can be laid over"
	grep -qF "$3" "$1" || sed -i "s|^\( *\)$2\$|&\n\1$3|" "$1"
}

[ $# -eq 1 ] || usage
src=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
if [ ! -f "$src/kernel-headers/CMakeLists.txt" ] || [ ! -d "$src/providers" ]; then
	die "$src: not an unpacked rdma-core source"
fi

mkdir -p "$src/providers/ohca"
for f in "$here"/providers/ohca/* "$top"/include/ohca/*.h; do
	copy "$f" "$src/providers/ohca"
done
for f in "$src"/providers/ohca/*; do
	name=${f##*/}
	[ -e "$here/providers/ohca/$name" ] || [ -e "$top/include/ohca/$name" ] || rm "$f"
done
copy "$top/uapi/rdma/ohca-abi.h" "$src/kernel-headers/rdma"
add_after "$src/kernel-headers/CMakeLists.txt" rdma/ocrdma-abi.h rdma/ohca-abi.h
add_after "$src/CMakeLists.txt" 'add_subdirectory(providers/ocrdma)' 'add_subdirectory(providers/ohca)'
