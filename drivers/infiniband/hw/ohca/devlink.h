/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the devlink instance, versions, ports and health.
 */

#ifndef _OHCA_DEVLINK_H
#define _OHCA_DEVLINK_H

#include <linux/kconfig.h>
#include <linux/netdevice.h>

#include "health.h"
#include "ohca_compat.h"
#include "port.h"

struct ib_device;
struct ohca_dev;

#if IS_ENABLED(CONFIG_NET_DEVLINK)

/**
 * ohca_devlink_init() - create the devlink instance, which is not registered yet
 * @dev: device, new
 *
 * Return: 0 or a negative errno
 */
int ohca_devlink_init(struct ohca_dev *dev);

/**
 * ohca_devlink_fini() - free the devlink instance
 * @dev: device
 */
void ohca_devlink_fini(struct ohca_dev *dev);

/**
 * ohca_devlink_ports_init() - register the ports; sleeps
 * @dev: device, whose ports are known and have no netdevs yet
 *
 * Return: 0 or a negative errno
 */
int ohca_devlink_ports_init(struct ohca_dev *dev);

/**
 * ohca_devlink_ports_fini() - unregister the ports that are registered; sleeps
 * @dev: device, without netdevs and RDMA device
 */
void ohca_devlink_ports_fini(struct ohca_dev *dev);

/**
 * ohca_devlink_port_set_ib() - show the RDMA device of an InfiniBand port
 * @port: port; nothing is done if devlink does not have it
 * @ibdev: registered, or NULL before it is unregistered
 */
void ohca_devlink_port_set_ib(struct ohca_port *port, struct ib_device *ibdev);

/**
 * ohca_devlink_port_set_netdev() - show the netdev of an Ethernet port once it is registered
 * @port: port; nothing is done if devlink does not have it
 * @ndev: netdev, new
 */
static inline void ohca_devlink_port_set_netdev(struct ohca_port *port, struct net_device *ndev)
{
	if (!port->registered)
		return;
	SET_NETDEV_DEVLINK_PORT(ndev, &port->devlink);
}

/**
 * ohca_devlink_port_show_netdev() - show the netdev of an Ethernet port
 * @port: port; nothing is done if devlink does not have it
 * @ndev: registered, or NULL before it is unregistered
 *
 * Most kernels do that by themselves after ohca_devlink_port_set_netdev().
 */
static inline void ohca_devlink_port_show_netdev(struct ohca_port *port, struct net_device *ndev)
{
	if (!port->registered)
		return;
	ohca_compat_devlink_netdev(&port->devlink, ndev);
}

/**
 * ohca_devlink_show() - let users see the device and its ports
 * @dev: device, fully working
 */
void ohca_devlink_show(struct ohca_dev *dev);

/**
 * ohca_devlink_hide() - undo ohca_devlink_show(), and wait for users; sleeps
 * @dev: device
 */
void ohca_devlink_hide(struct ohca_dev *dev);

/**
 * ohca_devlink_report_fatal() - report to devlink that the device was fenced; sleeps
 * @dev: device
 * @reason: why
 *
 * Recovery begins, unless the user has switched auto_recover off.
 */
void ohca_devlink_report_fatal(struct ohca_dev *dev, const char *reason);

/**
 * ohca_devlink_report_recovery() - report to devlink if the device was recovered by itself; sleeps
 * @dev: device
 */
void ohca_devlink_report_recovery(struct ohca_dev *dev);

#else

static inline int ohca_devlink_init(struct ohca_dev *dev)
{
	return 0;
}

static inline void ohca_devlink_fini(struct ohca_dev *dev)
{
}

static inline int ohca_devlink_ports_init(struct ohca_dev *dev)
{
	return 0;
}

static inline void ohca_devlink_ports_fini(struct ohca_dev *dev)
{
}

static inline void ohca_devlink_port_set_ib(struct ohca_port *port, struct ib_device *ibdev)
{
}

static inline void ohca_devlink_port_set_netdev(struct ohca_port *port, struct net_device *ndev)
{
}

static inline void ohca_devlink_port_show_netdev(struct ohca_port *port, struct net_device *ndev)
{
}

static inline void ohca_devlink_show(struct ohca_dev *dev)
{
}

static inline void ohca_devlink_hide(struct ohca_dev *dev)
{
}

static inline void ohca_devlink_report_fatal(struct ohca_dev *dev, const char *reason)
{
	ohca_recover_begin(dev);
}

static inline void ohca_devlink_report_recovery(struct ohca_dev *dev)
{
}

#endif

#endif /* _OHCA_DEVLINK_H */
