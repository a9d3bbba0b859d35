#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The connection manager between two machines: librdmacm's and other stock tools, over IPv4 and IPv6 (if the tool and,
# for multicast, the kernel support it).
# vms: 2
# link: eth ib
# kernels: newest - stock programs over an unchanged ABI; the kernel is in test_cm_events_2.sh, test_cm_vlan_2.sh
# boot: tools
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rping > /dev/null || skip_all "no rdmacm-utils"
. "$DIR/lib_pair.sh"

stream() # 4 or 6
{
	stream_options="-S 4096 -I 100 -C $(long 1000 20) -T v"
	tool 7471 rstream "-b $(server_ip "$1") $stream_options" "-s $(server_ip "$1") $stream_options"
}

# There is no listener.
refused()
{
	if rping -c -a "$(server_ip 4)" -p 7999 -C 1; then
		echo "it was not refused"
		return 1
	fi
}

unreachable()
{
	if rping -c -a "$(my_ip 4 | sed 's/\.[0-9]*$/.253/')" -C 1; then
		echo "it was reached"
		return 1
	fi
}

port_is_seen()
{
	ibstat "$DEV" 1 | tee "$pair_log"
	port_layer=Ethernet
	! on_ib || port_layer=InfiniBand
	grep -q "State: Active" "$pair_log" && grep -q "Link layer: $port_layer" "$pair_log"
}

# The port's counters, as performance management returns them, count the packets of the tools.
port_counts()
{
	port_counters=/sys/class/infiniband/$DEV/ports/1/counters
	for counter in xmit_packets rcv_packets xmit_data rcv_data; do
		counted=$(cat "$port_counters/port_$counter")
		echo "$counter $counted"
		[ "$counted" -gt 1000 ] || return 1
	done
	[ $(($(cat "$port_counters/multicast_xmit_packets") + $(cat "$port_counters/multicast_rcv_packets"))) -gt 0 ]
}

plan 28
kernel_log_mark
check "ibstat" port_is_seen
for family in 4 6; do
	check "rping, IPv$family" echoes "$family"
	check "rping, IPv$family, large messages" echoes "$family" -S 60000
	check "ucmatose, IPv$family" complete "$family" 7471 ucmatose -c 4 -C 10 -S 4000
	check "udaddy, IPv$family" complete "$family" 7174 udaddy -c 4 -C 10 -S 1000
	check "rdma_server and rdma_client, IPv$family" run_pair "cm_listening 7471" \
		"rdma_server -s $(server_ip "$family")" "rdma_client -s $(server_ip "$family")"
	check "rstream, IPv$family" stream "$family"
done
check "mckey" multicast 239.77.1.1
check "cmtime" tool 7471 cmtime "-b $(server_ip 4) -c 20" "-s $(server_ip 4) -c 20"
check "ucmatose, many connections" complete 4 7471 ucmatose -c 64 -C 2 -S 100
check_with XRC "rdma_xserver and rdma_xclient, XRC" run_pair "cm_listening 7471" \
	"rdma_xserver -c x" "rdma_xclient -s $(server_ip 4) -c x"
check "rdma_xserver and rdma_xclient, RC" run_pair "cm_listening 7471" \
	"rdma_xserver -c r" "rdma_xclient -s $(server_ip 4) -c r"
for type in RC UD; do
	check "ib_send_bw, $type, connected by rdma_cm" perf ib_send_bw 1024 100 -R -c "$type"
done
check "ib_write_bw, connected by rdma_cm" perf ib_write_bw 65536 100 -R
check "ib_read_lat, connected by rdma_cm" perf ib_read_lat 8 100 -R
if [ "$RANK" -eq 1 ]; then
	check "nobody listens" refused
	check "nobody is there" unreachable
else
	skip "nobody listens" "in the other machine"
	skip "nobody is there" "in the other machine"
fi
barrier cm.refused
check "the port counts" port_counts
check "nothing is left" wait_for 30 no_user_objects
check "no connection is left" wait_for 60 no_connections
check "the kernel log is clean" kernel_log_clean
finish
