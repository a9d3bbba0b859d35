// SPDX-License-Identifier: GPL-2.0
/* Functions for tests of the connection manager. */

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cm_util.h"

bool cm_next(struct rdma_event_channel *ch, struct cm_event *event, int ms)
{
	struct pollfd pfd = {.fd = ch->fd, .events = POLLIN};
	struct rdma_cm_event *ev;
	uint8_t len;

	if (poll(&pfd, 1, ms) != 1) {
		tap_fail(__FILE__, __LINE__, "no event of the connection manager");
		return false;
	}
	if (!EXPECT_EQ(rdma_get_cm_event(ch, &ev), 0))
		return false;
	memset(event, 0, sizeof(*event));
	event->ev = *ev;
	/* private data are at the same place for both kinds of services; without a length they
	 * are a join's context
	 */
	len = ev->param.conn.private_data_len;
	if (len) {
		memcpy(event->data, ev->param.conn.private_data, len);
		event->ev.param.conn.private_data = event->data;
	}
	return EXPECT_EQ(rdma_ack_cm_event(ev), 0);
}

bool cm_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, struct cm_event *event)
{
	struct cm_event mine;

	if (!cm_next(ch, event ? event : &mine, vu_timeout_ms())) {
		tap_fail(__FILE__, __LINE__, "expected %s", rdma_event_str(type));
		return false;
	}
	if (!event && mine.ev.status) {
		tap_fail(__FILE__, __LINE__, "%s with status %d", rdma_event_str(mine.ev.event),
			 mine.ev.status);
		return false;
	}
	if (!event)
		event = &mine;
	if (event->ev.event == type)
		return true;
	tap_fail(__FILE__, __LINE__, "%s with status %d, expected %s",
		 rdma_event_str(event->ev.event), event->ev.status, rdma_event_str(type));
	return false;
}

bool cm_quiet(struct rdma_event_channel *ch)
{
	struct pollfd pfd = {.fd = ch->fd, .events = POLLIN};
	struct cm_event event;

	if (!poll(&pfd, 1, 0))
		return true;
	if (cm_next(ch, &event, 0))
		tap_fail(__FILE__, __LINE__, "unexpected %s", rdma_event_str(event.ev.event));
	return false;
}

void cm_self(struct sockaddr_in *addr, uint16_t port)
{
	const char *ip = getenv("OHCA_IP");
	struct vu_dev dev;

	vu_open(&dev);
	memset(addr, 0, sizeof(*addr));
	addr->sin_family = AF_INET;
	addr->sin_port = htons(port);
	if (!vu_is_ib(&dev))
		memcpy(&addr->sin_addr, dev.gid.raw + 12, sizeof(addr->sin_addr));
	else if (!ip || !inet_pton(AF_INET, ip, &addr->sin_addr))
		tap_bail("no OHCA_IP, which is the address of IPoIB");
	vu_close(&dev);
}

bool cm_listen(struct rdma_event_channel *ch, enum rdma_port_space ps,
	       const struct sockaddr_in *addr, struct rdma_cm_id **id)
{
	return EXPECT_EQ(rdma_create_id(ch, id, NULL, ps), 0) &&
	       EXPECT_EQ(rdma_bind_addr(*id, (struct sockaddr *)addr), 0) &&
	       EXPECT_EQ(rdma_listen(*id, 8), 0);
}

bool cm_resolve(struct rdma_event_channel *ch, enum rdma_port_space ps,
		const struct sockaddr_in *addr, struct rdma_cm_id **id)
{
	return EXPECT_EQ(rdma_create_id(ch, id, NULL, ps), 0) &&
	       EXPECT_EQ(rdma_resolve_addr(*id, NULL, (struct sockaddr *)addr, CM_TIMEOUT_MS), 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) &&
	       EXPECT_EQ(rdma_resolve_route(*id, CM_TIMEOUT_MS), 0) &&
	       cm_expect(ch, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

bool cm_end_objects(struct cm_end *end, bool srq)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};

	end->pd = ibv_alloc_pd(end->id->verbs);
	end->channel = ibv_create_comp_channel(end->id->verbs);
	if (!EXPECT(end->pd) || !EXPECT(end->channel))
		return false;
	end->cq = ibv_create_cq(end->id->verbs, 64, NULL, end->channel, 0);
	if (!EXPECT(end->cq) || !EXPECT_EQ(ibv_req_notify_cq(end->cq, 0), 0))
		return false;
	if (srq)
		end->srq = ibv_create_srq(end->pd, &attr);
	end->q.scq = end->q.rcq = end->cq;
	return !srq || EXPECT(end->srq);
}

bool cm_end_create(struct cm_end *end, bool srq)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = end->id->qp_type,
	};

	if (!cm_end_objects(end, srq))
		return false;
	attr.send_cq = attr.recv_cq = end->cq;
	attr.srq = end->srq;
	if (!EXPECT_EQ(rdma_create_qp(end->id, end->pd, &attr), 0))
		return false;
	end->q.qp = end->id->qp;
	return true;
}

void cm_id_destroy(struct rdma_cm_id **id)
{
	if (*id)
		EXPECT_EQ(rdma_destroy_id(*id), 0);
	*id = NULL;
}

void cm_end_destroy(struct cm_end *end)
{
	if (end->id && end->id->qp)
		rdma_destroy_qp(end->id);
	else if (end->q.qp)
		EXPECT_EQ(ibv_destroy_qp(end->q.qp), 0);
	if (end->srq)
		EXPECT_EQ(ibv_destroy_srq(end->srq), 0);
	if (end->cq)
		EXPECT_EQ(ibv_destroy_cq(end->cq), 0);
	if (end->channel)
		EXPECT_EQ(ibv_destroy_comp_channel(end->channel), 0);
	if (end->pd)
		EXPECT_EQ(ibv_dealloc_pd(end->pd), 0);
	cm_id_destroy(&end->id);
	memset(end, 0, sizeof(*end));
}

bool cm_wait_comp(struct cm_end *end, struct ibv_wc *wc, uint64_t wr_id)
{
	struct ibv_cq *cq;

	for (;;) {
		if (ibv_poll_cq(end->cq, 1, wc))
			break;
		if (!vu_wait_event(end->channel, &cq) || !EXPECT(cq == end->cq) ||
		    !EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0))
			return false;
	}
	return EXPECT_EQ(wc->status, IBV_WC_SUCCESS) && EXPECT_EQ(wc->wr_id, wr_id);
}
