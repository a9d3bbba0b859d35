#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# SMC-R between two machines: TCP programs (an HTTP server and its clients), preloaded with SMC's sockets.
# vms: 2
# boot: protocols
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v python3 > /dev/null || skip_all "no programs to run"
modprobe smc 2> /dev/null || skip_all "the kernel has no SMC (CONFIG_SMC)"
. "$DIR/lib_load.sh"
PCI=$(pcidev)
WEB=/run/web
SIZE=8388608
SUM=/mnt/share/smc.sum # which both machines see
PRELOAD=$DIR/smc_preload.so
GET='import sys, urllib.request; urllib.request.urlretrieve(sys.argv[1], sys.argv[2])'
traffic=

cleanup()
{
	load_cleanup
	[ -z "$traffic" ] || kill -KILL "$traffic"
	serve_end
	[ -e "$PCI_BUS/devices/$PCI" ] || pci_rescan
	modprobe ohca
	test_device || net_restore
	ip route del "$OHCA_PEER/32"
	ip addr del "10.90.0.$((RANK + 1))/24" dev "$(netdev)"
	modprobe -r smc
} > /dev/null 2>&1
trap cleanup EXIT

# Each machine reaches the other one by a gateway, which is the other one by its second address.  SMC-R version 2 needs it
# here: for a direct neighbour, Linux takes the MAC address that version 1 has sent, and that wants GIDs of RoCEv1.
routed()
{
	ip addr replace "10.90.0.$((RANK + 1))/24" dev "$(netdev)" &&
		ip route replace "$OHCA_PEER/32" via "10.90.0.$((2 - RANK))" src "$OHCA_IP"
}

smc() # command of the program
{
	"$DIR/smc" "$@"
}

server=
serve()
{
	mkdir -p "$WEB" && head -c "$SIZE" /dev/urandom > "$WEB/file" && sha256sum < "$WEB/file" > "$SUM" &&
		truncate -s 64G "$WEB/large" || return 1
	LD_PRELOAD=$PRELOAD python3 -m http.server --bind 0.0.0.0 --directory "$WEB" 8000 > /run/web.log 2>&1 &
	server=$!
	wait_for 30 listening 8000
}

serve_end()
{
	kill "$server"
	wait "$server"
	rm -r "$WEB"
}

listening() # port
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") [0-9A-F:]* 0A" /proc/net/tcp
}

fetch()
{
	LD_PRELOAD=$PRELOAD timeout 120 python3 -c "$GET" "http://$OHCA_PEER:8000/file" /run/fetched &&
		[ "$(sha256sum < /run/fetched)" = "$(cat "$SUM")" ]
}

# So many connections were SMC-R's, and none has become a TCP one.
connections() # client's or server's, number
{
	smc stats
	smc stats | grep -qx "$1 $2" && ! smc stats | grep "^tcp"
}

carried() # sent or received, number of bytes
{
	[ "$(smc stats | sed -n "s/^$1 //p")" -ge "$2" ]
}

linked()
{
	smc links | grep "^$(ibdev) "
}

# A file that takes minutes
traffic_start()
{
	received=$(smc stats | sed -n 's/^received //p')
	LD_PRELOAD=$PRELOAD python3 -c "$GET" "http://$OHCA_PEER:8000/large" /dev/null > /run/traffic.log 2>&1 &
	traffic=$!
	wait_for 30 carried received $((received + 1048576))
}

traffic_over()
{
	! kill -0 "$traffic" || grep -q '^State:.*Z' "/proc/$traffic/status"
}

traffic_ended()
{
	if ! wait_for 60 traffic_over; then
		cat "/proc/$traffic/stack" /run/traffic.log
		return 1
	fi
	wait "$traffic"
	traffic_status=$?
	traffic=
	cat /run/traffic.log
	[ "$traffic_status" -ne 0 ]
}

if [ "$RANK" -eq 0 ]; then
	plan 15
else
	plan 21
fi
kernel_log_mark
barrier smc
check "a name for both" smc eid OHCA
check "a way by a gateway" routed
check "links are tested each second" sysctl -q net.smc.smcr_testlink_time=1
server_check "serve" serve
client_check "fetch" fetch
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
client_check "server: fetch again" fetch
client_check "server: SMC-R again" connections client 3
client_check "traffic again" traffic_start
client_check "client: driver unloaded under load" rmmod ohca
client_check "client: the program ends with an error" traffic_ended
client_check "client: driver loaded again" reload
client_check "client: its way by a gateway" routed
client_check "client: fetch again" fetch
client_check "client: SMC-R again" connections client 5
server_check "stop" serve_end
check "unload" wait_for 30 modprobe -r smc
check "no queue pair is left" wait_for 30 kernel_qps 0
check "the kernel log is clean" kernel_log_clean
finish
