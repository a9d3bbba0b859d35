#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make.sh [SUITE...]: makes Debian packages of the checkout for these releases, by default for all that are supported, in
# build/deb/SUITE. Each is built in a tree of that release, in the lab's cache.

set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
REPO=$(cd "$(dirname "$0")/../.." && pwd)
LAB=$REPO/tools/lab
for noun in log packages image root; do
	# shellcheck source=/dev/null
	. "$LAB/lib/$noun.sh"
done
# shellcheck source=tools/deb/tree.sh
. "$REPO/tools/deb/tree.sh"
declare -A suffixes=([bookworm]=deb12 [trixie]=deb13)

# interface: prints the version of the hardware interface.
interface() {
	sed -n 's/^#define OHCA_VERSION_M[AI][A-Z]*[[:space:]]\+\([0-9]*\).*/\1/p' "$REPO/include/ohca/ohca_regs.h" | xargs | tr ' ' .
}

# version: prints the version: of a release, that of debian/changelog; of another commit, an earlier one, with its date and number.
version() {
	local release date
	release=$(sed -n '1s/.*(\(.*\)-.*/\1/p' "$REPO/debian/changelog")
	[[ $release = "$(interface)".* ]] || die "debian/changelog has the version $release, and the hardware interface $(interface)"
	if [ ! -e "$REPO/.git" ] || ! git -C "$REPO" rev-parse HEAD >/dev/null 2>&1 ||
		[ "$(git -C "$REPO" describe --exact-match HEAD 2>/dev/null)" = "v$release" ]; then
		echo "$release"
		return
	fi
	date=$(TZ=UTC git -C "$REPO" log -1 --date=format-local:%Y%m%d.%H%M%S --format=%cd)
	echo "$release~$date.$(git -C "$REPO" describe --always --exclude '*' --abbrev=7)"
}

# epoch: prints the time of the commit, or of debian/changelog.
epoch() {
	git -C "$REPO" log -1 --format=%ct 2>/dev/null || date -d "$(sed -n 's/^ -- .*>  //p' "$REPO/debian/changelog")" +%s
}

[ $# -gt 0 ] || set -- bookworm trixie
for suite; do
	[ -n "${suffixes[$suite]-}" ] || die_usage "no such release: '$suite'; there are bookworm and trixie"
done
root_lock -s
version=$(version)
for suite; do
	tree_setup "$suite" "$suite" tools/deb/populate.sh
	out=$REPO/build/deb/$suite
	mkdir -p "$out"
	note "building packages of $version for $suite"
	ROOT_TREE=$TREES/$suite root_run ro "$out" bash /repo/tools/deb/build.sh "$version" "$(epoch)" "1~${suffixes[$suite]}"
	[ ! -e "$out/no-provider" ] ||
		note "without ibverbs-provider-ohca: the mirror lacks rdma-core_$(<"$out/no-provider").orig.tar.gz; put it into $TREES"
	(cd "$REPO" && ls "build/deb/$suite"/*.deb)
done
