#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Output of tools: resources with details and raw dumps, counters, versions, health, tracepoints.
# vms: 1
# kernels: all - the kernel and the driver provide it
. "$(dirname "$0")/lib.sh"
need_device
IB=$(ibdev)
ND=$(netdev)
PCI=$(pcidev)
TRACING=/sys/kernel/tracing

holder=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder"
	rdma dev set "$IB" adaptive-moderation off
	rdma statistic qp set link "$IB/1" auto off
	rdma statistic unset link "$IB/1" optional-counters
	echo 0 > "$TRACING/events/ohca/enable"
	echo > "$TRACING/trace"
} > /dev/null 2>&1
trap cleanup EXIT

# "rdma resource" for the holder's objects
resource() # kind, options of rdma
{
	resource_kind=$1
	shift
	rdma "$@" resource show "$resource_kind" pid "$holder"
}

details() # kind, the driver's attributes
{
	details_kind=$1
	shift
	details_out=$(resource "$details_kind" -dd) || return 1
	echo "$details_out"
	for details_word; do
		echo "$details_out" | grep -q -e "drv_$details_word " || { echo "no $details_word"; return 1; }
	done
}

raw_dump() # kind
{
	raw_out=$(resource "$1" -d -r) || return 1
	echo "$raw_out"
	echo "$raw_out" | grep -qE ' [[:xdigit:]]{8}'
}

