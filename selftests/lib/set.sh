# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# One set of tests: runs it and counts its results. These files of $work/SET/ are then there:
#   seconds    how long it took
#   cpu        seconds of processor time: of its command, and of the processes that it waited for
#   status     of its command
#   sums       "PASSED FAILED SKIPPED"
#   failed     its failures, see tap.awk
#   times      "SCRIPT SECONDS" of its scripts
# In $results/SET/ there are tap, its output, errors, what it wrote to stderr, and the files that "ohca-lab run --results"
# writes; for a set without machines only the first two.

# set_now: prints a clock, in tenths of a second.
set_now() {
	local now=${EPOCHREALTIME/[.,]/}
	echo "${now%?????}"
}

# set_timeout FOLDER: prints the seconds in which its tests have to end: those of the line "# timeout: N - WHY" of its run.sh.
set_timeout() {
	local seconds
	seconds=$(sed -n 's/^# timeout: \([0-9]*\) - .*/\1/p' "$1/run.sh" 2>/dev/null)
	echo "${seconds:-3600}"
}

# set_command SET: sets the array $command.
set_command() {
	local dir=${set_tests[$1]}
	case ${set_kind[$1]} in
	outside)
		command=(timeout "$(set_timeout "$dir")")
		case $1 in
		lab | deb) ;; # they start machines, or make trees of Debian
		*) command+=("$LAB" exec --) ;;
		esac
		if [ -e "$dir/Makefile" ]; then
			# shellcheck disable=SC2016 # $O is set in there
			command+=(sh -c 'export CMOCKA_MESSAGE_OUTPUT=tap
				make -s -C "$1" O="$O/${1##*/}" -j"$(nproc)" all >/dev/null &&
				make -s --no-print-directory -C "$1" O="$O/${1##*/}" run' sh "$dir")
		else
			command+=("$dir/run.sh")
		fi
		[ -z "$long" ] || command=(env OHCA_LONG=1 "${command[@]}")
		;;
	pyverbs)
		command=(selftests/pyverbs/run.sh --tap --kernel "${set_kernel[$1]}" --results "$results/$1")
		if [ "${set_link[$1]-}" = ib ]; then
			command+=(--device ib)
		else
			command+=(--device ohca --device rxe)
		fi
		;;
	machines)
		set_command_machines "$1"
		;;
	esac
}

# set_topology SET TOPOLOGY: prints the path of the net file, which "ohca-topology ARGUMENT..." has to make.
set_topology() {
	case $2 in
	"ohca-topology "*)
		# shellcheck disable=SC2086 # words
		tools/topology/$2 >"$work/$1/topology.net"
		echo "$work/$1/topology.net"
		;;
	*) echo "selftests/ohca/$2" ;;
	esac
}

