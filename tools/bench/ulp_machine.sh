#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# ulp_machine.sh RUNS MILLISECONDS: the part of ulp.sh that runs in each machine. The first one serves files and a
# disk in its memory over NFS and NVMe over Fabrics. The second one reads and writes them, by its OHCA and its
# soft-RoCE. Each figure is a record, a line in /mnt/share/ulp. The speed of a host differs from minute to minute, so
# devices and transports alternate with each job. Small requests over NFS, which differ least, are measured three
# times in each run, for a shorter time.

for part in lib lib_nfs lib_nvme; do
	# shellcheck source=/dev/null
	. "/opt/ohca/$part.sh"
done
runs=$1 duration=$2
records=/mnt/share/ulp
server=$OHCA_PEER

die()
{
	echo "ulp: $*" >&2
	exit 1
}

# By default, RPCs over RDMA have 4096 bytes for data in a message; both sides can allow more.
nfs_inline() # bytes
{
	echo "$1" > /proc/sys/sunrpc/rdma_max_inline_read && echo "$1" > /proc/sys/sunrpc/rdma_max_inline_write
}

serve()
{
	nfs_serve && echo 8192 > /proc/sys/sunrpc/svc_rdma/max_req_size &&
		dd if=/dev/urandom of="$NFS_EXPORT/file" bs=1M count=32 2> /dev/null && nvme_serve && nvme_port 2 tcp
}

# The server's address on the network of a device
by() # ohca, rxe
{
	device=$1
	OHCA_PEER=$server
	[ "$device" = ohca ] || OHCA_PEER=10.78.${server#10.77.}
}

# measure PROTOCOL TRANSPORT FILE MILLISECONDS JOB: a job is an operation, a size, and a queue depth
measure()
{
	set -- "$1" "$2" "$3" "$4" "${5%%,*}" "$(echo "$5" | cut -d, -f2)" "${5##*,}"
	fio --name="$5.$6" --filename="$3" --size=32m --allow_file_create=0 --rw="$5" --bs="$6" --iodepth="$7" \
		--ioengine=libaio --direct=1 --thread --time_based --runtime="$4ms" --minimal --terse-version=3 \
		> /run/fio.log 2>&1 || { cat /run/fio.log; die "$1 over $2 by $device: $5 $6"; }
	record "$1" "$2" "$5" "$6"
}

# Prints a record of fio's line: bandwidth in KiB/s for large requests, mean latency in microseconds for small ones
record() # protocol, transport, read or write, size
{
	awk -F ';' -v line="ulp protocol=$1 transport=$2 device=$device op=$3" -v op="$3" -v size="$4" '
		$1 == 3 {
			first = op == "read" ? 6 : 47
			printf "%s size=%s value=%s\n", line, size, size == "1m" ? $(first + 1) * 1.024 / 1000 : $(first + 34)
		}' /run/fio.log >> "$records"
}

# Not mounted twice at the same time: version 4 detects that it is the same server, and uses one connection for both.
nfs_measure() # protocol, options, milliseconds, job
{
	nfs_mount 4.2 "$2" /mnt/nfs || die "cannot mount"
	measure "$1" "${2%%,*}" /mnt/nfs/file "$3" "$4"
	umount /mnt/nfs
}

nfs_small() # job
{
	# Also with messages that have room for small data
	nfs_inline 8192
	nfs_measure NFS_8_KiB_inline rdma,port=20049 "$((duration / 2))" "$1"
	nfs_inline 4096
	nfs_measure NFS rdma,port=20049 "$((duration / 2))" "$1"
	nfs_measure NFS tcp "$((duration / 2))" "$1"
}

nfs_large() # job
{
	nfs_measure NFS rdma,port=20049 "$duration" "$1"
	nfs_measure NFS tcp "$duration" "$1"
}

nvme_measure() # job
{
	for way in rdma tcp; do
		nvme_connect "$way" > /dev/null || die "cannot connect"
		measure NVMe "$way" "$(nvme_disk 1)" "$duration" "$1"
		nvme disconnect -n ohca > /dev/null
	done
}

# Each device does it, in turn.
both() # COMMAND...
{
	for device in rxe ohca; do
		by "$device"
		"$@"
	done
}

# A server that was just started may delay the first client that opens a file for writing.
nfs_ready()
{
	nfs_mount 4.2 tcp /mnt/nfs && dd if=/dev/zero of=/mnt/nfs/file bs=4k count=1 conv=notrunc 2> /dev/null && umount /mnt/nfs
}

client()
{
	modprobe -a nvme-rdma nvme-tcp && nfs_daemons
}

if [ "$RANK" -eq 0 ]; then
	serve || die "cannot serve"
else
	client || die "no client"
fi
barrier ulp
if [ "$RANK" -eq 1 ]; then
	nfs_ready || die "cannot write"
	for run in $(seq "$runs"); do
		echo "run $run of $runs"
		for op in read write; do
			both nfs_large "$op,1m,4"
			for _ in 1 2 3; do
				both nfs_small "$op,4k,1"
			done
			both nvme_measure "$op,1m,4"
			both nvme_measure "$op,4k,1"
		done
	done
fi
barrier ulp
