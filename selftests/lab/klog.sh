# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Tests of reports in kernel logs, which run.sh runs.
# shellcheck disable=SC2015 # "A && B || fail" fails if either does

klog_tests=(
	"klog                   reports in a kernel log, but for known ones about other modules"
)

# klog_found LOG: what the lab says about a machine's kernel log.
klog_found() {
	bash -c 'set -euo pipefail
		. tools/lab/lib/log.sh
		. tools/lab/lib/klog.sh
		klog_clean "$1" && echo clean >&2
		klog_check node0 "$1"' sh "$1" 2>"$work/err"
}

# klog_report HEAD LINE FUNCTION: prints a report with a call trace.
klog_report() {
	printf '[    1.0] %s\r\n' "$1" "$2" 'Call Trace:' ' <TASK>' " $3+0x10/0x20" ' </TASK>' '---[ end trace 0 ]---'
}

# klog_leak FUNCTION...: prints a report of Kmemleak with these callers.
klog_leak() {
	printf '%s\r\n' 'unreferenced object 0xffff88801204db80 (size 576):' '  backtrace (crc 304a1d95):' "${@/#/    }"
}

# klog_other: prints the known reports about other modules.
klog_other() {
	klog_report '------[ cut here ]------' \
		'DMA-API: ohca 0000:01:00.0: device driver tries to sync DMA memory it has not allocated' isert_create_send_desc.isra.0
	klog_report '------[ cut here ]------' \
		'DMA-API: ohca 0000:01:00.0: mapping sg segment longer than device claims to support [len=225280] [max=65536]' dma_map_sg
	klog_report '------[ cut here ]------' \
		'DMA-API: ohca 0000:01:00.0: device driver frees DMA memory with different direction [size=48 bytes]' \
		rds_ib_conn_path_shutdown
	printf '[    1.0] %s\r\n' 'DMA-API: Mapped at:' ' debug_dma_map_phys+0x10/0x20' ' rds_dma_hdr_alloc+0x10/0x20 [rds_rdma]'
	printf '[    1.0] %s\r\n' 'traps: ib_send_bw[492] general protection fault ip:7f4a sp:7fff error:0 in librdmacm.so[a6df,7f4a+15000]'
	klog_report 'BUG: sleeping function called from invalid context at mm.h:323' ' __xas_nomem+0x1ec/0x5f0' page_pool_dma_map
	klog_report 'WARNING: possible circular locking dependency detected' 'nomem_device/146 is trying to acquire lock' \
		kmemleak_scan_area
	klog_leak radix_tree_node_alloc.constprop.0+0x4d/0x2e0 radix_tree_insert+0x17d/0x560 'uapi_add_get_elm+0x4a/0x130 [ib_uverbs]'
	klog_report '------[ cut here ]------' 'WARNING: fs/proc/generic.c:741 at remove_proc_entry+0x295/0x4e0' unregister_irq_proc
	klog_report 'BUG: KASAN: slab-use-after-free in __mutex_lock+0x211a/0x24f0' ' cma_ib_handler+0xb5/0x7f0 [rdma_cm]' \
		cm_work_handler
	klog_report 'WARNING: possible recursive locking detected' ' rdma_destroy_id+0x1a/0x30 [rdma_cm]' rds_ib_laddr_check
	klog_report 'BUG: sleeping function called from invalid context' ' unpin_user_pages_dirty_lock+0x167/0x220' \
		' rds_rdma_free_op+0x277/0x380'
	klog_report 'WARNING: possible irq lock inversion dependency detected' 'iscsi_trx/1' iscsit_handle_time2retain_timeout
	klog_report 'WARNING: possible circular locking dependency detected' 'nvmet_rdma_cm_handler+0x1/0x2 [nvmet_rdma]' \
		nvmet_port_subsys_drop_link
}

test_klog() {
	local log=$work/log line='DMA-API: ohca 0000:01:00.0: device driver tries to sync DMA memory it has not allocated'
	: >"$log"
	klog_found "$log" && [ "$(cat "$work/err")" = clean ] || fail "empty" || return
	{ echo begin && klog_other && echo end; } >"$log"
	klog_found "$log" && [ "$(cat "$work/err")" = clean ] || fail "known reports" || return
	awk -f tools/lab/lib/klog.awk "$log" >"$work/out"
	[ "$(grep -v 'end trace' "$work/out" | xargs)" = "begin end" ] || fail "what is left" || return
	{ klog_other && klog_report '------[ cut here ]------' "$line" ohca_post_send && klog_other; } >"$log"
	! klog_found "$log" && grep -q '^ohca-lab: node0: 2 suspicious lines' "$work/err" && grep -q 'node0: |.*ohca_post_send' "$work/err" &&
		! grep -q iscsit "$work/err" || fail "the same elsewhere" || return
	{ klog_leak 'ohca_probe+0x1/0x2 [ohca]' && klog_other; } >"$log"
	! klog_found "$log" && grep -q '^ohca-lab: node0: 1 suspicious lines' "$work/err" && grep -q 'node0: | unreferenced' "$work/err" ||
		fail "a leak elsewhere" || return
	klog_report 'BUG: KASAN: slab-use-after-free in __mutex_lock+0x211a/0x24f0' ' ohca_remove+0x1/0x2 [ohca]' pci_device_remove >"$log"
	! klog_found "$log" && grep -q 'node0: |.*ohca_remove' "$work/err" || fail "freed memory elsewhere" || return
	{ klog_other && echo 'BUG: KASAN: slab-use-after-free in x'; } >"$log"
	! klog_found "$log" && grep -q 'node0: | BUG: KASAN' "$work/err" || fail "without a call trace" || return
	echo 'WARNING: possible circular locking dependency detected' >"$log"
	! klog_found "$log" || fail "another lock" || return
	klog_report 'WARNING: possible recursive locking detected' ' rdma_destroy_id+0x1a/0x30 [rdma_cm]' ohca_remove >"$log"
	! klog_found "$log" || fail "a lock twice elsewhere" || return
	echo 'traps: ib_send_bw[492] general protection fault ip:7f4a sp:7fff error:0 in libohca.so[a6df,7f4a+15000]' >"$log"
	! klog_found "$log" || fail "a fault in another library"
}
