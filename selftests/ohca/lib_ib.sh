# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# An InfiniBand subnet: attributes of this machine's port and of the other one's. A script sources this file after
# lib.sh.

IB_DEV=$(ibdev)
IB_PORT=/sys/class/infiniband/$IB_DEV/ports/1
IB_SHARE=/mnt/share/ib # which all machines see
IB_PARTITIONS=/run/partitions.conf

# In hexadecimal, as in sysfs
ib_gid()
{
	cat "$IB_PORT/gids/0"
}

ib_guid()
{
	ib_gid | tr -d : | cut -c 17-
}

ib_lid()
{
	ib_hex=$(cat "$IB_PORT/lid")
	echo $((ib_hex))
}

# Each machine publishes the attributes of its port, and reads the other one's: $lid, $guid, $peer_lid, $peer_guid,
# and those of the switch and of the first machine's port.
ib_meet()
{
	mkdir -p "$IB_SHARE"
	lid=$(ib_lid) guid=$(ib_guid)
	echo "$lid $guid" > "$IB_SHARE/$RANK"
	barrier ib.meet
	read -r peer_lid peer_guid < "$IB_SHARE/$((RANK ^ 1))"
	read -r first_lid first_guid < "$IB_SHARE/0"
	switch_lid=$(smpquery -D nodeinfo 0,1 > /dev/null && smpquery -D portinfo 0,1 0 | ib_field Lid)
}

# ib_field NAME: prints its value from the output of smpquery or perfquery, lines "NAME:......VALUE"
ib_field()
{
	sed -n "s/^$1:\\.*//p" | head -n 1
}

# says PATTERN... -- COMMAND...: the command succeeds, and each pattern is in its output.
says()
{
	says_patterns=$(mktemp)
	while [ "$1" != -- ]; do
		echo "$1" >> "$says_patterns"
		shift
	done
	shift
	says_out=$(timeout $((60 * slow)) "$@" 2>&1)
	says_status=$?
	echo "$says_out"
	while IFS= read -r says_pattern; do
		echo "$says_out" | grep -qE -e "$says_pattern" || { echo "no line has: $says_pattern"; says_status=1; }
	done < "$says_patterns"
	rm -f "$says_patterns"
	return "$says_status"
}

# counts NUMBER PATTERN COMMAND...: this number of lines of its output match.
counts()
{
	counts_want=$1 counts_pattern=$2
	shift 2
	counts_out=$(timeout $((60 * slow)) "$@" 2>&1) || { echo "$counts_out"; return 1; }
	echo "$counts_out"
	[ "$(echo "$counts_out" | grep -cE -e "$counts_pattern")" -eq "$counts_want" ]
}

# Of all ports.  The links went down when the drivers were loaded.
errors_cleared()
{
	ibqueryerrors -k | grep "nodes checked"
}

# The check is only in this machine, the first or the second one; the other one skips the line
first_check() # name, command...
{
	if [ "$RANK" -eq 0 ]; then check "$@"; else skip "$1" "in the first machine"; fi
}

second_check() # name, command...
{
	if [ "$RANK" -eq 1 ]; then check "$@"; else skip "$1" "in the second machine"; fi
}

# opensm in this machine: the one that the lab started, or another one with these options, which is not waited for.  It stays when
# the script ends, so it has no descriptor of the script's: who reads that would wait for it.
manager_start() # options
{
	mkdir -p /run/opensm
	OSM_CACHE_DIR=/run/opensm OSM_TMP_DIR=/run/opensm setsid opensm -g "0x$(ib_guid)" -f "/mnt/lab/opensm/node$RANK" "$@" \
		< /dev/null > /run/opensm/out 2>&1 3>&- &
	echo $! > /run/opensm.pid
}

manager_kill() # signal
{
	read -r manager_pid < /run/opensm.pid && kill "-$1" "$manager_pid" && wait_for 20 over "$manager_pid"
}

manager_restart() # options
{
	manager_kill TERM && manager_start "$@" && wait_for 30 manager_is_master
}

manager_is_master()
{
	sminfo | grep SMINFO_MASTER
}

two_lids()
{
	[ "$(cat "$IB_PORT/lid_mask_count")" = 1 ] && grep -q ACTIVE "$IB_PORT/state"
}

# The LIDs are others, and IPoIB has found the other machine again.
peer_answers()
{
	ping -c 1 -W 2 "$OHCA_PEER" > /dev/null
}

# The subnet manager begins anew with LMC 1, in both machines' calls: all ports have two LIDs. Prints what does not work.
manager_two_lids()
{
	barrier two_lids
	[ "$RANK" -ne 0 ] || manager_restart -l 1 > /dev/null || { echo "opensm does not begin"; return 1; }
	wait_for 60 two_lids || { echo "the port does not get two LIDs"; return 1; }
	wait_for 60 peer_answers || { echo "the other machine does not answer"; return 1; }
	barrier two_lids.there
}

# The same with these partitions beside the default one
manager_with_partitions() # lines of the file
{
	printf '%s\n' 'Default=0x7fff, ipoib : ALL=full, ALL_SWITCHES=full, SELF=full;' "$@" > "$IB_PARTITIONS"
	manager_restart -P "$IB_PARTITIONS"
}

# The port has this P_Key.
has_key() # key
{
	grep -qx "$1" "$IB_PORT/pkeys"/*
}

has_no_key() # key
{
	! has_key "$1"
}

# The log of the first machine's manager
MANAGER_LOG=/mnt/lab/opensm/node0

manager_log_mark()
{
	manager_log_lines=$(wc -l < "$MANAGER_LOG")
}

# What it has logged since the mark
manager_log()
{
	tail -n +$((manager_log_lines + 1)) "$MANAGER_LOG"
}

manager_log_has_trap() # number
{
	manager_log | grep "num:$1 "
}

# diagnose DIR: what /usr/bin/ibdiagnet does, with its files in DIR; but it waits for answers for 100 ms only, which is not long on a
# busy host.
diagnose()
{
	TCLLIBPATH="none /usr/lib/x86_64-linux-gnu" ibis -o "$1" <<- 'IBIS'
		rename ibis_set_transaction_timeout set_timeout
		proc ibis_set_transaction_timeout {ms} { set_timeout 4000 }
		set argv0 ibdiagnet
		package require ibdiagnet
	IBIS
}
