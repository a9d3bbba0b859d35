#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An adapter and soft-RoCE in the same machines, as for comparisons: programs can use both, each in a network of its
# own.
# vms: 2
# kernels: newest - the two drivers are independent in the kernel; each has tests of its own there
# boot: both
# devices: ohca+rxe
. "$(dirname "$0")/lib.sh"
need_machines 2
need_root
# shellcheck disable=SC2153 # there are both
[ "${OHCA_IBDEVS##* }" = rxe0 ] || skip_all "no soft-RoCE beside the adapter"
command -v rping > /dev/null || skip_all "no rdmacm-utils"
command -v ib_write_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_pair.sh"

use() # selects a device, its netdev and GID; 77 or 78, as in its network's addresses
{
	DEV=$1 ND=$2 GID=$3
	OHCA_PEER=10.$4.${peer#10.77.}
}

pings() # 4 or 6
{
	ping -"$1" -c 3 -i 0.02 -W 5 -s 8000 "$(server_ip "$1")"
}

has_address()
{
	my_ip 4 | grep "^10\.$1\.0\.$((RANK + 1))\$" && my_ip 6 | grep "^fd$1::$((RANK + 1))\$"
}

# Packets of messages that the adapter has sent and received
adapter_packets()
{
	cat "/sys/class/infiniband/$ohca/ports/1/counters"/port_xmit_packets \
		"/sys/class/infiniband/$ohca/ports/1/counters"/port_rcv_packets | tr '\n' ' '
}

# The adapter's netdev does not carry soft-RoCE's messages either, but may have a few packets of its own.
apart()
{
	packets_before=$(adapter_packets)
	frames_before=$(cat "/sys/class/net/$ohca_nd/statistics/rx_packets")
	perf ib_write_bw 4096 500 || return 1
	frames=$(($(cat "/sys/class/net/$ohca_nd/statistics/rx_packets") - frames_before))
	echo "the adapter: packets $packets_before before, $(adapter_packets) after; $frames frames meanwhile"
	[ "$packets_before" = "$(adapter_packets)" ] && [ "$frames" -lt 100 ]
}

plan 14
kernel_log_mark
peer=$OHCA_PEER ohca=$DEV ohca_nd=$ND
barrier both
for network in 77 78; do
	if [ "$network" = 77 ]; then
		use "$ohca" "$ohca_nd" "${OHCA_GID_INDICES% *}" "$network"
	else
		use rxe0 "${OHCA_NETDEVS##* }" "${OHCA_GID_INDICES##* }" "$network"
	fi
	check "$DEV: addresses" has_address "$network"
	check "$DEV: ping, IPv4" pings 4
	check "$DEV: ping, IPv6" pings 6
	check "$DEV: rping" echoes 4
	check "$DEV: ibv_rc_pingpong" pingpong rc -c -n 200
	check "$DEV: ib_write_bw" perf ib_write_bw 65536 100
done
check "soft-RoCE's packets pass the adapter by" apart
check "the kernel log is clean" kernel_log_clean
finish
