#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The adapter of a client fails, and is absent for a while, then that of the server, under NFS and NVMe over Fabrics.
# The driver recovers it: mounts and controllers continue, and written data are kept.
# vms: 2
# kernels: all - the driver recovers, under the kernel's protocols
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
. "$DIR/lib_recover.sh"
. "$DIR/lib_ulp.sh"

cleanup()
{
	ulp_cleanup
	ohcactl fail clear "$OHCA_HCA"
} > /dev/null 2>&1
trap cleanup EXIT

mounts()
{
	nfs_daemons && ulp_mount
}

# It found another connection, or was deleted.
controller_settled()
{
	no_disk || controller_is live
}

# A controller whose device is removed is deleted, unless it is about to connect again then.
disks_come()
{
	# shellcheck disable=SC2119 # without more options
	wait_for 60 controller_settled && { ! no_disk || ulp_connect; }
}

# What the client has when its adapter is back
client_continues() # name
{
	client_check "$1: it works again" recovered 1
	client_check "$1: the disks come" disks_come
	client_check "$1: the load on the mount goes on" load_goes_on
	client_check "$1: the data is there" ulp_client_data
}

client_breaks()
{
	mark
	client_check "client: fatal error" fail_hca
	client_continues "client"
}

client_is_away()
{
	mark
	client_check "client: away" is_away
	client_check "client: away: the controller looks for another connection" wait_for 60 controller_is connecting
	client_check "client: back" plug
	client_continues "client: back"
}

server_continues() # name
{
	server_check "$1: it works again" recovered 1
	client_check "$1: the load on the mount goes on" load_goes_on
	client_check "$1: the load on the disk goes on" disk_goes_on
}

server_breaks()
{
	mark
	server_check "server: fatal error" fail_hca
	server_continues "server"
}

server_is_away()
{
	mark
	server_check "server: away" is_away
	client_check "server: away: the controller looks for another connection" wait_for 60 controller_is connecting
	server_check "server: back" plug
	server_continues "server: back"
}

if [ "$RANK" -eq 0 ]; then
	plan 10
else
	plan 28
fi
kernel_log_mark
barrier recover
server_check "serve NFS" nfs_serve
server_check "serve NVMe" nvme_serve
client_check "mount" mounts
client_check "connect" ulp_connect
client_check "data" ulp_data
client_check "load on the mount" ulp_load_start
client_breaks
client_is_away
client_check "load on the disk" disk_start
server_breaks
server_is_away
client_check "nothing was lost on the disk" disk_stop
client_check "nothing was lost on the mount" load_stop
client_check "the data is there" ulp_client_data
server_check "the data is the server's" ulp_server_data
client_check "unmount, disconnect" ulp_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
