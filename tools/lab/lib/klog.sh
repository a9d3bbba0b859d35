# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Reports in a machine's kernel log.

KLOG_REPORT='BUG:|WARNING:|Oops|Kernel panic|general protection fault|cut here|UBSAN:|unreferenced object'
KLOG_REPORT+='|INFO: task .* blocked|INFO: rcu|rcu: INFO|ODEBUG:|refcount_t:|corruption|nobody cared'
KLOG_REPORT+='|unregister_netdevice: waiting|DMA-API: .*: device driver|soft lockup|hard LOCKUP'

# klog_clean FILE: whether it contains no report.
klog_clean() {
	! grep -aqE "$KLOG_REPORT" "$1" 2>/dev/null
}

# klog_check NODE FILE: fails, and prints an excerpt, if FILE contains a report.
klog_check() {
	local line total
	klog_clean "$2" && return
	line=$(grep -anm 1 -E "$KLOG_REPORT" "$2" | cut -d : -f 1)
	total=$(grep -acE "$KLOG_REPORT" "$2")
	note "$1: $total suspicious lines in the kernel log; from the first one:"
	tail -n "+$line" "$2" | head -n 60 | tr -d '\r' | sed "s/^/$1: | /" >&2
	return 1
}
