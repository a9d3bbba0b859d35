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

trap kverbs_unload EXIT
kverbs_unload
kernel_log_mark
kverbs_load hold= || bail "the test module can't be loaded"
# One line more than the module: the kernel's log.
awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 1; next } { print }' "$KVERBS_RESULT"
tap_num=$(grep -cE '^(not )?ok ' "$KVERBS_RESULT")
tap_failed=$(grep -c '^not ok ' "$KVERBS_RESULT")
tap_planned=$((tap_num + 1))
kverbs_unload
check "the kernel log is clean" kernel_log_clean
finish
