/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the port's Ethernet interface.
 */

#ifndef _OHCA_NETDEV_H
#define _OHCA_NETDEV_H

#include <linux/netdevice.h>
#include <linux/workqueue.h>

#include "queues.h"

struct ohca_dev;

/**
 * struct ohca_netdev - private part of the netdev
 * @dev: device
 * @ndev: netdev
 * @rx_mode_work: tells the device which frames to receive
 * @reset_work: closes and opens the interface
 * @queues: its queues
 */
struct ohca_netdev {
	struct ohca_dev *dev;
	struct net_device *ndev;
	struct work_struct rx_mode_work;
	struct work_struct reset_work;
	struct ohca_queues queues;
};

/**
 * ohca_netdev_init() - create and register the port's netdev, dev->netdev; none without
 * OHCA_FEAT_ETH
 * @dev: device, with its port
 *
 * Return: 0 or a negative errno
 */
int ohca_netdev_init(struct ohca_dev *dev);

/**
 * ohca_netdev_fini() - unregister the netdev and free it
 * @dev: device; its ib_device is not registered, its link is not looked at any more.  It may be
 *	suspended
 */
void ohca_netdev_fini(struct ohca_dev *dev);

/**
 * ohca_netdev_suspend() - detach the netdev, which stays as it is for everybody else, and close it
 * @dev: device; its ib_device is not registered
 *
 * The link is looked at no more before the netdev is resumed.
 */
void ohca_netdev_suspend(struct ohca_dev *dev);

/**
 * ohca_netdev_resume() - open the netdev again, if it is up, and attach it
 * @dev: device, set up anew
 *
 * Return: 0, or a negative errno, and it is still suspended
 */
int ohca_netdev_resume(struct ohca_dev *dev);

#endif /* _OHCA_NETDEV_H */
