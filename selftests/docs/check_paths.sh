#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks that the functions which Documentation/architecture.rst and firstqp.rst follow are in the files that they name, and that
# the files which glossary.rst names exist.

# shellcheck disable=SC2317,SC2016 # functions are called by check; the documents have back quotes
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
TOP=$(cd "$DIR/../.." && pwd)
DRIVER=drivers/infiniband/hw/ohca
PROVIDER=tools/rdma-core/providers/ohca

# Prints the rows of tables "FILE FUNCTION ..." as two words.
rows()
{
	sed -nE 's/^(driver, )?``([a-z_/]+\.[ch])`` +``([a-z_0-9]+)\(\)``.*/\2 \3/p' "$TOP/Documentation/architecture.rst" \
		"$TOP/Documentation/firstqp.rst"
}

functions_exist()
{
	rows > "$tmp/rows"
	[ "$(wc -l < "$tmp/rows")" -gt 50 ] || { echo "only $(wc -l < "$tmp/rows") rows"; return 1; }
	while read -r file name; do
		grep -qsw "$name" "$TOP/tools/ohcad/$file" "$TOP/$DRIVER/$file" "$TOP/$PROVIDER/$file" || echo "$file has no $name()"
	done < "$tmp/rows" > "$tmp/missing"
	[ ! -s "$tmp/missing" ] || { cat "$tmp/missing"; return 1; }
}

files_exist()
{
	grep -oE '``(ohcad|driver|libohca)/[a-z_/]+(\.[ch])?``' "$TOP/Documentation/glossary.rst" | tr -d '`' |
		sed "s,^ohcad/,tools/ohcad/,; s,^driver/,$DRIVER/,; s,^libohca/,$PROVIDER/," | sort -u > "$tmp/files"
	[ -s "$tmp/files" ] || return 1
	while read -r file; do
		[ -e "$TOP/$file" ] || echo "there is no $file"
	done < "$tmp/files" > "$tmp/missing"
	[ ! -s "$tmp/missing" ] || { cat "$tmp/missing"; return 1; }
}

tmp=$(mktemp -d) || bail "no temporary directory"
trap 'rm -rf "$tmp"' EXIT
plan 2
check "functions of the architecture are in their files" functions_exist
check "files of the glossary exist" files_exist
finish
