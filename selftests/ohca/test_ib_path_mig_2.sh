#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Path migration between two machines whose ports have two LIDs each: opensm begins anew with LMC 1.
# vms: 2
# link: ib
# kernels: all - attributes and events pass through the kernel
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
ohca-host ohcactl version > /dev/null 2>&1 || skip_all "no ohcactl"
. "$DIR/lib_ib.sh"

two_lids()
{
	[ "$(cat "$IB_PORT/lid_mask_count")" = 1 ] && grep -q ACTIVE "$IB_PORT/state"
}

# The LIDs are others, and IPoIB has found the other machine again.
peer_answers()
{
	ping -c 1 -W 2 "$OHCA_PEER"
}

barrier path_mig
[ "$RANK" -ne 0 ] || manager_restart -l 1 > /dev/null || bail "opensm does not begin"
wait_for 60 two_lids || bail "the port does not get two LIDs"
wait_for 60 peer_answers || bail "the other machine does not answer"
barrier path_mig.lids
leave_nothing "$DIR/path_mig" -2
