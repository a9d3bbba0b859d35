// SPDX-License-Identifier: GPL-2.0
/*
 * Unreliable connections: nothing is acknowledged; a message with a lost packet is lost as a whole.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "link_hook.h"
#include "pair.h"
#include "rig_assert.h"

#define MTU 1024

static struct pair p;

static int open_pair(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UC, .max_inline = 64};

	(void)state;
	p = pair_open(server, &opts);
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	link_capture = NULL;
	rig_close(p.rig);
	return 0;
}

/* A work request of p.a. */
static void put(uint8_t opcode, uint64_t wr_id, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, len);
	struct rig_wr wr = {.wr_id = wr_id,
			    .opcode = opcode,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};

	rig_put_send(p.a, &wr);
}

static void post(uint8_t opcode, uint64_t wr_id, uint32_t len)
{
	put(opcode, wr_id, len);
	rig_ring(p.a);
	inproc_settle();
}

static void recv_of(uint64_t wr_id, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, len);

	rig_post_recv(p.b, wr_id, &sge, 1);
}

static void test_messages(void **state)
{
	static const uint32_t sizes[] = {0, 1, MTU, MTU + 1, 5000, 65536, 70001, 1 << 20};
	unsigned int o, s;
	uint32_t seed = 1;

	(void)state;
	for (o = 0; o < PAIR_OPS; o++) {
		if (pair_all_ops[o] == OHCA_OP_RDMA_READ)
			continue;
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			struct pair_layout l = {sizes[s], 3, 5, 3, 2};

			pair_check_message(&p, pair_all_ops[o], &l, seed++);
		}
	}
	assert_int_equal(rig_query(p.a).sq_psn, rig_query(p.b).rq_psn);
}

static unsigned int num_sent;

static void capture(struct qp *src, const struct pkt *pkt)
{
	assert_int_equal(src->id, p.a->qpn);
	assert_false(pkt->flags & PKT_ACK_REQ);
	num_sent++;
	__real_link_send(src, pkt);
}

/* The responder never sends a packet. */
static void test_no_answers(void **state)
{
	(void)state;
	num_sent = 0;
	link_capture = capture;
	recv_of(1, 100);
	post(OHCA_OP_SEND, 1, 100); /* received */
	post(OHCA_OP_SEND, 2, 100); /* no receive */
	post(OHCA_OP_RDMA_WRITE, 3, 100);
	assert_int_equal(num_sent, 3);
	pair_assert_send_done(p.a, 1, OHCA_OP_SEND);
	pair_assert_send_done(p.a, 2, OHCA_OP_SEND);
	pair_assert_send_done(p.a, 3, OHCA_OP_RDMA_WRITE);
}

/* A request completes when it was sent, with or without a receiver. */
static void test_nobody(void **state)
{
	struct ohca_modify_port_in down = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	unsigned int i;

	(void)state;
	assert_int_equal(rig_qp_destroy(p.b), 0);
	for (i = 0; i < 10; i++) {
		post(OHCA_OP_SEND, i, 3000);
		pair_assert_send_done(p.a, i, OHCA_OP_SEND);
	}
	assert_int_equal(
		drv_cmd(p.rig->hca[0].drv, OHCA_CMD_MODIFY_PORT, &down, sizeof(down), NULL, 0), 0);
	post(OHCA_OP_SEND, i, 3000);
	pair_assert_send_done(p.a, i, OHCA_OP_SEND);
	assert_state(p.a, OHCA_QPS_RTS);
}

/* An unsignaled request completes with the next signaled one. */
static void test_unsignalled(void **state)
{
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE, .raddr = PAIR_IOVA, .rkey = p.mb->key};
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		wr.wr_id = i;
		wr.flags = i % 50 == 49 ? OHCA_WQE_SIGNALED : 0;
		rig_post_send(p.a, &wr);
		if (i % 50 == 49)
			pair_assert_send_done(p.a, i, OHCA_OP_RDMA_WRITE);
	}
	inproc_assert_no_cqe(p.a->scq);
}

/*
 * A message without a receive, or with one that is too short, is dropped; the receive is used for
 * another message.
 */
