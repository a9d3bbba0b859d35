# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Evaluates lists of results (see suite.py). A list is a file named DEVICE-KERNEL.

# report_interrupted LIST: prints the test that has begun and has no result.
report_interrupted() {
	awk -F '\t' '$1 == "begin" { test = $2 } $1 ~ /^(pass|fail|error|skip)$/ { test = "" }
		END { print test }' "$1"
}

# report_complete LIST: whether all tests have a result.
report_complete() {
	awk -F '\t' '$1 == "list" { tests = $2 } $1 ~ /^(pass|fail|error|skip)$/ { done++ }
		END { exit tests == "" || done < tests }' "$1"
}

# report_failed LIST: whether any test failed.
report_failed() {
	grep -qE '^(fail|error)' "$1"
}

# report_title LIST
report_title() {
	local name=${1##*/}
	echo "${name%%-*} on ${name#*-}"
}

# report_table LIST...: prints a line for each.
report_table() {
	local list
	printf '%-16s %7s %7s %7s %7s %7s\n' '' passed failed errors skipped all
	for list; do
		awk -F '\t' -v title="$(report_title "$list")" '
			{ n[$1]++ }
			END {
				printf "%-16s %7d %7d %7d %7d %7d\n", title, n["pass"], n["fail"], n["error"],
					n["skip"], n["pass"] + n["fail"] + n["error"] + n["skip"]
			}' "$list"
	done
}

# report_reasons LIST fail|error|skip: prints the tests with that result, grouped by reason.
report_reasons() {
	awk -F '\t' -v status="$2" '
		$1 == status {
			if (!($4 in n))
				reasons[++last] = $4
			n[$4]++
			tests[$4] = tests[$4] "\n      " $2
		}
		END {
			for (i = 1; i <= last; i++) {
				reason = reasons[i]
				printf "  %s: %s (%d)%s\n", status, reason, n[reason], tests[reason]
			}
		}
	' "$1"
}

# report_behind LIST OTHER: prints the tests that OTHER passed and LIST did not.
report_behind() {
	awk -F '\t' '
		FNR == NR { if ($1 == "pass") passed[$2]; next }
		$1 ~ /^(fail|error|skip)$/ && $2 in passed { printf "  %s: %s: %s\n", $2, $1, $4 }
	' "$2" "$1"
}

# report_tap LIST OTHER: prints TAP of LIST's tests; with OTHER, one more line says whether LIST passed all tests that
# OTHER did.
report_tap() {
	local more=0 behind=''
	if [ -e "$2" ]; then
		more=1
		behind=$(report_behind "$1" "$2")
	fi
	awk -F '\t' -v more="$more" '
		$1 == "list" { tests = $2 }
		$1 ~ /^(pass|fail|error|skip)$/ { n++ }
		$1 == "pass" { lines[n] = "ok " n " " $2 }
		$1 == "skip" { lines[n] = "ok " n " " $2 " # SKIP " $4 }
		$1 ~ /^(fail|error)$/ { lines[n] = "# " $4 "\nnot ok " n " " $2 }
		END {
			print "TAP version 13\n1.." (tests + more)
			for (i = 1; i <= n; i++)
				print lines[i]
		}' "$1"
	[ "$more" = 1 ] || return 0
	[ -z "$behind" ] || printf '%s\n' "$behind" | sed 's/^ */# /'
	echo "${behind:+not }ok - $(report_title "$1"): all that passes with $(report_title "$2")"
}
