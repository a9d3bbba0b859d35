#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Verbs between two InfiniBand ports by address vectors with a GRH, with libibverbs' examples and perftest.
# test_transports_2.sh and test_perftest_2.sh use LIDs only.  A GID may also be of a GUID that the subnet manager has set.
# vms: 2
# link: ib
# kernels: newest - stock programs over an unchanged ABI
# boot: subnet
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ib_send_bw > /dev/null || skip_all "no perftest"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"

# Without a GID, and by the one that the program chooses
by_lid()
{
	pair_gid=
	pingpong "$@" -c -n 200
	by_lid_status=$?
	pair_gid=1
	return "$by_lid_status"
}

# Path MTUs: as the port knows them
mtu() # bytes
{
	perf ib_write_bw 65536 50 -m "$1" && perf ib_send_bw 65536 50 -m "$1" -c UC
}

# perftest takes another service level.
service_level()
{
	perf ib_write_bw 4096 50 -S 3 && perf ib_send_bw 1024 50 -c UD -S 3
}

# Sets the port's second GUID, or without an argument removes it; prints it
second_guid() # GUID
{
	SM_LID=$(($(cat "$IB_PORT/sm_lid"))) "$DIR/sa_guid" "$(ib_lid)" 1 "$@"
}

# The port's second GID ends with this.
second_gid_is() # GUID
{
	[ "0x$(cut -d: -f5-8 "$IB_PORT/gids/1" | tr -d :)" = "$1" ]
}

# The manager chooses it.
alias_begins()
{
	alias=$(second_guid 0) && echo "$alias" && [ "$alias" != 0x0000000000000000 ] && wait_for 20 second_gid_is "$alias"
}

# Connections and datagrams from and to the second GID
alias_works()
{
	alias_first=$GID
	GID=1
	perf ib_write_bw 65536 50 && perf ib_send_bw 1024 50 -c UD
	alias_status=$?
	GID=$alias_first
	return "$alias_status"
}

alias_ends()
{
	second_guid && wait_for 20 second_gid_is 0x0000000000000000
}

pair_gid=1
plan 29
kernel_log_mark
for kind in rc uc; do
	check "ibv_${kind}_pingpong with a GRH" pingpong "$kind" -c -n 200
	check "ibv_${kind}_pingpong by LID" by_lid "$kind"
done
check "ibv_ud_pingpong with a GRH" pingpong ud -c -s 1024 -n 200
check "ibv_ud_pingpong by LID" by_lid ud -s 1024
check_with SRQ "ibv_srq_pingpong with a GRH" pingpong srq -c -n 500
check_with XRC "ibv_xsrq_pingpong with a GRH" pingpong xsrq -n 200
for tool in ib_write_bw ib_read_bw ib_send_bw; do
	check "$tool with a GRH" perf "$tool" 65536 100
done
for tool in ib_write_lat ib_read_lat ib_send_lat; do
	check "$tool with a GRH" perf "$tool" 8 100
done
check "ib_atomic_bw with a GRH" perf ib_atomic_bw 8 100 -A FETCH_AND_ADD
check "ib_atomic_lat with a GRH" perf ib_atomic_lat 8 100 -A CMP_AND_SWAP
check "ib_send_bw, UD with a GRH" perf ib_send_bw 1024 100 -c UD
check "ib_send_lat, UD with a GRH" perf ib_send_lat 8 100 -c UD
check_with XRC "ib_write_bw, XRC with a GRH" perf ib_write_bw 4096 100 -c XRC
for mtu in 256 1024 4096; do
	check "path MTU $mtu" mtu "$mtu"
done
check "service level" service_level
check "ib_send_bw, UD, MTU 2048" perf ib_send_bw 2048 100 -c UD -m 2048
check "an alias GUID" alias_begins
check "tools use it" alias_works
check "it is removed" alias_ends
check "nothing is left" wait_for 30 no_user_objects
check "the kernel log is clean" kernel_log_clean
finish
