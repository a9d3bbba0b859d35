// SPDX-License-Identifier: GPL-2.0
/*
 * Connection parameters: each field of struct rdma_conn_param arrives at the other side, and in the
 * attributes of the queue pairs that the connection manager set up.  Side 0 is the client, side 1
 * the server, in one machine or with -2 in two machines.
 */

#include <string.h>

#include "cm_util.h"

/* Private data that the messages of a connection can contain */
#define REQ_DATA 56
#define REP_DATA 196
#define REJ_DATA 148
#define REJ_CONSUMER 28

#define LEN 64

static struct sess sess;
static struct rdma_event_channel *ch;
static struct rdma_cm_id *listen_id;
static struct cm_end end;
static struct sockaddr_in server;
static struct ibv_device_attr dev_attr;
static uint8_t *buf;
static struct ibv_mr *mr;

static void cleanup(void)
{
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = NULL;
	cm_end_destroy(&end);
	cm_id_destroy(&listen_id);
	if (ch)
		rdma_destroy_event_channel(ch);
	ch = NULL;
}

/* Both sides: a channel; the server listens; the client has a route. */
static bool start(void)
{
	struct sockaddr_in mine;

	cm_self(&mine, CM_PORT);
	ch = rdma_create_event_channel();
	if (!EXPECT(ch) || !sess_xchg(&sess, &mine, &server, sizeof(mine)))
		return false;
	if (sess.side && !cm_listen(ch, RDMA_PS_TCP, &mine, &listen_id))
		return false;
	if (!sess_sync(&sess))
		return false;
	return sess.side || cm_resolve(ch, RDMA_PS_TCP, &server, &end.id);
}

static bool get_request(struct cm_event *event)
{
	if (!cm_expect(ch, RDMA_CM_EVENT_CONNECT_REQUEST, event))
		return false;
	end.id = event->ev.id;
	return EXPECT_EQ(event->ev.status, 0) && EXPECT(event->ev.listen_id == listen_id);
}

static bool data_is(const struct cm_event *event, uint8_t room, uint8_t len, uint64_t seed)
{
	uint8_t i;

	if (!EXPECT_EQ(event->ev.param.conn.private_data_len, room) ||
	    !EXPECT_EQ(vu_check(event->data, len, seed), -1))
		return false;
	for (i = len; i < room; i++)
		if (!EXPECT_EQ(event->data[i], 0))
			return false;
	return true;
}

/* The event has the number of the other side's QP. */
static bool qpn_is(const struct cm_event *event, uint32_t mine)
{
	uint32_t theirs;

	return sess_xchg(&sess, &mine, &theirs, sizeof(mine)) &&
	       EXPECT_EQ(event->ev.param.conn.qp_num, theirs);
}

/* Attributes that a QP was connected with */
static bool qp_has(uint8_t rd_atomic, uint8_t dest_rd_atomic, uint8_t retry, uint8_t rnr)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return EXPECT_EQ(ibv_query_qp(end.q.qp, &attr,
				      IBV_QP_STATE | IBV_QP_MAX_QP_RD_ATOMIC |
					      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_RETRY_CNT |
					      IBV_QP_RNR_RETRY,
				      &init),
			 0) &&
	       EXPECT_EQ(attr.qp_state, IBV_QPS_RTS) && EXPECT_EQ(attr.max_rd_atomic, rd_atomic) &&
	       EXPECT_EQ(attr.max_dest_rd_atomic, dest_rd_atomic) &&
	       EXPECT_EQ(attr.retry_cnt, retry) && EXPECT_EQ(attr.rnr_retry, rnr);
}

/* A message from the client, received through the server's queue or SRQ */
static bool message(void)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_wc wc;

	mr = ibv_reg_mr(end.pd, buf, LEN, VU_RW);
	if (!EXPECT(mr))
		return false;
	sge = (struct ibv_sge){.addr = (uintptr_t)buf, .length = LEN, .lkey = mr->lkey};
	if (sess.side) {
		memset(buf, 0, LEN);
		if (!EXPECT_EQ(end.srq ? ibv_post_srq_recv(end.srq, &wr, &bad)
				       : ibv_post_recv(end.q.qp, &wr, &bad),
			       0))
			return false;
	}
	if (!sess_sync(&sess))
		return false;
	if (sess.side)
		return cm_wait_comp(&end, &wc, 1) && EXPECT_EQ(wc.byte_len, LEN) &&
		       EXPECT_EQ(vu_check(buf, LEN, sess.test), -1);
	vu_fill(buf, LEN, sess.test);
	return EXPECT_EQ(vu_post_send(&end.q, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, LEN, 0,
				      0),
			 0) &&
	       cm_wait_comp(&end, &wc, 2);
}

