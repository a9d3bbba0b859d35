// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the Ethernet interfaces of ports.
 *
 * The driver lets a port's link come up while its interface is up.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/minmax.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>

#include "devlink.h"
#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"

#define OHCA_EN_MAX_MTU 9000

enum ib_mtu ohca_en_active_mtu(const struct ohca_port *port, enum ib_mtu max)
{
	const struct net_device *netdev = READ_ONCE(port->netdev);

	if (!netdev)
		return max;
	return clamp_t(u32, iboe_get_mtu(READ_ONCE(netdev->mtu)), IB_MTU_256, max);
}

static int ohca_en_set_large_rx(struct ohca_en_priv *priv, bool on)
{
	struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_LARGE_RX,
		.large_rx = on,
	};

	if (!(priv->dev->attr.caps & OHCA_CAP_LARGE_RX))
		return 0;
	return ohca_cmd_modify_port(priv->dev, priv->port->num, &params);
}

static int ohca_en_open(struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	int err;

	err = ohca_en_set_large_rx(priv, ndev->features & NETIF_F_GRO_HW);
	if (err)
		return err;
	err = ohca_en_channels_open(&priv->channels);
	if (err)
		return err;
	netif_tx_start_all_queues(ndev);

	err = ohca_port_set_admin(priv->port, true);
	if (err)
		ohca_en_channels_close(&priv->channels);
	return err;
}

static int ohca_en_stop(struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	if (!netif_device_present(ndev))
		return 0; /* suspended, or lost: the queues are closed */
	ohca_port_set_admin(priv->port, false);
	netif_carrier_off(ndev);
	ohca_en_channels_close(&priv->channels);
	return 0;
}

static netdev_tx_t ohca_en_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	return ohca_en_tx_xmit(&priv->channels.ch[skb_get_queue_mapping(skb)], skb);
}

static netdev_features_t ohca_en_features_check(struct sk_buff *skb, struct net_device *ndev,
						netdev_features_t features)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	return ohca_en_tx_features_check(priv->port, skb, vlan_features_check(skb, features));
}

static void ohca_en_tx_timeout(struct net_device *ndev, unsigned int txq)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	schedule_work(&priv->reset_work);
}

/* The device broke the queues, or a send queue timed out. */
static void ohca_en_reset_work(struct work_struct *work)
{
	struct ohca_en_priv *priv = container_of(work, struct ohca_en_priv, reset_work);
	struct net_device *ndev = priv->ndev;

	rtnl_lock();
	if (netif_running(ndev) && netif_device_present(ndev) && !ohca_fenced(priv->dev)) {
		netdev_warn(ndev, "resetting queues\n");
		ohca_en_channels_restart(&priv->channels);
	}
	rtnl_unlock();
}

static int ohca_en_set_mac(struct net_device *ndev, void *p)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_port_params params = {.attr_mask = OHCA_PORT_ATTR_MAC};
	struct sockaddr *addr = p;
	int err;

	err = eth_prepare_mac_addr_change(ndev, addr);
	if (err)
		return err;
	ether_addr_copy(params.mac, addr->sa_data);
	err = ohca_cmd_modify_port(priv->dev, priv->port->num, &params);
	if (err)
		return err;
	eth_commit_mac_addr_change(ndev, addr);
	return 0;
}

static void ohca_en_rx_mode_work(struct work_struct *work)
{
	struct ohca_en_priv *priv = container_of(work, struct ohca_en_priv, rx_mode_work);
	struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_PROMISC,
		.promisc = READ_ONCE(priv->ndev->flags) & IFF_PROMISC,
	};
	int err;

	err = ohca_cmd_modify_port(priv->dev, priv->port->num, &params);
	if (err && !ohca_fenced(priv->dev))
		netdev_err(priv->ndev, "receive mode not set: %pe\n", ERR_PTR(err));
}

/* All multicast frames are received; the stack sets IFF_PROMISC for further unicast addresses. */
static void ohca_en_set_rx_mode(struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	schedule_work(&priv->rx_mode_work);
}

