# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of machines that stay: up, exec, shell, cp, logs, ps, down. run.sh sources this file. Most of them use one lab, "$STAY",
# which test_up starts and test_down ends.
# shellcheck disable=SC2015 # "A && B || fail" fails if either does
# shellcheck disable=SC2016 # for shells in the machines
# shellcheck disable=SC2030,SC2031 # one test has a folder of its own for labs

STAY=test$$
SESSIONS=${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/ohca-lab
[ -w "${SESSIONS%/*}" ] || SESSIONS=/tmp/ohca-lab-$(id -u)

# stay_clean: takes down what a failed test has left.
stay_clean() {
	local dir
	for dir in "$SESSIONS/test$$"*; do
		[ ! -d "$dir" ] || "$LAB" down "${dir##*/}" >/dev/null 2>&1
	done
}

# stay_up: whether the lab of most tests is there.
stay_up() {
	[ -e "$SESSIONS/$STAY/pid" ] || {
		echo "there is no lab"
		return "$SKIP"
	}
}

test_stay_command_line() {
	local failed=0
	check() {
		refused "$@" || failed=1
	}
	check "up takes no command" up -- true
	check "up takes the name of one lab, but there are 'a' and 'b'" up a b
	check "a lab's name has up to 32 of .* not 'A'" up A
	check "a lab's name has up to 32 of .* not 'node0'" up node0
	check "a lab's name has up to 32 of .* not '../x'" up ../x
	check '--vms takes a number from 1 to 250' up --vms 0
	check '--timeout takes a number from 1 to 86400' up --timeout 0
	check 'unknown option.*--frob' up --frob 3
	check "there is no lab 'nolab'; 'ohca-lab up nolab' starts it" exec nolab/node0 -- true
	check "a machine is node0, node1 …, or LAB/node0 …, not 'ls'" exec ls -- true
	check "exec needs '--'" exec nolab/node0 true
	check "exec needs a command after '--'" exec nolab/node0 --
	check "there is no lab 'nolab'" exec nolab/all -- true
	check "there is no lab 'nolab'" shell nolab/node0
	check 'shell takes one machine' shell node0 node1
	check "there is no lab 'nolab'" down nolab
	check 'down takes one lab' down a b
	check 'unknown option: --al' down --al
	check "there is no lab 'nolab'" logs nolab/node0
	check 'unknown option: -x' logs -x
	check 'logs takes one name' logs a b
	check 'cp needs at least two paths' cp file
	check 'cp needs a path in a machine' cp "$work" "$work/copy"
	check "there is no lab 'nolab'" cp "$work" nolab/node0:/tmp
	check 'ps takes no arguments' ps all
	return "$failed"
}

# yaml_refused PATTERN LINE...: a file of these lines is refused, for the reason and at the line that PATTERN has.
yaml_refused() {
	local pattern=$1
	shift
	printf '%s\n' "$@" >"$work/lab.yaml"
	refused "lab\\.yaml:$pattern" up --file "$work/lab.yaml"
}

test_lab_file_refused() {
	local failed=0
	check() {
		yaml_refused "$@" || failed=1
	}
	check "2: unknown key 'vm'; there are .* vms " 'device: ohca' 'vm: 2'
	check '3: vms takes a number from 1 to 250, not 0' '# comment' '---' 'vms: 0'
	check "1: link is ib or eth, or two of them such as ib+eth, not 'foo'" 'link: [ib, foo]' 'hcas: 2'
	check "2: device is ohca, rxe, ohca+rxe or none, not 'mlx5'" 'vms: 2' 'device:' '  - rxe' '  - mlx5'
	check '2: vms is on line 1 already' 'vms: 2' 'vms: 3'
	check "2: expected 'KEY: VALUE' or '- VALUE', not 'hello'" 'vms: 2' 'hello'
	check '1: vms: expected one value, not 2' 'vms: [1, 2]'
	check '1: smp: a value is missing' 'smp:' 'vms: 2'
	check '2: a list item without a key before it' 'vms: 2' '- 3'
	check "1: sanitize: expected true or false, not 'yes'" 'sanitize: yes'
	check "1: share: expected a value, in quotes if it begins like that" 'share: {a: b}'
	check '1: share: no such folder' 'share: missing'
	check '1: pcap - is for run' 'pcap: -'
	check "1: package: not the name of a package: 'a b'" 'package: "a b"'
	check "1: kernel: there is no kernel '5.4'" 'kernel: 5.4'
	refused "can't read" up --file "$work/missing" || failed=1
	check '2: fault frob: it begins with' 'vms: 1' 'fault: [drop, "frob"]'
	check '2: fault frob,p=1: it begins with' 'vms: 1' 'fault: ["drop,p=1%", "frob,p=1"]'
	refused ': --vms takes a number' up --file "$work/lab.yaml" --vms 0 || failed=1
	check "3: unknown key 'vm'; there are .* vms " '{' ' "smp": 2,' ' "vm": 3' '}'
	check '2: vms takes a number from 1 to 250, not 0' '{"device": ["ohca"],' '"vms": 0}'
	check "1: expected ':', not '2'" '{"vms" 2}'
	check "2: expected ',' or ']', not 'rxe'" '{"device": ["ohca"' ' "rxe"]}'
	check "1: expected ',' or '}', not the end of the file" '{"vms": 2'
	check "1: vms: expected a string, a number, true or false, not '{'" '{"vms": {"a": 1}}'
	check "1: expected the end of the file, not '}'" '{"vms": 2}}'
	echo '{"vms": "x"}' >"$work/ohca-lab.json"
	(cd "$work" && refused "ohca-lab\.json:1: vms takes a number" up --smp 2) || failed=1
	rm "$work/ohca-lab.json"
	refused '--file is given twice' up --file "$work/lab.yaml" --file="$work/lab.yaml" || failed=1
	return "$failed"
}

# The lab of the next tests, from a file; the command line comes after it.
test_up() {
	local mode since
	cat >"$work/lab.yaml" <<-'END'
		# two machines with an adapter
		vms: 5            # the command line says 2
		device:
		  - ohca
		link: ib
		share: 'folder'   # beside this file
	END
	mkdir -p "$work/folder"
	echo shared >"$work/folder/file"
	export OHCA_LAB_TEST=stay$$
	lab up --file "$work/lab.yaml" --vms 2 "$STAY"
	unset OHCA_LAB_TEST
	[ "$status" = 0 ] && [ ! -s "$work/out" ] || fail "status $status" || return
	lab ps
	[ "$(awk -v lab="$STAY" '$1 == lab { print $2, $5, $6 }' "$work/out" | xargs)" = "node0 up, restored node1 up, restored ohcad up" ] ||
		fail "ps" || return
	since=$(awk -v lab="$STAY" '$1 == lab { print $3, $4; exit }' "$work/out")
	since=$(($(date +%s) - $(date -d "$since" +%s)))
	[ "$since" -ge 0 ] && [ "$since" -lt 60 ] || fail "ps: up since $since s" || return
	mode=$(stat -c %a "$SESSIONS/$STAY")
	[ "$mode" = 700 ] || fail "its folder has mode $mode" || return
	refused "the lab '$STAY' is up already" up "$STAY" || return
	refused "there is no node2 in the lab '$STAY', only node0 node1" exec "$STAY/node2" -- true || return
	lab exec "$STAY/node1" -- cat file
	[ "$(cat "$work/out")" = shared ] || fail "not the folder of the file" || return
	OHCA_CACHE=$CACHE lab clean
	[ "$status" = 1 ] && grep -q "the lab '$STAY' uses" "$work/err" || fail "clean would take its files"
}

test_exec() {
	stay_up || return
	lab exec "$STAY/node1" -- sh -c 'echo out; echo err >&2; exit 7'
	[ "$status" = 7 ] && [ "$(cat "$work/out")" = out ] && [ "$(cat "$work/err")" = err ] || fail "status $status" || return
	lab exec "$STAY/node1" -- sh -c 'echo "$PWD $OHCA_RANK $OHCA_PEER $OHCA_IBDEV $1" $(ip -br link | wc -l)' sh 'a  "b'"'"'$'
	[ "$(cat "$work/out")" = '/mnt/share 1 10.77.0.1 ohca_0 a  "b'"'"'$ 2' ] || fail "environment, arguments or networks" || return
	lab exec "$STAY/node0" -- /no/such/program
	[ "$status" = 127 ] || fail "no program: status $status" || return
	lab exec "$STAY/node0" -- sh -c 'kill -KILL $$'
	[ "$status" = 137 ] || fail "killed: status $status" || return
	# All output is there when exec ends, even if what marks the lines is slow.
	mkdir "$work/slow"
	printf '#!/bin/sh\n[ "$1" != -u ] || sleep 2\nexec %s "$@"\n' "$(command -v sed)" >"$work/slow/sed"
	chmod +x "$work/slow/sed"
	PATH=$work/slow:$PATH lab exec "$STAY/all" -- sh -c 'hostname; exit $OHCA_RANK'
	[ "$status" = 1 ] && [ "$(sort "$work/out" | xargs)" = "node0: node0 node1: node1" ] || fail "all: status $status"
}

# Input and output are binary, and end when the other side ends.
test_exec_input() {
	local sum
	stay_up || return
	head -c 3000000 /dev/urandom >"$work/binary"
	sum=$(md5sum <"$work/binary")
	[ "$("$LAB" exec "$STAY/node0" -- md5sum <"$work/binary")" = "$sum" ] || fail "input" || return
	[ "$("$LAB" exec "$STAY/node0" -- cat <"$work/binary" | md5sum)" = "$sum" ] || fail "output" || return
	[ "$("$LAB" exec "$STAY/node0" -- yes 2>/dev/null | head -n 1)" = y ] || fail "no end"
}

# Each of several commands ends when all have begun.
test_exec_beside() {
	local pids=() pid i
	stay_up || return
	for i in 1 2 3 4; do
		"$LAB" exec "$STAY/node0" -- sh -c ': >/tmp/begun.$1
			until [ -e /tmp/begun.1 ] && [ -e /tmp/begun.2 ] && [ -e /tmp/begun.3 ] && [ -e /tmp/begun.4 ]; do
				sleep 0.05
			done' sh "$i" </dev/null >>"$work/beside" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "$(cat "$work/beside")" || return
	done
}

# A command ends with its ohca-lab, also one that runs others.
test_exec_interrupt() {
	local pid signal tries=50 left=''
	stay_up || return
	for signal in INT TERM KILL; do
		: >"$work/out"
		set -m
		"$LAB" exec "$STAY/node0" -- sh -c 'echo begun; sleep 987; true' >"$work/out" 2>"$work/err" </dev/null &
		pid=$!
		set +m
		until [ -s "$work/out" ]; do
			[ $((tries -= 1)) -gt 0 ] && kill -0 "$pid" || fail "it does not begin" || return
			sleep 0.1
		done
		kill -"$signal" "$pid"
		wait "$pid" 2>/dev/null && fail "$signal: status 0" && return 1
		"$LAB" exec "$STAY/node0" -- sh -c 'tries=60
			while pgrep -f "[s]leep 987"; do
				[ $((tries -= 1)) -gt 0 ] || exit 1
				sleep 0.05
			done' >/dev/null || left+=" $signal"
	done
	[ -z "$left" ] || fail "it lives on after$left"
}

# shell_line TEXT: types a line into the shell of test_shell.
shell_line() {
	printf '%s\n' "$1" >&"$keys"
}

# shell_says PATTERN
shell_says() {
	local tries=100
	until grep -aq -e "$1" "$work/screen"; do
		[ $((tries -= 1)) -gt 0 ] || fail "the shell does not say $1: $(cat "$work/screen")" || return
		sleep 0.05
	done
}

# A terminal with its size, another size, Ctrl-C and the exit status.
test_shell() {
	local keys pid
	stay_up || return
	command -v script >/dev/null || return "$SKIP"
	mkfifo "$work/keys"
	exec {keys}<>"$work/keys"
	TERM=xterm script -qefc "stty rows 31 cols 91; tty >'$work/tty'; exec '$LAB' shell '$STAY/node1'" /dev/null \
		<"$work/keys" >"$work/screen" 2>&1 &
	pid=$!
	shell_line 'stty size; echo $TERM $(hostname)'
	shell_says '31 91' && shell_says 'xterm node1' || return
	stty -F "$(cat "$work/tty")" rows 41 cols 101
	shell_line 'sleep 0.2; stty size'
	shell_says '41 101' || return
	shell_line 'echo $((5 * 111)); sleep 600'
	shell_says '555' || return
	printf '\003' >&"$keys"
	shell_line 'echo $((6 * 111)) again; exit 9'
	shell_says '666 again' || return
	status=0
	wait "$pid" || status=$?
	[ "$status" = 9 ] || fail "status $status"
}

test_cp() {
	stay_up || return
	[ -s "$work/binary" ] || head -c 1000000 /dev/urandom >"$work/binary"
	mkdir -p "$work/tree/sub folder"
	printf '#!/bin/sh\necho run\n' >"$work/tree/sub folder/run me"
	chmod 755 "$work/tree/sub folder/run me"
	ln -s 'sub folder/run me' "$work/tree/link"
	lab cp "$work/binary" "$work/tree" "$STAY/node0:/tmp"
	[ "$status" = 0 ] && [ ! -s "$work/err" ] || fail "to a folder: status $status" || return
	lab exec "$STAY/node0" -- /tmp/tree/link
	[ "$(cat "$work/out")" = run ] || fail "a link to a program" || return
	lab cp "$STAY/node0:/tmp/tree" "$STAY/node1:/tmp/copy"
	[ "$status" = 0 ] || fail "from machine to machine: status $status" || return
	lab cp "$STAY/node1:/tmp/copy" "$work/back" && diff -r "$work/tree" "$work/back" &&
		[ -x "$work/back/sub folder/run me" ] && [ -L "$work/back/link" ] || fail "back" || return
	lab cp "$STAY/node0:/tmp/binary" "$work/binary2" && cmp "$work/binary" "$work/binary2" || fail "a file" || return
	lab cp "$STAY/node0:/tmp/none" "$work/none"
	[ "$status" = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'no such file or folder: /tmp/none' "$work/err" &&
		[ ! -e "$work/none" ] || fail "no file: status $status" || return
	lab cp "$work/binary" "$work/tree" "$STAY/node0:/tmp/new"
	[ "$status" = 1 ] && grep -q 'not a folder: /tmp/new' "$work/err" || fail "two to no folder: status $status" || return
	printf 'one' >"$work/..one"
	lab cp "$work/..one" "$STAY/node0:/tmp/two"
	lab exec "$STAY/node0" -- cat /tmp/two
	[ "$(cat "$work/out")" = one ] || fail "a name with two dots" || return
	# What tar refuses, with status 2, does not keep the others from being copied.
	lab exec "$STAY/node0" -- mkdir -p /tmp/into/binary/x
	lab cp "$work/binary" "$work/..one" "$STAY/node0:/tmp/into"
	[ "$status" = 1 ] || fail "one of two: status $status" || return
	lab exec "$STAY/node0" -- cat /tmp/into/..one
	[ "$(cat "$work/out")" = one ] || fail "the second of two"
}

# The host's own ssh and scp, if there are any.
test_ssh() {
	local config=$SESSIONS/$STAY/ssh_config
	stay_up || return
	command -v ssh >/dev/null || return "$SKIP"
	status=0
	ssh -F "$config" node1 'hostname; exit 5' >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ "$status" = 5 ] && [ "$(cat "$work/out")" = node1 ] || fail "ssh: status $status" || return
	scp -qF "$config" node1:/etc/hostname "$work/name" 2>"$work/err" && [ "$(cat "$work/name")" = node1 ] || fail scp
}

# Programs that people use in a shell, and a compiler.
test_tools() {
	stay_up || return
	lab exec "$STAY/node1" -- sh -c 'cd /tmp
		echo "#include <infiniband/verbs.h>
		int main(void) { int n = 0; ibv_get_device_list(&n); return n; }" >count.c
		gcc -g -o count count.c -libverbs || exit 10
		gdb -nx -batch -ex "info functions main" ./count | grep -q "File count.c" || exit 11
		for program in less nano vi tcpdump strace; do
			command -v "$program" || exit 12
		done
		./count'
	[ "$status" = 1 ] || fail "status $status"
}

test_wait() {
	stay_up || return
	lab exec "$STAY/node0" -- sh -c 'rping -s -C 1 & ohca-wait rdma:7174 || exit 10
		ohca-wait -t 1 tcp:7174 && exit 11
		ohca-wait 7174 || exit 12
		busybox nc -l -p 555 & ohca-wait 7174 tcp:555 || exit 13
		rping -c -a $OHCA_IP -C 1 || exit 14
		rping -s -a $OHCA_IP -p 7175 -C 1 & ohca-wait rdma:7175 || exit 16
		rping -c -a $OHCA_IP -p 7175 -C 1 || exit 17
		ohca-wait 0; [ $? = 2 ] || exit 15'
	[ "$status" = 0 ] || fail "status $status" || return
	grep -q 'nobody listens on port tcp:7174 after 1 s' "$work/err" || fail "no message"
}

test_logs() {
	local pid tries=50
	stay_up || return
	lab logs "$STAY/node0"
	grep -q ohca "$work/out" || fail "no kernel log" || return
	lab logs "$STAY/ohcad"
	grep -q listening "$work/out" || fail "no log of ohcad" || return
	lab logs "$STAY/opensm0"
	grep -q OpenSM "$work/out" || fail "no log of opensm" || return
	lab logs "$STAY/lab"
	grep -q "the lab '$STAY' is up" "$work/out" || fail "no messages" || return
	refused "has no log of 'node7'; there are lab .*node0 node1 ohcad" logs "$STAY/node7" || return
	"$LAB" logs -f "$STAY/node1" >"$work/out" 2>&1 </dev/null &
	pid=$!
	"$LAB" exec "$STAY/node1" -- sh -c 'echo hello from the test >/dev/kmsg' </dev/null
	until grep -q 'hello from the test' "$work/out"; do
		[ $((tries -= 1)) -gt 0 ] || break
		sleep 0.1
	done
	kill "$pid"
	[ "$tries" -gt 0 ] || fail "-f does not follow"
}

# gdb_answers SOCKET: asks the server there, in gdb's protocol, why the machine has stopped, and lets it continue.
gdb_answers() {
	perl -MIO::Socket::UNIX -e '
		alarm 10;
		my $gdb = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$ARGV[0]: $!";
		my $answer = "";
		for my $request ("+\$?#3f", "+\$D#44") {
			$gdb->syswrite($request);
			do { $gdb->sysread($answer, 1000, length $answer) or die } until $answer =~ s/.*\$([^#]*)#..//s;
			push @answers, $1;
		}
		exit !($answers[0] =~ /^[ST]05/ && $answers[1] eq "OK")' "$1"
}

# A second lab beside the first one; its machine reboots.
test_labs() {
	stay_up || return
	lab up --device none --gdb "$STAY.b"
	[ "$status" = 0 ] || fail "status $status" || return
	gdb_answers "$SESSIONS/$STAY.b/node0.gdb" || fail "no server for gdb" || return
	lab exec "$STAY.b/node0" -- sh -c 'echo $OHCA_DEVICE $OHCA_VMS $(hostname); ohca-host reset'
	[ "$(cat "$work/out")" = "none 1 node0" ] || fail "another lab" || return
	"$LAB" exec "$STAY/node0" -- true || fail "the first one" || return
	until_state "$STAY.b" node0 "up,.* boot 2" || return
	lab exec "$STAY.b/node0" -- printenv OHCA_BOOT
	[ "$(cat "$work/out")" = 1 ] || fail "not after a reboot" || return
	lab down "$STAY.b"
	[ "$status" = 0 ] && "$LAB" exec "$STAY/node0" -- true || fail "status $status"
}

# until_state LAB NAME PATTERN [TRIES]: waits, a tenth of a second for each try.
until_state() {
	local tries=${4-200} table
	until table=$("$LAB" ps) && grep -qE "^$1 +$2 +[-0-9]+ [:0-9]+ +$3" <<<"$table"; do
		[ $((tries -= 1)) -gt 0 ] || fail "$2 does not get $3: $table" || return
		sleep 0.1
	done
}

# signal_ohcad SIGNAL: sends it to the processes of the lab's ohcad.
signal_ohcad() {
	local id ids=()
	for id in $(process_ids "OHCA_LAB_TEST=stay$$"); do
		[ "$(<"/proc/$id/comm")" != ohcad ] || ids+=("$id")
	done 2>/dev/null
	kill -"$1" "${ids[@]}"
}

# ohcad gets no processor for longer than QEMU waits for a reply by default, which is 5 s. Its machine keeps the adapter.
test_ohcad_stalls() {
	local command
	stay_up || return
	signal_ohcad STOP || fail "no ohcad" || return
	"$LAB" exec "$STAY/node0" -- perfquery >"$work/out" 2>"$work/err" </dev/null &
	command=$!
	sleep 7
	signal_ohcad CONT
	wait "$command" || fail "status $?" || return
	grep -q '^PortXmitData' "$work/out" || fail "no counters" || return
	lab exec "$STAY/node0" -- sh -c 'dmesg | grep "ohca.*fenced"'
	[ "$status" = 1 ] || fail "the device failed"
}

# Death of an adapter and of a machine
test_dead() {
	stay_up || return
	lab exec "$STAY/node0" -- ohca-host kill-device
	until_state "$STAY" ohcad "ended" || return
	lab exec "$STAY/node0" -- echo hello
	[ "$status" = 0 ] && [ "$(cat "$work/out")" = hello ] && grep -q "ohcad of the lab '$STAY' has ended" "$work/err" ||
		fail "nobody says that ohcad has ended: status $status" || return
	lab exec "$STAY/node1" -- busybox poweroff -f
	until_state "$STAY" node1 "ended" || return
	lab exec "$STAY/node1" -- true
	[ "$status" = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "node1 of the lab '$STAY' is not up: ended by itself" "$work/err" ||
		fail "status $status"
}

test_down() {
	stay_up || return
	[ -n "$(processes OHCA_LAB_TEST=stay$$)" ] || fail "there are no processes" || return
	lab down "$STAY"
	[ "$status" = 0 ] || fail "status $status" || return
	[ -z "$(processes OHCA_LAB_TEST=stay$$)" ] || fail "these live on: $(processes OHCA_LAB_TEST=stay$$ | xargs)" || return
	[ ! -e "$SESSIONS/$STAY" ] || fail "files are left"
}

# stay_start SIGNAL [OPTION]: sends the signal to "up" when its machines start.
stay_start() {
	local pid tries=600 mark=OHCA_LAB_TEST=$BASHPID-$RANDOM
	set -m
	env "$mark" "$LAB" up "${@:2}" "$STAY.c" >"$work/out" 2>"$work/err" </dev/null &
	pid=$!
	set +m
	until [ -e "$SESSIONS/$STAY.c/node0.qemu" ]; do
		[ $((tries -= 1)) -gt 0 ] && kill -0 "$pid" 2>/dev/null || fail "it does not start" || break
		sleep 0.05
	done
	kill "-$1" "$pid"
	status=0
	wait "$pid" 2>/dev/null || status=$?
	stay_mark=$mark
}

test_up_interrupt() {
	# Machines that boot take longer than this test.
	stay_start INT --no-snapshot
	[ -z "$(processes "$stay_mark")" ] || fail "these live on: $(processes "$stay_mark" | xargs)" || return
	[ "$status" = 130 ] && [ ! -e "$SESSIONS/$STAY.c" ] || fail "status $status"
}

# The lab continues without the one who started it, and can be taken down; so can one whose processes were killed.
test_up_killed() {
	local pid
	stay_start KILL
	until_state "$STAY.c" node0 "up" || return
	lab exec "$STAY.c/all" -- hostname
	[ "$status" = 0 ] && [ "$(cat "$work/out")" = "node0: node0" ] || fail "status $status" || return
	read -r pid <"$SESSIONS/$STAY.c/pid"
	kill -KILL "$pid"
	until_state "$STAY.c" - "its processes were killed" || return
	[ -z "$(processes "$stay_mark")" ] || fail "these live on: $(processes "$stay_mark" | xargs)" || return
	lab exec "$STAY.c/node0" -- true
	[ "$status" = 1 ] && grep -q "the lab '$STAY.c' has ended" "$work/err" || fail "status $status" || return
	lab down "$STAY.c"
	[ "$status" = 0 ] && [ ! -e "$SESSIONS/$STAY.c" ] || fail "down: status $status"
}

# A lab that is still starting
test_down_starting() {
	local pid tries=600 mark=OHCA_LAB_TEST=$BASHPID-$RANDOM
	env "$mark" "$LAB" up --no-snapshot "$STAY.c" >"$work/out2" 2>"$work/err2" </dev/null &
	pid=$!
	until [ -e "$SESSIONS/$STAY.c/log" ]; do
		[ $((tries -= 1)) -gt 0 ] || fail "it does not start" || return
		sleep 0.02
	done
	lab ps
	grep -qE "^$STAY.c +- .* starting" "$work/out" || fail "ps" || return
	lab down "$STAY.c"
	[ "$status" = 0 ] && [ ! -s "$work/err" ] && [ ! -e "$SESSIONS/$STAY.c" ] || fail "status $status" || return
	wait "$pid" && fail "up has status 0" && return 1
	grep -q "the lab '$STAY.c' was taken down before it was up" "$work/err2" && ! grep -v '^ohca-lab: ' "$work/err2" ||
		fail "$(cat "$work/err2")" || return
	[ -z "$(processes "$mark")" ] || fail "these live on: $(processes "$mark" | xargs)"
}

# A lab whose time is over: its errors are told by down. The time counts from when it is up. Nothing of an earlier
# one is left in its folder of results.
test_down_ended() {
	mkdir -p "$work/results/lab"
	echo old >"$work/results/lab/boots"
	touch "$work/results/lab/node7.log"
	lab up --device none --timeout 20 --results "$work/results/lab" "$STAY.e"
	[ "$status" = 0 ] || fail "up: status $status" || return
	lab exec "$STAY.e/node0" -- sh -c 'echo "WARNING: CPU: 0 PID: 1 at test.c:1" >/dev/kmsg'
	[ "$status" = 0 ] || fail "exec: status $status" || return
	until_state "$STAY.e" - "ended by itself" 600 || return
	lab down "$STAY.e"
	[ "$status" = 1 ] && grep -q 'WARNING: .*test.c:1' "$work/err" && [ ! -e "$SESSIONS/$STAY.e" ] || fail "down: status $status" || return
	grep -q "WARNING: .*test.c:1" "$work/results/lab/node0.log" && [ "$(wc -l <"$work/results/lab/boots")" = 1 ] &&
		[ ! -e "$work/results/lab/node7.log" ] || fail "its results"
}

# Two that take down one lab: both return when nothing is left. A process that waits for the file stands for the lab.
test_down_twice() {
	local dir=$SESSIONS/$STAY.f first second
	mkdir -p "$dir" "$work/down.late"
	printf '#!/bin/sh\nsleep 1\nexec %s "$@"\n' "$(command -v tail)" >"$work/down.late/tail"
	chmod +x "$work/down.late/tail"
	echo "lab 0 up" >"$dir/state"
	: >"$dir/log"
	flock "$dir/lock" sh -c ': >"$2/down.held"
		until [ -e "$2/down.go" ] || [ ! -d "$2" ]; do sleep 0.05; done
		echo "lab 0 ended 0" >"$1/state"' sh "$dir" "$work" &
	until_exists "$work/down.held" || return
	"$LAB" down "$STAY.f" >"$work/down.first" 2>&1 </dev/null &
	first=$!
	until_exists "$dir/down" || return
	PATH=$work/down.late:$PATH "$LAB" down "$STAY.f" >"$work/down.second" 2>&1 </dev/null &
	second=$!
	# It waits for the other one, or for the lab.
	until pgrep -P "$second" -x flock >/dev/null || ! kill -0 "$second" 2>/dev/null; do sleep 0.02; done
	: >"$work/down.go"
	wait "$first" || fail "the first one: $(cat "$work/down.first")" || return
	wait "$second" || fail "the second one: $(cat "$work/down.second")" || return
	[ ! -s "$work/down.first" ] && [ ! -s "$work/down.second" ] && [ ! -e "$dir" ] || fail "something is left"
}

# One that starts a lab while another one takes down an earlier one of that name: it waits until that is removed. A process that waits
# for the file stands for the earlier one.
test_down_up() {
	local dir=$SESSIONS/$STAY.g old down
	mkdir -p "$dir" "$work/down.slow"
	printf '#!/bin/sh\nsleep 8\nexec %s "$@"\n' "$(command -v tail)" >"$work/down.slow/tail"
	chmod +x "$work/down.slow/tail"
	echo "lab 0 up" >"$dir/state"
	: >"$dir/log"
	flock "$dir/lock" sh -c 'until [ -e "$1/down" ]; do sleep 0.05; done
		echo "lab 0 ended 0" >"$1/state"' sh "$dir" &
	old=$!
	until_exists "$dir/lock" || return
	PATH=$work/down.slow:$PATH "$LAB" down "$STAY.g" >"$work/down.slow/out" 2>&1 </dev/null &
	down=$!
	wait "$old"
	lab up --device none "$STAY.g"
	wait "$down" || fail "down: $(cat "$work/down.slow/out")" || return
	[ "$status" = 0 ] && [ -e "$dir/pid" ] || fail "up: status $status" || return
	lab down "$STAY.g"
	[ "$status" = 0 ] && [ ! -e "$dir" ] || fail "the new one: status $status"
}

# Two that start one lab: the second one does not remove the folder that the first one has just made.
test_up_twice() {
	(
		# shellcheck source=/dev/null
		. tools/lab/lib/log.sh && . tools/lab/lib/session.sh
		SESSIONS=$work/sessions OHCA_CACHE=$work lab=one lab_dir=$work/sessions/one
		mkdir -p "$lab_dir"
		exec {turn}<"$SESSIONS"
		flock "$turn"
		(exec {turn}<&- && session_claim) >"$work/out" 2>"$work/err" &
		pid=$!
		until pgrep -P "$pid" -x flock >/dev/null || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
		exec {held}>"$lab_dir/lock" && flock "$held" || exit 1
		exec {turn}<&-
		! wait "$pid" && grep -q "the lab .one. has been started meanwhile" "$work/err" && [ -e "$lab_dir/lock" ]
	) || fail "it removes what is not its own"
}

# Machines that can't be started leave nothing.
test_up_fails() {
	lab up --device none --no-snapshot --append 'init=/bin/false rdinit=/bin/false' "$STAY.d"
	[ "$status" = 1 ] && grep -q 'node0 has ended before it was ready' "$work/err" && [ ! -e "$SESSIONS/$STAY.d" ] ||
		fail "status $status"
}

stay_tests=(
	"stay_command_line      wrong command lines of up, exec, shell, cp, logs, ps and down are refused in one line"
	"lab_file_refused       a wrong lab file is refused with its line and key"
	"up                     machines that stay, from a file"
	"exec                   exec has the command's output, errors and status"
	"exec_input             input and output of exec are binary"
	"exec_beside            several commands at a time"
	"exec_interrupt         a command ends with its exec"
	"shell                  a shell has a terminal, its size, Ctrl-C and a status"
	"cp                     files and folders are copied"
	"ssh                    the host's ssh and scp"
	"tools                  a compiler, a debugger and editors in the machines"
	"wait                   ohca-wait waits for who listens"
	"logs                   logs of machines, of ohcad and of the lab"
	"ohcad_stalls           ohcad that gets no processor for a while"
	"labs                   several labs, and a reboot in one"
	"dead                   ps and exec say what has ended"
	"down                   nothing of a lab is left"
	"up_interrupt           INT while machines start leaves nothing"
	"down_starting          down ends a lab that is still starting"
	"up_killed              a lab whose starter or processes were killed can be taken down"
	"down_ended             down tells the errors of a lab whose time is over"
	"down_twice             two that take down one lab both succeed"
	"down_up!               a lab is started while an earlier one of its name is taken down"
	"up_twice               two that start one lab at once do not disturb each other"
	"up_fails               machines that do not start leave nothing"
)
