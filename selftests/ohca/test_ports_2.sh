#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Adapters of two ports: stock tools and verbs programs on each of them, by the number of the port, and on both at the
# same time.  In the long form, a cable is pulled out under loads on both.
# vms: 2
# link: ib+eth long eth+eth ib+ib eth+ib - the first has ports of both link layers
# kernels: newest - the tests of each link layer run on all
# boot: ports
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ib_send_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_pair.sh"

IB=/sys/class/infiniband/$DEV
BULK_MIB=1024 # by each port
both_links=$(echo "$OHCA_LINKS" | tr ' ' +)

# The link layer and the state of each port, as three tools and sysfs have them
shown() # port
{
	name=Ethernet
	[ "$(nth "$1" "$OHCA_LINKS")" = eth ] || name=InfiniBand
	ibv_devinfo -d "$DEV" -i "$1" > "$pair_log" && cat "$pair_log"
	grep -q "phys_port_cnt:[[:space:]]*2" "$pair_log" && grep -q "link_layer:[[:space:]]*$name" "$pair_log" &&
		grep -q "state:[[:space:]]*PORT_ACTIVE" "$pair_log" || return 1
	ibstat "$DEV" "$1" > "$pair_log" && cat "$pair_log"
	grep -q "State: Active" "$pair_log" && grep -q "Link layer: $name" "$pair_log" || return 1
	[ "$(cat "$IB/ports/$1/link_layer")" = "$name" ] || return 1
	rdma link show "$DEV/$1" | grep "state ACTIVE"
}

# One node GUID; a GUID and a netdev, with a MAC address of its own, for each port
identities()
{
	[ -n "$OHCA_NETDEVS" ] && [ "$(nth 1 "$OHCA_NETDEVS")" != "$(nth 2 "$OHCA_NETDEVS")" ] || return 1
	for num in 1 2; do
		cat "$IB/ports/$num/gids/0" "/sys/class/net/$(nth "$num" "$OHCA_NETDEVS")/address"
	done | sort > "$pair_log"
	cat "$pair_log"
	[ "$(sort -u "$pair_log" | wc -l)" = 4 ] && [ ! -e "$IB/ports/3" ]
}

no_port()
{
	! ibv_devinfo -d "$DEV" -i 3 && ! timeout 20 ibv_rc_pingpong -d "$DEV" -i 3 -g 0 &&
		! OHCA_PORT=3 "$DIR/rc_data"
}

# Counters of the ports: only those of this one have grown.
counts() # port
{
	mine=$(cat "$IB/ports/$1/hw_counters/rx_bytes") other=$(cat "$IB/ports/$((3 - $1))/hw_counters/rx_bytes")
	perf ib_write_bw 65536 200 -b || return 1
	sleep 0.1 # they are not read again before
	[ "$(cat "$IB/ports/$1/hw_counters/rx_bytes")" -gt "$((mine + 65536 * 100))" ] &&
		[ "$(cat "$IB/ports/$((3 - $1))/hw_counters/rx_bytes")" -lt "$((other + 65536))" ]
}

# Pings and messages on both ports, at the same time
at_once()
{
	status=0
	for num in 1 2; do
		pair_use_port "$num"
		# shellcheck disable=SC2046 # words
		set -- ib_send_bw -d "$DEV" -i "$num" $(gid_option -x) -F -s 4096 -n 20000 -p $((18600 + num))
		[ "$RANK" = 0 ] || set -- "$@" "$OHCA_PEER"
		[ "$RANK" = 0 ] || wait_for 60 test -e "/mnt/share/ports.$both_links.$num"
		timeout $((120 * slow)) "$@" > "$pair_log.$num" 2>&1 &
		eval "pid$num=\$!"
		[ "$RANK" = 1 ] || { wait_for 60 tcp_listening $((18600 + num)) && : > "/mnt/share/ports.$both_links.$num"; }
	done
	# shellcheck disable=SC2154 # set above
	for pid in "$pid1" "$pid2"; do
		wait "$pid" || status=1
	done
	cat "$pair_log.1" "$pair_log.2"
	rm -f "$pair_log.1" "$pair_log.2"
	return "$status"
}

