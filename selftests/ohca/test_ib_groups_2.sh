#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# 8,000 multicast groups in a subnet of five switches: opensm gives each a multicast LID and a tree, the switches have the tables, and a
# message to each group arrives.  Then as many more as there is room for.
# vms: 2
# link: ib
# long: the requests to opensm take about a minute
# kernels: newest - the subject is the adapter, its switches and the manager
# boot: topology
# topology: fat_tree.net
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ibroute > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"
NUM=8000
TABLES=/run/groups.tables # of all switches on the way
MANAGER=/run/groups.manager # its memory

cleanup()
{
	rm -f "$TABLES" "$TABLES.counts" "$MANAGER"
}

# Its resident memory, in kB
manager_memory()
{
	sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$(cat /run/opensm.pid)/status" >> "$MANAGER" && [ -s "$MANAGER" ]
}

# The multicast tables of all switches
tables()
{
	for tables_lid in $(ibswitches | sed 's/.* lid \([0-9]*\) .*/\1/'); do
		ibroute -M "$tables_lid" || return 1
	done
}

# While the program in the first machine has all its groups: this script runs again, and does only that.
look()
{
	manager_memory && tables > "$TABLES"
}

groups()
{
	"$DIR/mcast_trees" -2 "$NUM" "$0 look"
}

# The numbers of entries of the tables in the file
entries()
{
	sed -n 's/^\([0-9]*\) valid mlids dumped.*/\1/p' "$TABLES"
}

# A tree is on three switches at least: two leaves and a spine.
tables_full()
{
	entries > "$TABLES.counts"
	cat "$TABLES.counts"
	awk -v num="$NUM" '$1 >= num { full++ } { all += $1 } END { print all " entries"; exit full < 2 || all < 3 * num }' "$TABLES.counts"
}

# The kernel leaves the groups of a program after its end, and opensm removes them from the tables then, which takes long.
# A script after this one counts packets.
groups_left()
{
	[ "$(saquery -g | grep -c MGID)" -lt 100 ] && tables > "$TABLES" &&
		entries | awk '$1 >= 100 { full = 1 } END { exit full || !NR }'
}

memory_shown()
{
	paste -s -d ' ' "$MANAGER" | while read -r before after; do
		diag "opensm: $before kB before, $after kB with $NUM groups" >&3
	done
}

if [ "${1:-}" = look ]; then
	look
	exit
fi
trap cleanup EXIT
exec 3>&1
kernel_log_mark
ib_meet
plan 6
first_check "memory of opensm" manager_memory
check "$NUM groups" groups
first_check "they are in the tables of the switches" tables_full
first_check "memory of opensm with them" memory_shown
check "the groups are left" wait_for 300 groups_left
check "the kernel log is clean" kernel_log_clean
finish
