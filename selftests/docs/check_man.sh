#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Checks that the man pages can be made, that each program of a package has one with all options of its --help, and that bash
# completes them.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=selftests/ohca/lib.sh
. "$(dirname "$0")/../ohca/lib.sh"
# shellcheck source=selftests/lib/help.sh
. "$DIR/../lib/help.sh"
TOP=$(cd "$DIR/../.." && pwd)
OHCAD=${BUILD-}/ohcad/ohcad
OHCACTL=${BUILD-}/ohcactl/ohcactl

if ! command -v rst2man > /dev/null || [ ! -x "$OHCAD" ] || [ ! -x "$OHCACTL" ]; then
	skip_all "no rst2man, or no programs: run it by 'make check TEST=docs'"
fi
tmp=$(mktemp -d) || bail "no temporary directory"
trap 'rm -rf "$tmp"' EXIT

# has_options PAGE PROGRAM [VERB]...
has_options()
{
	sed 's/\\-/-/g' "$tmp/$1" > "$tmp/page"
	shift
	page_has_options "$tmp/page" "$@"
}

# completes PROGRAM WORD WANTED...: bash completes WORD, the first one after PROGRAM, to all of these words.
completes()
{
	bash -c '. "$1/tools/completion/${2##*/}"
		compopt() { :; }
		program=$2 COMP_WORDS=("$2" "$3") COMP_CWORD=1 COMPREPLY=()
		shift 3
		name=${program##*/}
		"_${name//-/_}"
		for want; do
			[[ " ${COMPREPLY[*]} " = *" $want "* ]] || { echo "no $want in: ${COMPREPLY[*]}"; exit 1; }
		done' bash "$TOP" "$@"
}

plan 11
check "the pages" make -s -C "$TOP/Documentation/man" O="$tmp" OHCAD="$OHCAD" OHCACTL="$OHCACTL"
check "the page of the driver" grep -q '^.TH "\?OHCA' "$tmp/ohca.4"
check "the options of ohcad" has_options ohcad.8 "$OHCAD"
check "the options of ohcactl" has_options ohcactl.8 "$OHCACTL"
check "the options of ohca-topology" has_options ohca-topology.1 "$TOP/tools/topology/ohca-topology"
# shellcheck disable=SC2046 # a list
check "the options of ohca-lab" has_options ohca-lab.1 "$TOP/tools/lab/ohca-lab" \
	$("$TOP/tools/lab/ohca-lab" --help | sed -nE 's/^([a-z0-9-]+)  .*/\1/p')
check "bash completes ohcad" completes "$OHCAD" --c --control --capture --capture-dir --check
check "bash completes ohcactl" completes "$OHCACTL" '' show node link fault capture version
check "bash completes ohca-topology" completes "$TOP/tools/topology/ohca-topology" '' star fat-tree --hcas
check "bash completes ohca-lab" completes "$TOP/tools/lab/ohca-lab" '' run shell up exec down --version
check "each program of a package has a completion" test "$(cd "$TOP/tools/completion" && echo *)" = "ohca-lab ohca-topology ohcactl ohcad"
finish
