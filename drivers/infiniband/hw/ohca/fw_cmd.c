// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the commands, one typed function each; fw_port.c has those of ports.
 */

#include <linux/log2.h>

#include "ohca.h"
#include "ohca_compat.h"
#include "xlt.h"

static int ohca_cmd_create(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len, u32 *id)
{
	struct ohca_handle out;
	int err;

	err = ohca_cmd_exec(dev, opcode, in, in_len, &out, sizeof(out));
	if (!err)
		*id = le32_to_cpu(out.id);
	return err;
}

/*
 * Result of a command that ends the use of memory: a fenced device uses none, whatever the
 * command's own result.
 */
static int ohca_cmd_ended(struct ohca_dev *dev, int err)
{
	if (!ohca_fenced(dev))
		return err;
	ohca_fence_sync(dev);
	return 0;
}

/* A fenced device has no objects any more, so destroying succeeds. */
static int ohca_cmd_destroy(struct ohca_dev *dev, u16 opcode, u32 id)
{
	struct ohca_handle in = {.id = cpu_to_le32(id)};

	return ohca_cmd_ended(dev, ohca_cmd_exec(dev, opcode, &in, sizeof(in), NULL, 0));
}

/**
 * ohca_cmd_post_destroy() - let the device destroy an object, without waiting for that
 * @dev: device
 * @opcode: the command, one with a handle as its input
 * @id: the object
 * @batch: see ohca_cmd_post()
 * @later: see ohca_cmd_post()
 */
int ohca_cmd_post_destroy(struct ohca_dev *dev, u16 opcode, u32 id, struct ohca_cmd_batch *batch,
			  struct ohca_cmd_later *later)
{
	struct ohca_handle in = {.id = cpu_to_le32(id)};

	return ohca_cmd_post(dev, opcode, &in, sizeof(in), batch, later);
}

/**
 * ohca_cmd_query_device() - identity and limits
 * @dev: device
 * @attr: result
 *
 * The first command of a device: it does not rely on interrupts.
 */
int ohca_cmd_query_device(struct ohca_dev *dev, struct ohca_dev_attr *attr)
{
	struct ohca_query_device_out out;
	int err;

	err = ohca_cmd_exec_atomic(dev, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out));
	if (err)
		return err;

	attr->fw_ver = le64_to_cpu(out.fw_ver);
	attr->node_guid = out.node_guid;
	attr->max_mr_size = le64_to_cpu(out.max_mr_size);
	attr->page_size_cap = le64_to_cpu(out.page_size_cap);
	attr->reserved_lkey = le32_to_cpu(out.reserved_lkey);
	attr->max_uar = le32_to_cpu(out.max_uar);
	attr->max_pd = le32_to_cpu(out.max_pd);
	attr->max_eq = le32_to_cpu(out.max_eq);
	attr->max_cq = le32_to_cpu(out.max_cq);
	attr->max_cqe = le32_to_cpu(out.max_cqe);
	attr->max_mkey = le32_to_cpu(out.max_mkey);
	attr->max_qp = le32_to_cpu(out.max_qp);
	attr->max_qp_wr = le32_to_cpu(out.max_qp_wr);
	attr->max_msg_size = le32_to_cpu(out.max_msg_size);
	attr->max_send_sge = le16_to_cpu(out.max_send_sge);
	attr->max_recv_sge = le16_to_cpu(out.max_recv_sge);
	attr->max_inline = le16_to_cpu(out.max_inline);
	attr->max_rd_atomic = out.max_rd_atomic;
	/* More than dev->ports[] has room for is as wrong as none: never loop over them. */
	attr->num_ports = out.num_ports <= OHCA_MAX_PORTS ? out.num_ports : 0;
	attr->hw_ver = le32_to_cpu(out.hw_ver);
	attr->max_srq = le32_to_cpu(out.max_srq);
	attr->caps = le64_to_cpu(out.caps) & ~OHCA_COMPAT_NO_CAPS;
	attr->max_srq_wr = le32_to_cpu(out.max_srq_wr);
	attr->max_xrcd = le32_to_cpu(out.max_xrcd);
	attr->max_mcast = le32_to_cpu(out.max_mcast);
	attr->max_mcast_qp = le32_to_cpu(out.max_mcast_qp);
	attr->max_counters = le32_to_cpu(out.max_counters);
	attr->clock_khz = le32_to_cpu(out.clock_khz);
	attr->max_fast_reg = le32_to_cpu(out.max_fast_reg);
	attr->dm_pages = le32_to_cpu(out.dm_pages);
	attr->max_ind_tbl = le32_to_cpu(out.max_ind_tbl);
	attr->log_max_ind_tbl = min_t(u8, out.log_max_ind_tbl, ilog2(OHCA_MAX_IND_TBL));
	attr->max_tags = le32_to_cpu(out.max_tags);
	return 0;
}

