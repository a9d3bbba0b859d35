#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Verifies the protocol models with spin: the protocol is correct, and each broken variant of it is detected. Prints
# TAP.
set -eu

models=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

n=0
failed=0

# check EXPECTED NAME [-DRULE...]: of $model; EXPECTED is "holds" or "fails"
check()
{
	expected=$1 name=$2
	shift 2
	n=$((n + 1))
	if ! { spin "$@" -a "$models/$model.pml" && cc -O1 -w -DSAFETY -DNOREDUCE -o pan pan.c; } >log 2>&1; then
		result=broken
	elif ./pan -m1000000 >log 2>&1 && grep -q 'errors: 0' log; then
		result=holds
	elif grep -q 'assertion violated' log; then
		result=fails
	else
		result=broken
	fi
	rm -f ./*.trail
	if [ "$result" = "$expected" ]; then
		echo "ok $n $name"
	else
		failed=1
		echo "not ok $n $name"
		sed 's/^/# /' log
	fi
}

echo "TAP version 13"
if ! command -v spin >/dev/null; then
	echo "1..0 # SKIP spin is not installed"
	exit 4
fi
echo "1..12"
model=shadow
check holds "no doorbell is lost, direct slot"
check holds "no doorbell is lost, indirect slot" -DINDIRECT
check fails "without the producer's barrier" -DNO_PRODUCER_FENCE
check fails "without the device's barrier" -DNO_DEVICE_FENCE
check fails "without the device's second look" -DNO_RECHECK
check fails "indirect: without the device's barrier" -DINDIRECT -DNO_DEVICE_FENCE
check fails "indirect: without the device's second look" -DINDIRECT -DNO_RECHECK
check fails "indirect: summary before dirty bit" -DINDIRECT -DSUMMARY_FIRST
model=arm
check holds "no entry of a queue is overlooked"
check fails "arming: without software's barrier" -DNO_SOFTWARE_FENCE
check fails "arming: without the device's barrier" -DNO_DEVICE_FENCE
check fails "arming: without software's second look" -DNO_SECOND_POLL
exit $failed
