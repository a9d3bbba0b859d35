#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# plot.sh RECORDS DIR: makes bandwidth.svg, latency.svg and rate.svg of bench.sh's records, by gnuplot. A figure that
# was not measured has no line, and a plot without lines is not made.

set -euo pipefail
here=$(dirname "$0")
records=$1 dir=$2
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# points FILE TABLE DEVICE ROW WHAT UNIT X: prints "x value" lines, ascending; X is size or qps.
points() {
	awk -v table="$2" -v device="$3" -v row="$4" -v what="$5" -v unit="$6" -v x="$7" \
		-f "$here/records.awk" -f /dev/fd/3 "$records" 3<<-'AWK' | sort -n >"$data/$1"
			{ record() }
			f["table"] == table && f["what"] == what && f["unit"] == unit &&
			(table == "limit" || (f["device"] == device && f["row"] == row)) { print f[x], f["value"] }
		AWK
}

# plot NAME TITLE XLABEL YLABEL (FILE LABEL STYLE)...
plot() {
	local name=$1 title=$2 xlabel=$3 ylabel=$4 lines=()
	shift 4
	while [ $# -gt 0 ]; do
		[ ! -s "$data/$1" ] || lines+=("'$data/$1' using 1:2 with linespoints $3 title '$2'")
		shift 3
	done
	[ ${#lines[@]} -gt 0 ] || return 0
	{
		cat <<-GNUPLOT
			set terminal svg size 900,560 font 'sans,13' background 'white'
			set output '$dir/$name.svg'
			set title '$title'
			set xlabel '$xlabel'
			set ylabel '$ylabel'
			set logscale x 2
			set logscale y 10
			set grid
			set key outside right
		GNUPLOT
		[ "$xlabel" != 'bytes of a message' ] || echo "set format x '%.0b %B'"
		(IFS=,; echo "plot ${lines[*]}")
	} | gnuplot
}

plots=()
for op in write read send; do
	points "bw.ohca.$op" figure ohca bw "$op" MB/s size
	points "bw.rxe.$op" figure rxe bw "$op" MB/s size
	points "lat.ohca.$op" figure ohca lat "${op}_lat" us size
	points "lat.rxe.$op" figure rxe lat "${op}_lat" us size
done
points limit.copy limit - - memcpy MB/s size
points limit.cold limit - - memcpy_elsewhere MB/s size
points limit.word limit - - there_and_back us size
points rate.ohca figure ohca rate write Mmsg/s qps
points rate.rxe figure rxe rate write Mmsg/s qps
points rate.ohca.list figure ohca rate write_lists_of_32 Mmsg/s qps
points rate.rxe.list figure rxe rate write_lists_of_32 Mmsg/s qps
# A limit that does not depend on the size is a horizontal line.
if [ -s "$data/limit.word" ]; then
	awk '{ print 8, $2; print 65536, $2 }' "$data/limit.word" >"$data/limit.across"
fi
awk '$1 == 64 { for (n = 1; n <= 64; n *= 4) print n, $2 / 64 }' "$data/limit.copy" >"$data/limit.rate"

plots=(limit.copy 'memcpy' "lc rgb 'black' dashtype 2 pt 0"
	limit.cold 'memcpy, another place each time' "lc rgb 'gray' dashtype 2 pt 0")
for op in write read send; do
	plots+=("bw.ohca.$op" "OHCA, $op" "lw 2")
done
for op in write read send; do
	plots+=("bw.rxe.$op" "soft-RoCE, $op" "dashtype 3")
done
plot bandwidth 'Bandwidth of one connection' 'bytes of a message' 'MB/s' "${plots[@]}"

plots=(limit.across 'a word there and back' "lc rgb 'black' dashtype 2 pt 0")
for op in write read send; do
	plots+=("lat.ohca.$op" "OHCA, $op" "lw 2")
done
for op in write read send; do
	plots+=("lat.rxe.$op" "soft-RoCE, $op" "dashtype 3")
done
plot latency 'Typical latency' 'bytes of a message' 'microseconds' "${plots[@]}"

plot rate 'WRITEs of 64 bytes' 'queue pairs' 'million messages a second' \
	limit.rate 'memcpy of 64 bytes' "lc rgb 'black' dashtype 2 pt 0" \
	rate.ohca OHCA 'lw 2' rate.ohca.list 'OHCA, lists of 32' 'lw 2' \
	rate.rxe soft-RoCE 'dashtype 3' rate.rxe.list 'soft-RoCE, lists of 32' 'dashtype 3'
