#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# iSCSI over RDMA: the first machine exports a RAM disk (LIO, ib_isert), the second one logs in (open-iscsi, ib_iser).
# vms: 2
# kernels: all - the kernel has the protocol
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v iscsid > /dev/null || skip_all "no open-iscsi"
. "$DIR/lib_load.sh"
. "$DIR/lib_scsi.sh"
. "$DIR/lib_iser.sh"
PCI=$(pcidev)

cleanup()
{
	load_cleanup
	iser_logout
	iser_client_end
	iser_serve_end
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# test_iser_unplug_2.sh unplugs the client's device, because that session can't be ended.
link_loss()
{
	ip link set "$OHCA_NETDEV" down && wait_for 60 session_is FAILED && net_restore && wait_for 60 session_is LOGGED_IN
}

# When a connection ends, no request is submitted until the session has noticed it, because requests fail before that:
# see test_iser_unplug_2.sh.
stands_still()
{
	wait_for 20 load_stopped && wait_for 20 no_requests
}

load_stopped()
{
	pkill -STOP -x fio && grep '^State:.*T' "/proc/$(pgrep -x fio)/status"
}

no_requests()
{
	! requests
}

# Linux 6.1 does not count requests of a disk that is blocked.
waits()
{
	wait_for 60 session_is FAILED && pkill -CONT -x fio && { kernel_before 6 12 || wait_for 20 requests; }
}

if [ "$RANK" -eq 0 ]; then
	plan 10
else
	plan 23
fi
kernel_log_mark
barrier iser
server_check "serve" iser_serve
client_check "client" iser_client
client_check "log in" iser_login
client_check "queue pair" kernel_uses ib_iser
disk_checks
client_check "load" disk_load
client_check "link loss under load" link_loss
client_check "link loss: the load goes on" load_goes_on
client_check "server: the load stands still" stands_still
server_check "server: function removed" pci_remove
client_check "server: who writes then waits" waits
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
client_check "server: the load goes on" load_goes_on
client_check "server: the load stands still again" stands_still
server_check "server: driver unloaded" rmmod ohca
client_check "server: who writes then waits again" waits
server_check "server: driver loaded again" reload
client_check "server: the load goes on" load_goes_on
client_check "nothing was lost" load_stop
client_check "log out" iser_logout
client_check "driver unloaded" rmmod ohca
client_check "driver loaded again" reload
client_check "unload" iser_client_end
server_check "stop" iser_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
