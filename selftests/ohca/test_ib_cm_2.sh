#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The connection manager between InfiniBand ports, with functions that only they have: addresses that are GIDs
# (AF_IB), groups named by a GID, the path records' service. test_cm_2.sh uses IP addresses.
# vms: 2
# link: ib
# kernels: all - the kernel resolves addresses and groups
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ucmatose > /dev/null || skip_all "no rdmacm-utils"
. "$DIR/lib_pair.sh"
. "$DIR/lib_ib.sh"

# The server has an identifier.  rdma does not list those of GIDs, but counts them.
has_cm_id()
{
	rdma resource show "$DEV" | grep -q "cm_id [1-9]"
}

# The client's route is resolved to a GID: that of the server.
by_gid() # tool, options
{
	gid_tool=$1
	shift
	gid_server=$(cat "$IB_SHARE/gid.0")
	run_pair has_cm_id "$gid_tool -f gid -b $(ib_gid) $*" "$gid_tool -f gid -b $(ib_gid) -s $gid_server $*"
}

completes_by_gid()
{
	by_gid "$@" && grep -q "return status 0" "$pair_log"
}

# A group of the subnet without an IP address
group_by_gid()
{
	run_pair "qp_ready UD" "mckey -b $(my_ip 4) -M $1 -C 10" "mckey -b $(my_ip 4) -M $1 -s -C 10" || return 1
	grep -q "data transfers complete" "$pair_log"
}

# In IPoIB's own port space: a group that IPoIB also uses
group_of_ipoib()
{
	run_pair "qp_ready UD" "mckey -b $(my_ip 4) -m $1 -p 0x2 -C 10" "mckey -b $(my_ip 4) -m $1 -p 0x2 -s -C 10" || return 1
	grep -q "data transfers complete" "$pair_log"
}

# The subnet administrator has the group while it has members.
group_gone() # MGID's end
{
	! saquery -g | grep -i "$1"
}

plan 10
kernel_log_mark
mkdir -p "$IB_SHARE"
ib_gid > "$IB_SHARE/gid.$RANK"
barrier ib.cm
check "rping" echoes 4
check "ucmatose, AF_IB" completes_by_gid ucmatose -c 4 -C 10 -S 4000
check "udaddy, AF_IB" completes_by_gid udaddy -c 4 -C 10 -S 1000
check "rstream, AF_IB" by_gid rstream -S 4096 -I 100 -C 20 -T v
check "mckey, a group of IPv4" multicast 239.77.1.2
check "mckey, a group of the subnet" group_by_gid ff12::7700:1
check "mckey, a group of IPoIB" group_of_ipoib 239.77.1.3
check "the groups are gone" wait_for 30 group_gone 7700:1
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
