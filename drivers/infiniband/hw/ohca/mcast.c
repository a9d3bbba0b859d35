// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: multicast groups.  RoCE knows them by their GID alone.
 */

#include "verbs.h"

int ohca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return ohca_cmd_attach_mcast(to_odev(ibqp->device), ibqp->qp_num, gid->raw);
}

int ohca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return ohca_cmd_detach_mcast(to_odev(ibqp->device), ibqp->qp_num, gid->raw);
}