/**
 * ohca_cmd_alloc_counters() - allocate a set of counters
 * @dev: device
 * @port: port of its queue pairs
 * @counters: result
 */
int ohca_cmd_alloc_counters(struct ohca_dev *dev, u8 port, u32 *counters)
{
	const struct ohca_alloc_counters_in in = {.port = port};

	return ohca_cmd_create(dev, OHCA_CMD_ALLOC_COUNTERS, &in, sizeof(in), counters);
}

/**
 * ohca_cmd_free_counters() - free a set of counters
 * @dev: device
 * @counters: the set; no queue pair is bound to it
 */
int ohca_cmd_free_counters(struct ohca_dev *dev, u32 counters)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_FREE_COUNTERS, counters);
}

/**
 * ohca_cmd_query_counters() - read a set of counters
 * @dev: device
 * @counters: the set, 0: the port's
 * @port: the port with @counters 0, else 0
 * @value: result, by enum ohca_counter
 */
int ohca_cmd_query_counters(struct ohca_dev *dev, u32 counters, u8 port,
			    u64 value[OHCA_NUM_COUNTERS])
{
	const struct ohca_query_counters_in in = {.id = cpu_to_le32(counters), .port = port};
	struct ohca_query_counters_out out = {}; /* unchanged if the device is fenced */
	int err, i;

	err = ohca_cmd_exec(dev, OHCA_CMD_QUERY_COUNTERS, &in, sizeof(in), &out, sizeof(out));
	if (err)
		return err;

	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		value[i] = le64_to_cpu(out.value[i]);
	return 0;
}

/**
 * ohca_cmd_alloc_uar() - allocate a user access region
 * @dev: device
 * @shadow: DMA address of its shadow page, 0 without OHCA_FEAT_SHADOW_DB
 * @uar: result
 */
int ohca_cmd_alloc_uar(struct ohca_dev *dev, dma_addr_t shadow, u32 *uar)
{
	struct ohca_alloc_uar_in in = {.shadow_addr = cpu_to_le64(shadow)};

	return ohca_cmd_create(dev, OHCA_CMD_ALLOC_UAR, &in, sizeof(in), uar);
}

/**
 * ohca_cmd_free_uar() - free a user access region
 * @dev: device
 * @uar: the region; no queue uses it
 */
int ohca_cmd_free_uar(struct ohca_dev *dev, u32 uar)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_FREE_UAR, uar);
}

/**
 * ohca_cmd_alloc_pd() - allocate a protection domain
 * @dev: device
 * @pdn: result
 */
int ohca_cmd_alloc_pd(struct ohca_dev *dev, u32 *pdn)
{
	return ohca_cmd_create(dev, OHCA_CMD_ALLOC_PD, NULL, 0, pdn);
}

/**
 * ohca_cmd_free_pd() - free a protection domain
 * @dev: device
 * @pdn: the protection domain
 */
int ohca_cmd_free_pd(struct ohca_dev *dev, u32 pdn)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_FREE_PD, pdn);
}

/**
 * ohca_cmd_alloc_xrcd() - allocate an XRC domain
 * @dev: device
 * @xrcdn: result
 */
int ohca_cmd_alloc_xrcd(struct ohca_dev *dev, u32 *xrcdn)
{
	return ohca_cmd_create(dev, OHCA_CMD_ALLOC_XRCD, NULL, 0, xrcdn);
}

/**
 * ohca_cmd_free_xrcd() - free an XRC domain
 * @dev: device
 * @xrcdn: the XRC domain
 */
int ohca_cmd_free_xrcd(struct ohca_dev *dev, u32 xrcdn)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_FREE_XRCD, xrcdn);
}

/**
 * ohca_cmd_create_eq() - create an event queue
 * @dev: device
 * @params: the queue
 * @eqn: result
 */
