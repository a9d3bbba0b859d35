# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Labs that stay: machines that "up" has started, and that other calls of ohca-lab use, until "down". Runs outside of the root.
#
# $SESSIONS/LAB            folder of a lab, mode 0700; inside of the root it is /run/ohca-lab, see machine.sh and stay.sh
# $SESSIONS/LAB/lock       locked by each process of the lab, from the first step of "up" until the last one has ended
# $SESSIONS/LAB/pid        the process that keeps the lab's namespaces, whose child is the first one inside of them
# $SESSIONS/LAB/cache      the cache that it uses
# $SESSIONS/LAB/log        messages of the lab
# $SESSIONS/LAB/state      see stay.sh
# $SESSIONS/LAB/ssh_config a configuration of ssh for the host; ssh/config is the one for the root
# $SESSIONS/LAB/down       exists when the lab is to end

SESSION_DEFAULT=default
# Seconds until processes that do not end are killed
SESSION_PATIENCE=30
# A program that was not started from a login may lack the variable.
SESSIONS=${XDG_RUNTIME_DIR:-/run/user/$(id -u)}
if [ -d "$SESSIONS" ] && [ -w "$SESSIONS" ]; then
	SESSIONS+=/ohca-lab
else
	SESSIONS=/tmp/ohca-lab-$(id -u)
fi

# session_folder: makes $SESSIONS. In /tmp, somebody else may have made it.
session_folder() {
	mkdir -m 0700 "$SESSIONS" 2>/dev/null || :
	[ -d "$SESSIONS" ] && [ ! -L "$SESSIONS" ] && [ -O "$SESSIONS" ] || die "not a folder of this user: $SESSIONS"
	chmod 0700 "$SESSIONS"
}

# session_name NAME: checks the name of a lab, and sets $lab and $lab_dir.
session_name() {
	[[ $1 =~ ^[a-z0-9][a-z0-9_.-]{0,31}$ && ! $1 =~ ^node[0-9]+$ ]] ||
		die_usage "a lab's name has up to 32 of a-z, 0-9, '_', '.' and '-', and is not that of a machine: not '$1'"
	lab=$1 lab_dir=$SESSIONS/$1 lab_prefix=$1/ lab_word=" $1"
	[ "$1" != "$SESSION_DEFAULT" ] || lab_prefix='' lab_word=''
}

# session_alive: whether any process of the lab exists.
session_alive() {
	! session_gone 0
}

# session_gone SECONDS: waits so long until no process of the lab exists; fails if there still is one. The folder may be
# removed meanwhile.
session_gone() {
	local status=0
	[ ! -e "$lab_dir/lock" ] || flock -s -w "$1" -E 99 "$lab_dir/lock" true 2>/dev/null || status=$?
	[ "$status" != 99 ]
}

# session_find NAME: sets $lab and $lab_dir to a lab that there is.
session_find() {
	session_name "$1"
	[ -d "$lab_dir" ] || die_usage "there is no lab '$lab'; 'ohca-lab up$lab_word' starts it, 'ohca-lab ps' lists all"
}

