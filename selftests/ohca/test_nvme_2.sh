#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# NVMe over Fabrics: the first machine has a subsystem with a RAM disk and a file (nvmet-rdma), the second one connects to
# it (nvme-rdma).
# vms: 2
# kernels: all - the kernel has the protocol
# smp: 2 - NVMe has queues for each processor
# boot: nvme
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v nvme > /dev/null || skip_all "no nvme"
. "$DIR/lib_load.sh"
. "$DIR/lib_nvme.sh"
PCI=$(pcidev)
ND=$OHCA_NETDEV
SUMS=/mnt/share/nvme.sums # which both machines see

cleanup()
{
	load_cleanup
	nvme disconnect -n ohca
	ip link set "$ND" up
	nvme_serve_end
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

discover()
{
	nvme discover -t rdma -a "$OHCA_PEER" -s 4420 | grep 'subnqn: *ohca$'
}

# Queues for reads, for writes and for polling.
connect()
{
	nvme_connect rdma -i 2 -W 2 -P 2 -Q 128 -k 2 -c 1 -l 120
}

control() # attribute of the controller
{
	cat /sys/class/nvme/nvme*/"$1"
}

state_is()
{
	[ "$(control state)" = "$1" ]
}

disks_io() # options
{
	io "$(nvme_disk 1)" --direct=1 "$@" && io "$(nvme_disk 2)" --direct=1 "$@"
}

sums()
{
	for n in 1 2; do
		blockdev --flushbufs "$(nvme_disk "$n")" && sha256sum < "$(nvme_disk "$n")" || return 1
	done > "$SUMS"
}

# Without the cache, which has had the block device's first bytes since the kernel read the partition table.
compare()
{
	[ "$(dd if=/dev/ram0 bs=1M iflag=direct | sha256sum; sha256sum < "$NVME_FILE")" = "$(cat "$SUMS")" ]
}

resets()
{
	for n in 1 2 3; do
		nvme reset "/dev/$(basename /sys/class/nvme/nvme*)" && wait_for 30 state_is live || return 1
	done
}

link_loss()
{
	ip link set "$ND" down && wait_for 60 state_is connecting && net_restore && wait_for 60 state_is live
}

no_disk()
{
	! nvme_disk 1
}

disconnect()
{
	nvme disconnect -n ohca && wait_for 20 no_disk
}

load_begins()
{
	load_start "$(nvme_disk 1)" --allow_file_create=0 --direct=1 --bs=64k --size="$(long 4m 1m)" --iodepth=32
}

# The client's device is removed under load by one command, and comes back by the other: the disk is removed, and
# programs get errors.
away() # name, command, command
{
	client_check "$1: load" load_begins
	# shellcheck disable=SC2086 # words
	client_check "$1: device goes" $2
	client_check "$1: the load ends with an error" load_ended 1
	client_check "$1: no disk" wait_for 30 no_disk
	client_check "$1: no queue pair" kernel_qps 0
	# shellcheck disable=SC2086 # words
	client_check "$1: device comes" $3
	client_check "$1: port is active" again
	client_check "$1: connect" connect
	client_check "$1: disks" disks_io --bs=64k --size=4m --iodepth=16
}

if [ "$RANK" -eq 0 ]; then
	plan 8
else
	plan 38
fi
kernel_log_mark
barrier nvme
server_check "serve" nvme_serve
client_check "load the driver" modprobe nvme-rdma
client_check "discover" discover
client_check "connect" connect
client_check "queue pairs" kernel_qps 7
client_check "disks, 4 KiB, depth 1" disks_io --bs=4k --size=1m --iodepth=1
client_check "disks, 4 KiB, depth 128" disks_io --bs=4k --size=8m --iodepth=128
client_check "disks, 4 KiB to 1 MiB, depth 16" disks_io --bsrange=4k-1m --size="$(long 32m 12m)" --iodepth=16
client_check "disks, polled" disks_io --bs=16k --size=4m --iodepth=16 --ioengine=io_uring --hipri
client_check "checksums" sums
server_check "checksums are the server's" compare

client_check "load" load_begins
client_check "resets under load" resets
client_check "the load goes on" load_goes_on
client_check "link loss under load" link_loss
client_check "the load goes on" load_goes_on
server_check "server: function removed under load" pci_remove
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
client_check "server: the load goes on" load_goes_on
client_check "nothing was lost" load_stop
away "PCI remove" pci_remove pci_rescan
away "rmmod" "rmmod ohca" "modprobe ohca"
client_check "disconnect" disconnect
client_check "unload" modprobe -r nvme-rdma
server_check "stop" nvme_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