int ohca_cmd_create_eq(struct ohca_dev *dev, const struct ohca_eq_params *params, u32 *eqn)
{
	struct ohca_create_eq_in in = {
		.buf = params->buf->wire,
		.rec_offset = cpu_to_le32(params->rec_offset),
		.vector = cpu_to_le16(params->vector),
		.log_size = params->log_size,
		.flags = params->flags,
	};

	return ohca_cmd_create(dev, OHCA_CMD_CREATE_EQ, &in, sizeof(in), eqn);
}

/**
 * ohca_cmd_destroy_eq() - destroy an event queue
 * @dev: device
 * @eqn: the queue
 */
int ohca_cmd_destroy_eq(struct ohca_dev *dev, u32 eqn)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_EQ, eqn);
}

/**
 * ohca_cmd_create_cq() - create a completion queue
 * @dev: device
 * @params: the queue
 * @cqn: result
 */
int ohca_cmd_create_cq(struct ohca_dev *dev, const struct ohca_cq_params *params, u32 *cqn)
{
	struct ohca_create_cq_in in = {
		.buf = params->buf->wire,
		.rec_offset = cpu_to_le32(params->rec_offset),
		.eqn = cpu_to_le32(params->eqn),
		.log_size = params->log_size,
		.flags = params->flags,
	};

	return ohca_cmd_create(dev, OHCA_CMD_CREATE_CQ, &in, sizeof(in), cqn);
}

/**
 * ohca_cmd_destroy_cq() - destroy a completion queue
 * @dev: device
 * @cqn: the queue; no queue pair uses it
 */
int ohca_cmd_destroy_cq(struct ohca_dev *dev, u32 cqn)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_CQ, cqn);
}

/**
 * ohca_cmd_modify_cq() - moderate the events of a completion queue
 * @dev: device
 * @cqn: the queue
 * @count: completions for one event; 0 and 1: each has its own
 * @period: us after which the event comes for fewer completions; 0: never
 */