# session_node [LAB/]NODE: sets $lab, $lab_dir and $node to a machine of a lab that there is.
session_node() {
	local name=$SESSION_DEFAULT
	node=${1##*/}
	[[ $1 != */* ]] || name=${1%/*}
	[[ $node =~ ^node(0|[1-9][0-9]{0,2})$ ]] || die_usage "a machine is node0, node1 …, or LAB/node0 …, not '$1'"
	session_find "$name"
	[ -e "$lab_dir/state" ] || session_ready
	grep -q "^$node " "$lab_dir/state" || die_usage "there is no $node in the lab '$lab', only $(session_nodes | xargs)"
}

# session_nodes: prints the names of the lab's machines.
session_nodes() {
	sed -n 's/^\(node[0-9]*\) .*/\1/p' "$lab_dir/state" 2>/dev/null
}

# session_state NAME: prints the state of a machine, of ohcad or of the lab; nothing before it is up.
session_state() {
	sed -n "s/^$1 [0-9]* //p" "$lab_dir/state" 2>/dev/null || :
}

# session_ready: ends the program unless the lab is up.
session_ready() {
	local state
	session_alive || die "the lab '$lab' has ended; 'ohca-lab logs ${lab_prefix}lab' shows its messages, 'ohca-lab down$lab_word' removes it"
	state=$(session_state lab)
	[ "$state" = up ] || die "the lab '$lab' is ${state:-starting}"
}

# session_usable: ends the program unless $node of the lab runs; warns if an ohcad has ended.
session_usable() {
	local state dead
	session_ready
	state=$(session_state "$node")
	case $state in
	up*) ;;
	*) die "$node of the lab '$lab' is not up: $state; 'ohca-lab logs $lab_prefix$node' shows its kernel log" ;;
	esac
	dead=$(sed -n 's/^\(ohcad[0-9]*\) [0-9]* ended.*/\1/p' "$lab_dir/state" | xargs)
	[ -z "$dead" ] || note "$dead of the lab '$lab' has ended, so adapters do not work; 'ohca-lab logs $lab_prefix${dead%% *}' shows its log"
}

# session_new NAME: sets $lab and $lab_dir to a lab that is not up.
session_new() {
	session_folder
	session_name "$1"
	! session_alive || die_usage "the lab '$lab' is up already; 'ohca-lab down$lab_word' takes it down"
}

# session_none: ends the program if a lab uses the cache.
session_none() {
	for lab_dir in "$SESSIONS"/*; do
		! session_alive || [ "$(cat "$lab_dir/cache" 2>/dev/null)" != "$OHCA_CACHE" ] ||
			die "the lab '${lab_dir##*/}' uses $OHCA_CACHE; 'ohca-lab down ${lab_dir##*/}' takes it down"
	done
}

# session_claim: makes the folder of a new lab and takes its lock, which descriptor 5 holds; descriptor $session_held is the folder, and
# $session_turn the lock of all folders, until it returns.
session_claim() {
	local old
	# Another "up", or "down", would take a folder whose lock is not yet there for what is left of a lab.
	exec {session_turn}<"$SESSIONS"
	flock "$session_turn"
	while { exec {old}<"$lab_dir"; } 2>/dev/null; do
		! session_alive || die "the lab '$lab' has been started meanwhile"
		if flock -n "$old"; then
			note "removing what is left of the lab '$lab', whose processes were killed"
			session_remove
			exec {old}<&-
			break
		fi
		# A "down" has yet to remove it.
		exec {session_turn}<&-
		flock "$old"
		exec {old}<&- {session_turn}<"$SESSIONS"
		flock "$session_turn"
	done
	session_mine=1
	mkdir -m 0700 "$lab_dir" 2>/dev/null || {
		session_mine=''
		die "can't make $lab_dir, or somebody else starts the lab"
	}
	exec {session_held}<"$lab_dir"
	exec 5>"$lab_dir/lock"
	# Another ohca-lab may look for an instant whether it is held.
	flock -w 2 5 || die "somebody else starts the lab '$lab'"
	echo "$OHCA_CACHE" >"$lab_dir/cache"
	exec {session_turn}<&-
	session_turn=''
}

# session_remove: removes the folder of a lab without processes.
session_remove() {
	rm -rf "$lab_dir" 2>/dev/null || ns_run rm -rf "$lab_dir"
}

# session_up SHARE [ARGUMENT...]: starts the lab $lab with these arguments of "up". If it can't be started, or if this process gets a
# signal, nothing is left of it, and the program ends.
session_up() {
	session_pid='' session_status=1 session_mine='' session_held='' session_turn=''
	trap 'trap "" INT TERM HUP; session_abandon; exit 130' INT
	trap 'trap "" INT TERM HUP; session_abandon; exit 143' TERM HUP
	session_claim
	session_start "$@" || {
		[ ! -e "$lab_dir/down" ] || note "the lab '$lab' was taken down before it was up"
		session_abandon
		exit "$session_status"
	}
	exec 5>&- {session_held}<&-
	trap - INT TERM HUP
	[ "$lab" = "shell.$$" ] || note "'ohca-lab shell ${lab_prefix}node0' opens a shell, 'ohca-lab down$lab_word' ends it"
}

# session_start SHARE [ARGUMENT...]: starts the lab's processes, and returns when its machines can be used. Shows the lab's messages
# meanwhile. $session_pid is the process that keeps it. If it fails, $session_status is that one's exit status.
session_start() {
	local share=$1 log state=''
	shift
	OHCA_CHECKOUT=$(sha256sum <<<"$REPO" | cut -c 1-12) OHCA_SESSION=$lab_dir
	export OHCA_CHECKOUT OHCA_SESSION
	: >"$lab_dir/log"
	# All of the lab inherits the locks of the lab and of the root.
	(echo "$BASHPID" >"$lab_dir/pid" && NS_STAYS=1 ns_exec bash "$LAB/lib/enter.sh" "$ROOT" ro "$REPO" "$OHCA_CACHE" "$share" \
		bash /repo/tools/lab/lib/inside.sh up "$@") </dev/null >>"$lab_dir/log" 2>&1 6>&- {session_held}<&- &
	session_pid=$!
	exec {log}<"$lab_dir/log"
	while [ -z "$state" ] && [ ! -e "$lab_dir/down" ] && kill -0 "$session_pid" 2>/dev/null; do
		session_show "$log"
		sleep 0.05
		state=$(session_state lab)
	done
	[ "$state" = up ] || [ -e "$lab_dir/down" ] || wait "$session_pid" || session_status=$?
	session_show "$log"
	exec {log}<&-
	[ "$state" = up ]
}

# session_show DESCRIPTOR: prints what has been added to a log.
session_show() {
	local line=''
	while IFS= read -r line <&"$1"; do
		printf '%s\n' "$line"
	done
	printf '%s' "$line"
} >&2

# session_first: sets $first to the first process in the lab's namespaces.
session_first() {
	local pid dir
	read -r pid <"$lab_dir/pid"
	first=''
	read -r first _ 2>/dev/null <"/proc/$pid/task/$pid/children" || :
	# Kernels without that file
	[ -n "$first" ] || for dir in /proc/[0-9]*; do
		! grep -qsxP "PPid:\t$pid" "$dir/status" || first=${dir#/proc/}
	done
	[ -n "$first" ] || die "the lab '$lab' has just ended"
}

# session_abandon: ends a lab that is starting, and removes it.
session_abandon() {
	trap '' INT TERM HUP
	# A "down" that has the folder may wait for this.
	[ -z "$session_turn" ] || exec {session_turn}<&-
	[ -n "$session_mine" ] || return 0
	[ -z "$session_pid" ] || {
		session_kill "$session_pid"
		# Else bash would say that it was killed.
		wait "$session_pid" 2>/dev/null || :
	}
	exec 5>&-
	session_gone "$SESSION_PATIENCE" || note "processes of the lab '$lab' do not end"
	# A "down" may have removed it, and another "up" made a new one.
	if [ -n "$session_held" ]; then
		flock "$session_held"
		[ "$lab_dir" -ef "/proc/self/fd/$session_held" ] || return 0
	fi
	session_remove
}

# session_kill PID: ends all processes of a lab; PID keeps its namespaces.
session_kill() {
	kill -KILL "$1" 2>/dev/null || :
}

# session_inside COMMAND...: executes COMMAND in the root of the lab, which keeps the terminal, and all descriptors but those of locks.
session_inside() {
	local first user=()
	session_first
	[ "$(id -u)" = 0 ] || user=(--user --preserve-credentials)
	exec nsenter --target "$first" --mount --root "${user[@]}" env --chdir=/ -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" "$@" 5>&- 6>&- 9>&-
}

# session_ssh [OPTION...] NODE [COMMAND]: executes ssh to a machine.
session_ssh() {
	session_inside /run/ohca-ssh watch ssh -F /run/ohca-lab/ssh/config "$@"
}

# session_words WORD...: prints the command line of these words, for a shell.
session_words() {
	printf '%q ' exec "$@"
}

# session_exec WORD...: executes a command in $node, with a terminal if there is one here.
session_exec() {
	local options=(-T)
	[ ! -t 0 ] || [ ! -t 1 ] || options=(-t)
	session_ssh "${options[@]}" "$node" "$(session_words "$@")"
}

# session_exec_all WORD...: runs a command in each machine of the lab. Each line of output begins with the machine's name. Returns the
# first failure.
session_exec_all() {
	local pids=() prefixes=() out err status result=0 pid words
	words=$(session_words "$@")
	for node in $(session_nodes); do
		exec {out}> >(exec sed -u "s/^/$node: /")
		prefixes+=($!)
		exec {err}> >(exec sed -u "s/^/$node: /" >&2)
		prefixes+=($!)
		(session_usable && session_ssh -T "$node" "$words") </dev/null >&"$out" 2>&"$err" {out}>&- {err}>&- &
		pids+=($!)
		exec {out}>&- {err}>&-
	done
	trap 'kill "${pids[@]}" 2>/dev/null; exit 130' INT
	trap 'kill "${pids[@]}" 2>/dev/null; exit 143' TERM HUP
	for pid in "${pids[@]}"; do
		status=0
		wait "$pid" || status=$?
		[ "$result" != 0 ] || result=$status
	done
	# Without process IDs, "wait" waits for the last process substitution at most.
	wait "${prefixes[@]}"
	return "$result"
}

# session_down: takes down $lab, and removes its folder. Fails if the lab had an error. If another "down" does that already, it returns
# when that one has done it.
session_down() {
	local result=0 lines=0 state turn
	{ exec {turn}<"$lab_dir"; } 2>/dev/null || return 0
	flock "$turn"
	[ "$lab_dir" -ef "/proc/self/fd/$turn" ] || return 0
	# An "up" that has made it may be about to take its lock.
	flock -s "$SESSIONS" true
	session_alive || {
		state=$(session_state lab)
		case $state in
		'ended 0') ;;
		ended*)
			sed "0,/^ohca-lab: the lab '$lab' is up$/d" "$lab_dir/log" >&2
			result=1
			;;
		*) note "the lab '$lab' had no process any more" ;;
		esac
		session_remove
		return "$result"
	}
	state=$(session_state lab)
	[ ! -e "$lab_dir/log" ] || lines=$(wc -l <"$lab_dir/log")
	: >"$lab_dir/down"
	if [ -z "$state" ]; then
		# "up" ends it, unless that was killed.
		session_gone 3 || session_end
	elif session_gone "$SESSION_PATIENCE"; then
		tail -n "+$((lines + 1))" "$lab_dir/log" >&2
		[ "$(session_state lab)" = "ended 0" ] || result=1
	else
		note "the lab '$lab' does not end: it is killed"
		session_end
		result=1
	fi
	session_remove
	return "$result"
}

