#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The device writes wrong completions, events and answers of commands. The driver refuses them, fences the device
# with one line in the kernel log, and recovers it; it never uses a number of the device's without a check.
# vms: 1
# kernels: all - the driver is what is tested
# smp: 2 newest - the driver is called by several processors at once
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device
command -v ohca-host > /dev/null || skip_all "ohca-host is missing: faults can't be injected"
. "$DIR/lib_recover.sh"
DEV=$(ibdev)
ND=$(netdev)
IP=192.0.2.78
TRACING=/sys/kernel/tracing

server=
holder=
cleanup()
{
	[ -z "$server" ] || kill -KILL "$server" 2> /dev/null
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
	kverbs_unload
	ohcactl fault clear
	ip addr del "$IP/24" dev "$ND"
	auto_recover true
} > /dev/null 2>&1
trap cleanup EXIT

fault()
{
	ohcactl fault "$@" > /dev/null
}

# The last rule was applied.
struck()
{
	ohcactl -j fault show | grep -q '"hits":[1-9]' || { ohcactl fault show; return 1; }
}

# A connection, whose datagrams are the kernel's requests
connects() # seconds; by default 30
{
	rping -s -a "$IP" -p 7178 -C 2 > /dev/null 2>&1 &
	server=$!
	wait_for 20 cm_listening 7178 || return 1
	timeout "${1:-30}" rping -c -a "$IP" -p 7178 -C 2 > /dev/null 2>&1
	connects_result=$?
	kill -KILL "$server" 2> /dev/null
	wait "$server" 2> /dev/null
	server=
	return "$connects_result"
}

# Repeats a command until the rule was applied, whatever the command's result: the kernel drops frames until it has noticed that the
# interface works again, and the port has its GIDs some time after that.
until_struck() # command...
{
	wait_for 20 then_struck "$@"
	return 0
}

then_struck()
{
	"$@"
	struck
}

# Frames to a neighbour that is not there
frames()
{
	wait_for 20 carrier_is 1 || ip link show "$ND"
	until_struck ping -c 3 -i 0.2 -W 1 192.0.2.79
}

# The device works again.  The driver itself would wait longer each time, as failures are not long ago.
works_again()
{
	fault clear
	recover && recovered 1
}

# A byte of each completion of these queue pairs is wrong, and nobody minds.
lie_ignored() # rule, command...
{
	fault add "$1" || return 1
	shift
	"$@" && struck || return 1
	fault clear
	log_has 0 'ohca.*fenced'
}

# The same, and the device is fenced, once for this reason, and works again.
lie_refused() # rule, reason, command...
{
	mark
	fault add "$1" || return 1
	lie_reason=$2
	shift 2
	"$@"
	wait_for 20 log_has 1 "ohca.*fenced: $lie_reason" || { ohcactl fault show; return 1; }
	works_again
}

# The test module's results don't matter.
shared_queues()
{
	kverbs_load only=SRQ timeout=2
	kverbs_unload
}

shared_lie()
{
	lie_refused "set-cqe=7:0x40,hca=$OHCA_HCA,type=rc,count=1000" "bad completion" shared_queues
}

shared_queues_work()
{
	kverbs_load only=SRQ && kverbs_fine && kverbs_unload
}

# A command that ends the use of memory fails.
destroy_fails() # command, reason
{
	lie_refused "fail-command=7,hca=$OHCA_HCA,op=$1" "$2" traffic_works
}

driver_again()
{
	reload && auto_recover false
}

# The device gives every new object the same number.
same_number() # command
{
	mark
	for byte in 0 1 2; do
		fault add "set-output=$byte:0x5$byte,hca=$OHCA_HCA,op=$1,count=2" || return 1
	done
	lie_refused "set-output=3:0,hca=$OHCA_HCA,op=$1,count=2" "number of another object" traffic_works
}

# Device memory that is not where it can be
dm_refused() # rule
{
	lie_refused "set-output=$1,hca=$OHCA_HCA,op=alloc-dm" "bad offset of device memory" "$DIR/dm"
}

# Queue pairs whose attributes are asked for
queried()
{
	holder_start 1 && rdma resource show qp > /dev/null
	queried_result=$?
	kill -KILL "$holder"
	wait "$holder" 2> /dev/null
	holder=
	return "$queried_result"
}

# The driver does not bind to a device with such limits.
unusable() # byte of the limits and its value
{
	mark
	rmmod ohca && fault add "set-output=$1,hca=$OHCA_HCA,op=query-device" && modprobe ohca || return 1
	wait_for 20 log_has 1 'ohca.*device limits are unusable' && ! test_device || return 1
	fault clear
	rmmod ohca && reload && traffic_works
}

# Asynchronous events of objects that do not exist, of every type but that of a fatal error (0x40), and of no type
events_of_nobody()
{
	mark
	for type in 0 2 10 11 12 13 14 15 16 17 20 21 30 31 32 33 34 35 36 37 50 77 ff; do
		fault add "add-event=0x$type:0x123456,hca=$OHCA_HCA" || return 1
	done
	wait_for 20 all_struck || return 1
	fault clear
	traffic_works && log_has 0 'ohca.*fenced'
}

all_struck()
{
	[ "$(ohcactl -j fault show | grep -o '"done":true' | wc -l)" -eq 23 ]
}

# The most events that the interrupt handler has taken in one call
most_events()
{
	awk '{ cpu = 0 }
		match($0, /\[[0-9][0-9]*\]/) { cpu = substr($0, RSTART, RLENGTH) }
		/irq_handler_entry:/ { n[cpu] = 0; inside[cpu] = 1 }
		/irq_handler_exit:/ { inside[cpu] = 0 }
		/ohca_event:/ { all++; if (inside[cpu] && ++n[cpu] > max) max = n[cpu] }
		END { print max + 0, all + 0 }' "$TRACING/trace"
}

