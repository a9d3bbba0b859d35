#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own verbs, driven by a test module.
# vms: 1
# link: eth ib
# kernels: all - these are the kernel's verbs
# smp: 2 newest - the driver is called by several processors at once
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
[ -e "$KVERBS" ] || skip_all "no test module for this kernel"

cleanup()
{
	kverbs_unload
	test_device || reload
} > /dev/null 2>&1
trap cleanup EXIT

# ib_core caches them.  The subnet manager, which makes it renew its caches, is started again at the end only.
tables_change()
{
	rmmod ohca && kverbs_load hold=tables device=ohca && modprobe ohca && wait_for 30 test_device && rmmod ohca &&
		kverbs_fine && kverbs_unload && reload
}

kverbs_unload
kernel_log_mark
kverbs_load hold= || bail "the test module can't be loaded"
# Two lines more than the module has.
awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 2; next } { print }' "$KVERBS_RESULT"
tap_num=$(grep -cE '^(not )?ok ' "$KVERBS_RESULT")
tap_failed=$(grep -c '^not ok ' "$KVERBS_RESULT")
tap_planned=$((tap_num + 2))
kverbs_unload
if [ "$(cat "/sys/class/infiniband/$(ibdev)/ports/1/link_layer")" = InfiniBand ]; then
	check "tables that change while the device is registered" tables_change
else
	skip "tables that change while the device is registered" "the driver has no events of them"
fi
check "the kernel log is clean" kernel_log_clean
finish
