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
