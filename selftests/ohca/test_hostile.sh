#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A hostile program affects only itself, and leaves nothing behind.
# vms: 1
# breaks: S-801 - the program writes to all of its doorbell page
# kernels: all - the driver refuses its requests
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/hostile"
