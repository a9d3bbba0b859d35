#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Protection domains and memory regions.
# vms: 1
# kernels: all - the driver pins the memory
. "$(dirname "$0")/lib.sh"
need_device

HUGE=/proc/sys/vm/nr_hugepages
before=$(cat "$HUGE" 2> /dev/null)
cleanup()
{
	[ -z "$before" ] || echo "$before" > "$HUGE"
}
trap cleanup EXIT
[ -z "$before" ] || echo 16 > "$HUGE"
"$DIR/mr"
