/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: a port's Ethernet interface, its channels, and their rings.
 */

#ifndef _OHCA_EN_H
#define _OHCA_EN_H

#include <linux/dim.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include <ohca/ohca_cmd.h>
#include <ohca/ohca_queue.h>

#include "buf.h"
#include "rsc.h"

struct ethtool_rxfh_param;
struct ohca_dev;
struct ohca_port;
struct page_pool;

#define OHCA_EN_MAX_CHANNELS 8

/* Entries of the rings: default and maximum */
#define OHCA_EN_TX_LOG_SIZE 8
#define OHCA_EN_TX_MAX_LOG_SIZE 10
#define OHCA_EN_RX_LOG_SIZE 8
#define OHCA_EN_RX_MAX_LOG_SIZE 12
#define OHCA_EN_MIN_LOG_SIZE 5
/* Kernels can be built with more fragments than the device can gather. */
#define OHCA_EN_TX_SGE MIN(MAX_SKB_FRAGS + 1, OHCA_MAX_SGE)
#define OHCA_EN_RX_PAGES 4

/* Send entries have room for OHCA_EN_TX_SGE pieces, receive entries for OHCA_EN_RX_PAGES. */
#define OHCA_EN_TX_LOG_STRIDE (OHCA_EN_TX_SGE <= 29 ? 9 : 10)
#define OHCA_EN_RX_LOG_STRIDE 7
static_assert(OHCA_SQ_WQE_HDR + OHCA_EN_TX_SGE * sizeof(struct ohca_sge) <=
	      1 << OHCA_EN_TX_LOG_STRIDE);
static_assert(OHCA_RQ_WQE_HDR + OHCA_EN_RX_PAGES * sizeof(struct ohca_sge) <=
	      1 << OHCA_EN_RX_LOG_STRIDE);

/**
 * struct ohca_en_rings - sizes of the rings
 * @tx_log_size: log2 of the entries of the send queue
 * @rx_log_size: log2 of the entries of the receive queue
 */
struct ohca_en_rings {
	u8 tx_log_size;
	u8 rx_log_size;
};

/**
 * struct ohca_en_dma - a mapped piece of memory
 * @addr: DMA address
 * @len: bytes
 */
struct ohca_en_dma {
	dma_addr_t addr;
	u32 len;
};

/**
 * struct ohca_en_tx_frame - a frame being sent
 * @skb: the frame
 * @nsge: pieces in use
 * @sge: its linear part, then its fragments
 */
struct ohca_en_tx_frame {
	struct sk_buff *skb;
	u32 nsge;
	struct ohca_en_dma sge[OHCA_EN_TX_SGE];
};

/**
 * struct ohca_en_rx_frame - buffer for a frame to be received
 * @pages: pages of the buffer
 * @dma: their DMA addresses
 */
struct ohca_en_rx_frame {
	struct page *pages[OHCA_EN_RX_PAGES];
	dma_addr_t dma[OHCA_EN_RX_PAGES];
};

/**
 * struct ohca_en_tx - send queue
 * @wqes: ring
 * @rec: record
 * @frames: by index modulo ring size
 * @log_size: log2 of the ring size
 * @max_sge: pieces that a frame may have
 * @pi: frames posted; written under the netdev queue's lock
 * @ci: frames completed; written by NAPI
 */
struct ohca_en_tx {
	void *wqes;
	struct ohca_wq_rec *rec;
	struct ohca_en_tx_frame *frames;
	u8 log_size;
	u32 max_sge;
	u32 pi;
	u32 ci;
};

/**
 * struct ohca_en_rx - receive queue; always full, except while NAPI handles a frame
 * @wqes: ring
 * @rec: record
 * @frames: by index modulo ring size
 * @pool: pool of their pages
 * @log_size: log2 of the ring size
 * @npages: pages for the largest frame
 * @pi: buffers posted
 * @skb: a large frame of which some parts have arrived; NULL: it is dropped
 * @parts: more parts of that frame will arrive
 */
