// SPDX-License-Identifier: GPL-2.0
/* Frames that reach a port. */

#include <errno.h>
#include <stdlib.h>

#include "device/hca.h"
#include "device/object.h"
#include "eth/eth.h"
#include "eth/flow.h"
#include "eth/netdev.h"

static bool receive_frame(struct port *port, const struct iovec *iov, unsigned int num,
			  uint32_t len, bool addressed)
{
	struct qp *qp;

	if (flow_deliver(port, iov, num, len))
		return true;
	qp = addressed ? netdev_queue(port, iov, num) : NULL;
	if (qp)
		eth_receive(qp, iov, num, len);
	return addressed;
}

static const struct port_client_ops client_ops = {.receive_frame = receive_frame};

static int netdev_init(struct hca *hca)
{
	struct netdev *netdev = calloc(1, sizeof(*netdev));

	if (!netdev)
		return -ENOMEM;
	list_init(&netdev->flows);
	hca->port->netdev = netdev;
	hca->port->client_ops = &client_ops;
	return 0;
}

static void netdev_fini(struct hca *hca)
{
	free(hca->port->netdev);
	hca->port->netdev = NULL;
}

const struct object_class netdev_class = {.init = netdev_init, .fini = netdev_fini};
