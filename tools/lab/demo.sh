#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh: shows OHCA with stock tools on two machines, and measures it beside soft-RoCE on the same machines (with an
# MTU of 9000; messages of one packet also with 1500, and the better figure counts). With LINK=ib in the environment
# the ports are InfiniBand, and TCP over IPoIB is measured beside them: qperf's latency is half of a round trip, like
# perftest's, and its bandwidth does not depend on the direction of the request.

set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
trap 'exit 130' INT TERM

# The machines run guest/demo, which writes a line "NAME SIZE VALUE" for each figure to the shared folder.
demo=/usr/lib/ohca-lab/demo
case ${LINK:-eth} in
eth)
	other=rxe title="soft-RoCE"
	"$here/ohca-lab" run --vms 2 --device ohca+rxe --share "$share" --timeout 300 -- \
		bash -c "bash $demo show ohca && bash $demo rxe rxe"
	;;
ib)
	other=tcp title="TCP, IPoIB"
	"$here/ohca-lab" run --vms 2 --link ib --share "$share" --timeout 240 -- \
		bash -c "bash $demo show ohca && bash $demo tcp tcp"
	;;
*)
	echo "demo: LINK is eth or ib" >&2
	exit 2
	;;
esac

echo
printf '%36s %14s %21s\n' ohca "$title" "ohca is better by"
awk -v other="$share/$other" '
	BEGIN {
		while ((getline line <other) > 0) {
			split(line, f, " ")
			key = f[1] " " f[2]
			value = mb(f[1], f[3])
			if (!(key in best) || (f[1] ~ /_lat$/ ? value < best[key] : value > best[key]))
				best[key] = value
		}
	}
	# mb NAME VALUE: the bandwidths of perftest are in MiB/s.
	function mb(name, value) {
		return name ~ /^ib_.*_bw$/ ? value * 1.048576 : value + 0
	}
	function size(n) {
		return n >= 1048576 ? n / 1048576 " MiB" : n >= 1024 ? n / 1024 " KiB" : n " B"
	}
	function show(key, value) {
		if (key ~ /_lat/)
			return sprintf("%9.1f us  ", value)
		return value >= 1000 ? sprintf("%9.2f GB/s", value / 1000) : sprintf("%9.2f MB/s", value)
	}
	{
		key = $1 " " $2
		if (!(key in best))
			sub(/^ib_[a-z]*/, "tcp", key)
		value = mb($1, $3)
		ratio = best[key] > 0 && value > 0 ? ($1 ~ /_lat$/ ? best[key] / value : value / best[key]) : 0
		printf "%-13s %8s %s  %s  %10.1f times\n", $1, size($2), show(key, value), show(key, best[key]), ratio
	}' "$share/ohca"
echo
echo "(perftest's average bandwidth and typical latency; one connection, one processor a machine)"
