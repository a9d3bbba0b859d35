#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The subnet beside a simulated one (ibsim) with the same topology: opensm and infiniband-diags show the same on both.  And what
# else looks at a whole subnet: ibdiagnet, osmtest, and ibacm, which resolves addresses in it.
# vms: 2
# link: ib
# kernels: newest - the kernel only passes the tools' datagrams on
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
for tool in ibdiagnet osmtest ibacm; do
	command -v "$tool" > /dev/null || skip_all "no $tool"
done
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_sim.sh"
acm=

cleanup()
{
	pair_cleanup
	[ -z "$acm" ] || kill -KILL "$acm"
	sim_end
} > /dev/null 2>&1
trap cleanup EXIT

# The simulated subnet has what ibnetdiscover found in the real one.  ibsim numbers ports on from the GUID of their node, so
# nodes have other GUIDs there.  $SIM/guids: lines of a GUID, a word for it, and that of ibsim.
sim_guids()
{
	sed -n 's/^switchguid=0x\([0-9a-f]*\)(.*/\1 SWITCH a0000/p' "$SIM/real"
	sim_number=0
	sed -n 's/^caguid=0x//p' "$SIM/real" | sort | while read -r sim_node; do
		echo "$sim_node NODE$sim_number b${sim_number}000"
		sed -n "s/.*\"H-$sim_node\"\\[1\\](\\([0-9a-f]*\\)).*/\\1 PORT$sim_number b${sim_number}001/p" "$SIM/real"
		sim_number=$((sim_number + 1))
	done
}

# sed's commands for GUIDs: to make ibsim's of them, and words of both, as tools print them
sim_words()
{
	while read -r guid word number; do
		echo "s/$guid/00000000000$number/g" >> "$SIM/renumber"
		echo "s/\\(0x\\)*$guid/$word/g; s/\\(0x\\)*00000000000$number/$word/g; s/0x$number/$word/g; s/($number)/($word)/g"
	done < "$SIM/guids" > "$SIM/words"
}

sim_start()
{
	ibnetdiscover > "$SIM/real" && sim_guids > "$SIM/guids" || return 1
	[ "$(wc -l < "$SIM/guids")" -eq 5 ] || { cat "$SIM/real" "$SIM/guids"; return 1; }
	sim_words && sed -f "$SIM/renumber" "$SIM/real" > "$SIM/net" || return 1
	# From the node that is this machine's in the real one
	sim_run "$SIM/net" H-00000000000b0000
}

# What is not the same, as sed's commands
EQUAL=
COMMENTS='/^#/d'                        # the time
VALUES='/^#/d; s/:\.*[0-9]*$//'         # counters, and the version of their agent
COULD='s/(\( \|Could be .*\))$//'       # ibsim's ports could be wider and faster
ACTIVITY='s/activity count [0-9]*//'
NODE='/^PartCap\|^Revision/d'           # ibsim's nodes have tables of another size
RECORD='/partition_cap\|revision/d'     # likewise
MTU='/dgid\.\|sgid\.\|mtu\.*0x8[45]/d'  # 2048 bytes there, 4096 here, and GIDs of other GUIDs
CAPS='/capability_mask/d'
# An adapter has other capabilities, a larger MTU and other widths: 2X is one of them.  ibsim does not keep all that opensm sets.
PORT="/^[[:space:]]/d; /^CapMask\|^CapabilityMask2\|Supported:\|MTU:\|MtuCap:\|^MkeyLease\|^VLStall\|^SubnetTim/d"
PORT="$PORT; /^LinkWidthEnabled\|^RespTime\|^LocalPhysErr\|^OverrunErr\|^LocalPort/d"
# Earlier tests have made violations of keys.
PORT="$PORT; /^[MPQ]keyViolations/d"
# The switch enforces partitions, and has a larger multicast table.
SWITCH_PORT="$PORT; /^PartEnforce/d"
# Packets to unknown LIDs are dropped; there are no filters in the switch.
SWITCH='/^Def\|^PartEnforceCap\|^Filter\|^McastFdbCap\|^InboundPartEnf\|^OutboundPartEnf/d'

