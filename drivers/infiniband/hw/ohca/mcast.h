/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: multicast groups that queue pairs are attached to.
 */

#ifndef _OHCA_MCAST_H
#define _OHCA_MCAST_H

#include <rdma/ib_verbs.h>

int ohca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int ohca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* _OHCA_MCAST_H */
