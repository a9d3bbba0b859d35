#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A subnet of many switches, of a net file: opensm brings it up, tools show the same as about ibsim's subnet of the same file,
# and what is sent is counted at each hop of the way.
# vms: 2
# link: ib
# kernels: newest - the kernel only passes the tools' datagrams on
# boot: topology
# topology: fat_tree.net
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
. "$DIR/lib_faults.sh"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_recover.sh"
. "$DIR/lib_sim.sh"
NET=/mnt/lab/topology
NODES=11 # of the file, HCAs' ports, and ports of switches with a cable
LINKS=12
SIZE=65536
WRITES=800 # much more than management: when the manager writes all multicast tables, 3200 packets of 288 bytes
NUM_GROUPS=$(long 400 40)

cleanup()
{
	pair_cleanup
	sim_end
	[ "$RANK" -ne 0 ] || fault clear > /dev/null
}
trap cleanup EXIT

SUMMARY='/Summary/!d'
# A multicast packet for a group that has no other member is discarded, and counted there.
ALONE=PortRcvSwitchRelayErrors

all_active()
{
	counts "$((2 * LINKS))" " Active/ +LinkUp" iblinkinfo
}

# Each HCA's port, and each port of a switch with a cable
topology_shown()
{
	says "^leaf0 +switch +0x0000000000a00000 .* 4  up" "^idle3 +hca .* 1  up +-" "^node1 .* up +hca1" -- \
		ohca-host ohcactl show topology && counts "$LINKS" " Active +EDR +4" ohca-host ohcactl show cables
}

# The ports by which packets leave for the other machine, lines "LID PORT", as ibtracert prints them
hops()
{
	ibtracert "$lid" "$peer_lid" > "$SIM/trace" || { cat "$SIM/trace"; return 1; }
	sed -n 's/^From ca .* portnum \([0-9]*\) lid \([0-9]*\)-.*/\2 \1/p' "$SIM/trace"
	ibroutes=$(sed -n 's/^\[[0-9]*\] -> switch port {[0-9a-fx]*}\[[0-9]*\] lid \([0-9]*\)-.*/\1/p' "$SIM/trace")
	for hop in $ibroutes; do
		echo "$hop $(ibroute "$hop" "$peer_lid" "$peer_lid" | sed -n 's/^0x[0-9a-f]* 0*\([0-9]\{1,3\}\) .*/\1/p')"
	done
}

# Payload that has passed each port of all switches and the port of this machine, lines "LID PORT SENT RECEIVED": units of 4 bytes
all_passed()
{
	{
		echo "$lid"
		ibswitches | sed -n 's/.* ports \([0-9]*\) .* lid \([0-9]*\) .*/\2 \1/p'
	} | while read -r all_lid all_ports; do
		perfquery -x "$all_lid" "1${all_ports:+-$all_ports}" | awk -F: -v lid="$all_lid" '
			{ gsub(/\./, "", $2) }
			$1 == "PortSelect" { port = $2 }
			$1 == "PortXmitData" { sent = $2 }
			$1 == "PortRcvData" { print lid, port, sent, $2 }' || exit 1
	done
}

hops_before()
{
	hops > "$SIM/hops" && all_passed > "$SIM/before" || return 1
	cat "$SIM/hops" "$SIM/before"
	[ "$(wc -l < "$SIM/hops")" -eq 4 ] && [ "$(grep -c . "$SIM/before")" -eq $((1 + 3 * 8 + 2 * 4)) ]
}

# Each port by which ibtracert says that they leave has sent all writes, as many ports of switches have received them, and no
# other port has sent or received any.  Not much more has passed: what is for the tools themselves, and what the manager sends
# if it writes all multicast tables meanwhile.
hops_counted()
{
	all_passed > "$SIM/after" || return 1
	awk -v data=$((SIZE * WRITES / 4)) '
		function passed(words) {
			return words >= data && words <= data + data / 20
		}
		FILENAME ~ /hops$/ { hop[$1, $2] = 1; next }
		FILENAME ~ /before$/ { sent[$1, $2] = $3; got[$1, $2] = $4; next }
		{
			out = $3 - sent[$1, $2]
			in_ = $4 - got[$1, $2]
			if (out > data / 20 || in_ > data / 20)
				print "LID " $1 " port " $2 ": sent " out ", received " in_ " of " data
			bad += ($1, $2) in hop ? !passed(out) : out > data / 20
			bad += in_ > data / 20 && !passed(in_)
			received += passed(in_)
		}
		END { exit bad || received != 3 }' "$SIM/hops" "$SIM/before" "$SIM/after"
}

# The first machine is the client, and writes.
writes()
{
	run_pair "qp_ready RC" "ib_write_bw -d $DEV -F -s $SIZE -n $WRITES" "ib_write_bw -d $DEV -F -s $SIZE -n $WRITES $OHCA_PEER"
}

# The second machine joins groups, and gets a datagram of each.
groups()
{
	run_pair true "$DIR/groups take $OHCA_IP $NUM_GROUPS" "$DIR/groups give $OHCA_IP $NUM_GROUPS"
}

