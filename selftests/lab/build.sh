# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of the results of builds, which run.sh runs.
# shellcheck disable=SC2016 # for shells in the root

build_tests=(
	"build_prune            results of a checkout stay as long as a run uses them"
	"build_hash             the hash of a part is that of its sources, also if it was made before"
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

# The hash of a part that was made before is taken as long as no file differs.
test_build_hash() {
	lab exec -- bash -c 'set -uo pipefail
		. tools/lab/lib/build.sh
		BUILD=$(mktemp -d)
		made=0
		take() { # part source
			known=$(cat "$BUILD/$1.known" 2>/dev/null)
			build_hash "$1" "$2"
			[ "$known" = "$(cat "$BUILD/$1.known")" ] || made=$((made + 1))
		}
		take one /repo/include && first=$build_hashed
		take two /repo/uapi && [ "$made" = 2 ] && [ "$build_hashed" != "$first" ] || exit 3
		take one /repo/include && [ "$made" = 2 ] && [ "$build_hashed" = "$first" ] || exit 4
		echo damage >"$BUILD/one.known"
		take one /repo/include && [ "$made" = 3 ] && [ "$build_hashed" = "$first" ] || exit 5
		# A file of another part, then one of this part
		build_sums+=$'"'\\n0  /repo/uapi/new'"' build_sum=""
		take one /repo/include && [ "$made" = 4 ] && [ "$build_hashed" = "$first" ] || exit 6
		build_sums+=$'"'\\n0  /repo/include/new'"' build_sum=""
		take one /repo/include && [ "$made" = 5 ] && [ "$build_hashed" != "$first" ] || exit 7
		rm -r "$BUILD"'
	[ "$status" = 0 ] || fail "step $status"
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
