// SPDX-License-Identifier: GPL-2.0
/*
 * Atomics, ATOMIC_WRITE and FLUSH packet by packet: duplicates, order of responses, and invalid
 * responses.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "proto_rig.h"

#define IOVA 0x40000000ULL
#define LEN (256U << 10)
#define PSN PROTO_PSN
#define ONLY (PKT_FIRST | PKT_LAST | PKT_ACK_REQ)

static struct rig_mr *mr; /* at p.b's side */

static int open_pair(void **state)
{
	(void)state;
	proto_open(NULL);
	mr = rig_mr_new(p.b->hca, IOVA, LEN,
			RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC | OHCA_ACCESS_FLUSH_GLOBAL, 0);
	return 0;
}

/* As take_sent() */
static struct sent take(uint8_t op, uint32_t psn)
{
	return take_sent(op, psn, -1);
}

/* A request of 8 bytes at @va (of @len bytes: READ) to the responder; adds 1, or writes @value. */
static void request(uint8_t op, uint32_t psn, uint64_t va, uint32_t len, uint64_t value)
{
	static const struct pkt_atomic one = {.compare_add = 1};
	struct iovec iov = {&value, 8};
	bool writes = op == PKT_WRITE || op == PKT_ATOMIC_WRITE;
	struct pkt pkt = {
		.op = op,
		.flags = ONLY,
		.flush = OHCA_FLUSH_GLOBAL,
		.psn = psn,
		.npsn = 1,
		.va = va,
		.rkey = mr->key,
		.dma_len = len,
		.atomic = &one,
		.iov = &iov,
		.num = writes ? 1 : 0,
		.len = writes ? 8 : 0,
	};

	value = htole64(value);
	responder_rx(qb, &pkt);
}

static uint64_t memory(uint64_t va)
{
	uint64_t value;

	rig_mr_get(mr, va, &value, 8);
	return le64toh(value);
}

/* A repeated atomic is answered with the same value, and executed once. */
static void test_duplicates(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		request(PKT_FETCH_ADD, PSN + i, IOVA, 8, 0);
		assert_int_equal(take(PKT_ATOMIC_RESP, PSN + i).value, i);
	}
	for (i = 0; i < 10; i++) {
		request(PKT_FETCH_ADD, PSN + i, IOVA, 8, 0);
		assert_int_equal(take(PKT_ATOMIC_RESP, PSN + i).value, i);
	}
	assert_int_equal(memory(IOVA), 10);
	/* Another operation than before. */
	request(PKT_CMP_SWAP, PSN + 5, IOVA, 8, 0);
	request(PKT_ATOMIC_WRITE, PSN + 5, IOVA, 8, 0);
	request(PKT_FLUSH, PSN + 5, IOVA, 8, 0);
	take_nothing();
	assert_int_equal(memory(IOVA), 10);
	request(PKT_FETCH_ADD, PSN + 10, IOVA, 8, 0);
	assert_int_equal(take(PKT_ATOMIC_RESP, PSN + 10).value, 10);
}

/* The responder remembers as many as the peer can have outstanding, and no more. */
static void test_old_duplicates(void **state)
{
	unsigned int i, num = 3 * HCA_MAX_RD_ATOMIC;

	(void)state;
	for (i = 0; i < num; i++) {
		request(PKT_FETCH_ADD, PSN + i, IOVA, 8, 0);
		take(PKT_ATOMIC_RESP, PSN + i);
	}
	for (i = num - HCA_MAX_RD_ATOMIC; i < num; i++) {
		request(PKT_FETCH_ADD, PSN + i, IOVA, 8, 0);
		assert_int_equal(take(PKT_ATOMIC_RESP, PSN + i).value, i);
	}
	request(PKT_FETCH_ADD, PSN + num - HCA_MAX_RD_ATOMIC - 1, IOVA, 8, 0);
	take_nothing();
	assert_int_equal(memory(IOVA), num);
}

