#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# device.sh: measures the cost of a message in the device, without machines: build/bench/device.md and .json. QUICK=1
# takes less than a minute, with fewer samples.

set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1-}" != inside ]; then
	mkdir -p build/bench
	tools/lab/ohca-lab setup bench
	exec tools/lab/ohca-lab exec --share build/bench -- env QUICK="${QUICK-}" \
		bash /repo/tools/bench/device.sh inside
fi

# The following runs in the root; results go to /share.
# shellcheck source=/dev/null
. tools/bench/lib.sh
bin=$O/ohcad records=/share/device.txt
ops=() live=() beside=() batches=64
if [ -n "${QUICK-}" ]; then
	ops=(--runs 51)
	live=(--iterations 10000 --objects 2000)
	beside=(--runs 1)
	batches=8
fi

# instructions ops|links|hops [OPTION]: counts instructions with callgrind, a record for each line of bench_ops --count with that
# option.
instructions() {
	local of=$1 dir=$O/callgrind part=0 line
	shift
	rm -rf "$dir"
	mkdir -p "$dir"
	valgrind --tool=callgrind --callgrind-out-file="$dir/out" --collect-atstart=no \
		--toggle-collect=bench_device --zero-before=bench_begin --dump-after=bench_end \
		"$bin/bench_ops" --count "$batches" "$@" >"$dir/lines" 2>"$dir/log"
	while read -r line; do
		part=$((part + 1))
		awk -v line="$line" -v of="$of" '/^totals:/ {
			split(line, word, " messages=")
			sub(/^count/, "instructions", word[1])
			printf "%s of=%s each=%.0f\n", word[1], of, $2 / word[2]
		}' "$dir/out.$part"
	done <"$dir/lines"
}

make -s -C selftests/ohcad O="$bin" -j"$(nproc)" bench
export OHCAD=$bin/bench/ohcad
{
	bench_host
	instructions ops
	instructions links --links
	instructions hops --hops
	"$bin/bench_ops" "${ops[@]}" 2>/dev/null
	"$bin/bench_ops" --links "${ops[@]}" 2>/dev/null
	"$bin/bench_ops" --hops "${ops[@]}" 2>/dev/null
	"$bin/bench_beside" "${beside[@]}" 2>/dev/null
	"$bin/bench_live" "${live[@]}"
} >"$records"
bench_json "$records" >/share/device.json
awk -f tools/bench/records.awk -f tools/bench/device.awk "$records" | tee /share/device.md
