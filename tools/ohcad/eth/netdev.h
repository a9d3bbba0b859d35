/* SPDX-License-Identifier: GPL-2.0 */
/* Who receives the frames of a port: the QPs of the netdev, and those of flows. */

#ifndef OHCAD_NETDEV_H
#define OHCAD_NETDEV_H

#include <sys/uio.h>

#include "eth/flow_table.h"
#include "fabric/port.h"

struct object_class;
struct qp;

/**
 * struct netdev - the receivers of a port's frames: port->netdev
 * @flows: flows (flow.c); port->has_flows while there are some
 * @late: frames that wait for the turns of the HCA in which they come to more flows (flow.c)
 * @qp: the QP of the netdev that entered RTR last, or NULL if that one left RTR and RTS
 * @rss: the QP that spreads the netdev's frames over several queues; NULL: @qp gets them
 */
struct netdev {
	struct flow_table flows;
	unsigned int late;
	struct qp *qp;
	struct qp *rss;
};

/* Has the port deliver its frames to eth/. */
extern const struct object_class netdev_class;

/*
 * The QP of the netdev that receives a frame with the headers of this one of at least
 * ETH_HDR_LEN bytes, or NULL.  It may be in any state.
 */
struct qp *netdev_queue(const struct port *port, const struct iovec *iov, unsigned int num);

#endif
