#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A port's cable is unplugged and plugged in again, under traffic to the other machine with long time-outs. The port
# goes down and up, programs get events, the netdev loses its carrier, and the traffic continues.
# vms: 2
# kernels: all - the driver handles the port's state
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
. "$DIR/lib_pair.sh"
COUNTERS=/sys/class/infiniband/$DEV/ports/1/hw_counters

cleanup()
{
	watcher_stop
	[ -z "$traffic" ] || kill "$traffic" 2> /dev/null
	ohca-host ohcactl link "$OHCA_HCA" up
	pair_cleanup
}
traffic=
trap cleanup EXIT

cable() # up, down
{
	ohca-host ohcactl link "$OHCA_HCA" "$1"
}

# The state in ohcad
cable_is() # in, out
{
	ohca-host ohcactl show ports "$OHCA_HCA" | grep -E "^$OHCA_HCA +1 +(active|down) +$1 "
}

counter_passes() # name, value
{
	[ "$(cat "$COUNTERS/$1")" -gt "$2" ]
}

# Messages arrive, at node0, or are sent, by node1.
traffic_goes()
{
	goes_name=rx_packets
	[ "$RANK" -eq 0 ] || goes_name=tx_packets
	wait_for 60 counter_passes "$goes_name" "$(($(cat "$COUNTERS/$goes_name") + 100))"
}

# The program below tolerates a quarter of a minute without answers, and more on a debug kernel, which takes longer
# for this test.
timeout=19
[ ! -e /sys/kernel/debug/kmemleak ] || timeout=22

# A program of node1 that writes to node0
traffic_start()
{
	traffic_words="ib_write_bw -d $DEV -x $GID -F -s 4096 -u $timeout --run_infinitely -p 19100"
	[ "$RANK" -eq 0 ] || traffic_words="$traffic_words $OHCA_PEER"
	[ "$RANK" -eq 0 ] || barrier flap.server
	$traffic_words > "$pair_log" 2>&1 &
	traffic=$!
	[ "$RANK" -ne 0 ] || { wait_for 60 tcp_listening 19100; barrier flap.server; }
	traffic_goes
}

traffic_alive()
{
	kill -0 "$traffic" || { cat "$pair_log"; return 1; }
}

# The sender, node1, has noticed that there are no answers.
times_out()
{
	wait_for 60 counter_passes local_ack_timeout_err "$timeouts_before"
}

pings()
{
	ping -c 3 -i 0.02 -W 5 "$OHCA_PEER"
}

no_answer()
{
	! ping -c 1 -W 1 "$OHCA_PEER"
}

# flap RANK: unplugs that machine's cable and plugs it in; 14 lines in it, 4 in the other one, and one more in node1
flap()
{
	timeouts_before=$(cat "$COUNTERS/local_ack_timeout_err")
	barrier "flap.$1"
	if [ "$RANK" -eq "$1" ]; then
		check "the cable is pulled" cable down
		check "the port is down" wait_for 20 port_is PORT_DOWN
		check "programs are notified" wait_for 20 notified "port error" 1
		check "the netdev has no carrier" wait_for 20 carrier_is 0
		check "nobody is reached" no_answer
		check "ohcad says so, too" cable_is out
	fi
	barrier "flap.$1.out"
	if [ "$RANK" -ne "$1" ]; then
		check "the other's port stays active" port_is PORT_ACTIVE
	fi
	[ "$RANK" -ne 1 ] || check "the sender gets no answers" times_out
	barrier "flap.$1.silent"
	if [ "$RANK" -eq "$1" ]; then
		check "the cable is put back" cable up
		check "the port is active" wait_for 20 port_is PORT_ACTIVE
		check "programs are notified of that" wait_for 20 notified "port active" 1
		check "the netdev has its carrier back" wait_for 20 carrier_is 1
		check "ohcad says that, too" cable_is in
	fi
	barrier "flap.$1.in"
	check "the traffic goes on" traffic_goes
	check "the program has seen no error" traffic_alive
	check "the other one is reached" pings
	barrier "flap.$1.end"
}

plan $((22 + 2 * RANK))
kernel_log_mark
check "a program that only listens" watcher_start
check "a program with traffic" traffic_start
flap 0
flap 1
[ "$RANK" -ne 0 ] || barrier flap.kill
kill "$traffic" 2> /dev/null
wait "$traffic" 2> /dev/null
traffic=
[ "$RANK" -eq 0 ] || barrier flap.kill
check "new connections work" pingpong rc -n 100 -c
check "the kernel log is clean" kernel_log_clean
finish