int ohca_cmd_modify_cq(struct ohca_dev *dev, u32 cqn, u16 count, u16 period)
{
	struct ohca_modify_cq_in in = {
		.cqn = cpu_to_le32(cqn),
		.count = cpu_to_le16(count),
		.period = cpu_to_le16(period),
	};

	return ohca_cmd_exec(dev, OHCA_CMD_MODIFY_CQ, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_resize_cq() - replace the buffer of a completion queue
 * @dev: device
 * @cqn: the queue; no completions are taken meanwhile
 * @params: the new buffer, whose record has the values of the old one, and its size; eqn and flags
 *	are ignored
 *
 * On success the device does not use the old buffer any more; on failure it continues to use it.
 */
int ohca_cmd_resize_cq(struct ohca_dev *dev, u32 cqn, const struct ohca_cq_params *params)
{
	struct ohca_resize_cq_in in = {
		.buf = params->buf->wire,
		.rec_offset = cpu_to_le32(params->rec_offset),
		.cqn = cpu_to_le32(cqn),
		.log_size = params->log_size,
	};

	return ohca_cmd_exec(dev, OHCA_CMD_RESIZE_CQ, &in, sizeof(in), NULL, 0);
}

static struct ohca_create_mkey_in ohca_mkey_wire(const struct ohca_mkey_params *params)
{
	struct ohca_create_mkey_in in = {
		.iova = cpu_to_le64(params->iova),
		.length = cpu_to_le64(params->length),
		.pdn = cpu_to_le32(params->pdn),
		.access = params->access,
		.type = params->type,
		.max_pages = cpu_to_le32(params->max_pages),
	};

	if (params->xlt)
		in.xlt = params->xlt->wire;
	if (params->type == OHCA_MKEY_DM) {
		in.dm = cpu_to_le32(params->dm);
		in.xlt.addr = cpu_to_le64(params->dm_offset);
	}
	return in;
}

/**
 * ohca_cmd_create_mkey() - create a memory region or window
 * @dev: device
 * @params: the region or window
 * @key: result, lkey and rkey
 */
int ohca_cmd_create_mkey(struct ohca_dev *dev, const struct ohca_mkey_params *params, u32 *key)
{
	struct ohca_create_mkey_in in = ohca_mkey_wire(params);

	return ohca_cmd_create(dev, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), key);
}

/**
 * ohca_cmd_modify_mkey() - change a registered memory region; its key stays
 * @dev: device
 * @key: its key
 * @attr_mask: OHCA_MKEY_ATTR_*, which of @params to use
 * @params: values; those that are not used are zero
 */
int ohca_cmd_modify_mkey(struct ohca_dev *dev, u32 key, u32 attr_mask,
			 const struct ohca_mkey_params *params)
{
	struct ohca_modify_mkey_in in = {
		.key = cpu_to_le32(key),
		.attr_mask = cpu_to_le32(attr_mask),
		.attr = ohca_mkey_wire(params),
	};

	return ohca_cmd_exec(dev, OHCA_CMD_MODIFY_MKEY, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_modify_pages() - change pages of a region of type OHCA_MKEY_ODP
 * @dev: device
 * @key: its key
 * @op: enum ohca_pages_op
 * @first: first page
 * @num: number of pages
 * @in: memory for the command, which is large; with OHCA_PAGES_MAP its page[] has the pages
 *
 * Neither allocates memory nor waits for anything that does: it may be called when memory is
 * reclaimed.  Unmapping pages of a fenced device succeeds.
 */
int ohca_cmd_modify_pages(struct ohca_dev *dev, u32 key, enum ohca_pages_op op, u64 first, u64 num,
			  struct ohca_modify_pages_in *in)
{
	size_t len = offsetof(struct ohca_modify_pages_in, page);
	int err;

	if (op == OHCA_PAGES_MAP)
		len += num * sizeof(*in->page);

	in->key = cpu_to_le32(key);
	in->op = op;
	in->first = cpu_to_le64(first);
	in->num = cpu_to_le64(num);
	err = ohca_cmd_exec(dev, OHCA_CMD_MODIFY_PAGES, in, len, NULL, 0);
	return op == OHCA_PAGES_UNMAP ? ohca_cmd_ended(dev, err) : err;
}

/**
 * ohca_cmd_destroy_mkey() - destroy a memory region or window
 * @dev: device
 * @key: its key, as it was created; the low bits may have changed since
 */
int ohca_cmd_destroy_mkey(struct ohca_dev *dev, u32 key)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_MKEY, key);
}

/**
 * ohca_cmd_alloc_dm() - allocate device memory
 * @dev: device
 * @length: bytes
 * @log_align: log2 of the alignment of its offset
 * @id: result, number of the memory
 * @offset: result, its offset in OHCA_BAR_UAR
 */
int ohca_cmd_alloc_dm(struct ohca_dev *dev, u64 length, u8 log_align, u32 *id, u64 *offset)
{
	struct ohca_alloc_dm_in in = {
		.length = cpu_to_le64(length),
		.log_align = log_align,
	};
	struct ohca_alloc_dm_out out;
	int err;

	err = ohca_cmd_exec(dev, OHCA_CMD_ALLOC_DM, &in, sizeof(in), &out, sizeof(out));
	if (err)
		return err;

	*id = le32_to_cpu(out.id);
	*offset = le64_to_cpu(out.offset);
	return 0;
}

/**
 * ohca_cmd_free_dm() - free device memory
 * @dev: device
 * @id: the memory; there is no region in it
 */
int ohca_cmd_free_dm(struct ohca_dev *dev, u32 id)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_FREE_DM, id);
}

/**
 * ohca_cmd_create_qp() - create a queue pair in RESET
 * @dev: device
 * @params: the queue pair
 * @qpn: result
 */
int ohca_cmd_create_qp(struct ohca_dev *dev, const struct ohca_qp_params *params, u32 *qpn)
{
	struct ohca_create_qp_in in = {
		.sq_offset = cpu_to_le32(params->sq_offset),
		.rq_offset = cpu_to_le32(params->rq_offset),
		.sq_rec_offset = cpu_to_le32(params->sq_rec_offset),
		.rq_rec_offset = cpu_to_le32(params->rq_rec_offset),
		.pdn = cpu_to_le32(params->pdn),
		.uar = cpu_to_le32(params->uar),
		.send_cqn = cpu_to_le32(params->send_cqn),
		.recv_cqn = cpu_to_le32(params->recv_cqn),
		.slot = cpu_to_le16(params->slot),
		.max_send_sge = cpu_to_le16(params->max_send_sge),
		.max_recv_sge = cpu_to_le16(params->max_recv_sge),
		.max_inline = cpu_to_le16(params->max_inline),
		.type = params->type,
		.flags = params->flags,
		.sq_log_size = params->sq_log_size,
		.sq_log_stride = params->sq_log_stride,
		.rq_log_size = params->rq_log_size,
		.rq_log_stride = params->rq_log_stride,
		.port = params->port,
		.srqn = cpu_to_le32(params->srqn),
		.xrcdn = cpu_to_le32(params->xrcdn),
	};

	if (params->buf)
		in.buf = params->buf->wire;
	return ohca_cmd_create(dev, OHCA_CMD_CREATE_QP, &in, sizeof(in), qpn);
}

