# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The package lists, tools/lab/packages.GROUP: a package per line, "kernel SERIES", comments.

# package_list GROUP: the packages it names.
package_list() {
	sed -e 's/#.*//' -e '/^kernel /d' -e '/^[[:space:]]*$/d' "$LAB/packages.$1"
}

# kernel_series GROUP: the kernel series it names.
kernel_series() {
	sed -n -e 's/^kernel //p' "$LAB/packages.$1"
}

# The user's own packages: names, sorted, a line each, in $OHCA_CACHE/packages.

# package_names_check NAME...: a wrong one ends the program.
package_names_check() {
	local name
	for name; do
		[[ $name =~ ^[a-z0-9][a-z0-9+.-]*$ ]] || die_usage "not the name of a package: '$name'"
	done
}

# package_own: the user's own packages.
package_own() {
	[ ! -e "$OHCA_CACHE/packages" ] || package_sort <"$OHCA_CACHE/packages"
}

# package_sort: names from stdin, each once.
package_sort() {
	sed '/^$/d' | LC_ALL=C sort -u
}
