#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The device lies: in completions, events and answers of commands. The driver refuses what can't be, fences the device
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

server=
cleanup()
{
	[ -z "$server" ] || kill -KILL "$server" 2> /dev/null
	kverbs_unload
	ohcactl fault clear
	ip addr del "$IP/24" dev "$ND"
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

listening()
{
	rdma resource show cm_id | grep -q 'state LISTEN.*:7178 '
}

# A connection, whose datagrams are the kernel's requests
connects() # seconds; by default 30
{
	rping -s -a "$IP" -p 7178 -C 2 > /dev/null 2>&1 &
	server=$!
	wait_for 20 listening || return 1
	timeout "${1:-30}" rping -c -a "$IP" -p 7178 -C 2 > /dev/null 2>&1
	connects_result=$?
	kill -KILL "$server" 2> /dev/null
	wait "$server" 2> /dev/null
	server=
	return "$connects_result"
}

# Frames to a neighbour that is not there
frames()
{
	ping -c 3 -i 0.2 -W 1 192.0.2.79 > /dev/null 2>&1
	return 0
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
	fault clear
	recovered 1 && traffic_works
}

# The test module's results don't matter.
shared_queues()
{
	kverbs_load only=SRQ
	kverbs_unload
}

shared_lie()
{
	mark
	auto_recover false
	fault add "set-cqe=7:0x40,hca=$OHCA_HCA,type=rc,count=1000" || return 1
	shared_queues
	fault clear
	auto_recover true
	log_has 1 'ohca.*fenced: bad completion' && recover && recovered 1 && traffic_works
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

# The device gives every new object the same number.
same_number() # command
{
	mark
	for byte in 0 1 2; do
		fault add "set-output=$byte:0x5$byte,hca=$OHCA_HCA,op=$1,count=2" || return 1
	done
	fault add "set-output=3:0,hca=$OHCA_HCA,op=$1,count=2" || return 1
	traffic_works
	wait_for 20 log_has 1 'ohca.*fenced: number of another object' || return 1
	fault clear
	recovered 1 && traffic_works
}

plan 19
kernel_log_mark
ip addr add "$IP/24" dev "$ND"
wait_for 20 port_is PORT_ACTIVE
wait_for 20 connects || bail "no connection"
mark
check "completions: the number of a request is not the device's" \
	lie_ignored "set-cqe=7:0x7f,hca=$OHCA_HCA,type=gsi,count=1000" connects
check "completions: of a request that is not posted" \
	lie_refused "set-cqe=22:0x77,hca=$OHCA_HCA,type=gsi" "bad completion" connects 2
check "completions: of another queue" \
	lie_refused "set-cqe=62:0xc1,hca=$OHCA_HCA,type=gsi" "bad completion" connects 2
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
check "commands: a protection domain" destroy_fails free-pd "PD not freed"
check "commands: a UAR" destroy_fails free-uar "UAR not freed"
for command in destroy-eq free-uar; do
	fault add "fail-command=7,hca=$OHCA_HCA,op=$command"
done
check "commands: nothing is destroyed when the driver is unloaded" rmmod ohca
fault clear
check "the driver is loaded again" reload
check "commands: two queue pairs of the same number" same_number create-qp
check "commands: two completion queues" same_number create-cq
check "traffic works" traffic_works
check "the kernel log is clean" kernel_log_clean
finish
