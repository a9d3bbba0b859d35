# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of the frequency of the machines' clock, which run.sh runs.

clock_tests=(
	"clock                  measured once, also if many machines start at once"
)

# Shells that start each other have the same $$, as have those of different process namespaces.
# shellcheck disable=SC2016 # for the second shell
test_clock() {
	mkdir "$work/build" || return
	printf '%s\n' '#!/bin/sh' "echo >> '$work/build/measured'" "wc -l < '$work/build/measured'" >"$work/build/tsc_khz"
	chmod +x "$work/build/tsc_khz"
	timeout 60 bash -c 'set -euo pipefail
		. tools/lab/lib/machine.sh
		BUILD=$1 ACCEL=tcg arch_name=amd64
		for ((i = 0; i < 40; i++)); do
			(machine_clock && echo "$CLOCK_KHZ") &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do
			wait "$pid"
		done' sh "$work/build" >"$work/out" 2>"$work/err" || fail "status $?" || return
	[ "$(sort "$work/out" | uniq -c | xargs)" = "40 1" ] || fail "measured more than once"
}
