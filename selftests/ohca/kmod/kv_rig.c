// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: the rig, two connected queue pairs.
 */

#include <linux/delay.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "kv.h"

void kv_fill(u8 *buf, size_t len, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = i * 7 + (i >> 8) + seed;
}

bool kv_same(const u8 *buf, size_t len, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != (u8)(i * 7 + (i >> 8) + seed))
			return false;
	return true;
}

/* Work requests */

static void kv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_wr *wr = container_of(wc->wr_cqe, struct kv_wr, cqe);

	wr->wc = *wc;
	complete(&wr->done);
}

void kv_wr_init(struct kv_wr *wr)
{
	wr->cqe.done = kv_done;
	init_completion(&wr->done);
}

bool kv_wait(struct kv_rig *rig, struct kv_wr *wr, enum ib_wc_status status)
{
	unsigned long deadline = jiffies + KV_TIMEOUT;

	if (rig->poll == IB_POLL_DIRECT) {
		while (!completion_done(&wr->done) && time_before(jiffies, deadline)) {
			ib_process_cq_direct(rig->cq, 16);
			cond_resched();
		}
	}
	if (!wait_for_completion_timeout(&wr->done, KV_TIMEOUT)) {
		kv_say("# no completion\n");
		return false;
	}
	if (wr->wc.status != status) {
		kv_say("# status %s, expected %s\n", ib_wc_status_msg(wr->wc.status),
		       ib_wc_status_msg(status));
		return false;
	}
	return true;
}

struct ib_sge kv_sge(struct kv_rig *rig, int side, size_t off, size_t len)
{
	return (struct ib_sge){
		.addr = rig->end[side].dma + off,
		.length = len,
		.lkey = rig->pd->local_dma_lkey,
	};
}

int kv_recv(struct kv_rig *rig, struct kv_wr *wr, size_t off, size_t len)
{
	struct ib_sge sge = kv_sge(rig, 1, off, len);
	struct ib_recv_wr recv = {.wr_cqe = &wr->cqe, .sg_list = &sge, .num_sge = 1};

	kv_wr_init(wr);
	if (rig->srq)
		return ib_post_srq_recv(rig->srq, &recv, NULL);
	return ib_post_recv(rig->end[1].qp, &recv, NULL);
}

int kv_post(struct kv_rig *rig, int side, struct kv_wr *wr, struct ib_send_wr *send)
{
	kv_wr_init(wr);
	send->wr_cqe = &wr->cqe;
	send->send_flags |= IB_SEND_SIGNALED;
	return ib_post_send(rig->end[side].qp, send, NULL);
}

int kv_send(struct kv_rig *rig, struct kv_wr *wr, enum ib_wr_opcode op, int flags,
	    struct ib_sge *sge, int num, size_t roff)
{
	struct ib_rdma_wr send = {
		.wr.sg_list = sge,
		.wr.num_sge = num,
		.wr.opcode = op,
		.wr.send_flags = flags,
		.wr.ex.imm_data = cpu_to_be32(0x11223344),
		.remote_addr = rig->end[1].dma + roff,
		.rkey = rig->pd->unsafe_global_rkey,
	};

	return kv_post(rig, 0, wr, &send.wr);
}

int kv_rdma(struct kv_rig *rig, struct kv_wr *wr, enum ib_wr_opcode op, struct ib_sge *sge, int num,
	    u64 raddr, u32 rkey)
{
	struct ib_rdma_wr send = {
		.wr.sg_list = sge,
		.wr.num_sge = num,
		.wr.opcode = op,
		.remote_addr = raddr,
		.rkey = rkey,
	};

	return kv_post(rig, 0, wr, &send.wr);
}

/* The rig */

static void kv_check_context(struct kv_rig *rig)
{
	if (in_interrupt() || irqs_disabled())
		rig->atomic = true;
}

static void kv_qp_event(struct ib_event *event, void *context)
{
	struct kv_rig *rig = context;

	kv_check_context(rig);
	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED && event->element.qp == rig->end[1].qp)
		complete(&rig->last_wqe);
	if (event->event == IB_EVENT_PATH_MIG)
		complete(&rig->migrated[event->element.qp == rig->end[1].qp]);
}

