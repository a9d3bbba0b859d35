#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# iSCSI over RDMA and SCSI RDMA protocol, with a disk each, on a bad network: packets are lost, cables are unplugged
# and plugged in, the client is silent for a while. iSER: requests wait for another connection for the time
# replacement_timeout. SRP: they wait for fast_io_fail_tmo, and the disk stays for dev_loss_tmo.
# vms: 2
# kernels: newest - the device sends lost packets again
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
trap scsi_pair_cleanup EXIT

# SRP waits, iSER does not.
client_is_silent()
{
	client_check "silent: iSER has a short timeout" iser_timeouts 2
	client_check "silent: all packets of the client are lost" silent
	client_check "silent: iSER: the load ends with an error" load_ended 1
	client_check "silent: SRP: the connection is lost" srp_lost
	client_check "silent: no longer" fault clear
	client_check "silent: SRP: the load goes on" second load_goes_on
	client_check "silent: iSER: the session is back" wait_for 60 session_is LOGGED_IN
	client_check "silent: iSER: load" iser_load load_start
}

if [ "$RANK" -eq 0 ]; then
	plan 4
else
	plan 25
fi
kernel_log_mark
barrier scsi
scsi_pair_begin
bad_network
client_is_silent
scsi_pair_end
finish
