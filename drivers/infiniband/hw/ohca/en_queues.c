// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the netdev's queues, and the hash by which the device spreads frames over them.
 *
 * Queue n is a queue pair whose completions interrupt by completion vector n.  With several, an
 * indirection table names them, and the device chooses by the same hash as for raw packets.  With
 * one there is neither.
 */

#include <linux/cpumask.h>
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "doorbell.h"
#include "en.h"
#include "ohca.h"

static_assert(OHCA_SLOT_ETH + OHCA_EN_MAX_CHANNELS <= OHCA_SLOT_QP);

u8 ohca_en_queues_max(struct ohca_dev *dev)
{
	u32 max = min_t(u32, min(num_online_cpus(), dev->eqs.ncomp), OHCA_EN_MAX_CHANNELS);

	if (!(dev->attr.caps & OHCA_CAP_ETH_QUEUES))
		return 1;
	return min_t(u32, max, BIT(dev->attr.log_max_ind_tbl));
}

static u8 ohca_en_ring_log_size(struct ohca_dev *dev, u8 want)
{
	return min_t(u32, ilog2(dev->attr.max_qp_wr), want);
}

static void ohca_en_queues_default_indir(struct ohca_en_queues *queues)
{
	u32 i;

	for (i = 0; i < BIT(queues->log_indir); i++)
		queues->hash.indir[i] = ethtool_rxfh_indir_default(i, queues->shape.num);
}

void ohca_en_queues_init(struct ohca_en_queues *queues, struct ohca_dev *dev,
			 struct net_device *ndev, struct work_struct *broken)
{
	struct ohca_en_channel *ch;
	u32 i;

	queues->dev = dev;
	queues->ndev = ndev;
	queues->max = ndev->num_tx_queues;
	queues->log_indir = dev->attr.log_max_ind_tbl;
	queues->shape = (struct ohca_en_queues_shape){
		.rings.tx_log_size = ohca_en_ring_log_size(dev, OHCA_EN_TX_LOG_SIZE),
		.rings.rx_log_size = ohca_en_ring_log_size(dev, OHCA_EN_RX_LOG_SIZE),
		.num = queues->max,
	};
	netdev_rss_key_fill(queues->hash.key, sizeof(queues->hash.key));
	ohca_en_queues_default_indir(queues);
	for (i = 0; i < queues->max; i++) {
		ch = &queues->ch[i];
		ch->dev = dev;
		ch->ndev = ndev;
		ch->index = i;
		ch->broken = broken;
		netif_napi_add(ndev, &ch->napi, ohca_en_channel_poll);
	}
}

/* It is a matter of speed only. */
void ohca_en_queues_set_xps(struct ohca_en_queues *queues)
{
	cpumask_var_t mask;
	u32 i, n, cpu;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	for (i = 0; i < queues->shape.num; i++) {
		cpumask_clear(mask);
		n = 0;
		for_each_possible_cpu(cpu) {
			if (n++ % queues->shape.num == i)
				cpumask_set_cpu(cpu, mask);
		}
		netif_set_xps_queue(queues->ndev, mask, i);
	}
	free_cpumask_var(mask);
}

/* Spreading */

static int ohca_en_queues_create_tbl(struct ohca_en_queues *queues,
				     const struct ohca_en_queues_hash *hash, u32 *tbl)
{
	struct ohca_create_ind_tbl_in *in;
	u32 i;
	int err;

	in = kzalloc_obj(*in);
	if (!in)
		return -ENOMEM;
	in->log_size = queues->log_indir;
	for (i = 0; i < BIT(queues->log_indir); i++)
		in->wqn[i] = cpu_to_le32(queues->ch[hash->indir[i]].qp.qpn);
	err = ohca_cmd_create_ind_tbl(queues->dev, in, tbl);
	kfree(in);
	return err;
}

static void ohca_en_queues_destroy_tbl(struct ohca_en_queues *queues, u32 tbl)
{
	if (ohca_cmd_destroy_ind_tbl(queues->dev, tbl))
		ohca_fence(queues->dev, "indirection table not destroyed");
}

/* From now on it's this that spreads frames. */
static int ohca_en_queues_start_spread(struct ohca_en_queues *queues,
				       const struct ohca_en_queues_hash *hash,
				       struct ohca_en_queues_spread *spread)
{
	struct ohca_create_rss_in in = {
		.fields = cpu_to_le16(OHCA_RSS_FIELDS),
		.function = OHCA_RSS_TOEPLITZ,
	};
	int err;

