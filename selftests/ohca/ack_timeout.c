// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD=ack_timeout.so ACK_TIMEOUT=N PROGRAM: the program's queue pairs wait at least so long
 * for acknowledgments (Local ACK Timeout: 4.096 us * 2^N), if it calls ibv_modify_qp() itself.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	int (*modify)(struct ibv_qp *, struct ibv_qp_attr *, int) =
		dlvsym(RTLD_NEXT, "ibv_modify_qp", "IBVERBS_1.1");
	const char *least = getenv("ACK_TIMEOUT");

	if (!modify || !least)
		return EINVAL;
	if (attr_mask & IBV_QP_TIMEOUT && attr->timeout && attr->timeout < atoi(least))
		attr->timeout = atoi(least);
	return modify(qp, attr, attr_mask);
}
