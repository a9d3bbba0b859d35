# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A bond of the port and of an interface without a peer; the bond has the address of the active one. A script sources
# this file after lib.sh, and sets $ND.

# The bond's address, and an address of its network
BOND_IP=10.99.0.1
BOND_PEER_IP=10.99.0.2
# Moves the bond's address to the interface without a peer.
BOND_AWAY="ip link set ohcabond type bond active_slave ohcadummy"

bond_modules()
{
	modprobe -a bonding dummy 2> /dev/null
}

bond()
{
	ip link add ohcadummy type dummy && ip link set "$ND" down &&
		ip link add ohcabond type bond mode active-backup fail_over_mac active miimon 50 &&
		ip link set "$ND" master ohcabond && ip link set ohcadummy master ohcabond &&
		ip link set ohcabond up && ip addr add "$BOND_IP/24" dev ohcabond &&
		wait_for 20 bond_is_port && wait_for 20 bond_has_gid
}

# Activates the port's interface again; it may have had no carrier before.
bond_is_port()
{
	ip link set ohcabond type bond active_slave "$ND"
	[ "$(cat /sys/class/net/ohcabond/bonding/active_slave)" = "$ND" ]
}

bond_has_gid()
{
	gids | grep -q "ffff:0a63:0001"
}

unbond()
{
	ip link del ohcabond && ip link del ohcadummy && net_restore
}
