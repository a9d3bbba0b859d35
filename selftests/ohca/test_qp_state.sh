#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The state machine of queue pairs.
# vms: 1
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/qp_state"
