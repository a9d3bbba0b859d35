#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The state machine of queue pairs.  The interface has no room for the packets of the largest path MTUs.
# vms: 1
# kernels: all - the driver changes the states
. "$(dirname "$0")/lib.sh"
need_device
ND=$(netdev)
mtu=$(cat "/sys/class/net/$ND/mtu")
trap 'ip link set "$ND" mtu "$mtu"' EXIT
ip link set "$ND" mtu 1500 || bail "no MTU 1500"
"$DIR/qp_state"
