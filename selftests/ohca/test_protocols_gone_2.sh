#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The ohcad of both machines is killed under NFS and NVMe over Fabrics: programs get errors or can be killed, as their
# mount options say, everything can be torn down, and the modules can be unloaded.
# vms: 2
# kernels: newest debug - what the driver does is tested on all by test_recover.sh, test_remove.sh and test_device_gone.sh
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rpc.nfsd > /dev/null || skip_all "no NFS server"
command -v nvme > /dev/null || skip_all "no nvme"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
. "$DIR/lib_load.sh"
. "$DIR/lib_nfs.sh"
. "$DIR/lib_nvme.sh"

writer=
waiter=
cleanup()
{
	load_cleanup
	[ -z "$writer" ] || kill -KILL "$writer"
	[ -z "$waiter" ] || kill -KILL "$waiter"
} > /dev/null 2>&1
trap cleanup EXIT

fenced()
{
	dmesg | tail -n +$((kernel_mark + 1)) | grep 'fenced: .*device is gone'
}

# One mount gives up, after 15 seconds, which is long enough for a busy machine. Another one waits for ever.
mounts()
{
	nfs_daemons && nfs_mount 4.2 rdma,port=20049,softerr,timeo=50,retrans=1 /mnt/soft &&
		nfs_mount 3 rdma,port=20049,hard /mnt/hard
}

connect()
{
	modprobe nvme-rdma && nvme_connect rdma -i 2 -k 2 -c 1 -l 1
}

# Programs that write until they get an error: to the disk, and to the mount that gives up.
writers()
{
	write_on "$(nvme_disk 1)" &
	writer=$!
	write_on /mnt/hard/file &
	waiter=$!
	wait_for 30 test -s /mnt/hard/file && ! over "$writer" && ! over "$waiter"
}

write_on() # file
{
	while dd if=/dev/zero of="$1" bs=64k count=16 oflag=direct conv=notrunc 2> /dev/null; do
		:
	done
}

writer_ended()
{
	wait_for 90 over "$writer"
}

# It waits for the server, unless the adapter refused another connection: xprtrdma passes that error on.
waiter_ended()
{
	wait_for 60 waiter_killed
}

waiter_killed()
{
	pkill -KILL -x -P "$waiter" dd
	over "$waiter"
}

no_disk()
{
	! nvme_disk 1
}

# Errors of programs that do not succeed at once are shown.
unmount() # directory
{
	wait_for 60 umount -f "$1" || umount -f "$1"
}

# The version 4 mount's last requests to the server time out first, and so does a connection attempt.
client_end()
{
	wait_for 90 modprobe -r rpcrdma && nfs_daemons_end && modprobe -r nvme-rdma
}

server_end()
{
	nfs_serve_end && nvme_serve_end
}

# If it does not end, processes that wait are shown.
ends() # command
{
	"$@" &
	end=$!
	wait_for 120 over "$end" && wait "$end" && return
	lsmod
	echo w > /proc/sysrq-trigger
	dmesg | tail -n 200
	return 1
}

if [ "$RANK" -eq 0 ]; then
	plan 7
else
	plan 16
fi
kernel_log_mark
barrier gone
server_check "serve NFS" nfs_serve
server_check "serve NVMe" nvme_serve
client_check "mount" mounts
client_check "connect" connect
client_check "load on the mount that gives up" load_start /mnt/soft/file --bs=64k --size="$(long 4m 1m)" --direct=1 --iodepth=8
client_check "programs on the disk, and on the mount that waits" writers
client_check "the device is killed" ohca-host kill-device
check "the driver fences it" wait_for 60 fenced
client_check "the load ends with an error" load_ended 1
client_check "the program that waits can be killed" waiter_ended
client_check "the mount that gives up goes" unmount /mnt/soft
client_check "the mount that waits goes" unmount /mnt/hard
client_check "the program on the disk gets an error" writer_ended
client_check "the disk goes" wait_for 60 no_disk
client_check "all of it can be taken down" ends client_end
server_check "all of it can be taken down" ends server_end
check "the driver can be unloaded" ends rmmod ohca
check "no queue pair is left" kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
