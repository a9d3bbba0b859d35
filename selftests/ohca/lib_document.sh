# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What commands of documents print. A script sources this file after lib.sh.

# has_lines FILE PATTERN...: it has a line for each pattern; 0:PATTERN and 1:PATTERN are for one of the machines.
has_lines()
{
	lines_file=$1
	shift
	for lines_pattern; do
		case $lines_pattern in
		"$RANK":*) ;;
		[01]:*) continue ;;
		esac
		grep -qE -e "${lines_pattern#[01]:}" "$lines_file" || { echo "no line has: $lines_pattern"; return 1; }
	done
}