# session_end: kills all processes of $lab.
session_end() {
	local pid
	! read -r pid <"$lab_dir/pid" || session_kill "$pid"
	session_gone "$SESSION_PATIENCE" || die "the lab '$lab' can't be ended"
}

# session_row NODE SECONDS STATE: prints a row of the table of labs; SECONDS are the time since when it has that state.
session_row() {
	printf '%-16s %-8s %(%F %T)T  %s\n' "$lab" "$1" "$2" "$3"
}

# session_list: prints a table of all labs.
session_list() {
	local name since state dir
	printf '%-16s %-8s %-19s  %s\n' LAB NODE SINCE STATE
	for dir in "$SESSIONS"/*/; do
		[ -d "$dir" ] || continue
		dir=${dir%/}
		session_name "${dir##*/}"
		if ! session_alive; then
			state=$(session_state lab)
			case $state in
			ended*) state='ended by itself' ;;
			*) state='its processes were killed' ;;
			esac
			session_row - "$(session_time log)" "$state; 'ohca-lab down$lab_word' removes it"
			continue
		fi
		[ -e "$dir/state" ] || session_row - "$(session_time lock)" starting
		while read -r name since state; do
			[ "$name" = lab ] || session_row "$name" "$since" "$state"
		done < <(cat "$dir/state" 2>/dev/null)
	done
}

