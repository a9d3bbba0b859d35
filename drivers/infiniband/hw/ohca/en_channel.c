// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: a channel of a port's Ethernet interface: a queue pair and a completion queue.
 *
 * One completion queue serves both directions, so one NAPI instance does everything except for
 * posting frames to send.
 */

#include <linux/netdevice.h>

#include "doorbell.h"
#include "en.h"
#include "ohca.h"
#include "xlt.h"

/* Completions */

static struct ohca_cqe *ohca_en_channel_next_cqe(struct ohca_en_channel *ch)
{
	u8 log_stride = ilog2(sizeof(struct ohca_cqe));
	struct ohca_cqe *cqe =
		ch->cq_buf.va + ohca_ring_off(ch->cq_ci, ch->cq_log_size, log_stride);

	if (!ohca_ring_valid(READ_ONCE(cqe->owner), ch->cq_ci, ch->cq_log_size))
		return NULL;
	dma_rmb(); /* the owner before the rest of the entry */
	return cqe;
}

/*
 * Ask for an event.  Another processor may poll and do the same since napi_complete_done(): it does
 * not matter which number is stored last, as each is new to the device.  Returns true if a
 * completion is there already.
 */
static bool ohca_en_channel_arm(struct ohca_en_channel *ch)
{
	WRITE_ONCE(ch->cq_rec->arm_next, cpu_to_le32(atomic_inc_return(&ch->cq_arm)));
	mb(); /* the device: completion, then arm; here: arm, then completion */
	return ohca_en_channel_next_cqe(ch);
}

/* A completion of the channel; returns false if it is not one of its requests. */
static bool ohca_en_channel_complete(struct ohca_en_channel *ch, u32 qpn, u8 flags,
				     const struct ohca_en_rx_info *info, int budget)
{
	if (qpn != ch->qp.qpn)
		return false;
	if (flags & OHCA_CQE_F_RQ)
		return ohca_en_rx_complete(ch, info);
	return ohca_en_tx_complete(ch, info->idx, info->status == OHCA_WC_SUCCESS, budget);
}

int ohca_en_channel_poll(struct napi_struct *napi, int budget)
{
	struct ohca_en_channel *ch = container_of(napi, struct ohca_en_channel, napi);
	u32 left = BIT(ch->cq_log_size); /* then others get the processor, however many there are */
	struct ohca_en_rx_info info;
	struct ohca_cqe *cqe;
	int work = 0;
	u32 qpn;
	u8 flags;

	while (left-- && (cqe = ohca_en_channel_next_cqe(ch))) {
		flags = READ_ONCE(cqe->flags);
		qpn = le32_to_cpu(cqe->qpn);
		if ((flags & OHCA_CQE_F_RQ) && work == budget)
			break;
		info = (struct ohca_en_rx_info){
			.idx = le32_to_cpu(cqe->wqe_idx),
			.len = le32_to_cpu(cqe->byte_len),
			.mss = le16_to_cpu(cqe->eth.mss),
			.csum_start = le16_to_cpu(cqe->eth.csum_start),
			.net_type = cqe->eth.net_type,
			.status = cqe->status,
			.opcode = cqe->opcode,
			.csum_ok = flags & OHCA_CQE_F_CSUM_OK,
		};

		ch->cq_ci++;
		/*
		 * All reads of the entry are before the store that allows the device to overwrite
		 * it.
		 */
		smp_store_release(&ch->cq_rec->ci, cpu_to_le32(ch->cq_ci));
		if (unlikely(info.status != OHCA_WC_SUCCESS && info.status != OHCA_WC_WR_FLUSH_ERR))
			schedule_work(ch->reset_work);
		if (unlikely(!ohca_en_channel_complete(ch, qpn, flags, &info, budget)))
			ohca_fence(ch->dev, "bad completion of a frame");
		work += !!(flags & OHCA_CQE_F_RQ);
	}

	if (work)
		ohca_en_rx_publish(ch);
	if (work == budget)
		return work;
	ohca_en_coal_sample(ch);
	if (napi_complete_done(napi, work) && ohca_en_channel_arm(ch))
		napi_schedule(napi);
	return work;
}

static void ohca_en_channel_cq_comp(struct ohca_core_cq *cq)
{
	struct ohca_en_channel *ch = container_of(cq, struct ohca_en_channel, cq);

	WRITE_ONCE(ch->events, ch->events + 1);
	napi_schedule_irqoff(&ch->napi);
}

static void ohca_en_channel_cq_event(struct ohca_core_cq *cq, u8 type)
{
	struct ohca_en_channel *ch = container_of(cq, struct ohca_en_channel, cq);

	netdev_err(ch->ndev, "completion queue failed\n");
	schedule_work(ch->reset_work);
}

