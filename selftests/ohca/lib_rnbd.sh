# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A RAM disk of the first machine as a block device of the second one, by RNBD over RTRS. A script sources this file
# after lib.sh and lib_load.sh.

RNBD_DISK=/dev/ram0
RNBD_DEVICE=/dev/rnbd0
RNBD_MIB=24
RNBD_CTL=/sys/devices/virtual/rnbd-client/ctl
RNBD_PATHS=/sys/devices/virtual/rtrs-client/ohca/paths

rnbd_serve()
{
	modprobe brd rd_nr=1 rd_size="$((RNBD_MIB * 1024))" && modprobe rnbd_server
}

rnbd_serve_end()
{
	wait_for 30 modprobe -r rnbd_server && modprobe -r brd
}

# With the default policy, a request that preempts another one on the same processor finds no path, and fails.
rnbd_map()
{
	modprobe rnbd_client && echo "sessname=ohca path=ip:$OHCA_PEER device_path=$RNBD_DISK" > "$RNBD_CTL/map_device" &&
		echo round-robin > "${RNBD_PATHS%/paths}/mpath_policy" && wait_for 20 test -b "$RNBD_DEVICE"
}

rnbd_unmap()
{
	echo normal > "/sys/block/${RNBD_DEVICE#/dev/}/rnbd/unmap_device" && wait_for 30 modprobe -r rnbd_client
}

# The path has that state.
rnbd_path_is() # connected, disconnected ...
{
	grep -qx "$1" "$RNBD_PATHS"/*/state
}

# Connects a path whose device was removed, which Linux closes for ever, or that waits half a minute.
rnbd_reconnect()
{
	rnbd_path_is connected && return
	echo 1 > "$(echo "$RNBD_PATHS"/*/reconnect)"
	wait_for 60 rnbd_path_is connected
}

# Both machines print the same checksum of the disk, read without the cache.
rnbd_sum() # disk
{
	dd if="$1" bs=1M iflag=direct 2> /dev/null | sha256sum
}
