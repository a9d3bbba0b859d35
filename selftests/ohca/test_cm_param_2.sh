#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Parameters of connections, between two machines.
# vms: 2
# kernels: all - connection parameters pass the kernel
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier cm_param
leave_nothing "$DIR/cm_param" -2
