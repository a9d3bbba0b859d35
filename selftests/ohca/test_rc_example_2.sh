#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The classic RC example, between two machines.
# vms: 2
# link: eth ib
# kernels: newest - the kernel is not in the data path
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier rc_example
leave_nothing "$DIR/rc_example" -2
