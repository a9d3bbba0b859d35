# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Programs that do not depend on the OHCA, and use it by other libraries than libibverbs. A script sources this file
# after lib_pair.sh.

counter() # name
{
	cat "/sys/class/infiniband/$DEV/ports/1/hw_counters/$1"
}

# Counters of what this machine's queue pairs have sent and received; the network interface has counters of its own.
rdma_bytes()
{
	echo $(($(counter tx_bytes) + $(counter rx_bytes)))
}

# carried BYTES COMMAND...: the command succeeds, and at least so much was transferred by RDMA.
carried()
{
	carried_want=$1
	carried_before=$(rdma_bytes)
	shift
	"$@" || return 1
	carried_bytes=$(($(rdma_bytes) - carried_before))
	[ "$carried_bytes" -ge "$carried_want" ] || { echo "$carried_bytes bytes by RDMA, not $carried_want"; return 1; }
}

# UCX uses the device, and nothing else. Settings that differ from the defaults:
# - UCX 1.18 takes the service level of a received datagram for the type of its network header, as on one vendor's
# adapters, and drops datagrams over IPv4; later versions check the header.
# - Its fences between writes are for several adapters at once, which verbs do not support.
# - Libraries for graphics processors are not loaded, because that takes seconds.
ucx_environment()
{
	export UCX_NET_DEVICES="$DEV:1"
	export UCX_UD_VERBS_ETH_DGID_CHECK=n
	export UCX_FENCE_MODE=weak
	export UCX_MODULES=^rocm
	export UCX_VFS_ENABLE=n
	export UCX_LOG_LEVEL=info
}

# The transport that UCX reports for messages to the other machine
ucx_took() # transport
{
	grep -q "inter-node .*($1/$DEV:1)" "$pair_log" || { echo "UCX did not take $1"; return 1; }
}
