# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Programs that know nothing of the OHCA, and reach it through other libraries than libibverbs.  A script sources this file
# after lib_pair.sh, which it needs.

counter() # name
{
	cat "/sys/class/infiniband/$DEV/ports/1/hw_counters/$1"
}

# What this machine's queue pairs have sent and received; the network interface counts for itself.
rdma_bytes()
{
	echo $(($(counter tx_bytes) + $(counter rx_bytes)))
}

# carried BYTES COMMAND...: the command succeeds, and it was RDMA that moved at least so much.
carried()
{
	carried_want=$1
	carried_before=$(rdma_bytes)
	shift
	"$@" || return 1
	carried_bytes=$(($(rdma_bytes) - carried_before))
	[ "$carried_bytes" -ge "$carried_want" ] || { echo "$carried_bytes bytes by RDMA, not $carried_want"; return 1; }
}

# UCX is to use the device, and nothing else.  What is not as it is by default:
# - UCX 1.18 takes the service level of a received datagram for the kind of its network header, as it is on one vendor's
#   adapters only, and drops what came over IPv4; later ones look at the header.
# - Its fences between writes are for several adapters at once, which is more than verbs can do.
# - Libraries for graphics processors are not loaded: that takes seconds.
ucx_environment()
{
	export UCX_NET_DEVICES="$DEV:1"
	export UCX_UD_VERBS_ETH_DGID_CHECK=n
	export UCX_FENCE_MODE=weak
	export UCX_MODULES=^rocm
	export UCX_VFS_ENABLE=n
	export UCX_LOG_LEVEL=info
}

# What UCX says it took for messages to the other machine
ucx_took() # transport
{
	grep -q "inter-node .*($1/$DEV:1)" "$pair_log" || { echo "UCX did not take $1"; return 1; }
}
