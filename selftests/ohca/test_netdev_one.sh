#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The port's Ethernet interface with one channel, as in a machine with one processor: frames are not spread, and there
# is no indirection table.
# vms: 1
# kernels: all - the driver has the interface
# boot: own
. "$(dirname "$0")/lib.sh"
need_device
ND=$(netdev)
[ -n "$ND" ] || skip_all "no netdev"
[ -w /sys/devices/system/cpu/cpu1/online ] || [ "$(nproc)" = 1 ] || skip_all "processors do not go offline"

processors() # 0: all but the first go offline; 1: they come back
{
	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		[ ! -e "$cpu" ] || echo "$1" > "$cpu" || return 1
	done
}

# The driver counts processors when it is loaded.
load_anew()
{
	rmmod ohca && reload && ND=$(netdev)
}

cleanup()
{
	processors 1
	load_anew
} > /dev/null 2>&1
trap cleanup EXIT

one_processor()
{
	processors 0 && [ "$(nproc)" = 1 ]
}

channels_are() # number
{
	ethtool -l "$ND" | awk -v n="$1" '/Combined:/ { bad += $2 != n } END { exit bad != 0 }'
}

refuses()
{
	! "$@"
}

pings()
{
	ip link set "$ND" up && wait_for 20 carrier_is 1 && traffic_works
}

plan 11
kernel_log_mark
check "one processor" one_processor
check "the driver is loaded anew" load_anew
check "one channel" channels_are 1
check "ethtool -x: one ring, no table" sh -c "ethtool -x '$ND' | grep -q '1 RX ring'"
check_rxfh "ethtool -X: default" ethtool -X "$ND" default
check_rxfh "ethtool -X: a key is refused" refuses ethtool -X "$ND" hkey "$(printf '5a%.0s:' $(seq 39))5a"
check "ethtool -L: more channels are refused" refuses ethtool -L "$ND" combined 2
check "traffic works" pings
check_rxfh "ethtool -X: default, with the interface down" sh -c "ip link set '$ND' down && ethtool -X '$ND' default"
check "traffic works again" pings
check "the kernel log is clean" kernel_log_clean
finish
