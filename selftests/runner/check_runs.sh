#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The runner's options, and its use of machines. Those of fake_lab.sh run nothing.

. "$(dirname "$0")/lib.sh"
RUN=$DIR/../run.sh
export FAKE_DIR="$tmp" OHCA_LAB="$DIR/fake_lab.sh" OHCA_CACHE="$tmp"

# refuses ARGUMENT...: exit status 2, one line on standard error, no output, and nothing was built.
refuses()
{
	refuses_status=0
	rm -f "$tmp/calls"
	"$RUN" "$@" > "$tmp/out" 2> "$tmp/err" || refuses_status=$?
	cat "$tmp/out" "$tmp/err"
	[ "$refuses_status" = 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l < "$tmp/err")" = 1 ] && [ ! -e "$tmp/calls" ]
}

# lists LINE... -- ARGUMENT...: these sets would run.
lists()
{
	: > "$tmp/want"
	while [ "$1" != -- ]; do
		echo "$1" >> "$tmp/want"
		shift
	done
	shift
	"$RUN" --list "$@" > "$tmp/out" 2>&1
	diff "$tmp/want" "$tmp/out"
}

# ends STATUS ARGUMENT...: the runner ends with that, with machines that run nothing; its output is in $tmp/out.
ends()
{
	want=$1
	shift
	got=0
	rm -f "$tmp/calls"
	"$RUN" "$@" --junit "$tmp/xml" > "$tmp/out" 2>&1 || got=$?
	[ "$got" = "$want" ] || { echo "status $got"; cat "$tmp/out"; return 1; }
}

# runs STATUS ARGUMENT...: the same, with new results
runs()
{
	rm -rf "$tmp/results"
	ends "$@" --results "$tmp/results"
}

# resumes STATUS ARGUMENT...: the same, with the results of the call before
resumes()
{
	ends "$@" --resume "$tmp/resume"
}

# adds_together: runs that end at the same time lose no line of the durations.
adds_together()
{
	mkdir "$tmp/together"
	for num in $(seq 20); do
		echo "6.12/test_$num.sh 1.5" > "$tmp/together/$num"
		OHCA_CACHE="$tmp/together" bash -c '. "$1/../lib/durations.sh" && durations_write "$2"' bash "$DIR" "$tmp/together/$num" &
	done
	wait
	[ "$(grep -c '^6.12/test_[0-9]*.sh 1.5$' "$tmp/together/durations")" = 20 ] || { cat "$tmp/together/durations"; return 1; }
}

# picks LINKS SCRIPT...: without names, run_tests.sh runs these scripts in a machine of these link layers.
picks()
{
	picks_links=$1
	shift
	printf '# %s\n' "$@" > "$tmp/want"
	OHCA_LINKS=$picks_links "$tmp/machine/run_tests.sh" | grep '^# test_' > "$tmp/out"
	diff "$tmp/want" "$tmp/out"
}

# script NAME LINE...: a script of that machine, with these lines
script()
{
	script_file=$tmp/machine/test_$1.sh
	shift
	printf '%s\n' '#!/bin/sh' "$@" > "$script_file" && chmod +x "$script_file"
}

# timeout_of SET SECONDS: the command of that set gets so long.
timeout_of()
{
	mkdir -p "$tmp/bin"
	# shellcheck disable=SC2016 # for the program
	printf '%s\n' '#!/bin/sh' 'echo "timeout $*" >> "$FAKE_DIR/calls"' 'shift' 'exec "$@"' > "$tmp/bin/timeout"
	chmod +x "$tmp/bin/timeout"
	(PATH=$tmp/bin:$PATH && runs 0 --test "$1") && has "$tmp/calls" "timeout $2 "
}

last_line()
{
	tail -n 1 "$tmp/out"
	[ "$(tail -n 1 "$tmp/out")" = "$1" ]
}

no_orphans()
{
	while read -r pid; do
		! kill -0 "$pid" 2> /dev/null || { echo "process $pid is left"; return 1; }
	done < "$tmp/pids"
}

# interrupted SIGNAL [all]: the run ends, with all its processes. "all": as by a terminal, each process gets the signal, and again.
# A shell lets its background processes ignore SIGINT.
interrupted()
{
	: > "$tmp/pids"
	FAKE_SLEEP=120 env --default-signal=INT setsid "$RUN" --test test_rxe_2 --test test_qp > "$tmp/out" 2>&1 &
	interrupted_pid=$!
	interrupted_deadline=$(($(date +%s) + 60))
	until [ "$(grep -c . "$tmp/pids")" -ge 2 ] || [ "$(date +%s)" -ge "$interrupted_deadline" ]; do
		sleep 0.2
	done
	if [ -n "${2-}" ]; then
		kill -s "$1" -- "-$interrupted_pid"
		kill -s "$1" -- "-$interrupted_pid"
	else
		kill "-$1" "$interrupted_pid"
	fi
	wait "$interrupted_pid"
	interrupted_status=$?
	echo "status $interrupted_status"
	[ "$interrupted_status" = 130 ] && [ "$(wc -l < "$tmp/pids")" -ge 2 ] && no_orphans
}

