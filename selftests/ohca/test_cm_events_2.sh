#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Events of the connection manager, between two machines.
# vms: 2
# kernels: all - the kernel raises the events
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier cm_events
leave_nothing "$DIR/cm_events" -2 "$(netdev)"
