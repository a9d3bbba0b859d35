# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The port's Ethernet interface $ND.  A script sources this file after lib.sh.

if_stat() # statistic
{
	cat "/sys/class/net/$ND/statistics/$1"
}

has_counted() # statistic, least number
{
	[ "$(if_stat "$1")" -ge "$2" ]
}

queues_now()
{
	ethtool -l "$ND" | awk '/^Current/ { current = 1 } current && $1 == "Combined:" { print $2 }'
}
