# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# NVMe over Fabrics between two machines: the first one has a subsystem with a RAM disk and a file.

NVMET=/sys/kernel/config/nvmet
NVME_SUBSYSTEM=$NVMET/subsystems/ohca
NVME_FILE=/run/nvme.file

nvme_namespace() # number, file or block device, buffered
{
	mkdir "$NVME_SUBSYSTEM/namespaces/$1" && cd "$NVME_SUBSYSTEM/namespaces/$1" && echo "$2" > device_path &&
		echo "$3" > buffered_io && echo 1 > enable
}

# The port has no address: a listener with one ends when the device is removed (nvmet_rdma_device_removal()).
nvme_port() # number, transport
{
	modprobe "nvmet-$2" && mkdir "$NVMET/ports/$1" && cd "$NVMET/ports/$1" && echo "$2" > addr_trtype &&
		echo ipv4 > addr_adrfam && echo 0.0.0.0 > addr_traddr && echo 4420 > addr_trsvcid &&
		ln -s "$NVME_SUBSYSTEM" subsystems/
}

nvme_serve()
{
	modprobe brd rd_nr=1 rd_size=32768 && modprobe nvmet && truncate -s 32M "$NVME_FILE" || return 1
	[ -d "$NVMET" ] || mount -t configfs configfs /sys/kernel/config || return 1
	mkdir "$NVME_SUBSYSTEM" && echo 1 > "$NVME_SUBSYSTEM/attr_allow_any_host" && nvme_namespace 1 /dev/ram0 0 &&
		nvme_namespace 2 "$NVME_FILE" 1 && nvme_port 1 rdma
}

nvme_serve_end()
{
	cd / && rm "$NVMET/ports/1/subsystems/ohca" && rmdir "$NVMET/ports/1" "$NVME_SUBSYSTEM/namespaces"/* &&
		rmdir "$NVME_SUBSYSTEM" && modprobe -r nvmet-rdma && modprobe -r brd && rm "$NVME_FILE"
}

nvme_connect() # transport, options
{
	nvme_transport=$1
	shift
	nvme connect -t "$nvme_transport" -a "$OHCA_PEER" -s 4420 -n ohca "$@" && wait_for 20 nvme_disk 1 &&
		wait_for 20 nvme_disk 2
}

# Disks are numbered in the order in which they are found, which is not always that of the namespaces.
nvme_disk() # number of the namespace
{
	for disk_path in /sys/class/nvme-subsystem/*/nvme*n*; do
		[ -b "/dev/${disk_path##*/}" ] && [ "$(cat "$disk_path/nsid")" = "$1" ] && echo "/dev/${disk_path##*/}" && return
	done
	return 1
}
