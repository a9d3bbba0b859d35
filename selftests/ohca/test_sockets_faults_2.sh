#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RDS and SMC-R on a bad network. RDS: each message arrives, once and in order, when there is a connection again.
# SMC-R tolerates what its queue pairs tolerate; when its only link is lost, its connections end: their programs get
# an error, and the next connections use SMC-R again.
# vms: 2
# kernels: all - SMC-R is in the older kernel only
# boot: sockets
. "$(dirname "$0")/lib.sh"
. "$DIR/lib_faults.sh"
. "$DIR/lib_load.sh"
. "$DIR/lib_rds.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_smc.sh"
. "$DIR/lib_sockets.sh"
sockets_need
trap sockets_cleanup EXIT

# Messages in both directions
messages()
{
	barrier messages
	"$DIR/rds" "$@"
}

loss()
{
	client_check "loss: one packet in a hundred" fault add drop,p=1%
	check "loss: RDS: messages" messages
	smc_check client_check "loss: SMC-R: fetch" smc_fetch
	client_check "loss: packets were lost" hits
	client_check "loss: no longer" fault clear
}

client_cable()
{
	begin "client's cable"
	client_check "client's cable: it is out" meanwhile cable_out
	smc_check client_check "client's cable: SMC-R: the program ends with an error" traffic_ended
	client_check "client's cable: it is in again" cable_in
	end "client's cable"
}

server_cable()
{
	begin "server's cable"
	server_check "server's cable: it is out" meanwhile cable_out
	smc_check client_check "server's cable: SMC-R: the program ends with an error" traffic_ended
	server_check "server's cable: it is in again" cable_in
	end "server's cable"
}

if [ "$RANK" -eq 0 ]; then
	plan 10
else
	plan 20
fi
kernel_log_mark
barrier sockets
sockets_serve
loss
client_cable
server_cable
check "the kernel log is clean" kernel_log_clean
finish
