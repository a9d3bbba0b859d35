#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory windows, also of programs that end while windows are bound.
# vms: 1
# kernels: all - the driver creates the windows
. "$(dirname "$0")/lib.sh"
need_device
run_and_leave "$DIR/mw" "a window bound"
