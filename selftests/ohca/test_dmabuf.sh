#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory regions of dma-bufs.
# vms: 1
# kernels: all - the driver pins dma-bufs with the kernel's help
. "$(dirname "$0")/lib.sh"
need_device
exec "$DIR/dmabuf"
