// SPDX-License-Identifier: GPL-2.0
/*
 * Requester and responder packet by packet: the device is one side.  The test is the other side; it
 * receives every packet that the device sends, and sends any packets.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "proto_rig.h"

#define MTU 1024

static int open_pair(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8};

	(void)state;
	proto_open(&opts);
	return 0;
}

/* As take_sent() */
static struct pkt take(int op, int64_t psn, int64_t npsn)
{
	return take_sent(op, psn, npsn).pkt;
}

/* All packets of a message, in any number of bursts; returns the last burst. */
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

static void take_ack(uint32_t psn, uint8_t syndrome)
{
	uint8_t got = take(PKT_ACK, psn, -1).syndrome;

	/* As many credits as there may be */
	if (syndrome == AETH_ACK_NO_CREDITS)
		got |= AETH_VALUE_MASK;
	assert_int_equal(got, syndrome);
}

/* Payload of the test's packets. */
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
	struct rig_wr wr = rig_write(&sge, PAIR_IOVA, p.mb->key);

	wr.wr_id = wr_id;
	wr.opcode = opcode;
	wr.flags = flags;
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
 * One NAK for a gap, however many packets follow; the missing packet is accepted, and the later
 * ones have to be sent again.
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

/* A packet that was received before is acknowledged again and not executed. */
static void test_duplicate(void **state)
{
	(void)state;
	recv_of(MTU);
	recv_of(MTU);
	to_responder(PKT_SEND, ONLY, 100, 1, 10, 0);
	take_ack(100, AETH_ACK_NO_CREDITS);
	to_responder(PKT_WRITE, PKT_FIRST | PKT_LAST, 101, 1, 10, 10);
	take_nothing(); /* no acknowledgment was requested */
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

/* A burst whose first packets were received before. */
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
 * RNR NAK with the QP's timer, then no response until the same packet arrives again, which is
 * accepted.
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
	/* A WRITE with immediate data: the RNR NAK is for its last packet */
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

/*
 * Only an accepted packet, and only the first one, raises the event that communication is
 * established.
 */
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

/* Invalid sequences and lengths of packets. */
static void test_invalid_requests(void **state)
{
	static const struct {
		uint8_t before; /* opcode of an unfinished message before, at PSN 100; 0xff: none */
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
		{PKT_WRITE, PKT_WRITE, PKT_LAST, 1, 10, 0}, /* too short in total */
		{PKT_WRITE, PKT_WRITE, 0, 20, 20 * MTU, 0}, /* too long */
		{0xff, PKT_SEND, PKT_FIRST, 1, MTU - 1, 0},
		{0xff, PKT_SEND, PKT_FIRST, 2, MTU, 0},
		{0xff, PKT_SEND, PKT_FIRST, 1, MTU + 1, 0},
		{0xff, PKT_SEND, ONLY, 2, MTU, 0},
		{0xff, PKT_SEND, ONLY, 1, MTU + 1, 0},
		{0xff, PKT_SEND, ONLY, 2, 0, 0},
		{PKT_SEND, PKT_SEND, PKT_LAST, 1, 0, 0},
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

/* Responses to READs are sent in order, and acknowledgments of later requests after them. */
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
	take_ack(402, AETH_ACK_NO_CREDITS); /* one acknowledgment for both */
	assert_int_equal(rig_wait_recv(p.b).status, 0);
	/* A request after READs is refused: the NAK is sent after the responses. */
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
 * A repeated READ request is executed again, from the address that it has; responses that are still
 * outstanding are not sent twice.
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
	/* Beyond the range of the earlier request: not a repetition */
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

/* The region is destroyed after a READ: the repeated request is dropped. */
static void test_read_again_revoked(void **state)
{
	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 3, 0, 3 * MTU);
	take(PKT_READ_RESP, 100, 3);
	assert_int_equal(rig_mr_destroy(p.mb), 0);
	to_responder(PKT_READ_REQ, ONLY, 100, 3, 0, 3 * MTU);
	take_nothing();
	assert_int_equal(rig_query(p.b).state, OHCA_QPS_RTS);
	to_responder(PKT_WRITE, ONLY, 103, 1, 0, 0);
	take_ack(103, AETH_ACK_NO_CREDITS);
}

/* While the answer to a repeated request waits: it is dropped, also if a later READ was to follow. */
static void test_read_again_revoked_later(void **state)
{
	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	take_all(PKT_READ_RESP, 100, 300);
	to_responder(PKT_READ_REQ, ONLY, 400, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	to_responder(PKT_WRITE, ONLY, 700, 1, 0, 0);
	assert_int_equal(num_sent, 0);
	assert_int_equal(rig_mr_destroy(p.mb), 0);
	take_ack(700, AETH_ACK_NO_CREDITS);
	take_nothing();
	assert_int_equal(rig_query(p.b).state, OHCA_QPS_RTS);
	to_responder(PKT_WRITE, ONLY, 701, 1, 0, 0);
	take_ack(701, AETH_ACK_NO_CREDITS);
}

/* The first request was not answered yet: the repeated one is refused. */
static void test_read_again_unanswered(void **state)
{
	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	assert_int_equal(num_sent, 0);
	assert_int_equal(rig_mr_destroy(p.mb), 0);
	take_ack(100, AETH_NAK_REM_ACCESS);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, p.b->qpn);
}

/* The region is destroyed during a READ. */
static void test_read_revoked(void **state)
{
	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	/* A round executes commands before it schedules QPs. */
	assert_int_equal(num_sent, 0);
	assert_int_equal(rig_mr_destroy(p.mb), 0);
	take_ack(100, AETH_NAK_REM_ACCESS);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, p.b->qpn);
}

/* Table 46 of 9.7.7.2 */
static const uint16_t credits_of[] = {0,    1,	  2,	3,     4,     6,     8,	   12,
				      16,   24,	  32,	48,    64,    96,    128,  192,
				      256,  384,  512,	768,   1024,  1536,  2048, 3072,
				      4096, 6144, 8192, 12288, 16384, 24576, 32768};

static void test_credit_codes(void **state)
{
	uint32_t n, code = 0;

	(void)state;
	for (n = 0; n < 40000; n++) {
		if (code + 1 < ARRAY_SIZE(credits_of) && credits_of[code + 1] == n)
			code++;
		assert_int_equal(aeth_credit_code(n), code);
		assert_int_equal(aeth_credits(code), credits_of[code]);
	}
}

/* Answers to a remote peer have the receives that are posted, also those that were posted since the last one. */
static void test_credits_shown(void **state)
{
	uint32_t posted = 0, psn = 100, i;

	(void)state;
	qb->remote = true;
	for (i = 0; i < 13; i++) {
		for (; posted < credits_of[i]; posted++)
			recv_of(10);
		to_responder(PKT_WRITE, ONLY, psn, 1, 10, 10);
		assert_int_equal(take(PKT_ACK, psn++, -1).syndrome, AETH_ACK | i);
	}
	/* A SEND has taken one: there are 63, which is 48 at least. */
	to_responder(PKT_SEND, ONLY, psn, 1, 10, 0);
	assert_int_equal(take(PKT_ACK, psn++, -1).syndrome, AETH_ACK | 11);
	to_responder(PKT_READ_REQ, ONLY, psn, 1, 0, 10);
	assert_int_equal(take(PKT_READ_RESP, psn, 1).syndrome, AETH_ACK | 11);
}

/* Requester */

/*
 * A message that takes a receive and exceeds the credits sends one packet, and the next one waits for the answer; others do
 * not wait.
 */
static void test_credits_held(void **state)
{
	struct pkt pkt;

	(void)state;
	post(OHCA_OP_SEND, 0, 10, 0);
	take(PKT_SEND, 100, 1);
	ack(AETH_ACK | 2, 100);
	post(OHCA_OP_SEND, 1, 10, 0);
	post(OHCA_OP_RDMA_WRITE_IMM, 2, 10, 0);
	take(PKT_SEND, 101, 1);
	take(PKT_WRITE, 102, 1);
	post(OHCA_OP_SEND, 3, 3 * MTU, 0);
	pkt = take(PKT_SEND, 103, 1);
	assert_int_equal(pkt.flags, PKT_FIRST | PKT_ACK_REQ);
	post(OHCA_OP_SEND, 4, 10, 0);
	take_nothing();
	/* That is not the answer. */
	ack(AETH_ACK | 0, 102);
	inproc_settle();
	take_nothing();
	/* There is a receive: the rest follows, and the next one asks again. */
	ack(AETH_ACK | 1, 103);
	inproc_settle();
	take(PKT_SEND, 104, 2);
	take(PKT_SEND, 106, 1);
	post(OHCA_OP_RDMA_WRITE, 5, 10, 0);
	take(PKT_WRITE, 107, 1);
	post(OHCA_OP_RDMA_WRITE_IMM, 6, 10, 0);
	post(OHCA_OP_SEND, 7, 10, OHCA_WQE_SIGNALED);
	take_nothing();
	/* After a loss, it asks again. */
	ack(AETH_NAK_PSN_SEQ, 106);
	inproc_settle();
	take(PKT_SEND, 106, 1);
	take(PKT_WRITE, 107, 1);
	take_nothing();
	/* A peer that shows none has no limit. */
	ack(AETH_ACK_NO_CREDITS, 107);
	inproc_settle();
	take(PKT_WRITE, 108, 1);
	take(PKT_SEND, 109, 1);
	ack(AETH_ACK_NO_CREDITS, 109);
	assert_done(7, 0);
}

/* Use three quarters of all PSNs, as if packets were sent and acknowledged.  Returns the next one. */
static uint32_t pass_psns(void)
{
	uint32_t psn = 99, i;

	for (i = 0; i < 3; i++) {
		psn = psn_add(psn, PSN_WINDOW / 2);
		rc_req(qa)->psn = psn;
		rc_req(qa)->una = psn;
		post(OHCA_OP_RDMA_WRITE, 0, 10, 0);
		take(PKT_WRITE, psn, 1);
		ack(AETH_ACK | 0, psn);
	}
	return psn_add(psn, 1);
}

/* The last message that exceeded the credits was so long ago that its PSN would be ahead: it has its answer. */
static void test_old_probe(void **state)
{
	uint32_t psn = pass_psns();

	(void)state;
	post(OHCA_OP_SEND, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_SEND, psn, 1);
	ack(AETH_ACK | 0, psn);
	assert_done(1, 0);
}

/* So long after a READ was repeated for a page, a lost response is counted. */
static void test_old_repetition(void **state)
{
	uint32_t psn = pass_psns();

	(void)state;
	post(OHCA_OP_RDMA_READ, 0, MTU, 0);
	post(OHCA_OP_RDMA_WRITE, 1, 10, 0);
	take(PKT_READ_REQ, psn, 1);
	take(PKT_WRITE, psn + 1, 1);
	ack(AETH_ACK | 0, psn + 1);
	take(PKT_READ_REQ, psn, 1);
	assert_int_equal(qa->retries, 1);
}

/* One acknowledgment for many requests; the signaled ones complete, in order. */
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
	ack(AETH_ACK_NO_CREDITS, 110); /* of a PSN that was not sent */
	ack(AETH_ACK_NO_CREDITS, 99);
	inproc_assert_no_cqe(p.a->scq);
	ack(AETH_ACK_NO_CREDITS, 109);
	assert_done(6, 0);
	assert_done(9, 0);
}

