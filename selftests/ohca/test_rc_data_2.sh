#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RC data transfer, between two machines.
# vms: 2
# kernels: newest - the kernel is not in the data path
# boot: data
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier rc_data
exec "$DIR/rc_data" -2
