# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The machines' addresses on the data network.

# ip_of RANK
ip_of() {
	echo "10.77.$((($1 + 1) / 256)).$((($1 + 1) % 256))"
}

# ip6_of RANK
ip6_of() {
	printf 'fd77::%x' $(($1 + 1))
}
