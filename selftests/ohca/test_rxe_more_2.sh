#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# More of RoCEv2 between an adapter and soft-RoCE, each of which is the requester or the server in turn: multicast,
# large transfers, all operations, requests that fail, different MTUs; then an address that moves under a connection.
# $OHCA_BULK_MIB MiB are transferred in each direction; by default 128 in the long form, else 32.
# vms: 2
# kernels: newest - soft-RoCE checks the device's packets
# boot: rxe
# devices: ohca,rxe
. "$(dirname "$0")/lib.sh"
need_machines 2
need_root
[ -n "$(ibdev)" ] || skip_all "no device"
command -v rping > /dev/null || skip_all "no rdmacm-utils"
. "$DIR/lib_pair.sh"
. "$DIR/lib_bond.sh"

mtu_before=$(cat "/sys/class/net/$ND/mtu")
cleanup()
{
	ip link del ohcabond 2> /dev/null
	ip link set "$ND" mtu "$mtu_before"
	pair_cleanup
}
trap cleanup EXIT

# sides PROGRAM...: a program of two sides; side 0 is $pair_server_rank.
sides()
{
	OHCA_RANK=$(((RANK + pair_server_rank) % 2)) timeout $((240 * slow)) "$@"
	sides_status=$?
	barrier sides.end
	return "$sides_status"
}

# mtu_of RANK MTU: of that machine's interface
mtu_of()
{
	[ "$RANK" -ne "$1" ] || ip link set "$ND" mtu "$2" || bail "no MTU $2"
	barrier mtu
}

# Paths of different MTUs: the adapter refuses packets that do not have its path MTU.  (Soft-RoCE accepts such sends.)
paths_differ() # server's, client's
{
	port=$((19000 + pair_number))
	differ="ibv_rc_pingpong -d $DEV -g $GID -s 8192 -n 10 -p $port"
	run_pair "tcp_listening $port" "$differ -m $1" "$differ -m $2 $OHCA_PEER" && return 1
	[ "$OHCA_DEVICE" != rxe ] || grep "remote invalid request" "$pair_log"
}

# The client asks for packets that the adapter's interface has no room for: the adapter refuses the connection.
refused()
{
	echoes 4 -S 20000 && return 1
	[ "$RANK" -eq "$pair_server_rank" ] || grep "RDMA_CM_EVENT_REJECTED" "$pair_log"
}

# The adapter's interface joins a bond, and the other machine gets an address of the bond's network; and the reverse.
bond_both()
{
	if [ "$RANK" -eq 0 ]; then bond; else ip addr add "$BOND_PEER_IP/24" dev "$ND"; fi
}

unbond_both()
{
	if [ "$RANK" -eq 0 ]; then unbond; else ip addr del "$BOND_PEER_IP/24" dev "$ND"; fi
}

# The server does not notice the end of the client; it is killed.
address_moves()
{
	if [ "$RANK" -eq 0 ]; then
		barrier moves
		"$DIR/cm_device" connected "$BOND_IP" "$BOND_AWAY" "$BOND_PEER_IP"
		moves_status=$?
		barrier moves.end
		return "$moves_status"
	fi
	rping -s -a "$BOND_PEER_IP" > "$pair_log" 2>&1 &
	pair_server=$!
	wait_for 60 cm_listening 7174
	barrier moves
	barrier moves.end
	cat "$pair_log"
	kill "$pair_server" || return 1
	wait "$pair_server"
	pair_server=
}

pingpong_timeout=18 # as in test_rxe_2.sh
plan 24
kernel_log_mark
# virtio-net configures a group some time after it was joined: earlier messages are lost.
[ "$OHCA_DEVICE" != rxe ] || ip link set "$ND" allmulticast on
barrier rxe_more
for rank in 0 1; do
	pair_server_rank=$rank
	from="side 0 is node$rank"
	check "multicast, $from" sides "$DIR/mc_example" -2
	check "large transfers, payload compared, $from" sides "$DIR/bulk" -2 -m "${OHCA_BULK_MIB:-$(long 128 32)}"
	check "requests that fail, $from" sides "$DIR/rc_errors" -2
	from="server is node$rank"
	check "paths of different MTUs, the larger one is the client's, $from" paths_differ 1024 2048
	check "paths of different MTUs, the larger one is the server's, $from" paths_differ 2048 1024
	mtu_of $((1 - rank)) 1500
	check "ibv_rc_pingpong, MTU 1500 at the client, $from" pingpong rc -c -n 50 -m 1024
	check "rping, MTU 1500 at the client, $from" echoes 4 -S 20000
	mtu_of $((1 - rank)) "$mtu_before"
	check "ibv_rc_pingpong, MTU 4096 again, $from" pingpong rc -c -n 50 -m 4096
done
pair_server_rank=0
# As the server, soft-RoCE accepts a path MTU whose packets its own interface does not send.
mtu_of 0 1500
check "rping, MTU 1500 at the server, which refuses 4096" refused
mtu_of 0 "$mtu_before"
check "rping, MTU as before" echoes 4 -S 20000
# There is traffic in both directions of it.  When an RDMA READ is repeated, and the request before was empty, soft-RoCE's
# read_reply() copies from no MR: a warning, and an error of the queue pair.  So the ACK timeout, 4.3 s, is too long to
# expire because a machine is slow.
check "all operations, payload compared" sides "$DIR/rc_data" -2 -m 1 -t 20
if bond_modules; then
	check "a bond's address is the adapter's" bond_both
	barrier bond
	check "ADDR_CHANGE: the bond's address moves under a connection" address_moves
	check "the port alone again" unbond_both
else
	skip "a bond's address is the adapter's" "the kernel has no CONFIG_BONDING or CONFIG_DUMMY"
	skip "ADDR_CHANGE: the bond's address moves under a connection" "no bond"
	skip "the port alone again" "no bond"
fi
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
