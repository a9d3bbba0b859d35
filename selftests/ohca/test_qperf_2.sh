#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# qperf between two machines: each of its tests of reliable connections succeeds on both sides and prints a figure.
# Its other tests make paths without a GRH, which ib_core refuses on RoCE.
# vms: 2
# kernels: newest - a stock program over an unchanged ABI
# boot: tools
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v qperf > /dev/null || skip_all "no qperf"
. "$DIR/lib_pair.sh"

TESTS="rc_bw rc_bi_bw rc_lat rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw rc_rdma_write_lat rc_rdma_write_poll_lat
	rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add"

# A server runs until its client's last test, "quit". It reports its port before it listens there; a client that is
# faster is rejected, and tries again.
qperf_test() # test
{
	run_pair "tcp_listening 19765" "qperf" "sh -c 'for try in 1 2 3 4 5; do
		qperf $OHCA_PEER -cm 1 -t 1 $1 quit > /tmp/qperf 2>&1
		status=\$?
		cat /tmp/qperf
		grep -q \"Event rejected\" /tmp/qperf || exit \$status
	done'" || return 1
	[ "$RANK" -eq 0 ] || grep -qE "^ +(bw|latency|msg_rate|recv_bw) +=" "$pair_log"
}

# shellcheck disable=SC2086 # words
set -- $TESTS
plan $(($# + 2))
kernel_log_mark
for test; do
	check "$test" qperf_test "$test"
done
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
