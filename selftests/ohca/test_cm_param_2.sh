#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Parameters of connections, between two machines.
# vms: 2
# kernels: all - what a connection is made with passes the kernel
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier cm_param
leave_nothing "$DIR/cm_param" -2
