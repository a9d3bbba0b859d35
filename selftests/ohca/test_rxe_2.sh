#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RoCEv2 packets: the first machine has an adapter, the second one soft-RoCE on its Ethernet interface. Stock tools,
# with each of the two as the server.
# vms: 2
# kernels: newest - soft-RoCE checks the device's packets
# boot: rxe
# devices: ohca,rxe
. "$(dirname "$0")/lib.sh"
need_machines 2
need_root
[ -n "$(ibdev)" ] || skip_all "no device"
command -v rping > /dev/null || skip_all "no rdmacm-utils"
command -v ib_write_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_pair.sh"

pings() # 4 or 6
{
	ping -"$1" -c 3 -i 0.02 -W 5 -s 8000 "$(server_ip "$1")"
}

# The adapter's counter of congestion marks
marks()
{
	rdma -j statistic show link "$DEV/1" | sed -n 's/.*"cc_rx_ce_pkts":\([0-9]*\).*/\1/p'
}

# Both sides mark their packets like a congested switch.
marked()
{
	if [ "$OHCA_DEVICE" = rxe ]; then
		perf ib_write_bw 64 200 --tclass 3
		return
	fi
	rdma statistic set link "$DEV/1" optional-counters cc_rx_ce_pkts
	marks_before=$(marks)
	perf ib_write_bw 64 200 --tclass 3 || return 1
	marks_after=$(marks)
	rdma statistic unset link "$DEV/1" optional-counters
	echo "$marks_before, then $marks_after"
	[ "$marks_after" -gt "$marks_before" ]
}

# Soft-RoCE on a busy host answers late: after a second, and not 67 ms, a request is repeated.
perf_timeout=18 pingpong_timeout=18
plan 54
kernel_log_mark
barrier rxe
for rank in 0 1; do
	pair_server_rank=$rank
	from="server is node$rank"
	for family in 4 6; do
		# Each family has one of them as the server in the short form.
		[ "$family" = 6 ] && [ "$rank" = 0 ] && family_check=long_check || family_check=check
		check "ping, IPv$family, $from" pings "$family"
		"$family_check" "rping, IPv$family, $from" echoes "$family"
		"$family_check" "rping, IPv$family, large messages, $from" echoes "$family" -S 60000
		"$family_check" "ucmatose, IPv$family, $from" complete "$family" 7471 ucmatose -c 4 -C 10 -S 4000
	done
	check "udaddy, $from" complete 4 7174 udaddy -c 2 -C 10 -S 1000
	check "ibv_rc_pingpong, payload checked, $from" pingpong rc -c -n 200
	long_check "ibv_rc_pingpong, MTU 256, $from" pingpong rc -c -n 100 -m 256
	check "ibv_rc_pingpong, MTU 4096, messages of a MiB, $from" pingpong rc -c -n "$(long 64 8)" -m 4096 -s 1048576
	check "ibv_rc_pingpong, by events, $from" pingpong rc -c -e -n 100
	check "ibv_uc_pingpong, $from" pingpong uc -c -n 100
	check "ibv_ud_pingpong, $from" pingpong ud -c -s 1024 -n 100
	# Reads and atomics are as many at a time as both allow: 128.
	for size in 64 65536; do
		# The pings are small.
		[ "$size" = 64 ] && size_check=long_check || size_check=check
		"$size_check" "ib_write_bw, $size bytes, $from" perf ib_write_bw "$size" 200
		"$size_check" "ib_send_bw, $size bytes, $from" perf ib_send_bw "$size" 200
		"$size_check" "ib_read_bw, $size bytes, $from" perf ib_read_bw "$size" 200
	done
	check "ib_write_bw, 1 MiB, 4 queue pairs, $from" perf ib_write_bw 1048576 20 -q 4
	check "ib_atomic_bw, fetch and add, $from" perf ib_atomic_bw 8 200 -A FETCH_AND_ADD
	check "ib_atomic_bw, compare and swap, $from" perf ib_atomic_bw 8 200 -A CMP_AND_SWAP
	check "marks of congestion are counted, $from" marked
	check "ib_send_bw, UD, $from" perf ib_send_bw 1024 200 -c UD
done
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
