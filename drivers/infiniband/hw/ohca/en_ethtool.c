// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: ethtool operations of the port's Ethernet interface.
 */

#include <linux/ethtool.h>

#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

static void ohca_en_get_drvinfo(struct net_device *ndev, struct ethtool_drvinfo *info)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	u64 ver = priv->dev->attr.fw_ver;

	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	strscpy(info->bus_info, pci_name(priv->dev->pdev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%u", upper_32_bits(ver),
		 (u32)(ver >> 16) & 0xffff, (u32)ver & 0xffff);
}

static int ohca_en_get_link_ksettings(struct net_device *ndev, struct ethtool_link_ksettings *ks)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	u32 speed = netif_carrier_ok(ndev) ? ohca_port_speed(priv->port) : 0;

	ethtool_link_ksettings_zero_link_mode(ks, supported);
	ethtool_link_ksettings_zero_link_mode(ks, advertising);
	ks->base.autoneg = AUTONEG_DISABLE;
	ks->base.port = PORT_NONE;
	ks->base.speed = speed ?: SPEED_UNKNOWN;
	ks->base.duplex = speed ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	return 0;
}

static u32 ohca_en_max_ring(const struct ohca_en_priv *priv, u8 max_log_size)
{
	return min_t(u32, rounddown_pow_of_two(priv->dev->attr.max_qp_wr), BIT(max_log_size));
}

static void ohca_en_get_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
				  struct kernel_ethtool_ringparam *kernel_ring,
				  struct netlink_ext_ack *extack)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	ring->tx_max_pending = ohca_en_max_ring(priv, OHCA_EN_TX_MAX_LOG_SIZE);
	ring->rx_max_pending = ohca_en_max_ring(priv, OHCA_EN_RX_MAX_LOG_SIZE);
	ring->tx_pending = BIT(priv->channels.params.rings.tx_log_size);
	ring->rx_pending = BIT(priv->channels.params.rings.rx_log_size);
}

/* Sizes are rounded up to powers of two. */
static int ohca_en_set_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
				 struct netlink_ext_ack *extack)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_en_params params = priv->channels.params;

	if (min(ring->tx_pending, ring->rx_pending) < BIT(OHCA_EN_MIN_LOG_SIZE)) {
		static_assert(BIT(OHCA_EN_MIN_LOG_SIZE) == 32);
		NL_SET_ERR_MSG_MOD(extack, "at least 32 entries");
		return -EINVAL;
	}
	params.rings.tx_log_size = order_base_2(ring->tx_pending);
	params.rings.rx_log_size = order_base_2(ring->rx_pending);
	return ohca_en_channels_set_params(&priv->channels, &params);
}

static int ohca_en_get_coalesce(struct net_device *ndev, struct ethtool_coalesce *ec,
				struct kernel_ethtool_coalesce *kernel_ec,
				struct netlink_ext_ack *extack)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	const struct ohca_en_coal *coal = &priv->channels.coal;

	ec->rx_coalesce_usecs = coal->usecs;
	ec->rx_max_coalesced_frames = coal->frames;
	ec->use_adaptive_rx_coalesce = coal->adaptive;
	return 0;
}

static int ohca_en_set_coalesce(struct net_device *ndev, struct ethtool_coalesce *ec,
				struct kernel_ethtool_coalesce *kernel_ec,
				struct netlink_ext_ack *extack)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_en_coal coal = {
		.usecs = ec->rx_coalesce_usecs,
		.frames = ec->rx_max_coalesced_frames,
		.adaptive = ec->use_adaptive_rx_coalesce,
	};

	if (!(priv->dev->attr.caps & OHCA_CAP_CQ_MODER))
		return -EOPNOTSUPP;
	if (max(ec->rx_coalesce_usecs, ec->rx_max_coalesced_frames) > U16_MAX) {
		NL_SET_ERR_MSG_MOD(extack, "at most 65535 us and frames");
		return -EINVAL;
	}
	if (!coal.usecs && coal.frames > 1) {
		NL_SET_ERR_MSG_MOD(extack, "rx-frames needs rx-usecs");
		return -EINVAL;
	}
	return ohca_en_channels_set_coal(&priv->channels, &coal);
}

static void ohca_en_get_channels(struct net_device *ndev, struct ethtool_channels *ch)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	ch->max_combined = priv->channels.max;
	ch->combined_count = priv->channels.params.num;
}

static int ohca_en_set_channels(struct net_device *ndev, struct ethtool_channels *ch)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_en_params params = priv->channels.params;

	params.num = ch->combined_count;
	return ohca_en_channels_set_params(&priv->channels, &params);
}

#if OHCA_COMPAT_RX_RING_COUNT
static u32 ohca_en_get_rx_ring_count(struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	return priv->channels.params.num;
}
#else
static int ohca_en_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *info, u32 *rules)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	if (info->cmd != ETHTOOL_GRXRINGS)
		return -EOPNOTSUPP;
	info->data = priv->channels.params.num;
	return 0;
}
#endif

/* There is no table if there can be only one queue. */
static u32 ohca_en_get_rxfh_indir_size(struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	return priv->channels.max > 1 ? BIT(priv->channels.log_indir) : 0;
}