static void kv_srq_event(struct ib_event *event, void *context)
{
	struct kv_rig *rig = context;

	kv_check_context(rig);
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED && event->element.srq == rig->srq)
		complete(&rig->srq_limit);
}

static int kv_srq_create(struct kv_rig *rig)
{
	struct ib_srq_init_attr init = {
		.event_handler = kv_srq_event,
		.srq_context = rig,
		.attr.max_wr = KV_DEPTH,
		.attr.max_sge = 2,
	};

	rig->srq = ib_create_srq(rig->pd, &init);
	return PTR_ERR_OR_ZERO(rig->srq);
}

static int kv_qp_create(struct kv_rig *rig, struct kv_end *end)
{
	struct ib_qp_init_attr init = {
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.cap.max_send_wr = KV_DEPTH + 1,
		.cap.max_recv_wr = KV_DEPTH + 1,
		.cap.max_send_sge = 4,
		.cap.max_recv_sge = 4,
		.cap.max_inline_data = KV_INLINE,
		.cap.max_rdma_ctxs = rig->rw_ctxs,
		.port_num = KV_PORT,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = rig->type,
		.event_handler = kv_qp_event,
		.qp_context = rig,
	};
	int err;

	if (end == &rig->end[1])
		init.srq = rig->srq;

	end->buf = kzalloc(KV_BUF, GFP_KERNEL);
	if (!end->buf)
		return -ENOMEM;
	end->dma = ib_dma_map_single(rig->dev, end->buf, KV_BUF, DMA_BIDIRECTIONAL);
	err = ib_dma_mapping_error(rig->dev, end->dma);
	if (err)
		goto err_buf;
	end->qp = ib_create_qp(rig->pd, &init);
	if (IS_ERR(end->qp)) {
		err = PTR_ERR(end->qp);
		goto err_dma;
	}
	return 0;

err_dma:
	ib_dma_unmap_single(rig->dev, end->dma, KV_BUF, DMA_BIDIRECTIONAL);
err_buf:
	kfree(end->buf);
	end->qp = NULL;
	end->buf = NULL;
	return err;
}

static void kv_qp_destroy(struct kv_rig *rig, struct kv_end *end)
{
	if (!end->qp)
		return;
	ib_destroy_qp(end->qp);
	ib_dma_unmap_single(rig->dev, end->dma, KV_BUF, DMA_BIDIRECTIONAL);
	kfree(end->buf);
}

/* A RoCEv2 entry of the GID table, with its MAC address. */
static int kv_find_gid(struct ib_device *dev, union ib_gid *gid, u8 *mac)
{
	int i;

	for (i = 0; i < 256; i++) {
		const struct ib_gid_attr *attr = rdma_get_gid_attr(dev, KV_PORT, i);
		int err;

		if (IS_ERR(attr))
			continue;
		err = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP ? 0 : -ENOENT;
		if (!err)
			err = rdma_read_gid_l2_fields(attr, NULL, mac);
		*gid = attr->gid;
		rdma_put_gid_attr(attr);
		if (!err)
			return i;
	}
	return -ENOENT;
}

static int kv_address_ib(struct kv_rig *rig, struct rdma_ah_attr *ah)
{
	struct ib_port_attr port;
	union ib_gid gid;
	int err;

	err = ib_query_port(rig->dev, KV_PORT, &port);
	if (!err)
		err = rdma_query_gid(rig->dev, KV_PORT, 0, &gid);
	if (err)
		return err;
	rdma_ah_set_dlid(ah, port.lid);
	rdma_ah_set_grh(ah, &gid, 0, 0, 64, 0);
	return 0;
}

static int kv_address_roce(struct kv_rig *rig, struct rdma_ah_attr *ah)
{
	union ib_gid gid;
	u8 mac[ETH_ALEN];
	int index;

	index = kv_find_gid(rig->dev, &gid, mac);
	if (index < 0)
		return index;
	rdma_ah_set_grh(ah, &gid, 0, index, 64, 0);
	rdma_ah_set_dgid_raw(ah, &gid);
	memcpy(ah->roce.dmac, mac, ETH_ALEN);
	return 0;
}

