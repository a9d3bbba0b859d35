# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A run: machines, their networks, their command, and the result. Runs inside the root, in namespaces that end with
# it; everything that it writes is in $RUN: in memory, or if machines stay a folder on the host.

RUN=/run/ohca-lab
# The folder of --results.
RESULTS=/run/results
# The folder of --topology's file.
RUN_TOPOLOGY=/run/topology

# run_prepare: sets up everything that is the same for each machine.
run_prepare() {
	local device
	run_results
	build_use
	if custom_is "$opt_kernel"; then
		custom_setup
		opt_kernel=debug
	fi
	KERNEL=$(kernel_find "$opt_kernel") || exit
	arch_set "$(kernel_arch "$KERNEL")"
	if options_have ohca; then
		build_ohcad "$opt_sanitize"
		ohcad_check
		build_ohcactl
		build_module "$KERNEL"
		build_provider
	fi
	build_selftests "$KERNEL"
	build_tsc_khz
	build_guests
	image_setup
	mkdir -p "$RUN/lab"/{share,barrier,host,opensm} "$MACHINE_DISKS"
	[ -z "$opt_topology" ] || cp "$(topology_file)" "$RUN/lab/topology"
	nap_setup
	chmod 1777 "$RUN/lab/share"
	[ -z "$opt_share" ] || mount --bind /share "$RUN/lab/share"
	for device in $(printf '%s\n' "${opt_devices[@]}" | sort -u); do
		layer_setup "$KERNEL" "$device"
		cp "$LAYER" "$RUN/lab/layer-$device"
	done
	image_initrd "$KERNEL"
	image_more "$KERNEL"
	custom_ready
	ACCEL=$(machine_accel)
	machine_clock
	snapshot_setup
	machine_args
	ohcad_start
}

# run_main: boots the machines, follows their output, and returns the status of the run.
run_main() {
	local result=0
	run_prepare
	printf '%q ' exec "${opt_command[@]}" >"$RUN/lab/command"
	run_start
	run_wait
	wait "${follow_pid[@]}" "${console_pid[@]}"
	run_verdict || result=$?
	run_keep
	return "$result"
}

# run_results: with --results, removes what an earlier run, or an earlier lab, has left there. It may have had more machines.
run_results() {
	[ -z "$opt_results" ] || rm -f "$RESULTS"/node*.{log,out,opensm} "$RESULTS"/ohcad*.log "$RESULTS"/{boots,found}
}

# run_found WHAT: with --results, adds what the lab has found to the file "found".
run_found() {
	[ -z "$opt_results" ] || echo "$1" >>"$RESULTS/found"
}

# run_klog RANK: fails, and says so, if the machine's kernel has reported something.
run_klog() {
	! klog_check "node$1" "$RUN/node$1.log" || return 0
	run_found "node$1: reports in the kernel log"
	return 1
}

# run_ohcad_stop: ends ohcad. If ohcad itself failed, it fails, says so, and shows the end of ohcad's log.
run_ohcad_stop() {
	! ohcad_stop || return 0
	run_found "ohcad has failed"
	return 1
}

# run_keep: with --results, keeps the logs of the machines and ohcad.
run_keep() {
	local rank
	[ -n "$opt_results" ] || return 0
	for rank in "${!machine_pid[@]}"; do
		cat "$RUN/node$rank.log" "$RUN/node$rank.qemu" >"$RESULTS/node$rank.log" 2>/dev/null || :
		[ ! -e "$RUN/lab/opensm/node$rank" ] || cp "$RUN/lab/opensm/node$rank" "$RESULTS/node$rank.opensm"
	done
	cp "$RUN"/ohcad*.log "$RESULTS/" 2>/dev/null || :
}

# run_start: starts all machines.
run_start() {
	local rank
	machine_pid=() machine_keys=() machine_ids=() machine_boots=() machine_power=() follow_pid=()
	machine_began=() machine_kind=() machine_plugs=() machine_snapshot=() run_reported=() console_pid=()
	for ((rank = 0; rank < opt_vms; rank++)); do
		machine_new "$rank"
		run_power "$rank"
	done
	for ((rank = 0; rank < opt_vms; rank++)); do
		machine_go "$rank"
	done
}

# run_power RANK: starts its QEMU, and follows its output.
run_power() {
	machine_start "$1"
	run_reported[$1]=''
	run_follow "$1" &
	follow_pid[$1]=$!
	[ -z "$opt_console" ] || run_console "$1"
}

# run_console RANK: copies to stderr what its kernel logs from here on, until its QEMU has ended.
run_console() {
	local log=$RUN/node$1.log
	: >>"$log"
	tail -c "+$(($(stat -c %s "$log") + 1))" -s 0.1 -f --pid="${machine_pid[$1]}" "$log" |
		sed -u -e 's/\r$//' -e "s/^/node$1: | /" >&2 &
	console_pid[$1]=$!
}

# run_boot RANK: turns a machine on.
run_boot() {
	run_power "$1"
	machine_go "$1"
}

# run_wake RANK: turns on a machine that has written its memory to its disk. stage1 restores it from there, so it reads no
# identity.
run_wake() {
	local SNAPSHOT='' opt_append="$opt_append ohca-lab.resume"
	run_power "$1"
	machine_kind[$1]=booted
}

