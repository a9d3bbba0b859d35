/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: completions of the kernel's QPs after the device was fenced.
 */

#ifndef _OHCA_FLUSH_H
#define _OHCA_FLUSH_H

#include <rdma/ib_verbs.h>

struct ohca_cq;
struct ohca_dev;
struct ohca_qp;
struct work_struct;

void ohca_flush_join(struct ohca_qp *qp);
void ohca_flush_leave(struct ohca_qp *qp);
int ohca_flush_poll(struct ohca_cq *cq, int num, struct ib_wc *wc);
bool ohca_flush_pending(struct ohca_cq *cq);

void ohca_flush_work(struct work_struct *work);
void ohca_flush_wait(struct ohca_dev *dev);

#endif /* _OHCA_FLUSH_H */