int kv_address(struct kv_rig *rig, struct rdma_ah_attr *ah)
{
	ah->type = rdma_ah_find_type(rig->dev, KV_PORT);
	rdma_ah_set_port_num(ah, KV_PORT);
	return kv_is_roce(rig->dev) ? kv_address_roce(rig, ah) : kv_address_ib(rig, ah);
}

/* What each type needs of the attributes that are set on the way */
static const struct {
	int init;
	int rtr;
	int rts;
} kv_masks[] = {
	[IB_QPT_RC] = {IB_QP_PORT | IB_QP_ACCESS_FLAGS,
		       IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			       IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER,
		       IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC},
	[IB_QPT_UC] = {IB_QP_PORT | IB_QP_ACCESS_FLAGS,
		       IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN, 0},
	[IB_QPT_UD] = {IB_QP_PORT | IB_QP_QKEY, 0, 0},
};

static int kv_to_rts(struct kv_rig *rig, struct ib_qp *qp, u32 dest)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = KV_PORT,
		.qkey = KV_QKEY,
		.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 17,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 4,
	};
	int err;

	if (rig->type == IB_QPT_RC)
		attr.qp_access_flags |= IB_ACCESS_REMOTE_ATOMIC;
	err = kv_address(rig, &attr.ah_attr);
	if (err)
		return err;
	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | kv_masks[rig->type].init);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(qp, &attr, IB_QP_STATE | kv_masks[rig->type].rtr);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | kv_masks[rig->type].rts);
}

static int kv_ah_create(struct kv_rig *rig)
{
	struct rdma_ah_attr attr = {};
	int err;

	err = kv_address(rig, &attr);
	if (err)
		return err;
	rig->ah = rdma_create_ah(rig->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	return PTR_ERR_OR_ZERO(rig->ah);
}

#define KV_HOLD_MS 300

void kv_interrupt_other(smp_call_func_t fn, void *arg)
{
	unsigned int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	smp_call_function_single(cpu, fn, arg, false);
}

bool kv_hold_until(const bool *flag)
{
	int i;

	for (i = 0; i < KV_HOLD_MS && !READ_ONCE(*flag); i++)
		mdelay(1);
	return READ_ONCE(*flag);
}

#define KV_CQE (4 * KV_DEPTH + 4)

void kv_down(struct kv_rig *rig)
{
	kv_qp_destroy(rig, &rig->end[1]);
	kv_qp_destroy(rig, &rig->end[0]);
	if (!IS_ERR_OR_NULL(rig->ah))
		rdma_destroy_ah(rig->ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (!IS_ERR_OR_NULL(rig->srq))
		ib_destroy_srq(rig->srq);
	if (rig->pooled)
		ib_cq_pool_put(rig->cq, KV_CQE);
	else
		ib_free_cq(rig->cq);
	ib_dealloc_pd(rig->pd);
}

int kv_up(struct kv_rig *rig)
{
	int err = 0;

	init_completion(&rig->srq_limit);
	init_completion(&rig->last_wqe);
	init_completion(&rig->migrated[0]);
	init_completion(&rig->migrated[1]);
	rig->pd = ib_alloc_pd(rig->dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(rig->pd))
		return PTR_ERR(rig->pd);
	if (rig->pooled)
		rig->cq = ib_cq_pool_get(rig->dev, KV_CQE, -1, rig->poll);
	else
		rig->cq = ib_alloc_cq(rig->dev, rig, KV_CQE, 0, rig->poll);
	if (IS_ERR(rig->cq)) {
		err = PTR_ERR(rig->cq);
		goto err_pd;
	}
	if (rig->shared)
		err = kv_srq_create(rig);
	if (!err && rig->type == IB_QPT_UD)
		err = kv_ah_create(rig);
	if (!err)
		err = kv_qp_create(rig, &rig->end[0]);
	if (!err)
		err = kv_qp_create(rig, &rig->end[1]);
	if (!err)
		err = kv_to_rts(rig, rig->end[0].qp, rig->end[1].qp->qp_num);
	if (!err)
		err = kv_to_rts(rig, rig->end[1].qp, rig->end[0].qp->qp_num);
	if (err)
		kv_down(rig);
	return err;

err_pd:
	ib_dealloc_pd(rig->pd);
	return err;
}
