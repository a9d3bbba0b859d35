# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A SCSI disk between two machines: a file in the first one's memory, exported by the kernel's target (LIO). It is the
# only SCSI disk of the second machine, or the only one except for $disk_but. A script sources this file after
# lib_load.sh.

TARGET=/sys/kernel/config/target
BACKSTORE=$TARGET/core/fileio_0/disk
FILE=/run/disk.file
SUM=/mnt/share/disk.sum # which both machines see
disk_but=

backstore()
{
	[ ! -d "$BACKSTORE" ] || return 0
	modprobe -a target_core_mod target_core_file || return 1
	[ -d "$TARGET" ] || mount -t configfs configfs /sys/kernel/config || return 1
	mkdir -p "$BACKSTORE" && truncate -s 32M "$FILE" &&
		echo "fd_dev_name=$FILE,fd_dev_size=33554432" > "$BACKSTORE/control" &&
		echo 1 > "$BACKSTORE/enable"
}

backstore_end()
{
	rmdir "$BACKSTORE" "${BACKSTORE%/*}" && rm "$FILE"
}

disk()
{
	for disk_path in /sys/block/sd*; do
		disk_path=/dev/${disk_path##*/}
		[ -b "$disk_path" ] && [ "$disk_path" != "$disk_but" ] && echo "$disk_path" && return
	done
}

no_disk()
{
	! disk
}

disk_io() # options
{
	io "$(disk)" --direct=1 "$@"
}

disk_load()
{
	load_start "$(disk)" --direct=1 --bs=64k --size="$(long 4m 1m)" --iodepth=16
}

# Some of its requests are under way.
requests() # disk; without it, disk()
{
	awk -v disk="$(basename "${1:-$(disk)}")" '$3 == disk { exit !$12 }' /proc/diskstats
}

write_sum()
{
	blockdev --flushbufs "$(disk)" && sha256sum < "$(disk)" > "$SUM"
}

compare()
{
	[ "$(sha256sum < "$FILE")" = "$(cat "$SUM")" ]
}

# The data that are at the server
disk_checks()
{
	client_check "disk, 4 KiB, depth 1" disk_io --bs=4k --size=1m --iodepth=1
	client_check "disk, 4 KiB, depth 64" disk_io --bs=4k --size=4m --iodepth=64
	client_check "disk, 4 KiB to 1 MiB, depth 16" disk_io --bsrange=4k-1m --size="$(long 32m 12m)" --iodepth=16
	client_check "checksum" write_sum
	server_check "checksum is the server's" compare
}
