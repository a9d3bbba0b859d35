#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The network interface, a reload and the binding of the driver when the kernel can't allocate memory.
# vms: 1
# kernels: debug - only that one injects failures of allocations
# boot: nomem
. "$(dirname "$0")/lib.sh"
need_device
PCI=$(pcidev)
debugfs_mount
trap 'net_restore > /dev/null 2>&1' EXIT
# Of thousands of allocations, so many fail in the short form.
[ "${OHCA_LONG:-}" = 1 ] || export OHCA_NOMEM=60
"$DIR/nomem_device" "$PCI"
