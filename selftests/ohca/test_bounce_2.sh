#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each mapping for DMA gets a copy (a bounce buffer). Temporary mappings of the driver and of the kernel's users still
# work, and memory that device and processors share for long is never mapped like that. Memory of programs can't be
# registered: they get an error.
# vms: 2
# kernels: newest debug - what the driver maps is the same on all
# boot: own
# append: swiotlb=force
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
grep -qw swiotlb=force /proc/cmdline || skip_all "no bounce buffers"
command -v rpc.nfsd > /dev/null || skip_all "no NFS server"
. "$DIR/lib_load.sh"
. "$DIR/lib_nfs.sh"
MNT=/mnt/nfs
SUM=/mnt/share/bounce.sum # which both machines see

cleanup()
{
	umount -f -l "$MNT"
	if mountpoint /proc/fs/nfsd; then
		nfs_serve_end
	else
		nfs_daemons_end
	fi
} > /dev/null 2>&1
trap cleanup EXIT

copies()
{
	debugfs_mount
	[ "$(cat /sys/kernel/debug/swiotlb/io_tlb_used)" -gt 0 ]
}

pings()
{
	barrier pings && ping -c 5 -i 0.02 -W 5 -s 8000 "$OHCA_PEER"
}

data_is_right()
{
	barrier data && "$DIR/netdata" -m 2 "fd77::$((2 - RANK))"
}

# The program opens the device, which maps its pages, and its first region is refused.
program_is_notified()
{
	ibv_devinfo -v -d "$(ibdev)" | grep PORT_ACTIVE && ! ibv_rc_pingpong -d "$(ibdev)" > /run/out 2>&1 &&
		cat /run/out && grep "Couldn't register MR" /run/out
}

mounts()
{
	nfs_daemons && nfs_mount 4.2 rdma,port=20049 "$MNT"
}

# The server writes to the client's memory. (In the other direction, svcrdma reads the data before it ends the
# mapping.)
serves_file()
{
	# shellcheck disable=SC2119 # with its own times
	nfs_serve && dd if=/dev/urandom of="$NFS_EXPORT/data" bs=64k count=64 && sha256sum < "$NFS_EXPORT/data" > "$SUM"
}

file_is_right()
{
	sha256sum < "$MNT/data" | diff "$SUM" -
}

unmounts()
{
	umount "$MNT" && nfs_daemons_end
}

reloads()
{
	rmmod ohca && reload
}

if [ "$RANK" -eq 0 ]; then
	plan 9
else
	plan 10
fi
kernel_log_mark
check "the port is active" wait_for 20 port_is PORT_ACTIVE
check "what is mapped gets copies" copies
check "ping" pings
check "frames in both directions" data_is_right
check "a program is notified" program_is_notified
server_check "NFS: serve a file" serves_file
client_check "NFS: mount" mounts
client_check "NFS: the file is right" file_is_right
client_check "NFS: unmount" unmounts
server_check "NFS: stop" nfs_serve_end
check "the driver is loaded again" reloads
check "the kernel log is clean" kernel_log_clean
finish
