#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Many objects and large ones, of one program; afterwards none is left and the module can be unloaded. To reach the
# device's limits, run "scale -f" in a machine with 6 GiB of memory.
# vms: 1
# kernels: all - the driver and the kernel have the objects
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
cleanup()
{
	modprobe ohca && net_restore
} > /dev/null 2>&1
trap cleanup EXIT

loaded_again()
{
	modprobe ohca && net_restore && traffic_works
}

log=$(mktemp)
share=$(long 1 4)
# A kernel with checks of DMA mappings (CONFIG_DMA_API_DEBUG) takes so long.
[ ! -d /sys/kernel/debug/dma-api ] || share=16
"$DIR/scale" -s "$share" > "$log" 2>&1
status=$?
# Three lines more than the program
awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 3; next } { print }' "$log"
tap_num=$(grep -cE '^(not )?ok ' "$log")
tap_failed=$(grep -c '^not ok ' "$log")
rm -f "$log"
[ "$status" -eq 0 ] || [ "$tap_failed" -gt 0 ] || tap_failed=1
tap_planned=$((tap_num + 3))
check "nothing is left" nothing_left
check "the module can be unloaded" rmmod ohca
check "and loaded, and works" loaded_again
finish
