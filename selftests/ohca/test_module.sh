#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The module, its PCI function, its port: identity, loading and unloading, link state, GIDs.
# vms: 1
# kernels: all - the driver is loaded and unloaded
# smp: 2 newest - the driver is called by several processors at once
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
. "$DIR/lib_recover.sh"
PCI=$(pcidev)
[ -n "$PCI" ] || skip_all "no OHCA PCI function"
ND=$(netdev)

cleanup()
{
	watcher_stop
	ohcactl fault clear
	modprobe ohca
	ND=$(netdev)
	ip addr del 192.0.2.77/24 dev "$ND"
	ip -6 addr del 2001:db8::77/64 dev "$ND"
	ip link del ohcav5
	ip link set "$ND" up
	port_is PORT_ACTIVE || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

modinfo_has() # field, pattern
{
	modinfo -F "$1" ohca | grep -q -e "$2" || { modinfo ohca; return 1; }
}

lspci_has() # pattern
{
	lspci -Dnnvv -s "$PCI" | grep -q -e "$1" || { lspci -Dnnvv -s "$PCI"; return 1; }
}

devinfo_has() # pattern
{
	ibv_devinfo -v -d "$(ibdev)" | grep -q -e "$1" || { ibv_devinfo -v -d "$(ibdev)"; return 1; }
}

has_gid() # pattern
{
	gids | grep -q "$1"
}

no_gid()
{
	! has_gid "$1"
}

cycles() # number of times
{
	n=0
	while [ "$n" -lt "$1" ]; do
		rmmod ohca || return 1
		! test_device || return 1
		modprobe ohca || return 1
		wait_for 20 test_device || return 1
		n=$((n + 1))
	done
}

# with the port up, so that there are GIDs, a running netdev and buffers in its queues
cycles_up()
{
	for cycle in 1 2 3; do
		net_restore || return 1
		ping -c 1 -W 1 "${OHCA_PEER:-192.0.2.1}" > /dev/null 2>&1
		cycles 1 || return 1
	done
}

speed_up()
{
	[ "$(cat "/sys/class/infiniband/$(ibdev)/ports/1/rate")" != "" ] &&
		[ "$(cat "/sys/class/net/$ND/speed")" -gt 0 ]
}

# each online processor has a completion vector, and no other one
vectors_spread()
{
	sed -n "s/^ *\([0-9]*\):.*ohca-comp[0-9]*@$PCI\$/\1/p" /proc/interrupts | while read -r irq; do
		cat "/proc/irq/$irq/smp_affinity_list"
	done | sort -n > /run/vectors
	cat /run/vectors
	[ "$(cat /run/vectors)" = "$(seq 0 $(($(nproc --all) - 1)))" ]
}

# The device says that its port has a link layer that no driver knows: it is not used.
unknown_link()
{
	command -v ohca-host > /dev/null || return 1
	rmmod ohca && ohcactl fault add "set-output=0:3,hca=$OHCA_HCA,op=query-port" || return 1
	mark
	modprobe ohca
	! test_device && log_has 1 'ohca.*port 1 has link layer 3, which this driver does not know' &&
		log_has 1 'ohca.*probe.*failed with error -95' && rmmod ohca && ohcactl fault clear && reload
}

plan 44
kernel_log_mark
check "modinfo: licence" modinfo_has license '^GPL'
check "modinfo: description" modinfo_has description 'Open Host Channel Adapter'
check "modinfo: author" modinfo_has author .
check "modinfo: alias" modinfo_has alias '^pci:v00001234d00000CA0'
check "modinfo: needs ib_core" modinfo_has depends ib_core
check "modinfo: kernel" modinfo_has vermagic "^$(uname -r) "
check "modinfo: no parameters" [ -z "$(modinfo -F parm ohca)" ]

check "lspci: identity" lspci_has '\[1234:0ca0\]'
check "lspci: class" lspci_has '\[0207\]'
check "lspci: revision" lspci_has 'rev 01'
check "lspci: MSI-X on" lspci_has 'MSI-X: Enable+'
check "completion vectors: one for each processor" vectors_spread
check "lspci: PCI Express endpoint" lspci_has 'Express.*Endpoint'
check "lspci: function reset" lspci_has 'FLReset+'
check "lspci: driver" lspci_has 'driver in use: ohca'

check "sysfs: netdev of the same function" [ -n "$ND" ]
check "sysfs: driver" [ "$(basename "$(readlink "/sys/class/net/$ND/device/driver")")" = ohca ]
check "ibv_devinfo: port is active" wait_for 20 devinfo_has 'state:[[:space:]]*PORT_ACTIVE'
check "ibv_devinfo: Ethernet" devinfo_has 'link_layer:[[:space:]]*Ethernet'
check "ibv_devinfo: vendor" devinfo_has 'vendor_id:[[:space:]]*0x1234'
check "ibv_devinfo: part" devinfo_has 'vendor_part_id:[[:space:]]*3232'
check "rdma link: netdev" sh -c "rdma link show $(ibdev)/1 | grep -q 'ACTIVE.*netdev $ND'"
check "speeds are reported" speed_up

watcher_start
ip addr add 192.0.2.77/24 dev "$ND"
check "GID of a new IPv4 address" wait_for 20 has_gid '0000:0000:0000:0000:0000:ffff:c000:024d'
check "and it is notified" wait_for 20 notified "GID table change" 1
events=$(grep -c "GID table change" "$watcher_log")
ip addr del 192.0.2.77/24 dev "$ND"
check "and it goes with the address" wait_for 20 no_gid 'ffff:c000:024d'
check "which is notified too" wait_for 20 notified "GID table change" $((events + 1))
watcher_stop
ip -6 addr add 2001:db8::77/64 dev "$ND" nodad
check "GID of a new IPv6 address" wait_for 20 has_gid '2001:0db8:0000:0000:0000:0000:0000:0077'
ip -6 addr del 2001:db8::77/64 dev "$ND"
check "and it goes with the address" wait_for 20 no_gid '2001:0db8'
if modprobe 8021q 2> /dev/null && ip link add link "$ND" name ohcav5 type vlan id 5 2> /dev/null; then
	ip addr add 192.0.2.78/24 dev ohcav5
	ip link set ohcav5 up
	check "GID of an address on a VLAN" wait_for 20 has_gid 'ffff:c000:024e'
	ip link del ohcav5
	check "and it goes with the VLAN" wait_for 20 no_gid 'ffff:c000:024e'
else
	skip "GID of an address on a VLAN" "no VLANs"
	skip "and it goes with the VLAN" "no VLANs"
fi

watcher_start
ip link set "$ND" down
check "link down: port is down" wait_for 20 port_is PORT_DOWN
check "link down: event" wait_for 20 notified "port error" 1
ip link set "$ND" up
check "link up: port is active" wait_for 20 port_is PORT_ACTIVE
check "link up: event" wait_for 20 notified "port active" 1
for i in 1 2 3 4 5; do
	ip link set "$ND" down
	ip link set "$ND" up
done
check "link up and down many times: port is active" wait_for 20 port_is PORT_ACTIVE
watcher_stop

check "addresses are back" net_restore
check "traffic works" traffic_works
check "unloaded and loaded 10 times" cycles 10
check "unloaded with a running port" cycles_up
check "an unknown link layer is refused" unknown_link
check "port is active again" net_restore
check "traffic works again" traffic_works
check "the kernel log is clean" kernel_log_clean
finish
