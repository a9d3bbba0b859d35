// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the channels of a port's Ethernet interface, and RSS.
 *
 * Channel n is a queue pair whose completions raise completion vector n.  Several channels are
 * named in an indirection table, and the device chooses one by the same hash as for raw packets.
 * With one channel there is neither table nor hash.
 */

#include <linux/cpumask.h>
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "doorbell.h"
#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

static_assert(OHCA_SLOT_QP < OHCA_SHADOW_DIRECT_SLOTS);

u8 ohca_en_channels_max(struct ohca_dev *dev)
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

static void ohca_en_channels_default_indir(struct ohca_en_channels *channels)
{
	u32 i;

	for (i = 0; i < BIT(channels->log_indir); i++)
		channels->rxfh.indir[i] = ethtool_rxfh_indir_default(i, channels->params.num);
}

void ohca_en_channels_init(struct ohca_en_channels *channels, struct ohca_port *port,
			   struct net_device *ndev, struct work_struct *reset_work)
{
	u32 i, slot = OHCA_SLOT_ETH + (port->num - 1) * OHCA_EN_MAX_CHANNELS;
	struct ohca_dev *dev = port->dev;
	struct ohca_en_channel *ch;

	channels->dev = dev;
	channels->port = port;
	channels->ndev = ndev;
	channels->max = ndev->num_tx_queues;
	channels->log_indir = dev->attr.log_max_ind_tbl;
	channels->params = (struct ohca_en_params){
		.rings.tx_log_size = ohca_en_ring_log_size(dev, OHCA_EN_TX_LOG_SIZE),
		.rings.rx_log_size = ohca_en_ring_log_size(dev, OHCA_EN_RX_LOG_SIZE),
		.num = channels->max,
	};
	channels->coal.frames = 1;
	netdev_rss_key_fill(channels->rxfh.key, sizeof(channels->rxfh.key));
	ohca_en_channels_default_indir(channels);
	for (i = 0; i < channels->max; i++) {
		ch = &channels->ch[i];
		ch->dev = dev;
		ch->port = port;
		ch->ndev = ndev;
		ch->index = i;
		ch->slot = slot + i;
		ch->reset_work = reset_work;
		netif_napi_add(ndev, &ch->napi, ohca_en_channel_poll);
	}
}

/* An error is ignored: this only affects speed. */
void ohca_en_channels_set_xps(struct ohca_en_channels *channels)
{
	cpumask_var_t mask;
	u32 i, n, cpu;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return;
	for (i = 0; i < channels->params.num; i++) {
		cpumask_clear(mask);
		n = 0;
		for_each_possible_cpu(cpu) {
			if (n++ % channels->params.num == i)
				cpumask_set_cpu(cpu, mask);
		}
		netif_set_xps_queue(channels->ndev, mask, i);
	}
	free_cpumask_var(mask);
}

/* RSS */

static int ohca_en_rss_create_tbl(struct ohca_en_channels *channels,
				  const struct ohca_en_rxfh *rxfh, u32 *tbl)
{
	struct ohca_create_ind_tbl_in *in;
	u32 i;
	int err;

	in = kzalloc_obj(*in);
	if (!in)
		return -ENOMEM;
	in->log_size = channels->log_indir;
	for (i = 0; i < BIT(channels->log_indir); i++)
		in->wqn[i] = cpu_to_le32(channels->ch[rxfh->indir[i]].qp.qpn);
	err = ohca_cmd_create_ind_tbl(channels->dev, in, tbl);
	kfree(in);
	return err;
}

static void ohca_en_rss_destroy_tbl(struct ohca_en_channels *channels, u32 tbl)
{
	if (ohca_cmd_destroy_ind_tbl(channels->dev, tbl))
		ohca_fence(channels->dev, "indirection table not destroyed");
}

/* From the creation of this QP on, it spreads the frames. */
static int ohca_en_rss_create(struct ohca_en_channels *channels, const struct ohca_en_rxfh *rxfh,
			      struct ohca_en_rss *rss)
{
	struct ohca_create_rss_in in = {
		.fields = cpu_to_le16(OHCA_RSS_FIELDS),
		.function = OHCA_RSS_TOEPLITZ,
		.port = channels->port->num,
	};
	int err;

	err = ohca_en_rss_create_tbl(channels, rxfh, &rss->tbl);
	if (err)
		return err;
	in.ind_tbl = cpu_to_le32(rss->tbl);
	memcpy(in.key, rxfh->key, sizeof(in.key));
	err = ohca_cmd_create_rss(channels->dev, &in, &rss->qpn);
	if (err)
		ohca_en_rss_destroy_tbl(channels, rss->tbl);
	return err;
}

static void ohca_en_rss_destroy(struct ohca_en_channels *channels, struct ohca_en_rss *rss)
{
	if (!rss->qpn)
		return;
	if (ohca_cmd_destroy_qp(channels->dev, rss->qpn))
		ohca_fence(channels->dev, "queue pair not destroyed");
	ohca_en_rss_destroy_tbl(channels, rss->tbl);
	rss->qpn = 0;
}

