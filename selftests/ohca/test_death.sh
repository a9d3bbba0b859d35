#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Processes that own hundreds of queue pairs are killed: no objects are left.
# vms: 1
# kernels: all - the kernel frees the objects of a process
# smp: 2 newest - the driver is called by several processors at once
# boot: driver
. "$(dirname "$0")/lib.sh"
need_device

holder=
cleanup()
{
	[ -z "$holder" ] || kill -KILL "$holder" 2> /dev/null
}
trap cleanup EXIT

gone()
{
	wait "$holder" 2> /dev/null
	nothing_left
}

has_queue_pairs() # number
{
	[ "$(rdma resource show qp 2> /dev/null | grep -c " pid ")" -ge "$1" ]
}

plan 14
kernel_log_mark
check "nothing is there before" nothing_left
for round in 1 2 3; do
	check "$round: 400 queue pairs with traffic" holder_start 200
	kill -KILL "$holder"
	check "$round: nothing is left of a process killed under traffic" gone
done

"$DIR/holder" -q 300 > /dev/null 2>&1 &
holder=$!
check "a process creates queue pairs" wait_for 60 has_queue_pairs 50
kill -KILL "$holder"
check "nothing is left of a process killed at creation" gone

# several at once
holders=
for i in 1 2 3 4; do
	"$DIR/holder" -q 50 > /dev/null 2>&1 &
	holders="$holders $!"
done
check "four processes create queue pairs" wait_for 60 has_queue_pairs 300
# shellcheck disable=SC2086 # a list
kill -KILL $holders
# shellcheck disable=SC2086
wait $holders 2> /dev/null
check "nothing is left of them" nothing_left
holder=

check "the device works" traffic_works
check "nothing is left of that" nothing_left
check "the kernel log is clean" kernel_log_clean
finish
