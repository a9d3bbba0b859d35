#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Pages that small queues share.
# vms: 1
# kernels: all - the driver pins the pages
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/queue_pages"
