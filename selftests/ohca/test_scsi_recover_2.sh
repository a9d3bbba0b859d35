#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# iSCSI over RDMA and SCSI RDMA protocol, with a disk each: the adapter of the server fails and is absent, then that
# of the client, and the driver recovers it. For iSER and SRP see test_scsi_faults_2.sh; SRP's disks are removed with
# the client's adapter.
# vms: 2
# kernels: newest debug - what the driver does is tested on all by test_recover.sh, test_remove.sh and test_device_gone.sh
# boot: own
. "$(dirname "$0")/lib.sh"
. "$DIR/lib_faults.sh"
. "$DIR/lib_load.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_scsi.sh"
. "$DIR/lib_iser.sh"
. "$DIR/lib_srp.sh"
. "$DIR/lib_scsi_pair.sh"
scsi_pair_needs

# Registrations and invalidations that a lost connection flushes complete in requests of the SCSI host, which
# srp_remove_target() frees before it reads these completions.
# shellcheck disable=SC2034 # of lib_srp.sh
SRP_OPTIONS=never_register=Y

cleanup()
{
	scsi_pair_cleanup
	ohcactl fail clear "$OHCA_HCA"
} > /dev/null 2>&1
trap cleanup EXIT

# Both wait.
server_breaks()
{
	mark
	server_check "server breaks: fatal error" fail_hca
	server_check "server breaks: it works again" recovered 1
	client_check "server breaks: SRP: the connection is lost" srp_lost
	server_check "server breaks: a target of SRP on it" srp_target_again
	client_check "server breaks: the loads go on" loads_go_on
}

srp_fails()
{
	srp_request
	second load_ended 1
}

# iSER waits, SRP does not.
server_is_away()
{
	mark
	client_check "server away: SRP has short timeouts" srp_timeouts 2 4
	server_check "server away: its adapter" is_away
	client_check "server away: SRP: the load ends with an error" srp_fails
	client_check "server away: iSER: the session looks for another connection" wait_for 60 session_is FAILED
	server_check "server back" plug
	server_check "server back: it works again" recovered 1
	client_check "server back: iSER: the load goes on" load_goes_on
	client_check "server back: SRP: without a target the disk goes" wait_for 60 no_disk
	server_check "server back: a target of SRP on it" srp_target_again
	client_check "server back: SRP: log in again" srp_login
	client_check "server back: SRP: load" srp_load
}

# Requests have failed, and there is no reconnecting, when the device is removed from ib_srp. Otherwise an attempt
# with a fenced device adds buffers to the free list, which srp_free_ch_ib() adds again; and while requests wait,
# 7.2's srp_remove_target() uses them after the host's tags were freed. Both cause a panic.
srp_lets_go()
{
	second load_ended 1 && wait_for 60 srp_is fail-fast
}

# Before a fault of the client's adapter: no request is submitted to iSER's disk at that moment, see
# test_iser_unplug_2.sh.
client_prepares() # name
{
	mark
	client_check "$1: iSER: nothing was lost" load_stop
	client_check "$1: SRP has short timeouts" srp_timeouts 2 600
}

# The adapter works again.
client_continues() # name
{
	client_check "$1: it works again" recovered 1
	client_check "$1: SRP: the disk went" wait_for 60 no_disk
	client_check "$1: SRP: log in again" srp_login
	client_check "$1: SRP: load" srp_load
}

client_is_away()
{
	client_prepares "client away"
	client_check "client away: its adapter" is_away
	client_check "client away: SRP: the load ends with an error" srp_lets_go
	client_check "client away: iSER: the session looks for another connection" wait_for 60 session_is FAILED
	client_check "client away: iSER: who writes then waits" iser_waits
	client_check "client back" plug
	client_continues "client back"
	client_check "client back: iSER: who waited goes on" load_goes_on
}

iser_waits()
{
	iser_load load_begin && wait_for 60 requests "$iser_disk" && ! load_rounds 1 2> /dev/null
}

# Not automatically: SRP is removed first.
client_breaks()
{
	client_prepares "client breaks"
	client_check "client breaks: nobody brings it back" auto_recover false
	client_check "client breaks: fatal error" fail_hca
	client_check "client breaks: SRP: the load ends with an error" srp_lets_go
	client_check "client breaks: it is brought back" recover
	client_check "client breaks: the next time it comes back by itself" auto_recover true
	client_continues "client breaks"
	client_check "client breaks: iSER: load" iser_load load_start
	client_check "client breaks: the loads go on" loads_go_on
}

if [ "$RANK" -eq 0 ]; then
	plan 10
else
	plan 45
fi
kernel_log_mark
barrier scsi
scsi_pair_begin
server_breaks
server_is_away
client_is_away
client_breaks
scsi_pair_end
finish
