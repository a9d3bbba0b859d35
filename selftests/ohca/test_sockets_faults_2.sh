#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RDS and SMC-R on a bad network and with adapters that break or are away.  RDS promises that each message comes, once and in
# order, when there is a connection again.  SMC-R bears what its queue pairs bear; a link that is lost, the only one here, ends
# its connections: their programs get an error, and the next connection is SMC-R's again.
# vms: 2
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
modprobe -a rds rds_rdma 2> /dev/null || skip_all "no RDS over RDMA"
command -v ohca-host > /dev/null || skip_all "nobody to disturb the network"
. "$DIR/lib_faults.sh"
. "$DIR/lib_load.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_smc.sh"

stream=
cleanup()
{
	faults_end
	load_cleanup
	smc_cleanup
	[ -z "$stream" ] || kill -KILL "$stream"
} > /dev/null 2>&1
trap cleanup EXIT

with_smc=
! command -v python3 > /dev/null || ! modprobe smc 2> /dev/null || with_smc=y

# A check that is skipped without SMC
smc_check() # check, server_check or client_check; name, command...
{
	if [ -n "$with_smc" ]; then
		"$@"
		return
	fi
	case $1$RANK in
	check? | server_check0 | client_check1) skip "$2" "the kernel has no SMC (CONFIG_SMC)" ;;
	esac
}

smc_begin()
{
	smc eid OHCA && routed && sysctl -q net.smc.smcr_testlink_time=1
}

# Messages both ways
messages()
{
	barrier messages
	"$DIR/rds" "$@"
}

# More of them, in the background
stream_start()
{
	barrier stream
	"$DIR/rds" 4000 > /run/stream.log 2>&1 &
	stream=$!
	wait_for 30 grep -q "first message" /run/stream.log
}

# Each message came, and as it was.
stream_ended()
{
	wait_for 120 over "$stream" || { cat "/proc/$stream/stack" /run/stream.log; return 1; }
	wait "$stream"
	stream_status=$?
	stream=
	cat /run/stream.log
	[ "$stream_status" -eq 0 ]
}

# The stream was not over before.
meanwhile() # command...
{
	"$@" && ! over "$stream"
}

begin() # name
{
	mark
	smc_check client_check "$1: SMC-R: traffic" traffic_start
	check "$1: RDS: messages" stream_start
	barrier begin
}

end() # name, number of SMC-R's connections
{
	check "$1: RDS: each message came" stream_ended
	barrier end
	smc_check client_check "$1: SMC-R: fetch again" fetch
	smc_check client_check "$1: SMC-R again" connections client "$2"
}

loss()
{
	client_check "loss: one packet in a hundred" fault add drop,p=1%
	check "loss: RDS: messages" messages
	smc_check client_check "loss: SMC-R: fetch" fetch
	smc_check client_check "loss: it was SMC-R" connections client 1
	client_check "loss: packets were lost" hits
	client_check "loss: no longer" fault clear
}

cable()
{
	begin cable
	client_check "cable: the client's is out" meanwhile cable_out
	smc_check client_check "cable: SMC-R: the program ends with an error" traffic_ended
	client_check "cable: it is in again" cable_in
	end cable 3
}

server_breaks()
{
	begin "server breaks"
	server_check "server breaks: fatal error" meanwhile fail_hca
	server_check "server breaks: it works again" recovered 1
	smc_check client_check "server breaks: SMC-R: the program ends with an error" traffic_ended
	end "server breaks" 5
}

server_is_away()
{
	begin "server away"
	server_check "server away: its adapter" meanwhile is_away
	smc_check client_check "server away: SMC-R: the program ends with an error" traffic_ended
	server_check "server back" plug
	server_check "server back: it works again" recovered 1
	end "server back" 7
}

client_breaks()
{
	begin "client breaks"
	client_check "client breaks: fatal error" meanwhile fail_hca
	client_check "client breaks: it works again" recovered 1
	smc_check client_check "client breaks: SMC-R: the program ends with an error" traffic_ended
	end "client breaks" 9
}

if [ "$RANK" -eq 0 ]; then
	plan 17
else
	plan 36
fi
kernel_log_mark
barrier sockets
smc_check check "SMC-R" smc_begin
smc_check server_check "SMC-R: serve" smc_serve
loss
cable
server_breaks
server_is_away
client_breaks
check "the kernel log is clean" kernel_log_clean
finish
