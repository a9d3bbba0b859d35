#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh: runs tests; see usage below, and Documentation/testing.rst. Tests that need no machine run in the lab's root,
# those in ohca/ in machines: one boot for all that need one machine, one for all that need two, and so on, one for all
# scripts with the same line "# boot: NAME", and one for each with "# boot: own". These sets of all kernels run at the
# same time; each line of their output then begins with the set's name. Prints the tests' own output (TAP), what took
# long, the lines that failed, and at last "N passed, N failed, N skipped".

set -uo pipefail
from=$PWD
cd "$(dirname "$0")/.." || exit 1
LAB=${OHCA_LAB:-tools/lab/ohca-lab} # tests of this script set another one
for noun in plan durations set repeat resume queue report; do
	# shellcheck source=/dev/null
	. "selftests/lib/$noun.sh"
done
# shellcheck source=tools/lab/lib/klog.sh
. tools/lab/lib/klog.sh

usage() {
	cat <<-'EOT'
		usage: selftests/run.sh [OPTION]...
		  --test PATTERN  only tests that match: scripts of selftests/ohca (test_qp, 'test_rc*') and sets outside
		                  of machines (ohcad, docs); may be repeated
		  --kernel K      all tests in machines, and no others, on this kernel: 6.1, 6.12, 7.2, 7.3,
		                  debug, or arm64, arm64-16k or arm64-64k for arm64 machines; may be repeated. Without it,
		                  on 6.12 and 7.2; 6.12 does not run scripts with "# kernels: newest", nor does debug without
		                  --long or --test
		  --all           everything on every kernel, and pyverbs; with --long, but on the debug kernel without it;
		                  6.1 and 7.3 do not run scripts with "# kernels: newest", nor pyverbs
		  --long          the long form of tests that have one (OHCA_LONG=1)
		  --junit FILE    writes the results there, too, as JUnit's XML
		  --results DIR   keeps each set's output and logs in DIR/SET; DIR must be empty or must not exist
		  --resume DIR    as --results, but DIR may have results of an earlier run of the same tree: sets that passed
		                  there do not run again, and their results count; the scripts and the form of each have to be
		                  those of the earlier run
		  --jobs N        number of sets at once; by default, as processors and memory allow
		  --list          only prints what would run
	EOT
}

# usage_error MESSAGE
usage_error() {
	echo "run.sh: $1" >&2
	exit 2
}

# absolute FILE: the path, relative to the folder where run.sh was started.
absolute() {
	case $1 in
	/*) echo "$1" ;;
	*) echo "$from/$1" ;;
	esac
}

patterns=() kernels=() everything='' long='' junit='' keep='' resume='' jobs='' list='' asked_kernels=''
while [ $# -gt 0 ]; do
	case $1 in
	--test | --kernel | --junit | --results | --resume | --jobs)
		[ -n "${2-}" ] || usage_error "$1 needs a value"
		value=$2
		;;
	esac
	case $1 in
	--test) patterns+=("$value") ;;
	--kernel)
		plan_known "$value" || usage_error "no such kernel: $value"
		[[ " ${kernels[*]} " = *" $value "* ]] || kernels+=("$value")
		asked_kernels=1
		;;
	--all) everything=1 long=1 ;;
	--long) long=1 ;;
	--junit) junit=$(absolute "$value") ;;
	--results) keep=$(absolute "$value") ;;
	--resume) resume=$(absolute "$value") ;;
	--jobs)
		[[ $value =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--jobs takes a number, not '$value'"
		jobs=$value
		;;
	--list) list=1 ;;
	--help | -h)
		usage
		exit
		;;
	*) usage_error "unknown option: $1 (see --help)" ;;
	esac
	case $1 in
	--test | --kernel | --junit | --results | --resume | --jobs) shift ;;
	esac
	shift
done
if [ ${#kernels[@]} = 0 ]; then
	kernels=("${KERNELS[@]}")
	[ -z "$everything" ] || kernels+=("${KERNELS_FURTHER[@]}" debug)
fi

plan_make "${kernels[@]}"
unmatched=$(plan_unmatched)
[ -z "$unmatched" ] || usage_error "no test matches: $unmatched"
if [ -n "$list" ]; then
	plan_print
	exit
fi
[ -z "$junit" ] || { : >"$junit"; } 2>/dev/null || usage_error "can't write $junit"
if [ -n "$keep" ]; then
	mkdir -p "$keep" 2>/dev/null || usage_error "can't make $keep"
	[ -z "$(ls -A "$keep")" ] || usage_error "not empty: $keep"
fi
if [ -n "$resume" ]; then
	[ -z "$keep" ] || usage_error "--results and --resume exclude each other"
	mkdir -p "$resume" 2>/dev/null || usage_error "can't make $resume"
	resume_same "$resume" || usage_error "not results of this tree and of sets as these: $resume"
	keep=$resume
fi

work=$(mktemp -d)
results=${keep:-$work/results}
: >"$work/failures"
trap 'rm -rf "$work"' EXIT
# A signal ends all sets; the script exits when they have ended.
step=
trap 'trap "" INT TERM
	[ -z "$step" ] || { kill "$step" && wait "$step"; } 2>/dev/null
	queue_stop
	exit 130' INT TERM

# lab ARGUMENT...: runs ohca-lab so that a signal can end it.
lab() {
	local status=0
	"$LAB" "$@" &
	step=$!
	wait "$step" || status=$?
	step=
	[ "$status" = 0 ] || exit 1
}

# Builds everything that several sets need, before they run at the same time.
prepare() {
	local built
	[[ " ${set_kernel[*]} " != *" debug "* ]] || lab debug-kernel
	[[ " ${set_kernel[*]} " != *" arm64-64k "* ]] || lab arm64-64k-kernel
	! plan_needs_stacks || lab setup stacks
	! plan_has capture || lab setup capture
	! plan_has watch || { lab setup capture && lab setup watch; }
	! plan_has ohcad || lab setup draw
	! plan_has cross || { lab setup draw && lab setup cross; }
	[ -z "$everything" ] || lab setup html
	! plan_has lab || lab setup session
	! plan_has kernel-tree || lab setup tree
	! plan_has pyverbs || lab setup pyverbs
	mapfile -t built < <(plan_kernels)
	lab build "${built[@]}"
}

durations_read
[ -z "$resume" ] || resume_read
prepare
queue_run
report_sums
report_profile "$SECONDS"
report_durations
[ -z "$junit" ] || report_junit "$junit" "$SECONDS"
cat "$work/failures"
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ "$total_failed" = 0 ]
