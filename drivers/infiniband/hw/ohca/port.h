/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the ports and their links.
 */

#ifndef _OHCA_PORT_H
#define _OHCA_PORT_H

#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/devlink.h>
#include <rdma/ib_verbs.h>

#include "fw_cmd.h"

struct net_device;
struct ohca_dev;
struct ohca_link_ops;

/**
 * struct ohca_port - a port
 * @dev: device
 * @num: number, from 1 on
 * @link: verbs that depend on its link layer
 * @netdev: its Ethernet interface, NULL without OHCA_FEAT_ETH and for InfiniBand
 * @devlink: the port of devlink; see devlink.h
 * @registered: @devlink is registered; written while the device is stopped
 * @attr: attributes; those of the link are from the last query
 * @link_work: queries the link, updates the netdev's carrier, dispatches events
 * @up: the port was active at the last query; only @link_work writes it
 * @link_tried: OHCA_LINK_* that a reset was to give it, and did not; 0: none
 * @announce: dispatch an event for a link that is up, even if it was up before
 */
struct ohca_port {
	struct ohca_dev *dev;
	u8 num;
	const struct ohca_link_ops *link;
	struct net_device *netdev;
	struct devlink_port devlink;
	bool registered;
	struct ohca_port_attr attr;
	struct work_struct link_work;
	bool up;
	u8 link_tried;
	bool announce;
};

/**
 * ohca_port_is_ib() - whether the port's link is InfiniBand
 * @port: port
 *
 * Return: true if so, false for Ethernet
 */
static inline bool ohca_port_is_ib(const struct ohca_port *port)
{
	return port->attr.link_layer == OHCA_LINK_INFINIBAND;
}

void ohca_port_setup(struct ohca_port *port, struct ohca_dev *dev, u8 num);
void ohca_port_init(struct ohca_port *port);
void ohca_port_fini(struct ohca_port *port);

/**
 * ohca_port_query() - query the port's attributes; sleeps
 * @port: port; if the device is fenced, its link is down, and the other attributes are the last
 *	ones
 * @attr: result
 *
 * Return: 0 or a negative errno
 */
int ohca_port_query(struct ohca_port *port, struct ohca_port_attr *attr);

/**
 * ohca_port_query_ib() - query the port for ib_core; sleeps
 * @port: port
 * @attr: its fields that do not depend on the link layer are set
 * @hw: result of ohca_port_query(), for the other fields
 *
 * Return: 0 or a negative errno
 */
int ohca_port_query_ib(struct ohca_port *port, struct ib_port_attr *attr,
		       struct ohca_port_attr *hw);

/**
 * ohca_port_set_admin() - let the link come up, or take it down; sleeps
 * @port: Ethernet port
 * @up: true to let it come up
 *
 * Return: 0 or a negative errno
 */
int ohca_port_set_admin(struct ohca_port *port, bool up);

/**
 * ohca_port_check_link() - schedule a query of the link
 * @port: port
 *
 * Callable in any context.
 */
static inline void ohca_port_check_link(struct ohca_port *port)
{
	schedule_work(&port->link_work);
}

/**
 * ohca_port_announce() - dispatch events to ib_core's clients: the link is up, if it is, and an
 *	InfiniBand port's tables have changed
 * @port: port; the ib_device was just registered, and events that came meanwhile were dropped
 */
void ohca_port_announce(struct ohca_port *port);

/**
 * ohca_port_active_mtu() - the largest path MTU that the port has room for
 * @port: port
 *
 * Return: path MTU; of an InfiniBand port that is not active the largest one there is
 */
enum ib_mtu ohca_port_active_mtu(const struct ohca_port *port);

/**
 * ohca_port_speed() - speed of the link
 * @port: port
 *
 * Return: Mb/s, 0 if unknown
 */
u32 ohca_port_speed(struct ohca_port *port);

#endif /* _OHCA_PORT_H */
