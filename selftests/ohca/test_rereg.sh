#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory regions changed in place.
# vms: 1
# kernels: all - the driver changes the regions
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/rereg"