struct ohca_en_rx {
	void *wqes;
	struct ohca_wq_rec *rec;
	struct ohca_en_rx_frame *frames;
	struct page_pool *pool;
	u8 log_size;
	u32 npages;
	u32 pi;
	struct sk_buff *skb;
	bool parts;
};

/**
 * struct ohca_en_channel - a channel: a queue pair and a completion queue
 * @dev: device
 * @ndev: netdev
 * @port: port
 * @index: number of its transmit and receive queue in the netdev
 * @slot: slot of its send queue in UAR 0's shadow page
 * @napi: polls the CQ
 * @reset_work: work to schedule when the device breaks the queues
 * @open: the queues exist; under RTNL
 * @cq_buf: CQ: ring and record
 * @cq_rec: its record
 * @cq: CQ
 * @cq_log_size: log2 of its size, room for a completion of every frame
 * @cq_ci: completions taken; used by NAPI
 * @cq_arm: events requested
 * @qp_buf: queue pair: both rings and records
 * @qp: queue pair
 * @tx: send queue
 * @rx: receive queue
 * @adaptive: the moderation follows the load; written while NAPI is disabled
 * @dim: what it is then; used by NAPI
 * @events: completion events; written by the interrupt handler
 * @bytes: sent and received; used by NAPI
 * @tx_stopped: how often the send queue was full; written under the netdev queue's lock
 * @tx_packets: frames sent; written by NAPI
 * @rx_packets: frames received; written by NAPI
 * @rx_large: large frames that arrived unsegmented; written by NAPI
 */
struct ohca_en_channel {
	struct ohca_dev *dev;
	struct ohca_port *port;
	struct net_device *ndev;
	u32 index;
	u32 slot;
	struct napi_struct napi;
	struct work_struct *reset_work;
	bool open;
	struct ohca_buf cq_buf;
	struct ohca_cq_rec *cq_rec;
	struct ohca_core_cq cq;
	u8 cq_log_size;
	u32 cq_ci;
	atomic_t cq_arm;
	struct ohca_buf qp_buf;
	struct ohca_core_qp qp;
	struct ohca_en_tx tx;
	struct ohca_en_rx rx;
	bool adaptive;
	struct dim dim;
	u16 events;
	u64 bytes;
	u64 tx_stopped;
	u64 tx_packets;
	u64 rx_packets;
	u64 rx_large;
};

/**
 * struct ohca_en_params - number and sizes of channels
 * @rings: sizes of the rings of each
 * @num: number of channels
 */
struct ohca_en_params {
	struct ohca_en_rings rings;
	u8 num;
};

/**
 * struct ohca_en_coal - moderation of a channel's interrupts
 * @usecs: an interrupt comes that long after a completion, in us; 0: at once
 * @frames: or after so many completions; 0: no limit
 * @adaptive: the driver chooses both
 */
struct ohca_en_coal {
	u16 usecs;
	u16 frames;
	bool adaptive;
};

/**
 * struct ohca_en_rxfh - settings of RSS
 * @key: of the hash
 * @indir: indirection table, numbers of queues
 */
struct ohca_en_rxfh {
	u8 key[OHCA_RSS_KEY_LEN];
	u8 indir[OHCA_MAX_IND_TBL];
};

/**
 * struct ohca_en_rss - objects of RSS in the device
 * @tbl: indirection table
 * @qpn: queue pair that uses it; 0: there are none, all frames go to one queue
 */
struct ohca_en_rss {
	u32 tbl;
	u32 qpn;
};

/**
 * struct ohca_en_channels - all channels of the netdev
 * @dev: device
 * @port: port
 * @ndev: netdev
 * @max: maximum number of channels
 * @log_indir: log2 of the table's size
 * @pdn: protection domain
 * @params: number and sizes of channels; changed while they are closed
 * @coal: moderation of their interrupts
 * @rxfh: settings of RSS, for several channels
 * @rss: objects of RSS, while the channels are open
 * @ch: the channels
 */
