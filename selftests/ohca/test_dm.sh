#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Device memory.
# vms: 1
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/dm"
