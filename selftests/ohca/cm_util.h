/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for tests of the connection manager: events with a deadline, which are always
 * acknowledged; identifiers with a resolved route; the verbs objects of a connection.
 */

#ifndef SELFTEST_CM_UTIL_H
#define SELFTEST_CM_UTIL_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include "verbs_util.h"

#define CM_TIMEOUT_MS 5000 /* for an address or a route */
#define CM_PORT 7471

/**
 * struct cm_event - contents of an event, which is acknowledged already
 * @ev: its private data point to @data
 */
struct cm_event {
	struct rdma_cm_event ev;
	uint8_t data[256];
};

/* Returns the next event of the channel, of any type, within @ms. */
bool cm_next(struct rdma_event_channel *ch, struct cm_event *event, int ms);
/*
 * The next event has this type; @event may be NULL.  Its status has to be 0 unless @event is given.
 */
bool cm_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, struct cm_event *event);
/* No event is pending. */
bool cm_quiet(struct rdma_event_channel *ch);

/* Address of the port under test, with @port. */
void cm_self(struct sockaddr_in *addr, uint16_t port);

/**
 * struct cm_end - one end of a connection
 * @q: view of the identifier's QP, for vu_post_send() and vu_post_recv()
 * @cq: of both queues
 */
struct cm_end {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct vu_qp q;
};

/* Create an identifier that listens at @addr. */
bool cm_listen(struct rdma_event_channel *ch, enum rdma_port_space ps,
	       const struct sockaddr_in *addr, struct rdma_cm_id **id);
/* Create an identifier, and resolve address and route to @addr. */
bool cm_resolve(struct rdma_event_channel *ch, enum rdma_port_space ps,
		const struct sockaddr_in *addr, struct rdma_cm_id **id);
/* Create PD, completion channel, CQ (armed), and the QP of @end->id, with an SRQ if @srq. */
bool cm_end_create(struct cm_end *end, bool srq);
/* The same, but the caller creates the QP without the connection manager. */
bool cm_end_objects(struct cm_end *end, bool srq);
/* Destroy everything, including the identifier. */
void cm_end_destroy(struct cm_end *end);
void cm_id_destroy(struct rdma_cm_id **id);

/* The next completion, by an event of the completion channel. */
bool cm_wait_comp(struct cm_end *end, struct ibv_wc *wc, uint64_t wr_id);

#endif
