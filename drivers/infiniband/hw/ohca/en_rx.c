// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: receiving frames.
 *
 * A receive entry is posted again as soon as its frame has been taken: with the same pages if the
 * frame was copied or dropped, or with other pages if the old ones belong to the frame's skb now.
 * So a lack of memory never empties the receive queue.  Pages come from the queue's page pool,
 * which maps them, and to which they return when the skb is freed.
 */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/tcp.h>

#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

/* The first page of a frame becomes the head of an skb, with room at both ends. */
#define OHCA_EN_RX_HEADROOM (NET_SKB_PAD + NET_IP_ALIGN)
#define OHCA_EN_RX_HEAD_LEN \
	(PAGE_SIZE - OHCA_EN_RX_HEADROOM - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
#define OHCA_EN_RX_COPY_LEN 256

/* Number of pages for @len bytes */
static u32 ohca_en_rx_pages_of(u32 len)
{
	if (len <= OHCA_EN_RX_HEAD_LEN)
		return 1;
	return 1 + DIV_ROUND_UP(len - (u32)OHCA_EN_RX_HEAD_LEN, PAGE_SIZE);
}

u32 ohca_en_rx_npages(const struct ohca_port *port)
{
	return ohca_en_rx_pages_of(port->attr.max_frame);
}

static struct ohca_en_rx_frame *ohca_en_rx_frame(struct ohca_en_rx *rx, u32 idx)
{
	return &rx->frames[idx % ohca_en_rx_size(rx)];
}

static int ohca_en_rx_page_alloc(struct ohca_en_rx *rx, struct page **page, dma_addr_t *dma,
				 gfp_t gfp)
{
	*page = page_pool_alloc_pages(rx->pool, gfp);
	if (!*page)
		return -ENOMEM;
	*dma = page_pool_get_dma_addr(*page);
	return 0;
}

/* Post the entry at @rx->pi with the pages of its frame; the caller stores the record. */
static void ohca_en_rx_post(struct ohca_en_channel *ch)
{
	struct ohca_en_rx *rx = &ch->rx;
	struct ohca_en_rx_frame *frame = ohca_en_rx_frame(rx, rx->pi);
	struct ohca_rq_wqe *wqe =
		rx->wqes + ohca_ring_off(rx->pi, rx->log_size, OHCA_EN_RX_LOG_STRIDE);
	u32 i;

	wqe->wr_id = 0;
	wqe->num_sge = cpu_to_le32(rx->npages);
	wqe->rsvd = 0;
	for (i = 0; i < rx->npages; i++) {
		wqe->sge[i].addr = cpu_to_le64(frame->dma[i] + (i ? 0 : OHCA_EN_RX_HEADROOM));
		wqe->sge[i].length = cpu_to_le32(i ? PAGE_SIZE : OHCA_EN_RX_HEAD_LEN);
		wqe->sge[i].lkey = cpu_to_le32(ch->dev->attr.reserved_lkey);
	}
	rx->pi++;
}

void ohca_en_rx_publish(struct ohca_en_channel *ch)
{
	dma_wmb(); /* entries before index */
	WRITE_ONCE(ch->rx.rec->pi, cpu_to_le32(ch->rx.pi));
}

void ohca_en_rx_fill(struct ohca_en_channel *ch)
{
	u32 i;

	for (i = 0; i < ohca_en_rx_size(&ch->rx); i++)
		ohca_en_rx_post(ch);
	ohca_en_rx_publish(ch);
}

static struct sk_buff *ohca_en_rx_copy(struct ohca_en_channel *ch, struct ohca_en_rx_frame *frame,
				       u32 len)
{
	struct device *dmadev = ohca_dmadev(ch->dev);
	struct sk_buff *skb = napi_alloc_skb(&ch->napi, len);

	if (!skb)
		return NULL;
	dma_sync_single_range_for_cpu(dmadev, frame->dma[0], OHCA_EN_RX_HEADROOM, len,
				      DMA_FROM_DEVICE);
	skb_put_data(skb, page_address(frame->pages[0]) + OHCA_EN_RX_HEADROOM, len);
	dma_sync_single_range_for_device(dmadev, frame->dma[0], OHCA_EN_RX_HEADROOM, len,
					 DMA_FROM_DEVICE);
	return skb;
}

/* Replace the pages of @len bytes by others, and let the processor read the old ones. */
static int ohca_en_rx_replace(struct ohca_en_channel *ch, struct ohca_en_rx_frame *frame,
			      struct ohca_en_rx_frame *old, u32 len)
{
	u32 i, n = ohca_en_rx_pages_of(len);
	struct ohca_en_rx *rx = &ch->rx;

	*old = *frame;
	for (i = 0; i < n; i++) {
		if (ohca_en_rx_page_alloc(rx, &frame->pages[i], &frame->dma[i],
					  GFP_ATOMIC | __GFP_NOWARN))
			goto err_pages;
	}
	for (i = 0; i < n; i++)
		dma_sync_single_for_cpu(ohca_dmadev(ch->dev), old->dma[i], PAGE_SIZE,
					DMA_FROM_DEVICE);
	return 0;

err_pages:
	while (i--)
		page_pool_recycle_direct(rx->pool, frame->pages[i]);
	*frame = *old;
	return -ENOMEM;
}

static struct sk_buff *ohca_en_rx_build(struct ohca_en_channel *ch, struct ohca_en_rx_frame *frame,
					u32 len)
{
	u32 head = min_t(u32, len, OHCA_EN_RX_HEAD_LEN);
	u32 n = ohca_en_rx_pages_of(len);
	struct ohca_en_rx_frame old;
	struct sk_buff *skb;
	u32 i, part;

	if (ohca_en_rx_replace(ch, frame, &old, len))
		return NULL;
	skb = napi_build_skb(page_address(old.pages[0]), PAGE_SIZE);
	if (!skb) {
		for (i = 0; i < n; i++)
			page_pool_recycle_direct(ch->rx.pool, old.pages[i]);
		return NULL;
	}

	skb_mark_for_recycle(skb);
	skb_reserve(skb, OHCA_EN_RX_HEADROOM);
	skb_put(skb, head);
	len -= head;
	for (i = 1; i < n; i++) {
		part = min_t(u32, len, PAGE_SIZE);
		skb_add_rx_frag(skb, i - 1, old.pages[i], 0, part, PAGE_SIZE);
		len -= part;
	}
	return skb;
}

/* Append a further part of a large frame: its pages are added to the skb. */
static bool ohca_en_rx_append(struct ohca_en_channel *ch, struct ohca_en_rx_frame *frame,
			      struct sk_buff *skb, u32 len)
{
	u32 n = ohca_en_rx_pages_of(len), i, off, part;
	struct ohca_en_rx_frame old;

	if (skb_shinfo(skb)->nr_frags + n > MAX_SKB_FRAGS ||
	    ohca_en_rx_replace(ch, frame, &old, len))
		return false;
	for (i = 0; i < n; i++) {
		off = i ? 0 : OHCA_EN_RX_HEADROOM;
		part = min_t(u32, len, i ? PAGE_SIZE : OHCA_EN_RX_HEAD_LEN);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, old.pages[i], off, part, PAGE_SIZE);
		len -= part;
	}
	return true;
}

