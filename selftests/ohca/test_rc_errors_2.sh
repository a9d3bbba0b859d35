#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RC errors, between two machines.
# vms: 2
# kernels: newest - the device detects the errors
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier rc_errors
exec "$DIR/rc_errors" -2
