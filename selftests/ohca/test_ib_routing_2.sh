#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# opensm's routing engines, and its ways to enforce partitions, on a subnet of two switches: each engine leads from each machine
# to the other one, by tables that the tools read from the switches, and by data.
# vms: 2
# link: ib
# ohcads: 2
# kernels: newest - the subject is the adapter's switch
# boot: own
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
command -v ibtracert > /dev/null || skip_all "no infiniband-diags"
. "$DIR/lib_ib.sh"
. "$DIR/lib_pair.sh"
. "$DIR/lib_engines.sh"
ROOTS=/run/opensm.roots

cleanup()
{
	pair_cleanup
	rm -f "$ENGINE_CONF" "$ROOTS"
} > /dev/null 2>&1
trap cleanup EXIT

# updn finds no root in so small a subnet: it is this machine's switch.
engine() # name
{
	ibswitches | sed -n "s/.*0x\([0-9a-f]*\) .* lid $switch_lid .*/0x\1/p" > "$ROOTS"
	[ -s "$ROOTS" ] && manager -R "$1" -a "$ROOTS"
}

# By the tables of both switches, from this machine to the other one, and to both switches
reaches_all()
{
	wait_for 30 port_is PORT_ACTIVE && ib_hex=$(cat "$IB_PORT/lid") && lid=$((ib_hex)) || return 1
	for to in $(ibswitches | sed -n 's/.* lid \([0-9]*\) .*/\1/p') "$peer_lid"; do
		{ ibtracert "$lid" "$to" && smpquery nodeinfo "$to"; } > /run/trace || { cat /run/trace; return 1; }
	done
	cat /run/trace
	[ "$(grep -c "switch" /run/trace)" -ge 2 ]
}

data_passes()
{
	pingpong rc -c -n 100 && wait_for 30 ping -c 1 -W 2 "$OHCA_PEER"
}

# All ports of this machine's switch
enforcement_is() # inbound, outbound
{
	switch_port=$(smpquery nodeinfo -D 0,1 | ib_field LocalPort) &&
		says "PartEnforceInb:\\.*$1\$" "PartEnforceOutb:\\.*$2\$" -- smpquery portinfo -D 0,1 "$switch_port"
}

pair_gid=
# ftree takes a subnet of one level of switches for no tree.
ENGINES=$(long "minhop updn dnup lash dor sssp dfsssp" "updn lash dfsssp")
# shellcheck disable=SC2086 # words
set -- $ENGINES
kernel_log_mark
plan $((4 * $# + 9))
ib_meet
for engine in $ENGINES; do
	barrier "routing.$engine"
	first_check "opensm -R $engine" engine "$engine"
	first_check "$engine: its tables are in the switches" engine_is "$engine"
	barrier "routing.$engine.up"
	check "$engine: nobody is out of reach" reaches_all
	check "$engine: data" data_passes
done
for enforce in "in 1 0" "out 0 1" "off 0 0" "both 1 1"; do
	# shellcheck disable=SC2086 # words
	set -- $enforce
	barrier "enforce.$1"
	first_check "opensm -Z $1" manager -Z "$1"
	barrier "enforce.$1.up"
	check "$1: the switch does" enforcement_is "$2" "$3"
done
check "the kernel log is clean" kernel_log_clean
finish
