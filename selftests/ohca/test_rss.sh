#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Receive-side scaling, also of programs that end without destroying its objects.
# vms: 1
# kernels: all - the driver creates the tables
. "$(dirname "$0")/lib.sh"
need_device
run_and_leave "$DIR/rss" "frames spread"
