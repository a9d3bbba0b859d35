#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A subnet in trouble: managers that displace each other, that are killed while they look at the subnet or do not answer, a
# cable that is pulled while a group is joined, management with a wrong key.  Afterwards everybody is reached as before.
# vms: 2
# link: ib
# kernels: newest - the agents are the adapter's
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ohca-host > /dev/null || skip_all "nobody to pull a cable"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_faults.sh"
CONF=/run/opensm.conf
MKEY=0x77aa55
mckey=
RECEIVED=/mnt/share/received # which both machines see

cleanup()
{
	pair_cleanup
	[ -z "$mckey" ] || kill -KILL "$mckey"
	ohcactl link "$OHCA_HCA" up
	if [ "$RANK" -eq 0 ]; then
		kill -CONT "$(cat /run/opensm.pid)"
		manager_restart
	else
		manager_kill KILL
	fi
	rm -f "$CONF"
} > /dev/null 2>&1
trap cleanup EXIT

# A standby manager notices within two seconds that the master is gone.
configure() # further lines
{
	printf '%s\n' "sminfo_polling_timeout 1000" "polling_retry_number 2" "$@" > "$CONF"
}

impatient_manager()
{
	configure && manager_restart -F "$CONF"
}

second_manager()
{
	configure && manager_start -F "$CONF" -p "$1"
}

# The port knows that the master is there, and it is.
master_at() # LID
{
	read -r master_lid < "$IB_PORT/sm_lid" && [ $((master_lid)) -eq "$1" ] && sminfo | grep "sm lid $1 .*SMINFO_MASTER"
}

reached()
{
	ping -c 3 -i 0.1 -W 10 "$OHCA_PEER"
}

is_sm() # of the port's CapabilityMask
{
	[ $(($(cat "$IB_PORT/cap_mask") & 2)) -ne 0 ]
}

# One after another is killed when it has just begun.
killed_in_sweeps()
{
	manager_kill KILL || return 1
	for sweep in 1 2 3; do
		manager_start && wait_for 20 is_sm && manager_kill KILL || return 1
	done
	manager_start -F "$CONF" && wait_for 30 manager_is_master
}

manager_stops()
{
	kill -STOP "$(cat /run/opensm.pid)"
}

manager_continues()
{
	kill -CONT "$(cat /run/opensm.pid)" && wait_for 30 manager_is_master
}

joins()
{
	mckey -b "$(my_ip 4)" -M ff12::7700:9 -C 1 > "$pair_log" 2>&1 &
	mckey=$!
	wait_for 20 grep -q "joining" "$pair_log"
}

# The join comes to an end, whichever, and so does the program.
join_ends()
{
	kill -INT "$mckey"
	wait_for 60 over "$mckey" || { cat "/proc/$mckey/stack" "$pair_log"; return 1; }
	wait "$mckey"
	mckey=
	cat "$pair_log"
	nothing_left
}

# Receive ten datagrams, or send them.
datagrams() # options
{
	timeout $((60 * slow)) mckey -b "$(my_ip 4)" -M ff12::7700:9 "$@" -C 10 > "$pair_log" 2>&1
}

# The first machine receives.  Its join may fail while IPoIB is about to join its own group, whose parameters a group takes.
# The second one sends until it has: opensm answers a join before the switch has the group.
group()
{
	if [ "$RANK" -eq 0 ]; then
		rm -f "$RECEIVED"
		barrier trouble.group
		wait_for 60 datagrams
		group_status=$?
		touch "$RECEIVED"
	else
		barrier trouble.group
		group_status=1
		until [ -e "$RECEIVED" ]; do
			datagrams -s
			group_status=$?
		done
	fi
	cat "$pair_log"
	[ "$group_status" -eq 0 ] && grep -q "data transfers complete" "$pair_log"
}

port_info() # options
{
	smpquery -t 300 "$@" portinfo "$peer_lid" 1
}

# With a key that nobody reads without it; nor does sminfo then.
manager_with_key()
{
	configure "m_key $MKEY" "m_key_protection_level 2" "m_key_lease_period 60" && manager_kill TERM &&
		manager_start -F "$CONF"
}

key_is_set()
{
	port_info -y "$MKEY" | grep "^ProtectBits:.*2$"
}

# No answer
wrong_key()
{
	manager_log_mark
	! port_info && ! port_info -y 0x1
}

violations()
{
	violations_now=$(port_info -y "$MKEY" | ib_field MkeyViolations)
	echo "$violations_now violations"
	[ "$violations_now" -ge 2 ]
}

manager_without_key()
{
	configure "m_key 0" "m_key_protection_level 0" && manager_restart -F "$CONF"
}

key_is_gone()
{
	port_info | grep "^ProtectBits:.*0$"
}

kernel_log_mark
ib_meet
plan 31
first_check "a manager that notices soon" impatient_manager
barrier trouble.1
second_check "a second manager with a higher priority" second_manager 5
check "it is the master" wait_for 60 master_at $((RANK ? lid : peer_lid))
barrier trouble.2
check "the other machine is reached" wait_for 60 reached
barrier trouble.3
second_check "the master is killed" manager_kill KILL
check "the standby is the master" wait_for 60 master_at "$first_lid"
barrier trouble.4
check "the other machine is reached then" wait_for 60 reached
barrier trouble.5
second_check "a second manager with the same priority" second_manager 0
barrier trouble.6
check "the first one is the master still" wait_for 30 master_at "$first_lid"
second_check "the standby is killed" manager_kill KILL
barrier trouble.7
first_check "managers are killed in sweeps" killed_in_sweeps
check "the last one is the master" wait_for 60 master_at "$first_lid"
check "the other machine is reached after that" wait_for 60 reached
barrier trouble.8
first_check "the manager does not answer" manager_stops
barrier trouble.9
second_check "a group is joined" joins
second_check "the cable is out meanwhile" cable_out
barrier trouble.10
first_check "the manager answers again" manager_continues
second_check "the program ends" join_ends
second_check "the cable is in" cable_in
barrier trouble.11
check "the group is joined, and carries datagrams" group
barrier trouble.12
check "directed routes of too many hops" "$DIR/smp_hops"
first_check "a manager with a key" manager_with_key
check "the key is set" wait_for 30 key_is_set
barrier trouble.13
second_check "no answer without it, or to another one" wrong_key
second_check "violations are counted" violations
second_check "the manager got a trap" wait_for 30 manager_log_has_trap 256
barrier trouble.14
first_check "a manager without a key" manager_without_key
check "the key is gone" wait_for 60 key_is_gone
check "the other machine is reached at last" wait_for 30 reached
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
