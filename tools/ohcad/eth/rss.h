/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive-side scaling: tables of receive queues (QPs of type OHCA_QPT_RWQ, or those that carry the
 * port's own frames), and the QPs of type OHCA_QPT_RSS, which choose among those by a hash.
 */

#ifndef OHCAD_RSS_H
#define OHCAD_RSS_H

#include "packet/frame.h"
#include "device/hca.h"

struct qp;
struct qp_type;

/* The queue that a frame to @qp, of type OHCA_QPT_RSS, is for. */
struct qp *rss_queue(const struct qp *rss, const struct frame *frame);

/* Does it spread the frames of the netdev? */
bool rss_is_netdev(const struct qp *rss);

extern const struct qp_type rwq_type;

extern const struct object_class ind_tbl_class;

#endif
