#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# long: it makes a tree of each Debian release from a mirror, and boots it
#
# The packages of "make deb", in clean trees of Debian: they build, and lintian accepts them; they are installed, used in the
# tree and in a machine that boots it, and removed, so that nothing is left. Runs on the host. Prints TAP.
#
# run.sh [SUITE]...: of these releases.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
REPO=$PWD
LAB=$REPO/tools/lab
for noun in log packages image root; do
	# shellcheck source=/dev/null
	. "$LAB/lib/$noun.sh"
done
# shellcheck source=tools/deb/tree.sh
. tools/deb/tree.sh
set +e
work=$(mktemp -d)
number=0 failures=0 suite=''
trap 'rm -rf "$work"; [ -z "$suite" ] || ns_run rm -rf "$TREES/$suite.test" "$TREES/$suite.ext4"' EXIT

# results STATUS: prints the results of a phase that has ended with STATUS. Its output in $work/out has a line "pass NAME" or
# "fail NAME" for each test, after the output of the test.
results() {
	local line
	[ "$1" = 0 ] || echo "fail the phase ends, with status $1" >>"$work/out"
	while IFS= read -r line; do
		case $line in
		'pass '* | 'fail '*)
			number=$((number + 1))
			[[ $line = pass* ]] || { failures=1 && printf 'not '; }
			echo "ok $number $suite: ${line#* }"
			;;
		*) echo "# $line" ;;
		esac
	done < <(tr -d '\r' <"$work/out")
}

# phase COMMAND...: runs a phase; false if it failed.
phase() {
	local status=0
	"$@" >"$work/out" 2>&1 </dev/null || status=$?
	results "$status"
	! grep -q '^fail ' "$work/out"
}

build() {
	tools/deb/make.sh "$suite" || return
	cat "build/deb/$suite/lintian.log"
	[ ! -s "build/deb/$suite/lintian.log" ] || return 1
	echo "pass packages build, and lintian has nothing to say"
}

# in_tree SCRIPT [ARGUMENT...]
in_tree() {
	ROOT_TREE=$TREES/$suite.test root_run rw "$REPO/build/deb/$suite" bash "/repo/selftests/deb/$1" "${@:2}"
}

# copy: makes the tree in which the packages are installed.
copy() {
	(tree_setup "$suite-clean" "$suite" selftests/deb/populate.sh) && ns_run rm -rf "$TREES/$suite.test" &&
		ns_run cp -a --reflink=auto "$TREES/$suite-clean" "$TREES/$suite.test" && echo "pass there is a clean tree"
}

boot() {
	tools/lab/ohca-lab exec -- bash selftests/deb/boot.sh "/cache/debian/$suite"
}

[ $# -gt 0 ] || set -- bookworm trixie
echo "TAP version 13"
root_lock -s
for suite; do
	if phase build && phase copy; then
		phase in_tree install.sh
		phase boot
		phase in_tree remove.sh
	fi
	ns_run rm -rf "$TREES/$suite.test" "$TREES/$suite.ext4"
done
echo "1..$number"
exit "$failures"
