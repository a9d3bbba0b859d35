// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: a pair of queues that carries the port's Ethernet frames.
 *
 * One completion queue serves both directions, so one NAPI instance does everything but post what
 * is to be sent.  A receive entry is posted again as soon as its frame has been taken: with the
 * same pages if the frame was copied or dropped, with new ones if it went up in them.  So the
 * receive queue can't run dry for want of memory.
 */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/tcp.h>
#include <net/netdev_queues.h>

#include "eth.h"
#include "ohca.h"
#include "xlt.h"

/* Send entries have room for any skb, receive entries for OHCA_ETH_RX_PAGES. */
#define OHCA_TX_LOG_STRIDE 9
#define OHCA_RX_LOG_STRIDE 7
static_assert(OHCA_SQ_WQE_HDR + OHCA_ETH_TX_SGE * sizeof(struct ohca_sge) <=
	      1 << OHCA_TX_LOG_STRIDE);
static_assert(OHCA_RQ_WQE_HDR + OHCA_ETH_RX_PAGES * sizeof(struct ohca_sge) <=
	      1 << OHCA_RX_LOG_STRIDE);

/* The first page of a frame becomes an skb's head: it leaves room at both ends. */
#define OHCA_RX_HEADROOM (NET_SKB_PAD + NET_IP_ALIGN)
#define OHCA_RX_HEAD_LEN \
	(PAGE_SIZE - OHCA_RX_HEADROOM - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
#define OHCA_RX_COPY_LEN 256

/* Pages of an entry that so many bytes fill */
static u32 ohca_rx_pages_of(u32 len)
{
	if (len <= OHCA_RX_HEAD_LEN)
		return 1;
	return 1 + DIV_ROUND_UP(len - (u32)OHCA_RX_HEAD_LEN, PAGE_SIZE);
}

u32 ohca_eth_rx_npages(struct ohca_dev *dev)
{
	return ohca_rx_pages_of(dev->port.attr.max_frame);
}

static u32 ohca_tx_size(const struct ohca_eth_tx *tx)
{
	return BIT(tx->log_size);
}

static u32 ohca_rx_size(const struct ohca_eth_rx *rx)
{
	return BIT(rx->log_size);
}

static struct ohca_eth_tx_frame *ohca_tx_frame(struct ohca_eth_tx *tx, u32 idx)
{
	return &tx->frames[idx % ohca_tx_size(tx)];
}

static struct ohca_eth_rx_frame *ohca_rx_frame(struct ohca_eth_rx *rx, u32 idx)
{
	return &rx->frames[idx % ohca_rx_size(rx)];
}

static u32 ohca_tx_room(struct ohca_eth_tx *tx)
{
	return ohca_tx_size(tx) - (READ_ONCE(tx->pi) - READ_ONCE(tx->ci));
}

/**
 * struct ohca_eth_rx_info - what a completion tells
 * @idx: index of the entry
 * @len: bytes in it
 * @mss: data of a segment of the frame, which is a large one; else 0
 * @csum_start: of a large one: offset of its TCP header
 * @net_type: likewise: OHCA_NET_*
 * @status: enum ohca_wc_status
 * @opcode: OHCA_CQE_RECV, or OHCA_CQE_RECV_PART
 * @csum_ok: the checksums are good
 */
struct ohca_eth_rx_info {
	u32 idx;
	u32 len;
	u16 mss;
	u16 csum_start;
	u8 net_type;
	u8 status;
	u8 opcode;
	bool csum_ok;
};

/* Sending */

static void ohca_tx_unmap(struct ohca_eth *eth, struct ohca_eth_tx_frame *frame)
{
	struct device *dmadev = ohca_dmadev(eth->dev);
	u32 i;

	for (i = 0; i < frame->nsge; i++) {
		if (i)
			dma_unmap_page(dmadev, frame->sge[i].addr, frame->sge[i].len,
				       DMA_TO_DEVICE);
		else
			dma_unmap_single(dmadev, frame->sge[i].addr, frame->sge[i].len,
					 DMA_TO_DEVICE);
	}
	frame->nsge = 0;
}

static int ohca_tx_map(struct ohca_eth *eth, struct ohca_eth_tx_frame *frame, struct sk_buff *skb)
{
	struct device *dmadev = ohca_dmadev(eth->dev);
	struct ohca_eth_dma *sge = frame->sge;
	skb_frag_t *frag;
	int i;

	sge->len = skb_headlen(skb);
	sge->addr = dma_map_single(dmadev, skb->data, sge->len, DMA_TO_DEVICE);
	if (dma_mapping_error(dmadev, sge->addr))
		return -ENOMEM;
	frame->nsge = 1;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		frag = &skb_shinfo(skb)->frags[i];
		sge++;
		sge->len = skb_frag_size(frag);
		sge->addr = skb_frag_dma_map(dmadev, frag, 0, sge->len, DMA_TO_DEVICE);
		if (dma_mapping_error(dmadev, sge->addr)) {
			ohca_tx_unmap(eth, frame);
			return -ENOMEM;
		}
		frame->nsge++;
	}
	return 0;
}

