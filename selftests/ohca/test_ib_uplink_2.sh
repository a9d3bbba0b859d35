#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A subnet of two processes of ohcad: each has a switch and a machine's adapter, and an uplink is the cable between the
# switches.  The subnet manager's view of it, traffic across it, what happens when the link goes down, and path migration.
# vms: 2
# link: ib
# ohcads: 2
# kernels: newest - the subject is the device
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ibstat > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"

CABLE=2 # port of each switch: the adapter is at port 1

# From one adapter by way of both switches to the other one
trace()
{
	trace_out=$(ibtracert "$lid" "$peer_lid") || return 1
	echo "$trace_out"
	[ "$(echo "$trace_out" | grep -c "switch")" -eq 2 ]
}

# Packets of data pass the ports of the cable, on both sides.
counts_data()
{
	for switch in "$switch_lid" "$far_lid"; do
		perfquery -x "$switch" "$CABLE" | ib_field PortRcvPkts
	done > "$1"
	cat "$1"
}

cable_counts()
{
	counts_data /tmp/before && ping -c 20 -i 0.05 -s 1000 "$OHCA_PEER" && counts_data /tmp/after || return 1
	paste /tmp/before /tmp/after | while read -r before after; do
		[ "$((after - before))" -ge 20 ] || exit 1
	done
}

# While the subnet manager makes the ports active, one after the other, adapters may send already.
cable_errors()
{
	perfquery "$far_lid" "$CABLE" > /tmp/cable && ib_field PortRcvErrors < /tmp/cable && ib_field PortXmitDiscards < /tmp/cable
}

no_errors()
{
	cable_errors && cat /tmp/cable && [ "$(cable_errors)" = "$errors" ]
}

far_port_is() # PATTERN of its state
{
	smpquery -D portinfo "0,1" "$CABLE" | ib_field LinkState | grep -qE "$1"
}

unplugged()
{
	ibportstate "$switch_lid" "$CABLE" disable && far_port_is Down && counts 1 "^Switch" ibnetdiscover
}

plugged()
{
	ibportstate "$switch_lid" "$CABLE" enable && wait_for 60 far_port_is Active && counts 2 "^Switch" ibnetdiscover
}

no_ping()
{
	! ping -c 3 -i 0.2 -W 1 "$OHCA_PEER"
}

pings()
{
	ping -c 1 -W 1 "$OHCA_PEER" > /dev/null
}

kernel_log_mark
ib_meet
far_lid=$(smpquery -D portinfo 0,1,$CABLE 0 | ib_field Lid)
plan 27
check "two switches" counts 2 "^Switch" ibnetdiscover
check "two adapters" counts 2 "^Ca" ibnetdiscover
check "all ports of cables are up" counts 6 "[0-9]X .*Gbps Active/  LinkUp" iblinkinfo
check "the administrator's nodes" counts 4 "NodeRecord dump" saquery
check "a directed route to the other adapter" says "NodeType:\\.*Channel Adapter" "PortGuid:\\.*0x$peer_guid" -- \
	smpquery -D nodeinfo 0,1,$CABLE,1
check "the other switch by its LID" says "NodeType:\\.*Switch" -- smpquery nodeinfo "$far_lid"
check "ibtracert" trace
check "ibroute to this switch" says "^Unicast lids" -- ibroute "$switch_lid"
check "ibroute to the other switch" says "^Unicast lids" -- ibroute "$far_lid"
check "the group of the broadcast on both switches" says "0xc000" -- ibroute -M "$far_lid"
barrier uplink.seen
errors=$(cable_errors) || bail "no counters of the cable"
check "ping" reached_ping -c 5 -i 0.2 -W 5 "$OHCA_PEER"
check "ping, IPv6" reached_ping -c 3 -i 0.2 -W 5 "fd77::$(((OHCA_RANK ^ 1) + 1))"
check "data are counted at the cable" cable_counts
barrier uplink.counted
check "ibv_rc_pingpong" pingpong rc -c -n 200
check "ibv_uc_pingpong" pingpong uc -c -n 200
check "ibv_ud_pingpong" pingpong ud -c -s 1024 -n 200
check "ib_write_bw" perf ib_write_bw 65536 50
check "ib_read_bw" perf ib_read_bw 65536 50
check "ib_atomic_bw" perf ib_atomic_bw 8 50 -A FETCH_AND_ADD
check "no errors at the cable" no_errors
barrier uplink.done
first_check "the link is disabled: the other switch is gone" unplugged
barrier uplink.off
check "nothing arrives" no_ping
barrier uplink.silent
first_check "the link is enabled: the other switch is back" plugged
barrier uplink.on
check "ping again" wait_for 30 pings
check "the ports get two LIDs" manager_two_lids
check "path migration across the cable" "$DIR/path_mig" -2
check "the kernel log is clean" kernel_log_clean
finish
