#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# iSCSI over RDMA and SCSI RDMA protocol, with a disk each, on a bad network and with adapters that break or are away.  What
# iSER promises: requests wait for another connection, for as long as replacement_timeout.  SRP: they wait for as long as
# fast_io_fail_tmo, and the disk is there for as long as dev_loss_tmo.
# vms: 2
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v iscsid > /dev/null || skip_all "no open-iscsi"
modinfo ib_srp ib_srpt > /dev/null 2>&1 || skip_all "no SRP"
command -v ohca-host > /dev/null || skip_all "nobody to disturb the network"
. "$DIR/lib_faults.sh"
. "$DIR/lib_load.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_scsi.sh"
. "$DIR/lib_iser.sh"
. "$DIR/lib_srp.sh"

cleanup()
{
	faults_end
	load_cleanup
} > /dev/null 2>&1
trap cleanup EXIT

serve_both()
{
	iser_serve && srp_serve
}

clients()
{
	iser_client && srp_client
}

# SRP's disk is disk() from then on.
iser_comes()
{
	iser_login && iser_disk=$(disk) && disk_but=$iser_disk
}

# Each disk is the same file: a load in each half of it.
iser_load()
{
	load_start "$iser_disk" --direct=1 --bs=64k --size=1m --iodepth=16
}

srp_load()
{
	second load_start "$(disk)" --direct=1 --bs=64k --size=1m --offset=16m --iodepth=16
}

# iSER waits, SRP does not.
server_is_away()
{
	mark
	client_check "away: SRP has no patience" srp_patience 2 4
	server_check "away: the server's adapter" is_away
	client_check "away: SRP: the load ends with an error" second load_ended 1
	client_check "away: iSER: the session looks for another connection" wait_for 60 session_is FAILED
	server_check "back" plug
	server_check "back: it works again" recovered 1
	client_check "back: iSER: the load goes on" load_goes_on
	client_check "back: SRP: without a target the disk goes" wait_for 60 no_disk
	server_check "back: a target of SRP on it" srp_target_again
	client_check "back: SRP: log in again" srp_login
	client_check "back: SRP: load" srp_load
}

# SRP waits, iSER does not.
client_is_silent()
{
	client_check "silent: iSER has no patience" iser_patience 2
	client_check "silent: all packets of the client are lost" silent
	client_check "silent: iSER: the load ends with an error" load_ended 1
	client_check "silent: SRP: the connection is lost" wait_for 60 srp_is blocked
	client_check "silent: no longer" fault clear
	client_check "silent: SRP: the load goes on" second load_goes_on
	client_check "silent: iSER: the session is back" wait_for 60 session_is LOGGED_IN
}

# Nobody submits anything to iSER's disk while the device goes: see test_iser_unplug_2.sh.  SRP has no connection then: 7.2's
# ib_srp uses its host's tags when they are gone if it is removed while it looks for another one (srp_remove_target()).
client_breaks()
{
	mark
	client_check "client: iSER has patience" iser_patience 120
	client_check "client: SRP: nothing was lost" second load_stop
	client_check "client: SRP: log out" srp_logout
	client_check "client: fatal error" fail_hca
	client_check "client: it works again" recovered 1
	client_check "client: SRP: log in again" srp_login
	client_check "client: SRP: load" srp_load
	client_check "client: iSER: load" iser_load
	client_check "client: the loads go on" loads_go_on
}

same_bytes()
{
	[ "$(dd if="$iser_disk" bs=1M iflag=direct | sha256sum)" = "$(cat "$SUM")" ]
}

if [ "$RANK" -eq 0 ]; then
	plan 8
else
	plan 40
fi
kernel_log_mark
barrier scsi
server_check "serve" serve_both
client_check "clients" clients
client_check "iSER: log in" iser_comes
client_check "SRP: log in" srp_login
client_check "iSER: load" iser_load
client_check "SRP: load" srp_load
bad_network
server_is_away
client_is_silent
client_breaks
client_check "iSER: nothing was lost" load_stop
client_check "SRP: nothing was lost" second load_stop
client_check "SRP: checksum" write_sum
client_check "iSER: the same" same_bytes
server_check "the bytes are the server's" compare
client_check "SRP: log out" srp_logout
check "the kernel log is clean" kernel_log_clean
finish
