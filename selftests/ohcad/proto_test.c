// SPDX-License-Identifier: GPL-2.0
/*
 * Requester and responder packet by packet: one side is the device's, the other one this program,
 * which sees every packet that the device sends and sends what it likes.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "link_hook.h"
#include "pair.h"

#define MTU 1024

static struct pair p;
static struct qp *qa, *qb; /* the device's sides of p.a and p.b */

/* What the device has sent since the last take(). */
static struct pkt sent[64];
static unsigned int num_sent;

static void capture(struct qp *src, const struct pkt *pkt)
{
	(void)src;
	assert_true(num_sent < 64);
	sent[num_sent] = *pkt;
	sent[num_sent++].iov = NULL;
}

static int open_pair(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8};

	(void)state;
	link_capture = NULL;
	p = pair_new(server, &opts);
	p.a->attr.timeout = 0; /* nothing but what comes makes it move */
	p.a->attr.retry_cnt = 2;
	p.a->attr.rnr_retry = 1;
	p.a->attr.max_rd_atomic = 4;
	p.b->attr.max_dest_rd_atomic = 4;
	p.a->attr.sq_psn = htole32(100);
	p.b->attr.rq_psn = htole32(100);
	rig_connect(p.a, p.b);
	qa = inproc_qp(p.a);
	qb = inproc_qp(p.b);
	num_sent = 0;
	link_capture = capture;
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	link_capture = NULL;
	rig_close(p.rig);
	return 0;
}

/* The next packet that the device has sent, which must be like this; -1: whatever. */
static struct pkt take(int op, int64_t psn, int64_t npsn)
{
	struct pkt pkt;

	inproc_settle();
	assert_true(num_sent > 0);
	pkt = sent[0];
	memmove(sent, sent + 1, --num_sent * sizeof(sent[0]));
	assert_int_equal(pkt.op, op);
	if (psn >= 0)
		assert_int_equal(pkt.psn, psn);
	if (npsn >= 0)
		assert_int_equal(pkt.npsn, npsn);
	return pkt;
}

/* As many packets as a message has, in as many bursts as the device likes; returns the last. */
static struct pkt take_all(int op, uint32_t psn, uint32_t npsn)
{
	struct pkt pkt;

	do {
		pkt = take(op, psn, -1);
		assert_true(pkt.npsn && pkt.npsn <= npsn);
		psn += pkt.npsn;
		npsn -= pkt.npsn;
	} while (npsn);
	return pkt;
}

static void take_nothing(void)
{
	inproc_settle();
	assert_int_equal(num_sent, 0);
}

static void take_ack(uint32_t psn, uint8_t syndrome)
{
	assert_int_equal(take(PKT_ACK, psn, -1).syndrome, syndrome);
}

/* Payload for packets of ours. */
static uint8_t payload[1 << 20];

static void to_responder(uint8_t op, uint8_t flags, uint32_t psn, uint32_t npsn, uint32_t len,
			 uint32_t dma_len)
{
	struct iovec iov = {payload, len};
	struct pkt pkt = {
		.op = op,
		.flags = flags,
		.psn = psn,
		.npsn = npsn,
		.imm = htobe32(7),
		.va = PAIR_IOVA,
		.rkey = p.mb->key,
		.dma_len = dma_len,
		.iov = &iov,
		.num = len ? 1 : 0,
		.len = len,
	};

	responder_rx(qb, &pkt);
}

static void to_requester(uint8_t op, uint8_t flags, uint8_t syndrome, uint32_t psn, uint32_t npsn,
			 uint32_t len)
{
	struct iovec iov = {payload, len};
	struct pkt pkt = {
		.op = op,
		.flags = flags,
		.syndrome = syndrome,
		.psn = psn,
		.npsn = npsn,
		.iov = &iov,
		.num = len ? 1 : 0,
		.len = len,
	};

	requester_rx(qa, &pkt);
}

static void ack(uint8_t syndrome, uint32_t psn)
{
	to_requester(PKT_ACK, 0, syndrome, psn, 1, 0);
}

#define ONLY (PKT_FIRST | PKT_LAST | PKT_ACK_REQ)

static void recv_of(uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, len);

	rig_post_recv(p.b, 1, &sge, 1);
}

