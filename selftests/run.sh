#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh: runs tests; see usage below, and Documentation/testing.rst. Those that need no machine run in the lab's
# root, those in ohca/ in machines: one boot for all that need one machine, one for all that need two, and so on, one
# for all that ask for the same one ("# boot: NAME"), and one for each that asks for its own ("# boot: own"). These
# sets of all kernels run beside each other; lines of each then begin with its name. Prints the tests' own output
# (TAP), what took long, the lines that failed, and at last "N passed, N failed, N skipped".

set -uo pipefail
from=$PWD
cd "$(dirname "$0")/.." || exit 1
LAB=${OHCA_LAB:-tools/lab/ohca-lab} # another one is for tests of this script
for noun in plan durations set repeat queue report; do
	# shellcheck source=/dev/null
	. "selftests/lib/$noun.sh"
done

usage() {
	cat <<-'EOT'
		usage: selftests/run.sh [OPTION]...
		  --test PATTERN  only what matches: scripts of selftests/ohca (test_qp, 'test_rc*') and sets outside
		                  of machines (ohcad, docs); may be repeated
		  --kernel K      only the machines' tests, all of them, on this kernel: 6.12, 7.2 or debug; may be
		                  repeated. Without it, those of the newest kernel, and on older ones those
		                  without "# kernels: newest"
		  --all           everything on every kernel, and pyverbs; with --long
		  --long          the long form of tests that have one (OHCA_LONG=1)
		  --junit FILE    writes the results there, too, as JUnit's XML
		  --results DIR   keeps each set's output and logs in DIR/SET; a folder that is empty or not there
		  --jobs N        sets at once; by default, what processors and memory allow
		  --list          only prints what would run
	EOT
}

# usage_error MESSAGE
usage_error() {
	echo "run.sh: $1" >&2
	exit 2
}

# absolute FILE: as it was meant where run.sh was started.
absolute() {
	case $1 in
	/*) echo "$1" ;;
	*) echo "$from/$1" ;;
	esac
}

patterns=() kernels=() everything='' long='' junit='' keep='' jobs='' list='' asked_kernels=''
while [ $# -gt 0 ]; do
	case $1 in
	--test | --kernel | --junit | --results | --jobs)
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
	--test | --kernel | --junit | --results | --jobs) shift ;;
	esac
	shift
done
if [ ${#kernels[@]} = 0 ]; then
	kernels=("${KERNELS[@]}")
	[ -z "$everything" ] || kernels+=(debug)
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

work=$(mktemp -d)
results=${keep:-$work/results}
: >"$work/failures"
trap 'rm -rf "$work"' EXIT
# A signal ends all of it, and returns when it has ended.
step=
trap 'trap "" INT TERM
	[ -z "$step" ] || { kill "$step" && wait "$step"; } 2>/dev/null
	queue_stop
	exit 130' INT TERM

# lab ARGUMENT...: ohca-lab, that a signal may end.
lab() {
	local status=0
	"$LAB" "$@" &
	step=$!
	wait "$step" || status=$?
	step=
	[ "$status" = 0 ] || exit 1
}

# Sets that run beside each other are not to build, each one, what all need.
prepare() {
	[[ " ${set_kernel[*]} " != *" debug "* ]] || lab debug-kernel
	! plan_needs_stacks || lab setup stacks
	! plan_has capture || lab setup capture
	! plan_has pyverbs || lab setup pyverbs
	lab build
}

durations_read
prepare
queue_run
report_sums
report_profile "$SECONDS"
report_durations
[ -z "$junit" ] || report_junit "$junit" "$SECONDS"
cat "$work/failures"
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ "$total_failed" = 0 ]