static void test_not_taken(void **state)
{
	struct ohca_cqe cqe;

	(void)state;
	post(OHCA_OP_SEND, 1, 5000);
	recv_of(10, 4999);
	post(OHCA_OP_SEND, 2, 5000);
	post(OHCA_OP_SEND, 3, 100000);
	inproc_assert_no_cqe(p.b->rcq);
	post(OHCA_OP_SEND, 4, 4999);
	cqe = rig_wait_recv(p.b);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 10);
	assert_int_equal(le32toh(cqe.byte_len), 4999);
	/* Immediate data without a receive */
	post(OHCA_OP_RDMA_WRITE_IMM, 5, 5000);
	recv_of(11, 0);
	post(OHCA_OP_RDMA_WRITE_IMM, 6, 0);
	cqe = rig_wait_recv(p.b);
	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 11);
	assert_int_equal(le32toh(cqe.byte_len), 0);
	inproc_assert_no_cqe(p.b->rcq);
	assert_state(p.b, OHCA_QPS_RTS);
}

/* Memory that the peer has no rights to: dropped without a response. */
static void test_access(void **state)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge};
	struct ohca_eqe eqe;
	unsigned int i;

	(void)state;
	rig_mr_fill(p.mb, PAIR_IOVA, 4096, 1);
	rig_mr_fill(p.ma, PAIR_IOVA, 4096, 2);
	recv_of(10, 0);
	for (i = 0; i < 3; i++) {
		wr.opcode = i == 2 ? OHCA_OP_RDMA_WRITE_IMM : OHCA_OP_RDMA_WRITE;
		wr.raddr = i == 0 ? PAIR_IOVA - 1 : PAIR_IOVA;
		wr.rkey = i == 0 ? p.mb->key : 0;
		rig_post_send(p.a, &wr);
		pair_assert_send_done(p.a, 0, wr.opcode);
	}
	/* The QP does not allow the access. */
	p.b->attr.access = 0;
	assert_int_equal(rig_modify(p.b, 0, OHCA_QP_ACCESS_FLAGS), 0);
	wr.rkey = p.mb->key;
	rig_post_send(p.a, &wr);
	pair_assert_send_done(p.a, 0, wr.opcode);
	inproc_assert_no_cqe(p.b->rcq);
	assert_true(rig_mr_is(p.mb, PAIR_IOVA, 4096, 1));
	assert_state(p.b, OHCA_QPS_RTS);
	assert_false(drv_eq_poll(p.b->hca->async, &eqe) &&
		     (eqe.type == OHCA_EVENT_QP_ACCESS_ERR || eqe.type == OHCA_EVENT_QP_REQ_ERR));
	/* The receive is still posted. */
	post(OHCA_OP_SEND, 1, 0);
	assert_cqe(rig_wait_recv(p.b), OHCA_WC_SUCCESS, 0, 10);
}

/* An invalid receive completes with an error, and the QP enters the error state. */
static void test_bad_receive(void **state)
{
	struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, 100);

	(void)state;
	sge.lkey = 0;
	rig_post_recv(p.b, 10, &sge, 1);
	recv_of(11, 100);
	post(OHCA_OP_SEND, 1, 100);
	pair_assert_send_done(p.a, 1, OHCA_OP_SEND);
	assert_cqe(rig_wait_recv(p.b), OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY, 10);
	assert_cqe(rig_wait_recv(p.b), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 11);
	assert_state(p.b, OHCA_QPS_ERR);
	assert_state(p.a, OHCA_QPS_RTS);

	rig_to_reset(p.b);
	assert_int_equal(rig_to_init(p.b) || rig_to_rtr(p.b) || rig_to_rts(p.b), 0);
	__atomic_store_n(&p.b->rq_rec->pi, htole32(1000), __ATOMIC_RELEASE);
	post(OHCA_OP_SEND, 2, 100);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_FATAL, p.b->qpn);
	assert_state(p.b, OHCA_QPS_ERR);
}

/* Payload of the test's packets. */
static uint8_t payload[16 * MTU];

static void to_responder(uint8_t op, uint8_t flags, uint32_t psn, uint32_t npsn, uint32_t len,
			 uint32_t dma_len)
{
	struct iovec iov = {payload, len};
	struct pkt pkt = {
		.op = op,
		.flags = flags,
		.psn = psn & PSN_MASK,
		.npsn = npsn,
		.imm = htobe32(7),
		.va = PAIR_IOVA,
		.rkey = p.mb->key,
		.dma_len = dma_len,
		.iov = &iov,
		.num = len ? 1 : 0,
		.len = len,
	};

	responder_rx(inproc_qp(p.b), &pkt);
}