plan 111

# Options

check "an unknown option" refuses --frobnicate
check "an option without its value" refuses --test
check "an unknown kernel" refuses --kernel 5.10
check "a test that matches nothing" refuses --test no_such_test
check "one of two tests that matches nothing" refuses --test test_qp --test no_such_test
check "a pattern that matches nothing on these kernels" refuses --test docs --kernel 7.2
check "a bad number of sets" refuses --jobs many
check "JUnit where nobody can write" refuses --test docs --junit /nowhere/at/all
mkdir "$tmp/full"
: > "$tmp/full/file"
check "a folder for results that is not empty" refuses --test docs --results "$tmp/full"
check "a name" lists "7.2.vms1: test_qp.sh" -- --kernel 7.2 --test test_qp
check "a name with .sh" lists "6.12.vms1: test_qp.sh" -- --kernel 6.12 --test test_qp.sh
check "a pattern, two kernels" lists "6.12.rxe: test_rxe_2.sh test_rxe_more_2.sh" "7.2.rxe: test_rxe_2.sh test_rxe_more_2.sh" \
	-- --kernel 6.12 --kernel 7.2 --test 'test_rxe*'
check "everything: each kernel, and pyverbs" lists "6.12.vms1: test_qp.sh" "7.2.vms1: test_qp.sh" "6.1.vms1: test_qp.sh" \
	"7.3.vms1: test_qp.sh" "debug.vms1: test_qp.sh" "6.12.pyverbs: all" "6.12.pyverbs.ib: all" "7.2.pyverbs: all" "7.2.pyverbs.ib: all" -- --all --test test_qp --test pyverbs
newest=$(grep -l '^# kernels: newest' "$DIR"/../ohca/test_*.sh | head -n 1)
if [ -n "$newest" ]; then
	newest=$(basename "$newest")
	check "kernels: newest" test "$("$RUN" --list --test "$newest" | grep -c "$newest")" = 1
	check "kernels: newest, but all kernels are asked for" test "$("$RUN" --list --all --test "$newest" | grep -c "$newest")" = 3
else
	skip "kernels: newest" "no script has it"
	skip "kernels: newest, but all kernels are asked for" "no script has it"
fi
check "kernels: debug" refuses --test test_smb_2
check "kernels: debug, and all kernels" lists "debug.dma: test_smb_2.sh" -- --all --test test_smb_2
check "kernels: newest, the debug kernel" test "$("$RUN" --list --kernel debug | grep -c test_storage_2)" = 0
check "the same, by name" lists "debug.vms2: test_storage_2.sh" -- --kernel debug --test test_storage_2
check "the same, in the long form" test "$("$RUN" --list --kernel debug --long | grep -c test_storage_2)" = 1
check "kernels: newest debug" test "$("$RUN" --list --kernel debug | grep -c test_fence_race)" = 1
check "kernels: newest debug, all kernels" test "$("$RUN" --list --all | grep -c test_fence_race)" = 3
check "link: ib" lists "7.2.subnet.ib: test_ib_port_2.sh" -- --kernel 7.2 --test test_ib_port_2
check "link: eth ib" lists "7.2.vms2: test_rc_example_2.sh" "7.2.vms2.ib: test_rc_example_2.sh" \
	-- --kernel 7.2 --test test_rc_example_2
check "link: eth long ib" lists "7.2.stacks: test_ucx_2.sh" -- --kernel 7.2 --test test_ucx_2
check "link: eth long ib, in the long form" lists "7.2.stacks: test_ucx_2.sh" "7.2.stacks.ib: test_ucx_2.sh" \
	-- --long --kernel 7.2 --test test_ucx_2
check "the same on all kernels: on the debug kernel in the short form" lists "6.12.stacks: test_ucx_2.sh" "6.12.stacks.ib: test_ucx_2.sh" \
	"7.2.stacks: test_ucx_2.sh" "7.2.stacks.ib: test_ucx_2.sh" "debug.stacks: test_ucx_2.sh" -- --all --test test_ucx_2
check "the debug kernel in the long form" lists "debug.stacks: test_ucx_2.sh" "debug.stacks.ib: test_ucx_2.sh" \
	-- --long --kernel debug --test test_ucx_2
check "a set outside of machines" lists "docs: selftests/docs" -- --test docs
check "a set outside of machines with a line 'long:'" lists "deb: selftests/deb" -- --test deb
check "in the long form" lists "deb: selftests/deb" "docs: selftests/docs" -- --long --test docs --test deb
check "not in the short form" test "$("$RUN" --list | grep -c -e '^deb:' -e '^docs:')" = 1

