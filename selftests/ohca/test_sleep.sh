#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The machine sleeps, as far as the kernel's test of that goes (/sys/power/pm_test): all devices are suspended and resumed,
# also those of the system. Programs and consumers in the kernel lose the device in order, and it works afterwards.
# vms: 1
# kernels: newest debug - the driver's part is tested on each kernel by test_recover; this is the kernel's part of it
# boot: own
. "$(dirname "$0")/lib.sh"
need_device
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
[ -w /sys/power/pm_test ] || skip_all "the kernel has no CONFIG_PM_SLEEP_DEBUG"
. "$DIR/lib_recover.sh"
ND=$(netdev)

# The folders that machines share with the lab, by 9p, do not survive the sleep of its virtio device. Nothing of this
# script is there. Forced unmounting ends their requests, for which the end of the machine would wait for ever.
cd /

holder=
cleanup()
{
	echo none > /sys/power/pm_test
	[ -z "$holder" ] || kill -KILL "$holder"
	kverbs_unload
	umount -f -l /mnt/lab
} > /dev/null 2>&1
trap cleanup EXIT

looks_same()
{
	device_looks_same && port_is PORT_ACTIVE
}

# The kernel goes as far as LEVEL on its way to the state, waits for a second, and comes back.
sleeps() # level, state
{
	grep -w "$2" /sys/power/state && echo "$1" > /sys/power/pm_test && echo "$2" > /sys/power/state
}

# It has been there, and no driver failed.
slept()
{
	dmesg | tail -n +$((log_mark + 1)) | grep -E 'PM: |ohca'
	log_has 1 'debug: Waiting for' && log_has 0 'ohca.*fenced' && log_has 0 'failed to \(suspend\|freeze\|resume\|thaw\|restore\)'
}

consumers_done()
{
	kverbs_fine && kverbs_unload
}

plan 34
kernel_log_mark
for module in suspend hibernate; do
	parameter=/sys/module/$module/parameters/pm_test_delay
	[ ! -w "$parameter" ] || echo 1 > "$parameter"
done
check "it works before" traffic_works
wait_for 20 device_settled
look=$(device_looks)
for way in "devices freeze" "devices mem" "core mem" "devices disk"; do
	mark
	check "$way: a program with traffic" holder_start 20
	check "$way: consumers in the kernel" kverbs_load hold=live
	# shellcheck disable=SC2086 # two words
	check "$way: the machine sleeps, and wakes up" sleeps $way
	check "$way: the kernel's log has it" slept
	check "$way: the program is notified, and ends" holder_ended 10
	holder=
	check "$way: the kernel's consumers have released the device in order, and are gone" consumers_done
	check "$way: the device is as before" wait_for 30 looks_same
	check "$way: traffic works" traffic_works
done
check "the kernel log is clean" kernel_log_clean
finish
