// SPDX-License-Identifier: GPL-2.0
/*
 * The responder packet by packet: the test is the requester.  It sends any packets, and receives
 * every packet that the device sends.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "proto_rig.h"

#define MTU 1024
#define ONLY (PKT_FIRST | PKT_LAST | PKT_ACK_REQ)

static void take_ack(uint32_t psn, uint8_t syndrome)
{
	uint8_t got = take_pkt(PKT_ACK, psn, -1).syndrome;

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

static void recv_of(uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, len);

	rig_post_recv(p.b, 1, &sge, 1);
}

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
	take_pkt(PKT_READ_RESP, 100, 1);
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
	assert_int_equal(take_pkt(PKT_ACK, 101, -1).msn, 0);
	to_responder(PKT_WRITE, PKT_LAST | PKT_ACK_REQ, 102, 1, MTU, 0);
	assert_int_equal(take_pkt(PKT_ACK, 102, -1).msn, 1);
	to_responder(PKT_READ_REQ, ONLY, 103, 3, 0, 3 * MTU);
	assert_int_equal(take_pkt(PKT_READ_RESP, 103, 3).msn, 2);
	to_responder(PKT_WRITE, ONLY, 106, 1, 0, 0);
	assert_int_equal(take_pkt(PKT_ACK, 106, -1).msn, 3);
}

/* A length that is wrong is found before there is no receive. */
static void test_invalid_length_first(void **state)
{
	(void)state;
	to_responder(PKT_WRITE, ONLY | PKT_IMM, 100, 1, 10, 11);
	take_ack(100, AETH_NAK_INV_REQ);
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
		{0xff, PKT_WRITE, ONLY, 1, 10, 2 * PAIR_LEN}, /* beyond the region, too */
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
	take_pkt(PKT_READ_RESP, 400, 1);
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
	take_pkt(PKT_READ_RESP, 100, 3);
	to_responder(PKT_WRITE, ONLY, 103, 1, 10, 10);
	take_ack(103, AETH_ACK_NO_CREDITS);
	to_responder(PKT_READ_REQ, ONLY, 101, 2, 0, 2 * MTU);
	pkt = take_pkt(PKT_READ_RESP, 101, 2);
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

/* As many packets as may be outstanding: the first request was not answered yet, and takes its place in the queue. */
static void test_read_again_longest(void **state)
{
	struct responder *resp = rc_resp(qb);

	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	/* As if it were so long */
	resp->lists->res[resp->res_head].npsn = PSN_WINDOW;
	resp->epsn = psn_add(100, PSN_WINDOW);
	to_responder(PKT_READ_REQ, ONLY, 100, 300, 0, 300 * MTU);
	assert_int_equal(resp->res_num, 1);
	take_all(PKT_READ_RESP, 100, 300);
	take_nothing();
}

/* The region is destroyed after a READ: the repeated request is dropped. */
static void test_read_again_revoked(void **state)
{
	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 3, 0, 3 * MTU);
	take_pkt(PKT_READ_RESP, 100, 3);
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
		assert_int_equal(take_pkt(PKT_ACK, psn++, -1).syndrome, AETH_ACK | i);
	}
	/* A SEND has taken one: there are 63, which is 48 at least. */
	to_responder(PKT_SEND, ONLY, psn, 1, 10, 0);
	assert_int_equal(take_pkt(PKT_ACK, psn++, -1).syndrome, AETH_ACK | 11);
	to_responder(PKT_READ_REQ, ONLY, psn, 1, 0, 10);
	assert_int_equal(take_pkt(PKT_READ_RESP, psn, 1).syndrome, AETH_ACK | 11);
}

/* While a long READ is answered: the NAK for a later request stays the last answer if earlier ones come again. */
static void test_nak_behind_read(void **state)
{
	const uint32_t npsn = 256, next = 101 + npsn;
	static const uint8_t naks[] = {AETH_RNR_NAK, AETH_NAK_PSN_SEQ};
	unsigned int i, gap;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		gap = i ? 1 : 0;
		to_responder(PKT_WRITE, ONLY, 100, 1, 10, 10);
		take_ack(100, AETH_ACK_NO_CREDITS);
		to_responder(PKT_READ_REQ, ONLY, 101, npsn, 0, npsn * MTU);
		to_responder(PKT_SEND, ONLY, next + gap, 1, 10, 0);
		to_responder(PKT_WRITE, ONLY, 100, 1, 10, 10);
		take_all(PKT_READ_RESP, 101, npsn);
		take_ack(next, naks[i] | (i ? 0 : p.b->attr.min_rnr_timer));
		take_nothing();
		proto_reconnect();
	}
}

/* And so does what was to be sent after the READ, if the READ comes again. */
static void test_ack_behind_read_again(void **state)
{
	const uint32_t npsn = 256, next = 100 + npsn;

	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, npsn, 0, npsn * MTU);
	to_responder(PKT_WRITE, ONLY, next, 1, 10, 10);
	to_responder(PKT_READ_REQ, ONLY, 100, npsn, 0, npsn * MTU);
	take_all(PKT_READ_RESP, 100, npsn);
	take_ack(next, AETH_ACK_NO_CREDITS);
	take_nothing();
}

/* A duplicate that is not answered does not stop the answer to a later READ. */
static void test_no_repetition(void **state)
{
	const uint32_t npsn = 256;

	(void)state;
	to_responder(PKT_READ_REQ, ONLY, 100, 3, 0, 3 * MTU);
	take_pkt(PKT_READ_RESP, 100, 3);
	to_responder(PKT_READ_REQ, ONLY, 103, npsn, 0, npsn * MTU);
	to_responder(PKT_READ_REQ, ONLY, 102, 2 * npsn, 0, 2 * npsn * MTU);
	take_all(PKT_READ_RESP, 103, npsn);
	take_nothing();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, proto_setup, proto_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_gap),
		TEST(test_duplicate),
		TEST(test_overlap),
		TEST(test_rnr_nak),
		TEST(test_comm_est),
		TEST(test_msn),
		TEST(test_invalid_length_first),
		TEST(test_invalid_requests),
		TEST(test_read_order),
		TEST(test_read_again),
		TEST(test_read_again_longest),
		TEST(test_read_again_revoked),
		TEST(test_read_again_revoked_later),
		TEST(test_read_again_unanswered),
		TEST(test_read_revoked),
		TEST(test_no_repetition),
		TEST(test_nak_behind_read),
		TEST(test_ack_behind_read_again),
		TEST(test_credit_codes),
		TEST(test_credits_shown),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
