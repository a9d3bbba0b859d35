# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Reports in a machine's kernel log.

KLOG_REPORT='BUG:|WARNING:|Oops|Kernel panic|general protection fault|cut here|UBSAN:|unreferenced object'
KLOG_REPORT+='|INFO: task .* blocked|INFO: rcu|rcu: INFO|ODEBUG:|refcount_t:|corruption|nobody cared'
KLOG_REPORT+='|unregister_netdevice: waiting|DMA-API: .*: device driver|soft lockup|hard LOCKUP'

# klog_own FILE: prints the log without known reports about other modules.
klog_own() {
	awk -f "${BASH_SOURCE[0]%.sh}.awk" "$1" 2>/dev/null
}

# klog_count FILE: prints how many lines of reports it contains.
klog_count() {
	klog_own "$1" | grep -acE "$KLOG_REPORT"
}

# klog_clean FILE: whether it contains no report.
klog_clean() {
	[ "$(klog_count "$1")" = 0 ]
}

# klog_check NODE FILE: fails, and prints an excerpt, if FILE contains a report.
klog_check() {
	local total
	total=$(klog_count "$2") || :
	[ "$total" != 0 ] || return 0
	note "$1: $total suspicious lines in the kernel log; from the first one:"
	klog_own "$2" | sed -nE "/$KLOG_REPORT/,\$p" | head -n 60 | tr -d '\r' | sed "s/^/$1: | /" >&2
	return 1
}