static void post(uint8_t opcode, uint64_t wr_id, uint32_t len, uint8_t flags)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, len);
	struct rig_wr wr = {.wr_id = wr_id,
			    .opcode = opcode,
			    .flags = flags,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};

	rig_post_send(p.a, &wr);
	inproc_settle();
}

static void assert_done(uint64_t wr_id, uint8_t status)
{
	struct ohca_cqe cqe = rig_wait_send(p.a);

	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(cqe.status, status);
}

/* Responder */

/*
 * One NAK for a gap, however much follows; the packet that was missed is taken, and the rest must
 * come again.
 */
static void test_gap(void **state)
{
	unsigned int i;

	(void)state;
	recv_of(MTU);
	to_responder(PKT_SEND, ONLY, 102, 1, 10, 0);
	take_ack(100, AETH_NAK_PSN_SEQ);
	for (i = 0; i < 5; i++)
		to_responder(PKT_SEND, ONLY, 103 + i, 1, 10, 0);
	to_responder(PKT_READ_REQ, ONLY, 110, 1, 0, 10);
	take_nothing();
	to_responder(PKT_SEND, ONLY, 100, 1, 10, 0);
	take_ack(100, AETH_ACK_NO_CREDITS);
	assert_int_equal(rig_wait_recv(p.b).status, 0);
	to_responder(PKT_SEND, ONLY, 102, 1, 10, 0);
	take_ack(101, AETH_NAK_PSN_SEQ);
	inproc_assert_no_cqe(p.b->rcq);
}

/* What was there before is acknowledged anew and not executed. */
static void test_duplicate(void **state)
{
	(void)state;
	recv_of(MTU);
	recv_of(MTU);
	to_responder(PKT_SEND, ONLY, 100, 1, 10, 0);
	take_ack(100, AETH_ACK_NO_CREDITS);
	to_responder(PKT_WRITE, PKT_FIRST | PKT_LAST, 101, 1, 10, 10);
	take_nothing(); /* not asked for */
	assert_int_equal(rig_wait_recv(p.b).status, 0);
	to_responder(PKT_SEND, ONLY, 100, 1, 10, 0);
	take_ack(101, AETH_ACK_NO_CREDITS);
	to_responder(PKT_SEND, ONLY, 90, 1, 10, 0);
	take_ack(101, AETH_ACK_NO_CREDITS);
	memset(payload, 1, 10);
	to_responder(PKT_WRITE, ONLY, 101, 1, 10, 10);
	take_ack(101, AETH_ACK_NO_CREDITS);
	memset(payload, 0, 10);
	inproc_assert_no_cqe(p.b->rcq);
	assert_int_equal(le32toh(rig_query(p.b).rq_psn), 102);
}

/* A burst whose first packets were there before. */
static void test_overlap(void **state)
{
	unsigned int i;
	struct ohca_cqe cqe;

	(void)state;
	for (i = 0; i < sizeof(payload); i++)
		payload[i] = i / MTU + i;
	recv_of(10 * MTU);
	to_responder(PKT_SEND, PKT_FIRST, 100, 3, 3 * MTU, 0);
	to_responder(PKT_SEND, ONLY, 100, 6, 5 * MTU + 7, 0);
	take_ack(105, AETH_ACK_NO_CREDITS);
	cqe = rig_wait_recv(p.b);
	assert_int_equal(cqe.status, 0);
	assert_int_equal(le32toh(cqe.byte_len), 5 * MTU + 7);
	for (i = 0; i < 5 * MTU + 7; i += 13) {
		uint8_t byte;

		rig_mr_get(p.mb, PAIR_IOVA + i, &byte, 1);
		assert_int_equal(byte, payload[i]);
	}
	memset(payload, 0, sizeof(payload));
}

/*
 * RNR NAK with the QP's timer, silence until the same packet comes again, and then no trace of
 * it.
 */