static void ohca_en_channel_qp_event(struct ohca_core_qp *qp, u8 type)
{
	struct ohca_en_channel *ch = container_of(qp, struct ohca_en_channel, qp);

	netdev_err(ch->ndev, "queue pair failed, event 0x%x\n", type);
	schedule_work(ch->reset_work);
}

/* Creating and destroying */

static int ohca_en_channel_create_cq(struct ohca_en_channel *ch, const struct ohca_en_rings *rings)
{
	u8 log_size = order_base_2(BIT(rings->tx_log_size) + BIT(rings->rx_log_size));
	u32 bytes = sizeof(struct ohca_cqe) << log_size;
	struct ohca_eqs *eqs = &ch->dev->eqs;
	struct ohca_cq_params params = {
		.rec_offset = bytes,
		.eqn = eqs->comp[ch->index % eqs->ncomp].eqn,
		.log_size = log_size,
	};
	struct ohca_dev *dev = ch->dev;
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_buf_alloc(dev, bytes + sizeof(*ch->cq_rec), &ch->cq_buf);
	if (err)
		return err;
	ch->cq_rec = ch->cq_buf.va + bytes;
	ch->cq_log_size = log_size;
	ch->cq_ci = 0;
	atomic_set(&ch->cq_arm, 0);

	err = ohca_xlt_from_buf(dev, &ch->cq_buf, &xlt);
	if (err)
		goto err_buf;
	params.buf = &xlt;
	err = ohca_cmd_create_cq(dev, &params, &ch->cq.cqn);
	ohca_xlt_release(dev, &xlt);
	if (err)
		goto err_buf;

	ch->cq.comp = ohca_en_channel_cq_comp;
	ch->cq.event = ohca_en_channel_cq_event;
	err = ohca_core_cq_publish(dev, &ch->cq);
	if (err)
		goto err_cq;
	return 0;

err_cq:
	if (ohca_cmd_destroy_cq(dev, ch->cq.cqn))
		ohca_fence(dev, "completion queue not destroyed");
err_buf:
	ohca_buf_free(dev, &ch->cq_buf);
	return err;
}

static void ohca_en_channel_destroy_cq(struct ohca_en_channel *ch)
{
	ohca_core_cq_withdraw(ch->dev, &ch->cq);
	if (ohca_cmd_destroy_cq(ch->dev, ch->cq.cqn))
		ohca_fence(ch->dev, "completion queue not destroyed");
	ohca_buf_free(ch->dev, &ch->cq_buf);
}

static int ohca_en_channel_cmd_create_qp(struct ohca_en_channel *ch, u32 pdn)
{
	struct ohca_qp_params params = {
		.sq_offset = ch->tx.wqes - ch->qp_buf.va,
		.rq_offset = ch->rx.wqes - ch->qp_buf.va,
		.sq_rec_offset = (void *)ch->tx.rec - ch->qp_buf.va,
		.rq_rec_offset = (void *)ch->rx.rec - ch->qp_buf.va,
		.pdn = pdn,
		.uar = ch->dev->uar.index,
		.send_cqn = ch->cq.cqn,
		.recv_cqn = ch->cq.cqn,
		.slot = ch->slot,
		.max_send_sge = ch->tx.max_sge,
		.max_recv_sge = ch->rx.npages,
		.type = OHCA_QPT_ETH,
		.flags = OHCA_QP_F_PRIVILEGED,
		.sq_log_size = ch->tx.log_size,
		.sq_log_stride = OHCA_EN_TX_LOG_STRIDE,
		.rq_log_size = ch->rx.log_size,
		.rq_log_stride = OHCA_EN_RX_LOG_STRIDE,
	};
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_xlt_from_buf(ch->dev, &ch->qp_buf, &xlt);
	if (err)
		return err;
	params.buf = &xlt;
	err = ohca_cmd_create_qp(ch->dev, &params, &ch->qp.qpn);
	ohca_xlt_release(ch->dev, &xlt);
	return err;
}

/* Allocate the queue pair's buffer: both rings, then their records. */
static int ohca_en_channel_alloc_qp_buf(struct ohca_en_channel *ch)
{
	u32 sq_bytes = ohca_en_tx_size(&ch->tx) << OHCA_EN_TX_LOG_STRIDE;
	u32 rq_bytes = ohca_en_rx_size(&ch->rx) << OHCA_EN_RX_LOG_STRIDE;
	int err;

	err = ohca_buf_alloc(ch->dev, sq_bytes + rq_bytes + 2 * OHCA_REC_ALIGN, &ch->qp_buf);
	if (err)
		return err;
	ch->tx.wqes = ch->qp_buf.va;
	ch->rx.wqes = ch->tx.wqes + sq_bytes;
	ch->tx.rec = ch->rx.wqes + rq_bytes;
	ch->rx.rec = (void *)ch->tx.rec + OHCA_REC_ALIGN;
	return 0;
}

