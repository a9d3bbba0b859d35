#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The connection manager between two machines, by the addresses of a VLAN interface: librdmacm's tools, over IPv4 and
# IPv6.
# vms: 2
# kernels: all - connections are made by the kernel, and the driver has the GIDs of a VLAN
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rping > /dev/null || skip_all "no rdmacm-utils"
. "$DIR/lib_pair.sh"

VLAN=ohcavlan
trap 'ip link del $VLAN 2> /dev/null; pair_cleanup' EXIT

server_ip() # 4 or 6
{
	[ "$1" -eq 4 ] && echo 10.97.0.1 || echo fd97::1
}

# The interface has all addresses; both machines wait for each other there.
vlan_up()
{
	ip link add link "$ND" name "$VLAN" type vlan id 97 && ip link set "$VLAN" up &&
		ip addr add "10.97.0.$((RANK + 1))/24" dev "$VLAN" &&
		ip addr add "fd97::$((RANK + 1))/64" dev "$VLAN" nodad && wait_for 20 vlan_gids || return 1
	ND=$VLAN
}

vlan_gids()
{
	gids | grep ':ffff:0a61:' && gids | grep ' fd97:'
}

plan 12
kernel_log_mark
check "a VLAN interface" vlan_up
barrier cm.vlan
for family in 4 6; do
	check "VLAN: rping, IPv$family" echoes "$family" -S 60000
	check "VLAN: ucmatose, IPv$family" complete "$family" 7471 ucmatose -c 4 -C 10 -S 4000
	check "VLAN: udaddy, IPv$family" complete "$family" 7174 udaddy -c 4 -C 10 -S 1000
done
check "VLAN: mckey" multicast 239.77.1.2
barrier cm.over
check "the VLAN interface goes" ip link del "$VLAN"
check "nothing is left" wait_for 30 no_user_objects
check "no connection is left" wait_for 60 no_connections
check "the kernel log is clean" kernel_log_clean
finish