struct ohca_en_channels {
	struct ohca_dev *dev;
	struct ohca_port *port;
	struct net_device *ndev;
	u8 max;
	u8 log_indir;
	u32 pdn;
	struct ohca_en_params params;
	struct ohca_en_coal coal;
	struct ohca_en_rxfh rxfh;
	struct ohca_en_rss rss;
	struct ohca_en_channel ch[OHCA_EN_MAX_CHANNELS];
};

/**
 * struct ohca_en_priv - private part of the netdev
 * @dev: device
 * @port: its port
 * @ndev: netdev
 * @rx_mode_work: sets the receive mode of the device
 * @reset_work: closes and opens the interface
 * @channels: its channels
 */
struct ohca_en_priv {
	struct ohca_dev *dev;
	struct ohca_port *port;
	struct net_device *ndev;
	struct work_struct rx_mode_work;
	struct work_struct reset_work;
	struct ohca_en_channels channels;
};

/* en_netdev.c */

/**
 * ohca_en_start() - let the Ethernet ports work, with their netdevs if there is OHCA_FEAT_ETH
 * @dev: device
 *
 * Each port->netdev is created and registered, or if it exists already, opened if it is up, and
 * attached.  That of a port that is InfiniBand now is removed.
 *
 * Return: 0, or a negative errno, and all are suspended that exist
 */
int ohca_en_start(struct ohca_dev *dev);

/**
 * ohca_en_suspend() - detach the netdevs, without changing their settings, and close them
 * @dev: device; its ib_device is not registered
 *
 * The links are not watched until ohca_en_start().
 */
void ohca_en_suspend(struct ohca_dev *dev);

/**
 * ohca_en_fini() - unregister the netdevs and free them
 * @dev: device; its ib_device is not registered, and its links are not watched any more.  They may
 *	be suspended
 */
void ohca_en_fini(struct ohca_dev *dev);

/**
 * ohca_en_active_mtu() - the largest path MTU whose packets fit into the interface's MTU
 * @port: port
 * @max: the port's largest
 *
 * Return: at least the smallest path MTU; @max without an interface
 */
enum ib_mtu ohca_en_active_mtu(const struct ohca_port *port, enum ib_mtu max);

/**
 * ohca_en_set_carrier() - report the port's link to the network stack
 * @ndev: netdev
 * @up: the link is up
 */
static inline void ohca_en_set_carrier(struct net_device *ndev, bool up)
{
	if (up)
		netif_carrier_on(ndev);
	else
		netif_carrier_off(ndev);
}

/* en_ethtool.c */
extern const struct ethtool_ops ohca_en_ethtool_ops;

/**
 * ohca_en_get_rxfh() - how received frames are spread, as an operation of ethtool
 * @ndev: netdev
 * @rxfh: filled
 *
 * Return: 0
 */
int ohca_en_get_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh);

/**
 * ohca_en_set_rxfh() - change how received frames are spread, as an operation of ethtool
 * @ndev: netdev
 * @rxfh: as they are to be
 * @extack: unused
 *
 * Return: 0 or a negative errno
 */
int ohca_en_set_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh,
		     struct netlink_ext_ack *extack);

/* en_channels.c */

/**
 * ohca_en_channels_max() - maximum number of channels
 * @dev: device
 *
 * Return: at least 1
 */
u8 ohca_en_channels_max(struct ohca_dev *dev);

/**
 * ohca_en_channels_init() - prepare the channels of a new netdev, which are closed
 * @channels: channels; @pdn has to be set before they are opened
 * @port: port
 * @ndev: netdev
 * @reset_work: work to schedule when the device breaks queues
 */
void ohca_en_channels_init(struct ohca_en_channels *channels, struct ohca_port *port,
			   struct net_device *ndev, struct work_struct *reset_work);

/**
 * ohca_en_channels_set_xps() - assign a transmit queue to each processor
 * @channels: channels
 */
void ohca_en_channels_set_xps(struct ohca_en_channels *channels);

/**
 * ohca_en_channels_open() - create the channels and start them, but not the netdev's queues
 * @channels: channels; the netdev's queues are stopped
 *
 * Return: 0 or a negative errno
 */
int ohca_en_channels_open(struct ohca_en_channels *channels);

