#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A device that has no more than the profile Minimal RC of the specification: the driver, the network interface, programs
# that connect queue pairs by themselves; all else is refused. Then one of the profile Verbs.
# vms: 1
# kernels: all - the driver and ib_core have to do with less
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
on_ib && skip_all "needs Ethernet"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: the device can't be changed"
. "$DIR/lib_recover.sh"

server=
cleanup()
{
	[ -z "$server" ] || kill -KILL "$server"
	ohcactl profile "$OHCA_HCA" all
	rmmod ohca
	reload
} > /dev/null 2>&1
trap cleanup EXIT

# Loads the driver for a device of this profile, and takes its network interface up.
load_for() # profile
{
	rmmod ohca && ohcactl profile "$OHCA_HCA" "$1" && modprobe ohca && wait_for 30 test_device || return 1
	ohcactl show hcas
	ND=$(netdev)
	ip link set "$ND" up && wait_for 20 port_is PORT_ACTIVE && wait_for 20 has_gid && wait_for 20 has_address
}

# There is a route to the address of the GID, when it is known that no other machine has it.
has_address()
{
	ip -6 -o addr show dev "$ND" scope link -tentative | grep inet6
}

# The only one: that of the link-local address
has_gid()
{
	gids | grep "^0 fe80:"
}

one_gid()
{
	cat "/sys/class/infiniband/$(ibdev)/ports/1/gids/0"
	[ ! -e "/sys/class/infiniband/$(ibdev)/ports/1/gids/1" ]
}

shows() # pattern
{
	ibv_devinfo -v -d "$(ibdev)" > /run/devinfo || return 1
	grep -qE "$1" /run/devinfo || { cat /run/devinfo; return 1; }
}

# There are no management datagrams, so there is no connection manager either.
no_managers()
{
	! ls /sys/class/infiniband_mad/umad* 2> /dev/null && [ "$(rdma resource show qp | grep -c 'type GSI')" -eq 0 ]
}

listening() # port
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6
}

# A program and its peer, both in this machine: those of the example tools, or of perftest
both() # port, command...
{
	both_port=$1
	shift
	timeout $((120 * slow)) "$@" -p "$both_port" > /run/server 2>&1 &
	server=$!
	wait_for 30 listening "$both_port" || { cat /run/server; return 1; }
	timeout $((120 * slow)) "$@" -p "$both_port" localhost
	both_status=$?
	[ "$both_status" -eq 0 ] || { kill "$server"; cat /run/server; }
	wait "$server" || both_status=1
	server=
	return "$both_status"
}

pingpong()
{
	both 19101 ibv_rc_pingpong -d "$(ibdev)" -g 0 -r 8 -c -n 500 "$@"
}

write_bw()
{
	both 19102 ib_write_bw -d "$(ibdev)" -x 0 -F -t 8 -n 200 -s 65536 "$@"
}

read_bw()
{
	both 19103 ib_read_bw -d "$(ibdev)" -x 0 -F -t 8 -o 1 -n 200 -s 65536 "$@"
}

# A queue of 32 receive requests is too much.
too_much()
{
	! ibv_rc_pingpong -d "$(ibdev)" -g 0 -r 32 > /run/refused 2>&1
	cat /run/refused
	grep "Couldn't create QP" /run/refused
}

# Neither datagrams nor what needs them
no_datagrams()
{
	! ibv_ud_pingpong -d "$(ibdev)" -g 0 > /run/refused 2>&1 && cat /run/refused && grep "Couldn't create" /run/refused
}

no_counters()
{
	! ls "/sys/class/infiniband/$(ibdev)/ports/1/hw_counters" 2> /dev/null && ! ethtool -S "$ND"
}

not_broken()
{
	ohcactl show hcas
	ohcactl -j show hcas | grep -q "\"name\":\"$OHCA_HCA\".*\"broken_rules\":${broken}[,}]"
}

least()
{
	"$DIR/minimal" > /run/minimal
	least_status=$?
	cat /run/minimal
	return "$least_status"
}

plan 19
kernel_log_mark
broken=$(ohcactl -j show hcas | sed -n "s/.*\"name\":\"$OHCA_HCA\"[^}]*\"broken_rules\":\([0-9]*\).*/\1/p")
check "a device with all there is" shows 'max_srq:[[:space:]]*[1-9]'
check "minimal: the driver" load_for minimal-rc
check "minimal: one GID" one_gid
check "minimal: ibv_devinfo" shows 'max_qp_wr:[[:space:]]*16$'
check "minimal: no management datagrams" no_managers
check "minimal: no counters" no_counters
check "minimal: ibv_rc_pingpong" pingpong
check "minimal: ibv_rc_pingpong by events" pingpong -e
check "minimal: ib_write_bw" write_bw
check "minimal: ib_read_bw" read_bw
check "minimal: larger queues are refused" too_much
check "minimal: datagrams are refused" no_datagrams
check "minimal: all else is refused" least
check "minimal: nothing is left" nothing_left
check "verbs: the driver" load_for verbs
check "verbs: traffic" traffic_works
check "all: the driver" load_for all
check "the driver has tried nothing that the device has not" not_broken
check "the kernel log is clean" kernel_log_clean
finish