# Without a spine, all goes by the other one.  The manager does not get the switches' traps: its light sweep finds what has
# changed.
spine_down()
{
	manager_log_mark
	fault add "drop,hca=$OHCA_HCA,dir=rx,class=sm,method=trap" && fault add node-down,node=spine0 &&
		wait_for 180 by_spine1 && traps_lost
}

traps_lost()
{
	fault show
	ohcactl -j fault show | grep -q '"rule":"drop,[^}]*"hits":[1-9]' && ! manager_log_has_trap 128
}

by_spine1()
{
	ibtracert "$lid" "$peer_lid" | grep '"spine1"' && counts 18 " Active/ +LinkUp" iblinkinfo
}

# The ports of a loop from leaf to spine to the next leaf, and back to the first one, lines "LID PORT"
loop_ports()
{
	for at in leaf0:7 spine0:2 leaf1:8 spine1:1; do
		echo "$(ibswitches | sed -n "s/.*\"${at%:*}\".* lid \([0-9]*\) .*/\1/p") ${at#*:}"
	done
}

# Packets that each of them could not forward, has discarded, and has sent
loop_counts()
{
	while read -r at port; do
		perfquery "$at" "$port" | sed -n 's/^\(PortRcvSwitchRelayErrors\|PortXmitDiscards\|PortXmitPkts\):\.*//p'
	done < "$SIM/loop" | paste - - -
}

# The same, of a moment at which no request has ended in the loop: a manager's sweep may be under way.
loop_counts_to() # file
{
	loop_counts > "$1" && loop_counts > "$1.again" && [ "$(cut -f 2 "$1")" = "$(cut -f 2 "$1.again")" ]
}

loop_made()
{
	loop_ports > "$SIM/loop"
	cat "$SIM/loop"
	while read -r at port; do
		"$DIR/smp_linear" "$at" "$peer_lid" "$port" || return 1
	done < "$SIM/loop"
	wait_for 60 loop_counts_to "$SIM/before"
}

# Requests to the other machine end in the loop: each after 64 cables, which the first port counts once, and no other one. Other
# packets are those of the tools, and of a sweep that may be under way.
loop_ends()
{
	! smpquery -t 50 nodeinfo "$peer_lid" && ! perfquery -t 50 "$peer_lid" 1 || return 1
	wait_for 60 loop_counts_to "$SIM/after" || return 1
	paste "$SIM/before" "$SIM/after" | awk '
		{ relay += $4 - $1; lost[NR] = $5 - $2; sent += $6 - $3 }
		END {
			print "sent " sent ", relay errors " relay ", discarded " lost[1], lost[2], lost[3], lost[4]
			tools = sent - 64 * lost[1]
			exit lost[1] < 2 || lost[2] + lost[3] + lost[4] + relay || tools < 0 || tools >= 1000
		}'
}

loop_repaired()
{
	manager_restart && wait_for 60 smpquery nodeinfo "$peer_lid" && ibtracert "$lid" "$peer_lid"
}

spine_up()
{
	fault clear && ohca-host ohcactl node spine0 up && wait_for 60 all_active
}

errors_same_since_cleared()
{
	errors_cleared && simulated_errors_cleared && same "$SUMMARY" ibqueryerrors -s "$ALONE"
}

# While opensm changes the trees of groups that machines have just joined, a datagram may come to a switch twice, and is
# discarded.
errors_same()
{
	wait_for 180 errors_same_since_cleared || errors_same_since_cleared
}

kernel_log_mark
ib_meet
sim_need
pair_server_rank=1
plan 25
first_check "every port is active" all_active
first_check "ohcactl shows the topology" topology_shown
first_check "simulated subnet" sim_run "$NET" node0
first_check "its manager" sim_manage
same_check "$DISCOVERED" ibnetdiscover
same_check "$COULD" iblinkinfo
same_check "$NAMES" ibroute 2
same_check "$NAMES" ibroute 5
same_check "$NAMES" ibtracert "$lid" "$peer_lid"
first_check "counters are cleared" errors_cleared
first_check "the same: ibqueryerrors" errors_same
first_check "counters of each hop" hops_before
barrier topology.write
check "ib_write_bw through three switches" writes
first_check "each hop has counted it" hops_counted
barrier topology.counted
check "ping" reached_ping -c 3 -i 0.2 "$OHCA_PEER"
first_check "no node has errors" says "Summary: $NODES nodes checked, 0 bad nodes found" -- ibqueryerrors -s "$ALONE"
check "$NUM_GROUPS multicast groups" groups
first_check "a spine fails, and traps are lost" spine_down
barrier topology.down
check "ping by the other one" reached_ping -c 3 -i 0.2 "$OHCA_PEER"
barrier topology.pinged
first_check "it comes back" spine_up
first_check "tables with a loop" loop_made
first_check "packets end there, and are counted once" loop_ends
first_check "a sweep repairs it" loop_repaired
barrier topology.repaired
check "ping again" wait_for 60 ping -c 1 -W 2 "$OHCA_PEER"
barrier topology.end
check "the kernel log is clean" kernel_log_clean
finish
