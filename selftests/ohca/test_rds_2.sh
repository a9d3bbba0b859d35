#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RDS over RDMA between two machines: sockets, then the device is removed under an open connection, and sockets again.
# vms: 2
# kernels: all - the kernel has the protocol
# boot: sockets
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
. "$DIR/lib_load.sh"
. "$DIR/lib_rds.sh"
rds_need
PCI=$(pcidev)

cleanup()
{
	load_cleanup
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# In Linux 7 each connection has a workqueue, and unloading rds_rdma does not wait for it: a connection that is not
# shut down by then is never freed.
unload_frees_connections()
{
	case $(uname -r) in
	[1-6].*) ;;
	*) return 1 ;;
	esac
}

reload()
{
	barrier reload
	modprobe -r rds_rdma rds && rds_load
}

sockets()
{
	barrier sockets
	"$DIR/rds"
}

if [ "$RANK" -eq 0 ]; then
	plan 9
else
	plan 6
fi
kernel_log_mark
rds_load
check "sockets" sockets
check "queue pair" kernel_uses rds_rdma
if unload_frees_connections; then
	check "unload, load" reload
	check "sockets of the new module" sockets
else
	skip "unload, load" "RDS does not free its connections"
	skip "sockets of the new module" "RDS does not free its connections"
fi
server_check "function removed" pci_remove
server_check "function found again" pci_rescan
server_check "its port is active" again
check "sockets again" sockets
barrier end
check "the kernel log is clean" kernel_log_clean
finish