/* Opening the interface configures the features in the device. */
static int ohca_en_set_features(struct net_device *ndev, netdev_features_t features)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);

	if (!((ndev->features ^ features) & NETIF_F_GRO_HW) || !netif_running(ndev) ||
	    !netif_device_present(ndev))
		return 0;
	return ohca_en_set_large_rx(priv, features & NETIF_F_GRO_HW);
}

/* Receive buffers always have room for the largest frame. */
static int ohca_en_change_mtu(struct net_device *ndev, int mtu)
{
	WRITE_ONCE(ndev->mtu, mtu);
	return 0;
}

static const struct net_device_ops ohca_en_netdev_ops = {
	.ndo_change_mtu = ohca_en_change_mtu,
	.ndo_features_check = ohca_en_features_check,
	.ndo_get_stats64 = dev_get_tstats64, /* older kernels do not call it by themselves */
	.ndo_open = ohca_en_open,
	.ndo_set_features = ohca_en_set_features,
	.ndo_set_mac_address = ohca_en_set_mac,
	.ndo_set_rx_mode = ohca_en_set_rx_mode,
	.ndo_start_xmit = ohca_en_xmit,
	.ndo_stop = ohca_en_stop,
	.ndo_tx_timeout = ohca_en_tx_timeout,
	.ndo_validate_addr = eth_validate_addr,
};

static void ohca_en_setup(struct ohca_port *port, struct net_device *ndev)
{
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_dev *dev = port->dev;

	priv->dev = dev;
	priv->port = port;
	priv->ndev = ndev;
	INIT_WORK(&priv->rx_mode_work, ohca_en_rx_mode_work);
	INIT_WORK(&priv->reset_work, ohca_en_reset_work);
	ohca_en_channels_init(&priv->channels, port, ndev, &priv->reset_work);

	SET_NETDEV_DEV(ndev, &dev->pdev->dev);
	ohca_devlink_port_set_netdev(port, ndev);
	ndev->dev_port = port->num - 1;
	ndev->netdev_ops = &ohca_en_netdev_ops;
	ndev->ethtool_ops = &ohca_en_ethtool_ops;
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
	ndev->max_mtu = min(port->attr.max_frame - VLAN_ETH_HLEN, OHCA_EN_MAX_MTU);
	eth_hw_addr_set(ndev, port->attr.mac);
	netif_carrier_off(ndev);
}

static int ohca_en_check(struct ohca_port *port)
{
	if (ohca_en_rx_npages(port) <= min(port->dev->attr.max_recv_sge, OHCA_EN_RX_PAGES) &&
	    port->attr.max_frame >= VLAN_ETH_FRAME_LEN && is_valid_ether_addr(port->attr.mac))
		return 0;

	dev_err(ohca_dmadev(port->dev), "port %u: Ethernet limits are unusable\n", port->num);
	return -EOPNOTSUPP;
}

/* A port without a netdev: the driver brings up the link only of an Ethernet port. */
static int ohca_en_set_link(struct ohca_port *port, bool up)
{
	return ohca_port_is_ib(port) ? 0 : ohca_port_set_admin(port, up);
}

static int ohca_en_create(struct ohca_port *port)
{
	struct ohca_dev *dev = port->dev;
	struct ohca_en_priv *priv;
	struct net_device *ndev;
	int err;

	ndev = alloc_etherdev_mq(sizeof(*priv), ohca_en_channels_max(dev));
	if (!ndev)
		return -ENOMEM;
	ohca_en_setup(port, ndev);
	priv = netdev_priv(ndev);
	err = ohca_cmd_alloc_pd(dev, &priv->channels.pdn);
	if (err)
		goto err_free;

	WRITE_ONCE(port->netdev, ndev);
	err = register_netdev(ndev);
	if (err)
		goto err_pd;
	ohca_devlink_port_show_netdev(port, ndev);
	ohca_en_channels_set_xps(&priv->channels);
	return 0;

err_pd:
	WRITE_ONCE(port->netdev, NULL);
	flush_work(&port->link_work);
	ohca_cmd_free_pd(dev, priv->channels.pdn);
err_free:
	free_netdev(ndev);
	return err;
}