#define FIRST PKT_FIRST
#define LAST PKT_LAST
#define ONLY (PKT_FIRST | PKT_LAST)

static void assert_recv(uint64_t wr_id, uint32_t len)
{
	struct ohca_cqe cqe = rig_wait_recv(p.b);

	assert_cqe(cqe, OHCA_WC_SUCCESS, 0, wr_id);
	assert_int_equal(le32toh(cqe.byte_len), len);
}

/* A message with a gap does not arrive; the next one does, into the same receive. */
static void test_gaps(void **state)
{
	uint32_t psn = RIG_PSN;

	(void)state;
	recv_of(10, 5 * MTU);
	recv_of(11, 5 * MTU);
	/* Middle packet lost */
	to_responder(PKT_SEND, FIRST, psn, 1, MTU, 0);
	to_responder(PKT_SEND, 0, psn + 2, 1, MTU, 0);
	to_responder(PKT_SEND, LAST, psn + 3, 1, 7, 0);
	inproc_assert_no_cqe(p.b->rcq);
	to_responder(PKT_SEND, FIRST, psn + 4, 2, 2 * MTU, 0);
	to_responder(PKT_SEND, LAST, psn + 6, 1, 8, 0);
	assert_recv(10, 2 * MTU + 8);

	/* Last packet lost: the next message begins without it. */
	to_responder(PKT_SEND, FIRST, psn + 7, 2, 2 * MTU, 0);
	to_responder(PKT_SEND, ONLY, psn + 10, 1, 9, 0);
	assert_recv(11, 9);

	/* No packet is lost: the sender gave up and begins another message. */
	recv_of(20, 5 * MTU);
	recv_of(21, 5 * MTU);
	to_responder(PKT_SEND, FIRST, psn + 11, 1, MTU, 0);
	to_responder(PKT_SEND, ONLY, psn + 12, 1, 14, 0);
	assert_recv(20, 14);
	to_responder(PKT_WRITE, FIRST, psn + 13, 1, MTU, 2 * MTU);
	to_responder(PKT_SEND, ONLY, psn + 14, 1, 15, 0);
	assert_recv(21, 15);

	/* The first packet is lost, then a whole message; then PSNs that jump far ahead and back */
	recv_of(12, 100);
	recv_of(13, 100);
	recv_of(14, 100);
	to_responder(PKT_SEND, LAST, psn + 16, 1, 10, 0);
	inproc_assert_no_cqe(p.b->rcq);
	to_responder(PKT_SEND, ONLY, psn + 5000, 1, 11, 0);
	assert_recv(12, 11);
	to_responder(PKT_SEND, ONLY, psn - 5000, 1, 12, 0);
	assert_recv(13, 12);
	assert_int_equal(le32toh(rig_query(p.b).rq_psn), (psn - 4999) & PSN_MASK);
	/* The same packet again is a message like any other. */
	to_responder(PKT_SEND, ONLY, psn - 5000, 1, 13, 0);
	assert_recv(14, 13);
}

/* What is left of a message that was dropped is not refused once more. */
static void test_rest_not_counted(void **state)
{
	uint64_t *counts = inproc_hca(1)->port_counters[0].value;
	uint32_t psn = RIG_PSN;

	(void)state;
	/* No receive */
	to_responder(PKT_SEND, FIRST, psn, 1, MTU, 0);
	to_responder(PKT_SEND, 0, psn + 1, 1, MTU, 0);
	to_responder(PKT_SEND, LAST, psn + 2, 1, 7, 0);
	assert_int_equal(counts[OHCA_CNT_OUT_OF_BUFFER], 1);
	assert_int_equal(counts[OHCA_CNT_RESP_INVALID], 0);
	/* Lost */
	to_responder(PKT_WRITE, 0, psn + 4, 1, MTU, 0);
	to_responder(PKT_WRITE, LAST, psn + 5, 1, 7, 0);
	assert_int_equal(counts[OHCA_CNT_OUT_OF_SEQUENCE], 1);
	assert_int_equal(counts[OHCA_CNT_RESP_INVALID], 0);
	/* In the middle of a message of another kind */
	to_responder(PKT_WRITE, FIRST, psn + 6, 1, MTU, 3 * MTU);
	to_responder(PKT_SEND, 0, psn + 7, 1, MTU, 0);
	to_responder(PKT_SEND, LAST, psn + 8, 1, MTU, 0);
	assert_int_equal(counts[OHCA_CNT_RESP_INVALID], 1);
}

