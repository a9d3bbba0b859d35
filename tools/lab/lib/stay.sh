# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Machines that stay (see session.sh): boots them, and keeps them until the lab is taken down. Runs inside the root, where $RUN is the
# lab's folder on the host.
#
# $RUN/state          lines NAME SECONDS STATE: of the lab, of each machine and each ohcad, and since when it has that state
# $RUN/ssh/config     ssh to the machines, with the lab's own key
# $RUN/nodeN.ssh      socket that leads to the SSH server of a machine: QEMU forwards it, and no network of the host is used
# $RUN/lab            the folder that the machines share with the lab: in memory, as machines may write much to it
# $RUN/lab/ssh        what the machines' SSH servers need
# $RUN/opensm         logs of opensm; the machines see it in that folder

# A path of $RUN without a dash, which would end it in QEMU's option.
STAY_RUN=/run/lab
# Seconds that machines have to get ready, and to end
STAY_START=600
STAY_GRACE=20

# stay_folders: makes the folder that is shared with the machines.
stay_folders() {
	ln -sfn "$RUN" "$STAY_RUN"
	mkdir "$RUN"/{lab,opensm}
	mount -t tmpfs -o mode=0755 tmpfs "$RUN/lab"
	mkdir "$RUN/lab/opensm"
	mount --bind "$RUN/opensm" "$RUN/lab/opensm"
}

# stay_keys: makes the keys and the configurations of ssh.
stay_keys() {
	mkdir -p "$RUN/ssh" "$RUN/lab/ssh"
	ssh-keygen -q -t ed25519 -N '' -C ohca-lab -f "$RUN/ssh/key"
	dropbearkey -t ed25519 -f "$RUN/lab/ssh/hostkey" >/dev/null 2>&1
	cp "$RUN/ssh/key.pub" "$RUN/lab/ssh/authorized_keys"
	dropbearkey -y -f "$RUN/lab/ssh/hostkey" | sed -n 's/^ssh-ed25519 /ohca-lab &/p' >"$RUN/ssh/known_hosts"
	cp "$BUILD/ohca-ssh" "$RUN/ssh/"
	# The folder on the host may be without programs (noexec).
	cp "$BUILD/ohca-ssh" /run/
	cp "$BUILD/guest$arch_suffix/ohca-session" "$RUN/lab/ssh/"
	stay_ssh_config "$RUN" /run/ohca-ssh >"$RUN/ssh/config"
	stay_ssh_config "$OHCA_SESSION" "$OHCA_SESSION/ssh/ohca-ssh" >"$RUN/ssh_config"
}

# stay_ssh_config DIR PROGRAM: prints ssh's configuration for those who see the lab's folder as DIR, and ohca-ssh as PROGRAM.
stay_ssh_config() {
	cat <<-END
		Host node*
		    User root
		    HostKeyAlias ohca-lab
		    UserKnownHostsFile "$1/ssh/known_hosts"
		    GlobalKnownHostsFile none
		    StrictHostKeyChecking yes
		    IdentityFile "$1/ssh/key"
		    IdentitiesOnly yes
		    ProxyCommand "$2" connect "$1/%h.ssh"
		    ProxyUseFdpass yes
		    KexAlgorithms curve25519-sha256
		    ConnectTimeout 20
		    ServerAliveInterval 15
		    LogLevel ERROR
	END
}

# stay_node RANK: sets $stay_node to the state of a machine.
stay_node() {
	stay_node=up
	if [ "${machine_power[$1]}" = off ]; then
		stay_node=off
	elif ! run_has "$1"; then
		stay_node="ended by itself"
	else
		machine_status "$1"
		[ -n "$machine_started" ] || stay_node=starting
		stay_node+=", ${machine_kind[$1]-}"
		[ "${machine_boots[$1]}" = 1 ] || stay_node+=", boot ${machine_boots[$1]}"
	fi
}

declare -A stay_told=() stay_since=()

# stay_row NAME STATE: adds a row to $stay_table.
stay_row() {
	[ "${stay_told[$1]-}" = "$2" ] || stay_since[$1]=$EPOCHSECONDS
	stay_told[$1]=$2
	stay_table+="$1 ${stay_since[$1]} $2"$'\n'
}

# stay_look LAB: updates the file state; LAB is the state of the lab.
stay_look() {
	local rank number before=${stay_table-} name
	stay_table=''
	stay_row lab "$1"
	for rank in "${!machine_pid[@]}"; do
		stay_node "$rank"
		stay_row "node$rank" "$stay_node"
	done
	for ((number = 0; number < stay_ohcads; number++)); do
		name=ohcad${number#0}
		if [ -z "${ohcad_pid[number]-}" ]; then
			stay_row "$name" "ended, killed on request"
		elif kill -0 "${ohcad_pid[number]}" 2>/dev/null; then
			stay_row "$name" up
		else
			stay_row "$name" "ended by itself"
		fi
	done
	[ "$stay_table" != "$before" ] || return 0
	printf %s "$stay_table" >"$RUN/state.new"
	mv "$RUN/state.new" "$RUN/state"
}

# stay_started: waits until all machines can be used; fails if one can't.
stay_started() {
	local rank deadline=$((SECONDS + STAY_START))
	for rank in "${!machine_pid[@]}"; do
		while :; do
			machine_status "$rank"
			[ -z "$machine_started" ] || break
			if [ -n "$machine_status" ] || ! run_has "$rank"; then
				note "node$rank has ended before it was ready"
				run_tail "$rank" 40
				return 1
			fi
			[ ! -e "$RUN/down" ] || return 1
			[ "$SECONDS" -lt "$deadline" ] || {
				note "node$rank is not ready after $STAY_START s"
				run_tail "$rank" 40
				return 1
			}
			host_serve
			nap 0.05
		done
		run_report_start "$rank"
	done
}

# stay_end: ends all machines, those that can by their own kernel; then ohcad. Fails if a log has a report, or ohcad had ended.
stay_end() {
	local rank deadline=$((SECONDS + STAY_GRACE)) result=0 running
	for rank in "${!machine_pid[@]}"; do
		! run_has "$rank" || [ "${machine_power[rank]}" = off ] || echo down >&"${machine_ids[rank]}"
	done
	while :; do
		running=''
		for rank in "${!machine_pid[@]}"; do
			! machine_runs "$rank" || running=1
		done
		[ -n "$running" ] && [ "$SECONDS" -lt "$deadline" ] || break
		nap 0.02
	done
	for rank in "${!machine_pid[@]}"; do
		machine_kill "$rank"
		run_klog "$rank" || result=1
	done
	run_ohcad_stop || result=1
	run_keep
	return "$result"
}

# stay_main: returns when the lab has been taken down, or its time is over.
stay_main() {
	local result=0 name=${OHCA_SESSION##*/} ended deadline
	build_ssh
	stay_folders
	run_prepare
	stay_keys
	run_stays=1
	stay_ohcads=${#ohcad_pid[@]}
	run_start
	if stay_started; then
		stay_look up
		note "the lab '$name' is up"
		deadline=$((SECONDS + opt_timeout))
		until [ -e "$RUN/down" ]; do
			host_serve
			stay_look up
			[ -z "$opt_timeout" ] || [ "$SECONDS" -lt "$deadline" ] || {
				note "the lab '$name' ends after $opt_timeout s"
				break
			}
			nap 0.1
		done
	else
		result=1
	fi
	stay_end || result=1
	ended="ended $result"
	stay_look "$ended"
	return "$result"
}
