# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Functions for all test scripts: TAP version 13, the machine's number, the device.
# A script sources this file, calls plan, then check, ok, not_ok, skip for each line, and finish.
#
# Environment (ohca-lab sets it): OHCA_RANK, OHCA_VMS, OHCA_IP, OHCA_PEER, OHCA_DEVICE, OHCA_LINK, OHCA_NETDEV, OHCA_IBDEV,
# OHCA_BOOT.
# With OHCA_LONG=1, tests that have a long form use it.

DIR=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/sbin:/usr/sbin
# Programs do not read the files of a locale, which takes almost half of the time of a short one in an emulated machine.
export LC_ALL=C
RANK=${OHCA_RANK:-0}
# shellcheck disable=SC2034 # for the scripts
VMS=${OHCA_VMS:-1}

tap_num=0
tap_failed=0
tap_skipped=0
tap_planned=0
# Processes are slow in an emulated machine, so checks and waits start none if possible.
check_dir=

plan() # number
{
	tap_planned=$1
	echo "TAP version 13"
	echo "1..$1"
}

ok() # name
{
	tap_num=$((tap_num + 1))
	echo "ok $tap_num $1"
}

not_ok() # name
{
	tap_num=$((tap_num + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_num $1"
}

skip() # name, reason
{
	tap_num=$((tap_num + 1))
	tap_skipped=$((tap_skipped + 1))
	echo "ok $tap_num $1 # SKIP $2"
}

diag()
{
	echo "$*" | sed 's/^/# /'
}

# check NAME COMMAND...: passes if the command, run in this shell, succeeds; otherwise its output is shown
check()
{
	check_name=$1
	shift
	[ -n "$check_dir" ] || check_dir=$(mktemp -d)
	check_log=$check_dir/$((tap_num + 1))
	if "$@" > "$check_log" 2>&1; then
		ok "$check_name"
	else
		diag "exit status $?: $*"
		sed 's/^/# /' "$check_log"
		not_ok "$check_name"
	fi
}

# Whether the kernel is older than that.
kernel_before() # major, minor
{
	kernel_rest=$(uname -r)
	kernel_major=${kernel_rest%%.*}
	kernel_rest=${kernel_rest#*.}
	[ "$kernel_major" -lt "$1" ] || { [ "$kernel_major" -eq "$1" ] && [ "${kernel_rest%%[!0-9]*}" -lt "$2" ]; }
}

# check() for what needs "ethtool -X". Debian 13's ethtool asks for a field that older kernels refuse.
check_rxfh() # name, command
{
	if kernel_before 6 8; then
		skip "$1" "the kernel is too old for this ethtool -X"
	else
		check "$@"
	fi
}

skip_all() # reason
{
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit 4
}

bail()
{
	echo "Bail out! $*"
	[ -z "$check_dir" ] || rm -rf "$check_dir"
	exit 1
}

# Exits with the status of the lines.
finish()
{
	[ -z "$check_dir" ] || rm -rf "$check_dir"
	if [ "$tap_num" -ne "$tap_planned" ]; then
		diag "$tap_num of $tap_planned tests were run"
		exit 1
	fi
	[ "$tap_failed" -eq 0 ] || exit 1
	[ "$tap_skipped" -lt "$tap_num" ] || exit 4
	exit 0
}

# long NUMBER SHORT: prints NUMBER in the long form of tests (OHCA_LONG=1), else SHORT.
long()
{
	if [ "${OHCA_LONG:-}" = 1 ]; then echo "$1"; else echo "$2"; fi
}

# The check is in the long form only; the short one skips the line.
long_check() # name, command...
{
	if [ "${OHCA_LONG:-}" = 1 ]; then check "$@"; else skip "$1" "in the long form"; fi
}

# Sets $now to the seconds since the machine was booted.
now()
{
	read -r now _ < /proc/uptime
	now=${now%.*}
}

# Limits of time are so many times as long, as machines share a host: on the debug kernel, OHCA_SLOW is 8.
slow=${OHCA_SLOW:-3}

# wait_for SECONDS COMMAND...: until the command succeeds, at most so long, times $slow.  It is run less often the longer it
# takes: in an emulated machine each process costs milliseconds, and on the debug kernel a hundred.  The command may wait for
# something itself.
wait_for()
{
	now
	wait_limit=$(($1 * slow))
	shift
	set -- "$now" "$((now + wait_limit))" "$@" # a variable would be that of the inner call, too
	until wait_try "$@"; do
		now
		[ "$now" -lt "$2" ] || return 1
		nap "$((now - $1))"
	done
}

# nap WAITED: sleeps for a while; WAITED is for how many seconds something has been waited for. Busybox is linked statically.
nap()
{
	if [ "$1" -le 1 ]; then busybox sleep 0.1; elif [ "$1" -le 8 ]; then busybox sleep 0.4; else busybox sleep 1; fi
}

wait_try() # begin, end, command...
{
	shift 2
	"$@"
} > /dev/null 2>&1

# reached_ping ARGUMENT...: ping, which may wait until the address is reached: IPoIB drops what waits for a path if the subnet
# administrator does not answer within a second, and the next packet asks again.
reached_ping()
{
	wait_for 30 ping "$@" -c 1 -W 2
	ping "$@"
}

# Print the RDMA device, its PCI function and netdev; nothing if there is none.
ibdev()
{
	if [ -n "${OHCA_IBDEV:-}" ]; then
		[ ! -e "/sys/class/infiniband/$OHCA_IBDEV" ] || echo "$OHCA_IBDEV"
		return
	fi
	for ibdev_path in /sys/class/infiniband/ohca*; do
		[ ! -e "$ibdev_path" ] || { basename "$ibdev_path"; break; }
	done
}

pcidev()
{
	lspci -Dn -d 1234:0ca0 2> /dev/null | cut -d' ' -f1 | head -n 1
}

netdev() # RDMA device, or else that of ibdev()
{
	if [ "${OHCA_DEVICE:-ohca}" = rxe ]; then
		echo "$OHCA_NETDEV"
		return
	fi
	for netdev_path in "/sys/class/infiniband/${1:-$(ibdev)}/device/net"/*; do
		[ ! -e "$netdev_path" ] || { basename "$netdev_path"; break; }
	done
}

# The carrier of the script's netdev $ND
carrier_is() # 0, 1
{
	[ "$(cat "/sys/class/net/$ND/carrier")" = "$1" ]
}

# Whether the adapters are on InfiniBand
on_ib()
{
	[ "${OHCA_LINK:-eth}" = ib ]
}

need_ib()
{
	on_ib || skip_all "needs InfiniBand"
}

gids() # RDMA device, or else that of ibdev(): one line per RoCEv2 GID: index and GID
{
	gid_port=/sys/class/infiniband/${1:-$(ibdev)}/ports/1
	# There are many of them, so no process is started for each.
	for gid_path in "$gid_port/gid_attrs/types"/*; do
		gid_index=${gid_path##*/}
		read -r gid_type < "$gid_path" && [ "$gid_type" = "RoCE v2" ] &&
			read -r gid < "$gid_port/gids/$gid_index" && echo "$gid_index $gid"
	done 2> /dev/null
	return 0
}

# Whether the port has that state, which the kernel asks the driver for.  It is asked in waits, so no process is started.
port_is() # PORT_ACTIVE, PORT_DOWN ...
{
	read -r port_state < "/sys/class/infiniband/${OHCA_IBDEV:-$(ibdev)}/ports/1/state" && [ "${port_state#*: }" = "${1#PORT_}" ]
}

# Prints the objects of user space programs that are left: lines of "rdma resource show"; nothing if there are none.
user_objects()
{
	for user_kind in cm_id qp cq mr pd ctx srq; do
		rdma resource show "$user_kind" 2> /dev/null | grep ' pid '
	done
	return 0
}

no_user_objects()
{
	[ -z "$(user_objects)" ]
}

nothing_left()
{
	wait_for 60 no_user_objects || { user_objects; return 1; }
}

# leave_nothing COMMAND...: runs a program that prints all of the test's lines and that leaves no object behind;
# returns its exit status.
leave_nothing()
{
	"$@"
	leave_status=$?
	left=$(nothing_left) || { diag "$left"; bail "objects are left"; }
	exit "$leave_status"
}

# run_and_leave PROGRAM WHAT: runs a program that prints lines, then again with "leave", in which case it ends without
# destroying its objects: two more lines. Returns the exit status.
run_and_leave()
{
	leave_log=$(mktemp)
	"$1" > "$leave_log"
	leave_status=$?
	if [ "$leave_status" -ne 4 ]; then
		awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 2; next } { print }' "$leave_log"
	else
		cat "$leave_log"
	fi
	tap_num=$(grep -cE '^(not )?ok ' "$leave_log")
	tap_failed=$(grep -c '^not ok ' "$leave_log")
	rm -f "$leave_log"
	[ "$leave_status" -ne 4 ] || exit 4
	[ "$leave_status" -eq 0 ] || [ "$tap_failed" -gt 0 ] || tap_failed=1
	tap_planned=$((tap_num + 2))
	check "a program leaves with $2" "$1" leave
	check "nothing is left of it" wait_for 20 no_user_objects
	finish
}

# Prints errors and warnings of the kernel since the last call of kernel_log_mark.
kernel_log_mark()
{
	kernel_mark=$(dmesg | wc -l)
}

kernel_log_clean()
{
	! dmesg | tail -n +$((kernel_mark + 1)) | awk -f "$DIR/klog.awk" |
		grep -E 'BUG:|WARNING:|Oops|KASAN|UBSAN|INFO: task|lockdep|DMA-API|refcount_t|is flushing|general protection|Call Trace'
}

# cm_listening [ADDRESS:]PORT [COMMAND...]: whether a program listens there by rdma_cm; COMMAND runs another one, as in a
# namespace.  The kernel says LISTEN before it listens: it does when the program waits for events, that is, all its threads
# sleep, or poll, as rsockets do: then they have run for 50 ms in user space since the first call.
cm_first=
cm_listening()
{
	cm_port=$1
	shift
	cm_listener=$("$@" rdma resource show cm_id |
		sed -nE "/ state LISTEN .*[ :]$cm_port( |\$)/s/.* pid ([0-9]+) .*/\1/p" | tail -n 1)
	[ -n "$cm_listener" ] || return 1
	cm_awake=0 cm_user=0
	for cm_task in "/proc/$cm_listener/task"/*/stat; do
		read -r cm_stat < "$cm_task" || return 1
		# shellcheck disable=SC2086 # words: the state, and so on
		set -- ${cm_stat##*) }
		[ "$1" = S ] || cm_awake=1
		cm_user=$((cm_user + ${12}))
	done
	[ "$cm_awake" = 1 ] || return 0
	[ "${cm_first%:*}" = "$cm_listener" ] || cm_first=$cm_listener:$cm_user
	[ "$cm_user" -ge $((${cm_first#*:} + 5)) ]
} 2> /dev/null

# rping closes its event channel while its thread waits for events there, which may end the program with
# "rdma_get_cm_event: Bad file descriptor" and 255. This checks whether it had finished its work before that.
rping_was_done() # its status, file with its output
{
	[ "$1" -eq 0 ] && return
	[ "$1" -eq 255 ] && grep -q "^rdma_get_cm_event: Bad file" "$2" && grep -q "DISCONNECT EVENT" "$2" &&
		! grep -v "^wait for RDMA_READ_ADV state 10$" "$2" | grep -qE "failed|mismatch|wait for|error"
}

# barrier NAME: wait for all machines
barrier()
{
	if [ "$VMS" -gt 1 ]; then
		ohca-barrier "$1"
	fi
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
}

need_machines() # number
{
	[ "$VMS" -ge "$1" ] || skip_all "needs $1 machines"
	[ "$RANK" -lt "$1" ] || skip_all "only the first $1 machines take part"
}

# The RDMA device of the machine's adapter with that number, from 0
hca()
{
	for hca_path in /sys/class/infiniband/ohca*; do
		[ -e "$hca_path" ] && echo "${hca_path##*/}"
	done | sed -n "$(($1 + 1))p"
}

