#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Asynchronous events of shared receive queues and of QPs.
# vms: 1
# kernels: all - events pass the driver
# smp: 2 newest - events come while a processor handles others
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
leave_nothing "$DIR/events"
