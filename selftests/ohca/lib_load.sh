# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Load for kernel consumers: fio writes, reads back and verifies. The first machine is the server, the second one the
# client. A script sources this file after lib.sh.

load=
load_dir=$(mktemp -d)
second_load=
second_dir=$(mktemp -d)

# A check in one of the machines, for which the other one waits; only the first prints a line.
server_check() # name, command...
{
	[ "$RANK" -ne 0 ] || check "$@"
	barrier load
}

client_check()
{
	[ "$RANK" -ne 1 ] || check "$@"
	barrier load
}

# Queue pairs of kernel consumers, which the kernel names after the connection manager
kernel_qps() # number of them
{
	[ "$(rdma resource show qp | grep -c 'comm \[rdma_cm\]')" -eq "$1" ] || { rdma resource show qp; return 1; }
}

# The module has a protection domain.
kernel_uses() # module
{
	rdma resource show pd | grep "comm \[$1\]" || { rdma resource show pd; return 1; }
}

# io FILE OPTIONS...: a round of fio: the file is written completely in random order, read and compared. A disk that
# was removed is an error; no file is created in its place.
io()
{
	io_options "$@"
	# shellcheck disable=SC2086 # words
	timeout $((120 * slow)) fio $io_options
}

# Sets $io_options to fio's arguments for that.
io_options() # file, options
{
	io_options="--name=io --filename=$1 --ioengine=libaio --rw=randwrite --verify=crc32c"
	io_options="$io_options --verify_fatal=1 --verify_state_save=0 --thread"
	case $1 in
	/dev/*) io_options="$io_options --allow_file_create=0" ;;
	esac
	shift
	io_options="$io_options $*"
}

# load_begin FILE OPTIONS...: rounds of io without end, in the background, by one fio: the start of a process takes longer
# than a round.  Its rate is limited, because the processors are shared with other machines.  It prints when it begins to
# write and to verify: with --status-interval, fio may wait for itself (stat_sem and rusage_sem, up to 3.42).
load_begin()
{
	rm -f "$load_dir"/*
	io_options "$@"
	# shellcheck disable=SC2086 # words
	stdbuf -oL fio $io_options --loops=1000000000 --rate="$(long 16m 4m)" --debug=process > "$load_dir/log" 2>&1 &
	load=$!
}

# The same, and waits until the first round is complete.
load_start() # file, options
{
	load_begin "$@" && load_waits 1
}

load_rounds() # number: so many rounds are complete, or the load has ended
{
	load_over || [ "$(load_done)" -ge "$1" ]
}

# Rounds that are certainly complete: when one is verified, there was no error in those before it. One more may be complete.
load_done()
{
	load_count=$(grep -c "RUNNING -> VERIFYING" "$load_dir/log")
	echo $((load_count > 0 ? load_count - 1 : 0))
}

load_over()
{
	over "$load"
}

load_waits() # number of rounds
{
	wait_for 90 load_rounds "$1" && ! load_over 2> /dev/null && return
	load_stuck
	return 1
}

# How many rounds are complete with one that begins from now on: it is after one which may be complete, and the one that is
# under way.
load_next()
{
	echo $(($(load_done) + 3))
}

# A round that begins from now on completes.
load_goes_on()
{
	load_waits "$(load_next)"
}

# load_ended STATUS: it has ended by itself, or by a signal, with this exit status, and no process hangs. fio's status
# is 1 after an error.
load_ended()
{
	wait_for 90 load_over || { load_stuck; return 1; }
	wait "$load"
	load_status=$?
	load=
	[ "$load_status" -eq "$1" ] || { load_log; echo "status $load_status"; return 1; }
}

# One more round verifies the data, and there was no error. A signal that fio catches may interrupt it while it holds
# a lock, and then it hangs for ever.
load_stop()
{
	load_goes_on && kill -KILL "$load" && load_ended 137
}

# fio's output, of which the begin and the end are enough
load_log()
{
	sed -n '1,20p' "$load_dir/log"
	echo "..."
	tail -n 30 "$load_dir/log"
}

# Shows fio's output and its stack, the kernel's log and the stacks of RDMA.
load_stuck()
{
	load_log
	for load_task in $(pgrep fio); do
		cat "/proc/$load_task/task"/*/stack
	done
	dmesg | tail -n 30
	rdma -dd resource show qp
	rdma -dd resource show cq
}

# Runs a command of this file on a second load beside the first one
second() # command...
{
	first_load=$load first_dir=$load_dir
	load=$second_load load_dir=$second_dir
	"$@"
	second_status=$?
	second_load=$load
	load=$first_load load_dir=$first_dir
	return "$second_status"
}

# load_goes_on for both loads
loads_go_on()
{
	first_next=$(load_next) second_next=$(second load_next)
	load_waits "$first_next" && second load_waits "$second_next"
}

load_cleanup()
{
	for load_process in $load $second_load; do
		kill "$load_process"
		pkill -KILL -x fio
	done
	rm -rf "$load_dir" "$second_dir"
} 2> /dev/null
