#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RC data transfer, between two processes of one machine.
# vms: 1
# kernels: newest - the kernel is not in the data path
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/rc_data"
