#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A subnet of two machines and a switch, as shown by its tools: ports, attributes that the subnet manager has set,
# records of subnet administration, attributes of each agent, counters, routes.
# vms: 2
# link: ib
# kernels: all - ports, agents and their users are in the kernel
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ibstat > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"

ping_server=

cleanup()
{
	[ -z "$ping_server" ] || kill "$ping_server"
} > /dev/null 2>&1
trap cleanup EXIT

is() # file of the port, content
{
	echo "$1: $(cat "$IB_PORT/$1")"
	[ "$(cat "$IB_PORT/$1")" = "$2" ]
}

port_in_sysfs()
{
	is state "4: ACTIVE" && is phys_state "5: LinkUp" && is link_layer InfiniBand && is lid_mask_count 0 &&
		is lid "$(printf '0x%x' "$lid")" && is sm_lid "$(printf '0x%x' "$first_lid")" && is sm_sl 0 &&
		is pkeys/0 0xffff && is pkeys/1 0x0000 && [ -e "$IB_PORT/pkeys/63" ] &&
		grep -qE '^[1-9][0-9.]* Gb/sec \(.*X' "$IB_PORT/rate" && grep -q '^fe80:0000:0000:0000:' "$IB_PORT/gids/0" &&
		grep -q 'IB/RoCE v1' "$IB_PORT/gid_attrs/types/0" && grep -q "" "$IB_PORT/cap_mask"
}

