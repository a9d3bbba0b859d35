#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# On-demand paging, between two machines.
# vms: 2
# kernels: newest debug - the data path; test_odp.sh tests the kernel's part
# boot: data
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
ibv_devinfo -v -d "$(ibdev)" | grep -q ODP_SUPPORT || skip_all "no on-demand paging"
barrier odp
exec "$DIR/rc_data" -2 -o