/* Handle a frame or a part of one.  Returns the skb when the frame is complete and not dropped. */
static struct sk_buff *ohca_en_rx_skb(struct ohca_en_channel *ch,
				      const struct ohca_en_rx_info *info)
{
	struct ohca_en_rx *rx = &ch->rx;
	struct ohca_en_rx_frame *frame = ohca_en_rx_frame(rx, info->idx);
	bool more = info->opcode == OHCA_CQE_RECV_PART;
	struct sk_buff *skb;

	/* The first of several parts is not copied: pages of the pool are added to its skb. */
	if (!rx->parts && !more && info->len <= OHCA_EN_RX_COPY_LEN) {
		rx->skb = ohca_en_rx_copy(ch, frame, info->len);
	} else if (!rx->parts) {
		rx->skb = ohca_en_rx_build(ch, frame, info->len);
	} else if (rx->skb && !ohca_en_rx_append(ch, frame, rx->skb, info->len)) {
		kfree_skb(rx->skb);
		rx->skb = NULL;
	}
	rx->parts = more;
	if (more)
		return NULL;
	if (!rx->skb)
		DEV_STATS_INC(ch->ndev, rx_dropped);
	skb = rx->skb;
	rx->skb = NULL;
	return skb;
}

/* A large frame from a peer: it is not segmented, and its TCP checksum is partial. */
static bool ohca_en_rx_set_gso(struct sk_buff *skb, const struct ohca_en_rx_info *info)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (!skb_partial_csum_set(skb, info->csum_start, offsetof(struct tcphdr, check)))
		return false;
	shinfo->gso_size = info->mss;
	shinfo->gso_type = info->net_type == OHCA_NET_IPV6 ? SKB_GSO_TCPV6 : SKB_GSO_TCPV4;
	/* The headers are not validated here: the stack does that before it forwards the frame. */
	shinfo->gso_type |= SKB_GSO_DODGY;
	shinfo->gso_segs = 0;
	return true;
}