/* A sequence error acknowledges everything before it; the rest is sent again. */
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
	/* The same again, without progress: the retries are exhausted. */
	for (i = 0; i < 1; i++) {
		ack(AETH_NAK_PSN_SEQ, 150);
		take_all(PKT_WRITE, 150, 251);
		take(PKT_WRITE, 401, 1);
	}
	/* Progress: the retry counter is reset. */
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

/* A late acknowledgment: the packets that it acknowledges are not sent again. */
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
	ack(AETH_RNR_NAK | 1, 101); /* reset after progress */
	while (!num_sent)
		inproc_step();
	take(PKT_SEND, 101, 1);
	ack(AETH_RNR_NAK | 1, 101);
	assert_done(1, OHCA_WC_RNR_RETRY_EXC_ERR);
}

/* A responder that is not ready is reachable: packets lost meanwhile do not exhaust the retries. */
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

/* Each NAK code, for the second of two requests: it acknowledges the first one. */
static void test_naks(void **state)
{
	static const struct {
		uint8_t syndrome, status;
	} cases[] = {
		{AETH_NAK_INV_REQ, OHCA_WC_REM_INV_REQ_ERR},
		{AETH_NAK_REM_ACCESS, OHCA_WC_REM_ACCESS_ERR},
		{AETH_NAK_REM_OP, OHCA_WC_REM_OP_ERR},
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
		ack(AETH_ACK_NO_CREDITS, 102); /* no effect any more */
		inproc_assert_no_cqe(p.a->scq);
		proto_reconnect();
	}
}

