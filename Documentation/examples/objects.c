// SPDX-License-Identifier: GPL-2.0
/* The objects of a program, in one machine.  See Documentation/firstqp.rst. */

#include "first.h"

int main(void)
{
	struct end end;

	make_objects(&end);
	printf("device  %s\n", ibv_get_device_name(end.ctx->device));
	printf("MR      %zu bytes at %p, lkey 0x%x, rkey 0x%x\n", end.mr->length, end.mr->addr,
	       end.mr->lkey, end.mr->rkey);
	printf("CQ      %d entries\n", end.cq->cqe);
	printf("QP      number %u, state %d\n", end.qp->qp_num, end.qp->state);
	fflush(stdout);
	need(!system("rdma resource show | grep -v '^0: lo'"), "rdma resource show");
	destroy_objects(&end);
	return 0;
}
