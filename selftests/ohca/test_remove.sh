#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The device is removed while a program uses it: driver unbound, module removed, function removed, function reset. The
# program gets an event, its calls fail, nothing hangs, and the device works again afterwards.
# vms: 1
# kernels: all - the driver and the kernel lose the device
# smp: 2 newest - the driver is called by several processors at once
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
PCI=$(pcidev)
[ -n "$PCI" ] || skip_all "no OHCA PCI function"

holder=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	kverbs_unload
	[ -e "$PCI_BUS/devices/$PCI" ] || echo 1 > "$PCI_BUS/rescan"
	modprobe ohca
	[ -e "$PCI_BUS/devices/$PCI/driver" ] || echo "$PCI" > "$PCI_BUS/drivers/ohca/bind"
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

no_device()
{
	! test_device
}

unbind()
{
	echo "$PCI" > "$PCI_BUS/drivers/ohca/unbind"
}

bind()
{
	echo "$PCI" > "$PCI_BUS/drivers/ohca/bind"
}

rmmod_ohca()
{
	rmmod ohca
}

modprobe_ohca()
{
	modprobe ohca
}

rebind()
{
	unbind && bind
}

# Removes the device while a program uses it, and brings it back.
away() # name, command that removes it, command that brings it back
{
	check "$1: program with traffic" holder_start 40
	check "$1: done" "$2"
	check "$1: the program is notified, and ends" holder_ended 10
	holder=
	check "$1: device is there again" "$3"
	check "$1: and its port is active" again
	check "$1: traffic works" traffic_works
	check "$1: nothing is left of the program" wait_for 30 no_user_objects
}

[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
plan 42
kernel_log_mark
away "unbind" unbind bind
away "rmmod" rmmod_ohca modprobe_ohca
away "PCI remove" pci_remove pci_rescan
away "function reset" pci_reset rebind

# a consumer in the kernel uses it
check "kernel: it holds queue pairs" kverbs_load hold=live
check "kernel: PCI remove" pci_remove
check "kernel: it got all its requests back" kverbs_fine
check "kernel: it is gone" kverbs_unload
check "kernel: rescan" pci_rescan
check "kernel: port is active" again

# it is not in use
check "unused: unbind" unbind
check "unused: device is gone" no_device
check "unused: bind" bind
check "unused: port is active" again
check "unused: remove" pci_remove
check "unused: rescan" pci_rescan
check "unused: port is active once more" again
check "the kernel log is clean" kernel_log_clean
finish