static u32 ohca_en_get_rxfh_key_size(struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	return priv->channels.max > 1 ? OHCA_RSS_KEY_LEN : 0;
}

int ohca_en_get_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	const struct ohca_en_rxfh *hash = &priv->channels.rxfh;
	u32 i;

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	for (i = 0; rxfh->indir && i < rxfh->indir_size; i++)
		rxfh->indir[i] = hash->indir[i];
	if (rxfh->key)
		memcpy(rxfh->key, hash->key, sizeof(hash->key));
	return 0;
}

int ohca_en_set_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh,
		     struct netlink_ext_ack *extack)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_en_rxfh hash = priv->channels.rxfh;
	u32 i;

	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE && rxfh->hfunc != ETH_RSS_HASH_TOP)
		return -EOPNOTSUPP;
	/* If there is no table, ethtool's default one is empty, but not NULL. */
	for (i = 0; rxfh->indir && i < ohca_en_get_rxfh_indir_size(ndev); i++)
		hash.indir[i] = rxfh->indir[i];
	if (rxfh->key)
		memcpy(hash.key, rxfh->key, sizeof(hash.key));
	return ohca_en_channels_set_rxfh(&priv->channels, &hash);
}

/* Sums over all queues, then counters of each possible queue */
static const char ohca_en_stats[][ETH_GSTRING_LEN] = {"tx_stopped", "rx_large"};
static const char ohca_en_queue_stats[][ETH_GSTRING_LEN] = {"tx_packets", "rx_packets"};

static int ohca_en_get_sset_count(struct net_device *ndev, int sset)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	if (sset != ETH_SS_STATS || !(priv->dev->attr.caps & OHCA_CAP_COUNTERS))
		return -EOPNOTSUPP;
	return OHCA_NUM_COUNTERS + ARRAY_SIZE(ohca_en_stats) +
	       priv->channels.max * ARRAY_SIZE(ohca_en_queue_stats);
}

/* The device's counters, then those of the driver */
static void ohca_en_get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	int i, j;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		ethtool_sprintf(&data, "%s%s", i < OHCA_NUM_RDMA_COUNTERS ? "rdma_" : "",
				ohca_stat_descs[i].name);
	for (i = 0; i < ARRAY_SIZE(ohca_en_stats); i++)
		ethtool_puts(&data, ohca_en_stats[i]);
	for (i = 0; i < priv->channels.max; i++) {
		for (j = 0; j < ARRAY_SIZE(ohca_en_queue_stats); j++)
			ethtool_sprintf(&data, "queue%d_%s", i, ohca_en_queue_stats[j]);
	}
}

static void ohca_en_get_ethtool_stats(struct net_device *ndev, struct ethtool_stats *stats,
				      u64 *data)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	u64 tx_stopped = 0, rx_large = 0;
	const struct ohca_en_channel *ch;
	int i;

	if (ohca_cmd_query_counters(priv->dev, OHCA_PORT_COUNTERS, priv->port->num, data))
		memset(data, 0, OHCA_NUM_COUNTERS * sizeof(*data));
	data += OHCA_NUM_COUNTERS;
	for (i = 0; i < priv->channels.max; i++) {
		ch = &priv->channels.ch[i];
		tx_stopped += READ_ONCE(ch->tx_stopped);
		rx_large += READ_ONCE(ch->rx_large);
	}
	*data++ = tx_stopped;
	*data++ = rx_large;
	for (i = 0; i < priv->channels.max; i++) {
		ch = &priv->channels.ch[i];
		*data++ = READ_ONCE(ch->tx_packets);
		*data++ = READ_ONCE(ch->rx_packets);
	}
}

const struct ethtool_ops ohca_en_ethtool_ops = {
	/* Those of a channel's completion queue, which both directions use */
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS | ETHTOOL_COALESCE_RX_MAX_FRAMES |
				     ETHTOOL_COALESCE_USE_ADAPTIVE_RX,
	.get_channels = ohca_en_get_channels,
	.get_coalesce = ohca_en_get_coalesce,
	.get_drvinfo = ohca_en_get_drvinfo,
	.get_ethtool_stats = ohca_en_get_ethtool_stats,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = ohca_en_get_link_ksettings,
	.get_ringparam = ohca_en_get_ringparam,
#if OHCA_COMPAT_RX_RING_COUNT
	.get_rx_ring_count = ohca_en_get_rx_ring_count,
#else
	.get_rxnfc = ohca_en_get_rxnfc,
#endif
	.get_rxfh = OHCA_COMPAT_RXFH_OP(get_rxfh),
	.get_rxfh_indir_size = ohca_en_get_rxfh_indir_size,
	.get_rxfh_key_size = ohca_en_get_rxfh_key_size,
	.get_sset_count = ohca_en_get_sset_count,
	.get_strings = ohca_en_get_strings,
	.get_ts_info = ethtool_op_get_ts_info, /* see ohca_en_tx_xmit() */
	.set_channels = ohca_en_set_channels,
	.set_coalesce = ohca_en_set_coalesce,
	.set_ringparam = ohca_en_set_ringparam,
	.set_rxfh = OHCA_COMPAT_RXFH_OP(set_rxfh),
};
