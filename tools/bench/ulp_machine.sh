#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# ulp_machine.sh RUNS MILLISECONDS: the part of ulp.sh that runs in each machine.  The first one serves what is in its
# memory over NFS and NVMe over Fabrics, the second one reads and writes it.  Each figure is a record, a line in
# /mnt/share/ulp.DEVICE.  Protocols and transports take turns, as a host has better and worse minutes.

for part in lib lib_nfs lib_nvme; do
	# shellcheck source=/dev/null
	. "/opt/ohca/$part.sh"
done
runs=$1 duration=$2
records=/mnt/share/ulp.$OHCA_DEVICE

die()
{
	echo "ulp: $*" >&2
	exit 1
}

# RPCs over RDMA have 4096 bytes for what goes in a message, by default, and as both sides allow.
nfs_inline() # bytes
{
	echo "$1" > /proc/sys/sunrpc/rdma_max_inline_read && echo "$1" > /proc/sys/sunrpc/rdma_max_inline_write
}

serve()
{
	nfs_serve && echo 8192 > /proc/sys/sunrpc/svc_rdma/max_req_size &&
		dd if=/dev/urandom of="$NFS_EXPORT/file" bs=1M count=32 2> /dev/null && nvme_serve && nvme_port 2 tcp
}

# measure PROTOCOL TRANSPORT FILE: a figure of each kind, or of $jobs
all_jobs="read,1m,4 write,1m,4 read,4k,1 write,4k,1"
measure()
{
	for job in ${jobs:-$all_jobs}; do
		set -- "$1" "$2" "$3" "${job%%,*}" "$(echo "$job" | cut -d, -f2)" "${job##*,}"
		fio --name="$4.$5" --filename="$3" --size=32m --allow_file_create=0 --rw="$4" --bs="$5" --iodepth="$6" \
			--ioengine=libaio --direct=1 --thread --time_based --runtime="${duration}ms" --minimal \
			--terse-version=3 > /run/fio.log 2>&1 || { cat /run/fio.log; die "$1 over $2: $4 $5"; }
		record "$@"
	done
}

# Of fio's line: bandwidth in KiB/s of large ones, mean latency in microseconds of small ones
record() # protocol, transport, file, read or write, size
{
	awk -F ';' -v line="ulp protocol=$1 transport=$2 device=$OHCA_DEVICE op=$4" -v op="$4" -v size="$5" '
		$1 == 3 {
			first = op == "read" ? 6 : 47
			printf "%s size=%s value=%s\n", line, size, size == "1m" ? $(first + 1) * 1.024 / 1000 : $(first + 34)
		}' /run/fio.log >> "$records"
}

nfs_measure() # transport, options, protocol
{
	nfs_mount 4.2 "$2" /mnt/nfs || die "cannot mount"
	measure "${3:-NFS}" "$1" /mnt/nfs/file
	umount /mnt/nfs
}

# With messages that have room for small data
nfs_measure_inline()
{
	nfs_inline 8192
	jobs="read,4k,1 write,4k,1"
	nfs_measure rdma rdma,port=20049 NFS_8_KiB_inline
	jobs=
	nfs_inline 4096
}

nvme_measure() # transport
{
	nvme_connect "$1" > /dev/null || die "cannot connect"
	measure NVMe "$1" "$(nvme_disk 1)"
	nvme disconnect -n ohca > /dev/null
}

# A server that has just begun may let the first one who opens a file for writing wait.
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
		echo "$OHCA_DEVICE: run $run of $runs"
		nfs_measure rdma rdma,port=20049
		nfs_measure_inline
		nfs_measure tcp tcp
		nvme_measure rdma
		nvme_measure tcp
	done
fi
barrier ulp
