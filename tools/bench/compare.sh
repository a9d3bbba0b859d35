#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# compare.sh: compares the results of commit REV with those of the checkout, or of commit WITH, on this host. OF is device (make
# bench-device, the default) or bench (make bench). With QUICK=1 they are those of quick runs. What is not in the history is measured
# first, a commit in a worktree of its own. Exit status: 1 if instructions are worse beyond their limit; 2 for wrong values.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=/dev/null
. tools/bench/history.sh

# refuse TEXT
refuse() {
	echo "compare.sh: $1" >&2
	exit 2
}

# commit_of REV: prints the commit.
commit_of() {
	git rev-parse --verify -q "$1^{commit}" || refuse "there is no commit '$1'"
}

# program: prints what measures.
program() {
	[ "$of" = device ] && echo tools/bench/device.sh || echo tools/bench/bench.sh
}

# measure COMMIT: measures it in a worktree, and keeps the result.
measure() {
	echo "compare.sh: measuring $1 in a worktree" >&2
	git worktree add -q --detach "$work/tree" "$1"
	[ -x "$work/tree/$(program)" ] || refuse "commit $1 has no $(program)"
	(cd "$work/tree" && "./$(program)") >&2
	history_keep "$of" "$1" "$work/tree/build/bench/$of.txt"
	git worktree remove --force "$work/tree"
}

clean() {
	[ ! -d "$work/tree" ] || git worktree remove --force "$work/tree"
	rm -rf "$work"
}

of=${OF:-device}
case $of in
device | bench) ;;
*) refuse "OF is device or bench, not '$of'" ;;
esac
[ -n "${REV-}" ] || refuse "REV=COMMIT is missing"
[ -e .git ] || refuse "this is no checkout of git"
rev=$(commit_of "$REV")
if [ -n "${WITH-}" ]; then
	with=$(commit_of "$WITH")
else
	with=$(history_commit)
fi
work=$(mktemp -d)
trap clean EXIT
trap 'exit 130' INT TERM
if ! history_last "$of" "$rev" >"$work/before"; then
	measure "$rev"
	history_last "$of" "$rev" >"$work/before"
fi
if ! history_last "$of" "$with" >"$work/after"; then
	if [ -n "${WITH-}" ]; then
		measure "$with"
	else
		echo "compare.sh: measuring the checkout" >&2
		"$(program)" >&2
	fi
	history_last "$of" "$with" >"$work/after"
fi
awk -f tools/bench/records.awk -f tools/bench/compare.awk "$work/before" "$work/after"
