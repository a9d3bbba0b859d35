#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ohcad is killed under traffic. The driver fences the device, programs get events and end, the netdev loses its
# carrier, the kernel's consumers can tear down, the module can be unloaded, and the machine keeps running. The device
# does not come back.
# vms: 1
# kernels: all - the driver fences the device, and the kernel releases it
# boot: own
. "$(dirname "$0")/lib.sh"
need_device
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
ND=$(netdev)
PORT=/sys/class/infiniband/$(ibdev)/ports/1

comer=
holder=
reader=
cleanup()
{
	watcher_stop
	[ -z "$reader" ] || kill -KILL "$reader" 2> /dev/null
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	[ -z "$comer" ] || kill -KILL "$comer" 2> /dev/null
	kverbs_unload
}
trap cleanup EXIT

# Programs that start and end until one fails, so that commands are under way when the device dies.
comer_start()
{
	comer_log=$(mktemp)
	while traffic_works; do
		echo worked
	done > "$comer_log" 2>&1 &
	comer=$!
	wait_for 60 grep -q worked "$comer_log"
}

comer_over()
{
	! kill -0 "$comer" 2> /dev/null
}

# A loop that reads the configuration space, so that accesses are under way when the device dies.
reader_start()
{
	reader_log=$(mktemp)
	while :; do
		setpci -s "$PCI" VENDOR_ID
	done > "$reader_log" 2>&1 &
	reader=$!
	wait_for 60 grep -q "^$VENDOR$" "$reader_log"
}

reader_sees_none()
{
	wait_for 20 grep -q '^ffff$' "$reader_log"
}

# It read the device's identity until it read all ones, and nothing else.
reader_was_answered()
{
	kill -KILL "$reader"
	wait "$reader" 2> /dev/null
	reader=
	sed '$d' "$reader_log" | uniq | tr '\n' ' ' | grep "^$VENDOR ffff $"
}

fenced()
{
	dmesg | tail -n +$((kernel_mark + 1)) | grep 'fenced: .*device is gone'
}

fenced_once()
{
	[ "$(fenced | wc -l)" -eq 1 ] || { fenced; return 1; }
}

port_down()
{
	grep DOWN "$PORT/state"
}

# A program that starts now ends with an error.
traffic_fails()
{
	! traffic_works
}

config_all_ones()
{
	[ "$(setpci -s "$PCI" VENDOR_ID)" = ffff ] || { setpci -s "$PCI" VENDOR_ID; return 1; }
}

netdev_gone()
{
	[ ! -e "/sys/class/net/$ND" ]
}

# The driver finds no usable device, and logs that.
no_device_found()
{
	modprobe ohca && ! test_device
}

plan 26
PCI=$(pcidev)
VENDOR=$(setpci -s "$PCI" VENDOR_ID)
kernel_log_mark
check "a program with traffic" holder_start 40
check "programs that come and go" comer_start
check "a program that only listens" watcher_start
check "consumers in the kernel" kverbs_load hold=dead
check "a program that reads its configuration space" reader_start
check "the device is killed" ohca-host kill-device
check "the driver fences it" wait_for 60 fenced
check "the reader sees nobody there" reader_sees_none
check "and was answered all the time" reader_was_answered
check "the program with traffic is notified, its calls fail, it ends" holder_ended 10
holder=
check "nobody comes and goes any more" wait_for 60 comer_over
comer=
check "the listener is notified" wait_for 20 notified "local catastrophic error" 1
check "the netdev has no carrier" wait_for 20 carrier_is 0
check "the port is down" wait_for 20 port_down
check "its configuration space is gone" config_all_ones
check "a new program gets an error" traffic_fails
check "the netdev can be taken down" ip link set "$ND" down
check "it was fenced once" fenced_once
check "the module can be unloaded, the listener still there" rmmod ohca
check "the listener is notified again" wait_for 20 notified "local catastrophic error" 2
watcher_stop
check "the kernel's consumers got all their requests back" kverbs_fine
check "and are gone" kverbs_unload
check "the netdev is gone" netdev_gone
check "the module loads without a device" no_device_found
check "and can be unloaded" rmmod ohca
check "the kernel log is clean" kernel_log_clean
finish
