// SPDX-License-Identifier: GPL-2.0
/* The QPs of the netdev. */

#include "eth/netdev.h"
#include "eth/rss.h"
#include "packet/frame.h"
#include "qp/qp.h"

struct qp *netdev_queue(const struct port *port, const struct iovec *iov, unsigned int num)
{
	const struct netdev *netdev = port->netdev;
	struct frame frame;
	struct qp *qp;

	if (!netdev->rss)
		return netdev->qp;
	frame_parse(&frame, iov, num);
	qp = rss_queue(netdev->rss, &frame);
	return qp->port == port ? qp : NULL;
}
