#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Three subnet managers of different priorities.  The master's machine loses its power and gets it back; in the long form it is
# reset, too, and its cable is pulled out and plugged in.  Each time there is one master at the end, ports keep their LIDs, and a
# connection between the two other machines goes on; in the long form, they have an NFS mount as well.
# vms: 3
# link: ib
# kernels: newest - opensm and the adapter's agents are the subject
# long: three machines, one of which starts several times
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 3
need_device
need_ib
command -v ohca-host > /dev/null || skip_all "nobody to turn a machine off"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_faults.sh"
. "$DIR/lib_power.sh"
. "$DIR/lib_nfs.sh"
CONF=/run/opensm.conf
TRAFFIC_PORT=19100
PRIORITIES="1 5 10" # of the machines' managers
LID_FILE=/mnt/share/lid # .RANK
COUNTERS=$IB_PORT/hw_counters
NFS_DATA=/mnt/nfs/data
LONG=$(long 1 "")
traffic=

cleanup()
{
	[ -z "$traffic" ] || kill "$traffic"
	watcher_stop
	pair_cleanup
	rm -f "$CONF"
} > /dev/null 2>&1
trap cleanup EXIT

# The manager of this machine, with its priority; it notices within two seconds that the master is gone.
manager()
{
	printf '%s\n' "sminfo_polling_timeout 1000" "polling_retry_number 2" > "$CONF"
	[ ! -e /run/opensm.pid ] || [ "$BOOT" -gt 0 ] || manager_kill TERM || return 1
	manager_start -F "$CONF" -p "$(nth $((RANK + 1)) "$PRIORITIES")"
}

lid_of() # machine
{
	cat "$LID_FILE.$1"
}

# This machine's port says so, and so does the master itself; it is the only one, as a manager that is not the master answers, too.
master_at() # machine
{
	read -r master_lid < "$IB_PORT/sm_lid" && [ $((master_lid)) -eq "$(lid_of "$1")" ] && sminfo | grep "sm lid $((master_lid)) .*SMINFO_MASTER"
}

is_not_master() # machine
{
	sminfo "$(lid_of "$1")" | grep -E "SMINFO_(STANDBY|NOTACT)"
}

kept()
{
	echo "LID $(ib_lid), before $(lid_of "$RANK")"
	[ "$(ib_lid)" -eq "$(lid_of "$RANK")" ] && wait_for 30 port_is PORT_ACTIVE
}

# The port's users have been notified to register again since the mark.
notified_mark()
{
	notified_before=$(grep -c "client reregistration" "$watcher_log")
}

notified_again()
{
	notified "client reregistration" $((notified_before + 1))
}

notified_of_change()
{
	wait_for 60 notified_again
	notified_status=$?
	cat "$watcher_log"
	return "$notified_status"
}

traffic_start()
{
	if [ "$RANK" -eq 0 ]; then
		ib_write_bw -d "$DEV" -F -s 65536 --run_infinitely -p "$TRAFFIC_PORT" > /dev/null 2>&1 &
		traffic=$!
		wait_for 60 tcp_listening "$TRAFFIC_PORT"
		barrier managers.listening
	else
		barrier managers.listening
		# IPoIB joins its groups again after a change of the master.
		group_reaches "$OHCA_PEER" || return 1
		ib_write_bw -d "$DEV" -F -s 65536 --run_infinitely -p "$TRAFFIC_PORT" "$OHCA_PEER" > "$pair_log" 2>&1 &
		traffic=$!
	fi
	traffic_goes_on
}

sent_more() # than so many packets
{
	over "$traffic" || [ "$(cat "$COUNTERS/tx_packets")" -gt "$1" ]
}

traffic_goes_on()
{
	[ "$RANK" -eq 1 ] || { ! over "$traffic"; return; }
	wait_for 60 sent_more $(($(cat "$COUNTERS/tx_packets") + 200)) && ! over "$traffic"
	traffic_status=$?
	[ "$traffic_status" -eq 0 ] || cat "$pair_log"
	return "$traffic_status"
}

# A neighbour is asked for by multicast: the port is in the group again.
group_reaches()
{
	ip neigh flush dev "$ND" && wait_for 30 ping -c 1 -W 2 "$1"
}