# In a machine

unset OHCA_LONG # of the run that this is a test of
mkdir "$tmp/machine" && cp "$DIR/../ohca/run_tests.sh" "$tmp/machine/"
script any
script boot "# boot: own"
script both "# link: eth ib"
script ib "# link: ib"
script later "# link: eth long ib - it takes long"
script pair "# link: ib+eth"
check "scripts for Ethernet" picks eth test_any.sh test_both.sh test_later.sh
check "scripts for InfiniBand" picks ib test_both.sh test_ib.sh
OHCA_LONG=1
export OHCA_LONG
check "scripts for InfiniBand in the long form" picks ib test_both.sh test_ib.sh test_later.sh
unset OHCA_LONG
check "scripts for two ports" picks "ib eth" test_pair.sh

# A run

check "a run in which all pass" runs 0 --test test_qp --test 'test_rxe*' --kernel 7.2 --kernel 6.12
check "all pass: the last line" last_line "20 passed, 0 failed, 0 skipped"
check "lines begin with the set's name" has "$tmp/out" "7.2.vms1: ok 1 first" "6.12.rxe: node1: # seconds: test_rxe_2.sh 2.5"
check "what took long, and booting" has "$tmp/out" "the slowest scripts:" "2.5 s  7.2.rxe test_rxe_2.sh" "the slowest sets:" \
	"# booting: 9.0 s in 6 starts of machines, 6 of them restored" \
	"s of processors"
check "results of each set are kept" has "$tmp/results/6.12.rxe/tap" "node1: ok 2 second"
check "it is built once, before" test "$(grep -nx 'build 6.12 7.2' "$tmp/calls" | cut -d : -f 1)" = 1
check "durations are kept" has "$tmp/durations" "6.12/test_rxe_2.sh 2.5"
check "durations of several runs are kept" adds_together
check "JUnit of the run: well-formed" well_formed "$tmp/xml"

export FAKE_LOG="ohcad: hca0: software breaks S-801: a doorbell"
check "a rule that software breaks" runs 1 --test test_qp --kernel 7.2
check "a broken rule: the device's line" has "$tmp/out" "# $FAKE_LOG"
check "a broken rule: is not repeated" test "$(grep -c run_tests "$tmp/calls")" = 1
check "a rule that the script breaks on purpose" runs 0 --test test_hostile --kernel 7.2
unset FAKE_LOG

export FAKE_FAIL=test_rxe_2.sh
check "a script that fails once" runs 0 --test 'test_rxe*' --kernel 7.2
check "is unsteady" has "$tmp/out" "# unsteady: 7.2.rxe: test_rxe_2.sh node0: not ok 2 second (why it failed)"
check "is not counted" last_line "7 passed, 0 failed, 0 skipped"
check "is alone the second time" has "$tmp/calls" "-- /opt/ohca/run_tests.sh test_rxe_2.sh"
check "JUnit: is not counted either" has "$tmp/xml" 'failures="0"' '<flakyFailure message="why it failed"/>'
check "JUnit of a repeat: well-formed" well_formed "$tmp/xml"

export FAKE_FAIL='' FAKE_BROKEN=test_rxe_2.sh
check "a script that fails twice" runs 1 --test 'test_rxe*' --kernel 7.2
check "is listed once" test "$(grep -c '^# failed: 7.2.rxe: test_rxe_2.sh node0: not ok 2 second (why it failed)$' "$tmp/out")" = 1
check "is counted once" last_line "7 passed, 1 failed, 0 skipped"
check "JUnit: is counted once" test "$(grep -c '<failure ' "$tmp/xml")" = 1

export FAKE_BROKEN='' FAKE_FAIL=test_rxe_2.sh FAKE_FOUND="node1: reports in the kernel log"
rm -f "$tmp/test_rxe_2.sh.failed"
check "a script that fails while a kernel reports something" runs 1 --test 'test_rxe*' --kernel 7.2
check "is not repeated" test "$(grep -c '^run --vms' "$tmp/calls")" = 1
check "has failed" has "$tmp/out" "# failed: 7.2.rxe: test_rxe_2.sh node0: not ok 2 second (why it failed)"
check "is explained by the report" has "$tmp/out" "# failed: 7.2.rxe: ohca-lab: node1: 1 suspicious lines"
unset FAKE_FOUND

export FAKE_FAIL='' FAKE_DEAD=test_rxe_2.sh
check "a machine that dies" runs 1 --test 'test_rxe*' --kernel 7.2
check "is not started again" test "$(grep -c '^run --vms' "$tmp/calls")" = 1
check "is no script's failure" has "$tmp/out" "# failed: 7.2.rxe: - node0: 1 of 2 lines came"
check "is explained" has "$tmp/out" "# failed: 7.2.rxe: ohca-lab: node0: ended before its command did"
export FAKE_DEAD=''

