// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the port's Ethernet interface.
 *
 * The port's link is up while the interface is, as far as it depends on this side.
 */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>

#include "netdev.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "stats.h"

#define OHCA_MAX_MTU 9000

static int ohca_netdev_set_large_rx(struct ohca_netdev *priv, bool on)
{
	struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_LARGE_RX,
		.large_rx = on,
	};

	if (!(priv->dev->attr.caps & OHCA_CAP_LARGE_RX))
		return 0;
	return ohca_cmd_modify_port(priv->dev, OHCA_PORT, &params);
}

static int ohca_netdev_open(struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	int err;

	err = ohca_netdev_set_large_rx(priv, ndev->features & NETIF_F_GRO_HW);
	if (err)
		return err;
	err = ohca_queues_open(&priv->queues);
	if (err)
		return err;
	netif_tx_start_all_queues(ndev);

	err = ohca_port_set_admin(priv->dev, true);
	if (err)
		ohca_queues_close(&priv->queues);
	return err;
}

static int ohca_netdev_stop(struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	if (!netif_device_present(ndev))
		return 0; /* suspended, or lost: the queues are closed */
	ohca_port_set_admin(priv->dev, false);
	netif_carrier_off(ndev);
	ohca_queues_close(&priv->queues);
	return 0;
}

static netdev_tx_t ohca_netdev_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	return ohca_eth_xmit(&priv->queues.eth[skb_get_queue_mapping(skb)], skb);
}

static netdev_features_t ohca_netdev_features_check(struct sk_buff *skb, struct net_device *ndev,
						    netdev_features_t features)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	return ohca_eth_features_check(priv->dev, skb, vlan_features_check(skb, features));
}

static void ohca_netdev_tx_timeout(struct net_device *ndev, unsigned int txq)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	schedule_work(&priv->reset_work);
}

/*
 * While the queues are replaced, which may take long, nobody is to take it for a time-out that
 * nothing is sent: the interface is absent.  It stays so if the queues are lost.
 */
static void ohca_netdev_close_queues(struct ohca_netdev *priv)
{
	netif_device_detach(priv->ndev);
	ohca_queues_close(&priv->queues);
}

static int ohca_netdev_open_queues(struct ohca_netdev *priv)
{
	int err = ohca_queues_open(&priv->queues);

	if (!err)
		netif_device_attach(priv->ndev); /* starts them, too */
	return err;
}

/* The queues broke, or send no more: begin anew. */
static void ohca_netdev_reset_work(struct work_struct *work)
{
	struct ohca_netdev *priv = container_of(work, struct ohca_netdev, reset_work);
	struct net_device *ndev = priv->ndev;

	rtnl_lock();
	if (netif_running(ndev) && netif_device_present(ndev) && !ohca_fenced(priv->dev)) {
		netdev_warn(ndev, "queues are set up anew\n");
		ohca_netdev_close_queues(priv);
		if (ohca_netdev_open_queues(priv))
			ohca_fence(priv->dev, "Ethernet queues are lost");
	}
	rtnl_unlock();
}

static int ohca_netdev_set_mac(struct net_device *ndev, void *p)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	struct ohca_port_params params = {.attr_mask = OHCA_PORT_ATTR_MAC};
	struct sockaddr *addr = p;
	int err;

	err = eth_prepare_mac_addr_change(ndev, addr);
	if (err)
		return err;
	ether_addr_copy(params.mac, addr->sa_data);
	err = ohca_cmd_modify_port(priv->dev, OHCA_PORT, &params);
	if (err)
		return err;
	eth_commit_mac_addr_change(ndev, addr);
	return 0;
}

static void ohca_netdev_rx_mode_work(struct work_struct *work)
{
	struct ohca_netdev *priv = container_of(work, struct ohca_netdev, rx_mode_work);
	struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_PROMISC,
		.promisc = READ_ONCE(priv->ndev->flags) & IFF_PROMISC,
	};
	int err;

	err = ohca_cmd_modify_port(priv->dev, OHCA_PORT, &params);
	if (err && !ohca_fenced(priv->dev))
		netdev_err(priv->ndev, "receive mode not set: %pe\n", ERR_PTR(err));
}