# set_command_machines SET: scripts that share a boot use the settings of the first one.
set_command_machines() {
	local kernel=${set_kernel[$1]} tests devices='' disk append timeout=2700 grace=60 env=() fault ohcads topology speed width
	read -ra tests <<<"${set_tests[$1]}"
	command=("$LAB" run --vms "${set_vms[$1]}" --hcas "${set_hcas[$1]}" --kernel "$kernel"
		--smp "${set_smp[$1]}" --link "${set_link[$1]}")
	if [ -n "$(plan_header "${tests[0]}" boot)" ]; then
		devices=$(plan_header "${tests[0]}" devices)
		disk=$(plan_header "${tests[0]}" disk)
		[ -z "$disk" ] || command+=(--disk "$disk")
		append=$(plan_header "${tests[0]}" append)
		[ -z "$append" ] || command+=(--append "$append")
		[ -z "$(plan_header "${tests[0]}" no-snapshot)" ] || command+=(--no-snapshot)
		ohcads=$(plan_header "${tests[0]}" ohcads)
		[ -z "$ohcads" ] || command+=(--ohcads "$ohcads")
		topology=$(plan_header "${tests[0]}" topology)
		[ -z "$topology" ] || command+=(--topology "$(set_topology "$1" "$topology")")
		read -r speed width < <(plan_header "${tests[0]}" rate) || :
		[ -z "$speed" ] || command+=(--speed "$speed" --width "$width" --pace on)
		while read -r fault; do
			command+=(--fault "$fault")
		done < <(plan_header "${tests[0]}" faults)
	fi
	! plan_is_long "$kernel" || timeout=7200 env+=(OHCA_LONG=1 OHCA_SCRIPT_TIMEOUT=1200)
	if [ "$kernel" = debug ]; then
		timeout=14400 grace=300 env+=(OHCA_SLOW=8)
		command+=(--mem 2048 --sanitize)
	fi
	command+=(--device "${devices:-ohca}" --timeout "$timeout" --grace "$grace" --results "$results/$1" --)
	[ ${#env[@]} = 0 ] || command+=(env "${env[@]}")
	command+=(/opt/ohca/run_tests.sh "${tests[@]}")
}

# set_run SET: runs it in a subshell. A signal ends the subshell with all its processes.
set_run() {
	local status=0 start tenths child='' command=()
	trap 'trap "" INT TERM; [ -z "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null; exit 130' INT TERM
	mkdir -p "$work/$1" "$results/$1"
	mkfifo "$work/$1/pipe" "$work/$1/errors"
	start=$(set_now)
	set_command "$1"
	echo "# == $1"
	tee "$results/$1/tap" <"$work/$1/pipe" &
	tee "$results/$1/errors" <"$work/$1/errors" >&2 &
	"${command[@]}" >"$work/$1/pipe" 2>"$work/$1/errors" &
	child=$!
	wait "$child" || status=$?
	child=
	wait
	tenths=$(($(set_now) - start))
	times >"$work/$1/cpu.times" # not in a pipe, which has other processes
	awk 'NR == 2 { gsub(/[ms]/, " "); gsub(/,/, "."); printf "%.1f\n", $1 * 60 + $2 + $3 * 60 + $4 }' "$work/$1/cpu.times" >"$work/$1/cpu"
	echo "$((tenths / 10)).$((tenths % 10))" >"$work/$1/seconds"
	set_rules "$1" >"$work/$1/rules" || status=1
	tee -a "$results/$1/tap" <"$work/$1/rules"
	echo "$status" >"$work/$1/status"
	set_count "$1" "$work/$1/failed" '' '' >"$work/$1/sums.new"
	mv "$work/$1/sums.new" "$work/$1/sums"
	[ -z "$resume" ] || resume_write "$1"
	set_say "$1"
}

# set_rules SET: fails, and prints the devices' log lines, if software broke a rule of the specification. A script's line
# "# breaks: RULE - WHY" allows that.
set_rules() {
	local allowed='' test logs=()
	[ "${set_kind[$1]}" = machines ] || return 0
	mapfile -t logs < <(compgen -G "$results/$1/ohcad*.log")
	[ ${#logs[@]} -gt 0 ] || return 0
	for test in ${set_tests[$1]}; do
		allowed+=" $(plan_header "$test" breaks)"
	done
	awk -v allowed="$allowed" '
		match($0, /software breaks S-[0-9]+/) {
			rule = substr($0, RSTART + 16, RLENGTH - 16)
			if (index(allowed " ", " " rule " "))
				next
			print "# " $0
			broken = 1
		}
		END { exit broken }' "${logs[@]}"
}

# set_count SET LIST JUNIT FAILURES: counts the results; see tap.awk.
set_count() {
	local machines=0 dir=$work/$1
	[ "${set_kind[$1]}" != machines ] || machines=1
	LC_ALL=C awk -f selftests/lib/tap.awk -v set="$1" -v status="$(cat "$dir/status")" -v machines="$machines" \
		-v seconds="$(cat "$dir/seconds")" -v list="$2" -v times="$dir/times" -v junit="$3" \
		-v failures="$4" "$results/$1/tap"
}

# set_say SET: prints its counts and its time.
set_say() {
	local passed failed skipped
	read -r passed failed skipped <"$work/$1/sums"
	echo "# $1: $passed passed, $failed failed, $skipped skipped, $(cat "$work/$1/seconds") s," \
		"$(cat "$work/$1/cpu") s of processors"
}