static void test_rnr_nak(void **state)
{
	(void)state;
	to_responder(PKT_SEND, ONLY, 100, 2, MTU + 1, 0);
	take_ack(100, AETH_RNR_NAK | p.b->attr.min_rnr_timer);
	to_responder(PKT_SEND, ONLY, 102, 1, 10, 0);
	take_nothing();
	to_responder(PKT_SEND, ONLY, 100, 2, MTU + 1, 0);
	take_ack(100, AETH_RNR_NAK | p.b->attr.min_rnr_timer);
	recv_of(10 * MTU);
	to_responder(PKT_SEND, ONLY, 100, 2, MTU + 1, 0);
	take_ack(101, AETH_ACK_NO_CREDITS);
	/* A WRITE with immediate data: at its end */
	to_responder(PKT_WRITE, PKT_FIRST | PKT_ACK_REQ, 102, 2, 2 * MTU, 2 * MTU + 5);
	take_ack(103, AETH_ACK_NO_CREDITS);
	to_responder(PKT_WRITE, PKT_LAST | PKT_IMM | PKT_ACK_REQ, 104, 1, 5, 0);
	take_ack(104, AETH_RNR_NAK | p.b->attr.min_rnr_timer);
	recv_of(0);
	to_responder(PKT_WRITE, PKT_LAST | PKT_IMM | PKT_ACK_REQ, 104, 1, 5, 0);
	take_ack(104, AETH_ACK_NO_CREDITS);
	assert_int_equal(rig_wait_recv(p.b).status, 0);
	assert_int_equal(le32toh(rig_wait_recv(p.b).byte_len), 2 * MTU + 5);
}

static unsigned int comm_est_events(void)
{
	struct ohca_eqe eqe;
	unsigned int num = 0;

	inproc_settle();
	while (drv_eq_poll(p.b->hca->async, &eqe)) {
		drv_eq_ack(p.b->hca->async);
		num += eqe.type == OHCA_EVENT_COMM_EST && le32toh(eqe.id) == p.b->qpn;
	}
	return num;
}

/* Only a packet that is accepted tells that the peer is there, and only the first one. */
static void test_comm_est(void **state)
{
	(void)state;
	rig_to_reset(p.b);
	assert_int_equal(rig_to_init(p.b) || rig_to_rtr(p.b), 0);
	to_responder(PKT_SEND, ONLY, 101, 1, 10, 0);
	take_ack(100, AETH_NAK_PSN_SEQ);
	to_responder(PKT_WRITE, ONLY, 99, 1, 10, 10);
	take_ack(99, AETH_ACK_NO_CREDITS);
	to_responder(PKT_SEND, ONLY, 100, 1, 10, 0);
	take_ack(100, AETH_RNR_NAK | p.b->attr.min_rnr_timer);
	assert_int_equal(comm_est_events(), 0);
	to_responder(PKT_READ_REQ, ONLY, 100, 1, 0, 10);
	take(PKT_READ_RESP, 100, 1);
	assert_int_equal(comm_est_events(), 1);
	to_responder(PKT_WRITE, ONLY, 101, 1, 10, 10);
	take_ack(101, AETH_ACK_NO_CREDITS);
	assert_int_equal(comm_est_events(), 0);

	rig_to_reset(p.b);
	assert_int_equal(rig_to_init(p.b) || rig_to_rtr(p.b), 0);
	to_responder(PKT_WRITE, ONLY, 100, 1, 10, 11);
	take_ack(100, AETH_NAK_INV_REQ);
	assert_int_equal(comm_est_events(), 0);
}

/* The message sequence number counts messages. */
static void test_msn(void **state)
{
	(void)state;
	to_responder(PKT_WRITE, PKT_FIRST | PKT_ACK_REQ, 100, 2, 2 * MTU, 3 * MTU);
	assert_int_equal(take(PKT_ACK, 101, -1).msn, 0);
	to_responder(PKT_WRITE, PKT_LAST | PKT_ACK_REQ, 102, 1, MTU, 0);
	assert_int_equal(take(PKT_ACK, 102, -1).msn, 1);
	to_responder(PKT_READ_REQ, ONLY, 103, 3, 0, 3 * MTU);
	assert_int_equal(take(PKT_READ_RESP, 103, 3).msn, 2);
	to_responder(PKT_WRITE, ONLY, 106, 1, 0, 0);
	assert_int_equal(take(PKT_ACK, 106, -1).msn, 3);
}

