#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RDS and SMC-R with adapters that fail or, in the long form, are absent, and that the driver recovers. For the protocols see
# test_sockets_faults_2.sh.
# vms: 2
# kernels: all - the driver recovers, under the kernel's protocols
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

server_breaks()
{
	begin "server breaks"
	server_check "server breaks: fatal error" meanwhile fail_hca
	server_check "server breaks: it works again" recovered 1
	smc_check client_check "server breaks: SMC-R: the program ends with an error" traffic_ended
	end "server breaks"
}

server_is_away()
{
	begin "server away"
	server_check "server away: its adapter" meanwhile is_away
	smc_check client_check "server away: SMC-R: the program ends with an error" traffic_ended
	server_check "server back" plug
	server_check "server back: it works again" recovered 1
	end "server back"
}

client_breaks()
{
	begin "client breaks"
	client_check "client breaks: fatal error" meanwhile fail_hca
	client_check "client breaks: it works again" recovered 1
	smc_check client_check "client breaks: SMC-R: the program ends with an error" traffic_ended
	end "client breaks"
}

client_is_away()
{
	begin "client away"
	client_check "client away: its adapter" meanwhile is_away
	smc_check client_check "client away: SMC-R: the program ends with an error" traffic_ended
	client_check "client back" plug
	client_check "client back: it works again" recovered 1
	end "client back"
}

if [ "$RANK" -eq 0 ]; then
	plan "$(long 16 9)"
else
	plan "$(long 28 15)"
fi
kernel_log_mark
barrier sockets
sockets_serve
server_breaks
[ "${OHCA_LONG:-}" != 1 ] || server_is_away
client_breaks
[ "${OHCA_LONG:-}" != 1 ] || client_is_away
check "the kernel log is clean" kernel_log_clean
finish
