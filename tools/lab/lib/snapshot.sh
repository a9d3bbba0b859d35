# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Snapshots of machines: the state of a machine that has booted and waits for its identity, written to a file by
# QEMU's migration. A run restores it instead of booting, and then plugs in the devices of each machine. Runs inside
# the root.
#
# $IMAGE/snapshot-HASH           memory and devices ("mapped-ram": at most as large as the memory, sparse)
# $IMAGE/snapshot-HASH.seal      see seal.sh
# $IMAGE/snapshot-HASH.khz       frequency of the machine's clock
#
# HASH is over the kernel, its command line, and QEMU's arguments: processors, memory, devices.

# snapshot_wanted: whether machines of this run are restored rather than booted. The user's kernel is not, as it is
# rebuilt often, nor are those with arguments of the user's. With KVM a machine has the host's own processor, and boots
# in a second.
snapshot_wanted() {
	[ -z "$opt_append" ] && [ ${#opt_qemu[@]} = 0 ] && [ -z "$opt_no_snapshot" ] && [ "$ACCEL" = tcg ] && ! kernel_is_user "$KERNEL"
}

# snapshot_setup: makes the snapshot for this run's machines if it is missing or damaged. Sets $SNAPSHOT to its path,
# or to nothing if machines are to be booted.
snapshot_setup() {
	SNAPSHOT=''
	snapshot_wanted || return 0
	machine_args
	local file
	file=$(printf '%s\n' "$KERNEL$(kernel_salt "$KERNEL")" "$(machine_append "")" "${machine_args[@]}" | sha256sum)
	file=$IMAGE/snapshot-${file:0:16}
	exec 8>"$file.lock"
	flock 8
	if snapshot_holds "$file" || snapshot_make "$file"; then
		touch "$file.lock"
		SNAPSHOT=$file
	fi
	exec 8>&-
}

# snapshot_holds FILE: whether it is complete, and its machine's clock has the frequency of this host's; if not, it is
# removed.
snapshot_holds() {
	[ -e "$1" ] || return 1
	if ! seal_holds "$1"; then
		note "the snapshot of a machine is damaged: it is made anew"
	elif [ "$((CLOCK_KHZ / 1000))" != "$(($(cat "$1.khz" 2>/dev/null || echo 0) / 1000))" ]; then
		note "the snapshot of a machine is from another processor: it is made anew"
	else
		return 0
	fi
	snapshot_drop "$1"
	return 1
}

# snapshot_drop FILE: removes it, so that the next run makes it again.
snapshot_drop() {
	rm -f "$1" "$1".{seal,khz,new}
}

# snapshot_prune: removes those that no run has used for two days.
snapshot_prune() {
	local lock
	find "$IMAGE" -maxdepth 1 -name 'snapshot-*.lock' -mmin +2880 | while read -r lock; do
		snapshot_drop "${lock%.lock}"
		rm -f "$lock"
	done
}

# snapshot_make FILE: boots a machine and writes it to FILE; fails, with a message, if that can't be done.
snapshot_make() {
	local file=$1 start=$SECONDS name=$RUN/snapshot pid made='' keys identity
	snapshot_prune
	note "making a snapshot of a machine with kernel $KERNEL, $opt_smp processors, $opt_mem MiB"
	mkfifo "$name".{keys,identity}
	exec {keys}<>"$name.keys" {identity}<>"$name.identity"
	qmp_make "$name.qmp"
	machine_qemu "$name" -append "$(machine_append "$CLOCK_KHZ")" </dev/null &
	pid=$!
	progress_begin "the snapshot"
	! snapshot_save "$pid" "$name" "$file.new" || made=1
	kill -KILL "$pid" 2>/dev/null || :
	wait "$pid" 2>/dev/null || :
	progress_end
	if [ -z "$made" ]; then
		note "no snapshot: ${qmp_answer-}"
		tail -n 5 "$name.qemu" "$name.log" >&2 || :
		rm -f "$file.new" "$name".*
		return 1
	fi
	rm -f "$name".*
	exec {keys}>&- {identity}>&-
	echo "${CLOCK_KHZ:-0}" >"$file.khz"
	mv "$file.new" "$file"
	seal "$file"
	note "snapshot ready after $((SECONDS - start)) s"
}

# snapshot_save PID NAME FILE
snapshot_save() {
	local deadline=$((SECONDS + 300))
	qmp_open "$2.qmp" "$1" || return 1
	until grep -qs '^ready' "$2.status"; do
		qmp_answer="the machine does not get ready"
		[ "$SECONDS" -lt "$deadline" ] && kill -0 "$1" 2>/dev/null || return 1
		nap 0.05
	done
	qmp "$1" stop &&
		qmp "$1" migrate-set-capabilities '{"capabilities":[{"capability":"mapped-ram","state":true}]}' &&
		qmp "$1" migrate "{\"uri\":\"file:$3\"}" || return 1
	while qmp "$1" query-migrate; do
		case $qmp_answer in
		*'"status": "completed"'*) return 0 ;;
		*'"status": "failed"'*) return 1 ;;
		esac
		[ "$SECONDS" -lt "$deadline" ] || return 1
		nap 0.05
	done
	return 1
}

# snapshot_restored PID: waits until QEMU has read the snapshot; fails if it can't.
snapshot_restored() {
	local deadline=$((SECONDS + QMP_PATIENCE))
	while qmp "$1" query-status; do
		case $qmp_answer in
		*'"inmigrate"'*) ;;
		*) return 0 ;;
		esac
		[ "$SECONDS" -lt "$deadline" ] || return 1
		nap 0.01
	done
	return 1
}