static int ohca_en_channel_create_qp(struct ohca_en_channel *ch, const struct ohca_en_rings *rings,
				     u32 pdn)
{
	struct ohca_dev *dev = ch->dev;
	int err;

	memset(&ch->tx, 0, sizeof(ch->tx));
	memset(&ch->rx, 0, sizeof(ch->rx));
	ch->tx.log_size = rings->tx_log_size;
	ch->rx.log_size = rings->rx_log_size;
	ch->tx.max_sge = ohca_en_tx_max_sge(dev);
	ch->rx.npages = ohca_en_rx_npages(ch->port);
	err = ohca_en_tx_alloc(ch);
	if (err)
		return err;
	err = ohca_en_rx_alloc(ch);
	if (err)
		goto err_tx;
	err = ohca_en_channel_alloc_qp_buf(ch);
	if (err)
		goto err_rx;

	err = ohca_en_channel_cmd_create_qp(ch, pdn);
	if (err)
		goto err_buf;
	ch->qp.event = ohca_en_channel_qp_event;
	err = ohca_core_qp_publish(dev, &ch->qp);
	if (err)
		goto err_qp;
	return 0;

err_qp:
	if (ohca_cmd_destroy_qp(dev, ch->qp.qpn))
		ohca_fence(dev, "queue pair not destroyed");
err_buf:
	ohca_buf_free(dev, &ch->qp_buf);
err_rx:
	ohca_en_rx_free(ch);
err_tx:
	ohca_en_tx_free(ch);
	return err;
}

static void ohca_en_channel_destroy_qp(struct ohca_en_channel *ch)
{
	ohca_core_qp_withdraw(ch->dev, &ch->qp);
	if (ohca_cmd_destroy_qp(ch->dev, ch->qp.qpn))
		ohca_fence(ch->dev, "queue pair not destroyed");
	ohca_buf_free(ch->dev, &ch->qp_buf);
	ohca_en_rx_free(ch);
	ohca_en_tx_free(ch);
}

static int ohca_en_channel_start_qp(struct ohca_en_channel *ch)
{
	static const u8 states[] = {OHCA_QPS_INIT, OHCA_QPS_RTR, OHCA_QPS_RTS};
	struct ohca_qp_attr attr = {.port = ch->port->num};
	u32 mask = OHCA_QP_STATE | OHCA_QP_PORT;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		attr.state = states[i];
		err = ohca_cmd_modify_qp(ch->dev, ch->qp.qpn, mask, &attr);
		if (err)
			return err;
		attr.port = 0;
		mask = OHCA_QP_STATE;
	}
	return 0;
}

static void ohca_en_channel_run(struct ohca_en_channel *ch)
{
	napi_enable(&ch->napi);
	local_bh_disable();
	napi_schedule(&ch->napi); /* arms the CQ */
	local_bh_enable();
}

int ohca_en_channel_open(struct ohca_en_channel *ch, const struct ohca_en_rings *rings,
			 const struct ohca_en_coal *coal, u32 pdn)
{
	int err;

	err = ohca_en_channel_create_cq(ch, rings);
	if (err)
		return err;
	err = ohca_en_channel_create_qp(ch, rings, pdn);
	if (err)
		goto err_cq;
	ohca_en_rx_fill(ch);
	err = ohca_en_coal_start(ch, coal);
	if (err)
		goto err_qp;
	err = ohca_en_channel_start_qp(ch);
	if (err)
		goto err_qp;

	ch->open = true;
	ohca_en_channel_run(ch);
	return 0;

err_qp:
	ohca_en_channel_destroy_qp(ch);
err_cq:
	ohca_en_channel_destroy_cq(ch);
	return err;
}

void ohca_en_channel_stop(struct ohca_en_channel *ch)
{
	if (!ch->open)
		return;
	napi_disable(&ch->napi);
	ohca_en_coal_stop(ch);
}

int ohca_en_channel_moderate(struct ohca_en_channel *ch, const struct ohca_en_coal *coal)
{
	int err;

	ohca_en_channel_stop(ch);
	/* napi_disable() does not wait until the last poll has armed the CQ: none may pass it. */
	synchronize_net();
	err = ohca_en_coal_start(ch, coal);
	ohca_en_channel_run(ch);
	return err;
}

void ohca_en_channel_close(struct ohca_en_channel *ch)
{
	if (!ch->open)
		return;
	ch->open = false;
	ohca_en_channel_destroy_qp(ch);
	/* A queue that stays closed must not look like one that waits for its frames. */
	netdev_tx_reset_queue(netdev_get_tx_queue(ch->ndev, ch->index));
	ohca_en_channel_destroy_cq(ch);
}
