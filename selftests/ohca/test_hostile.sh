#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A hostile program harms nobody but itself, and leaves nothing.
# vms: 1
# kernels: all - the driver refuses
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/hostile"