static void ohca_en_free_pd(struct ohca_en_priv *priv)
{
	if (ohca_cmd_free_pd(priv->dev, priv->channels.pdn))
		ohca_fence(priv->dev, "protection domain not freed");
}

/* Remove the port's netdev, which may be suspended. */
static void ohca_en_remove(struct ohca_port *port)
{
	struct net_device *ndev = port->netdev;
	struct ohca_en_priv *priv = netdev_priv(ndev);

	/*
	 * Nothing may change the carrier of a netdev that is unregistered: the stack would have a
	 * reference to it that nobody waits for.  Later runs of the work see no netdev.
	 */
	WRITE_ONCE(port->netdev, NULL);
	flush_work(&port->link_work);
	ohca_devlink_port_show_netdev(port, NULL);
	unregister_netdev(ndev);
	cancel_work_sync(&priv->rx_mode_work);
	cancel_work_sync(&priv->reset_work);
	if (netif_device_present(ndev))
		ohca_en_free_pd(priv);
	free_netdev(ndev);
}

static void ohca_en_port_fini(struct ohca_port *port)
{
	if (port->netdev)
		ohca_en_remove(port);
	else if (port->dev->up)
		ohca_en_set_link(port, false);
}

static void ohca_en_port_suspend(struct ohca_port *port)
{
	struct net_device *ndev = port->netdev;
	struct ohca_en_priv *priv;

	if (!ndev) {
		ohca_en_set_link(port, false);
		return;
	}

	priv = netdev_priv(ndev);
	disable_work_sync(&priv->rx_mode_work);
	rtnl_lock();
	if (netif_running(ndev))
		ohca_en_stop(ndev);
	netif_device_detach(ndev);
	rtnl_unlock();
	ohca_en_free_pd(priv);
}

/* After a reset the device has its permanent MAC address. */
static int ohca_en_reopen(struct ohca_en_priv *priv)
{
	struct ohca_port_params params = {.attr_mask = OHCA_PORT_ATTR_MAC};
	struct net_device *ndev = priv->ndev;
	int err;

	ASSERT_RTNL();

	ether_addr_copy(params.mac, ndev->dev_addr);
	err = ohca_cmd_modify_port(priv->dev, priv->port->num, &params);
	if (err || !netif_running(ndev))
		return err;
	return ohca_en_open(ndev);
}

static int ohca_en_resume(struct ohca_port *port)
{
	struct net_device *ndev = port->netdev;
	struct ohca_en_priv *priv = netdev_priv(ndev);
	struct ohca_dev *dev = port->dev;
	int err;

	err = ohca_cmd_alloc_pd(dev, &priv->channels.pdn);
	if (err)
		return err;

	rtnl_lock();
	err = ohca_en_reopen(priv);
	if (!err)
		netif_device_attach(ndev);
	rtnl_unlock();
	if (err) {
		ohca_cmd_free_pd(dev, priv->channels.pdn);
		return err;
	}
	enable_work(&priv->rx_mode_work);
	schedule_work(&priv->rx_mode_work);
	return 0;
}

static int ohca_en_port_start(struct ohca_port *port)
{
	int err;

	if (ohca_port_is_ib(port)) {
		if (port->netdev)
			ohca_en_remove(port); /* it was an Ethernet port */
		return 0;
	}
	if (!(port->dev->feats & OHCA_FEAT_ETH))
		return port->netdev ? -EOPNOTSUPP : ohca_en_set_link(port, true);

	err = ohca_en_check(port);
	if (err)
		return err;
	return port->netdev ? ohca_en_resume(port) : ohca_en_create(port);
}

int ohca_en_start(struct ohca_dev *dev)
{
	struct ohca_port *port;
	int err;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port)) {
		err = ohca_en_port_start(port);
		if (err)
			goto err_ports;
	}
	return 0;

err_ports:
	while (port-- > &dev->ports[0])
		ohca_en_port_suspend(port);
	return err;
}

void ohca_en_suspend(struct ohca_dev *dev)
{
	struct ohca_port *port;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		ohca_en_port_suspend(port);
}

void ohca_en_fini(struct ohca_dev *dev)
{
	struct ohca_port *port;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		ohca_en_port_fini(port);
}
