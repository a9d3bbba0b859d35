#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# iSCSI over RDMA: the client's device is unplugged. Programs that read or write then wait until it is found again,
# and continue without an error. iscsiadm does not find the session any more, because the SCSI host has no place in
# sysfs; only a reboot of the client ends it. (The device is removed while no request is submitted: between the loss
# of iSER's connection and that of the session, a command ends with DID_ABORT, see iscsi_iser_task_init() and
# iscsi_queuecommand().)
# vms: 2
# long: test_iser_2.sh removes the functions, too
# kernels: newest debug - what the driver does is tested on all by test_recover.sh, test_remove.sh and test_device_gone.sh
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v iscsid > /dev/null || skip_all "no open-iscsi"
command -v ohca-host > /dev/null || skip_all "ohca-host is missing"
. "$DIR/lib_load.sh"
. "$DIR/lib_scsi.sh"
. "$DIR/lib_iser.sh"
. "$DIR/lib_power.sh"
PCI=$(pcidev)

cleanup()
{
	load_cleanup
	iser_logout
	iser_client_end
	iser_serve_end
} > /dev/null 2>&1
trap cleanup EXIT

attempts()
{
	dmesg | grep -c "iser_connect: rdma_resolve_addr failed"
}

tries_again()
{
	[ "$(attempts)" -gt "$attempts_before" ]
}

# The device is removed; then iscsid tries to connect, in vain, and the session waits.
goes() # command...
{
	attempts_before=$(attempts)
	"$@" && wait_for 30 tries_again && ! test_device
}

# The first requests of a load are under way, and wait.
load_waits_for_device()
{
	load_begin "$(disk)" --direct=1 --bs=64k --size=4m --iodepth=16 && wait_for 20 requests && tries_in_vain &&
		! load_rounds 1 2> /dev/null
}

tries_in_vain()
{
	attempts_before=$(attempts)
	wait_for 30 tries_again
}

if [ "$RANK" -eq 0 ]; then
	power_plan 6
else
	power_plan 23
fi
kernel_log_mark
if [ "$BOOT" -eq 0 ]; then
	server_check "serve" iser_serve
	client_check "client" iser_client
	client_check "log in" iser_login
	client_check "function removed" goes pci_remove
	client_check "who writes then waits" load_waits_for_device
	client_check "function found again" pci_rescan
	client_check "its port is active" again
	client_check "who waited goes on" load_goes_on
	client_check "nothing was lost" load_stop
	client_check "driver unloaded" goes rmmod ohca
	client_check "who writes then waits" load_waits_for_device
	client_check "driver loaded again" reload
	client_check "who waited goes on" load_goes_on
	client_check "nothing was lost" load_stop
	client_check "checksum" write_sum
	server_check "checksum is the server's" compare
	if [ "$RANK" -eq 1 ]; then
		check "the kernel log is clean" kernel_log_clean
		power_reboot
	fi
fi
client_check "rebooted: client" iser_client
client_check "rebooted: log in" iser_login
client_check "rebooted: disk, 4 KiB to 1 MiB, depth 16" disk_io --bsrange=4k-1m --size=8m --iodepth=16
client_check "rebooted: checksum" write_sum
server_check "rebooted: checksum is the server's" compare
client_check "log out" iser_logout
client_check "unload" iser_client_end
server_check "stop" iser_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