need_hcas() # number
{
	need_device
	[ -n "$(hca $(($1 - 1)))" ] || skip_all "needs $1 adapters"
}

need_device()
{
	need_root
	if [ -z "$(ibdev)" ]; then
		modprobe ohca 2> /dev/null
		wait_for 20 test_device || skip_all "no device"
	fi
}

test_device()
{
	[ -n "$(ibdev)" ]
}

# The netdev's addresses and state are lost when the driver is unloaded; configure them again.
net_restore()
{
	if command -v ohca-up > /dev/null; then
		# shellcheck source=/dev/null
		ohca-up && . /run/ohca-env
		return
	fi
	wait_for 20 test_device || return 1
	ip link set "$(netdev)" up
	[ -z "${OHCA_IP:-}" ] || ip addr replace "$OHCA_IP/16" dev "$(netdev)"
	wait_for 20 port_is PORT_ACTIVE
}

# Removes the function, as if it were unplugged, and finds it again.
PCI_BUS=/sys/bus/pci
pci_remove()
{
	echo 1 > "$PCI_BUS/devices/$PCI/remove"
}

pci_rescan()
{
	echo 1 > "$PCI_BUS/rescan"
}

pci_reset()
{
	echo 1 > "$PCI_BUS/devices/$PCI/reset"
}