# In the long form: version 4.2, by RDMA
nfs_begin()
{
	if [ "$RANK" -eq 0 ]; then
		# shellcheck disable=SC2119 # the usual time
		nfs_serve
	else
		modprobe rpcrdma && wait_for 60 nfs_mount 4.2 proto=rdma,port=20049 /mnt/nfs
	fi
}

nfs_works()
{
	[ "$RANK" -eq 1 ] || return 0
	head -c 3000000 /dev/urandom > /run/data && timeout $((120 * slow)) cp /run/data "$NFS_DATA" && sync "$NFS_DATA" && cmp /run/data "$NFS_DATA"
}

nfs_end()
{
	if [ "$RANK" -eq 1 ]; then umount /mnt/nfs; fi
	barrier managers.umounted
	if [ "$RANK" -eq 0 ]; then nfs_serve_end; fi
}

# What the two machines look for after each change; the third one calls the barriers, if it is there.
goes_on() # what, machine of the master
{
	check "$1: node$2 is the master" wait_for 60 master_at "$2"
	check "$1: clients are notified" notified_of_change
	check "$1: the LID is as before" kept
	check "$1: the group works" group_reaches "$OHCA_PEER"
	check "$1: the connection goes on" traffic_goes_on
	[ -z "$LONG" ] || check "$1: the mount works" nfs_works
	notified_mark
}

LINES=$(long 6 5) # of goes_on

# The third machine, whose manager is the master again
returns()
{
	check "$1: the LID is as before" kept
	check "$1: opensm" manager
	check "$1: it is the master" wait_for 60 master_at 2
}

third()
{
	power_plan "$(long 13 6)"
	if [ "$BOOT" -eq 0 ]; then
		ib_lid > "$LID_FILE.2"
		barrier managers.lids
		barrier managers.first
		check "opensm" manager
		check "it is the master" wait_for 60 master_at 2
		barrier managers.listening
		power_end managers.ready
	fi
	if [ "$BOOT" -eq 1 ]; then
		returns "power is back"
		barrier managers.on
		[ -z "$LONG" ] || power_end managers.reset
	else
		returns "reset"
		barrier managers.reset.on
	fi
	if [ -n "$LONG" ]; then
		barrier managers.pull
		check "its cable is out" cable_out
		barrier managers.out
		barrier managers.plug
		check "its cable is in" cable_in
		barrier managers.in
		check "it is the master again" wait_for 60 master_at 2
		check "its LID is as before" kept
	fi
	barrier managers.end
	[ -z "$LONG" ] || barrier managers.umounted
	barrier managers.client
	check "the kernel log is clean" kernel_log_clean
	finish
}

kernel_log_mark
[ "$RANK" -ne 2 ] || third
plan "$(long $((13 + 6 * LINES)) $((10 + 2 * LINES)))"
ib_lid > "$LID_FILE.$RANK"
barrier managers.lids
first_check "opensm" manager
barrier managers.first
second_check "opensm" manager
check "events" watcher_start
check "the third machine's is the master" wait_for 60 master_at 2
check "a connection" traffic_start
[ -z "$LONG" ] || check "a mount" nfs_begin
notified_mark
barrier managers.ready
first_check "the master's machine is turned off" ohca-host off 2
goes_on off 1
first_check "it is turned on" ohca-host on 2
barrier managers.on
goes_on on 2
if [ -n "$LONG" ]; then
	barrier managers.reset
	first_check "the master's machine is reset" ohca-host reset 2
	goes_on reset 1
	barrier managers.reset.on
	goes_on "reset is over" 2
	barrier managers.pull
	barrier managers.out
	goes_on "cable out" 1
	barrier managers.plug
	barrier managers.in
	goes_on "cable in" 2
fi
check "the second machine's is a standby" wait_for 60 is_not_master 1
barrier managers.end
[ -z "$LONG" ] || check "the mount ends" nfs_end
[ "$RANK" -eq 0 ] || kill "$traffic"
barrier managers.client
kill "$traffic" 2> /dev/null
traffic=
watcher_stop
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
