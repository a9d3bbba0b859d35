#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh: what programs in machines get of OHCA, beside soft-RoCE in the same machines, in turn, and
# the limits of this host: tables and plots in build/bench/. ROWS names what is measured (bw bidir lat
# rate ud uc atomic objects many numbers cm net links active ipoib ring), RUNS how often (3); with QUICK=1 it is once, and less
# of each. The records go to the history, too (history.sh).

set -euo pipefail
cd "$(dirname "$0")/../.."
rows=${ROWS-bw bidir lat rate ud uc atomic objects many numbers cm net links active ipoib ring}
quick=${QUICK:+1}
runs=${RUNS-3}
[ -z "$quick" ] || runs=1
for row in $rows; do
	case $row in
	bw | bidir | lat | rate | ud | uc | atomic | objects | many | numbers | cm | net | links | active | ipoib | ring) ;;
	*) echo "bench.sh: no such row: $row" >&2 && exit 2 ;;
	esac
done

lab=tools/lab/ohca-lab
out=build/bench

# machines NUMBER RUNS ROW...: measure between so many, of $MEM MiB; their ports are of $link, one for each word
link=eth
machines() {
	local num=$1 links
	shift
	IFS=, read -ra links <<<"$link"
	"$lab" run --vms "$num" --hcas "${#links[@]}" --link "$link" --device ohca+rxe --smp "${SMP-1}" --mem "${MEM-1024}" --share "$share" --timeout 3000 \
		${KERNEL:+--kernel "$KERNEL"} -- bash /usr/lib/ohca-lab/bench "$1" "${quick:-0}" "${@:2}"
}

# has ROW: whether the row is to be measured
has() {
	[[ " $rows " == *" $1 "* ]]
}

# objects: measures them in one machine, in three boots, because the speed of an emulated processor at certain tasks
# differs from boot to boot
objects() {
	local boot boots=3
	[ -z "$quick" ] || boots=1
	for ((boot = 0; boot < boots; boot++)); do
		machines 1 1 objects
	done
}

# limits: measures the host's limits, some time apart, because the speed of the host differs from minute to minute
limits() {
	echo "the limits of this host"
	"$lab" exec --share "$share" -- bash /repo/tools/bench/bench.sh inside limits
}

if [ "${1-}" != inside ]; then
	mkdir -p "$out"
	share=$(mktemp -d)
	trap 'rm -rf "$share"' EXIT
	trap 'exit 130' INT TERM
	"$lab" setup bench
	"$lab" setup iperf
	start=$SECONDS
	limits
	between=$(tr ' ' '\n' <<<"$rows" | grep -vxE 'objects|many|links|active|ipoib') || true
	# shellcheck disable=SC2086 # words
	[ -z "$between" ] || machines 2 "$runs" $between
	! has links || link=eth,ib machines 2 "$runs" links
	! has active || link=eth,ib machines 2 "$runs" active
	! has ipoib || link=ib machines 2 "$runs" ipoib
	limits
	! has objects || objects
	! has many || MEM=6144 machines 1 1 many
	if has ring; then
		machines 1 "$runs" ring
		machines 4 "$runs" ring
	fi
	limits
	"$lab" exec --share "$share" -- env MACHINES="2 x ${SMP-1} processor(s)" RUNS="$runs" \
		bash /repo/tools/bench/bench.sh inside report
	cp "$share"/bench.* "$share"/*.svg "$out/"
	# shellcheck source=/dev/null
	. tools/bench/history.sh
	! commit=$(history_commit) || history_keep bench "$commit" "$out/bench.txt"
	echo
	cat "$out/bench.md"
	echo
	echo "$((SECONDS - start)) s; tables and plots are in $out"
	exit
fi

# The following runs in the root; results go to /share.
# shellcheck source=/dev/null
. tools/bench/lib.sh
if [ "$2" = limits ]; then
	mkdir -p "$O"
	cc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$O/limits" tools/bench/limits.c
	"$O/limits" >>/share/limits
	exit
fi
{
	bench_host
	awk -f tools/bench/records.awk -f tools/bench/medians.awk /share/limits /share/samples
} >/share/bench.txt
bench_json /share/bench.txt >/share/bench.json
awk -v machines="$MACHINES" -v runs="$RUNS" -f tools/bench/records.awk -f tools/bench/bench.awk \
	/share/bench.txt >/share/bench.md
bash tools/bench/plot.sh /share/bench.txt /share
