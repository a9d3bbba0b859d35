// SPDX-License-Identifier: GPL-2.0
/* The QPs of the netdev. */

#include "eth/netdev.h"
#include "eth/rss.h"
#include "packet/frame.h"

struct qp *netdev_queue(const struct port *port, const struct iovec *iov, unsigned int num)
{
	const struct netdev *netdev = port->netdev;
	struct frame frame;

	if (!netdev->rss)
		return netdev->qp;
	frame_parse(&frame, iov, num);
	return rss_queue(netdev->rss, &frame);
}
