# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The report at the end: what took long, what failed, and the sums; and the same for JUnit and the durations.

SLOWEST=10
WHY_LINES=8 # of what the lab said about machines that died

# report_why SET: prints what the lab said if a machine did not complete, or if a kernel or ohcad reported something: how the
# machine ended, and the begin of the report.
report_why() {
	{ ! grep -q '^- ' "$work/$1/failed" && [ ! -s "$results/$1/found" ]; } ||
		grep -aE "^ohca-lab: |$KLOG_REPORT|RIP: |AddressSanitizer|runtime error" "$results/$1/errors" |
		head -n "$WHY_LINES"
}

# report_sums: adds up the results of all $sets in $total_*, and writes the failures to $work/failures, lines "#
# failed: ..." and "# unsteady: ...". Failures of a repeat replace those before.
report_sums() {
	local name last passed failed skipped
	total_passed=0 total_failed=0 total_skipped=0
	for name in "${sets[@]}"; do
		last=${set_again[$name]-$name}
		if ! { read -r passed _ skipped <"$work/$name/sums" && read -r _ failed _ <"$work/$last/sums"; } 2>/dev/null; then
			passed=0 failed=1 skipped=0
			echo "# failed: $name: - no result"
		elif [ "$failed" = 0 ]; then
			sed "s|^|# unsteady: $name: |" "$work/$name/failed"
		else
			{ cat "$work/$last/failed" && report_why "$last"; } | sed "s|^|# failed: $name: |"
		fi >>"$work/failures"
		total_passed=$((total_passed + passed))
		total_failed=$((total_failed + failed))
		total_skipped=$((total_skipped + skipped))
	done
}

# report_ran: prints the sets that ran, including repeats.
report_ran() {
	local name
	for name in "${sets[@]}" "${set_again[@]}"; do
		[ ! -e "$work/$name/sums" ] || echo "$name"
	done
}

# report_slowest WHAT [UNIT]: prints the ten lines "SECONDS NAME [MORE]" with the largest numbers. UNIT is that of
# MORE.
report_slowest() {
	sort -k1,1nr | head -n "$SLOWEST" | awk -v what="$1" -v unit="${2:+ $2}" 'NR == 1 { print "# the slowest " what ":" }
		{ printf "# %8.1f s  %s%s\n", $1, $2, (NF > 2 ? " " $3 unit : "") }'
}

# report_profile SECONDS: prints what took long.
report_profile() {
	local name ran cpu
	mapfile -t ran < <(report_ran)
	for name in "${ran[@]}"; do
		sed "s|\(.*\) \(.*\)|\2 $name \1|" "$work/$name/times"
	done | report_slowest scripts
	for name in "${ran[@]}"; do
		echo "$(cat "$work/$name/seconds") $name $(cat "$work/$name/cpu")"
	done | report_slowest sets "s of processors"
	cpu=$(for name in "${ran[@]}"; do cat "$work/$name/cpu"; done | awk '{ sum += $1 } END { printf "%d", sum }')
	for name in "${ran[@]}"; do
		cat "$results/$name/boots" 2>/dev/null
	done | awk -v all="$1" -v cpu="$cpu" '
		{ seconds += $2; starts++; restored += $3 == "restored" }
		END {
			if (starts)
				printf "# booting: %.1f s in %d starts of machines, %d of them restored\n",
					seconds, starts, restored
			printf "# all: %d s, %d s of processors\n", all, cpu
		}'
}

# report_junit FILE SECONDS
report_junit() {
	local name failures failed
	for name in $(report_ran); do
		failures=
		if [[ $name = *.again ]]; then
			failures=only
		elif [ -n "${set_again[$name]-}" ]; then
			failures=flaky
			read -r _ failed _ <"$work/${set_again[$name]}/sums"
			[ "$failed" = 0 ] || failures=omit
		fi
		set_count "$name" /dev/null "$work/$name/junit" "$failures" >/dev/null
		cat "$work/$name/junit"
	done >"$work/junit"
	{
		echo '<?xml version="1.0" encoding="UTF-8"?>'
		printf '<testsuites name="ohca" failures="%s" skipped="%s" time="%s">\n' \
			"$total_failed" "$total_skipped" "$2"
		iconv -c -f UTF-8 -t UTF-8 "$work/junit" | tr -d '\000'
		echo '</testsuites>'
	} >"$1"
}

# report_durations: writes the durations for the next run's order.
report_durations() {
	local name
	for name in "${sets[@]}"; do
		[ -e "$work/$name/sums" ] || continue
		case ${set_kind[$name]} in
		machines) sed "s|^|${set_kernel[$name]}/|" "$work/$name/times" ;;
		*) echo "$name $(cat "$work/$name/seconds")" ;;
		esac
	done >"$work/durations"
	durations_write "$work/durations"
}
