#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Asynchronous events of shared receive queues.
# vms: 1
# kernels: all - events pass the driver
. "$(dirname "$0")/lib.sh"
need_device
leave_nothing "$DIR/events"