/* One without a result does not stop the answer to a later READ. */
static void test_old_duplicate_before_read(void **state)
{
	uint32_t npsn = LEN / 1024, psn;

	(void)state;
	request(PKT_READ_REQ, PSN, IOVA, LEN, 0);
	request(PKT_FETCH_ADD, PSN - 1, IOVA, 8, 0);
	for (psn = PSN; psn != PSN + npsn;)
		psn += take(PKT_READ_RESP, psn).pkt.npsn;
	take_nothing();
}

/* A repeated ATOMIC_WRITE does not overwrite later data. */
static void test_duplicate_write(void **state)
{
	(void)state;
	request(PKT_ATOMIC_WRITE, PSN, IOVA, 8, 1);
	assert_int_equal(take(PKT_READ_RESP, PSN).pkt.len, 0);
	request(PKT_WRITE, PSN + 1, IOVA, 8, 2);
	take(PKT_ACK, PSN + 1);
	request(PKT_FLUSH, PSN + 2, IOVA, 8, 0);
	assert_int_equal(take(PKT_READ_RESP, PSN + 2).pkt.len, 0);
	request(PKT_ATOMIC_WRITE, PSN, IOVA, 8, 1);
	take(PKT_READ_RESP, PSN);
	request(PKT_FLUSH, PSN + 2, IOVA, 8, 0);
	take(PKT_READ_RESP, PSN + 2);
	assert_int_equal(memory(IOVA), 2);
}

/*
 * Executed on arrival; the response is sent after that of the earlier READ, and so is the
 * acknowledgment of a later request.
 */
static void test_order(void **state)
{
	uint32_t npsn = LEN / 1024, psn = PSN;
	struct sent s;

	(void)state;
	request(PKT_READ_REQ, psn, IOVA, LEN, 0);
	request(PKT_FETCH_ADD, psn + npsn, IOVA, 8, 0);
	request(PKT_ATOMIC_WRITE, psn + npsn + 1, IOVA + 8, 8, 9);
	request(PKT_WRITE, psn + npsn + 2, IOVA + 16, 8, 7);
	assert_int_equal(memory(IOVA), 1);
	assert_int_equal(memory(IOVA + 8), 9);
	assert_int_equal(num_sent, 0);
	while (psn != PSN + npsn) {
		s = take(PKT_READ_RESP, psn);
		psn += s.pkt.npsn;
	}
	assert_int_equal(take(PKT_ATOMIC_RESP, psn).value, 0);
	take(PKT_READ_RESP, psn + 1);
	take(PKT_ACK, psn + 2);
	take_nothing();

	/*
	 * All of it is repeated: the READ is executed again, the others have their first results.
	 */
	request(PKT_READ_REQ, PSN, IOVA, LEN, 0);
	request(PKT_FETCH_ADD, psn, IOVA, 8, 0);
	request(PKT_ATOMIC_WRITE, psn + 1, IOVA + 8, 8, 9);
	for (psn = PSN; psn != PSN + npsn; psn += s.pkt.npsn)
		s = take(PKT_READ_RESP, psn);
	assert_int_equal(take(PKT_ATOMIC_RESP, psn).value, 0);
	take(PKT_READ_RESP, psn + 1);
	assert_int_equal(memory(IOVA), 1);
	assert_int_equal(memory(IOVA + 8), 9);
}

/* Requests of all kinds together are limited to max_dest_rd_atomic. */
static void test_too_many(void **state)
{
	uint32_t npsn = LEN / 1024;

	(void)state;
	request(PKT_READ_REQ, PSN, IOVA, LEN, 0);
	request(PKT_FETCH_ADD, PSN + npsn, IOVA, 8, 0);
	request(PKT_ATOMIC_WRITE, PSN + npsn + 1, IOVA + 8, 8, 1);
	request(PKT_FLUSH, PSN + npsn + 2, IOVA + 8, 8, 1);
	request(PKT_FETCH_ADD, PSN + npsn + 3, IOVA, 8, 0);
	inproc_settle();
	assert_true(num_sent > 0);
	assert_int_equal(sent[num_sent - 1].pkt.op, PKT_ACK);
	assert_int_equal(sent[num_sent - 1].pkt.psn, PSN + npsn + 3);
	assert_int_equal(sent[num_sent - 1].pkt.syndrome, AETH_NAK_INV_REQ);
	assert_int_equal(memory(IOVA), 1);
	assert_int_equal(rig_query(p.b).state, OHCA_QPS_ERR);
}