# session_time FILE: prints when that file of $lab was written last, in seconds.
session_time() {
	stat -c %Y "$lab_dir/$1" 2>/dev/null || echo "$EPOCHSECONDS"
}

# session_logs NODE FOLLOW: prints a log of $lab.
session_logs() {
	local file options=(-n +1)
	case $1 in
	lab) file=log ;;
	opensm*) file=opensm/node${1#opensm} ;;
	*) file=$1.log ;;
	esac
	[ -e "$lab_dir/$file" ] || die_usage "the lab '$lab' has no log of '$1'; there are $(session_logs_list | xargs)"
	[ -z "$2" ] || options+=(-f)
	exec tail "${options[@]}" "$lab_dir/$file" 5>&-
}

# session_logs_list: prints the names of its logs.
session_logs_list() {
	local file
	echo lab
	for file in "$lab_dir"/*.log "$lab_dir"/opensm/node*; do
		[ -e "$file" ] || continue
		file=${file##*/}
		case $file in
		*.log) echo "${file%.log}" ;;
		*) echo "opensm${file#node}" ;;
		esac
	done
}

# Copies: a tar archive goes from one end to the other, so a file, a link and a folder arrive as they are.

# copy_is_remote PATH: whether it is [LAB/]NODE:PATH.
copy_is_remote() {
	[[ $1 =~ ^([^/:]+/)?node[0-9]+: ]]
}

