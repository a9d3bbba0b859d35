/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive-side scaling: tables of receive work queues (QPs of type OHCA_QPT_RWQ), and the QPs of
 * type OHCA_QPT_RSS, which choose among those by a hash.
 */

#ifndef OHCAD_RSS_H
#define OHCAD_RSS_H

#include "frame.h"
#include "hca.h"

struct qp;
struct rss;

/* The receive work queue that a frame is for. */
struct qp *rss_queue(const struct rss *rss, const struct frame *frame);

/* Its QP goes: the table is not referred to any more. */
void rss_free(struct rss *rss);

/* Free all tables: reset.  QPs must be gone. */
void ind_tbl_reset_all(struct hca *hca);

#endif
