#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Two adapters in one machine: they are independent, they reach each other, and a fault of one does not affect the
# other.
# vms: 1
# hcas: 2
# kernels: all - the driver handles two devices
. "$(dirname "$0")/lib.sh"
need_hcas 2
command -v ib_write_bw > /dev/null || skip_all "no perftest"
FIRST=$(hca 0)
SECOND=$(hca 1)
SYS=/sys/bus/pci

log=$(mktemp)
holder=
staying=
cleanup()
{
	rm -f "$log" "$log.client"
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	[ -z "$staying" ] || kill -KILL "$staying" 2> /dev/null
	echo 1 > "$SYS/rescan"
	modprobe ohca
	net_restore
} > /dev/null 2>&1
trap cleanup EXIT

pci_of() # RDMA device
{
	basename "$(readlink -f "/sys/class/infiniband/$1/device")"
}

# Values that differ between the two
differs() # command that prints the value for a device
{
	one=$("$1" "$FIRST")
	two=$("$1" "$SECOND")
	echo "$one; $two"
	[ -n "$one" ] && [ -n "$two" ] && [ "$one" != "$two" ]
}

guid_of()
{
	cat "/sys/class/infiniband/$1/node_guid"
}

mac_of()
{
	cat "/sys/class/net/$(netdev "$1")/address"
}

# No GID is in both tables.
gids_differ()
{
	[ -n "$(gids "$FIRST")" ] && [ -n "$(gids "$SECOND")" ] || return 1
	! { gids "$FIRST"; gids "$SECOND"; } | cut -d' ' -f2 | sort | uniq -d | grep .
}

# The device's first RoCEv2 GID of an IPv4 address
gid4() # RDMA device
{
	gids "$1" | grep -m 1 0000:0000:0000:0000:0000:ffff: | cut -d' ' -f1
}

ip4()
{
	ip -4 -o addr show dev "$(netdev "$1")" | sed -n 's|.*inet \([^/]*\)/.*|\1|p'
}

counter() # RDMA device, counter of its port
{
	cat "/sys/class/infiniband/$1/ports/1/counters/port_$2"
}

listening() # port
{
	grep -qi ":$(printf %04X "$1") [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6
}

# Runs a tool between the two; both ports have sent and received.
between() # server's device, client's, tool and options
{
	server_dev=$1 client_dev=$2
	shift 2
	sent=$(counter "$client_dev" xmit_packets)
	received=$(counter "$server_dev" rcv_packets)
	timeout $((60 * slow)) "$@" -d "$server_dev" -x "$(gid4 "$server_dev")" -F -p 19000 &
	server=$!
	wait_for 20 listening 19000
	timeout $((60 * slow)) "$@" -d "$client_dev" -x "$(gid4 "$client_dev")" -F -p 19000 localhost || return 1
	wait "$server" || return 1
	[ "$(counter "$client_dev" xmit_packets)" -ge $((sent + 100)) ] &&
		[ "$(counter "$server_dev" rcv_packets)" -ge $((received + 100)) ]
}

# By IP: the connection uses the device with that address.
rping_on() # RDMA device
{
	sent=$(counter "$1" xmit_packets)
	timeout $((60 * slow)) rping -s -a "$(ip4 "$1")" -C 20 -V > "$log" 2>&1 &
	server=$!
	wait_for 20 cm_listening 7174
	timeout $((60 * slow)) rping -c -a "$(ip4 "$1")" -C 20 -V > "$log.client" 2>&1
	client_status=$?
	wait "$server"
	server_status=$?
	cat "$log" "$log.client"
	rping_was_done "$client_status" "$log.client" && rping_was_done "$server_status" "$log" || return 1
	[ "$(counter "$1" xmit_packets)" -gt "$sent" ]
}

# A program with traffic on this device, whatever OHCA_IBDEV says
holder_on() # RDMA device
{
	OHCA_IBDEV=$1 OHCA_IP=$(ip4 "$1") && export OHCA_IBDEV OHCA_IP && holder_start 8
}

works_on()
{
	(OHCA_IBDEV=$1 OHCA_IP=$(ip4 "$1") && export OHCA_IBDEV OHCA_IP && traffic_works)
}

only() # RDMA device
{
	[ "$(hca 0)" = "$1" ] && [ -z "$(hca 1)" ]
}

# $staying is the process that is not affected.
staying_on()
{
	holder_on "$1" || return 1
	staying=$holder staying_log=$holder_log
	holder=
}

# It still transfers data, and all data were right.
stays_to_the_end()
{
	moved=$(counter "$1" xmit_packets)
	wait_for 20 moves "$1" "$moved" || return 1
	kill -TERM "$staying"
	holder=$staying holder_log=$staying_log
	staying=
	holder_ended 0 && holder=
}

moves() # RDMA device, packets so far
{
	[ "$(counter "$1" xmit_packets)" -ge $(($2 + 100)) ]
}

remove()
{
	echo 1 > "$SYS/devices/$1/remove"
}

# Both are present again, with the names, the addresses and the functions that they had.
both_again()
{
	wait_for 30 need_both && net_restore && [ "$(pci_of "$FIRST") $(pci_of "$SECOND")" = "$PCI_FIRST $PCI_SECOND" ]
}

need_both()
{
	[ -e "/sys/class/infiniband/$FIRST" ] && [ -e "/sys/class/infiniband/$SECOND" ]
}

rescan()
{
	echo 1 > "$SYS/rescan"
}

# One is removed under its program while the other one works.
goes() # the one that is removed, its PCI function, the one that stays
{
	check "$1 goes: a program on $3" staying_on "$3"
	check "$1 goes: a program on $1" holder_on "$1"
	check "$1 goes: it is removed" remove "$2"
	check "$1 goes: its program is notified, and ends" holder_ended 10
	holder=
	check "$1 goes: $3 is the only one" only "$3"
	check "$1 goes: $3 moves data still" stays_to_the_end "$3"
	check "$1 goes: rescan" rescan
	check "$1 goes: both are there again" both_again
	check "$1 goes: it works again" works_on "$1"
}

PCI_FIRST=$(pci_of "$FIRST")
PCI_SECOND=$(pci_of "$SECOND")
plan 36
kernel_log_mark
check "GUIDs differ" differs guid_of
check "MAC addresses differ" differs mac_of
check "interfaces differ" differs netdev
check "PCI functions differ" differs pci_of
check "GIDs differ" gids_differ
check "traffic on the first" works_on "$FIRST"
check "traffic on the second" works_on "$SECOND"
check "rping on the first" rping_on "$FIRST"
check "rping on the second" rping_on "$SECOND"
check "ib_write_bw from the second to the first" between "$FIRST" "$SECOND" ib_write_bw -n 200
check "ib_write_bw from the first to the second" between "$SECOND" "$FIRST" ib_write_bw -n 200
check "ib_read_bw from the second to the first" between "$FIRST" "$SECOND" ib_read_bw -n 200
check "ib_send_bw from the first to the second" between "$SECOND" "$FIRST" ib_send_bw -n 200
check "the driver is unloaded" rmmod ohca
check "and loaded" modprobe ohca
check "both are there again" both_again
goes "$SECOND" "$PCI_SECOND" "$FIRST"
goes "$FIRST" "$PCI_FIRST" "$SECOND"
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
