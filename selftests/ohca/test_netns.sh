#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Network namespaces. Shared, the usual mode: an interface on a port, or the port's own, is in a namespace, and the
# connection manager follows it. Exclusive: a device is in one namespace, and others do not see it.
# vms: 1
# hcas: 2
# kernels: all - the kernel has namespaces
. "$(dirname "$0")/lib.sh"
need_hcas 2
command -v rping > /dev/null || skip_all "no rdmacm-utils"
modinfo ipvlan > /dev/null 2>&1 || skip_all "no ipvlan"
FIRST=$(hca 0)
SECOND=$(hca 1)
ND1=$(netdev "$FIRST")
ND2=$(netdev "$SECOND")
HOST=ohcahost # the machine's own namespace
A=ohcaone
B=ohcatwo

log=$(mktemp)
holder=
server=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	[ -z "$server" ] || kill "$server"
	for ns in "$A" "$B" "$HOST"; do
		ip netns del "$ns"
	done
	wait_for 20 set_mode shared
	wait_for 20 test -e "/sys/class/net/$ND2"
	net_restore
	rm -f "$log" "$log.client"
} > /dev/null 2>&1
trap cleanup EXIT

inside() # namespace, command
{
	inside_ns=$1
	shift
	ip netns exec "$inside_ns" "$@"
}

make_namespaces()
{
	ip netns attach "$HOST" $$ && ip netns add "$A" && ip netns add "$B" &&
		inside "$A" ip link set lo up && inside "$B" ip link set lo up
}

delete_namespaces()
{
	ip netns del "$A" && ip netns del "$B"
}

# move INTERFACE NAMESPACE ADDRESS ADDRESS6: moves an interface, and sets its addresses there
move()
{
	ip link set "$1" netns "$2" && up "$@"
}

up()
{
	inside "$2" ip link set "$1" up && inside "$2" ip addr replace "$3/24" dev "$1" &&
		inside "$2" ip addr replace "$4/64" dev "$1" nodad
}

# Makes an interface on each port, with that name, in each of the namespaces
interfaces() # type and its options
{
	ip link add link "$ND1" name ohcaif1 type "$@" && ip link add link "$ND2" name ohcaif2 type "$@" &&
		move ohcaif1 "$A" 10.90.0.1 fd90::1 && move ohcaif2 "$B" 10.90.0.2 fd90::2
}

interfaces_gone()
{
	inside "$A" ip link del ohcaif1 && inside "$B" ip link del ohcaif2 && wait_for 20 no_gid 0a5a
}

no_gid() # part of it
{
	! { gids "$FIRST"; gids "$SECOND"; } | grep ":$1:"
}

has_gid() # RDMA device, IPv4 address
{
	gids "$1" | grep -q "ffff:$(echo "$2" | awk -F. '{ printf "%02x%02x:%02x%02x", $1, $2, $3, $4 }')"
}

# Its interface in that namespace is that of the entry of the device's GID table
gid_is_of() # RDMA device, IPv4 address, namespace, interface
{
	wait_for 20 has_gid "$1" "$2" || return 1
	gid_attrs=/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs
	for gid_entry in $(gids "$1" | cut -d' ' -f1); do
		[ "$(inside "$3" cat "$gid_attrs/$gid_entry" 2> /dev/null)" != "$4" ] || return 0
	done
	return 1
}

sent()
{
	cat "/sys/class/infiniband/$1/ports/1/counters/port_xmit_packets"
}

# A server on that port of that address: $server, with its output in a file
server_start() # namespace, address, port, file
{
	ip netns exec "$1" timeout $((60 * slow)) rping -s -a "$2" -p "$3" -C 10 -V > "$4" 2>&1 &
	server=$!
	wait_for 20 cm_listening "$2:$3" inside "$1"
}

# Runs the client, and checks that $server succeeds too
client() # namespace, server's address, port, file with the server's output
{
	ip netns exec "$1" timeout $((60 * slow)) rping -c -a "$2" -p "$3" -C 10 -V > "$log.client" 2>&1
	client_status=$?
	cat "$log.client"
	if rping_was_done "$client_status" "$log.client"; then
		wait "$server"
		rping_was_done "$?" "$4"
	else
		kill "$server"
		false
	fi
	client_status=$?
	server=
	return "$client_status"
}

# rping from one namespace to the other
rping_between() # server's namespace, its address, client's namespace
{
	server_start "$1" "$2" 7174 "$log" && client "$3" "$2" 7174 "$log"
	rping_status=$?
	cat "$log"
	return "$rping_status"
}

# The same, between the two devices
over_both()
{
	sent_first=$(sent "$FIRST") sent_second=$(sent "$SECOND")
	rping_between "$@" || return 1
	[ "$(sent "$FIRST")" -gt "$sent_first" ] && [ "$(sent "$SECOND")" -gt "$sent_second" ]
}

# Servers with the same port in both namespaces, each of which has a client in the other one.
one_port() # address of the first, of the second
{
	server_start "$A" "$1" 7174 "$log"
	other_server=$server
	server_start "$B" "$2" 7174 "$log.2" && client "$A" "$2" 7174 "$log.2"
	one_port_status=$?
	server=$other_server
	client "$B" "$1" 7174 "$log" || one_port_status=1
	cat "$log" "$log.2"
	rm -f "$log.2"
	return "$one_port_status"
}

set_mode() # shared or exclusive
{
	rdma system set netns "$1" && mode_is "$1"
}

mode_is()
{
	rdma system | grep -q "netns $1"
}

