#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# qemu.sh SOCKET DISK [ARGUMENT...]: boots a machine from DISK with the adapter at SOCKET of ohcad, and with more arguments for
# QEMU. The adapter takes three of QEMU's options: it maps the machine's memory, which therefore has to be shared.

set -eu
[ $# -ge 2 ] || { echo "usage: qemu.sh SOCKET DISK [ARGUMENT...]" >&2 && exit 2; }
socket=$1 disk=$2
shift 2
exec qemu-system-x86_64 -m 1G \
	-machine q35,memory-backend=mem \
	-object memory-backend-memfd,id=mem,share=on,size=1G \
	-device "{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"$socket\"}}" \
	-drive "file=$disk,format=raw,if=virtio" -nographic "$@"
