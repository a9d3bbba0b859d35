#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Service levels on a paced link: opensm maps them to virtual lanes of different weights, and connections get shares of the link as
# these weights say.
# vms: 2
# link: ib
# rate: SDR 1
# kernels: newest - the adapter arbitrates
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v smpquery > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"
CONF=/run/opensm.conf
SHARES=/run/shares

cleanup()
{
	rm -f "$CONF" "$SHARES"
} > /dev/null 2>&1
trap cleanup EXIT

# Each SL has the VL of its number.  The weights of qos.c are of low priority, there is no high one.
manager_with_qos()
{
	{
		echo "qos TRUE"
		echo "qos_max_vls 8"
		echo "qos_high_limit 0"
		echo "qos_vlarb_high 0:0"
		echo "qos_vlarb_low 0:64,1:192,2:64,3:192"
		echo "qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7"
	} > "$CONF"
	manager_restart -F "$CONF" -P /run/opensm/partitions.conf
}

# This machine's port has them.
arbitrates()
{
	says "^VL +: \|0x0 +\|0x1 +\|0x2 +\|0x3" "^WEIGHT: \|0x40\|0xC0\|0x40\|0xC0" -- smpquery vlarb "$lid" 1
}

maps()
{
	says "\| 0\| 1\| 2\| 3\| 4\| 5\| 6\| 7\| 0\| 1" -- smpquery sl2vl "$lid" 1
}

# And prints what they got
shares()
{
	"$DIR/qos" -2 > "$SHARES"
	shares_status=$?
	cat "$SHARES"
	grep "^# SL" "$SHARES" >&3
	return "$shares_status"
}

exec 3>&1
kernel_log_mark
ib_meet
plan 5
first_check "opensm with weights of virtual lanes" manager_with_qos
check "the port's arbitration table" wait_for 30 arbitrates
check "its table of service levels" wait_for 30 maps
barrier qos.tables
check "shares of the link" shares
check "the kernel log is clean" kernel_log_clean
finish