int ohca_en_channels_set_rxfh(struct ohca_en_channels *channels, const struct ohca_en_rxfh *rxfh)
{
	struct ohca_en_rss rss;
	int err;

	if (channels->rss.qpn) {
		err = ohca_en_rss_create(channels, rxfh, &rss);
		if (err)
			return err;
		ohca_en_rss_destroy(channels, &channels->rss);
		channels->rss = rss;
	}
	channels->rxfh = *rxfh;
	return 0;
}

/* All channels */

/*
 * NAPI stops first, because it wakes the netdev's queues when they have room.  napi_disable() does
 * not wait until the last poll has armed its CQ.
 */
static void ohca_en_channels_destroy(struct ohca_en_channels *channels, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		ohca_en_channel_stop(&channels->ch[i]);
	synchronize_net();
	netif_tx_disable(channels->ndev);
	for (i = 0; i < num; i++)
		ohca_en_channel_close(&channels->ch[i]);
}

int ohca_en_channels_open(struct ohca_en_channels *channels)
{
	struct ohca_en_params *params = &channels->params;
	u32 i;
	int err;

	for (i = 0; i < params->num; i++) {
		err = ohca_en_channel_open(&channels->ch[i], &params->rings, &channels->coal,
					   channels->pdn);
		if (err)
			goto err_eth;
	}
	if (params->num > 1) {
		err = ohca_en_rss_create(channels, &channels->rxfh, &channels->rss);
		if (err)
			goto err_eth;
	}
	return 0;

err_eth:
	ohca_en_channels_destroy(channels, i);
	return err;
}

void ohca_en_channels_close(struct ohca_en_channels *channels)
{
	ohca_en_rss_destroy(channels, &channels->rss);
	ohca_en_channels_destroy(channels, channels->params.num);
}

static int ohca_en_channels_moderate(struct ohca_en_channels *channels,
				     const struct ohca_en_coal *coal)
{
	u32 i;
	int err;

	for (i = 0; i < channels->params.num; i++) {
		err = ohca_en_channel_moderate(&channels->ch[i], coal);
		if (err)
			return err;
	}
	return 0;
}

int ohca_en_channels_set_coal(struct ohca_en_channels *channels, const struct ohca_en_coal *coal)
{
	struct net_device *ndev = channels->ndev;
	int err;

	if (netif_running(ndev) && netif_device_present(ndev)) {
		err = ohca_en_channels_moderate(channels, coal);
		if (err) {
			ohca_en_channels_moderate(channels, &channels->coal);
			return err;
		}
	}
	channels->coal = *coal;
	return 0;
}

/* A table that the user made is kept; ethtool checks that it names only channels that remain. */
static int ohca_en_channels_apply(struct ohca_en_channels *channels,
				  const struct ohca_en_params *params)
{
	u8 num = channels->params.num;
	int err;

	if (params->num != num) {
		err = netif_set_real_num_queues(channels->ndev, params->num, params->num);
		if (err)
			return err;
	}
	channels->params = *params;
	if (params->num != num) {
		if (!netif_is_rxfh_configured(channels->ndev))
			ohca_en_channels_default_indir(channels);
		ohca_en_channels_set_xps(channels);
	}
	return 0;
}

/*
 * The interface is absent while the queues are replaced.  That may take long, and otherwise the
 * transmit watchdog would report a time-out.  It stays absent if the queues are lost.
 */
static void ohca_en_channels_detach(struct ohca_en_channels *channels)
{
	netif_device_detach(channels->ndev);
	ohca_en_channels_close(channels);
}

static int ohca_en_channels_attach(struct ohca_en_channels *channels)
{
	int err = ohca_en_channels_open(channels);

	if (!err)
		netif_device_attach(channels->ndev); /* also starts the queues */
	return err;
}

void ohca_en_channels_restart(struct ohca_en_channels *channels)
{
	ohca_en_channels_detach(channels);
	if (ohca_en_channels_attach(channels))
		ohca_fence(channels->dev, "Ethernet queues are lost");
}

int ohca_en_channels_set_params(struct ohca_en_channels *channels,
				const struct ohca_en_params *params)
{
	const struct ohca_en_params old = channels->params;
	struct net_device *ndev = channels->ndev;
	int err;

	if (!memcmp(&old, params, sizeof(old)))
		return 0;
	if (!netif_running(ndev))
		return ohca_en_channels_apply(channels, params);

	ohca_en_channels_detach(channels);
	err = ohca_en_channels_apply(channels, params);
	if (!err)
		err = ohca_en_channels_attach(channels);
	if (err && (ohca_en_channels_apply(channels, &old) || ohca_en_channels_attach(channels)))
		ohca_fence(channels->dev, "Ethernet queues are lost");
	return err;
}
