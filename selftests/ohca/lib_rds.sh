# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# RDS over RDMA between two machines. A script sources this file after lib.sh.

rds_need()
{
	modinfo rds_rdma > /dev/null 2>&1 || skip_all "no RDS over RDMA"
}

# Both sides of a lost RDS connection connect again. If they do so at the same time, both reject, and try again after a
# random time of at most a second. On the debug kernel an attempt takes several seconds, so this can go on for minutes.
# The second machine waits for longer, up to 30 seconds.
rds_load()
{
	modprobe -a rds rds_rdma || return 1
	[ "$RANK" -eq 0 ] || sysctl -q net.rds.reconnect_max_delay_ms=30000 net.rds.reconnect_min_delay_ms=30000
}
