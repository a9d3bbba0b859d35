# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# SCSI RDMA protocol between two machines: the first one serves (LIO, ib_srpt), the second one logs in (ib_srp), by rdma_cm
# or, between InfiniBand ports, by service ID.
# A script sources this file after lib_scsi.sh, which it needs.

SRP_FABRIC=$TARGET/srpt
SRP_PORT=5555
SRP_GUID=/mnt/share/srp.guid # the target's, which both machines see

# A port is named after its first GID.
srp_port_guid()
{
	cut -d: -f5-8 "/sys/class/infiniband/$(ibdev)/ports/1/gids/0"
}

srp_serve()
{
	modprobe ib_srpt && backstore && mkdir -p "$SRP_FABRIC" &&
		echo "$SRP_PORT" > "$SRP_FABRIC/discovery_auth/rdma_cm_port" &&
		sed 's/^0x//' /sys/module/ib_srpt/parameters/srpt_service_guid > "$SRP_GUID" && srp_target
}

# The same on InfiniBand, for an initiator that finds the target by its service ID
srp_serve_ib() # GUID of the initiator's port
{
	modprobe ib_srpt && backstore && mkdir -p "$SRP_FABRIC" && srp_target "$1"
}

# What ib_srpt takes for an initiator's name is the address that was called or, by service ID, the GUID of the initiator's port.
srp_target() # initiator's name
{
	srp_group=$SRP_FABRIC/$(srp_port_guid)/$(srp_port_guid)
	srp_initiator=$srp_group/acls/${1:-$OHCA_IP}
	mkdir -p "$srp_group/lun/lun_0" && ln -s "$BACKSTORE" "$srp_group/lun/lun_0/" && mkdir -p "$srp_initiator/lun_0" &&
		ln -s "$srp_group/lun/lun_0" "$srp_initiator/lun_0/" && echo 1 > "$srp_group/enable"
}

srp_target_end()
{
	for srp_group in "$SRP_FABRIC"/*:*/*:*; do
		echo 0 > "$srp_group/enable" && rm "$srp_group/acls"/*/lun_0/lun_0 &&
			rmdir "$srp_group/acls"/*/lun_0 "$srp_group/acls"/* && rm "$srp_group/lun/lun_0/disk" &&
			rmdir "$srp_group/lun/lun_0" "$srp_group" "${srp_group%/*}" || return 1
	done
}

srp_serve_end()
{
	cd / && srp_target_end && echo 0 > "$SRP_FABRIC/discovery_auth/rdma_cm_port" && rmdir "$SRP_FABRIC" &&
		backstore_end && modprobe -r ib_srpt
}

# A target belongs to a device: a recovered device needs another target.
srp_target_again()
{
	srp_target_end && srp_target
}

# A connection that is lost is retried for as long as the server's device may be absent. SRP_OPTIONS are those of ib_srp.
SRP_OPTIONS=
srp_client()
{
	# shellcheck disable=SC2086 # a list
	modprobe sd_mod && modprobe ib_srp reconnect_delay=1 fast_io_fail_tmo=300 dev_loss_tmo=600 $SRP_OPTIONS
}

srp_login()
{
	srp_host=/sys/class/infiniband_srp/srp-$(ibdev)-1
	srp_guid=$(cat "$SRP_GUID")
	wait_for 20 test -e "$srp_host/add_target" && wait_for 20 srp_add_target && wait_for 20 disk && srp_disk_waits
}

# A device that is new has the GID of its IP address a moment later. Until then the address can't be resolved (ENXIO).
srp_add_target()
{
	echo "id_ext=$srp_guid,ioc_guid=$srp_guid,dest=$OHCA_PEER:$SRP_PORT" > "$srp_host/add_target"
}

# A request has a time-out of its own, 30 s, which runs while the connection is lost and may end the request.
srp_disk_waits()
{
	echo 300 > "/sys/block/$(basename "$(disk)")/device/timeout"
}

# Of the connection to the target
srp_is() # state
{
	grep -x "$1" /sys/class/srp_remote_ports/*/state
}

# Only a sender notices that the peer is gone, and all requests under way may have arrived there. So this sends
# another one. It ends when the others do.
srp_request()
{
	dd if="$(disk)" of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null &
}

srp_lost()
{
	srp_request
	wait_for 60 srp_is blocked
}

# Requests fail when the connection has been lost for the first time, and the disk is removed after the second one.
# There is no reconnecting then, because both wait for the end of an attempt.
srp_timeouts() # seconds, seconds
{
	for srp_port in /sys/class/srp_remote_ports/*; do
		echo off > "$srp_port/reconnect_delay" && echo "$1" > "$srp_port/fast_io_fail_tmo" &&
			echo "$2" > "$srp_port/dev_loss_tmo" || return 1
	done
}

srp_logout()
{
	for srp_port in /sys/class/srp_remote_ports/*; do
		[ ! -e "$srp_port" ] || echo 1 > "$srp_port/delete" || return 1
	done
	wait_for 30 no_disk
}