/* The client disconnects; both get an event. */
static void hang_up(void)
{
	if (!sess_sync(&sess))
		return;
	if (!sess.side && !EXPECT_EQ(rdma_disconnect(end.id), 0))
		return;
	if (cm_expect(ch, RDMA_CM_EVENT_DISCONNECTED, NULL) && sess.side)
		EXPECT_EQ(rdma_disconnect(end.id), 0);
}

/**
 * struct depths - what each side offers (RDMA_MAX_RESP_RES is RDMA_MAX_INIT_DEPTH)
 * @client_in, @client_out: responder resources and initiator depth
 * @server_in, @server_out: likewise
 */
struct depths {
	uint8_t client_in, client_out, server_in, server_out;
};

static uint8_t or_max(uint8_t value, int max)
{
	return value == RDMA_MAX_RESP_RES ? max : value;
}

/* The client's in is the server's out. */
static void test_depths(const void *arg)
{
	struct depths d = *(const struct depths *)arg;
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct cm_event event;
	int in, out;

	if (!start())
		return;
	if (sess.side) {
		if (!get_request(&event) || !cm_end_create(&end, false))
			return;
	} else if (!cm_end_create(&end, false)) {
		return;
	}
	/* the two devices have the same limits */
	if (!EXPECT_EQ(ibv_query_device(end.id->verbs, &dev_attr), 0))
		return;
	in = or_max(d.client_in, dev_attr.max_qp_rd_atom);
	out = or_max(d.client_out, dev_attr.max_qp_init_rd_atom);
	if (!sess.side) {
		param.responder_resources = d.client_in;
		param.initiator_depth = d.client_out;
		if (!EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, &event))
			return;
	} else {
		EXPECT_EQ(event.ev.param.conn.initiator_depth, in);
		EXPECT_EQ(event.ev.param.conn.responder_resources, out);
		param.responder_resources = d.server_in;
		param.initiator_depth = d.server_out;
		if (!EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
			return;
	}
	/* the server's response; if it leaves the value open, not more than was requested */
	d.server_in = d.server_in == RDMA_MAX_RESP_RES ? out : d.server_in;
	d.server_out = d.server_out == RDMA_MAX_INIT_DEPTH ? in : d.server_out;
	if (sess.side) {
		qp_has(d.server_out, d.server_in, 7, 7);
	} else {
		EXPECT_EQ(event.ev.param.conn.responder_resources, d.server_out);
		EXPECT_EQ(event.ev.param.conn.initiator_depth, d.server_in);
		qp_has(d.server_in, d.server_out, 7, 7);
	}
	if (message())
		hang_up();
	sess_sync(&sess);
}

/* A value beyond the device's limit is refused, and the identifier can be used again. */
static void test_depth_limit(const void *arg)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct cm_event event;

	(void)arg;
	if (!start())
		return;
	if (!sess.side) {
		if (!cm_end_create(&end, false) ||
		    !EXPECT_EQ(ibv_query_device(end.id->verbs, &dev_attr), 0))
			return;
		if (dev_attr.max_qp_init_rd_atom < RDMA_MAX_INIT_DEPTH - 1) {
			param.initiator_depth = dev_attr.max_qp_init_rd_atom + 1;
			EXPECT(rdma_connect(end.id, &param) == -1 && errno == EINVAL);
		}
		param.initiator_depth = 0;
		if (dev_attr.max_qp_rd_atom < RDMA_MAX_RESP_RES - 1) {
			param.responder_resources = dev_attr.max_qp_rd_atom + 1;
			EXPECT(rdma_connect(end.id, &param) == -1 && errno == EINVAL);
		}
		param.responder_resources = 0;
		if (!EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, &event))
			return;
	} else if (!get_request(&event) || !cm_end_create(&end, false) ||
		   !EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		   !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL)) {
		return;
	}
	if (message())
		hang_up();
	sess_sync(&sess);
}

