#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Events of the connection manager when the device is removed, or when a bond's address moves away from it.
# vms: 1
# kernels: all - the kernel raises the events
. "$(dirname "$0")/lib.sh"
need_device
PCI=$(pcidev)
[ -n "$PCI" ] || skip_all "no OHCA PCI function"
DRIVER=/sys/bus/pci/drivers/ohca
ND=$(netdev)
. "$DIR/lib_bond.sh"

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

# With a bond, newer releases of ib_core leave these events to the driver.
bond_events()
{
	watcher_start || return 1
	ip link set "$ND" down && wait_for 20 notified "port error" 1 &&
		ip link set "$ND" up && wait_for 20 notified "port active" 1
	bond_result=$?
	watcher_stop
	[ "$bond_result" -eq 0 ] && wait_for 20 bond_is_port && wait_for 20 bond_has_gid
}

plan 9
kernel_log_mark
check "DEVICE_REMOVAL and ROUTE_ERROR: the driver is unbound" \
	"$DIR/cm_device" remove "echo $PCI > $DRIVER/unbind"
check "the device is there again" rebind
check "nothing is left of that" nothing_left
if bond_modules; then
	check "a bond's address is the device's" bond
	check "a bond's link: events of the port" bond_events
	check "ADDR_CHANGE: the bond's address moves to another link" \
		"$DIR/cm_device" move "$BOND_IP" "$BOND_AWAY"
	check "the port alone again" unbond
else
	skip "a bond's address is the device's" "the kernel has no CONFIG_BONDING or CONFIG_DUMMY"
	skip "a bond's link: events of the port" "no bond"
	skip "ADDR_CHANGE: the bond's address moves to another link" "no bond"
	skip "the port alone again" "no bond"
fi
check "nothing is left of that" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