/**
 * ohca_cmd_modify_qp() - change attributes and state of a queue pair
 * @dev: device
 * @qpn: the queue pair
 * @attr_mask: OHCA_QP_*, which of @attr to use
 * @attr: values
 */
int ohca_cmd_modify_qp(struct ohca_dev *dev, u32 qpn, u32 attr_mask,
		       const struct ohca_qp_attr *attr)
{
	struct ohca_modify_qp_in in = {
		.qpn = cpu_to_le32(qpn),
		.attr_mask = cpu_to_le32(attr_mask),
		.attr = *attr,
	};

	return ohca_cmd_exec(dev, OHCA_CMD_MODIFY_QP, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_query_qp() - attributes and state of a queue pair
 * @dev: device
 * @qpn: the queue pair
 * @attr: result
 */
int ohca_cmd_query_qp(struct ohca_dev *dev, u32 qpn, struct ohca_qp_attr *attr)
{
	struct ohca_handle in = {.id = cpu_to_le32(qpn)};

	static_assert(sizeof(struct ohca_query_qp_out) == sizeof(*attr));
	return ohca_cmd_exec(dev, OHCA_CMD_QUERY_QP, &in, sizeof(in), attr, sizeof(*attr));
}

/**
 * ohca_cmd_destroy_qp() - destroy a queue pair
 * @dev: device
 * @qpn: the queue pair; none of its completions is written after this
 */
int ohca_cmd_destroy_qp(struct ohca_dev *dev, u32 qpn)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_QP, qpn);
}