/* The length of an ATOMIC_WRITE has to be 8. */
static void test_write_length(void **state)
{
	(void)state;
	request(PKT_ATOMIC_WRITE, PSN, IOVA, 16, 1);
	assert_int_equal(take(PKT_ACK, PSN).pkt.syndrome, AETH_NAK_INV_REQ);
	assert_int_equal(memory(IOVA), 0);
}

/* A FLUSH without a placement, with reserved values, and one of no byte, which needs no key. */
static void test_flush_values(void **state)
{
	static const uint8_t bad[] = {0, PKT_FLUSH_MR, 0x4, 0x20 | OHCA_FLUSH_GLOBAL, 0x30, 0x80};
	struct pkt pkt = {
		.op = PKT_FLUSH, .flags = ONLY, .psn = PSN, .npsn = 1, .va = IOVA, .rkey = mr->key};
	unsigned int i;

	(void)state;
	pkt.flush = OHCA_FLUSH_PERSISTENT;
	responder_rx(qb, &pkt);
	take(PKT_READ_RESP, PSN);
	pkt.psn = PSN + 1;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		pkt.flush = bad[i];
		responder_rx(qb, &pkt);
		assert_int_equal(take(PKT_ACK, pkt.psn).pkt.syndrome, AETH_NAK_INV_REQ);
		rig_wait_event(p.b->hca, OHCA_EVENT_QP_REQ_ERR, p.b->qpn);
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		rig_connect(p.a, p.b);
		pkt.psn = PSN;
	}
}

/* In the middle of a message. */
static void test_in_message(void **state)
{
	struct iovec iov = {sent, 1024};
	struct pkt pkt = {.op = PKT_WRITE,
			  .flags = PKT_FIRST,
			  .psn = PSN,
			  .npsn = 1,
			  .va = IOVA,
			  .rkey = mr->key,
			  .dma_len = 2048,
			  .iov = &iov,
			  .num = 1,
			  .len = 1024};

	(void)state;
	responder_rx(qb, &pkt);
	request(PKT_FETCH_ADD, PSN + 1, IOVA + 2048, 8, 0);
	assert_int_equal(take(PKT_ACK, PSN + 1).pkt.syndrome, AETH_NAK_INV_REQ);
	assert_int_equal(memory(IOVA + 2048), 0);
}

/* Requester */

static void post(uint8_t opcode, uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct ohca_sq_wqe fields = {
		.flush = {.rkey = htole32(mr->key), .placement = OHCA_FLUSH_GLOBAL}};
	struct rig_wr wr = {.wr_id = wr_id,
			    .opcode = opcode,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = opcode == OHCA_OP_FLUSH ? 0 : 1,
			    .sge = &sge,
			    .raddr = IOVA,
			    .rkey = mr->key,
			    .fields = opcode == OHCA_OP_FLUSH ? &fields : NULL};

	rig_post_send(p.a, &wr);
	inproc_settle();
}

static void respond(uint8_t op, uint8_t flags, uint32_t psn, uint64_t value, uint32_t len)
{
	struct iovec iov = {&value, len};
	struct pkt pkt = {.op = op,
			  .flags = flags,
			  .syndrome = AETH_ACK_NO_CREDITS,
			  .psn = psn,
			  .npsn = 1,
			  .iov = &iov,
			  .num = len ? 1 : 0,
			  .len = len};

	value = htole64(value);
	requester_rx(qa, &pkt);
	inproc_settle();
}

static void assert_done(uint64_t wr_id, uint8_t status)
{
	struct ohca_cqe cqe = rig_wait_send(p.a);

	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(cqe.status, status);
}

