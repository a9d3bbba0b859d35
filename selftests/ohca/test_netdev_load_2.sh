#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The port's Ethernet interface under load, between two machines: moderation of interrupts, frames that are too long, a queue
# that is closed, the pages of the receive rings, and XDP.
# The first machine is tested; the second one answers it.
# vms: 2
# kernels: all - the driver has the interface
# smp: 2 - the interface has queues for each processor
# boot: netdev
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
. "$DIR/lib_netdev.sh"
ND=$(netdev)
[ -n "$ND" ] || skip_all "no netdev"
TRACING=/sys/kernel/tracing
PINGS=$(long 4000 1000)
dropper=
flood=
drops=$(mktemp)

trace_off()
{
	echo 0 > "$TRACING/events/$1/enable"
}

cleanup()
{
	[ -z "$dropper" ] || kill "$dropper"
	ethtool -C "$ND" adaptive-rx off rx-usecs 0 rx-frames 1
	ethtool -G "$ND" rx 256
	[ -z "$flood" ] || kill "$flood"
	ethtool -L "$ND" combined "$queues"
	echo max > "/sys/class/net/$ND/queues/tx-$((queues - 1))/byte_queue_limits/limit_max"
	trace_off ohca/ohca_cmd_done
	trace_off page_pool/page_pool_state_hold
	echo > "$TRACING/trace"
	rm -f "$drops"
} > /dev/null 2>&1
trap cleanup EXIT

moderate() # ethtool's words
{
	ethtool -C "$ND" "$@"
}

moderation_is() # adaptive, us, frames
{
	ethtool -c "$ND" | awk -v adaptive="$1" -v usecs="$2" -v frames="$3" '
		/^Adaptive RX:/ { right += $3 == adaptive }
		/^rx-usecs:/ { right += $2 == usecs }
		/^rx-frames:/ { right += $2 == frames }
		END { exit right != 3 }'
}

refuses_moderation()
{
	! moderate rx-usecs 65536 && ! moderate rx-frames 65536 rx-usecs 1 && ! moderate rx-frames 2 && ! moderate tx-usecs 1 &&
		moderation_is off 0 1
}

# The shortest of some round trips, in us
shortest()
{
	ping -c 5 -i 0.1 -W 5 -s 1000 "$OHCA_PEER" | awk -F / '/^rtt/ { sub(/.* = /, "", $4); print int($4 * 1000) }'
}

takes_at_least() # us
{
	trip=$(shortest)
	echo "round trip: $trip us"
	[ "$trip" -ge "$1" ]
}

takes_less_than() # us
{
	trip=$(shortest)
	echo "round trip: $trip us"
	[ -n "$trip" ] && [ "$trip" -lt "$1" ]
}

# The time of a frame that was sent counts, too: the reply comes a little later.
# On a busy host it may come when another frame has waited already.
waits()
{
	moderate rx-usecs 60000 rx-frames 0 && moderation_is off 60000 0 && wait_for 30 takes_at_least 30000
}

waits_with_other_rings()
{
	ethtool -G "$ND" rx 128 && moderation_is off 60000 0 && wait_for 30 takes_at_least 30000
}

waits_for_one()
{
	moderate rx-frames 1 && moderation_is off 60000 1 && wait_for 30 takes_less_than 30000
}

at_once()
{
	moderate rx-usecs 0 && moderation_is off 0 1 && wait_for 30 takes_less_than 30000
}

# What is set while the interface is down takes effect when it comes up.
waits_when_up()
{
	ip link set "$ND" down && moderate rx-usecs 60000 rx-frames 0 && net_restore && moderation_is off 60000 0 &&
		wait_for 30 takes_at_least 30000 && moderate rx-usecs 0 rx-frames 1
}

tracing()
{
	[ -d "$TRACING/events" ] || mount -t tracefs tracefs "$TRACING"
	[ -d "$TRACING/events/$1" ]
} > /dev/null 2>&1

# with_trace EVENT NAME COMMAND...
with_trace()
{
	trace_event=$1
	shift
	if tracing "$trace_event"; then
		check "$@"
	else
		skip "$1" "no tracepoint $trace_event"
	fi
}

# How often there was the event while the machines answered each other so many times
traced() # event, pattern
{
	echo > "$TRACING/trace"
	echo 1 > "$TRACING/events/$1/enable" || return 1
	ping -f -q -c "$PINGS" -s 1400 "$OHCA_PEER" > /dev/null || return 1
	trace_off "$1"
	times=$(grep -c "$2" "$TRACING/trace")
	echo "events: $times"
}

# The driver changes the moderation of completion queues by commands.
adapts()
{
	moderate adaptive-rx on && moderation_is on 0 1 && traced ohca/ohca_cmd_done 'command 0x32 .*status 0' && [ "$times" -ge 1 ]
}

adapts_no_more()
{
	moderate adaptive-rx off && traced ohca/ohca_cmd_done 'command 0x32 ' && [ "$times" -eq 0 ]
}

# Each reply takes a page. Those that have returned are used again.
pages_return()
{
	traced page_pool/page_pool_state_hold page_pool_state_hold && [ "$times" -lt $((PINGS / 2)) ]
}

no_native_xdp()
{
	timeout 20 "$DIR/xdp_drop" "$ND" native > "$drops" 2>&1
	status=$?
	cat "$drops"
	[ "$status" -eq 1 ] && grep -qi 'interface: operation not supported' "$drops"
}

