/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the netdev's queues, and the hash by which the device spreads frames over them.
 */

#ifndef _OHCA_QUEUES_H
#define _OHCA_QUEUES_H

#include <linux/netdevice.h>

#include <ohca/ohca_cmd.h>

#include "eth.h"

#define OHCA_MAX_QUEUES 8

/**
 * struct ohca_queues_shape - how many queues there are, and how large
 * @rings: sizes of the rings of each
 * @num: pairs of queues
 */
struct ohca_queues_shape {
	struct ohca_eth_rings rings;
	u8 num;
};

/**
 * struct ohca_queues_hash - how the device spreads frames
 * @key: of the hash
 * @indir: the table, numbers of queues
 */
struct ohca_queues_hash {
	u8 key[OHCA_RSS_KEY_LEN];
	u8 indir[OHCA_MAX_IND_TBL];
};

/**
 * struct ohca_queues_spread - what spreads frames in the device
 * @tbl: indirection table
 * @qpn: queue pair that has it; 0: there are none, all frames go to one queue
 */
struct ohca_queues_spread {
	u32 tbl;
	u32 qpn;
};

/**
 * struct ohca_queues - all queues of the netdev
 * @dev: device
 * @ndev: netdev
 * @max: pairs that there may be
 * @log_indir: log2 of the table's size
 * @pdn: protection domain
 * @shape: how many and how large they are, when they are open; changed while they are closed
 * @hash: how frames are spread if there are several
 * @spread: what does it, while they are open
 * @eth: the pairs
 */
struct ohca_queues {
	struct ohca_dev *dev;
	struct net_device *ndev;
	u8 max;
	u8 log_indir;
	u32 pdn;
	struct ohca_queues_shape shape;
	struct ohca_queues_hash hash;
	struct ohca_queues_spread spread;
	struct ohca_eth eth[OHCA_MAX_QUEUES];
};

/**
 * ohca_queues_max() - pairs of queues that there may be
 * @dev: device
 *
 * Return: at least 1
 */
u8 ohca_queues_max(struct ohca_dev *dev);

/**
 * ohca_queues_init() - prepare the queues of a new netdev, which are closed
 * @queues: queues; @pdn is to be set before they are opened
 * @dev: device
 * @ndev: netdev
 * @broken: work to schedule when the device gives queues up
 */
void ohca_queues_init(struct ohca_queues *queues, struct ohca_dev *dev, struct net_device *ndev,
		      struct work_struct *broken);

/**
 * ohca_queues_set_xps() - give each processor a queue to send by
 * @queues: queues
 */
void ohca_queues_set_xps(struct ohca_queues *queues);

/**
 * ohca_queues_open() - create the queues and start them; the netdev's are up to the caller
 * @queues: queues; the netdev's are stopped
 *
 * Return: 0 or a negative errno
 */
int ohca_queues_open(struct ohca_queues *queues);

/**
 * ohca_queues_close() - stop the queues and the netdev's, and destroy them with the frames in them
 * @queues: queues; they may be closed already
 */
void ohca_queues_close(struct ohca_queues *queues);

/**
 * ohca_queues_reshape() - have other queues when they are opened again
 * @queues: queues, closed; under RTNL
 * @shape: those
 *
 * Return: 0 or a negative errno
 */
int ohca_queues_reshape(struct ohca_queues *queues, const struct ohca_queues_shape *shape);

/**
 * ohca_queues_set_hash() - spread frames in another way, at once if the queues are open
 * @queues: queues; under RTNL
 * @hash: that way
 *
 * Return: 0 or a negative errno, and all is as before
 */
int ohca_queues_set_hash(struct ohca_queues *queues, const struct ohca_queues_hash *hash);

#endif /* _OHCA_QUEUES_H */