# The PCI core's calls of the driver, from a test module
pci_calls() # what
{
	insmod "$DIR/kmod/$(uname -r)/ohca_pci_test.ko" function="$PCI" what="$1" && rmmod ohca_pci_test
}

# The recovered device can be used as before.
again()
{
	wait_for 30 test_device && net_restore
}

reload()
{
	modprobe ohca && again
}

# The device transfers data: a few rounds on some queue pairs.
traffic_works()
{
	"$DIR/holder" -q 4 -n 20
}

# Starts a program in the background that uses the device: $holder is its process. Returns when it has traffic on all
# of its queue pairs.
holder_start() # queue pair pairs
{
	holder_log=$(mktemp)
	"$DIR/holder" -q "$1" > "$holder_log" 2>&1 &
	holder=$!
	wait_for 60 grep -q ready "$holder_log" && return
	diag "$(cat "$holder_log")"
	return 1
}

debugfs_mount()
{
	mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug
}

# The test module for the kernel's verbs, and its output
KVERBS=$DIR/kmod/$(uname -r)/kverbs_test.ko
KVERBS_RESULT=/sys/kernel/debug/kverbs_test/result

kverbs_load() # its parameters
{
	debugfs_mount
	insmod "$KVERBS" device="$(ibdev)" "$@"
}

