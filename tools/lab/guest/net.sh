# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The machines' addresses on the data network; those of further adapters, by NUMBER, are on
# networks of their own: 10.78, 10.79 and so on. $OHCA_FIRST is the number that the first machine's addresses have (--first).

# ip_of RANK [NUMBER]
ip_of() {
	local number=$(($1 + 10#${OHCA_FIRST:-0} + 1))
	echo "10.$((77 + ${2:-0})).$((number / 256)).$((number % 256))"
}

# ip6_of RANK [NUMBER]
ip6_of() {
	printf 'fd%d::%x' $((77 + ${2:-0})) $(($1 + 10#${OHCA_FIRST:-0} + 1))
}
