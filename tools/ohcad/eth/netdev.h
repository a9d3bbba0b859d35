/* SPDX-License-Identifier: GPL-2.0 */
/* Who gets the frames of a port: its own QPs, and flows. */

#ifndef OHCAD_NETDEV_H
#define OHCAD_NETDEV_H

#include <sys/uio.h>

#include "base/list.h"
#include "fabric/port.h"

struct object_class;
struct qp;

/**
 * struct netdev - what frames of a port meet: port->netdev
 * @flows: flows (flow.c), by priority; port->has_flows while there are some
 * @qp: of the port's QPs for its own frames the last one to enter RTR, or NULL if that left RTR and RTS
 * @rss: spreads these frames over several of them; NULL: @qp gets them
 */
struct netdev {
	struct list flows;
	struct qp *qp;
	struct qp *rss;
};

/* With it frames of the port come to eth/. */
extern const struct object_class netdev_class;

/*
 * The QP that the port's own frames go to if they have the headers of this one of at least
 * ETH_HDR_LEN bytes, or NULL.  It may be in any state.
 */
struct qp *netdev_queue(const struct port *port, const struct iovec *iov, unsigned int num);

#endif
