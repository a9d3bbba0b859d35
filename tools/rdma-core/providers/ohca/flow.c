// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flows, which lead frames to raw packet QPs.
 */

#include <errno.h>
#include <stdlib.h>

#include "ohca.h"

struct ibv_flow *ohca_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow;
	int ret;

	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	ret = ibv_cmd_create_flow(qp, flow, attr, NULL, 0);
	if (ret) {
		free(flow);
		errno = ret;
		return NULL;
	}
	return flow;
}

int ohca_destroy_flow(struct ibv_flow *flow)
{
	int ret;

	ret = ibv_cmd_destroy_flow(flow);
	if (!ret)
		free(flow);
	return ret;
}
