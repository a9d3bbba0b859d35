#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# long: it compiles the device and its tests for each architecture, and emulates their processors
# timeout: 7200 - each architecture has all tests of the device
#
# The tests of the device (selftests/ohcad) and of the provider (selftests/libohca) for other architectures, in qemu-user: arm64,
# and s390x, which is big endian. Runs in the lab's root, with the packages of tools/lab/packages.cross. There are no
# sanitizers: they don't work in an emulated process, or find what they find on this host. Prints TAP.
#
# run.sh [ARCH]...: only these. $TESTS are the device's tests that run, by default all.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
O=${O:?is not set: the folder to build in}/cross
export CMOCKA_MESSAGE_OUTPUT=tap OHCA_EMULATED=1
declare -A triplet=([arm64]=aarch64-linux-gnu [s390x]=s390x-linux-gnu) emulator=([arm64]=aarch64 [s390x]=s390x)

# machine ARCH: sets what the makefiles need for it.
machine() {
	local tree=/usr/local/lib/cross/$1 gnu=${triplet[$1]} libs
	libs=$tree/usr/lib/$gnu
	export PKG_CONFIG_LIBDIR=$libs/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tree QEMU_LD_PREFIX=/usr/$gnu
	for_arch=(CC="$gnu-gcc -isystem $tree/usr/include -L$libs -Wl,-rpath,$libs" SANITIZERS='' asan='' tsan='' CFLAGS=-O1)
}

# wrap FILE PROGRAM: makes FILE a script that runs PROGRAM, for processes of the tests.
wrap() {
	printf '#!/bin/sh\nexec %s %s "$@"\n' "$RUN" "$2" >"$1"
	chmod +x "$1"
}

# build DIR ARCH
build() {
	make -s --no-print-directory -C "selftests/$1" O="$O/$2/$1" -j"$(nproc)" "${for_arch[@]}" all >"$O/$2/$1.log" 2>&1 && return
	sed 's/^/# /' "$O/$2/$1.log"
	echo "not ok 1 selftests/$1 builds for $2"
	echo "1..1"
	return 1
}

# run ARCH: runs the tests of both.
run() {
	local out=$O/$1 bin=$O/$1/bin status=0
	machine "$1"
	# Tests change PATH.
	RUN=$(command -v "qemu-${emulator[$1]}")
	export RUN
	mkdir -p "$bin"
	build libohca "$1" || return
	make -s --no-print-directory -C selftests/libohca O="$out/libohca" "${for_arch[@]}" RUN="$RUN" run || status=1
	build ohcad "$1" || return
	wrap "$bin/ohcad" "$out/ohcad/ohcad/ohcad"
	wrap "$bin/ohcactl" "$out/ohcad/ohcactl/ohcactl"
	wrap "$bin/testdev" "$out/ohcad/testdev"
	make -s --no-print-directory -C selftests/ohcad O="$out/ohcad" "${for_arch[@]}" RUN="$RUN" OHCAD="$bin/ohcad" \
		OHCACTL="$bin/ohcactl" TESTDEV="$bin/testdev" ${TESTS:+TESTS="$TESTS"} run || status=1
	return "$status"
}

[ $# -gt 0 ] || set -- arm64 s390x
for arch; do
	[ -n "${triplet[$arch]-}" ] || {
		echo "run.sh: no such architecture: $arch" >&2
		exit 2
	}
done
status=0
for arch; do
	echo "# == $arch"
	run "$arch" || status=1
done
exit "$status"
