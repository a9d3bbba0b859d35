#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Several paths in a subnet of two spines: opensm gives each port four LIDs (LMC 2), which lead by both spines.  Programs choose
# paths, and counters show which spine carried them.  Then a spine is switched off under
# traffic, and in the long form a cable pulled out.
# vms: 2
# link: ib
# kernels: newest - the subject is the adapter and its switches
# boot: own
# topology: fat_tree.net
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ibtracert > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_recover.sh"
LINKS=12
LMC=2 # LIDs of each port: 4
PATHS="0 1 2 3"
PATH_DATA=$((64 * 16384 / 4)) # by each path: units of 4 bytes
ROUTES=/mnt/share/routes # .RANK: the spine of each path

cleanup()
{
	pair_cleanup
	if [ "$RANK" -eq 0 ]; then
		kill -CONT "$(cat /run/opensm.pid)"
		ohcactl node spine0 up
		ohcactl node spine1 up
	fi
} > /dev/null 2>&1
trap cleanup EXIT

all_active()
{
	counts "$((2 * LINKS))" " Active/ +LinkUp" iblinkinfo
}

four_lids()
{
	[ "$(cat "$IB_PORT/lid_mask_count")" = "$LMC" ] && port_is PORT_ACTIVE
}

manager_four_lids()
{
	manager_restart -l "$LMC"
}

# The spine that this machine's path with this number passes, by the tables
spine_of() # path
{
	ibtracert "$lid" "$((peer_lid + $1))" | sed -n 's/.*"\(spine[01]\)"$/\1/p' | head -n 1
}

routes()
{
	for path in $PATHS; do echo "$path $(spine_of "$path")"; done > "$ROUTES.$RANK"
	cat "$ROUTES.$RANK"
	grep -q spine0 "$ROUTES.$RANK" && grep -q spine1 "$ROUTES.$RANK"
}

# What has left this machine's switch to each spine, by its ports 7 and 8, in units of 4 bytes
to_spines()
{
	leaf=$(smpquery -D portinfo 0,1 0 | ib_field Lid) || return 1
	for port in 7 8; do perfquery -x "$leaf" "$port" | ib_field PortXmitData; done > "$1"
	[ "$(grep -c . "$1")" -eq 2 ]
}

# Each spine got as much as its paths carry, and not much more: what is for the tools themselves.
spines_counted()
{
	to_spines /run/after || return 1
	for spine in spine0 spine1; do echo $(($(grep -c "$spine" "$ROUTES.0") * PATH_DATA)); done > /run/expected
	paste /run/before /run/after /run/expected | while read -r before after expected; do
		echo "$((after - before)) of $expected"
		[ "$((after - before))" -ge "$expected" ] && [ "$((after - before))" -le "$((expected + PATH_DATA / 4))" ] || exit 1
	done
}

# Sets $failed to the spine of the first machine's path 0, and $alternates to LIDs of each machine to which no path passes it.
choose_alternates()
{
	cat "$ROUTES".*
	failed=$(sed -n 's/^0 //p' "$ROUTES.0")
	alternates="$(grep -v " $failed\$" "$ROUTES.1" | head -c 1) $(grep -v " $failed\$" "$ROUTES.0" | head -c 1)"
	echo "without $failed: $alternates"
	[ "${#alternates}" -eq 3 ]
}

# The manager does not look at the subnet before it has to.
fails() # arguments of ohcactl
{
	# shellcheck disable=SC2086 # words
	"$DIR/paths" -2 fail $alternates "kill -STOP \$(cat /run/opensm.pid) && ohca-host ohcactl $* down" \
		"kill -CONT \$(cat /run/opensm.pid)"
}

by_other_spine()
{
	[ "$(spine_of 0)" != "$failed" ] && [ -n "$(spine_of 0)" ]
}

comes_back() # arguments of ohcactl
{
	ohcactl "$@" up && wait_for 60 all_active
}

# The spine of path 0, or the cable of the first machine's switch to it
what_fails() # node or cable
{
	if [ "$1" = node ]; then echo "node $failed"; else echo "cable leaf0 $((7 + ${failed#spine}))"; fi
}

# Seven lines
round() # name, node or cable
{
	check "$1: paths by the other spine" choose_alternates
	manager_log_mark
	barrier paths.chosen
	# shellcheck disable=SC2046 # words
	check "$1: connections" fails $(what_fails "$2")
	check "$1: paths lead by the other one" wait_for 60 by_other_spine
	first_check "$1: the manager got trap 128" wait_for 30 manager_log_has_trap 128
	barrier paths.rerouted
	# shellcheck disable=SC2046 # words
	first_check "$1: it is back" comes_back $(what_fails "$2")
	barrier paths.back
	check "$1: paths lead by both spines" routes
	barrier paths.routes
	check "$1: ping" wait_for 60 peer_answers
}

ROUNDS=$(long 2 1)
kernel_log_mark
ib_meet
plan $((12 + 7 * ROUNDS))
first_check "opensm with LMC $LMC" manager_four_lids
check "the port has four LIDs" wait_for 60 four_lids
lid=$(ib_lid)
echo "$lid" > "$IB_SHARE/lmc.$RANK"
barrier paths.lids
peer_lid=$(cat "$IB_SHARE/lmc.$((RANK ^ 1))")
first_check "every port is active" wait_for 60 all_active
check "their paths lead by both spines" routes
check "the other machine answers" wait_for 60 peer_answers
check "rping" echoes 4
check "programs with rdma_cm choose paths" "$DIR/cm_paths" -2
first_check "counters" to_spines /run/before
barrier paths.routes
check "each path carries data" "$DIR/paths" -2 all
first_check "each spine has counted its paths" spines_counted
round "a spine off" node
[ "$ROUNDS" -eq 1 ] || round "a cable out" cable
check "nothing is left" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
