#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The stock tools between two machines over unreliable connections, datagrams, shared receive queues and XRC. Figures
# are not checked.
# vms: 2
# link: eth long ib - test_ib_verbs_2.sh has each transport
# kernels: newest - stock programs over an unchanged ABI
# boot: tools
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ib_send_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_pair.sh"

plan 23
kernel_log_mark
check "ibv_uc_pingpong, payload checked" pingpong uc -c -n 200
check "ibv_uc_pingpong, by events" pingpong uc -c -e -n 200
check "ibv_ud_pingpong, payload checked" pingpong ud -c -s 1024 -n 200
check "ibv_ud_pingpong, by events" pingpong ud -c -e -s 1024 -n 200
check_with SRQ "ibv_srq_pingpong, 16 queue pairs" pingpong srq -c -n 500
check_with SRQ "ibv_srq_pingpong, by events" pingpong srq -c -e -q 4 -n 200
check_with XRC "ibv_xsrq_pingpong" pingpong xsrq -n 200
check_with XRC "ibv_xsrq_pingpong, by events" pingpong xsrq -e -n 200
for size in 64 65536; do
	check "ib_send_bw, UC, $size bytes" perf ib_send_bw "$size" 200 -c UC
	check "ib_write_bw, UC, $size bytes" perf ib_write_bw "$size" 200 -c UC
	check_with XRC "ib_send_bw, XRC, $size bytes" perf ib_send_bw "$size" 200 -c XRC
	check_with XRC "ib_write_bw, XRC, $size bytes" perf ib_write_bw "$size" 200 -c XRC
done
check "ib_send_bw, UD, 64 bytes" perf ib_send_bw 64 200 -c UD
check "ib_send_bw, UD, 1024 bytes" perf ib_send_bw 1024 200 -c UD
check_with SRQ "ib_send_bw, RC with an SRQ" perf ib_send_bw 65536 200 --use-srq -q 4
check "ib_send_lat, UC" perf ib_send_lat 8 200 -c UC
check "ib_send_lat, UD" perf ib_send_lat 8 200 -c UD
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
