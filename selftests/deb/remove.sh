#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# remove.sh: removes the packages. Nothing of them is left. Runs inside the tree of install.sh.

# shellcheck source=selftests/deb/lib.sh
. "$(dirname "$0")/lib.sh"

remove_all() {
	local names
	names=$(for file in /share/*.deb; do dpkg-deb -f "$file" Package; done)
	# shellcheck disable=SC2086 # a list
	apt-get -y purge $names >/tmp/log 2>&1 || { cat /tmp/log && return 1; }
}

nothing_is_left() {
	files | sort >/tmp/after
	sort /.test | diff - /tmp/after
}

rm -f /root/machine.sh /root/lib.sh
check "the packages are removed" remove_all
check "nothing of them is left" nothing_is_left