/**
 * struct lengths - of private data
 * @reject: the server does not accept
 */
struct lengths {
	uint8_t req, answer;
	bool reject;
};

static void test_private_data(const void *arg)
{
	struct rdma_conn_param param = {
		.private_data = buf,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	const struct lengths *l = arg;
	struct cm_event event;

	if (!start())
		return;
	vu_fill(buf, 256, sess.test + sess.side);
	if (sess.side) {
		if (!get_request(&event))
			return;
		data_is(&event, REQ_DATA, l->req, sess.test);
		param.private_data_len = l->answer;
		if (l->reject) {
			EXPECT_EQ(rdma_reject(end.id, buf, l->answer), 0);
			sess_sync(&sess);
			return;
		}
		if (!cm_end_create(&end, false) || !EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
			return;
	} else {
		if (!cm_end_create(&end, false))
			return;
		param.private_data_len = REQ_DATA + 1;
		EXPECT(rdma_connect(end.id, &param) == -1 && errno == EINVAL);
		param.private_data_len = l->req;
		if (!EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, l->reject ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_ESTABLISHED,
			       &event))
			return;
		EXPECT_EQ(event.ev.status, l->reject ? REJ_CONSUMER : 0);
		data_is(&event, l->reject ? REJ_DATA : REP_DATA, l->answer, sess.test + 1);
		if (l->reject) {
			EXPECT_EQ(vu_state(&end.q), IBV_QPS_ERR);
			sess_sync(&sess);
			return;
		}
	}
	if (message())
		hang_up();
	sess_sync(&sess);
}

/* Each side's RNR retry count is that of the other side's queue pair; the retry count of both. */
static void test_retries(const void *arg)
{
	struct rdma_conn_param param = {.flow_control = 1, .retry_count = 5, .rnr_retry_count = 6};
	struct cm_event event;

	(void)arg;
	if (!start())
		return;
	if (sess.side) {
		if (!get_request(&event) || !cm_end_create(&end, false))
			return;
		EXPECT_EQ(event.ev.param.conn.retry_count, 5);
		EXPECT_EQ(event.ev.param.conn.rnr_retry_count, 6);
		EXPECT_EQ(event.ev.param.conn.flow_control, 1);
		param.rnr_retry_count = 3;
		if (!EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL) || !qp_has(0, 0, 5, 6))
			return;
	} else {
		if (!cm_end_create(&end, false) || !EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, &event))
			return;
		EXPECT_EQ(event.ev.param.conn.rnr_retry_count, 3);
		EXPECT_EQ(event.ev.param.conn.flow_control, 1);
		if (!qp_has(0, 0, 5, 3))
			return;
	}
	if (message())
		hang_up();
	sess_sync(&sess);
}