static void ohca_tx_fill(struct ohca_eth *eth, struct ohca_eth_tx_frame *frame, struct sk_buff *skb)
{
	struct ohca_eth_tx *tx = &eth->tx;
	struct ohca_sq_wqe *wqe =
		tx->wqes + ohca_ring_off(tx->pi, tx->log_size, OHCA_TX_LOG_STRIDE);
	u32 i;

	memset(wqe, 0, OHCA_SQ_WQE_HDR);
	wqe->opcode = OHCA_OP_SEND;
	wqe->flags = OHCA_WQE_SIGNALED;
	wqe->num_sge = cpu_to_le16(frame->nsge);
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		wqe->flags |= OHCA_WQE_CSUM;
		wqe->eth.csum_start = cpu_to_le16(skb_checksum_start_offset(skb));
		wqe->eth.csum_offset = cpu_to_le16(skb->csum_offset);
	}
	if (skb_is_gso(skb)) {
		wqe->flags |= OHCA_WQE_TSO;
		wqe->eth.ip_start = cpu_to_le16(skb_network_offset(skb));
		wqe->eth.hdr_len = cpu_to_le16(skb_tcp_all_headers(skb));
		wqe->eth.mss = cpu_to_le16(skb_shinfo(skb)->gso_size);
	}
	for (i = 0; i < frame->nsge; i++) {
		wqe->sge[i].addr = cpu_to_le64(frame->sge[i].addr);
		wqe->sge[i].length = cpu_to_le32(frame->sge[i].len);
		wqe->sge[i].lkey = cpu_to_le32(eth->dev->attr.reserved_lkey);
	}
}

static void ohca_tx_ring(struct ohca_eth *eth)
{
	dma_wmb(); /* the entries before the index that covers them */
	WRITE_ONCE(eth->tx.rec->pi, cpu_to_le32(eth->tx.pi));
	ohca_uar_ring_sq(&eth->dev->uar, OHCA_SLOT_ETH + eth->index, eth->qp.qpn, eth->tx.pi);
}

