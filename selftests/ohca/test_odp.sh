#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# On-demand paging: memory that is swapped, and programs that are killed while they wait for pages.
# vms: 1
# kernels: all - the kernel maps and unmaps pages
. "$(dirname "$0")/lib.sh"
need_device
log=$(mktemp)
holder=
zram=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	if [ -n "$zram" ]; then
		swapoff "/dev/$zram"
		echo 1 > "/sys/block/$zram/reset"
	fi
	echo 0 > /proc/sys/vm/nr_hugepages
	rdma statistic unset link "$(ibdev)/1" optional-counters > /dev/null 2>&1
	rm -f "$log"
}
trap cleanup EXIT

# Swap space in compressed memory
swap_on()
{
	modprobe zram 2> /dev/null || return 1
	zram=$(cd /sys/block && echo zram*)
	zram=${zram%% *}
	echo 64M > "/sys/block/$zram/disksize" && mkswap "/dev/$zram" > /dev/null && swapon "/dev/$zram" && return
	zram=
	return 1
}

fault_start()
{
	"$DIR/odp_load" hold > "$log" 2>&1 &
	holder=$!
	wait_for 60 grep -q ready "$log" || { cat "$log"; return 1; }
}

# The counters of a region with on-demand paging
counts()
{
	rdma statistic show mr | grep -q "$1 [1-9]"
}

# The same counters of the port
port_counts()
{
	rdma statistic show link "$(ibdev)/1" | grep -q "$1 [1-9]"
}

port_asked()
{
	rdma statistic set link "$(ibdev)/1" optional-counters page_faults || return 1
	wait_for 20 port_counts page_faults || return 1
	rdma statistic unset link "$(ibdev)/1" optional-counters
}

killed()
{
	kill -KILL "$holder"
	wait "$holder" 2> /dev/null
	holder=
	nothing_left
}

driver_gone()
{
	modprobe -r ohca && ! test_device
}

driver_back()
{
	modprobe ohca && net_restore && traffic_works
}

kernel_log_mark
echo 8 > /proc/sys/vm/nr_hugepages
"$DIR/odp" > "$log"
status=$?
[ "$status" -ne 4 ] || { cat "$log"; exit 4; }
# Lines of this script, after those of the program
awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 15; next } { print }' "$log"
tap_num=$(grep -cE '^(not )?ok ' "$log")
tap_failed=$(grep -c '^not ok ' "$log")
[ "$status" -eq 0 ] || [ "$tap_failed" -gt 0 ] || tap_failed=1
tap_planned=$((tap_num + 15))

check "many queue pairs, and pages and regions that go meanwhile" "$DIR/odp_load"
if swap_on; then
	check "memory that is swapped" "$DIR/odp_load" swap
else
	skip "memory that is swapped" "no swap space"
fi
for round in 1 2 3; do
	check "$round: a program has page faults" fault_start
	if [ "$round" = 1 ]; then
		check "they are counted" wait_for 20 counts page_faults
		check "by the port, too" port_asked
		check "pages taken away, too" wait_for 20 counts page_invalidations
		check "regions are shown as what they are" sh -c "rdma resource show mr -dd | grep -q on-demand"
	fi
	check "$round: nothing is left when it is killed" killed
done
check "the driver is removed" driver_gone
check "it comes back" driver_back
check "the kernel log is clean" kernel_log_clean
finish