sees() # namespace, all RDMA devices that are visible there
{
	sees_ns=$1
	shift
	seen=$(inside "$sees_ns" ibv_devices | grep -oE 'ohca_[0-9]+' | sort | xargs)
	[ "$seen" = "$*" ] || { echo "devices: $seen"; return 1; }
	seen=$(inside "$sees_ns" rdma dev | grep -oE 'ohca_[0-9]+' | sort | xargs)
	[ "$seen" = "$*" ] || { echo "rdma dev: $seen"; return 1; }
}

set_netns() # its namespace, RDMA device, the next one
{
	inside "$1" rdma dev set "$2" netns "$3"
}

refuses()
{
	! "$@"
}

# Programs with traffic on that device, one of which has ended there
holder_on() # RDMA device, its address
{
	OHCA_IBDEV=$1 OHCA_IP=$2 && export OHCA_IBDEV OHCA_IP && holder_start 8
}

works_in() # namespace, RDMA device, its address
{
	inside "$1" env OHCA_IBDEV="$2" OHCA_IP="$3" "$DIR/holder" -q 4 -n 20
}

# By names that /sys does not show in a namespace of another process. The first port's interface has been here all the
# time, and keeps none of a neighbour's addresses.
works_again()
{
	unset OHCA_IBDEV OHCA_IP
	wait_for 20 test -e "/sys/class/net/$ND2" && ip addr del 10.91.0.1/24 dev "$ND1" &&
		ip addr del fd91::1/64 dev "$ND1" && net_restore && traffic_works
}

shared()
{
	check "shared mode is the usual one" mode_is shared
	check "namespaces" make_namespaces
	check "shared: a namespace sees both devices" sees "$A" "$FIRST" "$SECOND"
	for kind in "macvlan mode bridge" "ipvlan mode l2" "vlan id 77"; do
		name=${kind%% *}
		# shellcheck disable=SC2086 # words
		check "$name on both ports, in two namespaces" interfaces $kind
		check "$name: a GID of the first device" gid_is_of "$FIRST" 10.90.0.1 "$A" ohcaif1
		check "$name: a GID of the second device" gid_is_of "$SECOND" 10.90.0.2 "$B" ohcaif2
		check "$name: rping, IPv4" over_both "$A" 10.90.0.1 "$B"
		check "$name: rping, IPv6" over_both "$B" fd90::2 "$A"
		check "$name: two servers with one port" one_port 10.90.0.1 10.90.0.2
		check "$name: gone with its GIDs" interfaces_gone
	done
	check "the second port's interface moves" move "$ND2" "$A" 10.91.0.2 fd91::2
	check "the first port's has a neighbour's address" up "$ND1" "$HOST" 10.91.0.1 fd91::1
	check "interface: its GID follows" gid_is_of "$SECOND" 10.91.0.2 "$A" "$ND2"
	check "interface: rping into the namespace" over_both "$A" 10.91.0.2 "$HOST"
	check "interface: rping out of it" over_both "$HOST" 10.91.0.1 "$A"
	check "interface: rping, IPv6" over_both "$A" fd91::2 "$HOST"
	check "interface: rping within it" rping_between "$A" 10.91.0.2 "$A"
	check "exclusive mode is refused while there are namespaces" refuses rdma system set netns exclusive
	check "the namespaces end" delete_namespaces
	check "interface: it is the machine's again" wait_for 20 test -e "/sys/class/net/$ND2"
	check "interface: traffic" works_again
}

exclusive()
{
	ip netns del "$HOST"
	check "exclusive mode" wait_for 20 set_mode exclusive
	check "namespaces" make_namespaces
	check "exclusive: a namespace sees no device" sees "$A"
	check "exclusive: the machine sees both" sees "$HOST" "$FIRST" "$SECOND"
	check "device: a program uses it" holder_on "$SECOND" 10.78.0.1
	check "device: it moves" set_netns "$HOST" "$SECOND" "$A"
	check "device: the program is notified, and ends" holder_ended 10
	holder=
	unset OHCA_IBDEV OHCA_IP
	check "device: its namespace sees it" sees "$A" "$SECOND"
	check "device: the machine does not" sees "$HOST" "$FIRST"
	check "device: another namespace does not" sees "$B"
	check "device: nobody else moves it" refuses set_netns "$HOST" "$SECOND" "$B"
	check "device: its port's interface moves" move "$ND2" "$A" 10.91.0.2 fd91::2
	check "device: the first port's has a neighbour's address" up "$ND1" "$HOST" 10.91.0.1 fd91::1
	check "device: a GID" inside "$A" sh -c ". $DIR/lib.sh; wait_for 20 grep -q ffff:0a5b:0002 \
		/sys/class/infiniband/$SECOND/ports/1/gids/*"
	check "device: ibv_devinfo" inside "$A" ibv_devinfo -d "$SECOND"
	check "device: traffic" works_in "$A" "$SECOND" 10.91.0.2
	check "device: rping into the namespace" rping_between "$A" 10.91.0.2 "$HOST"
	check "device: rping out of it" rping_between "$HOST" 10.91.0.1 "$A"
	check "device: the machine's works" works_in "$HOST" "$FIRST" 10.77.0.1
	check "device: it moves back" set_netns "$A" "$SECOND" "$HOST"
	check "device: the machine sees both" sees "$HOST" "$FIRST" "$SECOND"
	check "device: the namespace sees none" sees "$A"
	check "device: it moves to another" set_netns "$HOST" "$SECOND" "$B"
	check "device: that one sees it" sees "$B" "$SECOND"
	check "the namespaces end" delete_namespaces
	check "device: it is the machine's again" wait_for 20 sees "$HOST" "$FIRST" "$SECOND"
	ip netns del "$HOST"
	check "shared mode again" wait_for 20 set_mode shared
	check "traffic" works_again
}

modprobe -a ipvlan macvlan 8021q
plan 65
kernel_log_mark
shared
exclusive
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