/* Sequences and lengths of packets that can't be. */
static void test_invalid_requests(void **state)
{
	static const struct {
		uint8_t before; /* an unfinished message of this kind first, at PSN 100; 0xff: none */
		uint8_t op, flags;
		uint32_t npsn, len, dma_len;
	} cases[] = {
		{0xff, PKT_SEND, 0, 1, MTU, 0},
		{0xff, PKT_SEND, PKT_LAST, 1, 10, 0},
		{0xff, PKT_WRITE, 0, 1, MTU, 0},
		{PKT_SEND, PKT_SEND, ONLY, 1, 10, 0},
		{PKT_SEND, PKT_WRITE, PKT_LAST, 1, 10, 0},
		{PKT_SEND, PKT_WRITE, ONLY, 1, 10, 10},
		{PKT_SEND, PKT_READ_REQ, ONLY, 1, 0, 10},
		{PKT_WRITE, PKT_SEND, PKT_LAST, 1, 10, 0},
		{PKT_WRITE, PKT_WRITE, ONLY, 1, 10, 10},
		{PKT_WRITE, PKT_WRITE, PKT_LAST, 1, 10, 0}, /* too little in all */
		{PKT_WRITE, PKT_WRITE, 0, 20, 20 * MTU, 0}, /* too much */
		{0xff, PKT_SEND, PKT_FIRST, 1, MTU - 1, 0},
		{0xff, PKT_SEND, PKT_FIRST, 2, MTU, 0},
		{0xff, PKT_SEND, PKT_FIRST, 1, MTU + 1, 0},
		{0xff, PKT_SEND, ONLY, 2, MTU, 0},
		{0xff, PKT_SEND, ONLY, 1, MTU + 1, 0},
		{0xff, PKT_SEND, ONLY, 2, 0, 0},
		{0xff, PKT_WRITE, ONLY, 1, 10, 11},
		{0xff, PKT_WRITE, ONLY, 1, 10, 9},
		{0xff, PKT_WRITE, PKT_FIRST, 1, MTU, (1U << 30) + 1},
		{0xff, PKT_READ_REQ, ONLY, 1, 0, (1U << 30) + 1},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t psn = 100;

		recv_of(100 * MTU);
		recv_of(100 * MTU);
		if (cases[i].before != 0xff)
			to_responder(cases[i].before, PKT_FIRST, psn++, 1, MTU, 10 * MTU);
		to_responder(cases[i].op, cases[i].flags, psn, cases[i].npsn, cases[i].len,
			     cases[i].dma_len);
		take_ack(psn, AETH_NAK_INV_REQ);
		take_nothing();
		rig_wait_event(p.b->hca, OHCA_EVENT_QP_REQ_ERR, p.b->qpn);
		assert_int_equal(rig_query(p.b).state, OHCA_QPS_ERR);
		assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_WR_FLUSH_ERR);
		assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_WR_FLUSH_ERR);
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		rig_connect(p.a, p.b);
	}
}

/* Answers to READs come in order, and acknowledgments of what followed after them. */
static void test_read_order(void **state)
{
	unsigned int i;

	(void)state;
	recv_of(MTU);
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 400, 1, 0, 1);
	to_responder(PKT_SEND, ONLY, 401, 1, 10, 0);
	to_responder(PKT_WRITE, ONLY, 402, 1, 10, 10);
	take_all(PKT_READ_RESP, 100, 300);
	take(PKT_READ_RESP, 400, 1);
	take_ack(402, AETH_ACK_NO_CREDITS); /* both in one */
	assert_int_equal(rig_wait_recv(p.b).status, 0);
	/* Refused behind READs: the NAK comes after the answers. */
	for (i = 0; i < 4; i++)
		to_responder(PKT_READ_REQ, ONLY, 403 + 300 * i, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 1603, 1, 0, 1);
	for (i = 0; i < 4; i++) {
		take_all(PKT_READ_RESP, 403 + 300 * i, 300);
	}
	take_ack(1603, AETH_NAK_INV_REQ);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_REQ_ERR, p.b->qpn);
}

/*
 * READs that come again are executed again, from where they ask; what is still to come of them is
 * not sent twice.
 */