# run_off RANK: turns a machine off at once, like a power failure; returns when all its output is shown.
run_off() {
	machine_kill "$1"
	machine_power[$1]=off
	wait "${follow_pid[$1]}" || :
}

# run_follow RANK: copies the output of its command, line by line; with more than one machine, each line begins with
# the machine's name. With --results also to its file there.
run_follow() {
	local keep=/dev/null
	[ -z "$opt_results" ] || keep=$RESULTS/node$1.out
	if [ "$opt_vms" = 1 ]; then
		exec tee -a "$keep" <"$RUN/node0.out"
	fi
	tee -a "$keep" <"$RUN/node$1.out" | stdbuf -oL sed "s/^/node$1: /"
}

# run_wait: waits until all machines have ended, the time is over, or the grace time after a failure is over. Sets
# $run_ended to the reason, $run_failed to the machine that failed first, and $run_stopped to those that were stopped.
run_wait() {
	local deadline=$((SECONDS + opt_timeout)) rank running
	run_ended='' run_failed='' run_stopped=() run_lost=''
	while :; do
		host_serve
		running=()
		for rank in "${!machine_pid[@]}"; do
			! run_has "$rank" || running+=("$rank")
			[ -z "$run_failed" ] || continue
			machine_status "$rank"
			[ -z "$machine_started" ] || [ -n "${run_reported[rank]}" ] || run_report_start "$rank"
			case $machine_status in
			0) continue ;;
			'') [ "${running[*]: -1}" != "$rank" ] || continue ;;
			esac
			run_failed=$rank
			[ $((SECONDS + opt_grace)) -ge "$deadline" ] || deadline=$((SECONDS + opt_grace))
		done
		[ ${#running[@]} -gt 0 ] || return 0
		if [ "$SECONDS" -ge "$deadline" ]; then
			run_ended="after $opt_timeout s"
			[ -z "$run_failed" ] || run_ended="$opt_grace s after node$run_failed had failed"
			run_stopped=("${running[@]}")
			run_ask_stuck
			for rank in "${running[@]}"; do
				machine_kill "$rank"
			done
			return 0
		fi
		nap 0.05
	done
}

# run_report_start RANK: reports that its command has begun, and how long that took.
run_report_start() {
	local now=${EPOCHREALTIME/./} took
	run_reported[$1]=1
	printf -v took '%d.%02d' $(((now - machine_began[$1]) / 1000000)) $(((now - machine_began[$1]) / 10000 % 100))
	[ -z "$opt_results" ] || echo "node$1 $took ${machine_kind[$1]}" >>"$RESULTS/boots"
	[ -n "$opt_verbose" ] || return 0
	note "node$1: ${machine_kind[$1]} in $took s"
	[ -z "$machine_ports" ] || note "node$1: its ports were ready $(run_seconds "$machine_ports") s after the driver was loaded"
	[ "${machine_boots[$1]}" != 1 ] || [ -z "${OHCA_LAB_START-}" ] || {
		now=$((now - ${OHCA_LAB_START/./}))
		note "node$1: $((now / 1000000)).$((now / 100000 % 10)) s from start to command"
	}
}

# run_seconds MS: prints milliseconds in seconds.
run_seconds() {
	printf '%d.%02d' $(($1 / 1000)) $(($1 / 10 % 100))
}

# run_has RANK: whether the machine still takes part; so do machines that are off, or that reboot.
run_has() {
	[ "${machine_power[$1]}" != on ] || machine_runs "$1"
}

# run_ask_stuck: lets the machines of $run_stopped without a status log their blocked tasks (SysRq w) and the state of
# their processors (SysRq l), which distinguishes a time-out from a deadlock.
run_ask_stuck() {
	local rank
	for rank in "${run_stopped[@]}"; do
		machine_status "$rank"
		[ -n "$machine_status" ] || machine_sysrq "$rank" wl
	done
	sleep 1
}

# run_verdict: prints what failed. Returns 0, the first failed command's status, 124 for a time-out, or 1 for errors
# that the lab itself found. Other machines may fail because the first one has, or are stopped then.
run_verdict() {
	local rank status result=0 other=0 found=0
	for rank in "${!machine_pid[@]}"; do
		status=0
		run_verdict_one "$rank" || status=$?
		[ "$rank" != "$run_failed" ] || result=$status
		[ "$other" != 0 ] || other=$status
		run_klog "$rank" || found=1
	done
	run_ohcad_stop || found=1
	[ -z "$run_lost" ] || ohcad_tail
	[ "$result" != 0 ] || result=$other
	[ "$result" != 0 ] || result=$found
	return "$result"
}

# run_verdict_one RANK: the part of run_verdict for one machine.
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
		run_lost=1
		klog_clean "$RUN/node$1.log" && run_tail "$1" 40
		return 1
		;;
	esac
	note "node$1: the command failed with status $machine_status"
	return "$machine_status"
}

# run_tail RANK LINES: prints the end of the messages of a machine and its QEMU.
run_tail() {
	[ ! -s "$RUN/node$1.qemu" ] || sed "s/^/node$1: /" "$RUN/node$1.qemu" >&2
	tail -n "$2" "$RUN/node$1.log" 2>/dev/null | tr -d '\r' | sed "s/^/node$1: | /" >&2
}
