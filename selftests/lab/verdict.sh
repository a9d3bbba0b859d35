# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of the status with which a run ends, which run.sh runs.

verdict_tests=(
	"verdict                the status is that of the command that failed first"
)

# Of several machines, the status is that of the one whose command failed first; 124 is for the time-out only. No machine runs here.
test_verdict() {
	(
		# shellcheck source=/dev/null
		. tools/lab/lib/log.sh && . tools/lab/lib/run.sh
		# shellcheck disable=SC2317 # functions of other files, which run.sh calls
		stubs() {
			host_serve() { :; }
			klog_check() { :; }
			ohcad_stop() { :; }
			machine_kill() { :; }
			run_ask_stuck() { :; }
			run_tail() { :; }
			machine_status() { machine_status=${ends[$1]} machine_started=; }
			run_has() { [ -z "${ends[$1]}" ]; }
			nap() { sleep "$1" && ends=("${later[@]}"); }
		}
		stubs
		RUN_GRACE=1 machine_pid=(10 11) run_reported=()
		# verdict STATUS END END LATER LATER [TIMEOUT]: statuses of both commands at first, and then; none while it runs
		verdict() {
			local got=0
			ends=("$2" "$3") later=("$4" "$5") opt_timeout=${6-60}
			run_wait
			run_verdict || got=$?
			[ "$got" = "$1" ] || { echo "status $got, not $1" && exit 1; }
		}
		verdict 0 0 '' 0 0
		verdict 7 '' 7 '' 7
		verdict 7 '' 7 1 7
		verdict 3 3 '' 3 7
		verdict 124 '' 0 '' 0 1
	) >"$work/out" 2>"$work/err" || fail "$(cat "$work/out")"
}
