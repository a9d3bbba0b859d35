// SPDX-License-Identifier: GPL-2.0
/*
 * The requester packet by packet: the test is the responder.  It receives every packet that the
 * device sends, and sends any packets.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "proto_rig.h"

#define MTU 1024

/* Payload of the test's packets. */
static uint8_t payload[1 << 20];

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

/*
 * A message that takes a receive and exceeds the credits sends one packet, and the next one waits for the answer; others do
 * not wait.
 */
static void test_credits_held(void **state)
{
	struct pkt pkt;

	(void)state;
	post(OHCA_OP_SEND, 0, 10, 0);
	take_pkt(PKT_SEND, 100, 1);
	ack(AETH_ACK | 2, 100);
	post(OHCA_OP_SEND, 1, 10, 0);
	post(OHCA_OP_RDMA_WRITE_IMM, 2, 10, 0);
	take_pkt(PKT_SEND, 101, 1);
	take_pkt(PKT_WRITE, 102, 1);
	post(OHCA_OP_SEND, 3, 3 * MTU, 0);
	pkt = take_pkt(PKT_SEND, 103, 1);
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
	take_pkt(PKT_SEND, 104, 2);
	take_pkt(PKT_SEND, 106, 1);
	post(OHCA_OP_RDMA_WRITE, 5, 10, 0);
	take_pkt(PKT_WRITE, 107, 1);
	post(OHCA_OP_RDMA_WRITE_IMM, 6, 10, 0);
	post(OHCA_OP_SEND, 7, 10, OHCA_WQE_SIGNALED);
	take_nothing();
	/* After a loss, it asks again. */
	ack(AETH_NAK_PSN_SEQ, 106);
	inproc_settle();
	take_pkt(PKT_SEND, 106, 1);
	take_pkt(PKT_WRITE, 107, 1);
	take_nothing();
	/* A peer that shows none has no limit. */
	ack(AETH_ACK_NO_CREDITS, 107);
	inproc_settle();
	take_pkt(PKT_WRITE, 108, 1);
	take_pkt(PKT_SEND, 109, 1);
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
		rc_req(qa)->sent = psn;
		post(OHCA_OP_RDMA_WRITE, 0, 10, 0);
		take_pkt(PKT_WRITE, psn, 1);
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
	take_pkt(PKT_SEND, psn, 1);
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
	take_pkt(PKT_READ_REQ, psn, 1);
	take_pkt(PKT_WRITE, psn + 1, 1);
	ack(AETH_ACK | 0, psn + 1);
	take_pkt(PKT_READ_REQ, psn, 1);
	assert_int_equal(qa->retries, 1);
}

/* One acknowledgment for many requests; the signaled ones complete, in order. */
static void test_coalesced(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		post(OHCA_OP_RDMA_WRITE, i, 10, i % 3 ? 0 : OHCA_WQE_SIGNALED);
		take_pkt(PKT_WRITE, 100 + i, 1);
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

/* As if the last message that was posted, @idx, had @npsn packets, all of which were sent */
static void set_packets(uint32_t idx, uint32_t npsn)
{
	struct sq_entry *entry = sq_entry(&qa->sq, idx);

	entry->npsn = npsn;
	rc_req(qa)->psn = psn_add(entry->psn, npsn);
	rc_req(qa)->sent = rc_req(qa)->psn;
}

/* One acknowledgment for as many packets as may be outstanding */
static void test_whole_window(void **state)
{
	uint32_t end = psn_add(100, PSN_WINDOW);

	(void)state;
	post(OHCA_OP_RDMA_WRITE, 0, 10, OHCA_WQE_SIGNALED);
	take_pkt(PKT_WRITE, 100, 1);
	set_packets(0, PSN_WINDOW);
	post(OHCA_OP_RDMA_WRITE, 1, 10, OHCA_WQE_SIGNALED);
	take_nothing();
	ack(AETH_ACK_NO_CREDITS, end - 1);
	assert_done(0, 0);
	inproc_settle();
	take_pkt(PKT_WRITE, end, 1);
	ack(AETH_ACK_NO_CREDITS, end);
	assert_done(1, 0);
}

/* The same, if the first of them is a READ, whose response is lost */
static void test_whole_window_read(void **state)
{
	uint32_t end = psn_add(100, PSN_WINDOW);

	(void)state;
	post(OHCA_OP_RDMA_READ, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 10, OHCA_WQE_SIGNALED);
	take_pkt(PKT_READ_REQ, 100, 1);
	take_pkt(PKT_WRITE, 101, 1);
	set_packets(1, PSN_WINDOW - 1);
	ack(AETH_ACK_NO_CREDITS, end - 1);
	assert_int_equal(rc_req(qa)->una, 100);
	set_packets(1, 1);
	inproc_assert_no_cqe(p.a->scq);
	take_pkt(PKT_READ_REQ, 100, 1);
	take_pkt(PKT_WRITE, 101, 1);
	to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 100, 1, 10);
	assert_done(0, 0);
	ack(AETH_ACK_NO_CREDITS, 101);
	assert_done(1, 0);
}

