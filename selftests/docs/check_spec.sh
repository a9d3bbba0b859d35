#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compares Documentation/hardware.rst with the headers in include/ohca: every name is described, the values, offsets
# and sizes in the tables are those of the headers (a compiler checks that), and every structure is described field by
# field.  The changelogs have the version of the headers.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
TOP=$(cd "$DIR/../.." && pwd)
SPEC=$TOP/Documentation/hardware.rst
HEADERS=$(echo "$TOP"/include/ohca/*.h)
CC=${CC:-cc}

tmp=$(mktemp -d) || bail "no temporary directory"
trap 'rm -rf "$tmp"' EXIT

# Prints the names that the headers define: macros with a value, and enumerators.
# shellcheck disable=SC2086 # a list of files
header_names()
{
	sed -nE -e 's/^#define (OHCA_[A-Z0-9_]+)[[:space:]].*/\1/p' \
		-e 's/^\t(OHCA_[A-Z0-9_]+)( =.*)?,.*/\1/p' $HEADERS | sort -u
}

# Prints the names in the text, without those that stand for several (OHCA_FEAT_*).
spec_names()
{
	grep -oE 'OHCA_[A-Z0-9_]+[*]?' "$SPEC" | grep -vE '[*]$|_$' | sort -u
}

# Prints "structure field" for all fields in the headers. Names of fields in nested unions and structures include the
# names of these, if they have any.
# shellcheck disable=SC2086
header_fields()
{
	awk '
	/^struct ohca_[a-z_]+ \{/ { name = $2; depth = 1; n = 0; next }
	!depth { next }
	/\{$/ { first[++depth] = n; next }
	/^};/ {
		for (i = 0; i < n; i++)
			print name, field[i]
		depth = 0
		next
	}
	/^\t+\}/ {
		sub(/.*\}[ \t]*/, ""); sub(/;.*/, "")
		for (i = first[depth]; $0 && i < n; i++)
			field[i] = $0 "." field[i]
		depth--
		next
	}
	/;/ {
		sub(/;.*/, ""); sub(/\[.*/, "")
		field[n++] = $NF
	}' $HEADERS | sort -u
}

# Prints lines from the tables: "value NAME VALUE", "access NAME ACCESS", "size STRUCT BYTES", "field STRUCT FIELD
# OFFSET BYTES".
spec_facts()
{
	awk '
	{ line = $0; gsub(/``/, "") }
	match(line, /``struct ohca_[a-z_]+``, [0-9]+ bytes/) {
		split(substr(line, RSTART, RLENGTH), word, /``struct |``, | bytes/)
		name = word[2]
		print "size", name, word[3]
	}
	/^[A-Za-z=]/ && !/^=+ / && !/^offset/ && line !~ /``struct/ { name = "" }
	line ~ /^0x[0-9a-f]+ +``OHCA_REG_/ { print "value", $2, $1; print "access", $2, $3; next }
	line ~ /^[0-9]+ +([0-9]+|\.\.) +``/ && name != "" { print "field", name, $3, $1, $2; next }
	line ~ /^``OHCA_/ {
		while (match($0, /OHCA_[A-Z0-9_]+ +(0x[0-9a-f]+|[0-9]+)( << [0-9]+)?/)) {
			fact = substr($0, RSTART, RLENGTH)
			$0 = substr($0, RSTART + RLENGTH)
			sub(/ +/, " ", fact)
			gsub(/ << /, "<<", fact)
			print "value", fact
		}
	}' "$SPEC"
}

# Prints the access of registers from the comments in the headers, beside or above them; the second register of a pair
# has no comment.
header_access()
{
	awk '
	/RW while disabled/ { access = "RW*" }
	/RO:/ { access = "RO" }
	/WO:/ { access = "WO" }
	/^#define OHCA_REG_/ { print "access", $2, access }' "$TOP/include/ohca/ohca_regs.h" | sort
}

# Compiles assertions; prints those that fail.
judge() # file of assertions
{
	{
		echo '#include <stddef.h>'
		echo '#include "ohca/ohca_cmd.h"'
		echo '#include "ohca/ohca_queue.h"'
		cat "$1"
	} > "$1.c"
	[ -s "$1" ] || { echo "nothing to check"; return 1; }
	"$CC" -std=gnu11 -I"$TOP/include" -fsyntax-only "$1.c" 2> "$1.err" && return 0
	grep error: "$1.err"
	return 1
}

none() # fails if the file has lines, and shows them
{
	[ ! -s "$1" ] || { cat "$1"; return 1; }
}

values()
{
	awk '$1 == "value" { printf "_Static_assert(%s == (%s), \"%s is not %s\");\n", $2, $3, $2, $3 }' \
		"$tmp/facts" > "$tmp/values"
	judge "$tmp/values"
}

