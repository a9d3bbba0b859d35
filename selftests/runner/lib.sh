# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Functions for the tests of the runner.

. "$(dirname "$0")/../ohca/lib.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# well_formed FILE: each line is one complete element, or the start or end tag of one that may have others in it; each
# "&" is an entity; there are no control characters; all tags are closed.
well_formed()
{
	LC_ALL=C awk '
		function bad(why) { print why ": " $0; wrong = 1 }
		/[\001-\010\013\014\016-\037]/ { bad("control character") }
		{ line = $0; gsub(/&(amp|lt|gt|quot);/, "", line); gsub(/"[^"<>&]*"/, "\"\"", line) }
		line ~ /&/ { bad("bare &") }
		line ~ /^<\?xml/ && NR == 1 { next }
		line ~ /^ *<testsuites?( [a-z]+="")*>$/ { depth++; next }
		line ~ /^ *<\/testsuites?>$/ { depth--; next }
		line ~ /^ *<testcase( [a-z]+="")+(\/>|><(failure|flakyFailure|skipped) message=""\/><\/testcase>)$/ { next }
		{ bad("not expected") }
		END { if (depth != 0) { print "not closed"; wrong = 1 } exit wrong }' "$1"
}

# has FILE TEXT...: each text is a part of a line.
has()
{
	has_file=$1
	shift
	for text; do
		grep -qF -e "$text" "$has_file" || { echo "missing: $text"; cat "$has_file"; return 1; }
	done
}