static void test_read_again(void **state)
{
	struct pkt pkt;

	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 3, 0, 3 * MTU);
	take(PKT_READ_RESP, 100, 3);
	to_responder(PKT_WRITE, ONLY, 103, 1, 10, 10);
	take_ack(103, AETH_ACK_NO_CREDITS);
	to_responder(PKT_READ_REQ, ONLY, 101, 2, 0, 2 * MTU);
	pkt = take(PKT_READ_RESP, 101, 2);
	assert_int_equal(pkt.flags, PKT_FIRST | PKT_LAST);
	/* Beyond what was asked for before: not a repetition */
	to_responder(PKT_READ_REQ, ONLY, 102, 3, 0, 3 * MTU);
	take_nothing();
	to_responder(PKT_READ_REQ, ONLY, 104, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 404, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 200, 204, 0, 204 * MTU);
	take_all(PKT_READ_RESP, 200, 204);
	take_nothing();
	to_responder(PKT_READ_REQ, ONLY, 404, 300, 0, 300 * MTU);
	take_all(PKT_READ_RESP, 404, 300);
	to_responder(PKT_WRITE, ONLY, 704, 1, 10, 10);
	take_ack(704, AETH_ACK_NO_CREDITS);
}

/* The region goes while a READ is under way. */
static void test_read_revoked(void **state)
{
	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	/* A round executes commands before it runs QPs. */
	assert_int_equal(num_sent, 0);
	assert_int_equal(rig_mr_destroy(p.mb), 0);
	take_ack(100, AETH_NAK_REM_ACCESS);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, p.b->qpn);
}

/* Requester */

/* One acknowledgment for many requests; completions in order, of the signaled ones. */
static void test_coalesced(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		post(OHCA_OP_RDMA_WRITE, i, 10, i % 3 ? 0 : OHCA_WQE_SIGNALED);
		take(PKT_WRITE, 100 + i, 1);
	}
	ack(AETH_ACK_NO_CREDITS, 104);
	assert_done(0, 0);
	assert_done(3, 0);
	inproc_assert_no_cqe(p.a->scq);
	ack(AETH_ACK_NO_CREDITS, 103); /* old */
	ack(AETH_ACK_NO_CREDITS, 110); /* of nothing */
	ack(AETH_ACK_NO_CREDITS, 99);
	inproc_assert_no_cqe(p.a->scq);
	ack(AETH_ACK_NO_CREDITS, 109);
	assert_done(6, 0);
	assert_done(9, 0);
}

/* A sequence error: everything before is acknowledged, the rest sent again from there. */
static void test_go_back(void **state)
{
	unsigned int i;

	(void)state;
	post(OHCA_OP_RDMA_WRITE, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 300 * MTU, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 2, 10, OHCA_WQE_SIGNALED);
	take(PKT_WRITE, 100, 1);
	take_all(PKT_WRITE, 101, 300);
	take(PKT_WRITE, 401, 1);
	ack(AETH_NAK_PSN_SEQ, 150);
	assert_done(0, 0);
	assert_int_equal(take_all(PKT_WRITE, 150, 251).flags & (PKT_FIRST | PKT_LAST), PKT_LAST);
	take(PKT_WRITE, 401, 1);
	/* The same again, without progress: the retries run out. */
	for (i = 0; i < 1; i++) {
		ack(AETH_NAK_PSN_SEQ, 150);
		take_all(PKT_WRITE, 150, 251);
		take(PKT_WRITE, 401, 1);
	}
	/* Progress: they start anew. */
	ack(AETH_ACK_NO_CREDITS, 300);
	for (i = 0; i < 2; i++) {
		ack(AETH_NAK_PSN_SEQ, 301);
		take_all(PKT_WRITE, 301, 100);
		take(PKT_WRITE, 401, 1);
	}
	ack(AETH_NAK_PSN_SEQ, 301);
	take_nothing();
	assert_done(1, OHCA_WC_RETRY_EXC_ERR);
	assert_done(2, OHCA_WC_WR_FLUSH_ERR);
}

/* An acknowledgment that comes after all: what it covers is not sent again. */
static void test_late_ack(void **state)
{
	(void)state;
	post(OHCA_OP_RDMA_WRITE, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_WRITE, 100, 1);
	take(PKT_WRITE, 101, 1);
	ack(AETH_RNR_NAK | 1, 100);
	ack(AETH_ACK_NO_CREDITS, 100);
	assert_done(0, 0);
	take(PKT_WRITE, 101, 1);
	ack(AETH_ACK_NO_CREDITS, 101);
	assert_done(1, 0);
	take_nothing();
}

