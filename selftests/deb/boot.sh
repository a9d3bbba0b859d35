#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# boot.sh TREE: boots a copy of TREE.test with an adapter of its ohcad, for machine.sh, by the example of the
# package. Runs inside the lab's root.

set -euo pipefail
tree=$1.test image=$1.ext4
cd /tmp

kernel=$(echo "$tree"/boot/vmlinuz-*)
rm -f "$image"
mke2fs -q -t ext4 -O ^has_journal -d "$tree" "$image" 6G

"$tree/usr/bin/ohcad" --hca socket=/tmp/hca0,mac=52:4f:48:43:41:01 >ohcad.log 2>&1 &
ohcad=$!
trap 'kill "$ohcad"; wait "$ohcad"' EXIT
tries=100
until [ -S hca0 ] || [ $((tries -= 1)) = 0 ]; do
	sleep 0.1
done

status=0
timeout 1200 "$tree/usr/share/doc/ohcad/examples/qemu.sh" /tmp/hca0 "$image" -kernel "$kernel" -initrd "${kernel/vmlinuz/initrd.img}" \
	-append 'root=/dev/vda rw console=ttyS0 quiet systemd.run=/root/machine.sh systemd.run_success_action=poweroff systemd.run_failure_action=poweroff' \
	-no-reboot -serial file:console -monitor none </dev/null >qemu.log 2>&1 || status=$?
if [ "$status" != 0 ] || ! grep -q 'machine: ends' console; then
	tail -n 20 console qemu.log ohcad.log
	exit 1
fi
sed -n '/machine: begins/,/machine: ends/p' console | sed '1d;$d'
