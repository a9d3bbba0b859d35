#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RDS over RDMA between two machines: sockets, then the device goes under an open connection, and sockets again.
# vms: 2
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
modprobe -a rds rds_rdma 2> /dev/null || skip_all "no RDS over RDMA"
. "$DIR/lib_load.sh"
PCI=$(pcidev)

cleanup()
{
	load_cleanup
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	test_device || net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# Once, before a connection was lost: later, 7.2 has often not given back all of its own fragments.
reload()
{
	barrier reload
	modprobe -r rds_rdma rds && modprobe -a rds rds_rdma
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
check "sockets" sockets
check "queue pair" kernel_uses rds_rdma
check "unload, load" reload
check "sockets of the new module" sockets
server_check "function removed" pci_remove
server_check "function found again" pci_rescan
server_check "its port is active" again
check "sockets again" sockets
barrier end
# 7.2 says now and then that it has not given back all of its fragments when it is unloaded.
check "the kernel log is clean" kernel_log_clean rds_ib_recv_exit
finish
