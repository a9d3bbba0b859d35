# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of the lab's short sleeps, which run.sh runs.

nap_tests=(
	"nap                    sleeps, and leaves the signal mask as it is"
)

# Times so short that they are often over before bash waits
# shellcheck disable=SC2016 # for the second shell
test_nap() {
	timeout 60 bash -c 'set -euo pipefail
		. tools/lab/lib/nap.sh
		nap_setup
		# Sets $mask, without a process: bash blocks signals while it starts one.
		mask_get() {
			local key value
			while read -r key value; do
				[ "$key" != SigBlk: ] || mask=$value
			done </proc/$$/status
		}
		mask_get
		before=$mask start=${EPOCHREALTIME/./}
		for ((i = 0; i < 10000; i++)); do
			nap 0.000001
		done
		mask_get
		[ "$mask" = "$before" ]
		for ((i = 0; i < 20; i++)); do
			nap 0.01
		done
		[ $((${EPOCHREALTIME/./} - start)) -ge 200000 ]
		sleep 0.1 &
		while kill -0 $! 2>/dev/null; do
			nap 0.01
		done'
}