/**
 * ohca_en_channels_close() - stop and destroy the channels, and stop the netdev's queues
 * @channels: channels; they may be closed already
 */
void ohca_en_channels_close(struct ohca_en_channels *channels);

/**
 * ohca_en_channels_restart() - close the channels and open them again
 * @channels: channels, open; under RTNL
 *
 * The device is fenced if that fails.
 */
void ohca_en_channels_restart(struct ohca_en_channels *channels);

/**
 * ohca_en_channels_set_params() - change the channels; the old ones are restored if that fails
 * @channels: channels; under RTNL
 * @params: new number and sizes
 *
 * Return: 0 or a negative errno
 */
int ohca_en_channels_set_params(struct ohca_en_channels *channels,
				const struct ohca_en_params *params);

/**
 * ohca_en_channels_set_rxfh() - change the settings of RSS, at once if the channels are open
 * @channels: channels; under RTNL
 * @rxfh: new settings
 *
 * Return: 0, or a negative errno, and nothing changes
 */
int ohca_en_channels_set_rxfh(struct ohca_en_channels *channels, const struct ohca_en_rxfh *rxfh);

/**
 * ohca_en_channels_set_coal() - change the moderation of interrupts, at once if the channels are
 * open
 * @channels: channels; under RTNL
 * @coal: new settings
 *
 * Return: 0, or a negative errno, and the old settings apply
 */
int ohca_en_channels_set_coal(struct ohca_en_channels *channels, const struct ohca_en_coal *coal);

/* en_coal.c */

/**
 * ohca_en_coal_start() - moderate the interrupts of a channel
 * @ch: channel, with queues, whose NAPI is disabled
 * @coal: settings
 *
 * Return: 0 or a negative errno
 */
int ohca_en_coal_start(struct ohca_en_channel *ch, const struct ohca_en_coal *coal);

/**
 * ohca_en_coal_stop() - stop changing the moderation of a channel
 * @ch: channel, after ohca_en_coal_start(); its NAPI is disabled
 */
void ohca_en_coal_stop(struct ohca_en_channel *ch);

/**
 * ohca_en_coal_sample() - let an adaptive moderation see the load
 * @ch: channel; called by NAPI when it has handled all completions
 */
void ohca_en_coal_sample(struct ohca_en_channel *ch);

/* en_channel.c */

/**
 * ohca_en_channel_open() - create the queues of a channel and start them
 * @ch: channel, prepared by ohca_en_channels_init()
 * @rings: sizes of the rings
 * @coal: moderation of its interrupts
 * @pdn: protection domain
 *
 * Return: 0 or a negative errno
 */
int ohca_en_channel_open(struct ohca_en_channel *ch, const struct ohca_en_rings *rings,
			 const struct ohca_en_coal *coal, u32 pdn);

/**
 * ohca_en_channel_moderate() - change the moderation of a channel's interrupts
 * @ch: channel, open
 * @coal: new settings
 *
 * Return: 0 or a negative errno
 */
int ohca_en_channel_moderate(struct ohca_en_channel *ch, const struct ohca_en_coal *coal);

/**
 * ohca_en_channel_stop() - stop handling completions and waking the netdev's queue
 * @ch: channel.  Nothing is done if it is closed already
 */
void ohca_en_channel_stop(struct ohca_en_channel *ch);

/**
 * ohca_en_channel_close() - destroy the queues of a channel, with the frames in them
 * @ch: channel, stopped; the netdev's queue was stopped after that.  Nothing is done if it is
 *	closed
 */
void ohca_en_channel_close(struct ohca_en_channel *ch);

/**
 * ohca_en_channel_poll() - NAPI's poll function
 * @napi: of struct ohca_en_channel
 * @budget: maximum number of frames to receive
 *
 * Return: frames received
 */
int ohca_en_channel_poll(struct napi_struct *napi, int budget);

/* en_tx.c */

static inline u32 ohca_en_tx_size(const struct ohca_en_tx *tx)
{
	return BIT(tx->log_size);
}

