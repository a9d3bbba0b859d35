#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Accesses without a right are refused, between two machines.
# vms: 2
# kernels: newest - the device refuses them
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier isolation
leave_nothing "$DIR/isolation" -2