/* Multicast always comes in; the stack sets IFF_PROMISC for further unicast addresses. */
static void ohca_netdev_set_rx_mode(struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	schedule_work(&priv->rx_mode_work);
}

/* What the device knows of, it is told again when the interface opens. */
static int ohca_netdev_set_features(struct net_device *ndev, netdev_features_t features)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	if (!((ndev->features ^ features) & NETIF_F_GRO_HW) || !netif_running(ndev) ||
	    !netif_device_present(ndev))
		return 0;
	return ohca_netdev_set_large_rx(priv, features & NETIF_F_GRO_HW);
}

/* Receive buffers always have room for the largest frame. */
static int ohca_netdev_change_mtu(struct net_device *ndev, int mtu)
{
	WRITE_ONCE(ndev->mtu, mtu);
	return 0;
}

static const struct net_device_ops ohca_netdev_ops = {
	.ndo_change_mtu = ohca_netdev_change_mtu,
	.ndo_features_check = ohca_netdev_features_check,
	.ndo_open = ohca_netdev_open,
	.ndo_set_features = ohca_netdev_set_features,
	.ndo_set_mac_address = ohca_netdev_set_mac,
	.ndo_set_rx_mode = ohca_netdev_set_rx_mode,
	.ndo_start_xmit = ohca_netdev_xmit,
	.ndo_stop = ohca_netdev_stop,
	.ndo_tx_timeout = ohca_netdev_tx_timeout,
	.ndo_validate_addr = eth_validate_addr,
};

static void ohca_get_drvinfo(struct net_device *ndev, struct ethtool_drvinfo *info)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	u64 ver = priv->dev->attr.fw_ver;

	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	strscpy(info->bus_info, pci_name(priv->dev->pdev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u.%u", upper_32_bits(ver),
		 (u32)(ver >> 16) & 0xffff, (u32)ver & 0xffff);
}

static int ohca_get_link_ksettings(struct net_device *ndev, struct ethtool_link_ksettings *ks)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	u32 speed = netif_carrier_ok(ndev) ? ohca_port_speed(priv->dev) : 0;

	ethtool_link_ksettings_zero_link_mode(ks, supported);
	ethtool_link_ksettings_zero_link_mode(ks, advertising);
	ks->base.autoneg = AUTONEG_DISABLE;
	ks->base.port = PORT_NONE;
	ks->base.speed = speed ?: SPEED_UNKNOWN;
	ks->base.duplex = speed ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	return 0;
}

static u32 ohca_max_ring(const struct ohca_netdev *priv, u8 max_log_size)
{
	return min_t(u32, rounddown_pow_of_two(priv->dev->attr.max_qp_wr), BIT(max_log_size));
}

static void ohca_get_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
			       struct kernel_ethtool_ringparam *kernel_ring,
			       struct netlink_ext_ack *extack)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	ring->tx_max_pending = ohca_max_ring(priv, OHCA_ETH_TX_MAX_LOG_SIZE);
	ring->rx_max_pending = ohca_max_ring(priv, OHCA_ETH_RX_MAX_LOG_SIZE);
	ring->tx_pending = BIT(priv->queues.shape.rings.tx_log_size);
	ring->rx_pending = BIT(priv->queues.shape.rings.rx_log_size);
}

/* Have other queues, or those as before if that fails. */
static int ohca_netdev_reshape(struct ohca_netdev *priv, const struct ohca_queues_shape *shape)
{
	const struct ohca_queues_shape old = priv->queues.shape;
	struct net_device *ndev = priv->ndev;
	int err;

	if (!memcmp(&old, shape, sizeof(old)))
		return 0;
	if (!netif_running(ndev))
		return ohca_queues_reshape(&priv->queues, shape);

	ohca_netdev_close_queues(priv);
	err = ohca_queues_reshape(&priv->queues, shape);
	if (!err)
		err = ohca_netdev_open_queues(priv);
	if (err && (ohca_queues_reshape(&priv->queues, &old) || ohca_netdev_open_queues(priv)))
		ohca_fence(priv->dev, "Ethernet queues are lost");
	return err;
}