static int ohca_cmd_mcast(struct ohca_dev *dev, u16 opcode, u32 qpn, const u8 *gid, u16 mlid)
{
	struct ohca_mcast_in in = {
		.qpn = cpu_to_le32(qpn),
		.mlid = cpu_to_le16(mlid),
	};

	memcpy(in.gid, gid, sizeof(in.gid));
	return ohca_cmd_exec(dev, opcode, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_attach_mcast() - attach a queue pair to a multicast group
 * @dev: device
 * @qpn: the queue pair
 * @gid: the group
 * @mlid: LID of the group; 0 on an Ethernet port
 */
int ohca_cmd_attach_mcast(struct ohca_dev *dev, u32 qpn, const u8 *gid, u16 mlid)
{
	return ohca_cmd_mcast(dev, OHCA_CMD_ATTACH_MCAST, qpn, gid, mlid);
}

/**
 * ohca_cmd_detach_mcast() - undo ohca_cmd_attach_mcast()
 * @dev: device
 * @qpn: the queue pair
 * @gid: the group
 * @mlid: as it was attached
 */
int ohca_cmd_detach_mcast(struct ohca_dev *dev, u32 qpn, const u8 *gid, u16 mlid)
{
	int err = ohca_cmd_mcast(dev, OHCA_CMD_DETACH_MCAST, qpn, gid, mlid);

	return ohca_fenced(dev) ? 0 : err;
}

/**
 * ohca_cmd_create_srq() - create a shared receive queue
 * @dev: device
 * @params: the queue
 * @srqn: result
 */
int ohca_cmd_create_srq(struct ohca_dev *dev, const struct ohca_srq_params *params, u32 *srqn)
{
	struct ohca_create_srq_in in = {
		.buf = params->buf->wire,
		.ring_offset = cpu_to_le32(params->ring_offset),
		.rec_offset = cpu_to_le32(params->rec_offset),
		.pdn = cpu_to_le32(params->pdn),
		.cqn = cpu_to_le32(params->cqn),
		.xrcdn = cpu_to_le32(params->xrcdn),
		.max_sge = cpu_to_le16(params->max_sge),
		.type = params->type,
		.log_size = params->log_size,
		.log_stride = params->log_stride,
		.flags = params->flags,
		.max_tags = cpu_to_le16(params->max_tags),
	};

	return ohca_cmd_create(dev, OHCA_CMD_CREATE_SRQ, &in, sizeof(in), srqn);
}

/**
 * ohca_cmd_modify_srq() - change limit or memory of a shared receive queue
 * @dev: device
 * @srqn: the queue
 * @mod: what to change
 */
int ohca_cmd_modify_srq(struct ohca_dev *dev, u32 srqn, const struct ohca_srq_mod *mod)
{
	struct ohca_modify_srq_in in = {
		.srqn = cpu_to_le32(srqn),
		.attr_mask = cpu_to_le32(mod->attr_mask),
		.limit = cpu_to_le32(mod->limit),
		.ring_offset = cpu_to_le32(mod->ring_offset),
		.rec_offset = cpu_to_le32(mod->rec_offset),
		.log_size = mod->log_size,
	};

	if (mod->buf)
		in.buf = mod->buf->wire;
	return ohca_cmd_exec(dev, OHCA_CMD_MODIFY_SRQ, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_dump_mkey() - query a memory region or window, in the device's format
 * @dev: device
 * @key: its key
 * @out: result
 */
int ohca_cmd_dump_mkey(struct ohca_dev *dev, u32 key, struct ohca_query_mkey_out *out)
{
	struct ohca_handle in = {.id = cpu_to_le32(key)};

	return ohca_cmd_exec(dev, OHCA_CMD_QUERY_MKEY, &in, sizeof(in), out, sizeof(*out));
}

/**
 * ohca_cmd_dump_srq() - query the state of a shared receive queue, in the device's format
 * @dev: device
 * @srqn: the queue
 * @out: result
 */
int ohca_cmd_dump_srq(struct ohca_dev *dev, u32 srqn, struct ohca_query_srq_out *out)
{
	struct ohca_handle in = {.id = cpu_to_le32(srqn)};

	return ohca_cmd_exec(dev, OHCA_CMD_QUERY_SRQ, &in, sizeof(in), out, sizeof(*out));
}

/**
 * ohca_cmd_query_srq() - state of a shared receive queue
 * @dev: device
 * @srqn: the queue
 * @state: result
 */
int ohca_cmd_query_srq(struct ohca_dev *dev, u32 srqn, struct ohca_srq_state *state)
{
	struct ohca_query_srq_out out;
	int err;

	err = ohca_cmd_dump_srq(dev, srqn, &out);
	if (err)
		return err;

	state->limit = le32_to_cpu(out.limit);
	state->taken = le32_to_cpu(out.taken);
	return 0;
}

/**
 * ohca_cmd_destroy_srq() - destroy a shared receive queue
 * @dev: device
 * @srqn: the queue; no queue pair uses it
 */
int ohca_cmd_destroy_srq(struct ohca_dev *dev, u32 srqn)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_SRQ, srqn);
}

/**
 * ohca_cmd_create_flow() - create a flow
 * @dev: device
 * @in: the flow, in the device's format
 * @id: result
 */
int ohca_cmd_create_flow(struct ohca_dev *dev, const struct ohca_create_flow_in *in, u32 *id)
{
	return ohca_cmd_create(dev, OHCA_CMD_CREATE_FLOW, in, sizeof(*in), id);
}

/**
 * ohca_cmd_destroy_flow() - destroy a flow
 * @dev: device
 * @id: the flow
 */
int ohca_cmd_destroy_flow(struct ohca_dev *dev, u32 id)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_FLOW, id);
}

/**
 * ohca_cmd_create_ind_tbl() - create an indirection table
 * @dev: device
 * @in: the table, in the device's format
 * @id: result
 */
int ohca_cmd_create_ind_tbl(struct ohca_dev *dev, const struct ohca_create_ind_tbl_in *in, u32 *id)
{
	return ohca_cmd_create(dev, OHCA_CMD_CREATE_IND_TBL, in, sizeof(*in), id);
}

/**
 * ohca_cmd_destroy_ind_tbl() - destroy an indirection table
 * @dev: device
 * @id: the table; no QP uses it
 */
int ohca_cmd_destroy_ind_tbl(struct ohca_dev *dev, u32 id)
{
	return ohca_cmd_destroy(dev, OHCA_CMD_DESTROY_IND_TBL, id);
}

/**
 * ohca_cmd_create_rss() - create a QP that spreads frames over an indirection table
 * @dev: device
 * @in: table and hash, in the device's format
 * @qpn: result
 */
int ohca_cmd_create_rss(struct ohca_dev *dev, const struct ohca_create_rss_in *in, u32 *qpn)
{
	return ohca_cmd_create(dev, OHCA_CMD_CREATE_RSS, in, sizeof(*in), qpn);
}
