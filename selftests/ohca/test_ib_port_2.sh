#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Ports of a subnet of two machines and a switch, as the kernel and its tools show them, links of fewer lanes, link errors,
# MTUs.
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

table_sizes()
{
	ibv_devinfo -v -d "$IB_DEV" | grep -E '(gid|pkey)_tbl_len'
}

# The kernel's tables have the sizes that the port had at first, whatever the device says later.
same_tables()
{
	sizes=$(table_sizes) && echo "$sizes" && ohca-host ohcactl fault clear || return 1
	for byte in 11 13; do
		fault "set-output=$byte:9,op=query-port,count=1000" || return 1
	done
	[ "$(table_sizes)" = "$sizes" ] && [ "$(ohca-host ohcactl -j fault show | grep -o '"hits":[1-9]' | wc -l)" -eq 2 ]
	tables_status=$?
	table_sizes
	ohca-host ohcactl fault clear
	return "$tables_status"
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
	timeout $((60 * slow)) ibv_rc_pingpong -d "$IB_DEV" -m "$1" -n 10 > /run/pingpong 2>&1 &
	pingpong=$!
	wait_for 20 pingpong_listens || return 1
	timeout $((60 * slow)) ibv_rc_pingpong -d "$IB_DEV" -m "$1" -n 10 localhost
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

# More physical errors than the threshold: the subnet manager is notified of them.
trap_received()
{
	wait_for 20 grep "num:129" "/mnt/lab/opensm/node$RANK"
}

kernel_log_mark
ib_meet
plan 25
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
barrier ib.link
first_check "a link of one lane" link_width 1 1
barrier ib.link1
first_check "and of all" link_width 255 4
barrier ib.link2
first_check "ibqueryerrors clears" errors_cleared
first_check "link errors" link_errors
first_check "ibqueryerrors sees them" errors_seen
first_check "OpenSM is notified of them" trap_received
first_check "fields that were not written are zero" short_output
first_check "the tables' sizes stay" same_tables
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
