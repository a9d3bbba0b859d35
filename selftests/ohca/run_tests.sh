#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the test scripts beside this one (or those named) in this machine, one after the other. A script's line "# vms:
# N" has the number of machines that it needs, "# hcas: N" the number of adapters in each (1 without that line);
# scripts that need more are skipped. A script with "# link: ib" runs on InfiniBand, with "# link: both" on both link
# layers, with "# link: ib+eth" on adapters of these two ports, and otherwise on Ethernet ($OHCA_LINKS). A script with a line "# boot: NAME" takes long, or leaves the
# machine in a state that others can't use: it runs only if it is named. With "# disk: SIZE" it needs a disk. A script
# that does not end in time is ended, with all its processes, and has failed (OHCA_SCRIPT_TIMEOUT, in seconds). After
# each script there is a line "# seconds: SCRIPT N.N". Exit status: 0 if no test failed, 1 otherwise, 4 if all were
# skipped.

cd "$(dirname "$0")" || exit 1
# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- $(grep -L '^# boot: ' test_*.sh | while read -r test; do
	link=$(sed -n 's/^# link: //p' "$test")
	ports=$(echo "${OHCA_LINKS:-eth}" | tr ' ' +)
	case " ${link:-eth} $ports " in " both eth " | " both ib " | *" $ports "*" $ports ") echo "$test" ;; esac
done)

# uptime: sets $uptime to the time since the machine's start, in hundredths of a second, without a process.
uptime()
{
	read -r uptime _ < /proc/uptime
	uptime=$((${uptime%.*} * 100 + 1${uptime#*.} - 100))
}

pass=0
fail=0
skip=0
for test; do
	echo "# $test"
	uptime
	start=$uptime
	timeout -k 10 "${OHCA_SCRIPT_TIMEOUT:-600}" "./$test"
	case $? in
	0) pass=$((pass + 1)) ;;
	4) skip=$((skip + 1)) ;;
	*)
		fail=$((fail + 1))
		echo "# $test FAILED"
		;;
	esac
	uptime
	took=$((uptime - start))
	echo "# seconds: $test $((took / 100)).$((took % 100 / 10))"
done
echo "# scripts: $pass passed, $fail failed, $skip skipped"
[ "$fail" -eq 0 ] || exit 1
[ "$pass" -gt 0 ] || exit 4
exit 0
