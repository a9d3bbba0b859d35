#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ulp.sh: measures NFS and NVMe over Fabrics between two machines, over the OHCA, soft-RoCE and TCP, in turn:
# build/bench/ulp.md and .json. TCP is measured on the networks of both devices. QUICK=1 takes a third of the time,
# with one run. With SMP=2, machines have two processors.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=/dev/null
. tools/bench/lib.sh
runs=5 duration=1000
[ -z "${QUICK-}" ] || runs=1
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
trap 'exit 130' INT TERM

install tools/bench/ulp_machine.sh "$share"
{
	bench_host
	echo "smp processors=${SMP-1}"
} >"$share/host"
tools/lab/ohca-lab run --vms 2 --smp "${SMP-1}" --device ohca+rxe --share "$share" --timeout 1500 -- \
	sh /mnt/share/ulp_machine.sh "$runs" "$duration"
mkdir -p build/bench
cat "$share"/host "$share"/ulp >build/bench/ulp.txt
bench_json build/bench/ulp.txt >build/bench/ulp.json
awk -f tools/bench/records.awk -f tools/bench/ulp.awk build/bench/ulp.txt | tee build/bench/ulp.md
