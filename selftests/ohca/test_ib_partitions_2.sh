#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Partitions with full and limited members: who reaches whom, by which service, and who counts what is refused; paths that the
# subnet administrator reports; and two tenants with an IPoIB interface each, who do not reach each other.  The members are the
# second adapters; the subnet manager is at a first one, and only it is a full member of the default partition.
# vms: 2
# hcas: 2
# link: ib
# kernels: newest - the adapter and the switch check keys
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_hcas 2
need_ib
. "$DIR/lib_ib.sh"
FIRST_IF=$(echo "$OHCA_NETDEVS" | cut -d' ' -f1)
ND=$(echo "$OHCA_NETDEVS" | cut -d' ' -f2)
MEMBER=$(hca 1)
GROUPS_FILE=/mnt/share/groups # .RANK
TENANT_A=8021 # both second adapters
TENANT_B=8022 # the first machine's second adapter and the second machine's first one
children=

cleanup()
{
	for child in $children; do
		child_delete "$child"
	done
	ohca-host ohcactl fault clear
	rm -f "$IB_PARTITIONS"
} > /dev/null 2>&1
trap cleanup EXIT

# Those of partitions.c, and the tenants'
partitions()
{
	{
		echo 'Default=0x7fff, ipoib : ALL=limited, ALL_SWITCHES=full, SELF=full;'
		pair 11 full full
		pair 12 full limited
		pair 13 full
		pair 14 limited full
		pair 15 limited limited
		pair 16 limited
		pair 17 "" full
		pair 18 "" limited
		pair "${TENANT_A#80}" full full
		echo "b=0x${TENANT_B#80}, ipoib : 0x$guid0=full, 0x$first_guid1=full;"
	} > "$IB_PARTITIONS"
	cat "$IB_PARTITIONS"
	manager_restart -P "$IB_PARTITIONS"
}

# The partition has that member in the first machine and that one in the second machine.
pair() # key, kind, kind
{
	echo "p$1=0x$1, ipoib : ${2:+0x$guid0=$2${3:+, }}${3:+0x$guid1=$3};"
}