/* A later acknowledgment shows that a response was lost: the request is sent again. */
static void test_lost_response(void **state)
{
	uint64_t value;

	(void)state;
	post(OHCA_OP_FETCH_ADD, 1);
	post(OHCA_OP_RDMA_WRITE, 2);
	take(PKT_FETCH_ADD, PSN);
	take(PKT_WRITE, PSN + 1);
	respond(PKT_ACK, 0, PSN + 1, 0, 0);
	take(PKT_FETCH_ADD, PSN);
	take(PKT_WRITE, PSN + 1);
	respond(PKT_ATOMIC_RESP, PKT_FIRST | PKT_LAST, PSN, 0x77, 8);
	assert_done(1, OHCA_WC_SUCCESS);
	rig_mr_get(p.ma, PAIR_IOVA, &value, 8);
	assert_int_equal(le64toh(value), 0x77);
	respond(PKT_ACK, 0, PSN + 1, 0, 0);
	assert_done(2, OHCA_WC_SUCCESS);
}

/* Requests of all kinds together are limited to max_rd_atomic. */
static void test_depth(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_FETCH_ADD, OHCA_OP_ATOMIC_WRITE, OHCA_OP_FLUSH,
				      OHCA_OP_CMP_SWAP, OHCA_OP_FLUSH};
	static const uint8_t pkts[] = {PKT_FETCH_ADD, PKT_ATOMIC_WRITE, PKT_FLUSH, PKT_CMP_SWAP};
	unsigned int i;

	(void)state;
	for (i = 0; i < 5; i++)
		post(ops[i], i);
	for (i = 0; i < 4; i++)
		take(pkts[i], PSN + i);
	take_nothing();
	respond(PKT_ATOMIC_RESP, PKT_FIRST | PKT_LAST, PSN, 0, 8);
	assert_done(0, OHCA_WC_SUCCESS);
	take(PKT_FLUSH, PSN + 4);
	respond(PKT_READ_RESP, PKT_FIRST | PKT_LAST, PSN + 1, 0, 0);
	assert_done(1, OHCA_WC_SUCCESS);
	respond(PKT_READ_RESP, PKT_FIRST | PKT_LAST, PSN + 2, 0, 0);
	assert_done(2, OHCA_WC_SUCCESS);
	/* The response before it was lost. */
	respond(PKT_READ_RESP, PKT_FIRST | PKT_LAST, PSN + 4, 0, 0);
	take(PKT_CMP_SWAP, PSN + 3);
	take(PKT_FLUSH, PSN + 4);
}

static void bad_response(uint8_t opcode, uint8_t request_op, uint8_t op, uint32_t len)
{
	void *state = NULL;

	open_pair(&state);
	post(opcode, 5);
	take(request_op, PSN);
	respond(op, PKT_FIRST | PKT_LAST, PSN, 0, len);
	assert_done(5, OHCA_WC_BAD_RESP_ERR);
	proto_close(&state);
}

/* The response has the wrong type or length. */
static void test_bad_responses(void **state)
{
	(void)state;
	bad_response(OHCA_OP_FETCH_ADD, PKT_FETCH_ADD, PKT_READ_RESP, 8);
	bad_response(OHCA_OP_CMP_SWAP, PKT_CMP_SWAP, PKT_ATOMIC_RESP, 4);
	bad_response(OHCA_OP_ATOMIC_WRITE, PKT_ATOMIC_WRITE, PKT_READ_RESP, 8);
	bad_response(OHCA_OP_ATOMIC_WRITE, PKT_ATOMIC_WRITE, PKT_ATOMIC_RESP, 8);
	bad_response(OHCA_OP_FLUSH, PKT_FLUSH, PKT_READ_RESP, 8);
	bad_response(OHCA_OP_RDMA_READ, PKT_READ_REQ, PKT_ATOMIC_RESP, 8);
	bad_response(OHCA_OP_RDMA_WRITE, PKT_WRITE, PKT_ATOMIC_RESP, 8);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pair, proto_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_duplicates),
		TEST(test_old_duplicates),
		TEST(test_old_duplicate_before_read),
		TEST(test_duplicate_write),
		TEST(test_order),
		TEST(test_too_many),
		TEST(test_write_length),
		TEST(test_flush_values),
		TEST(test_in_message),
		TEST(test_lost_response),
		TEST(test_depth),
		cmocka_unit_test(test_bad_responses),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
