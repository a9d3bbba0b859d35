#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Receive-side scaling, also of programs that end while they have all of it.
# vms: 1
# kernels: all - the driver makes the tables
. "$(dirname "$0")/lib.sh"
need_device
run_and_leave "$DIR/rss" "frames spread"