	err = ohca_en_queues_create_tbl(queues, hash, &spread->tbl);
	if (err)
		return err;
	in.ind_tbl = cpu_to_le32(spread->tbl);
	memcpy(in.key, hash->key, sizeof(in.key));
	err = ohca_cmd_create_rss(queues->dev, &in, &spread->qpn);
	if (err)
		ohca_en_queues_destroy_tbl(queues, spread->tbl);
	return err;
}

static void ohca_en_queues_stop_spread(struct ohca_en_queues *queues,
				       struct ohca_en_queues_spread *spread)
{
	if (!spread->qpn)
		return;
	if (ohca_cmd_destroy_qp(queues->dev, spread->qpn))
		ohca_fence(queues->dev, "queue pair not destroyed");
	ohca_en_queues_destroy_tbl(queues, spread->tbl);
	spread->qpn = 0;
}

int ohca_en_queues_set_hash(struct ohca_en_queues *queues, const struct ohca_en_queues_hash *hash)
{
	struct ohca_en_queues_spread spread;
	int err;

	if (queues->spread.qpn) {
		err = ohca_en_queues_start_spread(queues, hash, &spread);
		if (err)
			return err;
		ohca_en_queues_stop_spread(queues, &queues->spread);
		queues->spread = spread;
	}
	queues->hash = *hash;
	return 0;
}

/* All of them */

/* NAPI stops first: it wakes the netdev's queues when there is room. */
static void ohca_en_queues_destroy(struct ohca_en_queues *queues, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		ohca_en_channel_stop(&queues->ch[i]);
	netif_tx_disable(queues->ndev);
	for (i = 0; i < num; i++)
		ohca_en_channel_close(&queues->ch[i]);
}

int ohca_en_queues_open(struct ohca_en_queues *queues)
{
	struct ohca_en_queues_shape *shape = &queues->shape;
	u32 i;
	int err;

	for (i = 0; i < shape->num; i++) {
		err = ohca_en_channel_open(&queues->ch[i], &shape->rings, queues->pdn);
		if (err)
			goto err_eth;
	}
	if (shape->num > 1) {
		err = ohca_en_queues_start_spread(queues, &queues->hash, &queues->spread);
		if (err)
			goto err_eth;
	}
	return 0;

err_eth:
	ohca_en_queues_destroy(queues, i);
	return err;
}

void ohca_en_queues_close(struct ohca_en_queues *queues)
{
	ohca_en_queues_stop_spread(queues, &queues->spread);
	ohca_en_queues_destroy(queues, queues->shape.num);
}

/* A table that the user made stays: ethtool makes sure that it names none that goes. */
static int ohca_en_queues_set_shape(struct ohca_en_queues *queues,
				    const struct ohca_en_queues_shape *shape)
{
	u8 num = queues->shape.num;
	int err;

	if (shape->num != num) {
		err = netif_set_real_num_queues(queues->ndev, shape->num, shape->num);
		if (err)
			return err;
	}
	queues->shape = *shape;
	if (shape->num != num) {
		if (!netif_is_rxfh_configured(queues->ndev))
			ohca_en_queues_default_indir(queues);
		ohca_en_queues_set_xps(queues);
	}
	return 0;
}

/*
 * While the queues are replaced, which may take long, nobody is to take it for a time-out that
 * nothing is sent: the interface is absent.  It stays so if the queues are lost.
 */
static void ohca_en_queues_detach(struct ohca_en_queues *queues)
{
	netif_device_detach(queues->ndev);
	ohca_en_queues_close(queues);
}

static int ohca_en_queues_attach(struct ohca_en_queues *queues)
{
	int err = ohca_en_queues_open(queues);

	if (!err)
		netif_device_attach(queues->ndev); /* starts them, too */
	return err;
}

void ohca_en_queues_restart(struct ohca_en_queues *queues)
{
	ohca_en_queues_detach(queues);
	if (ohca_en_queues_attach(queues))
		ohca_fence(queues->dev, "Ethernet queues are lost");
}

int ohca_en_queues_reshape(struct ohca_en_queues *queues, const struct ohca_en_queues_shape *shape)
{
	const struct ohca_en_queues_shape old = queues->shape;
	struct net_device *ndev = queues->ndev;
	int err;

	if (!memcmp(&old, shape, sizeof(old)))
		return 0;
	if (!netif_running(ndev))
		return ohca_en_queues_set_shape(queues, shape);

	ohca_en_queues_detach(queues);
	err = ohca_en_queues_set_shape(queues, shape);
	if (!err)
		err = ohca_en_queues_attach(queues);
	if (err && (ohca_en_queues_set_shape(queues, &old) || ohca_en_queues_attach(queues)))
		ohca_fence(queues->dev, "Ethernet queues are lost");
	return err;
}
