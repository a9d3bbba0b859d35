/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random RC traffic between two sides, checked byte by byte.
 *
 * It is divided into rounds.  In each, a side posts a window of random operations, which depend
 * only on the numbers of the round and of the side, so that the other side knows what to expect.
 * Operation i uses slot i of three areas: data that the side sends (or lets the other one read),
 * data that the other one sends or writes to it, and data that it reads.
 */

#ifndef SELFTEST_RC_TRAFFIC_H
#define SELFTEST_RC_TRAFFIC_H

#include "verbs_util.h"

#define TRAFFIC_AREA (4UL << 20) /* bytes of each of the three areas */
#define TRAFFIC_BUF (3 * TRAFFIC_AREA)

/**
 * struct traffic_opts - kind of traffic
 * @num_qps: queue pairs; they get operations in turn
 * @window: operations of a round and side
 * @slot: largest message; @window of them fit in an area
 * @rounds: number of rounds
 * @events: wait for completion events, do not poll
 * @one_way: side 1 posts receives only
 * @only_reads: RDMA reads only
 */
struct traffic_opts {
	const char *name;
	unsigned int num_qps, window, slot, rounds;
	bool events, one_way, only_reads;
};

/**
 * struct traffic - traffic of one test
 * @buf: TRAFFIC_BUF bytes, of @mr
 * @qp_opts: of the queue pairs, but for their CQs and sizes
 */
struct traffic {
	struct vu_dev *dev;
	struct sess *sess;
	struct ibv_mr *mr;
	uint8_t *buf;
	const struct traffic_opts *opts;
	const struct vu_qp_opts *qp_opts;
	/* private */
	struct vu_qp *qps;
	struct vu_addr *to;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint64_t *done; /* by QP: operations completed, to check their order */
};

/* Connect, run all rounds, clean up; failures are reported with tap_fail(). */
void traffic_run(struct traffic *tr);

#endif
