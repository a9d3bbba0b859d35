#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [--kernel K]...: runs every test. Those that need no machine run in the lab's root, those in
# ohca/ in machines: for each kernel (by default each supported one) one boot for all that need one
# machine, one for all that need two, and so on, one for all that ask for the same one ("# boot:
# NAME"), and one for each that asks for its own ("# boot: own"). With --kernel, only the machines'
# tests, on these kernels. Kernels run side by side, as their machines wait for each other most of the
# time; lines of each then begin with its name. At its first run it adds to the root what they need
# beyond that (tools/lab/packages.stacks, packages.capture). Prints the tests' own output (TAP) and at
# last the lines that failed and "N passed, N failed, N skipped".
#
# A script that failed in a machine is repeated once, in a boot of its own. If it passes then, its
# failed lines are not counted; they are listed at the end as unsteady. A boot that did not come to its
# end (a dead machine, a hang) is not repeated, nor is more than a few scripts.

set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
LAB=tools/lab/ohca-lab
REPEATS=3 # scripts repeated for one kernel
log=$(mktemp -d)
failures=$log/failures # all of them; lines "failed: ..." and "unsteady: ..."
: >"$failures"
trap 'rm -rf "$log"' EXIT
# A signal ends all of it, not only the sets that run.
children=()
on_signal() {
	trap '[ ${#children[@]} = 0 ] || kill "${children[@]}"; exit 130' INT TERM
}
on_signal

kernels=()
while [ $# -gt 0 ]; do
	case $1 in
	--kernel)
		[ $# -ge 2 ] || { echo "run.sh: --kernel needs a value" >&2 && exit 2; }
		kernels+=("$2")
		shift 2
		;;
	*)
		echo "usage: selftests/run.sh [--kernel K]..." >&2
		exit 2
		;;
	esac
done

total_passed=0 total_failed=0 total_skipped=0

