# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A run: machines, what joins them, their command, and the verdict. Runs inside the root, in
# namespaces that end with it; all it writes is in memory, in $RUN.

RUN=/run/ohca-lab
# How long the others may go on after one machine has failed, in seconds.
RUN_GRACE=10

# run_prepare: everything that is the same for each machine.
run_prepare() {
	local device
	KERNEL=$(kernel_find "$opt_kernel") || exit
	if options_have ohca; then
		build_ohcad "$opt_sanitize"
		build_ohcactl
		build_module "$KERNEL"
		build_provider
	fi
	build_selftests "$KERNEL"
	build_tsc_khz
	image_setup
	mkdir -p "$RUN/lab"/{share,barrier,host}
	mkfifo "$RUN/nap"
	exec {RUN_NAP}<>"$RUN/nap"
	chmod 1777 "$RUN/lab/share"
	[ -z "$opt_share" ] || mount --bind /share "$RUN/lab/share"
	for device in $(printf '%s\n' "${opt_devices[@]}" | sort -u); do
		image_base "$KERNEL" >"$RUN/initrd-$device"
		layer_pack "$KERNEL" "$device" >>"$RUN/initrd-$device"
	done
	ohcad_start
}

# run_nap SECONDS: sleeps without a process, whose start and end would disturb the machines: reads a pipe that
# nobody writes to.
run_nap() {
	read -rt "$1" -u "$RUN_NAP" || :
}

# run_main: boots the machines, follows their output, returns the status of the whole.
run_main() {
	local rank
	[ ${#opt_command[@]} -gt 0 ] || die_usage "no command; give one after '--'"
	run_prepare
	printf '%q ' exec "${opt_command[@]}" >"$RUN/lab/command"
	run_start
	run_wait
	wait "${follow_pid[@]}"
	run_verdict
}

# run_start: all machines.
run_start() {
	local rank
	machine_pid=() machine_keys=() machine_boots=() machine_power=() follow_pid=()
	for ((rank = 0; rank < opt_vms; rank++)); do
		machine_new "$rank"
		run_boot "$rank"
	done
}

# run_boot RANK: turns it on, and follows its output.
run_boot() {
	machine_boot "$1"
	run_follow "$1" &
	follow_pid[$1]=$!
}

# run_off RANK: ends it at once, as the loss of power does; returns when all it said is shown.
run_off() {
	machine_kill "$1"
	machine_power[$1]=off
	wait "${follow_pid[$1]}" || :
}

# run_follow RANK: its command's output to ours, line by line; with more than one machine, each line
# begins with the machine's name. With a shell, only the first one's.
run_follow() {
	if [ -n "${LAB_TTY-}" ] && [ "$1" != 0 ]; then
		exec cat "$RUN/node$1.out" >/dev/null
	elif [ "$opt_vms" = 1 ] || [ -n "${LAB_TTY-}" ]; then
		exec cat "$RUN/node0.out"
	fi
	exec stdbuf -oL sed "s/^/node$1: /" "$RUN/node$1.out"
}

# run_wait: until all machines have ended, the time is over, or one has failed and the others had
# their grace. Sets $run_ended to why, and $run_stopped to whom, if it was not their own will.
run_wait() {
	local deadline=$((SECONDS + opt_timeout)) rank running failed=''
	run_ended='' run_stopped=()
	while :; do
		host_serve
		running=()
		for rank in "${!machine_pid[@]}"; do
			! run_has "$rank" || running+=("$rank")
			[ -z "$failed" ] || continue
			machine_status "$rank"
			case $machine_status in
			0) continue ;;
			'') [ "${running[*]: -1}" != "$rank" ] || continue ;;
			esac
			failed=node$rank
			[ $((SECONDS + RUN_GRACE)) -ge "$deadline" ] || deadline=$((SECONDS + RUN_GRACE))
		done
		[ ${#running[@]} -gt 0 ] || return 0
		if [ "$SECONDS" -ge "$deadline" ]; then
			run_ended="after $opt_timeout s"
			[ -z "$failed" ] || run_ended="$RUN_GRACE s after $failed had failed"
			run_stopped=("${running[@]}")
			run_ask_stuck
			for rank in "${running[@]}"; do
				machine_kill "$rank"
			done
			return 0
		fi
		run_nap 0.05
	done
}

# run_has RANK: whether it takes part still, as do those that are off, or leave to come back.
run_has() {
	[ "${machine_power[$1]}" != on ] || machine_runs "$1"
}

# run_ask_stuck: has the machines of $run_stopped without a status log their blocked tasks (SysRq w)
# and what their processors do (SysRq l), so that a time-out can be told from a deadlock.
run_ask_stuck() {
	local rank
	for rank in "${run_stopped[@]}"; do
		machine_status "$rank"
		[ -n "$machine_status" ] || machine_sysrq "$rank" wl
	done
	sleep 1
}

# run_verdict: says what went wrong, and returns 0, the first failed command's status, 124 for a
# time-out, or 1 for what the lab itself found.
run_verdict() {
	local rank result=0 found=0
	for rank in "${!machine_pid[@]}"; do
		run_verdict_one "$rank" || [ "$result" != 0 ] || result=$?
		klog_check "node$rank" "$RUN/node$rank.log" || found=1
	done
	ohcad_stop || found=1
	[ "$result" != 0 ] || result=$found
	[ "$result" = 0 ] || [ ! -s "$RUN/ohcad.log" ] || {
		note "the end of ohcad's log:"
		tail -n 20 "$RUN/ohcad.log" >&2
	}
	return "$result"
}

# run_verdict_one RANK: its part of run_verdict.
run_verdict_one() {
	machine_status "$1"
	case $machine_status in
	0)
		return 0
		;;
	'')
		case " ${run_stopped[*]-} " in
		*" $1 "*)
			note "node$1: stopped $run_ended"
			run_tail "$1" 60
			return 124
			;;
		esac
		note "node$1: ended before its command did"
		klog_clean "$RUN/node$1.log" && run_tail "$1" 40
		return 1
		;;
	esac
	note "node$1: the command failed with status $machine_status"
	return "$machine_status"
}

# run_tail RANK LINES: the end of what a machine and its QEMU said.
run_tail() {
	[ ! -s "$RUN/node$1.qemu" ] || sed "s/^/node$1: /" "$RUN/node$1.qemu" >&2
	tail -n "$2" "$RUN/node$1.log" 2>/dev/null | tr -d '\r' | sed "s/^/node$1: | /" >&2
}

# run_shell: the same machines, a login shell in the first one on this terminal.
run_shell() {
	local result=0
	run_prepare
	echo 'exec sleep infinity' >"$RUN/lab/command"
	LAB_TTY=$(stty size | tr ' ' x)
	note "node0 boots; leave its shell to end the machines"
	run_start
	while machine_runs 0; do
		host_serve
		run_nap 0.05
	done
	wait "${machine_pid[0]}" || :
	ohcad_stop || result=1
	klog_check node0 "$RUN/node0.log" || result=1
	return "$result"
}
