#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA and NVMe over Fabrics on a bad network: packets are lost, cables are unplugged and plugged in, an
# adapter is silent for a while. Loads continue, written data are kept; mounts and disks with a time-out return
# errors.
# vms: 2
# kernels: newest - the device sends lost packets again
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v rpc.nfsd > /dev/null || skip_all "no NFS server"
command -v nvme > /dev/null || skip_all "no nvme"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
. "$DIR/lib_faults.sh"
. "$DIR/lib_load.sh"
. "$DIR/lib_nfs.sh"
. "$DIR/lib_nvme.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_ulp.sh"

cleanup()
{
	faults_end
	ulp_cleanup
	nvme disconnect -n ohca
} > /dev/null 2>&1
trap cleanup EXIT

# How often the mount was connected
connects()
{
	sed -n "s/^[[:space:]]*xprt:[[:space:]]*rdma [0-9]* [0-9]* \([0-9]*\) .*/\1/p" /proc/self/mountstats | head -n 1
}

connected_again()
{
	[ "$(connects)" -gt "$connects_before" ]
}

# Of everything that the kernel has in this machine
no_connection()
{
	! rdma resource show qp | grep "state RTS .*comm \[rdma_cm\]"
}

# A mount whose requests wait for five seconds, and once more; disks whose requests wait two seconds for a connection
short_timeouts()
{
	load_stop && disk_stop && ulp_end && ulp_mount ,soft,timeo=50,retrans=1 &&
		ulp_connect --fast_io_fail_tmo=2 && ulp_load_start && disk_start
}

again()
{
	umount "$ULP_MNT" && ulp_mount
}

if [ "$RANK" -eq 0 ]; then
	plan 7
else
	plan 31
fi
kernel_log_mark
barrier faults
server_check "serve NFS" nfs_serve
server_check "serve NVMe" nvme_serve
client_check "NFS' daemons" nfs_daemons
client_check "mount" ulp_mount
client_check "connect" ulp_connect
client_check "data" ulp_data
client_check "load on the mount" ulp_load_start
client_check "load on the disk" disk_start

bad_network

connects_before=$(connects)
server_check "silent server" silent
client_check "silent server: the controller looks for another connection" wait_for 60 controller_is connecting
client_check "silent server: the mount has lost its connection, too" wait_for 60 no_connection
client_check "silent server: packets were lost" hits
client_check "silent server: no longer" fault clear
client_check "silent server: the controller finds it" wait_for 60 controller_is live
client_check "silent server: the loads go on" loads_go_on
client_check "silent server: the mount was connected again" connected_again
client_check "silent server: the data is there" ulp_client_data

client_check "a mount and a disk with short timeouts" short_timeouts
client_check "short timeouts: silent client" silent
client_check "short timeouts: the load on the mount gets an error" load_ended 1
client_check "short timeouts: the load on the disk gets an error" disk_ended 1
client_check "short timeouts: no longer silent" fault clear
client_check "short timeouts: the controller finds the connection" wait_for 60 controller_is live
client_check "mount again" again
client_check "the data is there" ulp_client_data
server_check "the data is the server's" ulp_server_data
client_check "unmount, disconnect" ulp_end
check "no queue pair is left" wait_for 60 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
