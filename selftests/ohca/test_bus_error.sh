#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The bus reports errors (AER), which QEMU injects at the root port of the device, under traffic and with consumers in the
# kernel. A correctable error changes nothing. After the others the kernel resets the function or its link, and the driver
# recovers the device.
# vms: 1
# kernels: newest debug - with 6.12, Linux finds no link at the root port after a fatal error, and gives up
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
kernel_before 7 0 && skip_all "this kernel finds no link at the root port after a fatal error"
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: errors can't be injected"
. "$DIR/lib_recover.sh"
PCI=$(pcidev)
ND=$(netdev)
ROOT=$(basename "$(dirname "$(readlink -f "/sys/bus/pci/devices/$PCI")")")
TOTALS=/sys/bus/pci/devices/$ROOT/aer_rootport_total_err
[ -e "${TOTALS}_cor" ] || skip_all "the kernel does not handle AER"

holder=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	kverbs_unload
	port_is PORT_ACTIVE || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# So many errors of that kind have been reported.
counted() # cor, nonfatal, fatal; number
{
	[ "$(cat "${TOTALS}_$1")" -eq "$2" ]
}

bus_error() # as ohca-host, as the counter
{
	error_count=$(($(cat "${TOTALS}_$2") + 1))
	ohca-host bus-error "$1" && wait_for 20 counted "$2" "$error_count"
}

# The device was fenced for that, once, and works again as before.
recovered_from_it()
{
	recovered 1 && log_has 1 'ohca.*fenced: PCI error' && wait_for 20 device_looks_same
}

unharmed()
{
	log_has 0 'ohca.*fenced' && device_looks_same && kill -0 "$holder"
}

no_such_error()
{
	! ohca-host bus-error other
}

plan 21
kernel_log_mark
wait_for 20 device_settled
look=$(device_looks)
check "a kind that does not exist is refused" no_such_error
mark
check "correctable: a program with traffic" holder_start 20
check "correctable" bus_error correctable cor
check "correctable: nothing happens to the device" unharmed
kill -KILL "$holder" && wait "$holder" 2> /dev/null
holder=
for kind in nonfatal fatal; do
	mark
	check "$kind: a program with traffic" holder_start 20
	check "$kind: consumers in the kernel" kverbs_load hold=dead
	check "$kind" bus_error "$kind" "$kind"
	check "$kind: the device is as before" recovered_from_it
	check "$kind: the program is notified, and ends" holder_ended 10
	holder=
	check "$kind: the kernel's consumers got all their requests back" kverbs_fine
	check "$kind: and are gone" kverbs_unload
	check "$kind: traffic works" traffic_works
done
check "the kernel log is clean" kernel_log_clean
finish
