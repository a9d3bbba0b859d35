#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# populate.sh GROUP: installs the packages of packages.GROUP.
# populate.sh own PACKAGE...: installs these packages. If apt does not know one of them, it changes nothing, prints
# the line "unknown: PACKAGE..." at the end, and exits with status 3.
# populate.sh open: only makes the tree readable, see open_tree.
#
# Runs inside the root, writable, with the package cache outside of it, so that an interrupted download is not lost.
# Reports apt's progress on descriptor 3.

set -euo pipefail
LAB=$(dirname "$0")/..
# shellcheck source=tools/lab/lib/packages.sh
. "$LAB/lib/packages.sh"

# open_tree: makes every file and folder readable, so that the user who made the tree can pack it with tar; some of it
# belongs to the user's subordinate ids. The bind mount shows the tree without other mounts.
open_tree() {
	local tree=/tmp/tree
	mkdir "$tree"
	mount --bind / "$tree"
	find "$tree" -xdev \( -type d ! -perm -005 -exec chmod o+rx {} + \) -o \
		\( ! -type d ! -type l ! -perm -004 -exec chmod o+r {} + \)
	umount "$tree"
	rmdir "$tree"
	: >/etc/ohca/open
}

# unknown PACKAGE...: prints the packages that apt does not know.
unknown() {
	local name
	for name; do
		# With -q, grep would end apt-cache by SIGPIPE.
		apt-cache pkgnames "$name" | grep -xF -e "$name" >/dev/null || echo "$name"
	done
}

# suite_add SUITE: lets apt see this suite of an older Debian, on the mirror of Debian 13.
suite_add() {
	sed -n "s/^\(deb .*\) trixie\([a-z-]* \)/\1 $1\2/p" /etc/apt/sources.list >"/etc/apt/sources.list.d/$1.list"
}

