#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The stock tools between two machines: they end well and have done what they were asked.  No figure is judged.
# vms: 2
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ib_write_bw > /dev/null || skip_all "no perftest"
DEV=$(ibdev)
GID=${OHCA_GID_INDEX:-$(gids | grep 0000:0000:0000:0000:0000:ffff | head -n 1 | cut -d' ' -f1)}
server=
log=$(mktemp)
number=0

cleanup()
{
	[ -z "$server" ] || kill "$server" 2> /dev/null
	rm -f "$log"
}
trap cleanup EXIT

listening() # port
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6
}

# Run a server in the first machine and, when it listens, its client in the second one.
run_both() # command and options, the same for both
{
	number=$((number + 1))
	port=$((19000 + number))
	if [ "$RANK" -eq 0 ]; then
		timeout 120 "$@" -p "$port" > "$log" 2>&1 &
		server=$!
		wait_for 60 listening "$port"
		barrier "perftest.$number"
		wait "$server"
		status=$?
		server=
	else
		barrier "perftest.$number"
		timeout 120 "$@" -p "$port" "$OHCA_PEER" > "$log" 2>&1
		status=$?
	fi
	cat "$log"
	barrier "perftest.$number.end"
	return "$status"
}

# A line of results: size, iterations of all queue pairs, figures.  Some servers print none.
reports() # size
{
	[ "$RANK" -eq 0 ] || grep -Eq "^ *$1 +[0-9]+ +[0-9.]+ +[0-9.]+" "$log"
}

perf() # tool, size, iterations, further options
{
	tool=$1 size=$2 iterations=$3
	shift 3
	run_both "$tool" -d "$DEV" -x "$GID" -F -s "$size" -n "$iterations" "$@" || return 1
	reports "$size" || { echo "no results for $size bytes"; return 1; }
}

pingpong() # options
{
	run_both ibv_rc_pingpong -d "$DEV" -g "$GID" "$@" || return 1
	grep -q "iters in" "$log"
}

plan 25
kernel_log_mark
for size in 64 4096 65536 1048576; do
	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		check "$tool, $size bytes" perf "$tool" "$size" 100
	done
done
for tool in ib_write_lat ib_read_lat ib_send_lat; do
	check "$tool, 8 bytes" perf "$tool" 8 100
done
check "ib_write_bw, both directions" perf ib_write_bw 65536 100 -b
check "ib_send_bw, both directions" perf ib_send_bw 65536 100 -b
check "ib_write_bw, 8 queue pairs" perf ib_write_bw 65536 100 -q 8
check "ib_send_bw, by events" perf ib_send_bw 65536 100 -e
check "ib_send_bw, inline" perf ib_send_bw 64 100 -I 64
check "ib_read_bw, several outstanding" perf ib_read_bw 65536 100 -o 4
check "ibv_rc_pingpong, payload checked" pingpong -c -n 200
check "ibv_rc_pingpong, by events" pingpong -c -e -n 200
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
