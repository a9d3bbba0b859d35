/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: counters of the port, and sets of counters that QPs are bound to.
 */

#ifndef _OHCA_STATS_H
#define _OHCA_STATS_H

#include <rdma/ib_verbs.h>

#include <ohca/ohca_cmd.h>

#define OHCA_PORT_COUNTERS 0 /* the set of all that is not bound to another */

/* Those after them are of the network interface. */
#define OHCA_NUM_RDMA_COUNTERS OHCA_CNT_ETH_NO_BUFFER

/* Names of the counters, by enum ohca_counter */
extern const struct rdma_stat_desc ohca_stat_descs[OHCA_NUM_COUNTERS];

int ohca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int ohca_counter_unbind_qp(struct ib_qp *ibqp, u32 port);

/* What a device with OHCA_CAP_COUNTERS offers to ib_core */
extern const struct ib_device_ops ohca_stats_ops;

#endif /* _OHCA_STATS_H */
