#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RNBD over RTRS: a disk of the first machine is a block device of the second one. Without checks of the DMA API: RTRS of
# Linux 7.2 leaves requests mapped when the client's function goes.
# vms: 2
# kernels: debug - Debian's have no RTRS
# boot: dma
# append: dma_debug=off kmemleak=off
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
modprobe rnbd_server 2> /dev/null || skip_all "the kernel has no RNBD (CONFIG_BLK_DEV_RNBD)"
. "$DIR/lib_load.sh"
. "$DIR/lib_rnbd.sh"
PCI=$(pcidev)
SUM=/mnt/share/rnbd.sum # which both machines see

cleanup()
{
	load_cleanup
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
	[ ! -b "$RNBD_DEVICE" ] || echo force > "/sys/block/${RNBD_DEVICE#/dev/}/rnbd/unmap_device"
	modprobe -r rnbd_client
	modprobe -r rnbd_server
	modprobe -r brd
} > /dev/null 2>&1
trap cleanup EXIT

# Small and large requests at the same time
requests()
{
	timeout $((120 * slow)) fio --filename="$RNBD_DEVICE" --allow_file_create=0 --ioengine=libaio --rw=randwrite --thread \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 --direct=1 \
		--name=small --bs=4k --size=2m --iodepth=32 \
		--name=large --bs=1m --offset=4m --size=8m --iodepth=4 \
		--name=mixed --bsrange=512-256k --bs_unaligned=0 --offset=16m --size=4m --iodepth=8
}

store_sum()
{
	rnbd_sum "$RNBD_DEVICE" > "$SUM"
}

same_sum()
{
	[ "$(rnbd_sum "$RNBD_DISK")" = "$(cat "$SUM")" ]
}

disk_load()
{
	load_start "$RNBD_DEVICE" --bs=64k --size=4m --direct=1 --iodepth=8
}

# Requests that have no path fail: RNBD has one path here, and reports its loss.
load_fails()
{
	load_ended 1
}

if [ "$RANK" -eq 0 ]; then
	plan 9
else
	plan 19
fi
kernel_log_mark
barrier rnbd
server_check "serve" rnbd_serve
client_check "map" rnbd_map
client_check "RTRS uses the device" kernel_uses rtrs_core
client_check "write, read and compare" requests
client_check "the client's bytes" store_sum
server_check "the server's bytes" same_sum
client_check "load" disk_load
server_check "server: function removed under load" pci_remove
client_check "server: the load ends with an error" load_fails
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
client_check "server: connected again" rnbd_reconnect
client_check "server: write, read and compare again" requests
client_check "load again" disk_load
client_check "client: function removed under load" pci_remove
client_check "client: the load ends with an error" load_fails
client_check "client: function found again" pci_rescan
client_check "client: its port is active" again
client_check "client: connected again" rnbd_reconnect
client_check "client: write, read and compare again" requests
client_check "the client's bytes again" store_sum
server_check "the server's bytes again" same_sum
client_check "unmap" rnbd_unmap
server_check "stop" rnbd_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