/* Sizes are powers of two: the next one. */
static int ohca_set_ringparam(struct net_device *ndev, struct ethtool_ringparam *ring,
			      struct kernel_ethtool_ringparam *kernel_ring,
			      struct netlink_ext_ack *extack)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	struct ohca_queues_shape shape = priv->queues.shape;

	if (min(ring->tx_pending, ring->rx_pending) < BIT(OHCA_ETH_MIN_LOG_SIZE)) {
		NL_SET_ERR_MSG_FMT_MOD(extack, "at least %lu entries", BIT(OHCA_ETH_MIN_LOG_SIZE));
		return -EINVAL;
	}
	shape.rings.tx_log_size = order_base_2(ring->tx_pending);
	shape.rings.rx_log_size = order_base_2(ring->rx_pending);
	return ohca_netdev_reshape(priv, &shape);
}

static void ohca_get_channels(struct net_device *ndev, struct ethtool_channels *ch)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	ch->max_combined = priv->queues.max;
	ch->combined_count = priv->queues.shape.num;
}

static int ohca_set_channels(struct net_device *ndev, struct ethtool_channels *ch)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	struct ohca_queues_shape shape = priv->queues.shape;

	shape.num = ch->combined_count;
	return ohca_netdev_reshape(priv, &shape);
}

#if OHCA_COMPAT_RX_RING_COUNT
static u32 ohca_get_rx_ring_count(struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	return priv->queues.shape.num;
}
#else
static int ohca_get_rxnfc(struct net_device *ndev, struct ethtool_rxnfc *info, u32 *rules)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	if (info->cmd != ETHTOOL_GRXRINGS)
		return -EOPNOTSUPP;
	info->data = priv->queues.shape.num;
	return 0;
}
#endif

/* Without a table if there is never more than one queue. */
static u32 ohca_get_rxfh_indir_size(struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	return priv->queues.max > 1 ? BIT(priv->queues.log_indir) : 0;
}

static u32 ohca_get_rxfh_key_size(struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	return priv->queues.max > 1 ? OHCA_RSS_KEY_LEN : 0;
}

static int ohca_get_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	const struct ohca_queues_hash *hash = &priv->queues.hash;
	u32 i;

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	for (i = 0; rxfh->indir && i < rxfh->indir_size; i++)
		rxfh->indir[i] = hash->indir[i];
	if (rxfh->key)
		memcpy(rxfh->key, hash->key, sizeof(hash->key));
	return 0;
}

static int ohca_set_rxfh(struct net_device *ndev, struct ethtool_rxfh_param *rxfh,
			 struct netlink_ext_ack *extack)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	struct ohca_queues_hash hash = priv->queues.hash;
	u32 i;

	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE && rxfh->hfunc != ETH_RSS_HASH_TOP)
		return -EOPNOTSUPP;
	for (i = 0; rxfh->indir && i < BIT(priv->queues.log_indir); i++)
		hash.indir[i] = rxfh->indir[i];
	if (rxfh->key)
		memcpy(hash.key, rxfh->key, sizeof(hash.key));
	return ohca_queues_set_hash(&priv->queues, &hash);
}

/* Of all queues together, then of each that there may be */
static const char ohca_netdev_stats[][ETH_GSTRING_LEN] = {"tx_stopped", "rx_large"};
static const char ohca_queue_stats[][ETH_GSTRING_LEN] = {"tx_packets", "rx_packets"};

static int ohca_get_sset_count(struct net_device *ndev, int sset)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	if (sset != ETH_SS_STATS || !(priv->dev->attr.caps & OHCA_CAP_COUNTERS))
		return -EOPNOTSUPP;
	return OHCA_NUM_COUNTERS + ARRAY_SIZE(ohca_netdev_stats) +
	       priv->queues.max * ARRAY_SIZE(ohca_queue_stats);
}

/* Most are of RDMA; what is told of Ethernet frames, the interface's own counters don't. */
static void ohca_get_strings(struct net_device *ndev, u32 sset, u8 *data)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	int i, j;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < OHCA_NUM_COUNTERS; i++)
		ethtool_sprintf(&data, "%s%s", i < OHCA_NUM_RDMA_COUNTERS ? "rdma_" : "",
				ohca_stat_descs[i].name);
	for (i = 0; i < ARRAY_SIZE(ohca_netdev_stats); i++)
		ethtool_puts(&data, ohca_netdev_stats[i]);
	for (i = 0; i < priv->queues.max; i++) {
		for (j = 0; j < ARRAY_SIZE(ohca_queue_stats); j++)
			ethtool_sprintf(&data, "queue%d_%s", i, ohca_queue_stats[j]);
	}
}

