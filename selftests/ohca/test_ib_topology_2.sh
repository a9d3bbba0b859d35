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
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_sim.sh"
NET=/mnt/lab/topology
NODES=11 # of the file, HCAs' ports, and ports of switches with a cable
LINKS=12
SIZE=65536
WRITES=200

cleanup()
{
	pair_cleanup
	sim_end
}
trap cleanup EXIT

# The adapters describe themselves, and ibsim's nodes have no IDs.
DISCOVERED='/^#/d; /^vendid/d; /^devid/d; s/"\(node[01]\|OHCA\)"/ADAPTER/g'
COULD='s/(\( \|Could be .*\))$//; s/\(node[01]\|OHCA\)/ADAPTER/g'
NAMES="s/[\"']\\(node[01]\\|OHCA\\)[\"']/ADAPTER/g"
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

errors_cleared()
{
	ibqueryerrors -k | grep "nodes checked"
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

# Payload that left by each of them: units of 4 bytes
hops_sent()
{
	while read -r hop_lid hop_port; do
		perfquery -x "$hop_lid" "$hop_port" | ib_field PortXmitData
	done < "$SIM/hops"
}

hops_before()
{
	hops > "$SIM/hops" && hops_sent > "$SIM/before" || return 1
	cat "$SIM/hops" "$SIM/before"
	[ "$(wc -l < "$SIM/hops")" -eq 4 ] && [ "$(grep -c . "$SIM/before")" -eq 4 ]
}

# Each hop has counted all writes, and not much more: what is for the tools themselves.
hops_counted()
{
	hops_sent > "$SIM/after" || return 1
	hops_data=$((SIZE * WRITES / 4))
	paste "$SIM/before" "$SIM/after" | while read -r before after; do
		echo "$((after - before)) of $hops_data"
		[ "$((after - before))" -ge "$hops_data" ] && [ "$((after - before))" -le "$((hops_data + hops_data / 20))" ] || exit 1
	done
}

# The first machine is the client, and writes.
writes()
{
	run_pair "qp_ready RC" "ib_write_bw -d $DEV -s $SIZE -n $WRITES" "ib_write_bw -d $DEV -s $SIZE -n $WRITES $OHCA_PEER"
}

# Without a spine, all goes by the other one.
spine_down()
{
	ohca-host ohcactl node spine0 down && wait_for 60 by_spine1
}

by_spine1()
{
	ibtracert "$lid" "$peer_lid" | grep '"spine1"' && counts 18 " Active/ +LinkUp" iblinkinfo
}

spine_up()
{
	ohca-host ohcactl node spine0 up && wait_for 60 all_active
}

kernel_log_mark
ib_meet
sim_need
pair_server_rank=1
plan 20
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
same_check "$SUMMARY" ibqueryerrors -s "$ALONE"
first_check "counters of each hop" hops_before
barrier topology.write
check "ib_write_bw through three switches" writes
first_check "each hop has counted it" hops_counted
barrier topology.counted
check "ping" ping -c 3 -i 0.2 "$OHCA_PEER"
first_check "no node has errors" says "Summary: $NODES nodes checked, 0 bad nodes found" -- ibqueryerrors -s "$ALONE"
first_check "a spine goes down" spine_down
barrier topology.down
check "ping by the other one" ping -c 3 -i 0.2 "$OHCA_PEER"
barrier topology.pinged
first_check "it comes back" spine_up
barrier topology.end
check "the kernel log is clean" kernel_log_clean
finish
