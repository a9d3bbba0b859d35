#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# UCX between two machines, by its own program: messages with tags, active messages, streams, writes, reads and
# atomics of its upper layer, over RC and over UD without another transport; and the operations of RC in its lower
# layer.
# vms: 2
# link: eth long ib - the library takes longer than what differs
# kernels: newest - a library over an unchanged ABI
# boot: stacks
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v ucx_perftest > /dev/null || skip_all "no ucx-utils"
. "$DIR/lib_pair.sh"
. "$DIR/lib_stacks.sh"
ucx_environment

batch=$(mktemp)
PORT=13337

# perftest COUNT OPTIONS: runs the whole batch in one process on each side; the client prints figures of so many
# tests.
perftest()
{
	perftest_count=$1
	shift
	perftest_command="ucx_perftest $* -P 0 -f -b $batch"
	run_pair "tcp_listening $PORT" "$perftest_command" "$perftest_command $OHCA_PEER" || return 1
	! grep -E "UCX +ERROR" "$pair_log" || return 1
	[ "$RANK" -eq 0 ] && return
	perftest_done=$(grep -cE "^ *(msg|write|read|atomic)\.[a-z0-9_]+ +[0-9]+ +[0-9.]+ +[0-9.]+" "$pair_log")
	[ "$perftest_done" -eq "$perftest_count" ] || { echo "figures of $perftest_done tests, not $perftest_count"; return 1; }
}

# The upper layer
upper() # transport
{
	cat > "$batch" << EOF
msg.tag_lat -t tag_lat -w 10 -n 50 -s 1024
msg.tag_bw -t tag_bw -w 10 -n 200 -s 65536
msg.tag_1m -t tag_bw -w 2 -n 20 -s 1048576
msg.am_lat -t ucp_am_lat -w 10 -n 50 -s 64
msg.am_bw -t ucp_am_bw -w 10 -n 200 -s 65536
msg.stream_bw -t stream_bw -w 10 -n 200 -s 4096
write.lat -t ucp_put_lat -w 10 -n 50 -s 1024
write.bw -t ucp_put_bw -w 10 -n 200 -s 65536
read.get -t ucp_get -w 10 -n 200 -s 65536
atomic.fadd -t ucp_fadd -w 10 -n 50 -s 8
atomic.cswap -t ucp_cswap -w 10 -n 50 -s 8
EOF
	export UCX_TLS="$1,self"
	perftest 11 && ucx_took "$2"
}
UPPER_BYTES=$((200 * (4 * 65536 + 4096) + 20 * 1048576))

# The lower layer: the queue pair executes these operations.
lower()
{
	cat > "$batch" << EOF
msg.bcopy -t am_bw -D bcopy -w 10 -n 200 -s 4096
write.short -t put_lat -D short -w 10 -n 50 -s 32
write.zcopy -t put_bw -D zcopy -w 10 -n 200 -s 65536
read.bcopy -t get -D bcopy -w 10 -n 200 -s 4096
read.zcopy -t get -D zcopy -w 10 -n 200 -s 65536
atomic.add -t add_mr -w 10 -n 50 -s 8
atomic.fadd -t fadd -w 10 -n 50 -s 8
atomic.cswap -t cswap -w 10 -n 50 -s 8
EOF
	perftest 8 -d "$DEV:1" -x rc_verbs
}
LOWER_BYTES=$((200 * (2 * 65536 + 2 * 4096)))

# Requests that the server's device has executed
served() # counter, number
{
	[ "$RANK" -ne 0 ] || [ "$(counter "$1")" -ge "$2" ] || { echo "$1 is $(counter "$1")"; return 1; }
}

plan 8
kernel_log_mark
check "RC" carried "$UPPER_BYTES" upper rc_v rc_verbs
check "UD" carried "$UPPER_BYTES" upper ud_v ud_verbs
writes=$(counter rx_write_requests) reads=$(counter rx_read_requests) atomics=$(counter rx_atomic_requests)
check "RC's operations" carried "$LOWER_BYTES" lower
check "the writes were RDMA writes" served rx_write_requests $((writes + 250))
check "the reads were RDMA reads" served rx_read_requests $((reads + 400))
check "the atomics were the device's" served rx_atomic_requests $((atomics + 150))
rm -f "$batch"
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
