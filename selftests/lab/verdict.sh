# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of the status with which a run ends, which run.sh runs.

verdict_tests=(
	"verdict                the status is that of the command that failed first"
	"found                  what the lab itself finds is in the results"
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
		opt_grace=1 opt_results='' machine_pid=(10 11) run_reported=()
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

# With --results, the file "found" has what a kernel or ohcad reports. It is there also if the command failed. No machine runs here.
test_found() {
	(
		# shellcheck source=/dev/null
		. tools/lab/lib/log.sh && . tools/lab/lib/klog.sh && . tools/lab/lib/run.sh
		# shellcheck disable=SC2317 # functions of other files, which run.sh calls
		stubs() {
			run_verdict_one() { return "$status"; }
			ohcad_stop() { return "$ohcad"; }
		}
		stubs
		RESULTS=$work/found RUN=$work/found opt_results=1 machine_pid=(10 11) run_failed='' run_lost=''
		mkdir "$RESULTS"
		echo "all is well" | tee "$RUN/node0.log" >"$RUN/node1.log"
		# found STATUS OHCAD LINE...: the file's lines after that status of the commands, and that of ohcad
		found() {
			status=$1 ohcad=$2
			shift 2
			rm -f "$RESULTS/found"
			run_verdict || :
			diff <(printf '%s\n' "$@") <(cat "$RESULTS/found" 2>/dev/null || echo none) || exit 1
		}
		found 0 0 none
		found 1 0 none
		found 0 1 "ohcad has failed"
		echo "BUG: KASAN: use-after-free" >>"$RUN/node1.log"
		found 0 0 "node1: reports in the kernel log"
		found 1 1 "node1: reports in the kernel log" "ohcad has failed"
	) >"$work/out" 2>"$work/err" || fail "$(cat "$work/out" "$work/err")"
}