static void test_rnr_count(void **state)
{
	(void)state;
	post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_SEND, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_SEND, 100, 1);
	take(PKT_SEND, 101, 1);
	ack(AETH_RNR_NAK | 1, 100);
	while (!num_sent)
		inproc_step();
	take(PKT_SEND, 100, 1);
	take(PKT_SEND, 101, 1);
	ack(AETH_ACK_NO_CREDITS, 100);
	assert_done(0, 0);
	ack(AETH_RNR_NAK | 1, 101); /* anew after progress */
	while (!num_sent)
		inproc_step();
	take(PKT_SEND, 101, 1);
	ack(AETH_RNR_NAK | 1, 101);
	assert_done(1, OHCA_WC_RNR_RETRY_EXC_ERR);
}

/* Who is not ready is there: packets that are lost meanwhile don't add up to a peer that is gone. */
static void test_rnr_is_life(void **state)
{
	static const uint8_t answers[] = {AETH_NAK_PSN_SEQ, AETH_NAK_PSN_SEQ, AETH_RNR_NAK | 1,
					  AETH_NAK_PSN_SEQ, AETH_NAK_PSN_SEQ};
	unsigned int i;

	(void)state;
	post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_SEND, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_SEND, 100, 1);
	take(PKT_SEND, 101, 1);
	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		ack(answers[i], 100);
		while (!num_sent)
			inproc_step();
		take(PKT_SEND, 100, 1);
		take(PKT_SEND, 101, 1);
	}
	ack(AETH_NAK_PSN_SEQ, 100);
	take_nothing();
	assert_done(0, OHCA_WC_RETRY_EXC_ERR);
	assert_done(1, OHCA_WC_WR_FLUSH_ERR);
}

/* Each NAK code, for the second of two requests: the first one is acknowledged by it. */
static void test_naks(void **state)
{
	static const struct {
		uint8_t syndrome, status;
	} cases[] = {
		{AETH_NAK_INV_REQ, OHCA_WC_REM_INV_REQ_ERR},
		{AETH_NAK_REM_ACCESS, OHCA_WC_REM_ACCESS_ERR},
		{AETH_NAK_REM_OP, OHCA_WC_REM_OP_ERR},
		{AETH_NAK | 4, OHCA_WC_BAD_RESP_ERR},
		{AETH_NAK | 31, OHCA_WC_BAD_RESP_ERR},
		{0x40, OHCA_WC_BAD_RESP_ERR},
		{0x80, OHCA_WC_BAD_RESP_ERR},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
		post(OHCA_OP_SEND, 1, 10, 0);
		post(OHCA_OP_SEND, 2, 10, 0);
		ack(cases[i].syndrome, 101);
		assert_done(0, 0);
		assert_done(1, cases[i].status);
		assert_done(2, OHCA_WC_WR_FLUSH_ERR);
		assert_int_equal(rig_query(p.a).state, OHCA_QPS_ERR);
		ack(AETH_ACK_NO_CREDITS, 102); /* too late for anything */
		inproc_assert_no_cqe(p.a->scq);
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		rig_connect(p.a, p.b);
		num_sent = 0;
	}
}

/* Responses that are none to what was asked. */
static void test_bad_responses(void **state)
{
	static const struct {
		uint8_t opcode, flags;
		uint32_t npsn, len;
	} cases[] = {
		{OHCA_OP_RDMA_WRITE, PKT_FIRST | PKT_LAST, 1, 10},
		{OHCA_OP_RDMA_READ, PKT_FIRST | PKT_LAST, 3, 3 * MTU - 1},
		{OHCA_OP_RDMA_READ, PKT_FIRST | PKT_LAST, 3, 3 * MTU + 1},
		{OHCA_OP_RDMA_READ, PKT_FIRST | PKT_LAST, 1, MTU},
		{OHCA_OP_RDMA_READ, PKT_FIRST, 3, 3 * MTU},
		{OHCA_OP_RDMA_READ, PKT_FIRST, 4, 4 * MTU},
		{OHCA_OP_RDMA_READ, PKT_FIRST, 1, MTU - 1},
		{OHCA_OP_RDMA_READ, PKT_FIRST, 1, 0},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		post(cases[i].opcode, 1, 3 * MTU, 0);
		to_requester(PKT_READ_RESP, cases[i].flags, AETH_ACK_NO_CREDITS, 100, cases[i].npsn,
			     cases[i].len);
		assert_done(1, OHCA_WC_BAD_RESP_ERR);
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		rig_connect(p.a, p.b);
		num_sent = 0;
	}
}

