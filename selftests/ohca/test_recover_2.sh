#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The adapter of a client breaks, then that of the server is away, under NFS and NVMe over Fabrics, and the driver brings it
# back: mounts and controllers go on, what was written is there.
# vms: 2
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rpc.nfsd > /dev/null || skip_all "no NFS server"
command -v nvme > /dev/null || skip_all "no nvme"
command -v ohca-host > /dev/null || skip_all "nobody to break the device"
. "$DIR/lib_load.sh"
. "$DIR/lib_nfs.sh"
. "$DIR/lib_nvme.sh"
. "$DIR/lib_recover.sh"
SUMS=/mnt/share/recover.sums

disk=
cleanup()
{
	load_cleanup
	[ -z "$disk" ] || kill -KILL "$disk"
	ohcactl fail clear "$OHCA_HCA"
	umount -f -l /mnt/nfs
} > /dev/null 2>&1
trap cleanup EXIT

mounts()
{
	nfs_daemons && nfs_mount 4.2 rdma,port=20049 /mnt/nfs
}

connect()
{
	modprobe nvme-rdma && nvme_connect rdma -i 2 -k 2 -c 1 -l 120
}

# Bytes that stay: in a file, and on the second disk.
data()
{
	dd if=/dev/urandom of=/run/data bs=1M count=4 && cp /run/data /mnt/nfs/data && sync /mnt/nfs/data &&
		dd if=/run/data of="$(nvme_disk 2)" bs=1M oflag=direct && sha256sum < /run/data > "$SUMS"
}

client_data()
{
	echo 3 > /proc/sys/vm/drop_caches
	sha256sum < /mnt/nfs/data | diff "$SUMS" - &&
		dd if="$(nvme_disk 2)" bs=1M count=4 iflag=direct | sha256sum | diff "$SUMS" -
}

server_data()
{
	sha256sum < "$NFS_EXPORT/data" | diff "$SUMS" - && head -c 4M "$NVME_FILE" | sha256sum | diff "$SUMS" -
}

# A load on the first disk beside that on the mount
disk_start()
{
	rm -f /run/disk.*
	while [ ! -e /run/disk.stop ]; do
		io "$(nvme_disk 1)" --allow_file_create=0 --direct=1 --bs=64k --size=2m --iodepth=16 || break
		echo round >> /run/disk.rounds
	done > /run/disk.log 2>&1 &
	disk=$!
	wait_for 60 test -s /run/disk.rounds
}

disk_rounds() # number
{
	[ "$(wc -l < /run/disk.rounds)" -ge "$1" ]
}

# A round that begins from now on is through.
disk_goes_on()
{
	wait_for 90 disk_rounds $(($(wc -l < /run/disk.rounds) + 2)) || { cat /run/disk.log; return 1; }
}

disk_stop()
{
	touch /run/disk.stop
	wait "$disk"
	disk=
	! grep -i err= /run/disk.log | grep -v 'err= 0'
}

no_disk()
{
	! nvme_disk 1
}

away_and_back()
{
	is_away && sleep 3 && plug
}

# It found another connection, or went.
controller_settled()
{
	no_disk || grep -q live /sys/class/nvme/nvme*/state
}

# A controller whose device is removed goes, but not one that is about to find another connection by then.
disks_come()
{
	wait_for 60 controller_settled && { ! no_disk || connect; }
}

client_loses() # name, command
{
	mark
	client_check "client: $1" "$2"
	client_check "client: $1: it works again" recovered 1
	client_check "client: $1: the disks come" disks_come
	client_check "client: $1: the load on the mount goes on" load_goes_on
	client_check "client: $1: the data is there" client_data
}

server_loses() # name, command
{
	mark
	client_check "server: $1: load on the disk" disk_start
	server_check "server: $1" "$2"
	server_check "server: $1: it works again" recovered 1
	client_check "server: $1: the load on the mount goes on" load_goes_on
	client_check "server: $1: the load on the disk goes on" disk_goes_on
	client_check "server: $1: nothing was lost" disk_stop
	client_check "server: $1: the data is there" client_data
}

end()
{
	umount /mnt/nfs && nvme disconnect -n ohca && wait_for 20 no_disk
}

if [ "$RANK" -eq 0 ]; then
	plan 7
else
	plan 18
fi
kernel_log_mark
barrier recover
server_check "serve NFS" nfs_serve
server_check "serve NVMe" nvme_serve
client_check "mount" mounts
client_check "connect" connect
client_check "data" data
client_check "load on the mount" load_start /mnt/nfs/load --bs=64k --size=4m --direct=1 --iodepth=8
client_loses "fatal error" fail_hca
server_loses "away and back" away_and_back
client_check "nothing was lost on the mount" load_stop
server_check "the data is the server's" server_data
client_check "unmount, disconnect" end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
