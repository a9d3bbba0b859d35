#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All commands of Documentation/tutorial.rst in machines, as they are there, on the subnet of its last chapters.
# vms: 2
# link: ib
# kernels: newest - the kernel only passes the tools' datagrams on
# boot: topology
# topology: fat_tree.net
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
. "$DIR/lib_ib.sh"
. "$DIR/lib_document.sh"
# shellcheck source=/dev/null
. "$DIR/lib_tutorial.sh" # made of the document: see tutorial.awk
TREE="--vms 2 --link ib --topology selftests/ohca/fat_tree.net"

work=$(mktemp -d)

cleanup()
{
	rm -rf "$work" /mnt/share/lid[01] /mnt/share/tree.dot /mnt/share/tree.svg
	ip link del evening 2> /dev/null
	# As they were, if the last command did not end
	[ "$RANK" -ne 0 ] || { ohca-host ohcactl fault clear; ohca-host ohcactl node spine0 up; ohca-host ohcactl node spine1 up; }
}
trap cleanup EXIT

# The document's commands that are not checked here, or with options that boot other machines than these.  Those of ohca-topology are
# in selftests/topology.
no_other_commands()
{
	[ "${tutorial_commands:?}" -eq 10 ] || { echo "$tutorial_commands commands"; return 1; }
	echo "${tutorial_options:?}" | grep -vx -e "" -e "--vms 2 --link ib" -e "--vms 2 --link ib --sm none" -e "$TREE" && return 1
	echo "${tutorial_others:?}" | grep -v "^$\|^tools/topology/ohca-topology " && return 1
	return 0
}

# step NUMBER NAME PATTERN...: a command of the document, in both machines.  What it prints has a line for each pattern; 0:PATTERN
# and 1:PATTERN are for one of the machines.
step()
{
	step_number=$1 step_name=$2
	shift 2
	barrier "tutorial.$step_number"
	check "$step_name" step_prints "$@"
}

step_prints()
{
	(cd /mnt/share && "tutorial_$step_number") > "$work/out" 2>&1 || { cat "$work/out"; return 1; }
	cat "$work/out"
	has_lines "$work/out" "$@"
}

managers_end()
{
	for manager in $(pidof opensm); do
		kill "$manager" 2> /dev/null
		wait_for 20 over "$manager" || return 1
	done
}

# The machines are as with --sm none: links are trained, and nothing is configured.
without_manager()
{
	without_status=0
	[ "$RANK" -ne 0 ] || managers_end || without_status=1
	barrier tutorial.killed
	ohca-host ohcactl link "$OHCA_HCA" down && wait_for 20 grep -q DOWN "$IB_PORT/state" || return 1
	ohca-host ohcactl link "$OHCA_HCA" up && wait_for 20 grep -q INIT "$IB_PORT/state" || return 1
	return "$without_status"
}

first_manager_returns()
{
	managers_end && manager_start && wait_for 30 manager_is_master
}

# The manager of the document ends, and the lab's begins.
manager_returns()
{
	returns_status=0
	[ "$RANK" -ne 0 ] || first_manager_returns || returns_status=1
	barrier tutorial.returns
	wait_for 60 has_no_key 0x8001 && wait_for 60 peer_answers && return "$returns_status"
}

# All that has failed is back.
subnet_is_whole()
{
	counts 24 " Active/ +LinkUp" iblinkinfo
}

# One of the spines is down, the cable of a machine has the writes, and one has errors.
picture_drawn()
{
	cat /mnt/share/tree.dot
	grep -q "layout=dot" /mnt/share/tree.dot && grep -q '"spine[01]" \[label="spine[01].ndown"' /mnt/share/tree.dot &&
		grep -q '"leaf2" -- "node1" .* MB, ' /mnt/share/tree.dot &&
		grep -q '"leaf1" -- "idle1" .*="1: 22 errors".*, errors: 22"' /mnt/share/tree.dot || return 1
	# As the document says, if graphviz is here
	! command -v dot || { (cd /mnt/share && dot -Tsvg tree.dot > tree.svg) && grep -q "1: 22 errors" /mnt/share/tree.svg; }
}

kernel_log_mark
plan 18
check "no other commands are in the document" no_other_commands
step 1 "ibstat, ibv_devinfo" "State: Active" "Base lid: [1-9]" "link_layer:[[:space:]]+InfiniBand" "hca_id:[[:space:]]ohca_0"
step 2 "the subnet manager" "0:SMINFO_MASTER" "0:^NodeType:\.+Channel Adapter" "0:^NodeType:\.+Switch" "0:^Ca[[:space:]]"
check "no manager" without_manager
step 3 "a manager begins" "State: Initializing" "State: Active" "Base lid: [1-9]" "0:SUBNET UP"
check "the lab's manager" manager_returns
step 4 "the way of a packet" "0:^From ca" "0:^To ca" "0:switch port" "0:^Unicast lids" "0:^0x0*1 "
step 5 "a write" "PortXmitData" "1:BW average" "1: 65536 +1000 "
step 6 "IP over InfiniBand" "10\.77\.0\." " 0% packet loss" "lladdr (..:){19}.. " "0:MGID\.+ff12:401b"
step 7 "connections by IP addresses" "1:^ping data: rdma-ping-2"
check "no manager again" without_manager
step 8 "partitions" "0x8001" " 0% packet loss"
check "the lab's manager again" manager_returns
ip link del evening
step 9 "a fat tree" "0:^leaf0 +switch" "0:^node1 +hca" "0:\"spine[01]\""
step 10 "a switch fails" "1:BW average" "0:^the way is by spine[01]" "0: 0% packet loss" "0:\"spine[01]\"" "0: num:128 " "0:SymbolErrorCounter == 20"
first_check "the picture" picture_drawn
first_check "the subnet is whole" wait_for 60 subnet_is_whole
barrier tutorial.end
check "the kernel log is clean" kernel_log_clean
finish
