#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Replaces ohca-lab: its machines run nothing, and print what the environment says:
#   FAKE_DIR       folder with the file calls, which lists its calls
#   FAKE_FAIL      scripts that fail the first time
#   FAKE_BROKEN    scripts that always fail
#   FAKE_DEAD      scripts in which the machine dies
#   FAKE_SLEEP     seconds that each boot takes
#   FAKE_LOG       line in the log of the second ohcad
#   FAKE_FOUND     what a kernel reports

echo "$*" >>"$FAKE_DIR/calls"
case $1 in
exec)
	echo "1..1"
	echo "ok 1 outside"
	exit
	;;
run) ;;
*) exit 0 ;;
esac

vms=1 results=''
while [ "$1" != -- ]; do
	case $1 in
	--vms) vms=$2 ;;
	--results) results=$2 ;;
	esac
	shift
done
while [ "$1" != /opt/ohca/run_tests.sh ]; do
	shift
done
shift
mkdir -p "$results"
: >"$results/boots"
[ -z "${FAKE_LOG-}" ] || echo "$FAKE_LOG" >"$results/ohcad1.log"
[ -z "${FAKE_FOUND-}" ] || {
	echo "$FAKE_FOUND" >"$results/found"
	echo "ohca-lab: ${FAKE_FOUND%% *} 1 suspicious lines in the kernel log" >&2
}
for ((rank = 0; rank < vms; rank++)); do
	echo "node$rank 1.5 restored" >>"$results/boots"
done
# "exec", so that no process is left when this one is killed.
if [ -n "${FAKE_SLEEP-}" ]; then
	echo $$ >>"$FAKE_DIR/pids"
	exec sleep "$FAKE_SLEEP"
fi

# outcome SCRIPT: prints ok, fail or dead.
outcome() {
	if [[ " ${FAKE_DEAD-} " = *" $1 "* ]]; then
		echo dead
	elif [[ " ${FAKE_BROKEN-} " = *" $1 "* ]]; then
		echo fail
	elif [[ " ${FAKE_FAIL-} " = *" $1 "* ]] && ! [ -e "$FAKE_DIR/$1.failed" ]; then
		: >"$FAKE_DIR/$1.failed"
		echo fail
	else
		echo ok
	fi
}

status=0
for ((rank = 0; rank < vms; rank++)); do
	node="node$rank: "
	[ "$vms" -gt 1 ] || node=
	for script; do
		result=ok
		[ "$rank" != 0 ] || result=$(outcome "$script")
		echo "${node}# $script"
		echo "${node}1..2"
		echo "${node}ok 1 first"
		case $result in
		ok) echo "${node}ok 2 second" ;;
		fail)
			echo "${node}# why it failed"
			echo "${node}not ok 2 second"
			echo "${node}# $script FAILED"
			status=1
			;;
		dead)
			status=1
			echo "ohca-lab: node$rank: ended before its command did" >&2
			break
			;;
		esac
		echo "${node}# seconds: $script 2.5"
	done
	[ "$result" = dead ] || echo "${node}# scripts: some"
done
exit "$status"