# count NAME STATUS FILE: counts the TAP in FILE in set_passed, set_failed and set_skipped: lines of each
# machine ("nodeN: ") are a stream of their own, in which several tests may follow each other. A plan
# that was not fulfilled is a failure; so is a bad STATUS that no line explains. Failures are left in
# $log/set, each as "SCRIPT LINE (WHY)", with "-" for SCRIPT outside of machines and if a machine did not
# come to its end; WHY is how the comments before the line begin.
count() {
	read -r set_passed set_failed set_skipped < <(awk -v status="$2" -v list="$log/set" '
		function fail(number, stream, why) {
			failed += number
			if (why ~ /^not ok/ && comments[stream] != "")
				why = why " (" substr(comments[stream], 1, 300) ")"
			where[++failures] = stream
			what[failures] = (stream in running ? running[stream] : "-") " " stream why
		}
		function close_plan(stream) {
			if (planned[stream] > seen[stream])
				fail(planned[stream] - seen[stream], stream, \
				     seen[stream] + 0 " of " planned[stream] " lines came")
			planned[stream] = seen[stream] = 0
		}
		BEGIN { printf "" >list }
		{
			stream = ""
			sub(/\r$/, "")
			if (match($0, /^node[0-9]+: /)) {
				stream = substr($0, 1, RLENGTH)
				$0 = substr($0, RLENGTH + 1)
			}
		}
		/^TAP version/ { close_plan(stream) }
		/^1\.\.[0-9]+/ { running[stream] = script[stream]
				 planned[stream] = substr($1, 4) + 0; streams[stream]
				 if (planned[stream] == 0 && /# *[Ss][Kk][Ii][Pp]/) skipped++ }
		/^# /          { comments[stream] = comments[stream] (comments[stream] == "" ? "" : "; ") substr($0, 3) }
		/^ok /         { seen[stream]++; if (/# *[Ss][Kk][Ii][Pp]/) skipped++; else passed++ }
		/^not ok /     { seen[stream]++; fail(1, stream, $0) }
		/^(not )?ok /  { comments[stream] = "" }
		/^Bail out!/   { fail(1, stream, $0); planned[stream] = seen[stream] = 0 }
		# After a reboot, too, where the plan goes on
		/^# test_[^ ]*\.sh$/ { script[stream] = $2; comments[stream] = "" }
		/^# scripts: / { ended[stream] }
		END {
			for (stream in streams)
				close_plan(stream)
			if (status != 0 && status != 4 && failed + 0 == 0)
				fail(1, "lab: ", "status " status)
			if (passed + failed + skipped == 0)
				fail(1, "lab: ", "no tests")
			for (i = 1; i <= failures; i++) {
				if (!(where[i] in ended))
					sub(/^[^ ]*/, "-", what[i])
				print what[i] >list
			}
			print passed + 0, failed + 0, skipped + 0
		}' "$3")
	echo "# $1: $set_passed passed, $set_failed failed, $set_skipped skipped"
}

# add_up WORD NAME: adds the last set to the sums, and notes what failed in it for the end.
add_up() {
	total_passed=$((total_passed + set_passed))
	total_failed=$((total_failed + set_failed))
	total_skipped=$((total_skipped + set_skipped))
	sed "s|^|# $1: $2: |" "$log/set" >>"$failures"
}

# set_run NAME COMMAND...: runs one set of tests and counts them.
set_run() {
	local name=$1 status=0
	shift
	echo "# == $name"
	[ -p "$log/pipe" ] || mkfifo "$log/pipe"
	tee "$log/tap" <"$log/pipe" &
	"$@" >"$log/pipe" &
	children=($!)
	wait "${children[0]}" || status=$?
	children=()
	wait
	count "$name" "$status" "$log/tap"
}

# Tests outside of machines.
outside() {
	local dir
	for dir in selftests/*/; do
		dir=${dir%/}
		case $dir in
		selftests/ohca | selftests/pyverbs) ;;
		*)
			if [ -e "$dir/Makefile" ]; then
				set_run "${dir#*/}" outside_make "$dir"
			elif [ -x "$dir/run.sh" ]; then
				set_run "${dir#*/}" "$LAB" exec -- "$dir/run.sh"
			else
				continue
			fi
			add_up failed "${dir#*/}"
			;;
		esac
	done
}

# A test that hangs fails: nothing here takes minutes. In the subshell that set_run starts.
# shellcheck disable=SC2016 # $O is set in there
outside_make() {
	exec timeout 900 "$LAB" exec -- sh -c 'export CMOCKA_MESSAGE_OUTPUT=tap
		make -s -C "$1" O="$O/${1##*/}" -j"$(nproc)" all >/dev/null &&
		make -s --no-print-directory -C "$1" O="$O/${1##*/}" run' sh "$1"
}

# needs TEST WHAT: the number in its line "# WHAT: N"; 1 without one.
needs() {
	local number
	number=$(sed -n "s/^# $2: \([0-9]*\)\$/\1/p" "selftests/ohca/$1")
	echo "${number:-1}"
}

# machines KERNEL: one boot for all tests that need as many machines with as many adapters; those that
# name a boot are in that one.
machines() {
	local -A boots=()
	local test boot own words
	for test in selftests/ohca/test_*.sh; do
		test=${test##*/}
		boot="$(needs "$test" vms) $(needs "$test" hcas)"
		own=$(sed -n 's/^# boot: //p' "selftests/ohca/$test")
		[ "$own" != own ] || own=$test
		[ -z "$own" ] || boot+=" $own"
		boots[$boot]+=" $test"
	done
	while read -r boot; do
		read -ra words <<<"${boots[$boot]}"
		machines_run "$1" "$boot" "${words[@]}"
	done < <(printf '%s\n' "${!boots[@]}" | sort -k1,1n -k2,2n -k3)
}

# machines_run KERNEL "VMS HCAS [NAME]" TEST...: one boot, and a second one for those of its tests that
# failed.
machines_run() {
	local kernel=$1 vms hcas own name options=(--timeout 900) devices='' disk fault word=failed
	read -r vms hcas own <<<"$2"
	shift 2
	name="kernel $kernel, machines: $vms"
	[ "$hcas" = 1 ] || name+=", adapters: $hcas"
	if [ -n "$own" ]; then
		name+=", $own"
		devices=$(sed -n 's/^# devices: //p' "selftests/ohca/$1")
		disk=$(sed -n 's/^# disk: //p' "selftests/ohca/$1")
		[ -z "$disk" ] || options+=(--disk "$disk")
		while read -r fault; do
			options+=(--fault "$fault")
		done < <(sed -n 's/^# faults: //p' "selftests/ohca/$1")
	fi
	[ "$kernel" != debug ] || options+=(--timeout 3600 --mem 2048 --sanitize)
	local command=("$LAB" run --vms "$vms" --hcas "$hcas" --device "${devices:-ohca}" --kernel "$kernel"
		--smp 2 "${options[@]}" -- /opt/ohca/run_tests.sh)
	set_run "$name" "${command[@]}" "$@"
	! may_repeat || repeat "$name" "${command[@]}"
	add_up "$word" "$name"
}

# may_repeat: the last set's failures are those of a few scripts.
may_repeat() {
	mapfile -t scripts < <(cut -d ' ' -f 1 "$log/set" | sort -u)
	[ ${#scripts[@]} -gt 0 ] && [ ${#scripts[@]} -le "$repeats" ] && [[ " ${scripts[*]} " != *" - "* ]]
}

# repeat NAME COMMAND...: runs these scripts again. What fails now counts in place of what failed, and
# if nothing does, machines_run's word says so.
repeat() {
	local name=$1 passed=$set_passed skipped=$set_skipped
	shift
	repeats=$((repeats - ${#scripts[@]}))
	mv "$log/set" "$log/first"
	set_run "$name, again" "$@" "${scripts[@]}"
	set_passed=$passed set_skipped=$skipped
	if [ "$set_failed" = 0 ]; then
		word=unsteady
		mv "$log/first" "$log/set"
	fi
}

# lane KERNEL: all of this kernel's sets, beside those of others; in a subshell. Its sums are in
# $log/KERNEL.sums at the end.
lane() {
	local sums=$log/$1.sums
	on_signal
	log=$log/$1
	mkdir "$log"
	total_passed=0 total_failed=0 total_skipped=0 repeats=$REPEATS
	machines "$1"
	echo "$total_passed $total_failed $total_skipped" >"$sums"
}

# lanes KERNEL...: side by side.
lanes() {
	local kernel output passed failed skipped writers=()
	for kernel; do
		exec {output}> >(exec sed -u "s/^/$kernel: /")
		writers+=($!)
		lane "$kernel" >&"$output" &
		children+=($!)
		exec {output}>&-
	done
	wait "${children[@]}"
	children=()
	wait "${writers[@]}"
	for kernel; do
		passed=0 failed=1 skipped=0
		read -r passed failed skipped <"$log/$kernel.sums"
		total_passed=$((total_passed + passed))
		total_failed=$((total_failed + failed))
		total_skipped=$((total_skipped + skipped))
	done
}

"$LAB" setup stacks || exit 1
"$LAB" setup capture || exit 1
if [ ${#kernels[@]} = 0 ]; then
	kernels=(6.12 7.2)
	"$LAB" build || exit 1 # some tests outside of machines need the build of the provider
	outside
fi
if [ ${#kernels[@]} = 1 ]; then
	repeats=$REPEATS
	machines "${kernels[0]}"
else
	lanes "${kernels[@]}"
fi
cat "$failures"
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ "$total_failed" = 0 ]