/* The same with RDMA writes; data written before the gap stay. */
static void test_write_gaps(void **state)
{
	uint32_t psn = RIG_PSN;
	uint8_t byte;

	(void)state;
	memset(payload, 0xaa, sizeof(payload));
	rig_mr_fill(p.mb, PAIR_IOVA, 4 * MTU, 1);
	recv_of(10, 0);
	to_responder(PKT_WRITE, FIRST, psn, 1, MTU, 3 * MTU);
	to_responder(PKT_WRITE, LAST | PKT_IMM, psn + 2, 1, MTU, 0);
	inproc_assert_no_cqe(p.b->rcq);
	rig_mr_get(p.mb, PAIR_IOVA + MTU - 1, &byte, 1);
	assert_int_equal(byte, 0xaa);
	rig_mr_get(p.mb, PAIR_IOVA + MTU, &byte, 1);
	rig_mr_fill(p.ma, PAIR_IOVA, 4 * MTU, 1);
	to_responder(PKT_WRITE, ONLY | PKT_IMM, psn + 3, 1, 100, 100);
	assert_recv(10, 100);
	/* A middle packet of another type of message, and wrong lengths */
	recv_of(11, 100);
	to_responder(PKT_WRITE, FIRST, psn + 4, 1, MTU, 2 * MTU);
	to_responder(PKT_SEND, LAST, psn + 5, 1, 10, 0);
	to_responder(PKT_SEND, FIRST, psn + 6, 1, 10, 0);
	to_responder(PKT_SEND, ONLY, psn + 7, 1, MTU + 1, 0);
	to_responder(PKT_WRITE, ONLY, psn + 8, 1, 10, 11);
	to_responder(PKT_READ_REQ, ONLY, psn + 9, 1, 0, 10);
	inproc_assert_no_cqe(p.b->rcq);
	to_responder(PKT_SEND, ONLY, psn + 10, 1, 10, 0);
	assert_recv(11, 10);
	assert_state(p.b, OHCA_QPS_RTS);
}

/*
 * A send that fails puts the QP into SQE: sends are flushed, receives continue, and the QP can
 * return to RTS.
 */
static void test_sqe(void **state)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct rig_wr back = {.opcode = OHCA_OP_SEND, .num_sge = 1};
	uint64_t wr_id = 100;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct ohca_sge into = rig_sge(p.ma, PAIR_IOVA, 100),
				from = rig_sge(p.mb, PAIR_IOVA, 100);
		struct rig_wr bad = {.wr_id = wr_id + 1,
				     .opcode = i == 0 ? OHCA_OP_RDMA_READ : OHCA_OP_SEND,
				     .num_sge = 1,
				     .sge = &sge,
				     .rkey = p.mb->key};

		rig_post_recv(p.a, 50 + i, &into, 1);
		recv_of(10 + i, 100);
		sge.lkey = i == 1 ? 0 : htole32(p.ma->key);
		bad.num_sge = i == 2 ? 5 : 1;
		bad.sge = i == 2 ? (struct ohca_sge[5]){sge, sge, sge, sge, sge} : &sge;
		put(OHCA_OP_SEND, wr_id, 10);
		rig_put_send(p.a, &bad);
		put(OHCA_OP_SEND, wr_id + 2, 10);
		put(OHCA_OP_SEND, wr_id + 3, 10);
		rig_ring(p.a);
		pair_assert_send_done(p.a, wr_id, OHCA_OP_SEND);
		assert_cqe(rig_wait_send(p.a),
			   i == 1 ? OHCA_WC_LOC_PROT_ERR : OHCA_WC_LOC_QP_OP_ERR,
			   i == 0   ? OHCA_VENDOR_ERR_WQE_OPCODE
			   : i == 1 ? OHCA_VENDOR_ERR_KEY
				    : OHCA_VENDOR_ERR_WQE_SGE,
			   wr_id + 1);
		assert_cqe(rig_wait_send(p.a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH,
			   wr_id + 2);
		assert_cqe(rig_wait_send(p.a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH,
			   wr_id + 3);
		assert_state(p.a, OHCA_QPS_SQE);
		/* Sends are flushed as long as the QP is in SQE, and messages arrive. */
		post(OHCA_OP_SEND, wr_id + 4, 10);
		assert_cqe(rig_wait_send(p.a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH,
			   wr_id + 4);
		back.sge = &from;
		rig_post_send(p.b, &back);
		assert_cqe(rig_wait_recv(p.a), OHCA_WC_SUCCESS, 0, 50 + i);

		p.a->attr.cur_state = OHCA_QPS_SQE;
		assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE | OHCA_QP_CUR_STATE),
				 0);
		assert_recv(10 + i, 10);
		recv_of(20 + i, 100);
		post(OHCA_OP_SEND, wr_id + 5, 11);
		pair_assert_send_done(p.a, wr_id + 5, OHCA_OP_SEND);
		assert_recv(20 + i, 11);
		wr_id += 10;
	}
	inproc_assert_no_cqe(p.a->scq);
}