/* A sequence error acknowledges everything before it; the rest is sent again. */
static void test_go_back(void **state)
{
	unsigned int i;

	(void)state;
	post(OHCA_OP_RDMA_WRITE, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 1, 300 * MTU, OHCA_WQE_SIGNALED);
	post(OHCA_OP_RDMA_WRITE, 2, 10, OHCA_WQE_SIGNALED);
	take_pkt(PKT_WRITE, 100, 1);
	take_all(PKT_WRITE, 101, 300);
	take_pkt(PKT_WRITE, 401, 1);
	ack(AETH_NAK_PSN_SEQ, 150);
	assert_done(0, 0);
	assert_int_equal(take_all(PKT_WRITE, 150, 251).flags & (PKT_FIRST | PKT_LAST), PKT_LAST);
	take_pkt(PKT_WRITE, 401, 1);
	/* The same again, without progress: the retries are exhausted. */
	for (i = 0; i < 1; i++) {
		ack(AETH_NAK_PSN_SEQ, 150);
		take_all(PKT_WRITE, 150, 251);
		take_pkt(PKT_WRITE, 401, 1);
	}
	/* Progress: the retry counter is reset. */
	ack(AETH_ACK_NO_CREDITS, 300);
	for (i = 0; i < 2; i++) {
		ack(AETH_NAK_PSN_SEQ, 301);
		take_all(PKT_WRITE, 301, 100);
		take_pkt(PKT_WRITE, 401, 1);
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
	take_pkt(PKT_WRITE, 100, 1);
	take_pkt(PKT_WRITE, 101, 1);
	ack(AETH_RNR_NAK | 1, 100);
	ack(AETH_ACK_NO_CREDITS, 100);
	assert_done(0, 0);
	take_pkt(PKT_WRITE, 101, 1);
	ack(AETH_ACK_NO_CREDITS, 101);
	assert_done(1, 0);
	take_nothing();
}

static void test_rnr_count(void **state)
{
	(void)state;
	post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
	post(OHCA_OP_SEND, 1, 10, OHCA_WQE_SIGNALED);
	take_pkt(PKT_SEND, 100, 1);
	take_pkt(PKT_SEND, 101, 1);
	ack(AETH_RNR_NAK | 1, 100);
	while (!num_sent)
		inproc_step();
	take_pkt(PKT_SEND, 100, 1);
	take_pkt(PKT_SEND, 101, 1);
	ack(AETH_ACK_NO_CREDITS, 100);
	assert_done(0, 0);
	ack(AETH_RNR_NAK | 1, 101); /* reset after progress */
	while (!num_sent)
		inproc_step();
	take_pkt(PKT_SEND, 101, 1);
	ack(AETH_RNR_NAK | 1, 101);
	assert_done(1, OHCA_WC_RNR_RETRY_EXC_ERR);
}

/* The same NAK again is no further one: nothing was sent since. */
static void test_rnr_twice(void **state)
{
	(void)state;
	post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
	take_pkt(PKT_SEND, 100, 1);
	ack(AETH_RNR_NAK | 1, 100);
	ack(AETH_RNR_NAK | 1, 100);
	assert_int_equal(qa->retries, 1);
	while (!num_sent)
		inproc_step();
	take_pkt(PKT_SEND, 100, 1);
	ack(AETH_RNR_NAK | 1, 100);
	assert_done(0, OHCA_WC_RNR_RETRY_EXC_ERR);
}

/* Both counts that software sets in SQD are those of the next request. */
static void test_new_counts(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE), 0);
	p.a->attr.retry_cnt = 5;
	p.a->attr.rnr_retry = 4;
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD,
				    OHCA_QP_STATE | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY),
			 0);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	post(OHCA_OP_SEND, 0, 10, OHCA_WQE_SIGNALED);
	take_pkt(PKT_SEND, 100, 1);
	for (i = 0; i < 9; i++) {
		ack(i < 5 ? AETH_NAK_PSN_SEQ : AETH_RNR_NAK | 1, 100);
		while (!num_sent && rig_query(p.a).state == OHCA_QPS_RTS)
			inproc_step();
		take_pkt(PKT_SEND, 100, 1);
	}
	ack(AETH_RNR_NAK | 1, 100);
	assert_done(0, OHCA_WC_RNR_RETRY_EXC_ERR);
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
	take_pkt(PKT_SEND, 100, 1);
	take_pkt(PKT_SEND, 101, 1);
	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		ack(answers[i], 100);
		while (!num_sent)
			inproc_step();
		take_pkt(PKT_SEND, 100, 1);
		take_pkt(PKT_SEND, 101, 1);
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