/* Syndromes that the specification reserves have no effect. */
static void test_reserved_syndromes(void **state)
{
	static const uint8_t reserved[] = {AETH_NAK | 4, AETH_NAK | 31, 0x40, 0x5f, 0x80, 0xff};
	unsigned int i;

	(void)state;
	post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
	for (i = 0; i < ARRAY_SIZE(reserved); i++)
		ack(reserved[i], 100);
	inproc_assert_no_cqe(p.a->scq);
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_RTS);
	ack(AETH_ACK_NO_CREDITS, 100);
	assert_done(0, 0);
}

/* The list of a READ is checked when its response comes, so the peer's refusal is seen first. */
static void test_both_keys_wrong(void **state)
{
	static const uint8_t status[] = {OHCA_WC_REM_ACCESS_ERR, OHCA_WC_LOC_PROT_ERR};
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 10);
	struct rig_wr wr = {.wr_id = 1,
			    .opcode = OHCA_OP_RDMA_READ,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA};
	unsigned int i;

	(void)state;
	sge.lkey ^= 0xff;
	for (i = 0; i < ARRAY_SIZE(status); i++) {
		rig_post_send(p.a, &wr);
		take(PKT_READ_REQ, 100, 1);
		if (i == 0)
			ack(AETH_NAK_REM_ACCESS, 100);
		else
			to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 100,
				     1, 10);
		assert_done(1, status[i]);
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		rig_connect(p.a, p.b);
	}
}

