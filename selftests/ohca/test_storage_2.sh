#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# One-sided storage with a target whose process is stopped, between two machines.
# vms: 2
# kernels: newest - the kernel is not in the data path
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier storage
leave_nothing "$DIR/storage" -2