netdev_features_t ohca_eth_features_check(struct ohca_dev *dev, struct sk_buff *skb,
					  netdev_features_t features)
{
	if (skb_is_gso(skb) &&
	    (!(dev->attr.caps & OHCA_CAP_TSO) || skb_shinfo(skb)->gso_size < OHCA_TSO_MIN_MSS ||
	     skb_tcp_all_headers(skb) > OHCA_TSO_MAX_HDR))
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

netdev_tx_t ohca_eth_xmit(struct ohca_eth *eth, struct sk_buff *skb)
{
	struct netdev_queue *txq = netdev_get_tx_queue(eth->ndev, eth->index);
	struct ohca_eth_tx_frame *frame;
	struct ohca_eth_tx *tx = &eth->tx;
	unsigned int len = skb->len;

	if (unlikely(!ohca_tx_room(tx))) {
		netif_tx_stop_queue(txq);
		return NETDEV_TX_BUSY;
	}

	frame = ohca_tx_frame(tx, tx->pi);
	if ((skb_shinfo(skb)->nr_frags + 1 > tx->max_sge && skb_linearize(skb)) ||
	    ohca_tx_map(eth, frame, skb)) {
		dev_kfree_skb_any(skb);
		DEV_STATS_INC(eth->ndev, tx_dropped);
		if (!netdev_xmit_more())
			ohca_tx_ring(eth);
		return NETDEV_TX_OK;
	}

	ohca_tx_fill(eth, frame, skb);
	frame->skb = skb;
	skb_tx_timestamp(skb);
	WRITE_ONCE(tx->pi, tx->pi + 1);
	if (!netif_txq_maybe_stop(txq, ohca_tx_room(tx), 1, ohca_tx_size(tx) / 4))
		WRITE_ONCE(eth->tx_stopped, eth->tx_stopped + 1);
	if (__netdev_tx_sent_queue(txq, len, netdev_xmit_more()))
		ohca_tx_ring(eth);
	return NETDEV_TX_OK;
}

/* What goes out for a frame: if it is cut, each segment with its headers. */
static void ohca_tx_count(const struct sk_buff *skb, u32 *packets, u32 *bytes)
{
	u32 segs = 1, hdr_len = 0;

	if (skb_is_gso(skb)) {
		hdr_len = skb_tcp_all_headers(skb);
		segs = DIV_ROUND_UP(skb->len - hdr_len, skb_shinfo(skb)->gso_size);
	}
	*packets += segs;
	*bytes += skb->len + (segs - 1) * hdr_len;
}

/* Frames up to index @idx have been sent. */
static void ohca_tx_complete(struct ohca_eth *eth, u32 idx, bool ok, int budget)
{
	struct netdev_queue *txq = netdev_get_tx_queue(eth->ndev, eth->index);
	struct ohca_eth_tx *tx = &eth->tx;
	u32 ci = tx->ci, frames = 0, bytes = 0, packets = 0, packets_bytes = 0;
	struct ohca_eth_tx_frame *frame;

	if (idx - ci >= ohca_tx_size(tx))
		return;

	while (ci != idx + 1) {
		frame = ohca_tx_frame(tx, ci++);
		if (!frame->skb)
			return;
		frames++;
		bytes += frame->skb->len;
		ohca_tx_count(frame->skb, &packets, &packets_bytes);
		ohca_tx_unmap(eth, frame);
		napi_consume_skb(frame->skb, budget);
		frame->skb = NULL;
	}

	if (ok) {
		dev_sw_netstats_tx_add(eth->ndev, packets, packets_bytes);
		WRITE_ONCE(eth->tx_packets, eth->tx_packets + packets);
	} else {
		DEV_STATS_ADD(eth->ndev, tx_errors, frames);
	}
	smp_store_release(&tx->ci, ci); /* the frames are gone before they are room */
	netif_txq_completed_wake(txq, frames, bytes, ohca_tx_room(tx), ohca_tx_size(tx) / 4);
}

/* Receiving */

static int ohca_rx_page_alloc(struct ohca_eth *eth, struct page **page, dma_addr_t *dma)
{
	struct device *dmadev = ohca_dmadev(eth->dev);

	*page = dev_alloc_page();
	if (!*page)
		return -ENOMEM;
	*dma = dma_map_page(dmadev, *page, 0, PAGE_SIZE, DMA_FROM_DEVICE);
	if (dma_mapping_error(dmadev, *dma)) {
		__free_page(*page);
		*page = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void ohca_rx_page_free(struct ohca_eth *eth, struct page *page, dma_addr_t dma)
{
	dma_unmap_page(ohca_dmadev(eth->dev), dma, PAGE_SIZE, DMA_FROM_DEVICE);
	__free_page(page);
}

/* Post the entry at @rx->pi with the pages that its frame has; the record is up to the caller. */
static void ohca_rx_post(struct ohca_eth *eth)
{
	struct ohca_eth_rx *rx = &eth->rx;
	struct ohca_eth_rx_frame *frame = ohca_rx_frame(rx, rx->pi);
	struct ohca_rq_wqe *wqe =
		rx->wqes + ohca_ring_off(rx->pi, rx->log_size, OHCA_RX_LOG_STRIDE);
	u32 i;

	wqe->wr_id = 0;
	wqe->num_sge = cpu_to_le32(rx->npages);
	wqe->rsvd = 0;
	for (i = 0; i < rx->npages; i++) {
		wqe->sge[i].addr = cpu_to_le64(frame->dma[i] + (i ? 0 : OHCA_RX_HEADROOM));
		wqe->sge[i].length = cpu_to_le32(i ? PAGE_SIZE : OHCA_RX_HEAD_LEN);
		wqe->sge[i].lkey = cpu_to_le32(eth->dev->attr.reserved_lkey);
	}
	rx->pi++;
}

static void ohca_rx_publish(struct ohca_eth *eth)
{
	dma_wmb(); /* the entries before the index that covers them */
	WRITE_ONCE(eth->rx.rec->pi, cpu_to_le32(eth->rx.pi));
}

static struct sk_buff *ohca_rx_copy(struct ohca_eth *eth, struct ohca_eth_rx_frame *frame, u32 len)
{
	struct device *dmadev = ohca_dmadev(eth->dev);
	struct sk_buff *skb = napi_alloc_skb(&eth->napi, len);

	if (!skb)
		return NULL;
	dma_sync_single_range_for_cpu(dmadev, frame->dma[0], OHCA_RX_HEADROOM, len,
				      DMA_FROM_DEVICE);
	skb_put_data(skb, page_address(frame->pages[0]) + OHCA_RX_HEADROOM, len);
	dma_sync_single_range_for_device(dmadev, frame->dma[0], OHCA_RX_HEADROOM, len,
					 DMA_FROM_DEVICE);
	return skb;
}

/* Put new pages in the place of the first @n. */
static int ohca_rx_replace(struct ohca_eth *eth, struct ohca_eth_rx_frame *frame,
			   struct ohca_eth_rx_frame *old, u32 n)
{
	u32 i;

	*old = *frame;
	for (i = 0; i < n; i++) {
		if (ohca_rx_page_alloc(eth, &frame->pages[i], &frame->dma[i]))
			goto err_pages;
	}
	for (i = 0; i < n; i++)
		dma_unmap_page(ohca_dmadev(eth->dev), old->dma[i], PAGE_SIZE, DMA_FROM_DEVICE);
	return 0;

err_pages:
	while (i--)
		ohca_rx_page_free(eth, frame->pages[i], frame->dma[i]);
	*frame = *old;
	return -ENOMEM;
}

static struct sk_buff *ohca_rx_build(struct ohca_eth *eth, struct ohca_eth_rx_frame *frame, u32 len)
{
	u32 head = min_t(u32, len, OHCA_RX_HEAD_LEN);
	u32 n = ohca_rx_pages_of(len);
	struct ohca_eth_rx_frame old;
	struct sk_buff *skb;
	u32 i, part;

	if (ohca_rx_replace(eth, frame, &old, n))
		return NULL;
	skb = napi_build_skb(page_address(old.pages[0]), PAGE_SIZE);
	if (!skb) {
		for (i = 0; i < n; i++)
			__free_page(old.pages[i]);
		return NULL;
	}

	skb_reserve(skb, OHCA_RX_HEADROOM);
	skb_put(skb, head);
	len -= head;
	for (i = 1; i < n; i++) {
		part = min_t(u32, len, PAGE_SIZE);
		skb_add_rx_frag(skb, i - 1, old.pages[i], 0, part, PAGE_SIZE);
		len -= part;
	}
	return skb;
}

/* A further part of a large frame: its pages go to those before. */
static bool ohca_rx_append(struct ohca_eth *eth, struct ohca_eth_rx_frame *frame,
			   struct sk_buff *skb, u32 len)
{
	u32 n = ohca_rx_pages_of(len), i, off, part;
	struct ohca_eth_rx_frame old;

	if (skb_shinfo(skb)->nr_frags + n > MAX_SKB_FRAGS || ohca_rx_replace(eth, frame, &old, n))
		return false;
	for (i = 0; i < n; i++) {
		off = i ? 0 : OHCA_RX_HEADROOM;
		part = min_t(u32, len, i ? PAGE_SIZE : OHCA_RX_HEAD_LEN);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, old.pages[i], off, part, PAGE_SIZE);
		len -= part;
	}
	return true;
}

/* A frame or the next part of one; returns the frame when that is whole, and not lost. */
static struct sk_buff *ohca_rx_take(struct ohca_eth *eth, const struct ohca_eth_rx_info *info)
{
	struct ohca_eth_rx *rx = &eth->rx;
	struct ohca_eth_rx_frame *frame = ohca_rx_frame(rx, info->idx);
	struct sk_buff *skb;

	if (!rx->parts && info->len <= OHCA_RX_COPY_LEN) {
		rx->skb = ohca_rx_copy(eth, frame, info->len);
	} else if (!rx->parts) {
		rx->skb = ohca_rx_build(eth, frame, info->len);
	} else if (rx->skb && !ohca_rx_append(eth, frame, rx->skb, info->len)) {
		kfree_skb(rx->skb);
		rx->skb = NULL;
	}
	rx->parts = info->opcode == OHCA_CQE_RECV_PART;
	if (rx->parts)
		return NULL;
	if (!rx->skb)
		DEV_STATS_INC(eth->ndev, rx_dropped);
	skb = rx->skb;
	rx->skb = NULL;
	return skb;
}

/* A large frame from a peer: nobody has made its segments, nor completed its checksum. */
static bool ohca_rx_set_gso(struct sk_buff *skb, const struct ohca_eth_rx_info *info)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (!skb_partial_csum_set(skb, info->csum_start, offsetof(struct tcphdr, check)))
		return false;
	shinfo->gso_size = info->mss;
	shinfo->gso_type = info->net_type == OHCA_NET_IPV6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
	/* The headers are the peer's word: whoever passes the frame on looks at them first. */
	shinfo->gso_type |= SKB_GSO_DODGY;
	shinfo->gso_segs = 0;
	return true;
}

static void ohca_rx_frame_in(struct ohca_eth *eth, const struct ohca_eth_rx_info *info)
{
	struct sk_buff *skb = ohca_rx_take(eth, info);
	struct net_device *ndev = eth->ndev;

	if (!skb)
		return;
	if (info->mss && !ohca_rx_set_gso(skb, info)) {
		DEV_STATS_INC(ndev, rx_errors);
		kfree_skb(skb);
		return;
	}

	if (info->mss)
		WRITE_ONCE(eth->rx_large, eth->rx_large + 1);
	dev_sw_netstats_rx_add(ndev, skb->len);
	WRITE_ONCE(eth->rx_packets, eth->rx_packets + 1);
	skb_record_rx_queue(skb, eth->index);
	if (info->csum_ok && (ndev->features & NETIF_F_RXCSUM))
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->protocol = eth_type_trans(skb, ndev);
	napi_gro_receive(&eth->napi, skb);
}

static void ohca_rx_complete(struct ohca_eth *eth, const struct ohca_eth_rx_info *info)
{
	struct ohca_eth_rx *rx = &eth->rx;

	if (info->idx != rx->pi - ohca_rx_size(rx)) /* all are posted but the oldest, this one */
		return;

	if (info->status != OHCA_WC_SUCCESS || (!rx->parts && info->len < ETH_HLEN) || !info->len ||
	    ohca_rx_pages_of(info->len) > rx->npages)
		DEV_STATS_INC(eth->ndev, rx_errors);
	else
		ohca_rx_frame_in(eth, info);
	ohca_rx_post(eth);
}

/* Completions */

static struct ohca_cqe *ohca_eth_next_cqe(struct ohca_eth *eth)
{
	u8 log_stride = ilog2(sizeof(struct ohca_cqe));
	struct ohca_cqe *cqe =
		eth->cq_buf.va + ohca_ring_off(eth->cq_ci, eth->cq_log_size, log_stride);

	if (!ohca_ring_valid(READ_ONCE(cqe->owner), eth->cq_ci, eth->cq_log_size))
		return NULL;
	dma_rmb(); /* the owner before the rest of the entry */
	return cqe;
}

/* Ask for an event.  Returns true if a completion is there already. */
static bool ohca_eth_arm(struct ohca_eth *eth)
{
	WRITE_ONCE(eth->cq_rec->arm_next, cpu_to_le32(++eth->cq_arm));
	mb(); /* the device: completion, then arm; here: arm, then completion */
	return ohca_eth_next_cqe(eth);
}

int ohca_eth_poll(struct napi_struct *napi, int budget)
{
	struct ohca_eth *eth = container_of(napi, struct ohca_eth, napi);
	struct ohca_eth_rx_info info;
	struct ohca_cqe *cqe;
	int work = 0;
	u8 flags;

	while ((cqe = ohca_eth_next_cqe(eth))) {
		flags = cqe->flags;
		if ((flags & OHCA_CQE_F_RQ) && work == budget)
			break;
		info = (struct ohca_eth_rx_info){
			.idx = le32_to_cpu(cqe->wqe_idx),
			.len = le32_to_cpu(cqe->byte_len),
			.mss = le16_to_cpu(cqe->eth.mss),
			.csum_start = le16_to_cpu(cqe->eth.csum_start),
			.net_type = cqe->eth.net_type,
			.status = cqe->status,
			.opcode = cqe->opcode,
			.csum_ok = flags & OHCA_CQE_F_CSUM_OK,
		};

		eth->cq_ci++;
		/* All reads of the entry come before the device may write it anew. */
		smp_store_release(&eth->cq_rec->ci, cpu_to_le32(eth->cq_ci));
		if (unlikely(info.status != OHCA_WC_SUCCESS && info.status != OHCA_WC_WR_FLUSH_ERR))
			schedule_work(eth->broken);
		if (flags & OHCA_CQE_F_RQ) {
			ohca_rx_complete(eth, &info);
			work++;
		} else {
			ohca_tx_complete(eth, info.idx, info.status == OHCA_WC_SUCCESS, budget);
		}
	}

	if (work)
		ohca_rx_publish(eth);
	if (work < budget && napi_complete_done(napi, work) && ohca_eth_arm(eth))
		napi_schedule(napi);
	return work;
}

static void ohca_eth_cq_comp(struct ohca_core_cq *cq)
{
	struct ohca_eth *eth = container_of(cq, struct ohca_eth, cq);

	napi_schedule_irqoff(&eth->napi);
}

static void ohca_eth_cq_event(struct ohca_core_cq *cq, u8 type)
{
	struct ohca_eth *eth = container_of(cq, struct ohca_eth, cq);

	netdev_err(eth->ndev, "completion queue failed\n");
	schedule_work(eth->broken);
}

static void ohca_eth_qp_event(struct ohca_core_qp *qp, u8 type)
{
	struct ohca_eth *eth = container_of(qp, struct ohca_eth, qp);

	netdev_err(eth->ndev, "queue pair failed, event 0x%x\n", type);
	schedule_work(eth->broken);
}

/* Setting up */

static int ohca_eth_create_cq(struct ohca_eth *eth, const struct ohca_eth_rings *rings)
{
	u8 log_size = order_base_2(BIT(rings->tx_log_size) + BIT(rings->rx_log_size));
	u32 bytes = sizeof(struct ohca_cqe) << log_size;
	struct ohca_eqs *eqs = &eth->dev->eqs;
	struct ohca_cq_params params = {
		.rec_offset = bytes,
		.eqn = eqs->comp[eth->index % eqs->ncomp].eqn,
		.log_size = log_size,
	};
	struct ohca_dev *dev = eth->dev;
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_buf_alloc(dev, bytes + sizeof(*eth->cq_rec), &eth->cq_buf);
	if (err)
		return err;
	eth->cq_rec = eth->cq_buf.va + bytes;
	eth->cq_log_size = log_size;
	eth->cq_ci = 0;
	eth->cq_arm = 0;

	err = ohca_xlt_from_buf(dev, &eth->cq_buf, &xlt);
	if (err)
		goto err_buf;
	params.buf = &xlt;
	err = ohca_cmd_create_cq(dev, &params, &eth->cq.cqn);
	ohca_xlt_release(dev, &xlt);
	if (err)
		goto err_buf;

	eth->cq.comp = ohca_eth_cq_comp;
	eth->cq.event = ohca_eth_cq_event;
	err = ohca_core_cq_publish(dev, &eth->cq);
	if (err)
		goto err_cq;
	return 0;

err_cq:
	if (ohca_cmd_destroy_cq(dev, eth->cq.cqn))
		ohca_fence(dev, "completion queue not destroyed");
err_buf:
	ohca_buf_free(dev, &eth->cq_buf);
	return err;
}

static void ohca_eth_destroy_cq(struct ohca_eth *eth)
{
	ohca_core_cq_withdraw(eth->dev, &eth->cq);
	if (ohca_cmd_destroy_cq(eth->dev, eth->cq.cqn))
		ohca_fence(eth->dev, "completion queue not destroyed");
	ohca_buf_free(eth->dev, &eth->cq_buf);
}

static void ohca_eth_free_frames(struct ohca_eth *eth)
{
	struct ohca_eth_tx_frame *tx;
	struct ohca_eth_rx_frame *rx;
	u32 i, j;

	for (i = 0; i < ohca_tx_size(&eth->tx); i++) {
		tx = ohca_tx_frame(&eth->tx, i);
		if (!tx->skb)
			continue;
		ohca_tx_unmap(eth, tx);
		dev_kfree_skb_any(tx->skb);
	}
	for (i = 0; i < ohca_rx_size(&eth->rx); i++) {
		rx = ohca_rx_frame(&eth->rx, i);
		for (j = 0; j < eth->rx.npages && rx->pages[j]; j++)
			ohca_rx_page_free(eth, rx->pages[j], rx->dma[j]);
	}
	kfree_skb(eth->rx.skb);
	kvfree(eth->tx.frames);
	kvfree(eth->rx.frames);
}

static int ohca_eth_alloc_frames(struct ohca_eth *eth)
{
	struct ohca_eth_rx_frame *rx;
	u32 i, j;

	eth->tx.frames = kvcalloc(ohca_tx_size(&eth->tx), sizeof(*eth->tx.frames), GFP_KERNEL);
	eth->rx.frames = kvcalloc(ohca_rx_size(&eth->rx), sizeof(*eth->rx.frames), GFP_KERNEL);
	if (!eth->tx.frames || !eth->rx.frames) {
		kvfree(eth->tx.frames);
		kvfree(eth->rx.frames);
		return -ENOMEM;
	}

	for (i = 0; i < ohca_rx_size(&eth->rx); i++) {
		rx = ohca_rx_frame(&eth->rx, i);
		for (j = 0; j < eth->rx.npages; j++) {
			if (ohca_rx_page_alloc(eth, &rx->pages[j], &rx->dma[j])) {
				ohca_eth_free_frames(eth);
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static int ohca_eth_cmd_create_qp(struct ohca_eth *eth, u32 pdn)
{
	struct ohca_qp_params params = {
		.sq_offset = eth->tx.wqes - eth->qp_buf.va,
		.rq_offset = eth->rx.wqes - eth->qp_buf.va,
		.sq_rec_offset = (void *)eth->tx.rec - eth->qp_buf.va,
		.rq_rec_offset = (void *)eth->rx.rec - eth->qp_buf.va,
		.pdn = pdn,
		.uar = eth->dev->uar.index,
		.send_cqn = eth->cq.cqn,
		.recv_cqn = eth->cq.cqn,
		.slot = OHCA_SLOT_ETH + eth->index,
		.max_send_sge = eth->tx.max_sge,
		.max_recv_sge = eth->rx.npages,
		.type = OHCA_QPT_ETH,
		.flags = OHCA_QP_F_PRIVILEGED,
		.sq_log_size = eth->tx.log_size,
		.sq_log_stride = OHCA_TX_LOG_STRIDE,
		.rq_log_size = eth->rx.log_size,
		.rq_log_stride = OHCA_RX_LOG_STRIDE,
	};
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_xlt_from_buf(eth->dev, &eth->qp_buf, &xlt);
	if (err)
		return err;
	params.buf = &xlt;
	err = ohca_cmd_create_qp(eth->dev, &params, &eth->qp.qpn);
	ohca_xlt_release(eth->dev, &xlt);
	return err;
}

/* The queue pair's buffer: both rings, then their records. */
static int ohca_eth_alloc_qp_buf(struct ohca_eth *eth)
{
	u32 sq_bytes = ohca_tx_size(&eth->tx) << OHCA_TX_LOG_STRIDE;
	u32 rq_bytes = ohca_rx_size(&eth->rx) << OHCA_RX_LOG_STRIDE;
	int err;

	err = ohca_buf_alloc(eth->dev, sq_bytes + rq_bytes + 2 * OHCA_REC_ALIGN, &eth->qp_buf);
	if (err)
		return err;
	eth->tx.wqes = eth->qp_buf.va;
	eth->rx.wqes = eth->tx.wqes + sq_bytes;
	eth->tx.rec = eth->rx.wqes + rq_bytes;
	eth->rx.rec = (void *)eth->tx.rec + OHCA_REC_ALIGN;
	return 0;
}

static int ohca_eth_create_qp(struct ohca_eth *eth, const struct ohca_eth_rings *rings, u32 pdn)
{
	struct ohca_dev *dev = eth->dev;
	int err;

	memset(&eth->tx, 0, sizeof(eth->tx));
	memset(&eth->rx, 0, sizeof(eth->rx));
	eth->tx.log_size = rings->tx_log_size;
	eth->rx.log_size = rings->rx_log_size;
	eth->tx.max_sge = min_t(u32, dev->attr.max_send_sge, OHCA_ETH_TX_SGE);
	eth->rx.npages = ohca_eth_rx_npages(dev);
	err = ohca_eth_alloc_frames(eth);
	if (err)
		return err;
	err = ohca_eth_alloc_qp_buf(eth);
	if (err)
		goto err_frames;

	err = ohca_eth_cmd_create_qp(eth, pdn);
	if (err)
		goto err_buf;
	eth->qp.event = ohca_eth_qp_event;
	err = ohca_core_qp_publish(dev, &eth->qp);
	if (err)
		goto err_qp;
	return 0;

err_qp:
	if (ohca_cmd_destroy_qp(dev, eth->qp.qpn))
		ohca_fence(dev, "queue pair not destroyed");
err_buf:
	ohca_buf_free(dev, &eth->qp_buf);
err_frames:
	ohca_eth_free_frames(eth);
	return err;
}

static void ohca_eth_destroy_qp(struct ohca_eth *eth)
{
	ohca_core_qp_withdraw(eth->dev, &eth->qp);
	if (ohca_cmd_destroy_qp(eth->dev, eth->qp.qpn))
		ohca_fence(eth->dev, "queue pair not destroyed");
	ohca_buf_free(eth->dev, &eth->qp_buf);
	ohca_eth_free_frames(eth);
}

static int ohca_eth_start_qp(struct ohca_eth *eth)
{
	static const u8 states[] = {OHCA_QPS_INIT, OHCA_QPS_RTR, OHCA_QPS_RTS};
	struct ohca_qp_mod mod = {.port = OHCA_PORT};
	u32 mask = OHCA_QP_STATE | OHCA_QP_PORT;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		mod.state = states[i];
		err = ohca_cmd_modify_qp(eth->dev, eth->qp.qpn, mask, &mod);
		if (err)
			return err;
		mod.port = 0;
		mask = OHCA_QP_STATE;
	}
	return 0;
}

int ohca_eth_open(struct ohca_eth *eth, const struct ohca_eth_rings *rings, u32 pdn)
{
	u32 i;
	int err;

	err = ohca_eth_create_cq(eth, rings);
	if (err)
		return err;
	err = ohca_eth_create_qp(eth, rings, pdn);
	if (err)
		goto err_cq;
	for (i = 0; i < ohca_rx_size(&eth->rx); i++)
		ohca_rx_post(eth);
	ohca_rx_publish(eth);
	err = ohca_eth_start_qp(eth);
	if (err)
		goto err_qp;

	eth->open = true;
	netdev_tx_reset_queue(netdev_get_tx_queue(eth->ndev, eth->index));
	napi_enable(&eth->napi);
	local_bh_disable();
	napi_schedule(&eth->napi); /* arms the CQ */
	local_bh_enable();
	return 0;

err_qp:
	ohca_eth_destroy_qp(eth);
err_cq:
	ohca_eth_destroy_cq(eth);
	return err;
}

void ohca_eth_stop(struct ohca_eth *eth)
{
	if (eth->open)
		napi_disable(&eth->napi);
}

void ohca_eth_close(struct ohca_eth *eth)
{
	if (!eth->open)
		return;
	eth->open = false;
	ohca_eth_destroy_qp(eth);
	ohca_eth_destroy_cq(eth);
}
