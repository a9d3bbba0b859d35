// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the ports and their links.
 *
 * The state of the link is always queried, not derived from the type of an event.  So the last
 * query is right whatever events came before it.
 */

#include <linux/log2.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "trace.h"

int ohca_port_query(struct ohca_port *port, struct ohca_port_attr *attr)
{
	int err = ohca_cmd_query_port(port->dev, port->num, attr);

	if (!err || !ohca_fenced(port->dev))
		return err;
	*attr = port->attr;
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	return 0;
}

int ohca_port_query_ib(struct ohca_port *port, struct ib_port_attr *attr, struct ohca_port_attr *hw)
{
	int err;

	err = ohca_port_query(port, hw);
	if (err)
		return err;

	attr->state = hw->state;
	attr->phys_state = hw->phys_state;
	attr->max_mtu = hw->max_mtu;
	/* The sizes that ib_core has allocated its tables with */
	attr->gid_tbl_len = port->attr.gid_tbl_len;
	attr->pkey_tbl_len = port->attr.pkey_tbl_len;
	attr->max_msg_sz = port->dev->attr.max_msg_size;
	attr->active_speed = hw->active_speed;
	attr->active_width = hw->active_width;
	return 0;
}

static void ohca_link_work(struct work_struct *work)
{
	struct ohca_port *port = container_of(work, struct ohca_port, link_work);
	struct ohca_dev *dev = port->dev;
	struct net_device *netdev = READ_ONCE(port->netdev);
	struct ohca_port_attr attr;
	bool up = false;

	if (!ohca_port_query(port, &attr)) {
		up = attr.state == IB_PORT_ACTIVE;
		WRITE_ONCE(port->attr.active_speed, attr.active_speed);
		WRITE_ONCE(port->attr.active_width, attr.active_width);
		WRITE_ONCE(port->attr.active_mtu, attr.active_mtu);
	}

	if (netdev)
		ohca_en_set_carrier(netdev, up);
	/*
	 * For a port with a netdev, newer releases of ib_core dispatch the event themselves, but
	 * not for one that is in a bond or a team.
	 */
	if ((up != port->up || (xchg(&port->announce, false) && up)) &&
	    (!netdev || OHCA_COMPAT_PORT_EVENTS || netif_is_lag_port(netdev)))
		ohca_dispatch_event(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR, port->num);
	if (up != port->up)
		trace_ohca_link(dev, port->num, up);
	WRITE_ONCE(port->up, up);
}

void ohca_port_announce(struct ohca_port *port)
{
	/* ib_core has filled its caches of the tables while it registered the device. */
	if (ohca_port_is_ib(port)) {
		ohca_dispatch_event(port->dev, IB_EVENT_PKEY_CHANGE, port->num);
		ohca_dispatch_event(port->dev, IB_EVENT_GID_CHANGE, port->num);
	}
	WRITE_ONCE(port->announce, true);
	ohca_port_check_link(port);
}

int ohca_port_set_admin(struct ohca_port *port, bool up)
{
	struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_ADMIN,
		.admin_up = up,
	};
	int err;

	err = ohca_cmd_modify_port(port->dev, port->num, &params);
	ohca_port_check_link(port);
	return err;
}

enum ib_mtu ohca_port_active_mtu(const struct ohca_port *port)
{
	if (!ohca_port_is_ib(port))
		return ohca_en_active_mtu(port, IB_MTU_4096);
	/* The subnet manager sets it before the port is active. */
	return READ_ONCE(port->up) ? READ_ONCE(port->attr.active_mtu) : IB_MTU_4096;
}

u32 ohca_port_speed(struct ohca_port *port)
{
	/*
	 * Mb/s of a lane and number of lanes, by bit of PortInfo's LinkSpeedActive and
	 * LinkWidthActive
	 */
	static const u32 speeds[] = {2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000};
	static const u32 widths[] = {1, 4, 8, 12, 2};
	u32 speed = READ_ONCE(port->attr.active_speed);
	u32 width = READ_ONCE(port->attr.active_width);

	if (!speed || !width || ilog2(speed) >= ARRAY_SIZE(speeds) ||
	    ilog2(width) >= ARRAY_SIZE(widths))
		return 0;
	return speeds[ilog2(speed)] * widths[ilog2(width)];
}

/**
 * ohca_port_setup() - prepare for events of the port
 * @port: port
 * @dev: device, new
 * @num: number of the port
 */
void ohca_port_setup(struct ohca_port *port, struct ohca_dev *dev, u8 num)
{
	port->dev = dev;
	port->num = num;
	INIT_WORK(&port->link_work, ohca_link_work);
	disable_work(&port->link_work);
}

/**
 * ohca_port_init() - start watching the link
 * @port: port of a device whose commands work, with its attributes
 */
void ohca_port_init(struct ohca_port *port)
{
	enable_work(&port->link_work);
}

/**
 * ohca_port_fini() - stop watching the link
 * @port: port
 */
void ohca_port_fini(struct ohca_port *port)
{
	disable_work_sync(&port->link_work);
}