done_with_it()
{
	ohcactl -j fault show | grep -q '"done":true'
}

# Many more events come at once than the queue has room for.  The interrupt handler ends, and others go on.
storm()
{
	mark
	echo 20000 > "$TRACING/buffer_size_kb"
	echo 1 > "$TRACING/events/ohca/ohca_event/enable"
	echo 'name ~ "ohca-async*"' > "$TRACING/events/irq/irq_handler_entry/filter"
	echo 1 > "$TRACING/events/irq/irq_handler_entry/enable"
	echo 1 > "$TRACING/events/irq/irq_handler_exit/enable"
	echo > "$TRACING/trace"
	fault add "add-event=0x13:0x123456,hca=$OHCA_HCA,num=50000"
	wait_for 60 done_with_it
	storm_result=$?
	for event in ohca/ohca_event irq/irq_handler_entry irq/irq_handler_exit; do
		echo 0 > "$TRACING/events/$event/enable"
	done
	most_events > /run/most
	read -r most all < /run/most
	diag "$most of $all events in one call"
	echo > "$TRACING/trace"
	echo 0 > "$TRACING/events/irq/irq_handler_entry/filter"
	fault clear
	[ "$storm_result" -eq 0 ] && [ "$all" -gt 1024 ] && [ "$most" -le 1024 ] && traffic_works &&
		log_has 0 'ohca.*fenced'
}

plan 34
kernel_log_mark
mountpoint -q "$TRACING" || mount -t tracefs tracefs "$TRACING"
ip addr add "$IP/24" dev "$ND"
wait_for 20 port_is PORT_ACTIVE
wait_for 20 connects || bail "no connection"
auto_recover false
mark
check "completions: the number of a request is not the device's" \
	lie_ignored "set-cqe=7:0x7f,hca=$OHCA_HCA,type=gsi,count=1000" connects
check "completions: of a request that is not posted" \
	lie_refused "set-cqe=22:0x77,hca=$OHCA_HCA,type=gsi" "bad completion" until_struck connects 2
check "completions: of another queue" \
	lie_refused "set-cqe=62:0xc1,hca=$OHCA_HCA,type=gsi" "bad completion" until_struck connects 2
check "completions: of more bytes than there was room for" \
	lie_refused "set-cqe=13:0x7f,hca=$OHCA_HCA,type=gsi,count=1000" "bad completion" until_struck connects 2
check "completions: of a shared receive queue" shared_lie
check "shared receive queues work" shared_queues_work
check "completions: of a frame that is not posted" \
	lie_refused "set-cqe=22:0x77,hca=$OHCA_HCA,type=eth" "bad completion of a frame" frames
check "completions: of a frame of another queue pair" \
	lie_refused "set-cqe=10:0x77,hca=$OHCA_HCA,type=eth" "bad completion of a frame" frames
mark
check "completions: of no queue pair" lie_ignored "set-cqe=10:0x77,hca=$OHCA_HCA,type=gsi" connects
check "commands: a queue pair is not destroyed" destroy_fails destroy-qp "QP not destroyed"
check "commands: a completion queue" destroy_fails destroy-cq "CQ not destroyed"
check "commands: a memory region" destroy_fails destroy-mkey "memory region not destroyed"
check "commands: a memory region with on-demand paging is in use, it says" \
	lie_refused "fail-command=6,hca=$OHCA_HCA,op=destroy-mkey" "memory region not destroyed" \
	timeout -k 1 3 ibv_rc_pingpong -d "$DEV" -o
check "commands: a protection domain" destroy_fails free-pd "PD not freed"
check "commands: a UAR" destroy_fails free-uar "UAR not freed"
for command in destroy-eq free-uar; do
	fault add "fail-command=7,hca=$OHCA_HCA,op=$command"
done
check "commands: nothing is destroyed when the driver is unloaded" rmmod ohca
fault clear
check "the driver is loaded again" driver_again
check "commands: two queue pairs of the same number" same_number create-qp
check "commands: a completion queue of another number" \
	lie_refused "set-output=2:0x55,hca=$OHCA_HCA,op=create-cq" "object of a process not destroyed" traffic_works
mark
check "commands: a queue pair at a port that does not exist" \
	lie_ignored "set-output=63:0xff,hca=$OHCA_HCA,op=query-qp" queried
check "UAR: behind the BAR" \
	lie_refused "set-output=3:0x7f,hca=$OHCA_HCA,op=alloc-uar" "bad number of a UAR" traffic_works
check "UAR: the kernel's" \
	lie_refused "set-output=0:0,hca=$OHCA_HCA,op=alloc-uar" "bad number of a UAR" traffic_works
check "device memory: behind the BAR" dm_refused 14:1
check "device memory: in the middle of a page" dm_refused 8:1
check "device memory: where a UAR is" dm_refused 11:0
check "events: of nobody" events_of_nobody
check "events: a completion in the queue of asynchronous events" \
	lie_refused "add-event=1:0x123456,hca=$OHCA_HCA" "event in a queue of another kind" traffic_works
check "events: another one in a queue of completions" \
	lie_refused "set-eqe=14:0x13,hca=$OHCA_HCA,count=1000" "event in a queue of another kind" frames
check "events: 50,000 at once" storm
check "traffic works" traffic_works
check "limits: more UARs than the BAR has room for" unusable 38:0x40
check "limits: more ports than there can be" unusable 79:9
check "limits: many more ports" unusable 79:0xff
check "the kernel log is clean" kernel_log_clean
finish
