#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program that uses TCP only, between two machines: librdmacm's preloaded library replaces its sockets by RDMA. It
# sends messages of every size and compares them.
# vms: 2
# kernels: newest - a library over an unchanged ABI
# boot: stacks
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v NPtcp > /dev/null || skip_all "no netpipe-tcp"
PRELOAD=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so
[ -e "$PRELOAD" ] || skip_all "no $PRELOAD"
. "$DIR/lib_pair.sh"
. "$DIR/lib_stacks.sh"

# How to detect that the server is ready, environment and options of both
netpipe()
{
	netpipe_ready=$1 netpipe_env=$2
	shift 2
	run_pair "$netpipe_ready $PORT" "env $netpipe_env NPtcp -P $PORT -o /dev/null $*" \
		"env $netpipe_env NPtcp -P $PORT -o /dev/null $* -h $OHCA_PEER" || return 1
	! grep "Integrity check failed" "$pair_log"
}

# Of each size
compared()
{
	netpipe cm_listening "LD_PRELOAD=$PRELOAD" -i -u 1048576 || return 1
	[ "$RANK" -eq 0 ] || [ "$(grep -c "Integrity check passed" "$pair_log")" -gt 20 ]
}

quiet() # command...: it transfers nothing by RDMA
{
	quiet_before=$(rdma_bytes)
	"$@" || return 1
	[ "$(rdma_bytes)" -eq "$quiet_before" ] || { echo "$(($(rdma_bytes) - quiet_before)) bytes by RDMA"; return 1; }
}

plan 5
kernel_log_mark
PORT=5002
check "TCP: figures" quiet netpipe tcp_listening "" -l 1024 -u 65536 -n 20
PORT=5003
check "rsocket: figures" carried 1000000 netpipe cm_listening "LD_PRELOAD=$PRELOAD" -l 1024 -u 65536 -n 20
PORT=5004
check "rsocket: data are compared" carried 4000000 compared
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