port_counter() # name
{
	rdma -j statistic show link "$IB/1" 2> /dev/null | tr ',' '\n' | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

counters_run()
{
	runs_before=$(port_counter tx_packets)
	traffic_works || return 1
	runs_after=$(port_counter tx_packets)
	echo "$runs_before, then $runs_after"
	[ "$runs_after" -gt "$runs_before" ]
}

# Traffic continues meanwhile.
ethtool_agrees()
{
	agrees_before=$(port_counter tx_packets)
	agrees_now=$(ethtool -S "$ND" | sed -n 's/.*rdma_tx_packets: //p')
	agrees_after=$(port_counter tx_packets)
	echo "$agrees_before, $agrees_now, $agrees_after"
	[ "$agrees_now" -ge "$agrees_before" ] && [ "$agrees_now" -le "$agrees_after" ]
}

# A counter is shown only while it is enabled.
optional_counters()
{
	[ -z "$(port_counter page_faults)" ] || return 1
	rdma statistic mode supported link "$IB/1"
	rdma statistic set link "$IB/1" optional-counters page_faults,cc_rx_cnp_pkts || return 1
	[ -n "$(port_counter page_faults)" ] || return 1
	[ -n "$(port_counter cc_rx_cnp_pkts)" ] && [ -z "$(port_counter cc_rx_ce_pkts)" ] || return 1
	rdma statistic unset link "$IB/1" optional-counters || return 1
	[ -z "$(port_counter page_faults)" ]
}

# Counters that are always shown can't be enabled.
optional_refused()
{
	! rdma statistic set link "$IB/1" optional-counters tx_packets
}

# The names of those of the port, as the driver and as the device has them
driver_counters()
{
	rdma -j statistic show link "$IB/1" | tr -d '[]{}" \t\n' | tr ',' '\n' | sed '/^ifname:/d; /^port:/d; s/:.*//' | sort
}

# Counters of Ethernet frames belong to the network interface.
device_counters()
{
	ohca-host ohcactl -j show counters "$OHCA_HCA" | tr -d '" \t\n' |
		sed 's/.*set:0,values:{\([^}]*\)}.*/\1/' | tr ',' '\n' | sed 's/:.*//' |
		grep -vx -e rx_no_buffer -e tx_waited -e tx_refused | sort
}

same_counters()
{
	rdma statistic set link "$IB/1" optional-counters page_faults,cc_rx_cnp_pkts,cc_rx_ce_pkts || return 1
	same_driver=$(driver_counters)
	same_device=$(device_counters)
	rdma statistic unset link "$IB/1" optional-counters
	echo "driver:" "$same_driver" "device:" "$same_device"
	[ "$(echo "$same_driver" | wc -l)" -gt 20 ] && [ "$same_driver" = "$same_device" ]
}

# All sets of counters in one line
qp_counters()
{
	rdma statistic qp show link "$IB/1" | tr '\n' ' '
}

qp_counts()
{
	qp_counters | grep -q 'tx_packets [1-9]'
}

# The first of the holder's queue pairs gets a set of its own and counts there.
qp_counter()
{
	qpn=$(resource qp | sed -n 's/.* lqpn \([0-9]*\) .*/\1/p' | head -n 1)
	rdma statistic qp bind link "$IB/1" lqpn "$qpn" || return 1
	qp_result=0
	wait_for 20 qp_counts || qp_result=1
	qp_counters
	qp_counters | grep -q "<$qpn>" || qp_result=1
	id=$(qp_counters | sed -n 's/.* cntn \([0-9]*\) .*/\1/p')
	rdma statistic qp unbind link "$IB/1" cntn "$id" lqpn "$qpn" && return "$qp_result"
}

# From now on, the queue pairs of each program and type have a set.
qp_auto()
{
	rdma statistic qp set link "$IB/1" auto type on || return 1
	traffic_works || return 1
	rdma statistic qp set link "$IB/1" auto off
}

no_qp_counters()
{
	[ -z "$(qp_counters)" ]
}

devlink_has() # arguments of devlink, pattern
{
	devlink_pattern=$1
	shift
	devlink_out=$(devlink "$@") || return 1
	echo "$devlink_out"
	echo "$devlink_out" | grep -q -e "$devlink_pattern"
}

traced() # pattern
{
	grep -q -e "$1" "$TRACING/trace"
}

trace_traffic()
{
	echo > "$TRACING/trace"
	echo 1 > "$TRACING/events/ohca/enable" || return 1
	traffic_works || return 1
	echo 0 > "$TRACING/events/ohca/enable"
}

with_counters() # name, command
{
	if [ -n "$(port_counter tx_packets)" ]; then
		check "$@"
	else
		skip "$1" "the device has no counters"
	fi
}

with_srq() # name, command
{
	if kernel_before 6 10; then
		skip "$1" "the kernel has no details of SRQs"
	elif [ -n "$(resource srq)" ]; then
		check "$@"
	else
		skip "$1" "the device has no SRQs"
	fi
}

# The description of the node is what was written last.
node_is_described()
{
	node_was=$(cat "/sys/class/infiniband/$IB/node_desc")
	for node_desc in "an adapter" "$node_was"; do
		printf '%s' "$node_desc" > "/sys/class/infiniband/$IB/node_desc" || return 1
		[ "$(cat "/sys/class/infiniband/$IB/node_desc")" = "$node_desc" ] || return 1
	done
}

# Completion queues that kernel protocols create are moderated by the load, if the user wants it.
adapts() # on, off
{
	rdma dev set "$IB" adaptive-moderation "$1" && rdma -d dev show "$IB" | grep "adaptive-moderation $1"
}

sysfs_says() # file, pattern
{
	cat "/sys/class/infiniband/$IB/$1"
	grep -q -x -e "$2" "/sys/class/infiniband/$IB/$1"
}

with_devlink() # name, command
{
	if devlink dev show "pci/$PCI" > /dev/null 2>&1; then
		check "$@"
	else
		skip "$1" "the kernel has no devlink"
	fi
}

# The first of this adapter's queue pairs, by traffic, is busy: bytes pass, and messages complete. Or one of them is measured: it
# has a latency. TX and RX B/s are the 5th and 6th columns, MSG/s is the 7th, MEAN the 10th.
on_top() # busy | measured
{
	top_out=$(ohca-host ohcactl top --once "$OHCA_HCA") || return 1
	echo "$top_out"
	echo "$top_out" | awk -v what="$1" '
		/^HCA +QPN/ { qps = 1; next }
		!qps { next }
		what == "busy" { found = ($5 != "0" || $6 != "0") && $7 != "0"; exit }
		$10 ~ /[0-9](ns|us|ms|s)$/ { found = 1 }
		END { exit !found }'
}

top_latency()
{
	ohca-host ohcactl latency "$OHCA_HCA" on && on_top measured &&
		ohca-host ohcactl latency "$OHCA_HCA" off
}

# An interval with rates, in which queue pairs were busy
watched()
{
	watched_out=$(ohca-host ohcactl watch -n 1 "$OHCA_HCA" | grep '"kind":"interval"') || return 1
	echo "$watched_out" | cut -c 1-400
	echo "$watched_out" | grep -q '"rates":{"sent":[1-9]'
}

# What the driver has counted is not more than what the device shows afterwards.
metrics_agree()
{
	agree_driver=$(port_counter tx_bytes)
	agree_device=$(ohca-host ohcactl metrics | sed -n "s/^ohca_port_tx_bytes_total{hca=\"$OHCA_HCA\",port=\"1\"} //p")
	echo "$agree_driver, then $agree_device"
	[ "$agree_driver" -gt 0 ] && [ "$agree_device" -ge "$agree_driver" ]
}

# Programs that begin and end, until the file is removed
come_and_go() # file
{
	while [ -e "$1" ]; do
		"$DIR/holder" -q 2 -n 1 > /dev/null || break
	done
}

# All objects are shown again and again.  Those that are being destroyed are left out.
shown_meanwhile() # file
{
	for meanwhile_round in 1 2 3 4 5 6 7 8 9 10; do
		for meanwhile_kind in qp cq mr; do
			for meanwhile_options in "-dd" "-d -r"; do
				# shellcheck disable=SC2086 # options
				rdma $meanwhile_options resource show "$meanwhile_kind" > /dev/null && continue
				echo "round $meanwhile_round, $meanwhile_kind, $meanwhile_options"
				return 1
			done
		done
	done
	[ -e "$1" ]
}

shown_while_destroyed()
{
	destroyed_flag=$(mktemp)
	come_and_go "$destroyed_flag" &
	destroyed_pid=$!
	destroyed_result=0
	shown_meanwhile "$destroyed_flag" || destroyed_result=1
	kill -0 "$destroyed_pid" || destroyed_result=1
	rm "$destroyed_flag"
	wait "$destroyed_pid"
	return "$destroyed_result"
}

watch_device()
{
	check "ohcactl top shows who is busy" on_top busy
	check "ohcactl top shows latencies" top_latency
	check "ohcactl watch has rates" watched
	check "metrics have the driver's counters" metrics_agree
}

plan 34
check "a program has objects" holder_start 2
check "queue pairs with details" details qp sq_size rq_size max_inline
check "completion queues with details" details cq hw_cqn log_size
check "memory regions with details" details mr 'kind user' access
with_srq "shared receive queues with details" details srq hw_srqn log_size max_sge
check "queue pairs as raw dumps" raw_dump qp
check "completion queues as raw dumps" raw_dump cq
check "memory regions as raw dumps" raw_dump mr
with_srq "shared receive queues as raw dumps" raw_dump srq
check "the type is in sysfs" sysfs_says hca_type OHCA
check "the revision is in sysfs" sysfs_says hw_rev '[[:xdigit:]]\+'
check "the board is in sysfs" sysfs_says board_id '[[:xdigit:]]\{4\}:[[:xdigit:]]\{4\}'
check "the node has a description" node_is_described
check "adaptive moderation of completion queues" adapts on
check "none" adapts off
with_counters "counters of the port run" counters_run
with_counters "ethtool shows the same" ethtool_agrees
with_counters "optional counters" optional_counters
with_counters "counters that are not optional" optional_refused
with_counters "counters of a queue pair" qp_counter
with_counters "counters bound by themselves" qp_auto
with_counters "no counter is left" no_qp_counters
with_devlink "devlink shows versions" devlink_has "fw [0-9]" dev info "pci/$PCI"
with_devlink "devlink shows health" devlink_has "state healthy" health show "pci/$PCI" reporter fatal
if ohca-host ohcactl version > /dev/null 2>&1; then
	watch_device
else
	skip "ohcactl top shows who is busy" "no ohcactl"
	skip "ohcactl top shows latencies" "no ohcactl"
	skip "ohcactl watch has rates" "no ohcactl"
	skip "metrics have the driver's counters" "no ohcactl"
fi
check "resources are shown while others are destroyed" shown_while_destroyed
kill -KILL "$holder"
wait "$holder" 2> /dev/null
holder=
check "nothing is left" wait_for 20 no_user_objects
if ohca-host ohcactl version > /dev/null 2>&1; then
	check "the device has counters of the same names" same_counters
else
	skip "the device has counters of the same names" "no ohcactl"
fi
if [ -d "$TRACING/events/ohca" ] || mount -t tracefs tracefs "$TRACING"; then
	check "traffic is traced" trace_traffic
	check "commands in the trace" traced 'ohca_cmd_done: .*command 0x50 .*status 0'
	check "states in the trace" traced 'ohca_qp_state: .*from 2 to 3'
else
	skip "traffic is traced" "no tracepoints"
	skip "commands in the trace" "no tracepoints"
	skip "states in the trace" "no tracepoints"
fi
finish
