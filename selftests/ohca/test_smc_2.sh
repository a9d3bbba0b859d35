#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# SMC-R between two machines: TCP programs (an HTTP server and its clients), preloaded with SMC's sockets.
# vms: 2
# kernels: all - the kernel has the protocol
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v python3 > /dev/null || skip_all "no programs to run"
modprobe smc 2> /dev/null || skip_all "the kernel has no SMC (CONFIG_SMC)"
. "$DIR/lib_load.sh"
. "$DIR/lib_smc.sh"
PCI=$(pcidev)

cleanup()
{
	load_cleanup
	smc_cleanup
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
	ip route del "$OHCA_PEER/32"
	ip addr del "10.90.0.$((RANK + 1))/24" dev "$(netdev)"
	modprobe -r smc
} > /dev/null 2>&1
trap cleanup EXIT

if [ "$RANK" -eq 0 ]; then
	plan 16
else
	plan 21
fi
kernel_log_mark
barrier smc
check "a name for both" smc eid OHCA
check "a way by a gateway" routed
check "links are tested each second" sysctl -q net.smc.smcr_testlink_time=1
server_check "serve" smc_serve
client_check "fetch" smc_fetch
client_check "the connection is SMC-R's" connections client 1
server_check "the connection is SMC-R's" connections server 1
client_check "the file came by it" carried received "$SIZE"
server_check "the file went by it" carried sent "$SIZE"
check "the link is on the device" linked
client_check "traffic" traffic_start
server_check "server: function removed under load" pci_remove
client_check "server: the program ends with an error" traffic_ended
server_check "server: function found again" pci_rescan
server_check "server: its port is active" again
server_check "server: its way by a gateway" routed
client_check "server: fetch again" smc_fetch
client_check "server: SMC-R again" connections client 3
client_check "traffic again" traffic_start
client_check "client: driver unloaded under load" rmmod ohca
client_check "client: the program ends with an error" traffic_ended
server_check "client: the server has no link any more" wait_for 60 unlinked
client_check "client: driver loaded again" reload
client_check "client: its way by a gateway" routed
client_check "client: fetch again" smc_fetch
client_check "client: SMC-R again" connections client 5
server_check "stop" smc_serve_end
check "unload" smc_unload
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