# Such a port has no Ethernet interface
no_ethernet()
{
	for net in "/sys/class/infiniband/$IB_DEV/device/net"/*; do
		[ "$(cat "$net/type")" = 32 ] || { echo "$net is no IPoIB"; return 1; }
	done
}

# Counters of the peer's port, before and after something was sent to it
peer_counter() # name
{
	perfquery -x "$peer_lid" 1 | ib_field "$1"
}

counters_count()
{
	before=$(peer_counter PortRcvPkts) && ping -c 5 -i 0.2 -W 5 "$OHCA_PEER" && after=$(peer_counter PortRcvPkts) || return 1
	echo "$before $after"
	[ "$((after - before))" -ge 5 ]
}

counters_reset()
{
	perfquery -x -R "$lid" 1 && sent=$(perfquery -x "$lid" 1 | ib_field PortXmitPkts) || return 1
	echo "$sent"
	[ "$sent" -lt 100 ]
}

node_described()
{
	printf "node%s of two" "$RANK" > "/sys/class/infiniband/$IB_DEV/node_desc"
}

# The links went down when the drivers were loaded.
errors_cleared()
{
	ibqueryerrors -k | grep "nodes checked"
}

ping_serves()
{
	ibping -S > /dev/null 2>&1 &
	ping_server=$!
	wait_for 20 agent_of ibping
}

# The port has an agent: management tools register with umad.
agent_of() # program
{
	readlink "/proc/$ping_server/fd"/* | grep -q umad
}

pings()
{
	says "5 packets transmitted, 5 received, 0% packet loss" -- ibping -c 5 "$1"
}

pings_guid()
{
	says "3 packets transmitted, 3 received, 0% packet loss" -- ibping -c 3 -G "0x$peer_guid"
}

path()
{
	says "dlid\\.*$peer_lid\$" "slid\\.*$lid\$" "pkey\\.*0xFFFF" "mtu\\.*0x8[45]" -- saquery --src-to-dst "$lid:$peer_lid"
}

# This machine's link gets another width: it is trained anew, and the subnet manager brings it up as that.
link_width() # LinkWidthEnabled, width in the rate
{
	own_port=$(smpquery nodeinfo -D 0,1 | ib_field LocalPort) || return 1
	echo "port $own_port of the switch"
	ibportstate "$switch_lid" "$own_port" width "$1"
	wait_for 40 rate_is "$2" && wait_for 40 port_is PORT_ACTIVE && cat "$IB_PORT/rate" && reaches_peer
}

rate_is()
{
	grep -q "($1X " "$IB_PORT/rate"
}

reaches_peer()
{
	wait_for 40 smpquery nodeinfo "$peer_lid" > /dev/null 2>&1
}

fault() # rule, without the adapter
{
	ohca-host ohcactl fault add "$1,hca=$OHCA_HCA"
}

# Errors of this machine's link, as its counters and those of the switch have them
link_errors()
{
	fault "link-error=symbol,num=20" && fault "link-error=rcv,at=switch,num=3" && wait_for 10 counts_errors
}

counts_errors()
{
	[ "$(perfquery "$lid" 1 | ib_field SymbolErrorCounter)" = 20 ] && [ "$(perfquery "$lid" 1 | ib_field LocalLinkIntegrityErrors)" = 2 ] &&
		[ "$(perfquery "$switch_lid" "$own_port" | ib_field PortRcvErrors)" = 3 ]
}

errors_seen()
{
	errors=$(ibqueryerrors) || true
	echo "$errors"
	echo "$errors" | grep -q "SymbolErrorCounter == 20"
}

# A device of a version without LIDs would write only the first 32 bytes: the LID is 0 then, whatever the driver's buffer had
# from earlier commands.
short_output()
{
	[ "$(ib_lid)" = "$lid" ] && fault "cut-output=32,op=query-port" && [ "$(ib_lid)" = 0 ] && [ "$(ib_lid)" = "$lid" ]
}

# The link carries less than the largest path MTU, as the device has it.
mtu_of_link() # "-": as it is; otherwise PortInfo's number
{
	ohca-host ohcactl fault clear
	[ "$1" = - ] || fault "set-output=45:$1,op=query-port,count=1000000" || return 1
	ohca-host ohcactl link "$OHCA_HCA" down && wait_for 20 port_is PORT_DOWN &&
		ohca-host ohcactl link "$OHCA_HCA" up && wait_for 40 port_is PORT_ACTIVE
}

# Two programs in this machine with this path MTU
pingpong_with() # bytes
{
	timeout 60 ibv_rc_pingpong -d "$IB_DEV" -m "$1" -n 10 > /run/pingpong 2>&1 &
	pingpong=$!
	wait_for 20 pingpong_listens || return 1
	timeout 60 ibv_rc_pingpong -d "$IB_DEV" -m "$1" -n 10 localhost
	pingpong_status=$?
	kill "$pingpong" 2> /dev/null
	wait "$pingpong"
	cat /run/pingpong
	return "$pingpong_status"
}

pingpong_listens()
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:4853 [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6
}

mtu_refused()
{
	! pingpong_with "$1" > /run/refused 2>&1
	cat /run/refused
	grep "Failed to modify QP to RTR" /run/refused
}

# More physical errors than the threshold: the subnet manager is told of them.
trap_received()
{
	wait_for 20 grep "num:129" "/mnt/lab/opensm/node$RANK"
}

# OpenSM has given the ports of the switch the partitions of the other ends.
enforces()
{
	says "PartEnforceInb:\\.*1\$" "PartEnforceOutb:\\.*1\$" -- smpquery portinfo "$switch_lid" 1 &&
		says "^ *0: 0xffff" -- smpquery pkeys "$switch_lid" 1
}

kernel_log_mark
ib_meet
plan 59
check "ibstat" says "State: Active" "Physical state: LinkUp" "Base lid: $lid\$" "SM lid: $first_lid\$" "LMC: 0" \
	"Port GUID: 0x$guid" "Link layer: InfiniBand" "Rate: [1-9]" -- ibstat "$IB_DEV" 1
check "ibstatus" says "state:.*4: ACTIVE" "phys state:.*5: LinkUp" "link_layer:.*InfiniBand" -- ibstatus "$IB_DEV"
check "ibaddr" says "GID fe80::.* LID start $(printf '0x%x end 0x%x' "$lid" "$lid")" -- ibaddr
check "ibv_devinfo" says "state:.*PORT_ACTIVE" "port_lid:[[:space:]]*$lid\$" "sm_lid:[[:space:]]*$first_lid\$" \
	"link_layer:.*InfiniBand" "max_mtu:.*4096" -- ibv_devinfo -d "$IB_DEV"
check "the port in sysfs" port_in_sysfs
check "the port has no Ethernet" no_ethernet
check "rdma link" says "link $IB_DEV/1 subnet_prefix fe80:0000:0000:0000 lid $lid sm_lid $first_lid lmc 0 state ACTIVE physical_state LINK_UP" \
	-- rdma link
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
check "the node's description is set" node_described
barrier ib.described
check "smpquery nodedesc" says "Node Description:\\.*node$((RANK ^ 1)) of two\$" -- smpquery nodedesc "$peer_lid"
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
barrier ib.counted
check "perfquery -R" counters_reset
check "ibtracert" says "^From ca .*" "^To ca .*" -- ibtracert "$lid" "$peer_lid"
check "ibroute" says "^Unicast lids" "valid lids dumped" -- ibroute "$switch_lid"
check "ibroute -M" says "^Multicast mlids" "0xc000" -- ibroute -M "$switch_lid"
check "ibqueryerrors clears" errors_cleared
barrier ib.cleared
check "ibqueryerrors" says "Summary: 3 nodes checked, 0 bad nodes found" -- ibqueryerrors
check "smpquery portinfo: link" says "LinkWidthSupported:\\.*1X" "LinkWidthActive:\\.*4X\$" "LinkSpeedExtActive:\\.*25.78125 Gbps" \
	-- smpquery portinfo "$peer_lid" 1
check "smpquery switchinfo: partitions" says "PartEnforceCap:\\.*128" "InboundPartEnf:\\.*1" "OutboundPartEnf:\\.*1" \
	-- smpquery switchinfo "$switch_lid"
check "OpenSM enforces partitions" enforces
barrier ib.link
first_check "a link of one lane" link_width 1 1
barrier ib.link1
first_check "and of all" link_width 255 4
barrier ib.link2
first_check "link errors" link_errors
first_check "ibqueryerrors sees them" errors_seen
first_check "OpenSM is told of them" trap_received
first_check "fields that were not written are zero" short_output
first_check "the link carries 1024 bytes" mtu_of_link 3
first_check "a path MTU of 1024 bytes" pingpong_with 1024
first_check "one of 2048 bytes is refused" mtu_refused 2048
first_check "the link carries all again" mtu_of_link -
first_check "a path MTU of 2048 bytes" pingpong_with 2048
barrier ib.errors
check "the other end is reached" reaches_peer
check "ibping serves" ping_serves
barrier ib.ping
check "ibping" pings "$peer_lid"
check "ibping by GUID" pings_guid
barrier ib.pinged
check "the kernel log is clean" kernel_log_clean
finish
