// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: sending frames.
 */

#include <linux/dma-mapping.h>
#include <linux/if_vlan.h>
#include <linux/tcp.h>
#include <net/netdev_queues.h>

#include "doorbell.h"
#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

static struct ohca_en_tx_frame *ohca_en_tx_frame(struct ohca_en_tx *tx, u32 idx)
{
	return &tx->frames[idx % ohca_en_tx_size(tx)];
}

static u32 ohca_en_tx_room(struct ohca_en_tx *tx)
{
	return ohca_en_tx_size(tx) - (READ_ONCE(tx->pi) - READ_ONCE(tx->ci));
}

static void ohca_en_tx_unmap(struct ohca_en_channel *ch, struct ohca_en_tx_frame *frame)
{
	struct device *dmadev = ohca_dmadev(ch->dev);
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

static int ohca_en_tx_map(struct ohca_en_channel *ch, struct ohca_en_tx_frame *frame,
			  struct sk_buff *skb)
{
	struct device *dmadev = ohca_dmadev(ch->dev);
	struct ohca_en_dma *sge = frame->sge;
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
			ohca_en_tx_unmap(ch, frame);
			return -ENOMEM;
		}
		frame->nsge++;
	}
	return 0;
}

static void ohca_en_tx_fill(struct ohca_en_channel *ch, struct ohca_en_tx_frame *frame,
			    struct sk_buff *skb)
{
	struct ohca_en_tx *tx = &ch->tx;
	struct ohca_sq_wqe *wqe =
		tx->wqes + ohca_ring_off(tx->pi, tx->log_size, OHCA_EN_TX_LOG_STRIDE);
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
		wqe->sge[i].lkey = cpu_to_le32(ch->dev->attr.reserved_lkey);
	}
}

static void ohca_en_tx_ring(struct ohca_en_channel *ch)
{
	dma_wmb(); /* entries before index */
	WRITE_ONCE(ch->tx.rec->pi, cpu_to_le32(ch->tx.pi));
	ohca_db_ring_sq(&ch->dev->uar, ch->slot, ch->qp.qpn, ch->tx.pi);
}

u32 ohca_en_tx_max_sge(const struct ohca_dev *dev)
{
	return min_t(u32, dev->attr.max_send_sge, OHCA_EN_TX_SGE);
}

