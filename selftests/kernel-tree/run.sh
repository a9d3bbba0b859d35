#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# long: it unpacks a kernel's source, and builds the driver there several times
#
# The driver as a part of a kernel's source tree, Debian's linux-source with tools/kernel-tree.sh: it is configured as other drivers
# are, and builds without a warning, built in and as a module, by gcc and by clang; the kernel's own semantic patches find nothing.
# Runs in the lab's root; "ohca-lab setup tree" installs what it needs there.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
DRIVER=drivers/infiniband/hw/ohca
set -- /usr/src/linux-source-*.tar.xz
[ -e "$1" ] || skip_all "no linux-source package"
ARCHIVE=$1
OUT=${O:?}/kernel-tree
TREE=$OUT/linux
JOBS=$(nproc)

# Without what no build of the driver reads; the files of Kconfig are needed.
unpack()
{
	[ ! -e "$TREE/.unpacked" ] || [ "$(cat "$TREE/.unpacked")" != "${ARCHIVE##*/}" ] || return 0
	rm -rf "$OUT"
	mkdir -p "$TREE" && tar -xf "$ARCHIVE" -C "$TREE" --strip-components 1 --exclude='*/Documentation/*.rst' \
		--exclude='*/sound/*.[ch]' --exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/media/*.[ch]' \
		--exclude='*/drivers/staging/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]' --exclude='*.dts*' &&
		echo "${ARCHIVE##*/}" > "$TREE/.unpacked"
}

add()
{
	"$TOP/tools/kernel-tree.sh" "$TREE"
}

# Nothing changes.
add_again()
{
	touch "$OUT/before" "$TREE/$DRIVER/gone.c" && add && [ ! -e "$TREE/$DRIVER/gone.c" ] &&
		! find "$TREE/$DRIVER" "$TREE/MAINTAINERS" "$TREE/drivers/infiniband/Kconfig" "$TREE/drivers/infiniband/hw/Makefile" \
			-type f -newer "$OUT/before" | grep .
}

# The kernel's own files have one line each for the driver.
listed()
{
	[ "$(grep -c ohca "$TREE/drivers/infiniband/Kconfig")" = 1 ] && [ "$(grep -c ohca "$TREE/drivers/infiniband/hw/Makefile")" = 1 ] &&
		[ "$(sed -n "/^OPEN HOST CHANNEL ADAPTER/,/^$/p" "$TREE/MAINTAINERS" | grep -v '^$')" = "$(cat "$TOP/$DRIVER/MAINTAINERS")" ]
}

not_a_tree()
{
	mkdir -p "$OUT/empty"
	"$TOP/tools/kernel-tree.sh" "$OUT/empty" > "$OUT/out" 2>&1 && return 1
	[ "$(cat "$OUT/out")" = "kernel-tree.sh: $OUT/empty: not a kernel's source tree" ]
}

# kmake NAME ARGUMENT...: make in the tree, with results in the folder NAME
kmake()
{
	kmake_name=$1
	shift
	make -s -C "$TREE" O="$OUT/$kmake_name" -j"$JOBS" "$@"
}

# configure NAME y|m OPTION... [-- ARGUMENT...]: configures RDMA as built in or as modules, with these options besides those of the
# file; all have to be accepted
configure()
{
	configure_name=$1
	configure_file=$OUT/$1.config
	{ cat "$HERE/config" && printf 'CONFIG_INFINIBAND=%s\nCONFIG_INFINIBAND_USER_ACCESS=%s\n' "$2" "$2"; } > "$configure_file"
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		echo "$1" >> "$configure_file"
		shift
	done
	[ $# = 0 ] || shift
	mkdir -p "$OUT/$configure_name"
	kmake "$configure_name" KCONFIG_ALLCONFIG="$configure_file" "$@" allnoconfig || return 1
	grep -v '^#' "$configure_file" | while read -r line; do
		grep -qxF "$line" "$OUT/$configure_name/.config" || { echo "not accepted: $line" && exit 1; }
	done
}

# quiet COMMAND...: it succeeds without output
quiet()
{
	"$@" > "$OUT/out" 2>&1 || { cat "$OUT/out" && return 1; }
	cat "$OUT/out"
	[ ! -s "$OUT/out" ]
}

# builds NAME ARGUMENT...: the driver's objects build without a warning
builds()
{
	builds_name=$1
	shift
	kmake "$builds_name" "$@" prepare > "$OUT/out" 2>&1 || { cat "$OUT/out" && return 1; }
	rm -rf "${OUT:?}/$builds_name/$DRIVER"
	quiet kmake "$builds_name" W=1 "$@" "$DRIVER/" || return 1
	[ -e "$OUT/$builds_name/$DRIVER/$result" ]
}

built_in()
{
	result=built-in.a
	configure built-in y CONFIG_64BIT=y CONFIG_INFINIBAND_OHCA=y CONFIG_INFINIBAND_ON_DEMAND_PAGING=y && builds built-in
}

module()
{
	result=ohca.o
	configure module m CONFIG_64BIT=y CONFIG_INFINIBAND_OHCA=m CONFIG_INFINIBAND_ON_DEMAND_PAGING=y && builds module
}

without_odp()
{
	result=built-in.a
	configure without y CONFIG_64BIT=y CONFIG_INFINIBAND_OHCA=y && ! grep -q ON_DEMAND_PAGING=y "$OUT/without/.config" && builds without
}

by_clang()
{
	result=built-in.a
	configure clang y CONFIG_64BIT=y CONFIG_INFINIBAND_OHCA=y CONFIG_INFINIBAND_ON_DEMAND_PAGING=y -- CC=clang && builds clang CC=clang
}

# A kernel of 32 bits has RDMA, and does not offer the driver.
not_for_32_bits()
{
	configure narrow y && grep -q '^CONFIG_X86_32=y' "$OUT/narrow/.config" &&
		! grep INFINIBAND_OHCA "$OUT/narrow/.config"
}

# The reports have lines "FILE:LINE:...". Patches with parts in OCaml would need its compiler.
semantic()
{
	find "$TREE/scripts/coccinelle" -name '*.cocci' -exec grep -q 'script:ocaml' {} \; -delete
	kmake built-in coccicheck MODE=report M="$DRIVER" J="$JOBS" > "$OUT/cocci" 2> "$OUT/cocci.err" || {
		tail -n 20 "$OUT/cocci.err"
		return 1
	}
	! grep -E '\.[ch]:[0-9]+' "$OUT/cocci"
}

plan 11
check "the kernel's source" unpack
check "the driver is added to it" add
check "adding it again changes nothing" add_again
check "what lists drivers has it" listed
check "another folder is refused" not_a_tree
check "built in" built_in
check "as a module" module
check "without on-demand paging" without_odp
check "not for 32 bits" not_for_32_bits
if command -v clang > /dev/null; then
	check "by clang" by_clang
else
	skip "by clang" "no clang"
fi
if command -v spatch > /dev/null; then
	check "semantic patches" semantic
else
	skip "semantic patches" "no coccinelle"
fi
finish
