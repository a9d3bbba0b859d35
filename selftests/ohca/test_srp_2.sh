#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# SCSI RDMA protocol: the first machine exports a file (LIO, ib_srpt), the second one logs in (ib_srp) by rdma_cm.
# vms: 2
# kernels: all - the kernel has the protocol
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
modinfo ib_srp ib_srpt > /dev/null 2>&1 || skip_all "no SRP"
. "$DIR/lib_load.sh"
. "$DIR/lib_scsi.sh"
. "$DIR/lib_srp.sh"
PCI=$(pcidev)

cleanup()
{
	load_cleanup
	srp_logout
	modprobe -r ib_srp
	srp_serve_end
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

if [ "$RANK" -eq 0 ]; then
	plan 13
else
	plan 28
fi
kernel_log_mark
barrier srp
server_check "serve" srp_serve
client_check "client" srp_client
client_check "log in" srp_login
client_check "protection domain" kernel_uses ib_srp
disk_checks
client_check "load" disk_load
server_check "server: function removed under load" pci_remove
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
server_check "server: a target on it" srp_target_again
client_check "server: the load goes on" load_goes_on
server_check "server: driver unloaded under load" rmmod ohca
server_check "server: driver loaded again" reload
server_check "server: a target on it" srp_target_again
client_check "server: the load goes on" load_goes_on
client_check "nothing was lost" load_stop
client_check "load again" disk_load
client_check "client: function removed under load" pci_remove
client_check "client: the load ends with an error" load_ended 1
client_check "client: the disk is gone" wait_for 30 no_disk
client_check "client: function found again" pci_rescan
client_check "client: its port is active" again
client_check "client: log in again" srp_login
client_check "client: 4 KiB to 1 MiB, depth 16" disk_io --bsrange=4k-1m --size="$(long 32m 12m)" --iodepth=16
client_check "client: checksum" write_sum
server_check "client: checksum is the server's" compare
client_check "load again" disk_load
client_check "client: driver unloaded under load" rmmod ohca
client_check "client: the load ends with an error" load_ended 1
client_check "client: driver loaded again" reload
client_check "log out" srp_logout
client_check "unload" modprobe -r ib_srp
server_check "stop" srp_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
