#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lint.sh: style and static checks of the whole tree. Runs inside the root ("ohca-lab lint").

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
TOP=$PWD
LAB=$TOP/tools/lab
for noun in log packages kernel build image; do
	# shellcheck source=/dev/null
	. "$LAB/lib/$noun.sh"
done
checkpatch=/usr/local/lib/checkpatch/checkpatch.pl
failed=0

# lint NAME COMMAND...: runs one check; it passes if it succeeds without output.
lint() {
	local name=$1 out status=0
	shift
	progress_begin "lint: $name"
	# No progress of builds: it would be output.
	out=$(PROGRESS_FIRST=86400 && "$@" 2>&1) || status=1
	progress_end
	if [ "$status" = 0 ] && [ -z "$out" ]; then
		printf 'lint: %-14s ok\n' "$name"
		return
	fi
	printf '%s\n' "$out"
	printf 'lint: %-14s FAILED\n' "$name"
	failed=1
}

mapfile -t c_all < <(find Documentation drivers include uapi tools selftests -name '*.[ch]' | sort)
mapfile -t c_kernel < <(find drivers include uapi selftests/ohca/kmod -name '*.[ch]' 2>/dev/null | sort)
mapfile -t shell < <(grep -rlE '^#!/bin/(ba)?sh|^# shellcheck shell=' tools selftests .ci | sort)

# Rules that a file outside of the kernel's tree can't follow
check_patch() {
	"$checkpatch" --no-tree --strict --terse --quiet --no-summary --max-line-length=100 \
		--ignore LINUX_VERSION_CODE,FILE_PATH_CHANGES --file "$@"
}

# check_kernel RELEASE: builds with the compiler's W=1 and sparse (endianness, address spaces). Kernels that need a
# newer sparse than Debian 13 has (checker-valid.sh) are built without it.
check_kernel() {
	local dir=$BUILD/lint-$1 check=2
	! grep -qs checker-valid "/usr/lib/modules/$1/source/Makefile" || check=0
	rm -rf "$dir"
	build_links "$dir" Kbuild drivers include uapi
	make -s -C "$(kernel_build "$1")" M="$dir" C="$check" CF=-D__CHECK_ENDIAN__ W=1 KCFLAGS=-Werror \
		-j"$(nproc)" modules 2>&1 | grep -vE 'Skipping BTF|^ *$'
	return "${PIPESTATUS[0]}"
}

check_kernels() {
	local release result=0
	for release in $(kernel_debian); do
		check_kernel "$release" || result=1
	done
	return "$result"
}

# The layers of the device
check_layers() {
	build_make lint-ohcad -C "$PWD/tools/ohcad" O="$BUILD/lint-ohcad" && tools/ohcad/check_layers.sh "$BUILD/lint-ohcad"
}

# The driver's objects, as check_kernels has built them for the newest kernel
check_circles() {
	local release source objects=()
	release=$(kernel_main | tail -n 1)
	for source in drivers/infiniband/hw/ohca/*.c; do
		objects+=("$(basename "$source" .c).o")
	done
	(cd "$BUILD/lint-$release/drivers/infiniband/hw/ohca" && "$TOP/tools/check_circles.sh" "${objects[@]}")
}

# check_modes: scripts that say by what they run are executable, as in the packages of Debian.
check_modes() {
	local found
	found=$(find tools selftests -type f ! -perm -u+x -exec awk 'FNR == 1 && /^#!/ { print FILENAME } { nextfile }' {} +)
	[ -z "$found" ] || { echo "not executable: $found" && return 1; }
}

lint modes check_modes
lint checkpatch check_patch "${c_kernel[@]}"
lint clang-format clang-format --dry-run -Werror "${c_all[@]}"
lint layers check_layers
lint shellcheck shellcheck -x "${shell[@]}"
lint yamllint yamllint --strict -d '{extends: default, rules: {line-length: {max: 140}, comments: {min-spaces-from-content: 1}}}' tools/ci
lint "sparse, W=1" check_kernels
lint circles check_circles
exit "$failed"
