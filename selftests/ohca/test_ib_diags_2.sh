#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tools of a subnet of two machines and a switch: records of subnet administration, attributes of each agent, counters,
# routes. The first machine runs them.
# vms: 2
# link: ib
# kernels: newest - the kernel only passes the tools' datagrams on
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ibstat > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"

node_described()
{
	printf "node%s of two" "$RANK" > "/sys/class/infiniband/$IB_DEV/node_desc"
}

# Counters of the peer's port, before and after something was sent to it
peer_counter() # name
{
	perfquery -x "$peer_lid" 1 | ib_field "$1"
}

counters_count()
{
	before=$(peer_counter PortRcvPkts) && reached_ping -c 5 -i 0.2 -W 5 "$OHCA_PEER" && after=$(peer_counter PortRcvPkts) || return 1
	echo "$before $after"
	[ "$((after - before))" -ge 5 ]
}

counters_reset()
{
	perfquery -x -R "$lid" 1 && sent=$(perfquery -x "$lid" 1 | ib_field PortXmitPkts) || return 1
	echo "$sent"
	[ "$sent" -lt 100 ]
}

path()
{
	says "dlid\\.*$peer_lid\$" "slid\\.*$lid\$" "pkey\\.*0xFFFF" "mtu\\.*0x8[45]" -- saquery --src-to-dst "$lid:$peer_lid"
}

# OpenSM has given the ports of the switch the partitions of the other ends.
enforces()
{
	says "PartEnforceInb:\\.*1\$" "PartEnforceOutb:\\.*1\$" -- smpquery portinfo "$switch_lid" 1 &&
		says "^ *0: 0xffff" -- smpquery pkeys "$switch_lid" 1
}

kernel_log_mark
ib_meet
if [ "$RANK" -eq 0 ]; then plan 37; else plan 2; fi
check "the node's description is set" node_described
barrier ib.described
if [ "$RANK" -eq 0 ]; then
	check "sminfo" says "sm lid $first_lid sm guid 0x$first_guid.*SMINFO_MASTER" -- sminfo
	check "saquery: nodes" counts 3 "NodeRecord dump" saquery
	check "saquery: this one" says "port_guid\\.*0x$guid" -- saquery "$lid"
	check "saquery: path" path
	check "saquery: groups" says "MGID\\.*ff12:401b:ffff::ffff:ffff" "Mlid\\.*0xC" -- saquery -g
	check "saquery: members of the broadcast group" counts 2 "PortGid\\.*fe80::" saquery --smkey 1 -m 0xc000
	check "saquery: ports" says "PortInfoRecord dump" -- saquery PIR
	check "saquery: the administrator" says "Capability mask|CapabilityMask" -- saquery -c
	check "ibnetdiscover: a switch" counts 1 "^Switch" ibnetdiscover
	check "ibnetdiscover: two adapters" counts 2 "^Ca" ibnetdiscover
	check "ibhosts" says "0x$(echo "$guid" | cut -c 1-4).* ports 1" -- ibhosts
	check "ibswitches" counts 1 "^Switch" ibswitches
	check "iblinkinfo" counts 4 "[0-9]X .*Gbps Active/  LinkUp" iblinkinfo
	check "smpquery nodeinfo" says "NodeType:\\.*Channel Adapter" "PortGuid:\\.*0x$peer_guid" "NumPorts:\\.*1\$" "VendorId:" \
		-- smpquery nodeinfo "$peer_lid"
	check "smpquery nodeinfo, the switch" says "NodeType:\\.*Switch" -- smpquery nodeinfo "$switch_lid"
	check "smpquery nodeinfo, directed route" says "NodeType:\\.*Switch" -- smpquery -D nodeinfo 0,1
	check "smpquery nodedesc" says "Node Description:\\.*node1 of two\$" -- smpquery nodedesc "$peer_lid"
	check "smpquery portinfo" says "^Lid:\\.*$peer_lid\$" "SMLid:\\.*$first_lid\$" "LinkState:\\.*Active" "PhysLinkState:\\.*LinkUp" \
		"GidPrefix:\\.*0xfe80000000000000" "MtuCap:\\.*4096" -- smpquery portinfo "$peer_lid" 1
	check "smpquery pkeys" says "0: 0xffff 0x0000" "capacity for this port" -- smpquery pkeys "$peer_lid" 1
	check "smpquery sl2vl" says "^# SL2VL table" "ports: in" -- smpquery sl2vl "$peer_lid"
	check "smpquery vlarb" says "^# VLArbitration tables" "WEIGHT" -- smpquery vlarb "$peer_lid"
	check "smpquery guids" says "0x$peer_guid" -- smpquery GUIDInfo "$peer_lid"
	check "smpquery switchinfo" says "LinearFdbCap:\\.*[1-9]" "McastFdbCap:\\.*[1-9]" -- smpquery switchinfo "$switch_lid"
	check "perfquery" says "PortXmitData:" "SymbolErrorCounter:\\.*0\$" -- perfquery "$peer_lid" 1
	check "perfquery, the switch" says "PortXmitData:" "PortSelect:\\.*1\$" -- perfquery "$switch_lid" 1
	check "perfquery counts" counters_count
	check "perfquery -R" counters_reset
	check "ibtracert" says "^From ca .*" "^To ca .*" -- ibtracert "$lid" "$peer_lid"
	check "ibroute" says "^Unicast lids" "valid lids dumped" -- ibroute "$switch_lid"
	check "ibroute -M" says "^Multicast mlids" "0xc000" -- ibroute -M "$switch_lid"
	check "ibqueryerrors clears" errors_cleared
	check "ibqueryerrors" says "Summary: 3 nodes checked, 0 bad nodes found" -- ibqueryerrors
	check "smpquery portinfo: link" says "LinkWidthSupported:\\.*1X" "LinkWidthActive:\\.*4X\$" "LinkSpeedExtActive:\\.*25.78125 Gbps" \
		-- smpquery portinfo "$peer_lid" 1
	check "smpquery switchinfo: partitions" says "PartEnforceCap:\\.*128" "InboundPartEnf:\\.*1" "OutboundPartEnf:\\.*1" \
		-- smpquery switchinfo "$switch_lid"
	check "OpenSM enforces partitions" enforces
fi
barrier ib.diagnosed
check "the kernel log is clean" kernel_log_clean
finish