# All of its tests passed.
kverbs_fine()
{
	cat "$KVERBS_RESULT"
	kverbs_planned=$(sed -n 's/^1\.\.//p' "$KVERBS_RESULT")
	[ "${kverbs_planned:-0}" -gt 0 ] && [ "$(grep -c '^ok ' "$KVERBS_RESULT")" -eq "$kverbs_planned" ]
}

kverbs_unload()
{
	! grep -q '^kverbs_test ' /proc/modules || rmmod kverbs_test
}

# Starts a program in the background that only waits for asynchronous events: $watcher is its process.
watcher=
watcher_start()
{
	watcher_log=$(mktemp)
	"$DIR/watch_async" > "$watcher_log" 2>&1 &
	watcher=$!
	wait_for 20 grep -q watching "$watcher_log"
}

# The number of times that it has got the event
notified() # event, times
{
	[ "$(grep -c "$1" "$watcher_log")" -ge "$2" ]
}

watcher_stop()
{
	[ -n "$watcher" ] || return 0
	kill "$watcher" 2> /dev/null
	wait "$watcher" 2> /dev/null
	rm -f "$watcher_log"
	watcher=
}

# The process has ended, whether or not its parent has waited for it.
over() # process
{
	! kill -0 "$1" 2> /dev/null || grep -q '^State:.*Z' "/proc/$1/status"
}

# The program ends, with the expected exit status.
holder_ended() # status
{
	if ! wait_for 60 over "$holder"; then
		echo "it hangs: $(grep State "/proc/$holder/status")"
		cat "/proc/$holder/stack"
		kill -KILL "$holder"
	fi
	wait "$holder"
	holder_status=$?
	cat "$holder_log"
	rm -f "$holder_log"
	[ "$holder_status" -eq "$1" ] || { echo "exit status $holder_status, expected $1"; return 1; }
}