static void ohca_en_rx_receive(struct ohca_en_channel *ch, const struct ohca_en_rx_info *info)
{
	struct sk_buff *skb = ohca_en_rx_skb(ch, info);
	struct net_device *ndev = ch->ndev;

	if (!skb)
		return;
	if (info->mss && !ohca_en_rx_set_gso(skb, info)) {
		DEV_STATS_INC(ndev, rx_errors);
		kfree_skb(skb);
		return;
	}

	if (info->mss)
		WRITE_ONCE(ch->rx_large, ch->rx_large + 1);
	dev_sw_netstats_rx_add(ndev, skb->len);
	WRITE_ONCE(ch->rx_packets, ch->rx_packets + 1);
	ch->bytes += skb->len;
	skb_record_rx_queue(skb, ch->index);
	if (info->csum_ok && (ndev->features & NETIF_F_RXCSUM))
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->protocol = eth_type_trans(skb, ndev);
	napi_gro_receive(&ch->napi, skb);
}

bool ohca_en_rx_complete(struct ohca_en_channel *ch, const struct ohca_en_rx_info *info)
{
	struct ohca_en_rx *rx = &ch->rx;

	if (info->idx != rx->pi - ohca_en_rx_size(rx)) /* all others are posted */
		return false;

	if (info->status != OHCA_WC_SUCCESS || (!rx->parts && info->len < ETH_HLEN) || !info->len ||
	    ohca_en_rx_pages_of(info->len) > rx->npages)
		DEV_STATS_INC(ch->ndev, rx_errors);
	else
		ohca_en_rx_receive(ch, info);
	ohca_en_rx_post(ch);
	return true;
}

void ohca_en_rx_free(struct ohca_en_channel *ch)
{
	struct ohca_en_rx *rx = &ch->rx;
	struct ohca_en_rx_frame *frame;
	u32 i, j;

	for (i = 0; i < ohca_en_rx_size(rx); i++) {
		frame = ohca_en_rx_frame(rx, i);
		for (j = 0; j < rx->npages && frame->pages[j]; j++)
			page_pool_put_full_page(rx->pool, frame->pages[j], false);
	}
	kfree_skb(rx->skb);
	page_pool_destroy(rx->pool); /* it lasts until all pages have returned */
	kvfree(rx->frames);
}

static int ohca_en_rx_create_pool(struct ohca_en_channel *ch)
{
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = ohca_en_rx_size(&ch->rx),
		.nid = NUMA_NO_NODE,
		.dev = ohca_dmadev(ch->dev),
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
	};
	struct page_pool *pool;

	ohca_compat_pool_set_napi(&params, &ch->napi);
	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	ch->rx.pool = pool;
	return 0;
}

int ohca_en_rx_alloc(struct ohca_en_channel *ch)
{
	struct ohca_en_rx *rx = &ch->rx;
	struct ohca_en_rx_frame *frame;
	u32 i, j;
	int err;

	rx->frames = kvcalloc(ohca_en_rx_size(rx), sizeof(*rx->frames), GFP_KERNEL);
	if (!rx->frames)
		return -ENOMEM;
	err = ohca_en_rx_create_pool(ch);
	if (err) {
		kvfree(rx->frames);
		return err;
	}

	for (i = 0; i < ohca_en_rx_size(rx); i++) {
		frame = ohca_en_rx_frame(rx, i);
		for (j = 0; j < rx->npages; j++) {
			err = ohca_en_rx_page_alloc(rx, &frame->pages[j], &frame->dma[j],
						    GFP_KERNEL);
			if (err) {
				ohca_en_rx_free(ch);
				return err;
			}
		}
	}
	return 0;
}
