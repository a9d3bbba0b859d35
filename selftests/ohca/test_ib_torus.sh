#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# opensm's routing engines for a torus of three dimensions: by the tables of each of them, each node reaches all others.  And
# ibdiagnet, which finds nothing wrong; with a thousand HCAs it takes three quarters of an hour, as it is a script of Tcl.
# link: ib
# long: it needs a boot of its own
# kernels: newest - the subject is the tables of switches in the device
# boot: torus
# topology: ohca-topology torus 4 4 3 2
. "$(dirname "$0")/lib.sh"
need_device
need_ib
. "$DIR/lib_ib.sh"
. "$DIR/lib_engines.sh"
PORTS=144 # with a LID
TORUS=/run/torus-2QoS.conf # the settings of the engine, which the net file has

DIAGNOSIS=/run/diagnosis # and .d, ibdiagnet's files

cleanup()
{
	rm -rf "$DIAGNOSIS" "$DIAGNOSIS.d"
}
trap cleanup EXIT

# All nodes, links and keys
diagnosed()
{
	diagnose "$DIAGNOSIS.d" > "$DIAGNOSIS" 2>&1
	says "No bad Guids were found" "Hosts:96 full:96 limited:0" "No bad link were found" "Link State Active Check +0 +0" \
		"Performance Counters Report +0" -- cat "$DIAGNOSIS"
}

ENGINES="torus-2QoS dor lash dfsssp sssp minhop"
# shellcheck disable=SC2086 # words
set -- $ENGINES
sed -n 's/^# torus-2QoS: //p' /mnt/lab/topology > "$TORUS"
kernel_log_mark
plan $((4 * $# + 2))
for name; do
	case $name in
	torus-2QoS) engine_check "$name" "$PORTS" -Q --torus_config "$TORUS" ;;
	*) engine_check "$name" "$PORTS" ;;
	esac
done
if command -v ibis > /dev/null; then
	check "ibdiagnet" diagnosed
else
	skip "ibdiagnet" "not installed"
fi
check "the kernel log is clean" kernel_log_clean
finish
