/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: work requests of kernel QPs.
 */

#ifndef _OHCA_WR_H
#define _OHCA_WR_H

#include <rdma/ib_verbs.h>

int ohca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int ohca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
int ohca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

enum ib_wc_opcode ohca_wc_opcode(u8 opcode);

#endif /* _OHCA_WR_H */
