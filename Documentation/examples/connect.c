// SPDX-License-Identifier: GPL-2.0
/*
 * A connection by rdma_cm: each event is printed.  See Documentation/firstqp.rst.
 *
 * connect server ADDRESS [refuse]: takes one connection at its address; with "refuse", it rejects it.
 * connect client ADDRESS
 */

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "peer.h"

#define CM_PORT "7471"
#define WAIT_MS 2000

static struct rdma_event_channel *channel;
static struct ibv_mr *mr;
static char buf[64];
static int refuse, status;

/* Verbs objects of the connection; the receive request is there before any message can come. */
static void make_objects(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
		.sq_sig_all = 1,
	};

	need(!rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	need(!!mr, "rdma_reg_msgs");
	need(!rdma_post_recv(id, NULL, buf, sizeof(buf), mr), "rdma_post_recv");
}

static void take_message(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	need(rdma_get_recv_comp(id, &wc) == 1 && !wc.status, "the receive");
	printf("message: %s\n", buf);
}

static void send_message(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	strcpy(buf, "Hello by rdma_cm");
	need(!rdma_post_send(id, NULL, buf, sizeof(buf), mr, 0), "rdma_post_send");
	need(rdma_get_send_comp(id, &wc) == 1 && !wc.status, "the send");
}

/* What the server does; returns 0 at the last event. */
static int serve(struct rdma_cm_event *event)
{
	struct rdma_conn_param param = {.responder_resources = 4, .initiator_depth = 4};

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		if (refuse) {
			need(!rdma_reject(event->id, NULL, 0), "rdma_reject");
			return 0;
		}
		make_objects(event->id);
		need(!rdma_accept(event->id, &param), "rdma_accept");
		return 1;
	case RDMA_CM_EVENT_ESTABLISHED:
		take_message(event->id);
		return 1;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(event->id);
		return 1;
	default:
		return 0;
	}
}

/* What the client does; returns 0 at the last event. */
static int call(struct rdma_cm_event *event)
{
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7};

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		need(!rdma_resolve_route(event->id, WAIT_MS), "rdma_resolve_route");
		return 1;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_objects(event->id);
		need(!rdma_connect(event->id, &param), "rdma_connect");
		return 1;
	case RDMA_CM_EVENT_ESTABLISHED:
		send_message(event->id);
		need(!rdma_disconnect(event->id), "rdma_disconnect");
		return 1;
	case RDMA_CM_EVENT_DISCONNECTED:
		return 1;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		status = 1; /* an error */
		return 0;
	}
}

static void start(struct rdma_cm_id *id, int server, const char *name)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *addr;

	hints.ai_flags = server ? RAI_PASSIVE : 0;
	need(!rdma_getaddrinfo(name, CM_PORT, &hints, &addr), "rdma_getaddrinfo");
	if (server) {
		need(!rdma_bind_addr(id, addr->ai_src_addr), "rdma_bind_addr");
		need(!rdma_listen(id, 1), "rdma_listen");
	} else {
		need(!rdma_resolve_addr(id, NULL, addr->ai_dst_addr, WAIT_MS), "rdma_resolve_addr");
	}
	rdma_freeaddrinfo(addr);
}

int main(int argc, char **argv)
{
	int server = argc > 1 && !strcmp(argv[1], "server"), more = 1;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (argc < 3) {
		fprintf(stderr, "usage: connect server|client ADDRESS [refuse]\n");
		return 2;
	}
	setlinebuf(stdout);
	refuse = argc > 3;
	channel = rdma_create_event_channel();
	need(!!channel, "rdma_create_event_channel");
	need(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	start(id, server, argv[2]);
	while (more) {
		need(!rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
		printf("%s, status %d\n", rdma_event_str(event->event), event->status);
		more = server ? serve(event) : call(event);
		rdma_ack_cm_event(event);
	}
	return status; /* the kernel destroys what is left */
}
