#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Queue pairs.
# vms: 1
# kernels: all - the driver creates the queue pairs
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/qp"
