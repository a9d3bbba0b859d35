#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# opensm's routing engines for trees, on a fat tree: by the tables of each of them, each node reaches all others.  It is the last
# script of its boot: managers leave tables of multicast groups in the switches, which together may have loops.
# vms: 2
# link: ib
# long: each engine is another manager
# kernels: newest - the subject is the tables of switches in the device
# boot: topology
# topology: fat_tree.net
. "$(dirname "$0")/lib.sh"
need_machines 2
need_device
need_ib
. "$DIR/lib_ib.sh"
. "$DIR/lib_engines.sh"
PORTS=11 # with a LID

manager_again()
{
	manager -R minhop && wait_for 60 port_is PORT_ACTIVE
}

ENGINES="minhop updn dnup ftree lash sssp dfsssp"
# shellcheck disable=SC2086 # words
set -- $ENGINES
kernel_log_mark
plan $((4 * $# + 2))
for name; do
	case $name in
	# Without that, they have no way from one spine to another.
	updn | dnup | ftree) engine_check "$name" "$PORTS" --connect_roots ;;
	*) engine_check "$name" "$PORTS" ;;
	esac
done
first_check "the manager as it was" manager_again
barrier engines.end
check "the kernel log is clean" kernel_log_clean
finish
