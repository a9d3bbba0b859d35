#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks that each document is clean reStructuredText, that links to other documents lead to a file, and that Sphinx makes the
# site of them without a warning, if it is installed.

# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
DOCS=$(cd "$DIR/../../Documentation" && pwd)

links()
{
	grep -ohE '<[a-z]+\.html' "$1" | sed 's/<//; s/html$/rst/' | sort -u | while read -r link; do
		[ -e "$DOCS/$link" ] || echo "$1 links to $link"
	done
}

no_bad_links()
{
	[ -z "$(links "$1")" ] || { links "$1"; return 1; }
}

set -- "$DOCS"/*.rst
plan $((2 * $# + 1))
for doc; do
	name=$(basename "$doc")
	if command -v rst2html5 > /dev/null; then
		check "$name is clean" rst2html5 --strict "$doc" /dev/null
	else
		skip "$name is clean" "no docutils"
	fi
	check "$name has no bad links" no_bad_links "$doc"
done

site()
{
	sphinx-build -q -W --keep-going -n -b html -d "$1/doctrees" "$DOCS" "$1/html" && [ -s "$1/html/hardware.html" ]
}

if command -v sphinx-build > /dev/null; then
	tmp=$(mktemp -d)
	check "the site" site "$tmp"
	rm -rf "$tmp"
else
	skip "the site" "no Sphinx"
fi
finish
