#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own verbs, driven by a test module.
# vms: 1
. "$(dirname "$0")/lib.sh"
need_device
MODULE=$DIR/kmod/$(uname -r)/kverbs_test.ko
RESULT=/sys/kernel/debug/kverbs_test/result
[ -e "$MODULE" ] || skip_all "no test module for this kernel"

cleanup()
{
	rmmod kverbs_test 2> /dev/null
}
trap cleanup EXIT
cleanup
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
kernel_log_mark
insmod "$MODULE" device="$(ibdev)" || bail "the test module can't be loaded"
# One more line than the module has: the kernel's log.
awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 1; next } { print }' "$RESULT"
tap_num=$(grep -cE '^(not )?ok ' "$RESULT")
tap_failed=$(grep -c '^not ok ' "$RESULT")
tap_planned=$((tap_num + 1))
cleanup
check "the kernel log is clean" kernel_log_clean
finish
