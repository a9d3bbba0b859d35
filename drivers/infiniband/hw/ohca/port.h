/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the port and its link.
 */

#ifndef _OHCA_PORT_H
#define _OHCA_PORT_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include "fw_cmd.h"

struct ohca_dev;

/**
 * struct ohca_port - the port
 * @dev: device
 * @attr: attributes; those of the link are as of the last look at it
 * @link_work: looks at the link, tells the netdev and ib_core's clients
 * @up: the link was up at the last look; only @link_work uses it
 * @announce: tell ib_core's clients of a link that is up, even if that is not new
 */
struct ohca_port {
	struct ohca_dev *dev;
	struct ohca_port_attr attr;
	struct work_struct link_work;
	bool up;
	bool announce;
};

void ohca_port_setup(struct ohca_dev *dev);
void ohca_port_init(struct ohca_dev *dev);
void ohca_port_fini(struct ohca_dev *dev);

/**
 * ohca_port_query() - ask for the port's attributes; sleeps
 * @dev: device; if it is fenced, its link is down, and the rest as it was last
 * @attr: result
 *
 * Return: 0 or a negative errno
 */
int ohca_port_query(struct ohca_dev *dev, struct ohca_port_attr *attr);

/**
 * ohca_port_set_admin() - let the link come up, or take it down; sleeps
 * @dev: device
 * @up: which of the two
 *
 * Return: 0 or a negative errno
 */
int ohca_port_set_admin(struct ohca_dev *dev, bool up);

/**
 * ohca_port_check_link() - look at the link some time soon
 * @port: port
 *
 * Callable in any context.
 */
static inline void ohca_port_check_link(struct ohca_port *port)
{
	schedule_work(&port->link_work);
}

/**
 * ohca_port_announce() - tell ib_core's clients if the link is up
 * @dev: device; its ib_device was just registered, and its link may have come up meanwhile
 */
void ohca_port_announce(struct ohca_dev *dev);

/**
 * ohca_port_speed() - speed of the link
 * @dev: device
 *
 * Return: Mb/s, 0 if unknown
 */
u32 ohca_port_speed(struct ohca_dev *dev);

#endif /* _OHCA_PORT_H */