sizes()
{
	awk '
	$1 == "size" { printf "_Static_assert(sizeof(struct %s) == %s, \"size of %s\");\n", $2, $3, $2 }
	$1 == "field" {
		printf "_Static_assert(offsetof(struct %s, %s) == %s, \"offset of %s.%s\");\n", $2, $3, $4, $2, $3
		if ($5 != "..")
			printf "_Static_assert(sizeof(((struct %s *)0)->%s) == %s, \"size of %s.%s\");\n", \
				$2, $3, $5, $2, $3
	}' "$tmp/facts" > "$tmp/sizes"
	judge "$tmp/sizes"
}

# Prints the names for which the text shows a value, except for values of another kind.
all_values()
{
	awk '$1 == "value" { print $2 }' "$tmp/facts" | sort -u > "$tmp/valued"
	comm -23 "$tmp/header" "$tmp/valued" | grep -vE '^OHCA_SQ_DB_' > "$tmp/unvalued"
	none "$tmp/unvalued"
}

# Prints the capabilities that commands need.
needed_caps()
{
	awk '/^``OHCA_CMD_[A-Z_]+`` +0x/ && $NF ~ /^[A-Z_]+$/ { print "OHCA_CAP_" $NF }' "$SPEC" | sort -u
}

# Prints the numbers of rules in the text, "(D-101)", one on each line.
rules_in_text()
{
	grep -oE '\([DS]-[0-9]{3}\)' "$SPEC" | tr -d '()' | sort
}

# Prints "RULE TEST" from the table of rules.
rules_in_table()
{
	awk '
	/^Rules and their tests/ { table = 1 }
	/^Notes for other/ { table = 0 }
	table && $1 ~ /^([DS]-[0-9]+|\.\.)$/ {
		if ($1 != "..")
			rule = $1
		gsub(/``/, "")
		print rule, $2
	}' "$SPEC"
}

# Whether the test exists: PROGRAM:FUNCTION that the program runs, or a file in selftests
test_exists()
{
	case $1 in
	*:*) grep -qE "[( ]${1#*:}[,)]" "$TOP/selftests/ohcad/${1%:*}.c" ;;
	*) [ -e "$TOP/selftests/$1" ] ;;
	esac
}

unshown_rules()
{
	rules_in_table | while read -r rule name; do
		test_exists "$name" || echo "$rule: there is no $name"
	done
}

# The newest entries of both changelogs have the version of the interface.
changelogs()
{
	interface=$("$TOP/tools/lab/ohca-lab" --version | sed -n 's/.*hardware interface \([0-9.]*\).*/\1/p')
	[ -n "$interface" ] && grep -m 1 '^## ' "$TOP/CHANGELOG.md" | grep -Fx "## Hardware interface $interface" &&
		head -n 1 "$TOP/debian/changelog" | grep -F "($interface."
}

plan 12
spec_facts > "$tmp/facts"
header_names > "$tmp/header"
spec_names > "$tmp/spec"
comm -23 "$tmp/header" "$tmp/spec" > "$tmp/missing"
comm -13 "$tmp/header" "$tmp/spec" > "$tmp/unknown"
check "every name of the headers is in the specification" none "$tmp/missing"
check "every name in the specification is in the headers" none "$tmp/unknown"
check "every name has its value in a table" all_values
if command -v "$CC" > /dev/null; then
	check "values and register offsets agree" values
	check "sizes of structures, offsets and sizes of fields agree" sizes
else
	skip "values and register offsets agree" "no compiler"
	skip "sizes of structures, offsets and sizes of fields agree" "no compiler"
fi
header_fields > "$tmp/fields"
awk '$1 == "field" { print $2, $3 }' "$tmp/facts" | sort -u > "$tmp/described"
comm -3 "$tmp/fields" "$tmp/described" > "$tmp/fielddiff"
check "the same structures and fields are in both" none "$tmp/fielddiff"
header_access > "$tmp/access"
grep '^access' "$tmp/facts" | sort | comm -3 "$tmp/access" - > "$tmp/accessdiff"
check "access of registers agrees" none "$tmp/accessdiff"
needed_caps > "$tmp/caps"
comm -23 "$tmp/caps" "$tmp/header" > "$tmp/nocaps"
check "what commands need are capabilities" none "$tmp/nocaps"
rules_in_text | uniq -d > "$tmp/twice"
check "the number of a rule is there once" none "$tmp/twice"
rules_in_table | cut -d' ' -f1 | sort -u > "$tmp/tabled"
rules_in_text | comm -3 - "$tmp/tabled" > "$tmp/rulediff"
check "the table has the rules of the text" none "$tmp/rulediff"
unshown_rules > "$tmp/unshown"
check "every rule has a test that exists" none "$tmp/unshown"
check "the changelogs have the version of the headers" changelogs
finish
