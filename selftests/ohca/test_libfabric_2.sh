#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# libfabric's verbs provider between two machines: its own program sends messages of every size in both directions and
# compares them, over connections, over UD, and over the reliable datagrams that libfabric makes of connections.
# vms: 2
# link: eth long ib - the library takes longer than what differs
# long: test_ucx_2.sh and test_mpi_2.sh are libraries over verbs, too
# kernels: newest - a library over an unchanged ABI
# boot: stacks
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
command -v fi_pingpong > /dev/null || skip_all "no libfabric-bin"
. "$DIR/lib_pair.sh"
. "$DIR/lib_stacks.sh"

export FI_LOG_LEVEL=warn
# When the peer has closed a connection, libfabric destroys its queue pair before it has polled the completion queue
# (vrb_ep_close()). The last completions are lost, and the program fails or waits for ever. So it checks for new and
# closed connections only every 5 s, which is longer than the traffic. (microseconds)
export FI_OFI_RXM_CM_PROGRESS_INTERVAL=5000000
ROUNDS=20
# All sizes; those that fit into a datagram
SIZES="64 256 1k 4k 64k 1m" BYTES=$((64 + 256 + 1024 + 4096 + 65536 + 1048576))
DGRAM_SIZES="64 256 1k 4k" DGRAM_BYTES=$((64 + 256 + 1024 + 4096))

# Each size was sent and answered the right number of times.
pingpong_sizes() # sizes
{
	for size; do
		grep -qE "^$size +$ROUNDS +=$ROUNDS " "$pair_log" || { echo "no figures of $size bytes"; return 1; }
	done
}

fi_pingpong_pair() # options
{
	# The program's own connection, which it uses to set up the others
	fi_command="fi_pingpong $* -c -I $ROUNDS"
	run_pair "tcp_listening 47592" "$fi_command" "$fi_command $OHCA_PEER"
}

messages() # options
{
	# shellcheck disable=SC2086 # words
	fi_pingpong_pair "$@" && pingpong_sizes $SIZES
}

datagrams()
{
	# shellcheck disable=SC2086 # words
	fi_pingpong_pair -p verbs -e dgram && pingpong_sizes $DGRAM_SIZES
}

offers() # provider, type of endpoint
{
	fi_info -p "$1" -t "$2" -d "$DEV" | grep -q "domain: $DEV"
}

plan 8
kernel_log_mark
check "the verbs provider has connections on the device" offers verbs FI_EP_MSG
check "and reliable datagrams over them" offers "verbs;ofi_rxm" FI_EP_RDM
check "connections" carried $((2 * ROUNDS * BYTES)) messages -p verbs -e msg
check "datagrams" carried $((2 * ROUNDS * DGRAM_BYTES)) datagrams
for kind in msg tagged; do
	check "reliable datagrams, $kind" carried $((2 * ROUNDS * BYTES)) messages -p "'verbs;ofi_rxm'" -e rdm -m "$kind"
done
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
