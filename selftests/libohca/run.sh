#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run test programs that print TAP; print TAP with one line for each, and theirs as subtests. $RUN is a command that runs them,
# if they are of another architecture.
set -u

n=0
failed=0
echo "TAP version 13"
echo "1..$#"
for program; do
	name=${program##*/}
	n=$((n + 1))
	log=$program.log
	echo "    # Subtest: $name"
	# shellcheck disable=SC2086 # words
	TSAN_OPTIONS=halt_on_error=1 ${RUN-} "$program" >"$log" 2>&1
	rc=$?
	grep -v '^TAP version' "$log" | sed 's/^/    /'
	if [ $rc -eq 0 ]; then
		echo "ok $n $name"
	else
		failed=1
		echo "not ok $n $name"
	fi
done
exit $failed
