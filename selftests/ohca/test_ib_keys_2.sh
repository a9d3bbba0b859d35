#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Programs with right and with wrong Q_Keys and P_Keys on a subnet with several partitions: what they notice, what ports and
# the switch count, and of what the subnet manager is notified.
# vms: 2
# link: ib
# kernels: newest - the adapter and the switch check keys
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
. "$DIR/lib_ib.sh"

cleanup()
{
	rm -f "$IB_PARTITIONS"
}
trap cleanup EXIT

# Those of keys.c
partitions()
{
	manager_with_partitions 'both=0x0001 : ALL=full;' "first=0x0002 : 0x$first_guid=full;" 'limited=0x0003 : ALL=limited;'
}

has_keys()
{
	has_key 0xffff && has_key 0x8001 && has_key 0x0003 && if [ "$RANK" -eq 0 ]; then has_key 0x8002; else has_no_key 0x8002; fi
}

# The first machine's packets of its own partition, where the switch would send them to the second machine
switch_discards()
{
	perfquery "$switch_lid" "$(cat "$IB_SHARE/port.1")" | ib_field PortXmitConstraintErrors
}

publish_port()
{
	smpquery nodeinfo -D 0,1 | ib_field LocalPort > "$IB_SHARE/port.$RANK" && [ -s "$IB_SHARE/port.$RANK" ]
}

keys_work()
{
	before=$(switch_discards)
	"$DIR/keys" -2 || return 1
	after=$(switch_discards)
	echo "discarded by the switch: $before before, $after after"
	[ $((after - before)) -eq 2 ]
}

kernel_log_mark
ib_meet
plan 10
first_check "opensm with partitions" partitions
check "their keys are in the port's table" wait_for 30 has_keys
check "the port of the switch" publish_port
manager_log_mark
barrier keys.ready
check "programs with right and wrong keys" keys_work
barrier keys.used
for number in 257 258 259; do
	first_check "the manager got trap $number" wait_for 30 manager_log_has_trap "$number"
done
barrier keys.notified
first_check "opensm without partitions" manager_restart
check "the keys are gone" wait_for 30 has_no_key 0x8001
barrier keys.gone
check "the kernel log is clean" kernel_log_clean
finish
