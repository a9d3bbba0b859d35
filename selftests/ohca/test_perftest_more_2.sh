#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perftest's tools between two machines, over each transport that they support, and with the options that change their
# work requests and how they wait: they succeed on both sides and have transferred what they should. Figures are not
# checked.
# vms: 2
# link: eth long ib - test_perftest_2.sh has what differs
# kernels: newest - stock programs over an unchanged ABI
# boot: perftest
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ib_write_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_pair.sh"

# A line each: tool, bytes, iterations, further options.
# These depend on the link: the size of packets, how datagrams are addressed, the connection manager.
CASES='
ib_send_lat 8 50 -c XRC
ib_write_lat 8 50 -c UC
ib_read_lat 8 50 -c XRC
ib_atomic_bw 8 100 -A FETCH_AND_ADD -c XRC
ib_atomic_bw 8 100 -A FETCH_AND_ADD -q 4 -o 8
ib_atomic_lat 8 50 -A CMP_AND_SWAP
ib_send_bw 1024 100 -c UD -e
ib_send_bw 1024 100 -q 8 -c UD
ib_send_bw 1024 100 -q 8 -c XRC
ib_send_bw 1024 100 -R -e
ib_atomic_bw 8 100 -R
ib_write_bw 65536 100 -m 256
ib_send_bw 1000 100 -m 512 -b -r 16 -t 16
ib_write_bw 8388608 10
ib_read_bw 8388608 10
'
# These only depend on what is above it, and run in the long form.
CASES_ANY_LINK='
ib_write_lat 8 50 -c XRC
ib_read_bw 65536 50 -c XRC
ib_atomic_bw 8 100 -A FETCH_AND_ADD
ib_atomic_bw 8 100 -A CMP_AND_SWAP
ib_atomic_lat 8 50 -A FETCH_AND_ADD
ib_atomic_lat 8 50 -A CMP_AND_SWAP -c XRC
ib_send_bw 1024 100 -c UC -e
ib_send_bw 1024 100 -c XRC -e
ib_read_bw 65536 100 -e
ib_read_lat 8 50 -e
ib_send_bw 64 128 -l 16 -t 64
ib_send_bw 64 128 -l 16 -t 64 -c UD
ib_write_bw 64 128 -l 16 -t 64
ib_read_bw 64 128 -l 16 -t 64
ib_atomic_bw 8 128 -l 16 -t 64
ib_send_bw 64 128 --recv_post_list=16
ib_send_bw 4096 100 -q 8
ib_write_bw 64 100 -q 32 -b
ib_send_lat 64 50 --inline_size=64
ib_write_lat 64 50 --inline_size=64
ib_write_lat 400 50 --inline_size=512 -c UC
ib_send_lat 64 50 --inline_size=64 -c UD
ib_write_bw 1048576 5
ib_write_bw 1 5000
ib_write_bw 64 100 -Q 10 -N
'

cases()
{
	echo "$CASES" | grep .
	[ "${OHCA_LONG:-}" != 1 ] || echo "$CASES_ANY_LINK" | grep .
}

case_check() # tool, bytes, iterations, options
{
	case_name="$1, $2 bytes, $3 times, $(shift 3 && echo "$*")"
	case " $* " in
	*" XRC "*) check_with XRC "${case_name%, }" perf "$@" ;;
	*) check "${case_name%, }" perf "$@" ;;
	esac
}

# RoCEv2 GIDs of this machine: link local, IPv4, IPv6; the other one has the same in the same order. On InfiniBand,
# only the port's own.
indices()
{
	if on_ib; then
		echo 0
	else
		gids | cut -d' ' -f1 | head -n 3
	fi
}

with_gid() # index
{
	gid_before=$GID pair_gid_before=$pair_gid
	GID=$1 pair_gid=1
	perf ib_write_bw 4096 100 && perf ib_send_bw 1024 100 -c UD
	with_gid_status=$?
	GID=$gid_before pair_gid=$pair_gid_before
	return "$with_gid_status"
}

for_a_second() # tool, options
{
	# shellcheck disable=SC2046 # words
	run_tool "$@" -d "$DEV" $(gid_option -x) -F -s 4096 -D 1 -f 0 && reports 4096
}

all_sizes() # tool, options: each power of two
{
	# shellcheck disable=SC2046 # words
	run_tool "$@" -d "$DEV" $(gid_option -x) -F -a -n "$(long 20 5)" || return 1
	for size in 2 1024 8388608; do
		reports "$size" || return 1
	done
}

plan $(($(cases | wc -l) + $(indices | wc -l) + 7))
kernel_log_mark
while read -r words <&3; do
	# shellcheck disable=SC2086 # words
	case_check $words
done 3<<EOF
$(cases)
EOF
for index in $(indices); do
	check "GID $index" with_gid "$index"
done
check "ib_write_bw, for a second" for_a_second ib_write_bw
long_check "ib_read_bw, for a second" for_a_second ib_read_bw
long_check "ib_send_bw, UD, for a second" for_a_second ib_send_bw -c UD
check "ib_write_bw, all sizes" all_sizes ib_write_bw
long_check "ib_read_bw, all sizes" all_sizes ib_read_bw
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