/* READs whose responses are lost: known by what comes instead. */
static void test_lost_responses(void **state)
{
	(void)state;
	post(OHCA_OP_RDMA_READ, 0, 3 * MTU, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_READ_REQ, 100, 3);
	take(PKT_WRITE, 103, 1);
	/* The ACK of what followed */
	ack(AETH_ACK_NO_CREDITS, 103);
	take(PKT_READ_REQ, 100, 3);
	take(PKT_WRITE, 103, 1);
	inproc_assert_no_cqe(p.a->scq);
	/* The first response came, the second did not: the rest is asked for. */
	to_requester(PKT_READ_RESP, PKT_FIRST, AETH_ACK_NO_CREDITS, 100, 1, MTU);
	to_requester(PKT_READ_RESP, PKT_LAST, AETH_ACK_NO_CREDITS, 102, 1, MTU);
	assert_int_equal(take(PKT_READ_REQ, 101, 2).dma_len, 2 * MTU);
	take(PKT_WRITE, 103, 1);
	/* Once more the first one: old */
	to_requester(PKT_READ_RESP, PKT_FIRST, AETH_ACK_NO_CREDITS, 100, 1, MTU);
	take_nothing();
	to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 101, 2, 2 * MTU);
	assert_done(0, 0);
	ack(AETH_ACK_NO_CREDITS, 103);
	assert_done(1, 0);
}

/* Responses acknowledge what came before the READ. */
static void test_implied_ack(void **state)
{
	(void)state;
	post(OHCA_OP_RDMA_WRITE, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_READ, 1, MTU, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_READ, 2, MTU, OHCA_WQE_SIGNALED);
	take(PKT_WRITE, 100, 1);
	take(PKT_READ_REQ, 101, 1);
	take(PKT_READ_REQ, 102, 1);
	to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 101, 1, MTU);
	assert_done(0, 0);
	assert_done(1, 0);
	inproc_assert_no_cqe(p.a->scq);
	to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 102, 1, MTU);
	assert_done(2, 0);
}

/* No more READs at a time than the attribute says; a fence waits for them. */
static void test_read_depth(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 6; i++)
		post(OHCA_OP_RDMA_READ, i, MTU, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 6, 10, OHCA_WQE_SIGNALED | OHCA_WQE_FENCE);
	for (i = 0; i < 4; i++)
		take(PKT_READ_REQ, 100 + i, 1);
	take_nothing();
	for (i = 0; i < 6; i++) {
		to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 100 + i, 1,
			     MTU);
		assert_done(i, 0);
		if (i < 2)
			take(PKT_READ_REQ, 104 + i, 1);
		else if (i < 5)
			take_nothing();
	}
	take(PKT_WRITE, 106, 1);
	ack(AETH_ACK_NO_CREDITS, 106);
	assert_done(6, 0);
}

/* The WQE of a request that must be sent again is no longer the one it was. */
static void test_changed_wqe(void **state)
{
	struct ohca_sq_wqe *wqe = rig_sq_entry(p.a, 0);

	(void)state;
	post(OHCA_OP_RDMA_WRITE, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_WRITE, 100, 1);
	take(PKT_WRITE, 101, 1);
	wqe->sge[0].length = htole32(11);
	wqe->wr_id = htole64(99);
	ack(AETH_NAK_PSN_SEQ, 100);
	assert_done(0, OHCA_WC_LOC_QP_OP_ERR);
	assert_done(1, OHCA_WC_WR_FLUSH_ERR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_gap),
		TEST(test_duplicate),
		TEST(test_overlap),
		TEST(test_rnr_nak),
		TEST(test_comm_est),
		TEST(test_msn),
		TEST(test_invalid_requests),
		TEST(test_read_order),
		TEST(test_read_again),
		TEST(test_read_revoked),
		TEST(test_coalesced),
		TEST(test_go_back),
		TEST(test_late_ack),
		TEST(test_rnr_count),
		TEST(test_rnr_is_life),
		TEST(test_naks),
		TEST(test_bad_responses),
		TEST(test_lost_responses),
		TEST(test_implied_ack),
		TEST(test_read_depth),
		TEST(test_changed_wqe),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
