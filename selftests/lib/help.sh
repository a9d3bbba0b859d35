# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Options that programs print with --help.

# page_has_options FILE PROGRAM [VERB]...: the text of a man page has each option of the program's --help, and of those of its verbs.
page_has_options()
{
	page_file=$1 page_program=$2 page_missing=0
	shift 2
	page_options=$({
		"$page_program" --help
		for page_verb; do
			"$page_program" "$page_verb" --help
		done
	} | grep -oE '(^|[[:space:],|[])--?[a-zA-Z][a-z-]*' | tr -d ' ,|[\t' | sort -u)
	[ "$(echo "$page_options" | wc -l)" -ge 2 ] || { echo "no options in $page_program --help"; return 1; }
	for page_option in $page_options; do
		grep -qF -e "$page_option" "$page_file" || { echo "the page lacks $page_option"; page_missing=1; }
	done
	return "$page_missing"
}