/**
 * ohca_en_tx_features_check() - ndo_features_check: clear offloads that the device can't do for a
 * frame
 * @port: port
 * @skb: frame
 * @features: offloads that are on
 *
 * Return: those of @features to use
 */
netdev_features_t ohca_en_tx_features_check(const struct ohca_port *port, struct sk_buff *skb,
					    netdev_features_t features);

/**
 * ohca_en_tx_max_sge() - pieces that a frame may have
 * @dev: device
 *
 * Return: number
 */
u32 ohca_en_tx_max_sge(const struct ohca_dev *dev);

/**
 * ohca_en_tx_xmit() - send a frame
 * @ch: channel
 * @skb: frame
 *
 * Return: as ndo_start_xmit
 */
netdev_tx_t ohca_en_tx_xmit(struct ohca_en_channel *ch, struct sk_buff *skb);

/**
 * ohca_en_tx_complete() - complete frames that have been sent
 * @ch: channel
 * @idx: index of the last one
 * @ok: without an error
 * @budget: NAPI's
 *
 * Return: false if the last one was not posted, and nothing is done
 */
bool ohca_en_tx_complete(struct ohca_en_channel *ch, u32 idx, bool ok, int budget);

/**
 * ohca_en_tx_alloc() - allocate the frames of a send queue
 * @ch: channel; the ring's size is set
 *
 * Return: 0 or -ENOMEM
 */
int ohca_en_tx_alloc(struct ohca_en_channel *ch);

/**
 * ohca_en_tx_free() - free the frames of a send queue, and their skbs
 * @ch: channel, whose queue pair is destroyed
 */
void ohca_en_tx_free(struct ohca_en_channel *ch);

/* en_rx.c */

/**
 * struct ohca_en_rx_info - fields of a receive completion
 * @idx: index of the entry
 * @len: bytes in it
 * @mss: large frame: bytes of TCP data in a segment; else 0
 * @csum_start: large frame: offset of its TCP header
 * @net_type: large frame: OHCA_NET_*
 * @status: enum ohca_wc_status
 * @opcode: OHCA_CQE_RECV, or OHCA_CQE_RECV_PART
 * @csum_ok: the checksums are good
 */
struct ohca_en_rx_info {
	u32 idx;
	u32 len;
	u16 mss;
	u16 csum_start;
	u8 net_type;
	u8 status;
	u8 opcode;
	bool csum_ok;
};

static inline u32 ohca_en_rx_size(const struct ohca_en_rx *rx)
{
	return BIT(rx->log_size);
}

/**
 * ohca_en_rx_npages() - pages for the port's largest frame
 * @port: port
 *
 * Return: number of pages; more than OHCA_EN_RX_PAGES if the frame is too large for this driver
 */
u32 ohca_en_rx_npages(const struct ohca_port *port);

/**
 * ohca_en_rx_complete() - handle a receive entry that was used
 * @ch: channel
 * @info: fields of the completion
 *
 * The entry is posted again; ohca_en_rx_publish() makes it visible to the device.
 *
 * Return: false if it is not the one that is used next, and nothing is done
 */
bool ohca_en_rx_complete(struct ohca_en_channel *ch, const struct ohca_en_rx_info *info);

/**
 * ohca_en_rx_publish() - make posted entries visible to the device
 * @ch: channel
 */
void ohca_en_rx_publish(struct ohca_en_channel *ch);

/**
 * ohca_en_rx_fill() - post all entries of a new receive queue
 * @ch: channel
 */
void ohca_en_rx_fill(struct ohca_en_channel *ch);

/**
 * ohca_en_rx_alloc() - allocate the frames of a receive queue, and pages for them
 * @ch: channel; the ring's size is set
 *
 * Return: 0 or -ENOMEM
 */
int ohca_en_rx_alloc(struct ohca_en_channel *ch);

/**
 * ohca_en_rx_free() - free the frames of a receive queue, with their pages
 * @ch: channel, whose queue pair is destroyed
 */
void ohca_en_rx_free(struct ohca_en_channel *ch);

#endif /* _OHCA_EN_H */
