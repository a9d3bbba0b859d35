#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tag matching, also of a program that ends while a list has tags.
# vms: 1
# kernels: all - the driver creates the queues
. "$(dirname "$0")/lib.sh"
need_device
run_and_leave "$DIR/tm" "tags in a list"