/* Packets of a message that has begun, but that were not sent yet, can't be answered. */
static void test_not_sent(void **state)
{
	(void)state;
	post(OHCA_OP_SEND, 0, 10, 0);
	take_pkt(PKT_SEND, 100, 1);
	ack(AETH_ACK | 0, 100);
	/* Without credits, the first packet waits for its answer. */
	post(OHCA_OP_SEND, 1, 3 * MTU, OHCA_WQE_SIGNALED);
	take_pkt(PKT_SEND, 101, 1);
	ack(AETH_ACK_NO_CREDITS, 102);
	ack(AETH_ACK_NO_CREDITS, 103);
	ack(AETH_NAK_REM_OP, 102);
	inproc_assert_no_cqe(p.a->scq);
	take_nothing();
	ack(AETH_ACK_NO_CREDITS, 101);
	take_pkt(PKT_SEND, 102, 2);
	/* What was sent before a loss can be answered after it. */
	ack(AETH_RNR_NAK | 1, 102);
	ack(AETH_ACK_NO_CREDITS, 103);
	assert_done(1, 0);
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
		take_pkt(PKT_READ_REQ, 100, 1);
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
	take_pkt(PKT_READ_REQ, 100, 3);
	take_pkt(PKT_WRITE, 103, 1);
	/* The ACK of the next request */
	ack(AETH_ACK_NO_CREDITS, 103);
	take_pkt(PKT_READ_REQ, 100, 3);
	take_pkt(PKT_WRITE, 103, 1);
	inproc_assert_no_cqe(p.a->scq);
	/* The first response arrived, the second one did not: the rest is requested again. */
	to_requester(PKT_READ_RESP, PKT_FIRST, AETH_ACK_NO_CREDITS, 100, 1, MTU);
	to_requester(PKT_READ_RESP, PKT_LAST, AETH_ACK_NO_CREDITS, 102, 1, MTU);
	assert_int_equal(take_pkt(PKT_READ_REQ, 101, 2).dma_len, 2 * MTU);
	take_pkt(PKT_WRITE, 103, 1);
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
	take_pkt(PKT_WRITE, 100, 1);
	take_pkt(PKT_READ_REQ, 101, 1);
	take_pkt(PKT_READ_REQ, 102, 1);
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
		take_pkt(PKT_READ_REQ, 100 + i, 1);
	take_nothing();
	for (i = 0; i < 6; i++) {
		to_requester(PKT_READ_RESP, PKT_FIRST | PKT_LAST, AETH_ACK_NO_CREDITS, 100 + i, 1,
			     MTU);
		assert_done(i, 0);
		if (i < 2)
			take_pkt(PKT_READ_REQ, 104 + i, 1);
		else if (i < 5)
			take_nothing();
	}
	take_pkt(PKT_WRITE, 106, 1);
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
	take_pkt(PKT_WRITE, 100, 1);
	take_pkt(PKT_WRITE, 101, 1);
	wqe->sge[0].length = htole32(11);
	wqe->wr_id = htole64(99);
	ack(AETH_NAK_PSN_SEQ, 100);
	assert_done(0, OHCA_WC_LOC_QP_OP_ERR);
	assert_done(1, OHCA_WC_WR_FLUSH_ERR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, proto_setup, proto_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_credits_held),
		TEST(test_old_probe),
		TEST(test_old_repetition),
		TEST(test_coalesced),
		TEST(test_whole_window),
		TEST(test_whole_window_read),
		TEST(test_go_back),
		TEST(test_late_ack),
		TEST(test_rnr_count),
		TEST(test_rnr_twice),
		TEST(test_new_counts),
		TEST(test_rnr_is_life),
		TEST(test_naks),
		TEST(test_not_sent),
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