netdev_features_t ohca_en_tx_features_check(const struct ohca_port *port, struct sk_buff *skb,
					    netdev_features_t features)
{
	/* The stack has yet to put the tag into the frame. */
	u32 max_frame = port->attr.max_frame - (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);
	const struct ohca_dev *dev = port->dev;

	/*
	 * Of a frame that is too long a list of pieces, each segment is a shorter one.  Segments
	 * that are too long themselves are dropped.
	 */
	if (skb_is_gso(skb) &&
	    (!(dev->attr.caps & OHCA_CAP_TSO) || skb_shinfo(skb)->gso_size < OHCA_TSO_MIN_MSS ||
	     skb_tcp_all_headers(skb) > OHCA_TSO_MAX_HDR ||
	     skb_shinfo(skb)->nr_frags + 1 > ohca_en_tx_max_sge(dev) ||
	     !skb_gso_validate_mac_len(skb, max_frame)))
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

/* The MTU does not limit frames of packet sockets that the stack segments, and those of tc. */
static bool ohca_en_tx_too_long(const struct ohca_en_channel *ch, const struct sk_buff *skb)
{
	return !skb_is_gso(skb) && skb->len > ch->port->attr.max_frame;
}

netdev_tx_t ohca_en_tx_xmit(struct ohca_en_channel *ch, struct sk_buff *skb)
{
	struct netdev_queue *txq = netdev_get_tx_queue(ch->ndev, ch->index);
	struct ohca_en_tx_frame *frame;
	struct ohca_en_tx *tx = &ch->tx;
	bool ring;

	if (unlikely(!ohca_en_tx_room(tx))) {
		netif_tx_stop_queue(txq);
		return NETDEV_TX_BUSY;
	}

	frame = ohca_en_tx_frame(tx, tx->pi);
	if (unlikely(ohca_en_tx_too_long(ch, skb)) ||
	    (skb_shinfo(skb)->nr_frags + 1 > tx->max_sge && skb_linearize(skb)) ||
	    ohca_en_tx_map(ch, frame, skb)) {
		dev_kfree_skb_any(skb);
		DEV_STATS_INC(ch->ndev, tx_dropped);
		if (!netdev_xmit_more())
			ohca_en_tx_ring(ch);
		return NETDEV_TX_OK;
	}

	ohca_en_tx_fill(ch, frame, skb);
	frame->skb = skb;
	skb_tx_timestamp(skb);
	ring = __netdev_tx_sent_queue(txq, skb->len, netdev_xmit_more());
	/* The frame and its length before its index: from here on it may be completed. */
	smp_store_release(&tx->pi, tx->pi + 1);
	if (!netif_txq_maybe_stop(txq, ohca_en_tx_room(tx), 1, ohca_en_tx_size(tx) / 4)) {
		WRITE_ONCE(ch->tx_stopped, ch->tx_stopped + 1);
		ring = true;
	}
	if (ring)
		ohca_en_tx_ring(ch);
	return NETDEV_TX_OK;
}

/* Count the packets and bytes on the link: a frame that is segmented counts as its segments. */
static void ohca_en_tx_count(const struct sk_buff *skb, u32 *packets, u32 *bytes)
{
	u32 segs = 1, hdr_len = 0;

	if (skb_is_gso(skb)) {
		hdr_len = skb_tcp_all_headers(skb);
		segs = DIV_ROUND_UP(skb->len - hdr_len, skb_shinfo(skb)->gso_size);
	}
	*packets += segs;
	*bytes += skb->len + (segs - 1) * hdr_len;
}

bool ohca_en_tx_complete(struct ohca_en_channel *ch, u32 idx, bool ok, int budget)
{
	struct netdev_queue *txq = netdev_get_tx_queue(ch->ndev, ch->index);
	struct ohca_en_tx *tx = &ch->tx;
	u32 ci = tx->ci, frames = 0, bytes = 0, packets = 0, packets_bytes = 0;
	struct ohca_en_tx_frame *frame;

	if (idx - ci >= smp_load_acquire(&tx->pi) - ci) /* see ohca_en_tx_xmit() */
		return false;

	while (ci != idx + 1) {
		frame = ohca_en_tx_frame(tx, ci++);
		frames++;
		bytes += frame->skb->len;
		ohca_en_tx_count(frame->skb, &packets, &packets_bytes);
		ohca_en_tx_unmap(ch, frame);
		napi_consume_skb(frame->skb, budget);
		frame->skb = NULL;
	}

	if (ok) {
		dev_sw_netstats_tx_add(ch->ndev, packets, packets_bytes);
		WRITE_ONCE(ch->tx_packets, ch->tx_packets + packets);
		ch->bytes += packets_bytes;
	} else {
		DEV_STATS_ADD(ch->ndev, tx_errors, frames);
	}
	smp_store_release(&tx->ci, ci); /* free the frames before their entries */
	netif_txq_completed_wake(txq, frames, bytes, ohca_en_tx_room(tx), ohca_en_tx_size(tx) / 4);
	return true;
}

int ohca_en_tx_alloc(struct ohca_en_channel *ch)
{
	ch->tx.frames = kvcalloc(ohca_en_tx_size(&ch->tx), sizeof(*ch->tx.frames), GFP_KERNEL);
	return ch->tx.frames ? 0 : -ENOMEM;
}

void ohca_en_tx_free(struct ohca_en_channel *ch)
{
	struct ohca_en_tx_frame *frame;
	u32 i;

	for (i = 0; i < ohca_en_tx_size(&ch->tx); i++) {
		frame = ohca_en_tx_frame(&ch->tx, i);
		if (!frame->skb)
			continue;
		ohca_en_tx_unmap(ch, frame);
		dev_kfree_skb_any(frame->skb);
	}
	kvfree(ch->tx.frames);
}
