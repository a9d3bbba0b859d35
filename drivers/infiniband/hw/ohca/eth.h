/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: a pair of queues that carries the port's Ethernet frames: a queue pair and a
 * completion queue.
 */

#ifndef _OHCA_ETH_H
#define _OHCA_ETH_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "buf.h"
#include "eq.h"

struct ohca_cq_rec;
struct ohca_dev;
struct ohca_wq_rec;

/* Entries of the rings: by default, and at most */
#define OHCA_ETH_TX_LOG_SIZE 8
#define OHCA_ETH_TX_MAX_LOG_SIZE 10
#define OHCA_ETH_RX_LOG_SIZE 8
#define OHCA_ETH_RX_MAX_LOG_SIZE 12
#define OHCA_ETH_MIN_LOG_SIZE 5
#define OHCA_ETH_TX_SGE (MAX_SKB_FRAGS + 1)
#define OHCA_ETH_RX_PAGES 4

/**
 * struct ohca_eth_rings - sizes of the rings
 * @tx_log_size: log2 of the entries of the send queue
 * @rx_log_size: likewise of the receive queue
 */
struct ohca_eth_rings {
	u8 tx_log_size;
	u8 rx_log_size;
};

/**
 * struct ohca_eth_dma - a mapped piece of memory
 * @addr: DMA address
 * @len: bytes
 */
struct ohca_eth_dma {
	dma_addr_t addr;
	u32 len;
};

/**
 * struct ohca_eth_tx_frame - a frame being sent
 * @skb: the frame
 * @nsge: pieces in use
 * @sge: its linear part, then its fragments
 */
struct ohca_eth_tx_frame {
	struct sk_buff *skb;
	u32 nsge;
	struct ohca_eth_dma sge[OHCA_ETH_TX_SGE];
};

/**
 * struct ohca_eth_rx_frame - room for a frame to be received
 * @pages: where it goes
 * @dma: their DMA addresses
 */
struct ohca_eth_rx_frame {
	struct page *pages[OHCA_ETH_RX_PAGES];
	dma_addr_t dma[OHCA_ETH_RX_PAGES];
};

/**
 * struct ohca_eth_tx - send queue
 * @wqes: ring
 * @rec: record
 * @frames: by index modulo ring size
 * @log_size: log2 of the ring size
 * @max_sge: pieces that a frame may have
 * @pi: frames posted; written under the netdev queue's lock
 * @ci: frames completed; written by NAPI
 */
struct ohca_eth_tx {
	void *wqes;
	struct ohca_wq_rec *rec;
	struct ohca_eth_tx_frame *frames;
	u8 log_size;
	u32 max_sge;
	u32 pi;
	u32 ci;
};

/**
 * struct ohca_eth_rx - receive queue; always full but while a frame is in NAPI's hands
 * @wqes: ring
 * @rec: record
 * @frames: by index modulo ring size
 * @log_size: log2 of the ring size
 * @npages: pages for the largest frame
 * @pi: buffers posted
 * @skb: a large frame of which some parts have come; NULL: it is lost
 * @parts: it is not at its end
 */
struct ohca_eth_rx {
	void *wqes;
	struct ohca_wq_rec *rec;
	struct ohca_eth_rx_frame *frames;
	u8 log_size;
	u32 npages;
	u32 pi;
	struct sk_buff *skb;
	bool parts;
};

/**
 * struct ohca_eth - a pair of queues
 * @dev: device
 * @ndev: netdev
 * @index: number of the netdev's queues that they are
 * @napi: polls the CQ
 * @broken: work to schedule when the device gives the queues up
 * @open: the queues exist; under RTNL
 * @cq_buf: CQ: ring and record
 * @cq_rec: its record
 * @cq: CQ
 * @cq_log_size: log2 of its size, room for a completion of every frame
 * @cq_ci: completions taken; NAPI's
 * @cq_arm: events asked for; NAPI's
 * @qp_buf: queue pair: both rings and records
 * @qp: queue pair
 * @tx: send queue
 * @rx: receive queue
 * @tx_stopped: how often the send queue was full; written under the netdev queue's lock
 * @tx_packets: frames sent; written by NAPI
 * @rx_packets: frames received; written by NAPI
 * @rx_large: large frames that came as they were sent; written by NAPI
 */
struct ohca_eth {
	struct ohca_dev *dev;
	struct net_device *ndev;
	u32 index;
	struct napi_struct napi;
	struct work_struct *broken;
	bool open;
	struct ohca_buf cq_buf;
	struct ohca_cq_rec *cq_rec;
	struct ohca_core_cq cq;
	u8 cq_log_size;
	u32 cq_ci;
	u32 cq_arm;
	struct ohca_buf qp_buf;
	struct ohca_core_qp qp;
	struct ohca_eth_tx tx;
	struct ohca_eth_rx rx;
	u64 tx_stopped;
	u64 tx_packets;
	u64 rx_packets;
	u64 rx_large;
};

/**
 * ohca_eth_rx_npages() - pages for the port's largest frame
 * @dev: device
 *
 * Return: number of pages; more than OHCA_ETH_RX_PAGES if that is too large for this driver
 */
u32 ohca_eth_rx_npages(struct ohca_dev *dev);

/**
 * ohca_eth_open() - create the queues and start them
 * @eth: queues; @dev, @ndev, @index, @napi and @broken are set
 * @rings: how large they are
 * @pdn: protection domain
 *
 * Return: 0 or a negative errno
 */
int ohca_eth_open(struct ohca_eth *eth, const struct ohca_eth_rings *rings, u32 pdn);

/**
 * ohca_eth_stop() - handle no more completions, and wake the netdev's queue no more
 * @eth: queues.  Nothing is done if they are closed already
 */
void ohca_eth_stop(struct ohca_eth *eth);

/**
 * ohca_eth_close() - destroy the queues, with the frames in them
 * @eth: queues, stopped, and so is the netdev's since.  Nothing is done if they are closed already
 */
void ohca_eth_close(struct ohca_eth *eth);

/**
 * ohca_eth_features_check() - as ndo_features_check: what the device can't segment
 * @dev: device
 * @skb: frame
 * @features: offloads that are on
 *
 * Return: those of @features to use
 */
netdev_features_t ohca_eth_features_check(struct ohca_dev *dev, struct sk_buff *skb,
					  netdev_features_t features);

/**
 * ohca_eth_xmit() - send a frame
 * @eth: queues
 * @skb: frame
 *
 * Return: as ndo_start_xmit
 */
netdev_tx_t ohca_eth_xmit(struct ohca_eth *eth, struct sk_buff *skb);

/**
 * ohca_eth_poll() - NAPI's poll function
 * @napi: of struct ohca_eth
 * @budget: frames to receive at most
 *
 * Return: frames received
 */
int ohca_eth_poll(struct napi_struct *napi, int budget);

#endif /* _OHCA_ETH_H */
