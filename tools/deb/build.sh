#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh VERSION EPOCH SUFFIX: builds the packages of /repo as VERSION-SUFFIX, with the time EPOCH, and moves them to /share.
# Runs inside a tree (see tree.sh). The source package consists of OHCA and of the source of rdma-core. Without the latter the
# provider is not built.

set -euo pipefail
version=$1 epoch=$2 suffix=$3
SOURCES=(CHANGELOG.md CONTRIBUTING.md COPYING Documentation Kbuild LICENSES Makefile README.md drivers include selftests tools uapi)

# The same folders for each version, for ccache
work=/cache/debian/build-$suffix
exec 5>"$work.lock"
flock 5
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir "$work"
source=$work/ohca
cd "$work"

# Files of other builds in the checkout, which git ignores, stay there.
tar -C /repo --exclude-vcs-ignores --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=a-s,go=rX \
	--transform "s,^,ohca-$version/," -cJf "ohca_$version.orig.tar.xz" "${SOURCES[@]}"
mkdir "$source"
tar -xf "ohca_$version.orig.tar.xz" -C "$source" --strip-components 1
cp -r /repo/debian "$source/"
chmod -R go=rX "$source/debian"

release=$(dpkg-query -W -f '${source:Upstream-Version}' libibverbs-dev)
profiles=pkg.ohca.noprovider
for tarball in "/cache/debian/rdma-core_$release.orig".tar.* "/usr/src/rdma-core_$release.orig".tar.*; do
	[ -e "$tarball" ] || continue
	component=rdma-core-${release//./-}
	cp "$tarball" "ohca_$version.orig-$component.tar.${tarball##*.}"
	mkdir "$source/$component"
	tar -xf "$tarball" -C "$source/$component" --strip-components 1
	profiles=''
	break
done

sed -i -e "1s/(.*)/($version-$suffix)/" -e "s/^\( -- .*>\)  .*/\1  $(date -R -u -d "@$epoch")/" "$source/debian/changelog"
cd "$source"
CCACHE_BASEDIR=$source DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage ${profiles:+--build-profiles="$profiles"} -us -uc >"$work/log" 2>&1 || {
	tail -n 40 "$work/log" >&2
	exit 1
}
cd "$work"
lintian --allow-root --fail-on error,warning ./*.changes >lintian.log 2>&1 || {
	cat lintian.log >&2
	exit 1
}
find /share -mindepth 1 -delete
mv ./*.deb ./*.dsc ./*.tar.* ./*.changes ./*.buildinfo log lintian.log /share/
[ -z "$profiles" ] || echo "$release" >/share/no-provider
