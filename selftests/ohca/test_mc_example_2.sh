#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Multicast datagrams by the connection manager, between two machines.
# vms: 2
# link: eth ib
# kernels: all - groups are joined by the kernel
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
barrier mc_example
leave_nothing "$DIR/mc_example" -2