# copy_check PATH: ends the program if it names a machine that there is not, or nothing at all.
copy_check() {
	if copy_is_remote "$1"; then
		(session_node "${1%%:*}" && session_usable) || exit
		[ -n "${1#*:}" ] || die_usage "a path is missing after '$1'"
	elif [ -z "$1" ]; then
		die_usage "a path is empty"
	fi
}

# What is done at each end, by a shell here or in the machine. Its arguments: the path, and whether it has to be a folder.
# shellcheck disable=SC2016
COPY_LOOK='[ -e "$1" ] || [ -L "$1" ] || { echo "ohca-lab: no such file or folder: $1" >&2; exit 1; }'
# shellcheck disable=SC2016
COPY_READ='path=$(realpath -s -- "$1") || exit 1
	exec tar --warning=no-timestamp -C "$(dirname -- "$path")" -cf - -- "$(basename -- "$path")"'
# shellcheck disable=SC2016
COPY_WRITE='if [ -d "$1" ]; then exec tar --warning=no-timestamp --no-same-owner -C "$1" -xf -; fi
	case $1/$2 in */1 | *//) echo "ohca-lab: not a folder: $1" >&2; exit 1 ;; esac
	new=$(mktemp -d "$(dirname -- "$1")/.ohca-lab.XXXXXX") || exit 1
	trap "rm -rf -- \"\$new\"" EXIT
	trap "exit 1" INT TERM HUP
	tar --warning=no-timestamp --no-same-owner -C "$new" -xf - || exit 1
	for file in "$new"/* "$new"/.[!.]* "$new"/..?*; do
		[ ! -e "$file" ] && [ ! -L "$file" ] || mv -T -- "$file" "$1" || exit 1
	done'

# copy_end SCRIPT PATH [FOLDER]: runs an end where PATH is.
copy_end() {
	local script=$1 path=$2
	shift 2
	if copy_is_remote "$path"; then
		(session_node "${path%%:*}" && session_ssh -T "$node" "$(session_words bash -c "$script" copy "${path#*:}" "$@")")
	else
		(cd "$copy_from" && exec bash -c "$script" copy "$path" "$@" 5>&- 6>&- 9>&-)
	fi
}

# session_copy FROM... TO
session_copy() {
	local to=${!#} path folder='' copy_from=$PWD result=0 remote=''
	for path; do
		copy_check "$path"
		! copy_is_remote "$path" || remote=1
	done
	[ -n "$remote" ] || die_usage "cp needs a path in a machine, [LAB/]NODE:PATH"
	[ $# = 2 ] || folder=1
	for path in "${@:1:$#-1}"; do
		copy_end "$COPY_LOOK" "$path" </dev/null || return 1
	done
	for path in "${@:1:$#-1}"; do
		copy_end "$COPY_READ" "$path" </dev/null | copy_end "$COPY_WRITE" "$to" "$folder" || result=1
	done
	return "$result"
}
