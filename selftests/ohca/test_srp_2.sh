#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# SCSI RDMA protocol: the first machine serves a file (LIO, ib_srpt), the second one logs in (ib_srp) by rdma_cm.
# vms: 2
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
modinfo ib_srp ib_srpt > /dev/null 2>&1 || skip_all "no SRP"
. "$DIR/lib_load.sh"
. "$DIR/lib_scsi.sh"
PCI=$(pcidev)
FABRIC=$TARGET/srpt
PORT=5555
GUID=/mnt/share/srp.guid # the target's, which both machines see

cleanup()
{
	load_cleanup
	logout
	modprobe -r ib_srp
	serve_end
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# A port is named after its first GID.
port_guid()
{
	cut -d: -f5-8 "/sys/class/infiniband/$(ibdev)/ports/1/gids/0"
}

serve()
{
	modprobe ib_srpt && backstore && mkdir -p "$FABRIC" && echo "$PORT" > "$FABRIC/discovery_auth/rdma_cm_port" &&
		sed 's/^0x//' /sys/module/ib_srpt/parameters/srpt_service_guid > "$GUID" && target
}

# What ib_srpt takes for an initiator's name is the address that was called.
target()
{
	group=$FABRIC/$(port_guid)/$(port_guid)
	mkdir -p "$group/lun/lun_0" && ln -s "$BACKSTORE" "$group/lun/lun_0/" &&
		mkdir -p "$group/acls/$OHCA_IP/lun_0" && ln -s "$group/lun/lun_0" "$group/acls/$OHCA_IP/lun_0/" &&
		echo 1 > "$group/enable"
}

target_end()
{
	for group in "$FABRIC"/*:*/*:*; do
		echo 0 > "$group/enable" && rm "$group/acls"/*/lun_0/lun_0 && rmdir "$group/acls"/*/lun_0 "$group/acls"/* &&
			rm "$group/lun/lun_0/disk" && rmdir "$group/lun/lun_0" "$group" "${group%/*}" || return 1
	done
}

serve_end()
{
	cd / && target_end && echo 0 > "$FABRIC/discovery_auth/rdma_cm_port" && rmdir "$FABRIC" && backstore_end &&
		modprobe -r ib_srpt
}

# A target belongs to the device: one that came back needs another.
target_again()
{
	target_end && target
}

# A connection that is lost is tried again for as long as the server's device may be away.
client()
{
	modprobe sd_mod && modprobe ib_srp reconnect_delay=1 fast_io_fail_tmo=100 dev_loss_tmo=200
}

login()
{
	srp_host=/sys/class/infiniband_srp/srp-$(ibdev)-1
	wait_for 20 test -e "$srp_host/add_target" &&
		echo "id_ext=$(cat "$GUID"),ioc_guid=$(cat "$GUID"),dest=$OHCA_PEER:$PORT" > "$srp_host/add_target" &&
		wait_for 20 disk
}

logout()
{
	for srp_port in /sys/class/srp_remote_ports/*; do
		[ ! -e "$srp_port" ] || echo 1 > "$srp_port/delete" || return 1
	done
	wait_for 30 no_disk
}

if [ "$RANK" -eq 0 ]; then
	plan 13
else
	plan 28
fi
kernel_log_mark
barrier srp
server_check "serve" serve
client_check "client" client
client_check "log in" login
client_check "protection domain" kernel_uses ib_srp
disk_checks
client_check "load" disk_load
server_check "server: function removed under load" pci_remove
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
server_check "server: a target on it" target_again
client_check "server: the load goes on" load_goes_on
server_check "server: driver unloaded under load" rmmod ohca
server_check "server: driver loaded again" reload
server_check "server: a target on it" target_again
client_check "server: the load goes on" load_goes_on
client_check "nothing was lost" load_stop
client_check "load again" disk_load
client_check "client: function removed under load" pci_remove
client_check "client: the load ends with an error" load_ended 1
client_check "client: the disk is gone" wait_for 30 no_disk
client_check "client: function found again" pci_rescan
client_check "client: its port is active" again
client_check "client: log in again" login
client_check "client: 4 KiB to 1 MiB, depth 16" disk_io --bsrange=4k-1m --size=32m --iodepth=16
client_check "client: checksum" write_sum
server_check "client: checksum is the server's" compare
client_check "load again" disk_load
client_check "client: driver unloaded under load" rmmod ohca
client_check "client: the load ends with an error" load_ended 1
client_check "client: driver loaded again" reload
client_check "log out" logout
client_check "unload" modprobe -r ib_srp
server_check "stop" serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
