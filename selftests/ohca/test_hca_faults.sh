#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An adapter fails on demand: events of programs and the netdev, and the kernel log.
# vms: 1
# kernels: all - the driver handles the faults, and recovers
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
ohca-host ohcactl version > /dev/null 2>&1 || skip_all "no ohcactl"
DEV=$(ibdev)
PCI=$(pcidev)
ND=$(netdev)
GID=$(gids | grep 0000:0000:0000:0000:0000:ffff | head -n 1 | cut -d' ' -f1)

holder=
server=
cleanup()
{
	watcher_stop
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	[ -z "$server" ] || kill -KILL "$server" 2> /dev/null
	fault clear > /dev/null 2>&1
}
trap cleanup EXIT

fault()
{
	ohca-host ohcactl fault "$@"
}

# The rules of the first lines
rules_first()
{
	fault add fail-command=7,hca=hca0,op=alloc-xrcd && fault add fail-cq,hca=hca0,on=completion,type=rc,skip=1000
}

# How often the last rule was applied (a regular expression)
struck() # rule, hits
{
	ohca-host ohcactl -j fault show | grep -q "\"rule\":\"$1\",\"matched\":[0-9]*,\"hits\":$2,"
}

rules_struck()
{
	struck 'fail-command=7,hca=hca0,op=alloc-xrcd' 1 || return 1
	struck 'fail-cq,hca=hca0,on=completion,type=rc,skip=1000' 1
}

logged() # pattern
{
	dmesg | tail -n +$((log_mark + 1)) | grep "$1"
}

log_mark()
{
	log_mark=$(dmesg | wc -l)
}

# A program can't create an XRC domain.
xrc_refused()
{
	timeout $((60 * slow)) ibv_xsrq_pingpong -d "$DEV" -g "$GID" > "$log" 2>&1 && return 1
	cat "$log"
	grep "Open the XRC Domain 12" "$log"
}

# Without events, the driver keeps the old state.
link_lost_unseen()
{
	fault add "fail-eq=1,hca=hca0" || return 1
	wait_for 20 struck "fail-eq=1,hca=hca0" 1 || return 1
	ohca-host ohcactl link "$OHCA_HCA" down
	ohca-host ohcactl show ports "$OHCA_HCA" | grep -E "^$OHCA_HCA +1 +down +out " || return 1
	carrier_is 1 && ! notified "port error" 1
}

link_loss_seen()
{
	ohca-host ohcactl fail-clear "$OHCA_HCA" || return 1
	wait_for 20 carrier_is 0 && wait_for 20 notified "port error" 1
}

link_back()
{
	ohca-host ohcactl link "$OHCA_HCA" up
	wait_for 20 port_is PORT_ACTIVE && wait_for 20 notified "port active" 1
}

listening()
{
	grep -qi "^ *[0-9]*: [0-9A-F]*:4A39 [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6
}

# Two programs that sleep until completion events; all data are compared.
messages_by_events()
{
	ibv_rc_pingpong -d "$DEV" -g "$GID" -p 19001 -e -c -n 3000 > "$log" 2>&1 &
	server=$!
	wait_for 20 listening || return 1
	timeout $((120 * slow)) ibv_rc_pingpong -d "$DEV" -g "$GID" -p 19001 -e -c -n 3000 localhost || return 1
	wait "$server" || { cat "$log"; return 1; }
	server=
}

# The queues of completion events are full repeatedly.
events_late()
{
	number=2
	while [ "$number" -le 3 ]; do
		fault add "fail-eq=$number,hca=hca0,for=10ms,every=20ms,count=1000000" || return 1
		number=$((number + 1))
	done
	messages_by_events || return 1
	struck "fail-eq=2,hca=hca0,for=10ms,every=20ms,count=1000000" "[1-9][0-9]*" && fault clear
}

# The cable is unplugged while a program creates its objects.
link_flaps()
{
	watcher_stop
	watcher_start || return 1
	fault add "link-down,hca=hca0,on=command,op=create-qp,for=300ms" || return 1
	traffic_works &
	flaps_job=$!
	wait_for 20 notified "port error" 1 && wait_for 20 notified "port active" 1
	flaps_result=$?
	wait "$flaps_job"
	fault clear
	return "$flaps_result"
}

# A device that failed works again after the driver is loaded again.
driver_again()
{
	watcher_stop
	rmmod ohca && reload && traffic_works
}

# So does one that was unplugged and plugged in.
function_again()
{
	watcher_stop
	pci_remove
	ohca-host ohcactl plug "$OHCA_HCA" || return 1
	pci_rescan
	again && traffic_works
}

# with_traffic STATUS RULE: a program with traffic ends with this status when the rule is applied, and a second program gets
# the event
with_traffic()
{
	watcher_stop
	watcher_start && holder_start 20 || return 1
	fault add "$2" || return 1
	holder_ended "$1" || return 1
	holder=
	wait_for 20 notified "local catastrophic error" 1
}

command_lost()
{
	fault add "fail-command,hca=hca0,op=create-srq" || return 1
	watcher_start || return 1
	! traffic_works && wait_for 20 notified "local catastrophic error" 1
}

plan 20
log=$(mktemp)
kernel_log_mark
log_mark
rules_first > /dev/null || bail "no rules can be set"
check "an XRC domain is refused" xrc_refused
check "a completion queue fails: the event names it" "$DIR/cq_error" 1000
check "both rules have struck" rules_struck
check "the driver takes it as it comes" nothing_left
check "a program listens" watcher_start
check "the event queue is full: the link is lost, and nobody knows" link_lost_unseen
check "when it is not any more, all do" link_loss_seen
check "the link is back" link_back
check "events of completions are late, but come" events_late
check "the cable is out when a program begins" link_flaps
check "a fatal error: programs with traffic are notified" with_traffic 10 "fail-hca,hca=hca0,on=doorbell,type=rc,skip=50"
check "the kernel log has it" logged 'fenced: .*fatal error 4 (internal error)'
check "the driver begins anew" driver_again
log_mark
check "a command is lost: the device is given up" command_lost
check "and the kernel log has it" logged 'command 0x60 timed out'
check "the driver begins anew after that" driver_again
log_mark
check "the function is gone: programs with traffic are notified" \
	with_traffic 10 "unplug,hca=hca0,on=completion,type=rc,skip=50"
check "the kernel log says that it is gone" logged 'fenced: .*device is gone'
check "it is back, and is found" function_again
check "the kernel log is clean" kernel_log_clean
rm -f "$log"
finish
