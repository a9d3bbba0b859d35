// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the port and its link.
 *
 * The link's state is always asked for, never derived from the kind of an event: so the last look
 * is right whatever came before it.
 */

#include <linux/log2.h>
#include <rdma/ib_verbs.h>

#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "trace.h"

int ohca_port_query(struct ohca_dev *dev, struct ohca_port_attr *attr)
{
	int err = ohca_cmd_query_port(dev, OHCA_PORT, attr);

	if (!err || !ohca_fenced(dev))
		return err;
	*attr = dev->port.attr;
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	return 0;
}

static void ohca_link_work(struct work_struct *work)
{
	struct ohca_port *port = container_of(work, struct ohca_port, link_work);
	struct ohca_dev *dev = port->dev;
	struct net_device *netdev = READ_ONCE(dev->netdev);
	struct ohca_port_attr attr;
	bool up = false;

	if (!ohca_port_query(dev, &attr)) {
		up = attr.state == IB_PORT_ACTIVE;
		WRITE_ONCE(port->attr.active_speed, attr.active_speed);
		WRITE_ONCE(port->attr.active_width, attr.active_width);
	}

	if (netdev)
		ohca_en_set_carrier(netdev, up);
	/* ib_core itself tells its clients where the port has a netdev, unless it is too old. */
	if ((up != port->up || (xchg(&port->announce, false) && up)) &&
	    (!netdev || OHCA_COMPAT_PORT_EVENTS))
		ohca_dispatch_event(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
	if (up != port->up)
		trace_ohca_link(dev, up);
	port->up = up;
}

void ohca_port_announce(struct ohca_dev *dev)
{
	WRITE_ONCE(dev->port.announce, true);
	ohca_port_check_link(&dev->port);
}

int ohca_port_set_admin(struct ohca_dev *dev, bool up)
{
	struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_ADMIN,
		.admin_up = up,
	};
	int err;

	err = ohca_cmd_modify_port(dev, OHCA_PORT, &params);
	ohca_port_check_link(&dev->port);
	return err;
}

u32 ohca_port_speed(struct ohca_dev *dev)
{
	/*
	 * Mb/s of a lane and number of lanes, by bit of PortInfo's LinkSpeedActive and
	 * LinkWidthActive
	 */
	static const u32 speeds[] = {2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000};
	static const u32 widths[] = {1, 4, 8, 12, 2};
	u32 speed = READ_ONCE(dev->port.attr.active_speed);
	u32 width = READ_ONCE(dev->port.attr.active_width);

	if (!speed || !width || ilog2(speed) >= ARRAY_SIZE(speeds) ||
	    ilog2(width) >= ARRAY_SIZE(widths))
		return 0;
	return speeds[ilog2(speed)] * widths[ilog2(width)];
}

/**
 * ohca_port_setup() - prepare for events of the port
 * @dev: device, new
 */
void ohca_port_setup(struct ohca_dev *dev)
{
	dev->port.dev = dev;
	INIT_WORK(&dev->port.link_work, ohca_link_work);
	disable_work(&dev->port.link_work);
}

/**
 * ohca_port_init() - look at the link from now on
 * @dev: device, whose commands work soon
 */
void ohca_port_init(struct ohca_dev *dev)
{
	enable_work(&dev->port.link_work);
}

/**
 * ohca_port_fini() - look at the link no more
 * @dev: device
 */
void ohca_port_fini(struct ohca_dev *dev)
{
	disable_work_sync(&dev->port.link_work);
}
