#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A link that loses one packet in a hundred, between two machines: all data arrive, and the counters show the retries.
# vms: 2
# kernels: newest - the device sends lost packets again
# boot: wire
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rping > /dev/null || skip_all "no rdmacm-utils"
command -v ib_write_bw > /dev/null || skip_all "no perftest"
ohca-host ohcactl version > /dev/null 2>&1 || skip_all "no ohcactl"
. "$DIR/lib_pair.sh"

counter() # name
{
	rdma -j statistic show link "$DEV/1" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# The first machine sets the rule for both.
loses()
{
	[ "$RANK" -ne 0 ] || ohca-host ohcactl fault add drop,p=1%
}

# Files of machines whose pings came to their end, with the number of options and of the machine
PINGED=/mnt/share/pinged

cleanup()
{
	pair_cleanup
	rm -f "$PINGED".*."$RANK"
	[ "$RANK" -ne 0 ] || ohca-host ohcactl fault clear
} > /dev/null 2>&1
trap cleanup EXIT

# More than 100 packets were sent again: node0 was asked for them by NAKs of node1.
sent_again()
{
	if [ "$RANK" -eq 0 ]; then
		again=$(counter packet_seq_err)
	else
		again=$(counter out_of_sequence)
	fi
	rdma statistic show link "$DEV/1"
	[ "$again" -gt 100 ]
}

# A machine ends as soon as it has received everything, and its last message was acknowledged. If its acknowledgment of the other
# one's last message is lost then, it is not repeated, and the other one fails; but everything was received. So one may fail.
pings_all() # options
{
	pinged=$PINGED.$#
	pingpong rc "$@" && : > "$pinged.$RANK"
	barrier "pinged.$#"
	[ -e "$pinged.$RANK" ] || { [ -e "$pinged.$((1 - RANK))" ] && grep "transport retry counter exceeded" "$pair_log"; }
}

plan 11
kernel_log_mark
loses || bail "no packets can be lost"
barrier loss
check "many packets by writes, reads and sends" "$DIR/bulk" -2 -m "$(long 1024 256)"
check "what was lost was sent again" sent_again
check "ib_write_bw, 64 KiB" perf ib_write_bw 65536 "$(long 1000 200)"
check "ib_read_bw, 64 KiB" perf ib_read_bw 65536 "$(long 1000 200)"
check "ib_send_bw, 64 KiB, 4 queue pairs" perf ib_send_bw 65536 "$(long 500 100)" -q 4
check "ib_atomic_bw, fetch and add" perf ib_atomic_bw 8 "$(long 1000 500)" -A FETCH_AND_ADD
check "ibv_rc_pingpong, payload checked" pings_all -c -n 500
check "ibv_rc_pingpong, MTU 256, payload checked" pings_all -c -n 100 -m 256
check "rping" echoes 4
check "nothing is left" wait_for 30 no_user_objects
barrier loss.end
check "the kernel log is clean" kernel_log_clean
finish
