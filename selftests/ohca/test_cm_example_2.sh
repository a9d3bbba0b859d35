#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The connection manager's classic client and server, between two machines.
# vms: 2
# link: eth ib
# kernels: all - connections are made by the kernel
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier cm_example
leave_nothing "$DIR/cm_example" -2
