#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Bad input for the verbs without a test of their own.
# vms: 1
# kernels: all - the driver refuses it
. "$(dirname "$0")/lib.sh"
need_device
leave_nothing "$DIR/refused"