# Some are enough to see that the subnets are alike.
more_check() # filter, command
{
	more_not=$1
	shift
	first_long_check "the same: $*" same "$more_not" "$@"
}

first_long_check() # name, command...: in the first machine
{
	if [ "${OHCA_LONG:-}" = 1 ]; then first_check "$@"; else skip "$1" "in the long form"; fi
}

diagnosed()
{
	diagnose "$SIM/ibdiagnet" > "$SIM/diagnosis" 2>&1
	says "No bad Guids were found" "Hosts:2 full:2 limited:0" "No bad link were found" "Link State Active Check +0 +0" \
		"Performance Counters Report +0" -- cat "$SIM/diagnosis"
}

osm() # flow
{
	says 'TEST ".*" PASS' -- osmtest -f "$1" -i "$SIM/inventory" -l "$SIM/osmtest"
}

acm_start()
{
	ibacm -P > "$SIM/acm" 2>&1 &
	acm=$!
	wait_for 30 acm_serves
}

acm_serves()
{
	ib_acme -e | grep -q "$(my_ip 4)"
}

# By the first machine's ibacm, which answers by multicast, and by the administrator
acm_resolves()
{
	says "dlid: $peer_lid\$" "slid: $lid\$" "SA verification: success" -- ib_acme -f i -s "$(my_ip 4)" -d "$OHCA_PEER" -v
}

acm_knows()
{
	says "dlid: $peer_lid\$" -- ib_acme -f i -s "$(my_ip 4)" -d "$OHCA_PEER" -c
}

# Requests for paths that it has answered
acm_resolved()
{
	ib_acme -P | sed -n 's|^/[^,]*,[0-9]*,\([0-9]*\),.*|\1|p'
}

# librdmacm, or the kernel, asks it for paths.
acm_helps()
{
	acm_before=$(acm_resolved) && echoes 4 || return 1
	echo "resolved: $acm_before before, $(acm_resolved) after"
	[ "$RANK" -eq 0 ] || [ "$(acm_resolved)" -gt "$acm_before" ]
}

kernel_log_mark
ib_meet
sim_need
plan 32
first_check "simulated subnet" sim_start
first_check "its manager" sim_manage
same_check "$COMMENTS" ibnetdiscover
same_check "$COULD" iblinkinfo
same_check "$ACTIVITY" sminfo
same_check "$NODE" smpquery -D nodeinfo 0,1
same_check "$PORT" smpquery portinfo "$peer_lid" 1
same_check "$EQUAL" ibroute "$switch_lid"
same_check "$EQUAL" ibtracert "$lid" "$peer_lid"
same_check "$MTU" saquery --src-to-dst "$lid:$peer_lid"
same_check "$VALUES" perfquery "$peer_lid" 1
more_check "$EQUAL" ibhosts
more_check "$EQUAL" ibswitches
more_check "$NODE" smpquery nodeinfo "$peer_lid"
more_check "$NODE" smpquery -D nodeinfo 0,1,2
more_check "$EQUAL" smpquery nodedesc "$switch_lid"
more_check "$SWITCH_PORT" smpquery portinfo "$switch_lid" 1
more_check "$SWITCH" smpquery switchinfo "$switch_lid"
more_check "$EQUAL" smpquery GUIDInfo "$peer_lid"
more_check "$RECORD" saquery "$peer_lid"
more_check "$CAPS" saquery -s
more_check "$VALUES" perfquery "$switch_lid" 1
more_check "$VALUES" perfquery -x "$peer_lid" 1
first_long_check "ibdiagnet" diagnosed
first_check "osmtest: inventory" osm c
first_check "osmtest: it is valid" osm v
first_long_check "osmtest: all flows" osm a
check "ibacm" acm_start
barrier tools.acm
second_check "ibacm resolves an address" acm_resolves
second_check "ibacm knows it" acm_knows
check "ibacm has paths for rping" acm_helps
barrier tools.end
check "the kernel log is clean" kernel_log_clean
finish