/*
 * A message fails when part of it has been sent: the receiver drops that message, but not the next
 * one.
 */
static void test_late_failure(void **state)
{
	struct ohca_sge sge[2] = {rig_sge(p.ma, PAIR_IOVA, 200000), rig_sge(p.ma, PAIR_IOVA, 8)};
	struct rig_wr wr = {.wr_id = 1, .opcode = OHCA_OP_SEND, .num_sge = 2, .sge = sge};

	(void)state;
	sge[1].lkey = 0;
	recv_of(10, 300000);
	rig_post_send(p.a, &wr);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY, 1);
	assert_state(p.a, OHCA_QPS_SQE);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	post(OHCA_OP_SEND, 2, 70000);
	pair_assert_send_done(p.a, 2, OHCA_OP_SEND);
	assert_recv(10, 70000);
}

/* From SQE to ERR: a queue or a CQ fails. */
static void test_sqe_broken(void **state)
{
	(void)state;
	post(0xff, 1, 8);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE, 1);
	assert_state(p.a, OHCA_QPS_SQE);
	p.a->sq_pi += 1000;
	rig_ring(p.a);
	rig_wait_event(p.a->hca, OHCA_EVENT_QP_FATAL, p.a->qpn);
	assert_state(p.a, OHCA_QPS_ERR);
}

static void test_events(void **state)
{
	(void)state;
	/* Established by the first packet that is accepted in RTR */
	rig_to_reset(p.b);
	assert_int_equal(rig_to_init(p.b) || rig_to_rtr(p.b), 0);
	recv_of(1, 10);
	post(OHCA_OP_SEND, 1, 10);
	rig_wait_event(p.b->hca, OHCA_EVENT_COMM_EST, p.b->qpn);
	pair_assert_send_done(p.a, 1, OHCA_OP_SEND);

	/* Drained; no request is started then. */
	p.a->attr.en_sqd_async_notify = 1;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY),
			 0);
	rig_wait_event(p.a->hca, OHCA_EVENT_SQ_DRAINED, p.a->qpn);
	post(OHCA_OP_SEND, 2, 10);
	inproc_assert_no_cqe(p.a->scq);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	pair_assert_send_done(p.a, 2, OHCA_OP_SEND);
}

/* Reliable and unreliable connections do not mix. */
static void test_types(void **state)
{
	struct rig_qp *rc = rig_qp_new(&p.rig->hca[1], NULL);

	(void)state;
	rig_to_reset(p.a);
	rig_connect(p.a, rc);
	post(OHCA_OP_RDMA_WRITE, 1, 100);
	pair_assert_send_done(p.a, 1, OHCA_OP_RDMA_WRITE);
	assert_int_equal(rig_query(rc).rq_psn, htole32(RIG_PSN));
}

#define UC_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UC_TEST(test_messages),		UC_TEST(test_no_answers),
		UC_TEST(test_nobody),		UC_TEST(test_unsignalled),
		UC_TEST(test_not_taken),	UC_TEST(test_access),
		UC_TEST(test_bad_receive),	UC_TEST(test_gaps),
		UC_TEST(test_write_gaps),	UC_TEST(test_sqe),
		UC_TEST(test_late_failure),	UC_TEST(test_sqe_broken),
		UC_TEST(test_events),		UC_TEST(test_types),
		UC_TEST(test_rest_not_counted),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
