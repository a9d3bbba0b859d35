#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks that each document is clean reStructuredText, that links to other documents and files lead to them, so that a repository
# browser can follow them, that Sphinx makes the site of them without a warning, if it is installed, and that links of the site
# lead to a page and a section.

# shellcheck disable=SC2016 # links have back quotes
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
DOCS=$(cd "$DIR/../../Documentation" && pwd)

# Prints the targets of links that are no addresses of the web.
targets()
{
	tr '\n' ' ' < "$1" | grep -oE '<[^ <>`]+>`__' | sed 's/^<//; s/>`__$//; s/#.*//' | grep -vE '^$|^[a-z]+:' | sort -u
}

links()
{
	targets "$1" | while read -r link; do
		[ -e "$DOCS/$link" ] || echo "$1 links to $link"
	done
}

no_bad_links()
{
	[ -z "$(links "$1")" ] || { links "$1"; return 1; }
}

set -- "$DOCS"/*.rst
plan $((2 * $# + 2))
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
	sphinx-build -q -W --keep-going -n -b html -d "$tmp/doctrees" "$DOCS" "$tmp/html" && [ -s "$tmp/html/hardware.html" ]
}

# Prints "PAGE TARGET" for each link in the site that is no address of the web and no part of the theme.
site_links()
{
	(cd "$tmp/html" && grep -oE 'href="[^"]*"' -- *.html) | sed -E 's/:href="/ /; s/"$//' |
		grep -vE ' ([a-z]+:|_static|#?$)' | sort -u
}

site_has_targets()
{
	site_links > "$tmp/links"
	[ "$(wc -l < "$tmp/links")" -gt 500 ] || { echo "only $(wc -l < "$tmp/links") links"; return 1; }
	(cd "$tmp/html" && grep -oE ' id="[^"]*"' -- *.html) | sed -E 's/: id="/#/; s/"$//' > "$tmp/sections"
	while read -r page link; do
		case $link in
		'#'*) link=$page$link ;;
		esac
		case $link in
		*'#'*) echo "$page $link" ;;
		*) [ -e "$tmp/html/$link" ] || echo "$page links to $link" >> "$tmp/bad" ;;
		esac
	done < "$tmp/links" > "$tmp/anchors"
	awk 'NR == FNR { known[$0] = 1; next } !($2 in known) { print $1 " links to " $2 }' "$tmp/sections" "$tmp/anchors" >> "$tmp/bad"
	[ ! -s "$tmp/bad" ] || { cat "$tmp/bad"; return 1; }
}

if command -v sphinx-build > /dev/null; then
	tmp=$(mktemp -d)
	check "the site" site
	check "its links lead to a section" site_has_targets
	rm -rf "$tmp"
else
	skip "the site" "no Sphinx"
	skip "its links lead to a section" "no Sphinx"
fi
finish
