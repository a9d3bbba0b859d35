# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The queue: runs several sets at the same time, those that take longest first. Machines often wait for each other, so
# there are as many sets at once as processors, and more, up to twice as many, while processes rarely wait for a
# processor. No set starts without memory for its machines, unless it is the only one.

QUEUE_RESERVE=1024     # MiB that stay free
QUEUE_PRESSURE=55      # percent of the time in which a process waited for a processor
QUEUE_SETTLE=10        # seconds until the pressure says something about the last set that was started
QUEUE_SETTLE_DEBUG=180 # the same for one on the debug kernel, whose driver is built and whose snapshot is made first

queue_pending=()       # sets, in their order
declare -A queue_pid=() queue_writer=()
queue_settled=0        # from then on, in $SECONDS, the pressure says something about the last set

# queue_available: prints the available memory, in MiB.
queue_available() {
	awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo
}

# queue_relaxed: whether processors have time for one more set.
queue_relaxed() {
	local some avg rest
	[ "$SECONDS" -ge "$queue_settled" ] || return 1
	{ read -r some avg rest </proc/pressure/cpu; } 2>/dev/null || return 1
	avg=${avg#avg10=}
	[ "${avg%.*}" -lt "$QUEUE_PRESSURE" ]
}

# queue_room: whether one more set may run now.
queue_room() {
	local running=${#queue_pid[@]}
	[ ${#queue_pending[@]} -gt 0 ] || return 1
	[ "$running" -ge "$queue_slots" ] || return 0
	[ -z "$jobs" ] && [ "$running" -lt $((queue_slots * 2)) ] && queue_relaxed
}

# queue_fits SET: whether there is enough memory, also when the running sets use all of theirs, and no set of the same
# group runs.
queue_fits() {
	local need other taken=0
	[ ${#queue_pid[@]} -gt 0 ] || return 0
	for other in "${!queue_pid[@]}"; do
		[ -z "${set_group[$1]-}" ] || [ "${set_group[$1]}" != "${set_group[$other]-}" ] || return 1
		taken=$((taken + $(plan_memory "$other")))
	done
	need=$(($(plan_memory "$1") + QUEUE_RESERVE))
	[ "$(queue_available)" -ge "$need" ] && [ $((queue_memory - taken)) -ge "$need" ]
}

# queue_start SET: starts it. Each line of its output begins with its name, unless it is the only set.
queue_start() {
	local output settle=$QUEUE_SETTLE
	[ "${set_kernel[$1]-}" != debug ] || settle=$QUEUE_SETTLE_DEBUG
	queue_settled=$((SECONDS + settle))
	if [ ${#sets[@]} = 1 ]; then
		set_run "$1" &
		queue_pid[$1]=$!
		return
	fi
	exec {output}> >(trap '' INT TERM && exec sed -u "s/^/$1: /")
	queue_writer[$1]=$!
	set_run "$1" >&"$output" 2>&1 &
	queue_pid[$1]=$!
	exec {output}>&-
}

# queue_next: starts the first set that may start; fails if there is none.
queue_next() {
	local i name
	queue_room || return 1
	for i in "${!queue_pending[@]}"; do
		name=${queue_pending[i]}
		queue_fits "$name" || continue
		unset "queue_pending[$i]"
		queue_start "$name"
		return
	done
	return 1
}

# queue_reap: handles sets that have ended. A set may be followed by a second one, with the scripts that failed.
queue_reap() {
	local name
	for name in "${!queue_pid[@]}"; do
		! kill -0 "${queue_pid[$name]}" 2>/dev/null || continue
		wait "${queue_pid[$name]}"
		[ -z "${queue_writer[$name]-}" ] || wait "${queue_writer[$name]}"
		unset "queue_pid[$name]" "queue_writer[$name]"
		! repeat_plan "$name" || queue_pending=("$name.again" "${queue_pending[@]}")
	done
}

# queue_sorted: prints those of $sets that did not pass in an earlier run, those that take longest first.
queue_sorted() {
	local name
	for name in "${sets[@]}"; do
		resume_passed "$name" || echo "$(durations_expected "$name") $name"
	done | sort -k1,1nr -s | cut -d ' ' -f 2
}

# queue_run: runs $sets.
queue_run() {
	local nap
	mkfifo "$work/nap"
	exec {nap}<>"$work/nap"
	queue_memory=$(queue_available) queue_slots=${jobs:-$(nproc)}
	mapfile -t queue_pending < <(queue_sorted)
	while :; do
		queue_reap
		while queue_next; do :; done
		[ ${#queue_pid[@]} -gt 0 ] || break
		# Sleeps without a process, whose start and end would disturb the machines.
		read -rt 0.5 -u "$nap"
	done
	exec {nap}>&-
}

# queue_stop: ends all running sets; returns when they have ended.
queue_stop() {
	[ ${#queue_pid[@]} -gt 0 ] || return 0
	kill "${queue_pid[@]}" 2>/dev/null
	wait "${queue_pid[@]}" 2>/dev/null
	wait "${queue_writer[@]}" 2>/dev/null
}