# foreign_add ARCH PACKAGE...: unpacks these packages of another architecture into /usr/local/lib/cross/ARCH, without what they
# depend on. They are those of Debian 13 itself, and apt sees that architecture alone.
foreign_add() {
	local arch=$1 dir=/tmp/foreign tree=/usr/local/lib/cross/$1 deb options
	shift
	rm -rf "$dir" "$tree"
	mkdir -p "$dir"/{lists,archives}/partial "$tree"
	sed -n '/^deb .* trixie main/{p;q}' /etc/apt/sources.list >"$dir/list"
	options=(-q -o APT::Sandbox::User=root -o APT::Architecture="$arch" -o APT::Architectures="$arch"
		-o APT::Default-Release= -o Dir::Etc::SourceList="$dir/list" -o Dir::Etc::SourceParts=/dev/null
		-o Dir::State::Status=/dev/null -o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir")
	(
		cd "$dir/archives"
		apt-get "${options[@]}" update
		apt-get "${options[@]}" download "$@"
	)
	for deb in "$dir"/archives/*.deb; do
		dpkg-deb -x "$deb" "$tree"
	done
	rm -r "$dir"
}

# machine_options ARCH DIR: sets the array options to those with which apt sees this architecture alone, has nothing installed, and
# keeps its files in DIR. Its sources are the root's.
machine_options() {
	mkdir -p "$2"/lists/partial "$2"/archives/partial
	grep -h '^deb ' /etc/apt/sources.list /etc/apt/sources.list.d/backports.list >"$2/list"
	options=(-q -o APT::Sandbox::User=root -o APT::Architecture="$1" -o APT::Architectures="$1"
		-o Dir::Etc::SourceList="$2/list" -o Dir::Etc::SourceParts=/dev/null
		-o Dir::State::Status=/dev/null -o Dir::State::Lists="$2/lists" -o Dir::Cache="$2")
}

# machine_add ARCH SERIES FLAVOUR,... PACKAGE...: makes /usr/local/lib/machine/ARCH, the tree of machines of this architecture, of these
# packages and of what they depend on, and of the newest kernels of this series. No program of them runs here: packages are unpacked, and what
# their scripts would do is done by hand. The kernels' headers are in /usr/src, with the programs that build modules of this
# architecture's own package.
machine_add() {
	local arch=$1 series=$2 flavours=$3 dir=/tmp/machine tree=/usr/local/lib/machine/$1 deb options flavour
	shift 3
	rm -rf "$dir" "$tree"
	mkdir -p "$tree"
	machine_options "$arch" "$dir"
	apt-get "${options[@]}" update
	apt-get "${options[@]}" -y install --no-install-recommends --download-only "$@"
	for deb in "$dir"/archives/base-files_*.deb "$dir"/archives/*.deb; do
		dpkg-deb -x "$deb" "$tree"
	done
	for flavour in ${flavours//,/ }; do
		machine_kernel "$tree" "$dir" "$series" "$flavour"
	done
	machine_finish "$tree"
	rm -r "$dir"
}

# machine_kernel TREE DIR SERIES FLAVOUR: the part of machine_add for a kernel.
machine_kernel() {
	local tree=$1 flavour=$4 deb release version
	release=$(kernel_newest "$3" "$flavour" linux-binary "${options[@]}")
	[ -n "$release" ] || { echo "no package of kernel $3, $flavour, on this mirror" && exit 1; }
	version=${release%-"$flavour"}
	mkdir "$2/$flavour"
	(cd "$2/$flavour" && apt-get "${options[@]}" download linux-{base,binary,modules,headers}-"$release")
	for deb in "$2/$flavour"/*.deb; do
		dpkg-deb -x "$deb" "$tree"
	done
	rm -rf "/usr/src/linux-headers-$release" "$tree/usr/lib/modules/$release"/{build,source}
	mv "$tree/usr/src/linux-headers-$release" /usr/src/
	mkdir -p "$tree/boot"
	[ -e "$tree/boot/vmlinuz-$release" ] || ln -s "../usr/lib/modules/$release/vmlinuz" "$tree/boot/vmlinuz-$release"
	packages+=("linux-headers-$version-common" "linux-kbuild-$version")
}

# machine_finish TREE: does what the packages' scripts would do.
machine_finish() {
	cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
	cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
	ln -sf mawk "$1/usr/bin/awk"
	mkdir -p "$1"/{dev,mnt,proc,run,sys,tmp,root}
}

group=$1
shift
if [ "$group" = open ]; then
	open_tree
	exit
fi
if [ "$group" = own ]; then
	# Without the mirror, all names would be unknown.
	apt-get -o APT::Sandbox::User=root update --error-on=any
	missing=$(unknown "$@" | xargs)
	if [ -n "$missing" ]; then
		rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
		echo "unknown: $missing"
		exit 3
	fi
fi
if [ "$group" = own ]; then
	packages=("$@")
	series_list='' suites='' archs='' machine='' foreign=()
else
	mapfile -t packages < <(package_list "$group")
	series_list=$(kernel_series "$group")
	suites=$(kernel_suites "$group")
	archs=$(package_archs "$group")
	mapfile -t foreign < <(package_foreign "$group")
	machine=$(package_machine "$group")
fi
for suite in $suites; do
	suite_add "$suite"
done
compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null || apt-get update

for series in $series_list; do
	# 6.12 and 7.2 are in different suites of the same mirror.
	release=$(kernel_newest "$series" amd64 linux-image)
	if [ -z "$release" ]; then
		echo "no package of kernel $series on this mirror"
		exit 1
	fi
	packages+=("linux-image-$release" "linux-headers-$release")
done

if [ -n "$machine" ]; then
	mapfile -t inside < <(package_inside "$group")
	# shellcheck disable=SC2086 # words
	machine_add $machine "${inside[@]}"
fi

# Apt's own sandbox user has no rights in a user namespace's folders.
options=(-y -o APT::Status-Fd=3 -o APT::Sandbox::User=root 
	-o Dir::Cache::Archives=/cache/download -o APT::Keep-Downloaded-Packages=true)
apt-get "${options[@]}" install "${packages[@]}" || {
	# The lists may be older than the mirror.
	apt-get update && apt-get "${options[@]}" install "${packages[@]}"
}

for arch in $archs; do
	foreign_add "$arch" "${foreign[@]}"
done

# The provider builds inside rdma-core's source.
if [ "$group" = base ] && ! compgen -G '/usr/src/rdma-core_*.tar.*' >/dev/null; then
	cd /usr/src
	apt-get -o APT::Sandbox::User=root source -t trixie --tar-only \
		--download-only rdma-core
fi
# checkpatch.pl is only in the package with the kernel's whole source; the other files are removed.
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

# The next group updates the lists again, and sees Debian 13 only.
for suite in $suites; do
	rm "/etc/apt/sources.list.d/$suite.list"
done
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
open_tree
