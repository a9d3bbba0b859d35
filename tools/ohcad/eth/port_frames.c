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

static void netdev_fini(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->ports[i]->netdev)
			flow_table_fini(&hca->ports[i]->netdev->flows);
		free(hca->ports[i]->netdev);
		hca->ports[i]->netdev = NULL;
	}
}

static int netdev_init(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		struct port *port = hca->ports[i];

		port->netdev = calloc(1, sizeof(*port->netdev));
		if (!port->netdev) {
			netdev_fini(hca);
			return -ENOMEM;
		}
		flow_table_init(&port->netdev->flows);
		port->client_ops = &client_ops;
	}
	return 0;
}

const struct object_class netdev_class = {.init = netdev_init, .fini = netdev_fini};
