#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the connection manager tells when the device goes, or when a bond's address moves away from it.
# vms: 1
. "$(dirname "$0")/lib.sh"
need_device
PCI=$(pcidev)
[ -n "$PCI" ] || skip_all "no OHCA PCI function"
DRIVER=/sys/bus/pci/drivers/ohca
ND=$(netdev)
BOND_IP=10.78.0.1

cleanup()
{
	ip link del ohcabond
	ip link del ohcadummy
	[ -e "$DRIVER/$PCI" ] || echo "$PCI" > "$DRIVER/bind"
	wait_for 20 test_device && net_restore
} > /dev/null 2>&1
trap cleanup EXIT

rebind()
{
	echo "$PCI" > "$DRIVER/bind" && wait_for 30 test_device && net_restore
}

# A bond of the port and of a link that leads nowhere; it shows the address of the one that is active.
bond()
{
	ip link add ohcadummy type dummy && ip link set "$ND" down &&
		ip link add ohcabond type bond mode active-backup fail_over_mac active miimon 50 &&
		ip link set "$ND" master ohcabond && ip link set ohcadummy master ohcabond &&
		ip link set ohcabond up && ip addr add "$BOND_IP/24" dev ohcabond &&
		wait_for 20 active_slave "$ND" "$ND" && wait_for 20 has_gid
}

# The bond's link is this one; so it is set if there is a second argument.
active_slave()
{
	[ -z "${2:-}" ] || ip link set ohcabond type bond active_slave "$2"
	[ "$(cat /sys/class/net/ohcabond/bonding/active_slave)" = "$1" ]
}

has_gid()
{
	gids | grep -q "ffff:0a4e:0001"
}

unbond()
{
	ip link del ohcabond && ip link del ohcadummy && net_restore
}

plan 8
kernel_log_mark
check "DEVICE_REMOVAL and ROUTE_ERROR: the driver is unbound" \
	"$DIR/cm_device" remove "echo $PCI > $DRIVER/unbind"
check "the device is there again" rebind
check "nothing is left of that" nothing_left
if modprobe -a bonding dummy 2> /dev/null; then
	check "a bond's address is the device's" bond
	check "ADDR_CHANGE: the bond's address moves to another link" \
		"$DIR/cm_device" move "$BOND_IP" "ip link set ohcabond type bond active_slave ohcadummy"
	check "the port alone again" unbond
else
	skip "a bond's address is the device's" "the kernel has no CONFIG_BONDING or CONFIG_DUMMY"
	skip "ADDR_CHANGE: the bond's address moves to another link" "no bond"
	skip "the port alone again" "no bond"
fi
check "nothing is left of that" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
