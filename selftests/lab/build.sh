# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of the results of builds, which run.sh runs.
# shellcheck disable=SC2016 # for shells in the root

build_tests=(
	"build_prune            results of a checkout stay as long as a run uses them"
	"build_copy             results are not copied while they change"
)

# Results of checkouts that nobody has used for two days are removed, but for those that a run uses.
test_build_prune() {
	lab exec -- bash -c 'set -euo pipefail
		. tools/lab/lib/build.sh
		BUILDS=$(mktemp -d)
		mkdir "$BUILDS"/{new,old}
		: >"$BUILDS/new/used" >"$BUILDS/old/used"
		BUILD=$BUILDS/stays && build_use
		touch -d "now - 3 days" "$BUILDS"/{old,stays}/used
		build_prune
		[ "$(cd "$BUILDS" && echo *)" = "new stays" ] || { ls "$BUILDS"; exit 3; }
		exec {BUILD_USE}>&-
		build_prune
		[ "$(cd "$BUILDS" && echo *)" = new ] || { ls "$BUILDS"; exit 4; }
		rm -r "$BUILDS"'
	[ "$status" = 0 ] || fail "step $status: $(cat "$work/out")"
}

# What another checkout has built is copied, but not if it is built again there meanwhile.
test_build_copy() {
	lab exec -- bash -c 'set -uo pipefail
		. tools/lab/lib/seal.sh && . tools/lab/lib/build.sh
		BUILDS=$(mktemp -d) && BUILD=$BUILDS/mine && mkdir -p "$BUILDS"/{mine,other/dir} || exit 3
		echo program >"$BUILDS/other/program" && seal "$BUILDS/other/program" && echo hash >"$BUILDS/other/part.stamp"
		build_copy part hash program dir && seal_holds "$BUILD/program" && [ -d "$BUILD/dir" ] &&
			[ "$(cat "$BUILD/part.stamp")" = hash ] || exit 4
		rm "$BUILD/part.stamp"
		cp() {
			command cp "$@" && rm -f "$BUILDS/other/part.stamp"
		}
		! build_copy part hash program dir && [ -z "$(ls -A "$BUILD" | grep -v seal)" ] || exit 5
		rm -r "$BUILDS"'
	[ "$status" = 0 ] || fail "step $status"
}
