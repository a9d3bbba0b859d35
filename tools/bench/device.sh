#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# device.sh: measures the cost of a message in the device, without machines: build/bench/device.md and .json. QUICK=1
# takes less than a minute, with fewer samples. The records go to the history, too (history.sh).

set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1-}" != inside ]; then
	mkdir -p build/bench
	tools/lab/ohca-lab setup bench
	tools/lab/ohca-lab exec --share build/bench -- env QUICK="${QUICK-}" \
		bash /repo/tools/bench/device.sh inside
	# shellcheck source=/dev/null
	. tools/bench/history.sh
	commit=$(history_commit) || exit 0
	history_keep device "$commit" build/bench/device.txt
	exit
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

# step TEXT: says what begins.
step() {
	echo "bench-device: $1" >&2
}

step "building"
make -s -C selftests/ohcad O="$bin" -j"$(nproc)" bench
export OHCAD=$bin/bench/ohcad
{
	bench_host
	step "instructions, by callgrind"
	instructions ops
	instructions links --links
	instructions hops --hops
	step "times of operations"
	"$bin/bench_ops" "${ops[@]}" 2>/dev/null
	step "times on two link layers, and behind switches"
	"$bin/bench_ops" --links "${ops[@]}" 2>/dev/null
	"$bin/bench_ops" --hops "${ops[@]}" 2>/dev/null
	step "times of messages beside others"
	"$bin/bench_beside" "${beside[@]}" 2>/dev/null
	step "a device in a process of its own"
	"$bin/bench_live" "${live[@]}"
} >"$records"
bench_json "$records" >/share/device.json
awk -f tools/bench/records.awk -f tools/bench/device.awk "$records" | tee /share/device.md
