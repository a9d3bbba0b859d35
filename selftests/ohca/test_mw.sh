#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory windows, also of programs that end while they have some bound.
# vms: 1
. "$(dirname "$0")/lib.sh"
need_device
log=$(mktemp)
cleanup()
{
	rm -f "$log"
}
trap cleanup EXIT

"$DIR/mw" > "$log"
status=$?
[ "$status" -ne 4 ] || { cat "$log"; exit 4; }
# Two more lines than the program has
awk '/^1\.\.[0-9]+$/ { print "1.." substr($0, 4) + 2; next } { print }' "$log"
tap_num=$(grep -cE '^(not )?ok ' "$log")
tap_failed=$(grep -c '^not ok ' "$log")
[ "$status" -eq 0 ] || [ "$tap_failed" -gt 0 ] || tap_failed=1
tap_planned=$((tap_num + 2))
check "a program leaves with a window bound" "$DIR/mw" leave
check "nothing is left of it" wait_for 20 no_user_objects
finish