static void ohca_get_ethtool_stats(struct net_device *ndev, struct ethtool_stats *stats, u64 *data)
{
	struct ohca_netdev *priv = netdev_priv(ndev);
	u64 tx_stopped = 0, rx_large = 0;
	const struct ohca_eth *eth;
	int i;

	if (ohca_cmd_query_counters(priv->dev, OHCA_PORT_COUNTERS, data))
		memset(data, 0, OHCA_NUM_COUNTERS * sizeof(*data));
	data += OHCA_NUM_COUNTERS;
	for (i = 0; i < priv->queues.max; i++) {
		eth = &priv->queues.eth[i];
		tx_stopped += READ_ONCE(eth->tx_stopped);
		rx_large += READ_ONCE(eth->rx_large);
	}
	*data++ = tx_stopped;
	*data++ = rx_large;
	for (i = 0; i < priv->queues.max; i++) {
		eth = &priv->queues.eth[i];
		*data++ = READ_ONCE(eth->tx_packets);
		*data++ = READ_ONCE(eth->rx_packets);
	}
}

static const struct ethtool_ops ohca_ethtool_ops = {
	.get_channels = ohca_get_channels,
	.get_drvinfo = ohca_get_drvinfo,
	.get_ethtool_stats = ohca_get_ethtool_stats,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = ohca_get_link_ksettings,
	.get_ringparam = ohca_get_ringparam,
#if OHCA_COMPAT_RX_RING_COUNT
	.get_rx_ring_count = ohca_get_rx_ring_count,
#else
	.get_rxnfc = ohca_get_rxnfc,
#endif
	.get_rxfh = ohca_get_rxfh,
	.get_rxfh_indir_size = ohca_get_rxfh_indir_size,
	.get_rxfh_key_size = ohca_get_rxfh_key_size,
	.get_sset_count = ohca_get_sset_count,
	.get_strings = ohca_get_strings,
	.set_channels = ohca_set_channels,
	.set_ringparam = ohca_set_ringparam,
	.set_rxfh = ohca_set_rxfh,
};

static void ohca_netdev_setup(struct ohca_dev *dev, struct net_device *ndev)
{
	struct ohca_netdev *priv = netdev_priv(ndev);

	priv->dev = dev;
	priv->ndev = ndev;
	INIT_WORK(&priv->rx_mode_work, ohca_netdev_rx_mode_work);
	INIT_WORK(&priv->reset_work, ohca_netdev_reset_work);
	ohca_queues_init(&priv->queues, dev, ndev, &priv->reset_work);

	SET_NETDEV_DEV(ndev, &dev->pdev->dev);
	ndev->netdev_ops = &ohca_netdev_ops;
	ndev->ethtool_ops = &ohca_ethtool_ops;
	ndev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	ndev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM;
	if (dev->attr.caps & OHCA_CAP_TSO)
		ndev->hw_features |= NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN;
	if (dev->attr.caps & OHCA_CAP_LARGE_RX)
		ndev->hw_features |= NETIF_F_GRO_HW;
	ndev->features = ndev->hw_features | NETIF_F_HIGHDMA;
	ndev->vlan_features = ndev->features;
	ndev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	ndev->min_mtu = ETH_MIN_MTU;
	ndev->max_mtu = min(dev->port.attr.max_frame - VLAN_ETH_HLEN, OHCA_MAX_MTU);
	eth_hw_addr_set(ndev, dev->port.attr.mac);
	netif_carrier_off(ndev);
}

static int ohca_netdev_check(struct ohca_dev *dev)
{
	if (ohca_eth_rx_npages(dev) <= min(dev->attr.max_recv_sge, OHCA_ETH_RX_PAGES) &&
	    dev->port.attr.max_frame >= VLAN_ETH_FRAME_LEN &&
	    is_valid_ether_addr(dev->port.attr.mac))
		return 0;

	dev_err(ohca_dmadev(dev), "port's Ethernet limits are unusable\n");
	return -EOPNOTSUPP;
}