# A load on this port, whose data are all compared.  Its connection outlasts a second without a cable.
load_begins() # port
{
	pair_use_port "$1"
	"$DIR/bulk" -2 -m "$BULK_MIB" -t 19 > "$pair_log.$1" 2>&1 &
	eval "load$1=\$!"
}

load_ends() # port
{
	eval "load=\$load$1"
	wait "$load"
	load_status=$?
	cat "$pair_log.$1"
	return "$load_status"
}

port_state() # port, state
{
	grep -q "$2" "$IB/ports/$1/state"
}

# Pulls this machine's cable of the port out, while both ports have their loads, and puts it back.  Meanwhile the other port
# carries pings.
flap() # port
{
	eval "kill -0 \$load1 && kill -0 \$load2" || { echo "a load is over before port $1 is down"; return 1; }
	ohca-host ohcactl link "$OHCA_HCA" down "$1" && wait_for 20 port_state "$1" DOWN || return 1
	pair_use_port $((3 - $1))
	ping -q -c 3 -i 0.1 -W 10 -I "$ND" "$OHCA_PEER"
	flap_status=$?
	ohca-host ohcactl link "$OHCA_HCA" up "$1" && wait_for 30 port_state "$1" ACTIVE && return "$flap_status"
}

# The manager's machine keeps its cables.
loads_together()
{
	together_status=0
	for num in 1 2; do load_begins "$num"; done
	if [ "$RANK" = 1 ]; then
		for num in 1 2; do flap "$num" || together_status=1; done
	fi
	for num in 1 2; do load_ends "$num" || together_status=1; done
	rm -f "$pair_log".[12]
	return "$together_status"
}

answers()
{
	reached_ping -c 2 -W 5 -I "$ND" "$OHCA_PEER"
}

# OpenSM sees the node with both ports.
one_node()
{
	smpquery -C "$DEV" -P "$1" -D nodeinfo 0 > "$pair_log" && cat "$pair_log"
	grep -q "^NumPorts:\.*2$" "$pair_log" && grep -q "^LocalPort:\.*$1$" "$pair_log" || return 1
	ibnetdiscover -C "$DEV" -P "$1" > "$pair_log" && cat "$pair_log"
	[ "$(grep -c '^Ca	2 ' "$pair_log")" = 2 ] || return 1
	[ "$both_links" != ib+ib ] || [ "$(grep -c '^\[[12]\](.*"S-' "$pair_log")" = 4 ]
}

plan 33
kernel_log_mark
check "ports have GUIDs, netdevs and addresses of their own" identities
check "there is no third port" no_port
for num in 1 2; do
	pair_use_port "$num"
	layer=$(nth "$num" "$OHCA_LINKS")
	check "port $num, $layer: tools show it" shown "$num"
	check "port $num, $layer: ping" answers
	check "port $num, $layer: ibv_rc_pingpong" pingpong rc -c -n 200
	check "port $num, $layer: ibv_uc_pingpong" pingpong uc -c -n 200
	check "port $num, $layer: ibv_ud_pingpong" pingpong ud -s 1024 -n 200
	check "port $num, $layer: ib_write_bw" perf ib_write_bw 65536 100
	check "port $num, $layer: ib_send_lat" perf ib_send_lat 8 100
	check "port $num, $layer: ib_send_bw with rdma_cm" perf ib_send_bw 4096 100 -R
	check "port $num, $layer: rping" echoes 4
	check "port $num, $layer: it alone counts" counts "$num"
	barrier "ports.programs.$num"
	# Each machine by itself; the latter are for GIDs.
	programs="rc_data rc_errors"
	[ "$layer" = ib ] || programs="rc_data qp_state refused"
	for program in $programs; do
		check "port $num, $layer: $program" "$DIR/$program"
	done
	[ "$layer" = eth ] || check "port $num, $layer: the node has two ports" one_node "$num"
	barrier "ports.$num"
done
check "traffic on both ports at once" at_once
long_check "loads on both ports, and each cable out for a time" loads_together
if [ "$both_links" = ib+ib ]; then
	barrier ports.mig
	check "path migration from one port to the other" env OHCA_PORT=1 OHCA_ALT_PORT=2 "$DIR/path_mig" -2
else
	skip "path migration from one port to the other" "one of them is Ethernet"
fi
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
rm -f "/mnt/share/ports.$both_links".*
finish
