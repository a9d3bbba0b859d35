#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RC errors, between two processes of one machine.
# vms: 1
# kernels: newest - the device detects the errors
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/rc_errors"
