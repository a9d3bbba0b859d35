#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The types of ports change while the driver works, by devlink in the machine and by ohcactl outside of it: the second port is
# Ethernet, InfiniBand and Ethernet again. Programs are notified, the network interface goes and comes, and there is traffic on both
# ports after each change. In the long form the first one is InfiniBand, Ethernet and InfiniBand again; meanwhile the ports
# are in a bond.
# vms: 2
# link: ib+eth
# kernels: newest debug - the driver does what it does for a reload, which is tested on all
# boot: ports
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: the type can't be set from outside"
. "$DIR/lib_pair.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_bond.sh"

PORT=pci/$(pcidev)

# devlink has the type of the port, and its device.
shown() # port, type, device
{
	devlink port show "$PORT/$1" > "$pair_log" && cat "$pair_log"
	grep -q "$PORT/$1: type $2 .*\b$3\b" "$pair_log"
}

# The only device that the port has, of the two kinds; in the device itself too
is_ib() # port
{
	shown "$1" ib "ibdev $DEV" && ohcad_has "$1" infiniband && ! netdev_of "$1" && link_layer "$1" InfiniBand
}

is_eth() # port
{
	netdev_of "$1" && shown "$1" eth "netdev $port_netdev" && ohcad_has "$1" ethernet && link_layer "$1" Ethernet
}

link_layer() # port, link layer
{
	grep "$2" "/sys/class/infiniband/$DEV/ports/$1/link_layer"
}

# The Ethernet interface of the port: $port_netdev
netdev_of() # port
{
	for port_netdev in "/sys/bus/pci/devices/$(pcidev)/net"/*; do
		[ -e "$port_netdev" ] && [ "$(cat "$port_netdev/type")" = 1 ] &&
			[ "$(cat "$port_netdev/dev_port")" = $(($1 - 1)) ] || continue
		port_netdev=${port_netdev##*/}
		return
	done
	return 1
}

ohcad_has() # port, link layer
{
	ohcactl show ports "$OHCA_HCA" | grep -E "^$OHCA_HCA +$1 +[a-z]+ +[a-z]+ +$2 "
}

set_inside() # port, type
{
	devlink port set "$PORT/$1" type "$2"
}

set_outside() # port, type
{
	ohcactl port "$OHCA_HCA" "$1" "$2"
}

refused()
{
	! set_inside 3 ib && ! set_inside 2 opa && ! set_outside 3 ib && ! set_outside 2 opa && is_ib 1 && is_eth 2
}

# The RDMA device stays the same one.
nothing_happens() # port, type
{
	inode=$(stat -c %i "/sys/class/infiniband/$DEV/ports")
	set_inside "$1" "$2" && set_outside "$1" "$2" && "is_$2" "$1" &&
		[ "$(stat -c %i "/sys/class/infiniband/$DEV/ports")" = "$inode" ]
}

as_made()
{
	set_inside 1 auto && set_inside 2 auto && wait_for 120 is_ib 1 && is_eth 2
}

# The machine's addresses, for ports of these types; opensm begins anew.
up_as() # type, type
{
	export OHCA_LINKS="$1 $2"
	# shellcheck source=/dev/null
	OHCA_HCA_LINKS=$1+$2 ohca-up && . /run/ohca-env
}

# Verbs and the network on both ports
traffic() # what has changed
{
	for num in 1 2; do
		pair_use_port "$num"
		check "$1: port $num: ibv_rc_pingpong" pingpong rc -c -n 100
		check "$1: port $num: ping" reached_ping -c 2 -W 5 -I "$ND" "$OHCA_PEER"
	done
	barrier "types.$1"
}

# The port with the GID of the bond's address, of the two the only one
bond_is_at() # port
{
	bond_gid=$(printf 'ffff:0a63:%04x' $((RANK + 1)))
	grep -q "$bond_gid" "/sys/class/infiniband/$DEV/ports/$1/gids"/* && ! grep -q "$bond_gid" "/sys/class/infiniband/$DEV/ports/$((3 - $1))/gids"/*
}

bond_both()
{
	bond_slaves=$OHCA_NETDEVS
	ip link add ohcabond type bond mode active-backup miimon 50 || return 1
	for slave in $bond_slaves; do
		ip link set "$slave" down && ip link set "$slave" master ohcabond || return 1
	done
	ip link set ohcabond up && ip addr add "10.99.0.$((RANK + 1))/24" dev ohcabond || return 1
	ND=ohcabond OHCA_PEER=10.99.0.$(((RANK ^ 1) + 1))
	wait_for 20 activated "$(nth 1 "$bond_slaves")" && wait_for 20 bond_is_at 1
}

activated() # interface
{
	ip link set ohcabond type bond active_slave "$1"
	[ "$(cat /sys/class/net/ohcabond/bonding/active_slave)" = "$1" ]
}

fail_over()
{
	wait_for 20 activated "$(nth 2 "$bond_slaves")" && wait_for 20 bond_is_at 2
}

skip_bond()
{
	for name in "a bond of both ports" "rping by the bond's address" failover "rping by the bond's address"; do
		skip "$name" "the kernel has no CONFIG_BONDING"
	done
}

# A change, and what programs see of it
changed() # how, port, type
{
	check "port $2 to $3, $1: a program with traffic" holder_start 20
	check "port $2 to $3, $1: a program that only listens" watcher_start
	check "port $2 to $3, $1" "set_$1" "$2" "$3"
	check "port $2 to $3, $1: it has the type" wait_for 120 "is_$3" "$2"
	check "port $2 to $3, $1: the program is notified, and ends" holder_ended 10
	check "port $2 to $3, $1: the listener is notified" wait_for 20 notified "local catastrophic error" 1
	watcher_stop
}

plan "$(long 51 29)"
kernel_log_mark
check "devlink shows the ports" is_ib 1
check "devlink shows the second one" is_eth 2
check "no type but these" refused

changed inside 2 ib
check "the network of two InfiniBand ports" up_as ib ib
check "the other port is as before" is_ib 1
traffic "ib+ib"

changed outside 2 eth
check "the network of both types" up_as ib eth
traffic "ib+eth"

if [ "$(long 1 0)" = 1 ]; then
	changed outside 1 eth
	check "the network of two Ethernet ports" up_as eth eth
	check "the other port is as before" is_eth 2
	traffic "eth+eth"
	if bond_modules; then
		check "a bond of both ports, in the mode active-backup: its GID is the first one's" bond_both
		check "rping by the bond's address" echoes 4
		barrier types.bond
		check "failover: the GID is the second one's" fail_over
		check "rping by the bond's address" echoes 4
		barrier types.unbond
		ip link del ohcabond
	else
		skip_bond
	fi
	check "all ports as they were made" as_made
	check "the network as it was" up_as ib eth
	traffic "as made"
fi
check "port 2 to what it is: nothing happens" nothing_happens 2 eth
check "nothing is left" wait_for 120 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
