#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The stock tools between two machines: they succeed and have transferred what they should.  Figures are not checked.
# vms: 2
# link: eth ib
# kernels: newest - stock programs over an unchanged ABI
# boot: tools
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ib_write_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_pair.sh"

plan 25
kernel_log_mark
for size in 64 4096 65536 1048576; do
	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		check "$tool, $size bytes" perf "$tool" "$size" 100
	done
done
for tool in ib_write_lat ib_read_lat ib_send_lat; do
	check "$tool, 8 bytes" perf "$tool" 8 100
done
check "ib_write_bw, both directions" perf ib_write_bw 65536 100 -b
check "ib_send_bw, both directions" perf ib_send_bw 65536 100 -b
check "ib_write_bw, 8 queue pairs" perf ib_write_bw 65536 100 -q 8
check "ib_send_bw, by events" perf ib_send_bw 65536 100 -e
check "ib_send_bw, inline" perf ib_send_bw 64 100 -I 64
check "ib_read_bw, several outstanding" perf ib_read_bw 65536 100 -o 4
check "ibv_rc_pingpong, payload checked" pingpong rc -c -n 200
check "ibv_rc_pingpong, by events" pingpong rc -c -e -n 200
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
