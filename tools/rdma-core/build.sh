#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build libohca in an rdma-core source that overlay.sh was applied to.  The last line of output is the plugin's path.
# With GNU, such as aarch64-linux-gnu, it is for another architecture: GNU-gcc builds it, and needs no library of that but libc.
set -eu

if [ $# -ne 2 ] && [ $# -ne 3 ]; then
	echo "usage: build.sh RDMA_CORE_SOURCE BUILD_DIRECTORY [GNU]" >&2
	exit 2
fi
src=$1
build=$2
gnu=${3:-}
if [ ! -f "$src/providers/ohca/CMakeLists.txt" ]; then
	echo "build.sh: $src: no providers/ohca there: run overlay.sh first" >&2
	exit 1
fi
# The number of libibverbs' private interface is part of the plugin's name.
pabi=$(sed -n 's/^set(IBVERBS_PABI_VERSION "\([0-9]*\)")$/\1/p' "$src/CMakeLists.txt")
if [ -z "$pabi" ]; then
	echo "build.sh: $src/CMakeLists.txt: IBVERBS_PABI_VERSION not found" >&2
	exit 1
fi

if [ ! -f "$build/build.ninja" ]; then
	[ -z "$gnu" ] || set -- -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=${gnu%%-*}" "-DCMAKE_C_COMPILER=$gnu-gcc" \
		-DCMAKE_DISABLE_FIND_PACKAGE_UDev=1 -DCMAKE_DISABLE_FIND_PACKAGE_Systemd=1 -DENABLE_RESOLVE_NEIGH=0
	[ -n "$gnu" ] || set --
	cmake -S "$src" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" \
		-DENABLE_STATIC=0 -DCMAKE_SKIP_BUILD_RPATH=1 -DNO_MAN_PAGES=1 -DNO_PYVERBS=1 >&2
fi
ninja -C "$build" ${JOBS:+-j "$JOBS"} "ohca-rdmav$pabi" >&2

so=$build/lib/libohca-rdmav$pabi.so
[ -f "$so" ] || {
	echo "build.sh: $so was not built" >&2
	exit 1
}
echo "$so"
