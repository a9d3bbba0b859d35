# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The package lists, tools/lab/packages.GROUP: a package per line, "kernel SERIES [SUITE]", "foreign PACKAGE" for each
# "arch ARCH", comments. SUITE is that of an older Debian. "machine ARCH SERIES FLAVOUR,..." is for machines of another architecture: their
# tree, with these kernels, is made of each "inside PACKAGE".

# package_list GROUP: prints the packages of a group.
package_list() {
	sed -E -e 's/#.*//' -e '/^(kernel|arch|foreign|machine|inside) /d' -e '/^[[:space:]]*$/d' "$LAB/packages.$1"
}

# package_archs GROUP: prints the architectures of its packages of other architectures.
package_archs() {
	sed -n 's/^arch //p' "$LAB/packages.$1"
}

# package_foreign GROUP: prints its packages of other architectures.
package_foreign() {
	sed -n 's/^foreign //p' "$LAB/packages.$1"
}

# package_machine GROUP: prints the architecture of its machines, and the series and flavours of their kernels, if it has any.
package_machine() {
	sed -n 's/^machine //p' "$LAB/packages.$1"
}

# package_inside GROUP: prints the packages of these machines.
package_inside() {
	sed -n 's/^inside //p' "$LAB/packages.$1"
}

# kernel_series GROUP: prints the kernel series of a group.
kernel_series() {
	sed -n -e 's/^kernel \([^ ]*\).*/\1/p' "$LAB/packages.$1"
}

# kernel_suites GROUP: prints the older Debian's suites of a group, which have kernels that Debian 13 does not have.
kernel_suites() {
	sed -n -e 's/^kernel [^ ]* \(.*\)/\1/p' "$LAB/packages.$1" | sort -u
}

# kernel_releases SERIES FLAVOUR PACKAGE [OPTION...]: prints the releases of the series of which apt has PACKAGE-RELEASE.
kernel_releases() {
	local series=$1 flavour=$2 package=$3
	shift 3
	apt-cache "$@" pkgnames "$package-$series." |
		sed -n "s/^$package-\($series\.[0-9.]*\(+deb[0-9]*\|-[0-9]*\)-$flavour\)\$/\1/p" | LC_ALL=C sort
}

# kernel_newest SERIES FLAVOUR PACKAGE [OPTION...]: prints the newest release of the series of which apt has PACKAGE-RELEASE, the kernel,
# and the headers for building modules. Headers come to a mirror before the kernel, which is signed in between.
kernel_newest() {
	local series=$1 flavour=$2 package=$3
	shift 3
	LC_ALL=C comm -12 <(kernel_releases "$series" "$flavour" linux-headers "$@") \
		<(kernel_releases "$series" "$flavour" "$package" "$@") | sort -V | tail -n 1
}

# kernel_further VERSION: whether it is of a series that the group "kernels" has.
kernel_further() {
	kernel_of_series "$1" "$(kernel_series kernels)"
}

# kernel_of_series VERSION LIST: whether it is of a series of the list.
kernel_of_series() {
	local series
	for series in $2; do
		[[ $1. != "$series".* ]] || return 0
	done
	return 1
}

# kernel_group VERSION: prints the group of packages that a kernel is in, if not every root has it.
kernel_group() {
	case $1 in
	arm64 | arm64-16k | arm64-64k) echo arm64 ;;
	*) ! kernel_further "$1" || echo kernels ;;
	esac
}

# The user's own packages: sorted names, one on each line, in $OHCA_CACHE/packages.

# package_names_check NAME...: ends the program if a name is invalid; its message begins with $package_option.
package_names_check() {
	local name
	for name; do
		[[ $name =~ ^[a-z0-9][a-z0-9+.-]*$ ]] || die_usage "${package_option-}not the name of a package: '$name'"
	done
}

# package_own: prints the user's own packages.
package_own() {
	[ ! -e "$OHCA_CACHE/packages" ] || package_sort <"$OHCA_CACHE/packages"
}

# package_sort: prints the names from stdin, each once.
package_sort() {
	sed '/^$/d' | LC_ALL=C sort -u
}
