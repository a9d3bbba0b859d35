#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Completion queues: resize, moderation, time stamps, ignored overrun.
# vms: 1
# kernels: all - the driver changes the queues
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/cq_modify"