FAKE_BROKEN="test_cq.sh test_mr.sh test_mw.sh test_qp.sh"
check "more than a few failures" runs 1 --test 'test_[cmq][qrwp]' --kernel 7.2
check "are not repeated" test "$(grep -c '^run --vms' "$tmp/calls")" = 1
export FAKE_BROKEN=''

export FAKE_BROKEN=test_rxe_2.sh
check "a run that can be resumed" resumes 1 --test test_qp --test 'test_rxe*' --kernel 7.2
check "has a set that failed" last_line "9 passed, 1 failed, 0 skipped"
export FAKE_BROKEN=''
check "resumed" resumes 0 --test test_qp --test 'test_rxe*' --kernel 7.2
check "resumed: that set runs" has "$tmp/calls" "run_tests.sh test_rxe_2.sh"
check "resumed: no other one does" test "$(grep -c '^run --vms' "$tmp/calls")" = 1
check "resumed: says so" has "$tmp/out" "# resumed: 1 of 2 sets passed before"
check "resumed: results of both count" last_line "10 passed, 0 failed, 0 skipped"
check "resumed: JUnit has both" has "$tmp/xml" test_qp test_rxe_2
check "resumed: well-formed" well_formed "$tmp/xml"
check "resumed when all have passed" resumes 0 --test test_qp --test 'test_rxe*' --kernel 7.2
check "resumed when all have passed: nothing runs" test "$(grep -c '^run --vms' "$tmp/calls")" = 0
check "resumed when all have passed: they count" last_line "10 passed, 0 failed, 0 skipped"
check "resumed with a part of it" resumes 0 --test test_qp --kernel 7.2
check "resumed with a part of it: nothing runs" test "$(grep -c '^run --vms' "$tmp/calls")" = 0
check "resumed with a part of it: others do not count" last_line "2 passed, 0 failed, 0 skipped"
check "resumed with one more script of a set" refuses --test test_qp --test test_cq --kernel 7.2 --resume "$tmp/resume"
check "resumed in another form" refuses --long --test test_qp --kernel 7.2 --resume "$tmp/resume"
check "resumed with other sets" resumes 0 --test test_qp --kernel 7.2 --kernel 6.12
check "resumed with other sets: says so" has "$tmp/out" "# resumed: 1 of 2 sets passed before"
echo other > "$tmp/resume/tree"
check "resumed with another tree" refuses --test test_qp --kernel 7.2 --resume "$tmp/resume"
check "--resume and --results" refuses --test test_qp --kernel 7.2 --resume "$tmp/resume" --results "$tmp/none"

check "the long form" runs 0 --test test_qp --kernel 7.2 --long
check "is on the command line" has "$tmp/calls" "-- env OHCA_LONG=1 OHCA_SCRIPT_TIMEOUT=1200 /opt/ohca/run_tests.sh test_qp.sh"
check "lines of a single set have no name in front" has "$tmp/out" "# == 7.2.vms1"
check "processors that a script asks for on the newest kernel" runs 0 --test test_module --kernel 7.2 --kernel 6.12
check "are those of its machines there" has "$tmp/calls" "--kernel 7.2 --smp 2" "--kernel 6.12 --smp 1"
check "arguments of the kernel that a script asks for" runs 0 --test test_bounce_2 --kernel 7.2
check "are those of its machines" has "$tmp/calls" "--append swiotlb=force"
check "machines that are not to be restored" runs 0 --test test_sleep --kernel 7.2
check "are booted" has "$tmp/calls" "--no-snapshot"
check "both links" runs 0 --test test_rc_example_2 --kernel 7.2
check "have a boot each" has "$tmp/calls" "--smp 1 --link eth" "--smp 1 --link ib"
FAKE_BROKEN=test_ib_port_2.sh runs 1 --test test_ib_port_2 --kernel 7.2
check "a repeat has the same link" test "$(grep -c -e '--link ib' "$tmp/calls")" = 2
check "the debug kernel, with processors that a script asks for on the newest kernel" runs 0 --test test_module --kernel debug
check "has them" has "$tmp/calls" "--kernel debug --smp 2"
check "the debug kernel" runs 0 --test test_qp --kernel debug
check "is built, and has more memory and sanitizers" has "$tmp/calls" "debug-kernel" "--smp 1" "--mem 2048 --sanitize" \
	"--timeout 14400" "-- env OHCA_SLOW=8 /opt/ohca/run_tests.sh test_qp.sh"

check "a folder has an hour" timeout_of docs 3600
check "another time that its run.sh asks for" timeout_of cross 7200

check "SIGTERM ends all of it" interrupted TERM
check "SIGINT does, too" interrupted INT
check "Ctrl-C at a terminal does, too" interrupted INT all
finish
