# SPDX-License-Identifier: GPL-2.0
# klog.awk: prints a kernel log without the reports that are known to be about other modules of the kernel, or other programs,
# than OHCA's. A report that has begun ends with its call trace; one of Kmemleak ends before the next line that is not indented.

function known()
{
	# isert_create_send_desc() syncs a descriptor for the processor before it is mapped for the first time.
	if (report ~ /DMA memory it has not allocated/ && report ~ /isert_create_send_desc/)
		return 1
	# scsi_init_limits() sets the limit of segments of the SCSI host's DMA device to 64 KiB: that of iSER is the adapter,
	# where it replaces the driver's limit, which is larger, for all who use it.
	if (report ~ /mapping sg segment longer than device claims to support \[len=[0-9]+\] \[max=65536\]/)
		return 1
	# nvmet_port_subsys_drop_link() holds nvmet_config_sem while the port's rdma_cm ID is destroyed, which waits for the handler of a
	# connection, where nvmet_find_get_subsys() takes that semaphore.
	if (report ~ /possible circular locking/ && report ~ /nvmet_port_subsys_drop_link/ && report ~ /nvmet_rdma_cm_handler/)
		return 1
	# RDS maps the header of a message for both directions, and unmaps it for one (rds_dma_hdr_alloc, rds_dma_hdr_free).
	if (report ~ /frees DMA memory with different direction/ && report ~ /rds_ib_conn_path_shutdown/)
		return 1
	# RDS may free the last reference to a message in a tasklet. If the message was of RDMA, that unpins pages, which may sleep.
	if (report ~ /sleeping function called/ && report ~ /unpin_user_pages_dirty_lock/ && report ~ /rds_rdma_free_op/)
		return 1
	# A page pool locks its array of pages with softirqs off, which the array does not know when it unlocks for GFP_KERNEL.
	if (report ~ /sleeping function called/ && report ~ /page_pool_dma_map/ && report ~ /__xas_nomem/)
		return 1
	# Kmemleak writes to the log with a lock held when it can't allocate memory.
	if (report ~ /possible circular locking/ && report ~ /kmemleak_scan_area/)
		return 1
	# uverbs_destroy_api() frees the root of a radix tree alone. Nodes are left in it if a key could not be inserted.
	if (report ~ /^unreferenced object/ && report ~ /radix_tree_node_alloc/ && report ~ /uapi_add_get_elm/)
		return 1
	# Files of an interrupt in /proc are removed whether or not there was memory to create them.
	if (report ~ /remove_proc_entry/ && report ~ /unregister_irq_proc/)
		return 1
	# cm_process_send_error() begins the time-wait state of a connection whose DREQ was not answered, and calls the handler, where
	# rdma_cm may free its ID. If that takes longer than the time-wait state, the handler is called for its end, too.
	if (report ~ /KASAN: slab-use-after-free in __mutex_lock/ && report ~ /cma_ib_handler/ && report ~ /cm_work_handler/)
		return 1
	# In the handler of a connection's rdma_cm ID, RDS makes another one to find out whether the peer's address is local, and destroys
	# it. Lockdep takes the mutexes of the two for one.
	if (report ~ /possible recursive locking/ && report ~ /rdma_destroy_id/ && report ~ /rds_ib_laddr_check/)
		return 1
	# iscsit_start_time2retain_handler() takes tpg_state_lock with softirqs on, and in a timer.
	return report ~ /possible irq lock inversion/ && report ~ /iscsit_handle_time2retain_timeout/
}

function end()
{
	left_out = known()
	if (!left_out)
		printf "%s", report
	report = ""
	inside = leak = 0
}

leak && !/^  / {
	end()
}

/^unreferenced object / {
	end()
	inside = leak = 1
}

/cut here|WARNING: possible |BUG: / {
	end()
	inside = 1
}

# Behind a report of the DMA API that was left out: who had mapped the memory
left_out && /DMA-API: Mapped at:/ {
	left_out = 0
	mapped = 1
	next
}

mapped && /\] +[[:alnum:]_.]+\+0x[[:xdigit:]]+\/0x/ {
	next
}

{
	mapped = 0
}

# A client of perftest that was rejected by rdma_cm crashes when it cleans up.
/traps: ib_[a-z]+_(bw|lat)\[[0-9]+\] general protection fault .* in librdmacm/ {
	next
}

!inside {
	print
}

inside {
	report = report $0 "\n"
	if (/<\/TASK>|end trace/)
		end()
}

END {
	end()
}
