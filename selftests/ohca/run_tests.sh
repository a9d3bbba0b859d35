#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the test scripts beside this one (or those named) in this machine, one after the other. A script's line "# vms:
# N" has the number of machines that it needs, "# hcas: N" the number of adapters in each (1 without that line);
# scripts that need more are skipped. A script runs on the link layers of its line "# link:", those after "long" in the long
# form only (OHCA_LONG=1), and on Ethernet without that line ($OHCA_LINKS). A script with a line "# boot: NAME" takes long, or
# leaves the machine in a state that others can't use: it runs only if it is named. With "# disk: SIZE" it needs a disk. A script
# that does not end in time is ended, with all its processes, and has failed (OHCA_SCRIPT_TIMEOUT, in seconds, 300 without it;
# times OHCA_SLOW, see lib.sh). After each script there is a line "# seconds: SCRIPT N.N". Exit status: 0 if no test failed, 1
# otherwise, 4 if all were skipped.

cd "$(dirname "$0")" || exit 1

# Whether the script runs on this machine's link layers
runs_here() # script
{
	# shellcheck disable=SC2046 # words
	set -- $(sed -n 's/^# link: //p' "$1")
	[ $# -gt 0 ] || set -- eth
	for word; do
		case $word in
		"$ports") return ;;
		long) [ "${OHCA_LONG:-}" = 1 ] || return 1 ;;
		-) return 1 ;;
		esac
	done
	return 1
}

ports=$(echo "${OHCA_LINKS:-eth}" | tr ' ' +)
# shellcheck disable=SC2046 # a list
[ $# -gt 0 ] || set -- $(grep -L '^# boot: ' test_*.sh | while read -r test; do ! runs_here "$test" || echo "$test"; done)

# uptime: sets $uptime to the time since the machine's start, in hundredths of a second, without a process.
uptime()
{
	read -r uptime _ < /proc/uptime
	uptime=$((${uptime%.*} * 100 + 1${uptime#*.} - 100))
}

limit=$((${OHCA_SCRIPT_TIMEOUT:-300} * ${OHCA_SLOW:-3}))
pass=0
fail=0
skip=0
for test; do
	echo "# $test"
	uptime
	start=$uptime
	timeout -k 10 "$limit" "./$test"
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
