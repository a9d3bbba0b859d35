#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# populate.sh GROUP: installs the packages of packages.GROUP. Runs inside the root, writable, with
# the package cache outside it, so that an interrupted download is not lost. Reports apt's progress
# on descriptor 3.

set -euo pipefail
LAB=$(dirname "$0")/..
# shellcheck source=tools/lab/lib/packages.sh
. "$LAB/lib/packages.sh"

group=$1
compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null || apt-get update

mapfile -t packages < <(package_list "$group")
for series in $(kernel_series "$group"); do
	# The newest release of the series; 6.12 and 7.2 lie in different suites of the same mirror.
	release=$(apt-cache pkgnames "linux-image-$series." |
		sed -n "s/^linux-image-\($series\.[0-9.]*+deb[0-9]*-amd64\)\$/\1/p" | sort -V | tail -n 1)
	if [ -z "$release" ]; then
		echo "no package of kernel $series on this mirror"
		exit 1
	fi
	packages+=("linux-image-$release" "linux-headers-$release")
done

# Apt's own sandbox user has no rights in a user namespace's folders.
options=(-y -o APT::Status-Fd=3 -o APT::Sandbox::User=root 
	-o Dir::Cache::Archives=/cache/download -o APT::Keep-Downloaded-Packages=true)
apt-get "${options[@]}" install "${packages[@]}" || {
	# The lists may be older than the mirror.
	apt-get update && apt-get "${options[@]}" install "${packages[@]}"
}

# The provider builds inside rdma-core's source.
if [ "$group" = base ] && ! compgen -G '/usr/src/rdma-core_*.tar.*' >/dev/null; then
	cd /usr/src
	apt-get -o APT::Sandbox::User=root source -t trixie --tar-only \
		--download-only rdma-core
fi
# checkpatch.pl is in no package but the kernel's whole source, of which nothing else is kept.
if [ "$group" = lint ]; then
	cd /tmp
	apt-get "${options[@]}" download linux-source-7.2
	mkdir -p /usr/local/lib/checkpatch
	dpkg-deb --fsys-tarfile linux-source-7.2_*.deb |
		tar -xO ./usr/src/linux-source-7.2.tar.xz |
		tar -xJ -C /usr/local/lib/checkpatch --strip-components 2 --wildcards \
			'linux-source-*/scripts/checkpatch.pl' 'linux-source-*/scripts/spelling.txt' \
			'linux-source-*/scripts/const_structs.checkpatch'
fi

# The next group asks the mirror again.
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