int ohca_netdev_init(struct ohca_dev *dev)
{
	struct ohca_netdev *priv;
	struct net_device *ndev;
	int err;

	if (!(dev->feats & OHCA_FEAT_ETH))
		return ohca_port_set_admin(dev, true);

	err = ohca_netdev_check(dev);
	if (err)
		return err;

	ndev = alloc_etherdev_mq(sizeof(*priv), ohca_queues_max(dev));
	if (!ndev)
		return -ENOMEM;
	ohca_netdev_setup(dev, ndev);
	priv = netdev_priv(ndev);
	err = ohca_cmd_alloc_pd(dev, &priv->queues.pdn);
	if (err)
		goto err_free;

	WRITE_ONCE(dev->netdev, ndev);
	err = register_netdev(ndev);
	if (err)
		goto err_pd;
	ohca_queues_set_xps(&priv->queues);
	return 0;

err_pd:
	WRITE_ONCE(dev->netdev, NULL);
	flush_work(&dev->port.link_work);
	ohca_cmd_free_pd(dev, priv->queues.pdn);
err_free:
	free_netdev(ndev);
	return err;
}

void ohca_netdev_fini(struct ohca_dev *dev)
{
	struct net_device *ndev = dev->netdev;
	struct ohca_netdev *priv;

	if (!ndev) {
		ohca_port_set_admin(dev, false);
		return;
	}

	priv = netdev_priv(ndev);
	unregister_netdev(ndev);
	cancel_work_sync(&priv->rx_mode_work);
	cancel_work_sync(&priv->reset_work);
	WRITE_ONCE(dev->netdev, NULL);
	flush_work(&dev->port.link_work); /* any later one sees no netdev */
	if (netif_device_present(ndev) && ohca_cmd_free_pd(dev, priv->queues.pdn))
		ohca_fence(dev, "protection domain not freed");
	free_netdev(ndev);
}

void ohca_netdev_suspend(struct ohca_dev *dev)
{
	struct net_device *ndev = dev->netdev;
	struct ohca_netdev *priv;

	if (!ndev) {
		ohca_port_set_admin(dev, false);
		return;
	}

	priv = netdev_priv(ndev);
	disable_work_sync(&priv->rx_mode_work);
	rtnl_lock();
	if (netif_running(ndev))
		ohca_netdev_stop(ndev);
	netif_device_detach(ndev);
	rtnl_unlock();
	if (ohca_cmd_free_pd(dev, priv->queues.pdn))
		ohca_fence(dev, "protection domain not freed");
}

/* The device has forgotten what it was told of its port. */
static int ohca_netdev_reopen(struct ohca_netdev *priv)
{
	struct ohca_port_params params = {.attr_mask = OHCA_PORT_ATTR_MAC};
	struct net_device *ndev = priv->ndev;
	int err;

	ASSERT_RTNL();

	ether_addr_copy(params.mac, ndev->dev_addr);
	err = ohca_cmd_modify_port(priv->dev, OHCA_PORT, &params);
	if (err || !netif_running(ndev))
		return err;
	return ohca_netdev_open(ndev);
}

int ohca_netdev_resume(struct ohca_dev *dev)
{
	struct net_device *ndev = dev->netdev;
	struct ohca_netdev *priv;
	int err;

	if (!ndev)
		return ohca_port_set_admin(dev, true);

	if (!(dev->feats & OHCA_FEAT_ETH))
		return -EOPNOTSUPP;
	err = ohca_netdev_check(dev);
	if (err)
		return err;

	priv = netdev_priv(ndev);
	err = ohca_cmd_alloc_pd(dev, &priv->queues.pdn);
	if (err)
		return err;

	rtnl_lock();
	err = ohca_netdev_reopen(priv);
	if (!err)
		netif_device_attach(ndev);
	rtnl_unlock();
	if (err) {
		ohca_cmd_free_pd(dev, priv->queues.pdn);
		return err;
	}
	enable_work(&priv->rx_mode_work);
	schedule_work(&priv->rx_mode_work);
	return 0;
}
