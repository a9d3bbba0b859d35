#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Faults on demand, between two machines: the second one, a client, is affected, and its errors and the counters are
# those of the specification.
# vms: 2
# kernels: newest - the device applies the rules; the kernel is not involved
# boot: wire
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ib_write_bw > /dev/null || skip_all "no perftest"
ohca-host ohcactl version > /dev/null 2>&1 || skip_all "no ohcactl"
. "$DIR/lib_pair.sh"

counter() # name
{
	rdma -j statistic show link "$DEV/1" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# The first machine sets rules for both; they synchronize.
fault() # arguments of ohcactl
{
	[ "$RANK" -ne 0 ] || ohca-host ohcactl fault "$@" || bail "ohcactl fault $* failed"
	barrier fault
}

# Number of packets to which the only rule was applied
hits() # number
{
	fault show
	[ "$RANK" -ne 0 ] || ohca-host ohcactl -j fault show | grep -q "\"hits\":$1,"
}

# with RULE HITS COMMAND...: the command succeeds with a rule, which hits HITS packets (a regular expression)
with()
{
	with_rule=$1 with_hits=$2
	shift 2
	fault add "$with_rule"
	"$@"
	with_status=$?
	barrier with
	hits "$with_hits" || { echo "hits are not $with_hits"; with_status=1; }
	fault clear
	return "$with_status"
}

# grows NAME COMMAND...: the command succeeds, and that counter of the client, or server, has increased
grows()
{
	grows_name=$1
	shift
	grows_before=$(counter "$grows_name")
	"$@" || return 1
	echo "$grows_name: $grows_before, then $(counter "$grows_name")"
	[ "$(counter "$grows_name")" -gt "$grows_before" ]
}

# on RANK COUNTER COMMAND...: the same on that machine only, on the other one just the command
on()
{
	if [ "$RANK" -eq "$1" ]; then
		shift
		grows "$@"
	else
		shift 2
		"$@"
	fi
}

# The client's packets are lost: it ends with an error.  The server may end in any way.
gives_up()
{
	if perf ib_write_bw 64 5 -u 10 && [ "$RANK" -ne 0 ]; then
		echo "it did not notice"
		return 1
	fi
	[ "$RANK" -eq 0 ] || grep -E "status 12|transport retry counter" "$pair_log"
}

all_is_well()
{
	perf ib_write_bw 65536 100 && wait_for 30 no_user_objects
}

MANY='[1-9][0-9]*'
plan 13
kernel_log_mark
barrier faults
check "acknowledgments are lost: the client asks again" on 1 local_ack_timeout_err \
	with "drop,hca=hca0,op=ack,count=20" 20 perf ib_write_bw 64 5
check "acknowledgments are lost: the server knows what it has" on 0 duplicate_request \
	with "drop,hca=hca0,op=ack,count=20" 20 perf ib_write_bw 64 5
check "a packet is lost: the server asks for it" on 1 packet_seq_err \
	with "drop,hca=hca1,op=rdma-write-middle,skip=3,count=1" 1 perf ib_write_bw 65536 20
check "packets are out of order" on 0 out_of_sequence \
	with "reorder=2,hca=hca1,op=write,p=10%" "$MANY" perf ib_write_bw 65536 100
check "packets come twice" on 0 duplicate_request \
	with "duplicate,hca=hca1,p=10%" "$MANY" perf ib_send_bw 4096 200
check "atomics come twice" on 0 duplicate_request \
	with "duplicate,hca=hca1,op=fetch-add,p=20%" "$MANY" perf ib_atomic_bw 8 200 -A FETCH_AND_ADD
check "reads come twice" on 0 duplicate_request \
	with "duplicate,hca=hca1,op=rdma-read-request,p=20%" "$MANY" perf ib_read_bw 65536 100
check "packets are corrupted where they arrive" on 1 packet_seq_err \
	with "corrupt,hca=hca0,dir=rx,op=write,p=5%" "$MANY" perf ib_write_bw 65536 100
check "packets are late" with "delay=200us,p=10%" "$MANY" perf ib_write_bw 65536 100
check "sends are lost, payload checked" \
	with "drop,op=rc-send,p=1%" "$MANY" pingpong rc -c -n 500
check "nothing gets through: the client gives up" with "drop,hca=hca1,op=rc" "$MANY" gives_up
check "and when it does again, all is well" all_is_well
check "the kernel log is clean" kernel_log_clean
finish