/* The server allows no RNR retry: the client's first message without a receive fails. */
static void test_no_rnr_retry(const void *arg)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct cm_event event;
	struct ibv_wc wc;

	(void)arg;
	if (!start())
		return;
	if (sess.side) {
		param.rnr_retry_count = 0;
		if (!get_request(&event) || !cm_end_create(&end, false) ||
		    !EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
			return;
	} else {
		if (!cm_end_create(&end, false) || !EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
			return;
		EXPECT_EQ(vu_post_send(&end.q, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, NULL, NULL, 0, 0,
				       0),
			  0);
		vu_wait_wc(end.cq, &wc, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		EXPECT_EQ(vu_state(&end.q), IBV_QPS_ERR);
	}
	hang_up();
	sess_sync(&sess);
}

/* QP number and use of an SRQ are right, whatever the parameters are. */
static void test_qp_srq(const void *arg)
{
	struct rdma_conn_param param = {.qp_num = 1, .retry_count = 7, .rnr_retry_count = 7};
	const int *srq = arg; /* bit: side */
	struct cm_event event;

	if (!start())
		return;
	param.srq = !(*srq & 1 << sess.side);
	if (sess.side) {
		if (!get_request(&event) || !cm_end_create(&end, *srq & 2))
			return;
		EXPECT_EQ(event.ev.param.conn.srq, *srq & 1);
		if (!EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
			return;
	} else {
		if (!cm_end_create(&end, *srq & 1) || !EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, &event))
			return;
		EXPECT_EQ(event.ev.param.conn.srq, *srq >> 1);
	}
	if (qpn_is(&event, end.q.qp->qp_num) && message())
		hang_up();
	sess_sync(&sess);
}

/* The connection manager provides the attributes of a state, and the test modifies the QP. */
static bool to_state(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	return EXPECT_EQ(rdma_init_qp_attr(end.id, &attr, &mask), 0) &&
	       EXPECT_EQ(ibv_modify_qp(end.q.qp, &attr, mask), 0);
}

static bool own_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	if (!cm_end_objects(&end, true))
		return false;
	attr.send_cq = attr.recv_cq = end.cq;
	attr.srq = end.srq;
	end.q.qp = ibv_create_qp(end.pd, &attr);
	return EXPECT(end.q.qp);
}

/*
 * The program creates the QPs: their numbers and SRQ are parameters, and the client gets a
 * response.
 */
static void test_own_qp(const void *arg)
{
	struct rdma_conn_param param = {
		.responder_resources = 2,
		.initiator_depth = 2,
		.retry_count = 6,
		.rnr_retry_count = 5,
		.srq = 1,
	};
	struct cm_event event;

	(void)arg;
	if (!start())
		return;
	if (sess.side && !get_request(&event))
		return;
	if (!own_qp())
		return;
	param.qp_num = end.q.qp->qp_num;
	if (sess.side) {
		if (!to_state(IBV_QPS_INIT) || !to_state(IBV_QPS_RTR) || !to_state(IBV_QPS_RTS) ||
		    !EXPECT_EQ(rdma_accept(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_ESTABLISHED, NULL))
			return;
	} else {
		if (!EXPECT_EQ(rdma_connect(end.id, &param), 0) ||
		    !cm_expect(ch, RDMA_CM_EVENT_CONNECT_RESPONSE, &event) ||
		    !EXPECT_EQ(event.ev.status, 0) || !to_state(IBV_QPS_INIT) ||
		    !to_state(IBV_QPS_RTR) || !to_state(IBV_QPS_RTS) ||
		    !EXPECT_EQ(rdma_establish(end.id), 0))
			return;
	}
	EXPECT_EQ(event.ev.param.conn.srq, 1);
	if (qpn_is(&event, end.q.qp->qp_num) && qp_has(2, 2, 6, 5) && message())
		hang_up();
	sess_sync(&sess);
}

#define MAX RDMA_MAX_RESP_RES

static const struct depths depths[] = {
	{4, 3, 2, 1}, {1, 2, 2, 1}, {0, 0, 0, 0}, {MAX, MAX, MAX, MAX}, {3, 2, MAX, MAX},
};

static const struct lengths lengths[] = {
	{0, 0, false}, {1, 1, false},	    {REQ_DATA, REP_DATA, false},
	{0, 0, true},  {3, REJ_DATA, true},
};

static const int srqs[] = {0, 1, 2, 3};

static const struct tap_test tests[] = {
	{"depths: the server offers less", test_depths, &depths[0]},
	{"depths: both offer the same", test_depths, &depths[1]},
	{"depths: no reads at all", test_depths, &depths[2]},
	{"depths: the most both have", test_depths, &depths[3]},
	{"depths: the most that was asked for", test_depths, &depths[4]},
	{"depths: more than the device has", test_depth_limit, NULL},
	{"private data: none", test_private_data, &lengths[0]},
	{"private data: a byte each way", test_private_data, &lengths[1]},
	{"private data: all there is room for", test_private_data, &lengths[2]},
	{"private data: none, rejected", test_private_data, &lengths[3]},
	{"private data: all there is room for, rejected", test_private_data, &lengths[4]},
	{"retry counts", test_retries, NULL},
	{"no RNR retry", test_no_rnr_retry, NULL},
	{"QP numbers, no SRQ", test_qp_srq, &srqs[0]},
	{"QP numbers, the client's SRQ", test_qp_srq, &srqs[1]},
	{"QP numbers, the server's SRQ", test_qp_srq, &srqs[2]},
	{"QP numbers, both have an SRQ", test_qp_srq, &srqs[3]},
	{"queue pairs of the program's own", test_own_qp, NULL},
};

int main(int argc, char **argv)
{
	int status;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	buf = vu_alloc(4096);
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	vu_free(buf, 4096);
	return status;
}
