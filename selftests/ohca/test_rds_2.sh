#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RDS over RDMA between two machines: sockets, then the device goes under messages both ways, and none of them is lost.
# vms: 2
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
modprobe -a rds rds_rdma 2> /dev/null || skip_all "no RDS over RDMA"
. "$DIR/lib_load.sh"
PCI=$(pcidev)
STOP=/mnt/share/rds.stop # when there, both machines stop

cleanup()
{
	[ -z "$load" ] || kill "$load"
	load_cleanup
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
	modprobe -r rds_rdma rds
} > /dev/null 2>&1
trap cleanup EXIT

sockets()
{
	barrier sockets
	"$DIR/rds"
}

# Each line that it prints counts as a round.
messages()
{
	rm -f "$load_dir"/* "$STOP"
	ln -s rounds "$load_dir/log"
	barrier messages
	"$DIR/rds" "$STOP" > "$load_dir/rounds" 2>&1 &
	load=$!
	load_waits 4
}

messages_end()
{
	touch "$STOP"
	load_ended 0
}

if [ "$RANK" -eq 0 ]; then
	plan 11
else
	plan 10
fi
kernel_log_mark
check "sockets" sockets
check "queue pair" kernel_uses rds_rdma
check "messages" messages
barrier messages
server_check "function removed under messages" pci_remove
server_check "function found again" pci_rescan
server_check "its port is active" again
check "they go on" load_goes_on
barrier messages
client_check "driver unloaded under messages" rmmod ohca
client_check "driver loaded again" reload
check "they go on" load_goes_on
barrier messages
check "nothing was lost" messages_end
barrier messages
check "unload" modprobe -r rds_rdma rds
check "the kernel log is clean" kernel_log_clean
finish
