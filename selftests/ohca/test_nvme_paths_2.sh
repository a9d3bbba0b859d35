#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# NVMe over Fabrics over two adapters: the second machine has two paths to the disk in the first one, and loses one
# after the other.
# vms: 2
# hcas: 2
# kernels: newest debug - what the driver does is tested on all by test_recover.sh, test_remove.sh and test_device_gone.sh
. "$(dirname "$0")/lib.sh"
need_machines 2
need_hcas 2
command -v nvme > /dev/null || skip_all "no nvme"
. "$DIR/lib_load.sh"
. "$DIR/lib_nvme.sh"
# shellcheck disable=SC2086 # words
{
	set -- $OHCA_NETDEVS
	ND=$2
}

cleanup()
{
	load_cleanup
	nvme disconnect -n ohca
	ip link set "$ND" up
	nvme_serve_end
	pci_rescan
	modprobe ohca
	net_restore
} > /dev/null 2>&1
trap cleanup EXIT

# Each adapter has a network of its own: 10.77, 10.78.
path_connect() # number of the adapter
{
	nvme connect -t rdma -a "10.$((77 + $1)).${OHCA_PEER#10.77.}" -s 4420 -n ohca -i 2 -k 2 -c 1 -l 120
}

paths_are() # number that can be used
{
	[ "$(grep -l live /sys/class/nvme/nvme*/state | wc -l)" -eq "$1" ]
}

connect()
{
	path_connect 0 && path_connect 1 && wait_for 20 paths_are 2 && wait_for 20 nvme_disk 1
}

# Both are used in turn.
turns()
{
	echo round-robin > /sys/class/nvme-subsystem/nvme-subsys0/iopolicy
}

one_disk()
{
	[ "$(find /dev -name 'nvme*n1' | wc -l)" -eq 1 ]
}

link_loss()
{
	ip link set "$ND" down && wait_for 60 paths_are 1
}

link_back()
{
	net_restore && wait_for 60 paths_are 2
}

# Removes the adapter with that number, and its path.
path_remove() # number
{
	PCI=$(basename "$(readlink -f "/sys/class/infiniband/$(hca "$1")/device")")
	pci_remove && wait_for 30 paths_are 1
}

path_back() # number
{
	pci_rescan && net_restore && path_connect "$1" && wait_for 20 paths_are 2
}

if [ "$RANK" -eq 0 ]; then
	plan 4
else
	plan 19
fi
kernel_log_mark
barrier paths
server_check "serve" nvme_serve
client_check "load the driver" modprobe nvme-rdma
client_check "connect by two adapters" connect
client_check "one disk" one_disk
client_check "both paths by turns" turns
client_check "load" load_start "$(nvme_disk 1)" --allow_file_create=0 --direct=1 --bs=64k --size="$(long 4m 1m)" --iodepth=32
client_check "a link goes down" link_loss
client_check "the load goes on" load_goes_on
client_check "it comes back" link_back
client_check "the load goes on" load_goes_on
for adapter in 0 1; do
	client_check "adapter $adapter: removed under load" path_remove "$adapter"
	client_check "adapter $adapter: the load goes on" load_goes_on
	client_check "adapter $adapter: found again, and connected" path_back "$adapter"
done
client_check "nothing was lost" load_stop
client_check "disconnect" nvme disconnect -n ohca
server_check "stop" nvme_serve_end
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
