#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Completion queues.
# vms: 1
# kernels: all - the driver makes the queues
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/cq"
