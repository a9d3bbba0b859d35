#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Verbs of a program when the kernel can't allocate memory.
# vms: 1
# link: eth ib
# kernels: debug - only that one injects failures of allocations
# boot: nomem
. "$(dirname "$0")/lib.sh"
need_device
debugfs_mount
leave_nothing "$DIR/nomem_verbs"
