#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RC data transfer between memory with on-demand paging, between two processes of one machine.
# vms: 1
# kernels: newest debug - the data path; test_odp.sh tests the kernel's part
. "$(dirname "$0")/lib.sh"
need_device
ibv_devinfo -v -d "$(ibdev)" | grep -q ODP_SUPPORT || skip_all "no on-demand paging"
exec "$DIR/rc_data" -o
