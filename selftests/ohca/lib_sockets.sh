# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# RDS and SMC-R at the same time, while the network or an adapter is disturbed: a stream of RDS messages in both
# directions, and a connection of SMC-R from the second machine to the first one. A script sources this file after
# lib_faults.sh, lib_load.sh, lib_rds.sh, lib_recover.sh and lib_smc.sh.

stream=
with_smc=

sockets_need()
{
	need_machines 2
	need_device
	rds_need
	command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
	rds_load
	! command -v python3 > /dev/null || ! modprobe smc 2> /dev/null || with_smc=y
}

sockets_cleanup()
{
	faults_end
	load_cleanup
	smc_cleanup
	[ -z "$stream" ] || kill -KILL "$stream"
} > /dev/null 2>&1

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

# Checks: 2 in each machine
sockets_serve()
{
	smc_check check "SMC-R" smc_begin
	smc_check server_check "SMC-R: serve" smc_serve
	smc_check client_check "SMC-R: fetch" smc_fetch
}

# Messages in both directions, in the background
stream_start()
{
	barrier stream
	"$DIR/rds" 4000 > /run/stream.log 2>&1 &
	stream=$!
	wait_for 30 grep -q "first message" /run/stream.log
}

# Each message arrived, unchanged.
stream_ended()
{
	wait_for 120 over "$stream" || { cat "/proc/$stream/stack" /run/stream.log; return 1; }
	wait "$stream"
	stream_status=$?
	stream=
	cat /run/stream.log
	[ "$stream_status" -eq 0 ]
}

# The stream had not ended before.
meanwhile() # command...
{
	"$@" && ! over "$stream"
}

# A fault begins: 1 check in the first machine, 2 in the second one
begin() # name
{
	mark
	smc_check client_check "$1: SMC-R: traffic" traffic_start
	check "$1: RDS: messages" stream_start
	barrier begin
}

# The fault has ended: 1 check in the first machine, 2 in the second one
end() # name
{
	check "$1: RDS: each message came" stream_ended
	barrier end
	smc_check client_check "$1: SMC-R: fetch again" smc_fetch
}
