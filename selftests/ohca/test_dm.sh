#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Device memory.
# vms: 1
# kernels: all - the driver allocates the memory
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/dm"