/* Responses that do not match the request. */
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
		proto_reconnect();
	}
}

/* Lost responses of READs: detected by the packets that follow. */
static void test_lost_responses(void **state)
{
	(void)state;
	post(OHCA_OP_RDMA_READ, 0, 3 * MTU, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 10, OHCA_WQE_SIGNALED);
	take(PKT_READ_REQ, 100, 3);
	take(PKT_WRITE, 103, 1);
	/* The ACK of the next request */
	ack(AETH_ACK_NO_CREDITS, 103);
	take(PKT_READ_REQ, 100, 3);
	take(PKT_WRITE, 103, 1);
	inproc_assert_no_cqe(p.a->scq);
	/* The first response arrived, the second one did not: the rest is requested again. */
	to_requester(PKT_READ_RESP, PKT_FIRST, AETH_ACK_NO_CREDITS, 100, 1, MTU);
	to_requester(PKT_READ_RESP, PKT_LAST, AETH_ACK_NO_CREDITS, 102, 1, MTU);
	assert_int_equal(take(PKT_READ_REQ, 101, 2).dma_len, 2 * MTU);
	take(PKT_WRITE, 103, 1);
	/* The first one again: it is old */
	to_requester(PKT_READ_RESP, PKT_FIRST, AETH_ACK_NO_CREDITS, 100, 1, MTU);
	take_nothing();
	to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 101, 2, 2 * MTU);
	assert_done(0, 0);
	ack(AETH_ACK_NO_CREDITS, 103);
	assert_done(1, 0);
}

/* Responses acknowledge the requests before the READ. */
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

/* Not more READs outstanding than the attribute allows; a fenced request waits for them. */
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

/* The WQE of a request that has to be sent again has changed. */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, proto_close)

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
		TEST(test_read_again_revoked),
		TEST(test_read_again_revoked_later),
		TEST(test_read_again_unanswered),
		TEST(test_read_revoked),
		TEST(test_credit_codes),
		TEST(test_credits_shown),
		TEST(test_credits_held),
		TEST(test_old_probe),
		TEST(test_old_repetition),
		TEST(test_coalesced),
		TEST(test_go_back),
		TEST(test_late_ack),
		TEST(test_rnr_count),
		TEST(test_rnr_is_life),
		TEST(test_naks),
		TEST(test_reserved_syndromes),
		TEST(test_both_keys_wrong),
		TEST(test_bad_responses),
		TEST(test_lost_responses),
		TEST(test_implied_ack),
		TEST(test_read_depth),
		TEST(test_changed_wqe),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