# This machine's member has this P_Key.
kind_is() # key
{
	grep -qix "0x$1" "/sys/class/infiniband/$MEMBER/ports/1/pkeys"/*
}

has_keys()
{
	if [ "$RANK" -eq 0 ]; then
		for key in 8011 8012 8013 0014 0015 0016 7fff "$TENANT_A" "$TENANT_B"; do kind_is "$key" || return 1; done
	else
		for key in 8011 0012 8014 0015 8017 0018 7fff "$TENANT_A"; do kind_is "$key" || return 1; done
	fi
	! kind_is "801$((7 - RANK * 4))" && ! kind_is ffff
}

# An IPoIB interface on $1 in this partition, which is up when it has joined the partition's broadcast group
child() # interface, P_Key
{
	echo "0x$2" > "/sys/class/net/$1/create_child" && children="$children $1.$2" && ip link set "$1.$2" up
}

child_is_up() # interface
{
	[ "$(cat "/sys/class/net/$1/operstate")" = up ]
}

child_delete() # interface
{
	echo "0x${1##*.}" > "/sys/class/net/${1%.*}/delete_child"
}

members_join()
{
	if [ "$RANK" -eq 0 ]; then set -- 8011 8012 8013 8014 8015 8016; else set -- 8011 8012 8014 8015 8017 8018; fi
	for key; do child "$ND" "$key" || return 1; done
	for key; do wait_for 30 child_is_up "$ND.$key" || { echo "$ND.$key has not joined"; return 1; }; done
}

# P_Key and MLID of the broadcast groups that this machine's member may know of, all six of them
groups()
{
	saquery -C "$MEMBER" -g > /run/groups || return 1
	awk -F '[.]+' '/MGID/ { key = ""; if ($2 ~ /^ff12:401b:80[0-9a-f]+::ffff:ffff/) { split($2, gid, ":"); key = gid[3] } }
		/Mlid/ && key != "" { print key, $2 }' /run/groups > "$GROUPS_FILE.$RANK"
	cat "$GROUPS_FILE.$RANK" /run/groups
	[ "$(grep -c "^801[1-8] " "$GROUPS_FILE.$RANK")" -eq 6 ]
}

publish_port()
{
	switch_port=$(smpquery -C "$MEMBER" nodeinfo -D 0,1 | ib_field LocalPort) && echo "$switch_port" > "$IB_SHARE/member.$RANK" &&
		[ -n "$switch_port" ]
}

switch_counts() # counter, machine
{
	perfquery "$switch_lid" "$(cat "$IB_SHARE/member.$2")" | ib_field "$1"
}

# What the switch does not let out: where only one side is a member, 2 requests of a connection, one more than once, of RC and XRC,
# and one of UC, UD and management, of 2 partitions each way; and one more to the second machine before a packet is forged
NOT_OUT="14 15"

matrix()
{
	cat "$GROUPS_FILE"* > /run/groups
	OHCA_IBDEV=$MEMBER OHCA_HCA=$OHCA_HCA.1 "$DIR/partitions" -2 /run/groups > /run/matrix
	matrix_status=$?
	cat /run/groups /run/matrix
	grep -q "^1\.\.46$" /run/matrix && [ "$(grep -c "^ok" /run/matrix)" -eq 46 ] && return "$matrix_status"
}

counts_before()
{
	manager_log_mark
	out0=$(switch_counts PortXmitConstraintErrors 0) out1=$(switch_counts PortXmitConstraintErrors 1)
	in0=$(switch_counts PortRcvConstraintErrors 0) in1=$(switch_counts PortRcvConstraintErrors 1)
	[ -n "$out0" ] && [ -n "$out1" ] && [ -n "$in0" ] && [ -n "$in1" ]
}

counts_after()
{
	out0=$(($(switch_counts PortXmitConstraintErrors 0) - out0)) out1=$(($(switch_counts PortXmitConstraintErrors 1) - out1))
	in0=$(($(switch_counts PortRcvConstraintErrors 0) - in0)) in1=$(($(switch_counts PortRcvConstraintErrors 1) - in1))
	echo "not let out: $out0 and $out1, not let in: $in0 and $in1"
	[ "$out0 $out1 $in0 $in1" = "$NOT_OUT 0 1" ]
}

# The path from this machine's member to the other's, in that partition
path() # P_Key
{
	saquery -C "$MEMBER" --slid "$my_lid" --dlid "$their_lid" --pkey "0x$1" PR
}

paths_are()
{
	for key in 8011 8012 8014; do
		path "$key" > /run/path
		grep -qi "pkey\.*0x0*${key#80}\$\|pkey\.*0x$key\$" /run/path || { echo "no path: $key"; cat /run/path; return 1; }
	done
	for key in 8013 8015 8016 8017 8018 7fff; do
		! { path "$key" > /run/path 2>&1 && grep -q "pkey" /run/path; } || { echo "a path: $key"; cat /run/path; return 1; }
	done
}

# Tenants: A has 10.91.0.1 and .2, B 10.92.0.1 and .2, in the first and the second machine
tenants()
{
	child "$ND" "$TENANT_A" && ip addr add "10.91.0.$((RANK + 1))/24" dev "$ND.$TENANT_A" || return 1
	if [ "$RANK" -eq 0 ]; then tenant_b=$ND.$TENANT_B; else tenant_b=$FIRST_IF.$TENANT_B; fi
	child "${tenant_b%.*}" "$TENANT_B" && ip addr add "10.92.0.$((RANK + 1))/24" dev "$tenant_b" &&
		wait_for 30 child_is_up "$ND.$TENANT_A" && wait_for 30 child_is_up "$tenant_b"
}

# The kernel drops what waits for a path record if it has no answer after a second, as on a busy host.
tenant_reaches()
{
	wait_for 30 ping -c 1 -W 2 -I "$ND.$TENANT_A" "10.91.0.$((2 - RANK))" &&
		wait_for 30 ping -c 1 -W 2 -I "$tenant_b" "10.92.0.$((2 - RANK))"
}

# By the one tenant's interface to the other tenant's address
unreachable()
{
	ip route add "10.92.0.$((2 - RANK))/32" dev "$ND.$TENANT_A" || return 1
	ping -c 1 -W 2 -I "$ND.$TENANT_A" "10.92.0.$((2 - RANK))"
	unreachable_status=$?
	ip neigh show dev "$ND.$TENANT_A"
	ip route del "10.92.0.$((2 - RANK))/32" dev "$ND.$TENANT_A"
	[ "$unreachable_status" -eq 1 ]
}

member_guid() # number of the adapter
{
	tr -d : < "/sys/class/infiniband/$(hca "$1")/ports/1/gids/0" | cut -c 17-
}

kernel_log_mark
ib_meet
member_lid=$(cat "/sys/class/infiniband/$MEMBER/ports/1/lid")
echo "$(member_guid 0) $(member_guid 1) $((member_lid))" > "$IB_SHARE/members.$RANK"
plan 15
barrier partitions.guids
read -r _ guid0 _ < "$IB_SHARE/members.0"
read -r first_guid1 guid1 _ < "$IB_SHARE/members.1"
first_check "opensm with partitions" partitions
check "their keys are in the ports' tables" wait_for 30 has_keys
barrier partitions.keys
read -r _ _ my_lid < "$IB_SHARE/members.$RANK"
read -r _ _ their_lid < "$IB_SHARE/members.$((RANK ^ 1))"
check "IPoIB interfaces join" members_join
check "the port of the switch" publish_port
barrier partitions.joined
check "the groups of the partitions" groups
first_check "counters of the switch" counts_before
barrier partitions.ready
check "the matrix: full, limited, none by RC, UC, UD, XRC, multicast, management, in both directions" matrix
barrier partitions.used
first_check "the switch has counted what it stopped" counts_after
for number in 257 259; do
	first_check "the manager got trap $number" wait_for 30 manager_log_has_trap "$number"
done
check "paths are reported to those who may use them" paths_are
check "interfaces of two tenants" tenants
barrier partitions.tenants
check "each tenant reaches itself" tenant_reaches
check "the other one is not there" unreachable
check "the kernel log is clean" kernel_log_clean
finish
