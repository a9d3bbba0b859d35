#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [--kernel K]...: runs every test. Those that need no machine run in the lab's root, those in
# ohca/ in machines: for each kernel (by default each supported one) one boot for all that need one
# machine, one for all that need two, and so on, one for all that ask for the same one ("# boot:
# NAME"), and one for each that asks for its own ("# boot: own"). With --kernel, only the machines'
# tests, on these kernels. Kernels run side by side, as their machines wait for each other most of the
# time; lines of each then begin with its name. At its first run it adds to the root what they need
# beyond that (tools/lab/packages.stacks). Prints the tests' own output (TAP) and at last "N passed,
# N failed, N skipped".

set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
LAB=tools/lab/ohca-lab
log=$(mktemp -d)
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

# count NAME STATUS FILE: adds up the TAP in FILE: lines of each machine ("nodeN: ") are a stream of
# their own, in which several tests may follow each other. A plan that was not fulfilled is a
# failure; so is a bad STATUS that no line explains.
count() {
	local passed failed skipped
	read -r passed failed skipped < <(awk -v status="$2" '
		function close_plan(stream) {
			if (planned[stream] > seen[stream])
				failed += planned[stream] - seen[stream]
			planned[stream] = seen[stream] = 0
		}
		{
			stream = ""
			sub(/\r$/, "")
			if (match($0, /^node[0-9]+: /)) {
				stream = substr($0, 1, RLENGTH)
				$0 = substr($0, RLENGTH + 1)
			}
		}
		/^TAP version/ { close_plan(stream) }
		/^1\.\.[0-9]+/ { planned[stream] = substr($1, 4) + 0; streams[stream]
				 if (planned[stream] == 0 && /# *[Ss][Kk][Ii][Pp]/) skipped++ }
		/^ok /         { seen[stream]++; if (/# *[Ss][Kk][Ii][Pp]/) skipped++; else passed++ }
		/^not ok /     { seen[stream]++; failed++ }
		/^Bail out!/   { failed++; planned[stream] = seen[stream] = 0 }
		END {
			for (stream in streams)
				close_plan(stream)
			if (status != 0 && status != 4 && failed + 0 == 0)
				failed = 1
			print passed + 0, failed + 0, skipped + 0
		}' "$3")
	[ $((passed + failed + skipped)) -gt 0 ] || failed=1
	echo "# $1: $passed passed, $failed failed, $skipped skipped"
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	total_skipped=$((total_skipped + skipped))
}

# set_run NAME COMMAND...: runs one set of tests.
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
			fi
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

# machines_run KERNEL "VMS HCAS [NAME]" TEST...: one boot.
machines_run() {
	local kernel=$1 vms hcas own name options=(--timeout 900) devices='' disk fault
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
	set_run "$name" "$LAB" run --vms "$vms" --hcas "$hcas" --device "${devices:-ohca}" --kernel "$kernel" \
		--smp 2 "${options[@]}" -- /opt/ohca/run_tests.sh "$@"
}

# lane KERNEL: all of this kernel's sets, beside those of others; in a subshell. Its sums are in
# $log/KERNEL.sums at the end.
lane() {
	local sums=$log/$1.sums
	on_signal
	log=$log/$1
	mkdir "$log"
	total_passed=0 total_failed=0 total_skipped=0
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
if [ ${#kernels[@]} = 0 ]; then
	kernels=(6.12 7.2)
	"$LAB" build || exit 1 # some tests outside of machines need the build of the provider
	outside
fi
if [ ${#kernels[@]} = 1 ]; then
	machines "${kernels[0]}"
else
	lanes "${kernels[@]}"
fi
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ "$total_failed" = 0 ]
