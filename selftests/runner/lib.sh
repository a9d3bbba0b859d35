# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the tests of the runner share.

. "$(dirname "$0")/../ohca/lib.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# well_formed FILE: each line is one whole element, a start or an end of those that it may be; each "&" is an entity; no
# control characters; all that starts ends.
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

# has FILE TEXT...: each is a part of a line.
has()
{
	has_file=$1
	shift
	for text; do
		grep -qF -e "$text" "$has_file" || { echo "missing: $text"; cat "$has_file"; return 1; }
	done
}