generic_xdp()
{
	"$DIR/xdp_drop" "$ND" generic > "$drops" 2>&1 &
	dropper=$!
	wait_for 20 grep -q dropping "$drops" || return 1
	if ping -c 2 -i 0.2 -W 1 "$OHCA_PEER"; then
		return 1
	fi
	kill "$dropper"
	wait "$dropper"
	dropper=
	wait_for 20 ping -c 1 -W 1 "$OHCA_PEER"
}

restart_mark()
{
	restart_lines=$(dmesg | wc -l)
}

# The driver has not restarted the queues since then.
no_restart()
{
	! dmesg | tail -n +$((restart_lines + 1)) | grep -E 'resetting queues|NETDEV WATCHDOG|fenced'
}

# Segments that fit only without a tag
tagged_segments()
{
	tagged_mtu=$(ip -d link show "$ND" | sed -n 's/.* maxmtu \([0-9]*\).*/\1/p')
	ip link add link "$ND" name ohcatag type vlan id 9 && ip link set ohcatag up || return 1
	for tagged_more in 39 38 37 36; do
		"$DIR/send_gso" ohcatag $((tagged_mtu - tagged_more))
	done
	ip link del ohcatag
}

# A frame of a packet socket is sent in segments that fit, or else dropped, and the send queue does not fail.
too_long_is_dropped()
{
	restart_mark
	packets=$(if_stat tx_packets)
	dropped=$(if_stat tx_dropped)
	errors=$(if_stat tx_errors)
	"$DIR/send_gso" "$ND" 1400 && wait_for 10 has_counted tx_packets $((packets + 29)) || return 1
	"$DIR/send_gso" "$ND" 20000 && wait_for 10 has_counted tx_dropped $((dropped + 2)) || return 1
	tagged_segments || return 1
	wait_for 20 ping -c 1 -W 1 "$OHCA_PEER" && [ "$(if_stat tx_errors)" -eq "$errors" ] && no_restart
}

frames_under_way() # queue
{
	[ "$(cat "/sys/class/net/$ND/queues/tx-$1/byte_queue_limits/inflight")" -gt 0 ]
}

# The queue is closed while frames are under way, which stop it here.  Then the watchdog must not find it: it looks every
# five seconds.
closed_queue_is_quiet()
{
	restart_mark
	limit=/sys/class/net/$ND/queues/tx-$((queues - 1))/byte_queue_limits/limit_max
	moderate rx-usecs 60000 rx-frames 0 && echo 1 > "$limit" || return 1
	taskset -c $((queues - 1)) ping -f -q -l 100 -s 1400 "$OHCA_PEER" > /dev/null &
	flood=$!
	wait_for 10 frames_under_way $((queues - 1)) && ethtool -L "$ND" combined 1 || return 1
	kill "$flood"
	flood=
	sleep 12
	no_restart
}

opens_again()
{
	ethtool -L "$ND" combined "$queues" && echo max > "$limit" && moderate rx-usecs 0 rx-frames 1 &&
		wait_for 20 ping -c 1 -W 1 "$OHCA_PEER"
}

check_queue()
{
	if [ "$queues" -eq 1 ]; then
		skip "a queue that is closed under load" "there is one"
		skip "it opens again" "there is one"
	else
		check "a queue that is closed under load" closed_queue_is_quiet
		check "it opens again" opens_again
	fi
}

check_xdp()
{
	timeout 20 "$DIR/xdp_drop" lo native > "$drops" 2>&1
	if [ $? -eq 4 ]; then
		skip "native XDP is refused" "the kernel has no XDP"
		skip "generic XDP drops frames, until it is gone" "the kernel has no XDP"
		return
	fi
	check "native XDP is refused" no_native_xdp
	check "generic XDP drops frames, until it is gone" generic_xdp
}

# Data in both directions, while the first machine moderates
data_is_right() # name
{
	barrier "load.$1" && "$DIR/netdata" -m 4 "fd77::$((2 - RANK))"
}

plan 18
queues=$(queues_now)
kernel_log_mark
barrier load
if [ "$RANK" -ne 0 ]; then
	for name in "interrupts are not moderated" "values that are refused" "an interrupt waits" "also with other rings" "it does not wait for more frames" \
		"it comes at once again" "an interrupt waits after the interface was down" "frames that are too long are dropped" \
		"a queue that is closed under load" "it opens again" "the moderation follows the load"; do
		skip "$name" "the first machine's"
	done
	check "TCP and UDP data" data_is_right adaptive
	barrier load.adaptive.end
	for name in "the moderation stays" "pages of the receive rings return to them" "native XDP is refused" "generic XDP drops frames, until it is gone"; do
		skip "$name" "the first machine's"
	done
else
	check "interrupts are not moderated" moderation_is off 0 1
	check "values that are refused" refuses_moderation
	check "an interrupt waits" waits
	check "also with other rings" waits_with_other_rings
	check "it does not wait for more frames" waits_for_one
	check "it comes at once again" at_once
	check "an interrupt waits after the interface was down" waits_when_up
	check "frames that are too long are dropped" too_long_is_dropped
	check_queue
	with_trace ohca "the moderation follows the load" adapts
	moderate adaptive-rx on
	check "TCP and UDP data" data_is_right adaptive
	barrier load.adaptive.end
	with_trace ohca "the moderation stays" adapts_no_more
	with_trace page_pool "pages of the receive rings return to them" pages_return
	check_xdp
fi
barrier load.end
check "TCP and UDP data" data_is_right end
check "the kernel log is clean" kernel_log_clean
finish
