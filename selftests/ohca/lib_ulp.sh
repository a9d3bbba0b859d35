# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# NFS and NVMe over Fabrics together: the second machine has a mount and two disks of the first one, with data in both
# that do not change, and a load on each. A script sources this file after lib.sh, lib_load.sh, lib_nfs.sh and
# lib_nvme.sh.

ULP_MNT=/mnt/nfs
ULP_SUMS=/mnt/share/ulp.sums # which both machines see

ulp_cleanup()
{
	load_cleanup
	umount -f -l "$ULP_MNT"
} > /dev/null 2>&1

ulp_mount() # more options, each with a comma before it
{
	nfs_mount 4.2 "rdma,port=20049${1:-}" "$ULP_MNT"
}

ulp_connect() # more options
{
	modprobe nvme-rdma && nvme_connect rdma -i 2 -k 2 -c 1 -l 600 "$@"
}

# In a file, and on the second disk
ulp_data()
{
	dd if=/dev/urandom of=/run/data bs=1M count=4 && cp /run/data "$ULP_MNT/data" && sync "$ULP_MNT/data" &&
		dd if=/run/data of="$(nvme_disk 2)" bs=1M oflag=direct && sha256sum < /run/data > "$ULP_SUMS"
}

ulp_client_data()
{
	echo 3 > /proc/sys/vm/drop_caches
	sha256sum < "$ULP_MNT/data" | diff "$ULP_SUMS" - &&
		dd if="$(nvme_disk 2)" bs=1M count=4 iflag=direct | sha256sum | diff "$ULP_SUMS" -
}

ulp_server_data()
{
	sha256sum < "$NFS_EXPORT/data" | diff "$ULP_SUMS" - && head -c 4M "$NVME_FILE" | sha256sum | diff "$ULP_SUMS" -
}

ulp_load_start()
{
	load_start "$ULP_MNT/load" --bs=64k --size=1m --direct=1 --iodepth=8
}

# A load on the first disk beside the one on the mount
disk_start()
{
	second load_start "$(nvme_disk 1)" --direct=1 --bs=64k --size=1m --iodepth=16
}

disk_goes_on()
{
	second load_goes_on
}

disk_ended() # status
{
	second load_ended "$1"
}

disk_stop()
{
	second load_stop
}

no_disk()
{
	! nvme_disk 1
}

controller_is() # state
{
	grep -q "$1" /sys/class/nvme/nvme*/state
}

ulp_end()
{
	umount "$ULP_MNT" && nvme disconnect -n ohca && wait_for 20 no_disk
}
