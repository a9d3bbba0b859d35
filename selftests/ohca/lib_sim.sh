# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A simulated subnet (ibsim), and whether tools show the same about it as about the real one.  A script sources this file after
# lib.sh and lib_ib.sh, and calls sim_end when it exits.

SIM=/run/sim # files of this test
SIM_UMAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so
# The most nodes, switches and ports
SIM_LIMITS="-N 2000 -S 1000 -P 20000"
sim=
sim_manager=

# The adapters describe themselves, and ibsim's nodes have no IDs.
DISCOVERED='/^#/d; /^vendid/d; /^devid/d; s/"\(node[01]\|OHCA\)"/ADAPTER/g'
COULD='s/(\( \|Could be .*\))$//; s/\(node[01]\|OHCA\)/ADAPTER/g'
NAMES="s/[\"']\\(node[01]\\|OHCA\\)[\"']/ADAPTER/g"

sim_need()
{
	command -v ibsim > /dev/null || skip_all "no ibsim"
	[ -e "$SIM_UMAD" ] || skip_all "no $SIM_UMAD"
	mkdir -p "$SIM"
	# sed's commands that give the same word to what the subnets have different names for
	: > "$SIM/words"
}

sim_end()
{
	for process in $sim_manager $sim; do
		kill -KILL "$process"
	done
	rm -rf "$SIM"
} > /dev/null 2>&1

# sim_run NET NODE: simulates the subnet of that net file; this machine is at that node of it.
sim_run()
{
	sim_node=$2
	mkdir "$SIM/opensm" && mkfifo "$SIM/console" || return 1
	# shellcheck disable=SC2086 # words
	ibsim -s $SIM_LIMITS "$1" < "$SIM/console" > "$SIM/log" 2>&1 &
	sim=$!
	exec 8> "$SIM/console"
	wait_for 240 grep -q "simulator ready" "$SIM/log" || { tail "$SIM/log"; return 1; }
}

# A program that sees the simulated subnet
simulated() # command...
{
	SIM_HOST=$sim_node LD_PRELOAD=$SIM_UMAD OSM_CACHE_DIR=$SIM/opensm OSM_TMP_DIR=$SIM/opensm "$@"
}

# Its manager; the subnet is up when the port of peer_lid is.
sim_manage() # options of opensm
{
	# No function: the process that gets signals is the manager.
	SIM_HOST=$sim_node LD_PRELOAD=$SIM_UMAD OSM_CACHE_DIR=$SIM/opensm OSM_TMP_DIR=$SIM/opensm \
		opensm -f "$SIM/opensm/log" "$@" > "$SIM/opensm/out" 2>&1 &
	sim_manager=$!
	wait_for 120 sim_is_up
}

sim_is_up()
{
	simulated smpquery portinfo "$peer_lid" 1 | grep "^LinkState:.*Active"
}

# The simulator counts packets that it discards when it is late.
simulated_errors_cleared()
{
	simulated ibqueryerrors -k | grep "nodes checked"
}

# What a program prints about the simulated subnet is in $SIM/theirs.  The simulator is late if it gets no processor; then the
# program asks again.
simulated_prints() # command...
{
	for _ in 1 2 3 4 5; do
		simulated "$@" > "$SIM/theirs" 2>&1
		try_status=$?
		grep -q "timed out" "$SIM/theirs" || break
	done
	return "$try_status"
}

# same FILTER COMMAND...: it prints the same about both, but for what the filter, of sed, makes the same.
same()
{
	same_filter=$1
	shift
	"$@" > "$SIM/ours" 2>&1 || { cat "$SIM/ours"; return 1; }
	simulated_prints "$@" || { cat "$SIM/theirs"; return 1; }
	sed -f "$SIM/words" -e "$same_filter" "$SIM/ours" > "$SIM/ours.lines"
	sed -f "$SIM/words" -e "$same_filter" "$SIM/theirs" > "$SIM/theirs.lines"
	[ -s "$SIM/ours.lines" ] && diff -u "$SIM/theirs.lines" "$SIM/ours.lines"
}

same_check() # filter, command
{
	same_not=$1
	shift
	first_check "the same: $*" same "$same_not" "$@"
}
