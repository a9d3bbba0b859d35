// SPDX-License-Identifier: GPL-2.0
/*
 * Tag matching: operations on the list of an SRQ, eager messages, and messages that match no tag.
 */

#include <endian.h>

#include "harness.h"
#include "refuse.h"
#include "qp/srq.h"
#include "qp/tag_list.h"
#include "tm_bed.h"

#define BIG 5000 /* more than one packet */

/* Divide every burst into packets. */
static void cut_packets(void)
{
	link_seed(1);
	link_faults.cut = 1024;
}

static void expect_data(uint64_t at, uint32_t len, uint32_t seed)
{
	assert_true(rig_mr_is(bed.mb, at, len, seed));
}

/* One packet: match and data in one completion; the data do not include the header. */
static void test_eager(void **state)
{
	struct ohca_cqe cqe;

	(void)state;
	tm_add_simple(3, 0x1234567890abcdefULL);
	tm_send_eager(0, 0x1234567890abcdefULL, 700, 1);
	tm_sent(0, OHCA_WC_SUCCESS);
	cqe = tm_expect_match(OHCA_CQE_TAG_RECV, 3, 0x1234567890abcdefULL);
	assert_int_equal(le32toh(cqe.byte_len), 700);
	assert_int_equal(le32toh(cqe.tag_handle), 3);
	assert_int_equal(le32toh(cqe.qpn), bed.b[0]->qpn);
	assert_int_equal(cqe.flags & OHCA_CQE_F_TAG_SYNC, 0);
	expect_data(TM_PLACE(3), 700, 1);

	/* The tag is used up, and its place is free for another one. */
	tm_post_recv(9, 4096);
	tm_send_eager(0, 0x1234567890abcdefULL, 700, 2);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 9, OHCA_WC_SUCCESS);
	tm_sync(1);
	tm_add_simple(3, 5);
	tm_send_eager(0, 5, 0, 0);
	cqe = tm_expect_match(OHCA_CQE_TAG_RECV, 3, 5);
	assert_int_equal(le32toh(cqe.byte_len), 0);
	tm_expect_nothing();
}

/* Several packets: one completion for the match, and one at the end. */
static void test_eager_long(void **state)
{
	const struct ohca_sge sge[] = {
		rig_sge(bed.mb, TM_ROOM, 1),	       rig_sge(bed.mb, TM_ROOM + 1, 1030),
		rig_sge(bed.mb, TM_ROOM + 1031, 0),    rig_sge(bed.mb, TM_ROOM + 1031, 2),
		rig_sge(bed.mb, TM_ROOM + 1033, 8000),
	};
	struct tm_tag tag = {.handle = 0xabcd0001,
			     .tag = 7,
			     .mask = TM_EXACT,
			     .wr_id = 70,
			     .sge = sge,
			     .num_sge = 5};
	struct ohca_cqe cqe;

	(void)state;
	cut_packets();
	tm_add(&tag, OHCA_WC_SUCCESS);
	tm_send_eager(1, 7, BIG, 3);
	cqe = tm_expect_match(OHCA_CQE_TAG_MATCH, 70, 7);
	assert_int_equal(le32toh(cqe.tag_handle), 0xabcd0001);
	cqe = tm_expect(OHCA_CQE_TAG_DATA, 70, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), BIG);
	expect_data(TM_ROOM, BIG, 3);
	tm_sent(1, OHCA_WC_SUCCESS);
	tm_expect_nothing();
}

/* Among the tags that match, the one that was added first is used, whatever their masks are. */
static void test_order_and_masks(void **state)
{
	static const struct tm_tag tags[] = {
		{.handle = 0, .tag = 0x100, .mask = 0xff00, .wr_id = 10, .len = 100},
		{.handle = 1, .tag = 0x101, .mask = TM_EXACT, .wr_id = 11, .len = 100},
		{.handle = 2, .tag = 0x101, .mask = TM_EXACT, .wr_id = 12, .len = 100},
		{.handle = 3, .tag = 0x101, .mask = 0xffff, .wr_id = 13, .len = 100},
		{.handle = 4, .tag = 0, .mask = 0, .wr_id = 14, .len = 100},
		{.handle = 5, .tag = 0x101, .mask = TM_EXACT, .wr_id = 15, .len = 100},
		/* No message can match that. */
		{.handle = 6, .tag = 0x1ff, .mask = 0xf0, .wr_id = 16, .len = 100},
	};
	static const uint64_t want[] = {10, 11, 12, 13, 14, 15};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(tags); i++)
		tm_add(&tags[i], OHCA_WC_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		tm_send_eager(i % TM_NUM, 0x101, 10, i);
		tm_expect_match(OHCA_CQE_TAG_RECV, want[i], 0x101);
		expect_data(TM_PLACE(i), 10, i);
	}
	tm_post_recv(1, 100);
	tm_send_eager(0, 0x1ff, 10, 0);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 1, OHCA_WC_SUCCESS);
}

/* The maximum number of tags; also with the same hash, and in any order. */
static void test_all_places(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < TM_TAGS; i++)
		tm_add_simple(i, 1000 + i);
	for (i = TM_TAGS; i--;) {
		tm_send_eager(0, 1000 + i, 8, i);
		tm_expect_match(OHCA_CQE_TAG_RECV, i, 1000 + i);
		expect_data(TM_PLACE(i), 8, i);
	}
	tm_expect_nothing();
}

static void test_no_tag(void **state)
{
	static const struct tm_tag any = {.handle = 0, .wr_id = 1, .len = 100};
	struct ohca_tmh tmh = {.opcode = OHCA_TMH_NO_TAG};
	struct ohca_cqe cqe;

	(void)state;
	tm_add(&any, OHCA_WC_SUCCESS);
	tm_post_recv(20, 4096);
	tm_post_recv(21, 4096);
	tm_post_recv(22, 4096);
	tm_post_recv(23, 4096);
	tm_send(0, OHCA_TMH_NO_TAG, 0, 1000, 5);
	cqe = tm_expect(OHCA_CQE_RECV_NO_TAG, 20, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), 1016);
	expect_data(TM_RECV + 16, 1000, 5);
	tm_send(0, OHCA_TMH_FIN, 0, 0, 0);
	tm_expect(OHCA_CQE_RECV_NO_TAG, 21, OHCA_WC_SUCCESS);

	/* Only the opcode, and not even that. */
	rig_mr_set(bed.ma, TM_SRC, &tmh, sizeof(tmh));
	tm_send_raw(0, 1);
	cqe = tm_expect(OHCA_CQE_RECV_NO_TAG, 22, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), 1);
	tm_send_raw(0, 0);
	tm_expect(OHCA_CQE_RECV_NO_TAG, 23, OHCA_WC_SUCCESS);

	/* None of them counts as an unexpected message. */
	assert_int_equal(tm_sync(0).flags & OHCA_CQE_F_TAG_SYNC, 0);
	tm_send_eager(0, 99, 1, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 1, 99);
}

/*
 * A tag that was added while a message was on its way to software is not matched until software has
 * synchronized.
 */
static void test_sync(void **state)
{
	struct tm_tag tag = {
		.handle = 1, .tag = 6, .mask = TM_EXACT, .wr_id = 60, .len = 100, .sync = true};
	struct ohca_cqe cqe;

	(void)state;
	tm_add_simple(0, 5);
	tm_post_recv(30, 100);
	tm_post_recv(31, 100);
	tm_send_eager(0, 6, 10, 1);
	cqe = tm_expect(OHCA_CQE_RECV_UNEXPECTED, 30, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), 26);
	assert_int_equal(cqe.flags & OHCA_CQE_F_TAG_SYNC, 0);

	assert_int_equal(tm_add(&tag, OHCA_WC_SUCCESS).flags & OHCA_CQE_F_TAG_SYNC,
			 OHCA_CQE_F_TAG_SYNC);
	tm_send_eager(0, 6, 10, 2);
	cqe = tm_expect(OHCA_CQE_RECV_UNEXPECTED, 31, OHCA_WC_SUCCESS);
	assert_int_equal(cqe.flags & OHCA_CQE_F_TAG_SYNC, OHCA_CQE_F_TAG_SYNC);
	/* A tag added earlier still matches. */
	tm_send_eager(0, 5, 10, 3);
	cqe = tm_expect_match(OHCA_CQE_TAG_RECV, 0, 5);
	assert_int_equal(cqe.flags & OHCA_CQE_F_TAG_SYNC, OHCA_CQE_F_TAG_SYNC);

	assert_int_equal(tm_sync(1).flags & OHCA_CQE_F_TAG_SYNC, OHCA_CQE_F_TAG_SYNC);
	assert_int_equal(tm_sync(2).flags & OHCA_CQE_F_TAG_SYNC, 0);
	tm_send_eager(0, 6, 10, 4);
	cqe = tm_expect_match(OHCA_CQE_TAG_RECV, 60, 6);
	assert_int_equal(cqe.flags & OHCA_CQE_F_TAG_SYNC, 0);
	expect_data(TM_PLACE(1), 10, 4);
}

/* Another operation may synchronize as well; a tag that waits for that may be deleted. */
static void test_sync_by_operation(void **state)
{
	struct tm_tag tag = {.handle = 1, .tag = 6, .mask = TM_EXACT, .wr_id = 60, .len = 100};
	struct ohca_cqe cqe;

	(void)state;
	tm_post_recv(30, 100);
	tm_send_eager(0, 6, 10, 1);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 30, OHCA_WC_SUCCESS);
	tm_add(&tag, OHCA_WC_SUCCESS);
	tag.handle = 2;
	tag.wr_id = 61;
	tm_add(&tag, OHCA_WC_SUCCESS);
	tm_del(1, false, OHCA_WC_SUCCESS);
	bed.unexpected = 1;
	tag.handle = 3;
	tag.wr_id = 62;
	tag.sync = true;
	assert_int_equal(tm_add(&tag, OHCA_WC_SUCCESS).flags & OHCA_CQE_F_TAG_SYNC, 0);
	tm_send_eager(0, 6, 10, 1);
	cqe = tm_expect_match(OHCA_CQE_TAG_RECV, 61, 6);
	assert_int_equal(cqe.flags & OHCA_CQE_F_TAG_SYNC, 0);
	tm_send_eager(0, 6, 10, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 62, 6);
}

/*
 * A message counts as unexpected from its first packet on, and no longer if it does not arrive
 * completely.
 */
static void test_unexpected_unfinished(void **state)
{
	struct tm_tag tag = {
		.handle = 1, .tag = 6, .mask = TM_EXACT, .wr_id = 60, .len = 100, .sync = true};

	(void)state;
	tm_post_recv(30, 2000);
	cut_packets();
	/* Too long, although its first packets fit. */
	tm_send_eager(0, 6, BIG, 1);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 30, OHCA_WC_LOC_LEN_ERR);
	tm_sent(0, OHCA_WC_REM_INV_REQ_ERR);
	rig_wait_event(bed.hb, OHCA_EVENT_LAST_WQE, bed.b[0]->qpn);
	assert_int_equal(tm_add(&tag, OHCA_WC_SUCCESS).flags & OHCA_CQE_F_TAG_SYNC, 0);
	tm_send_eager(1, 6, 10, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 60, 6);
}

static unsigned int left_to_pass;

static void pass_some(struct qp *src, const struct pkt *pkt)
{
	if (pkt_is_response(pkt->op) || !left_to_pass)
		return;
	left_to_pass--;
	__real_link_send(src, pkt);
}

/* Let only the first packet of a longer message pass. */
static void send_half(unsigned int i, uint64_t tag)
{
	struct ohca_tmh tmh = {.opcode = OHCA_TMH_EAGER, .tag = htobe64(tag)};
	struct iovec iov = {.iov_base = &tmh, .iov_len = 1024};
	uint8_t bytes[1024] = {0};
	struct pkt pkt = {
		.op = PKT_SEND,
		.flags = PKT_FIRST,
		.psn = RIG_PSN,
		.npsn = 1,
		.iov = &iov,
		.num = 1,
		.len = sizeof(bytes),
	};

	memcpy(bytes, &tmh, sizeof(tmh));
	iov.iov_base = bytes;
	left_to_pass = 1;
	link_capture = pass_some;
	__real_link_send(inproc_qp(bed.a[i]), &pkt);
	link_capture = NULL;
}

/* The QP of an incomplete message enters the error state, is reset, or is destroyed. */
static void test_unfinished_goes(void **state)
{
	struct tag_list *list = srq_get(inproc_hca(1), bed.srq->srqn)->tags;

	(void)state;
	tm_post_recv(30, 2000);
	send_half(0, 1);
	assert_int_equal(list->unexpected, 1);
	tm_expect_nothing();
	assert_int_equal(rig_modify(bed.b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 30, OHCA_WC_WR_FLUSH_ERR);
	assert_int_equal(list->unexpected, 0);

	tm_post_recv(31, 2000);
	send_half(1, 1);
	assert_int_equal(list->unexpected, 1);
	assert_int_equal(rig_qp_destroy(bed.b[1]), OHCA_CMD_OK);
	assert_int_equal(list->unexpected, 0);
	tm_expect_nothing();
	assert_int_equal(le32toh(rig_srq_query(bed.srq).taken), 2);
}

/* The same with a message that matches. */
static void test_match_goes(void **state)
{
	(void)state;
	tm_add_simple(1, 1);
	tm_add_simple(2, 1);
	send_half(0, 1);
	tm_expect(OHCA_CQE_TAG_MATCH, 1, OHCA_WC_SUCCESS);
	tm_expect_nothing();
	assert_int_equal(rig_modify(bed.b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_WR_FLUSH_ERR);
	rig_wait_event(bed.hb, OHCA_EVENT_LAST_WQE, bed.b[0]->qpn);
	send_half(1, 1);
	tm_expect(OHCA_CQE_TAG_MATCH, 2, OHCA_WC_SUCCESS);
	assert_int_equal(rig_qp_destroy(bed.b[1]), OHCA_CMD_OK);
	tm_expect_nothing();
	tm_del(1, false, OHCA_WC_TM_ERR);
	tm_del(2, false, OHCA_WC_TM_ERR);
}

/*
 * A message that does not fit the tag's buffer fails the tag and the connection, but no other tag.
 */
static void test_bad_tags(void **state)
{
	struct ohca_sge sge = rig_sge(bed.mb, TM_ROOM, 100);
	struct tm_tag tag = {
		.handle = 2, .tag = 2, .mask = TM_EXACT, .wr_id = 2, .sge = &sge, .num_sge = 1};
	struct ohca_cqe cqe;

	(void)state;
	tm_add_simple(1, 2);
	tm_send_eager(0, 2, 10, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 1, 2);
	tm_add(&tag, OHCA_WC_SUCCESS);
	tm_send_eager(0, 2, 101, 1);
	cqe = tm_expect(OHCA_CQE_TAG_RECV, 2, OHCA_WC_LOC_LEN_ERR);
	assert_int_equal(le32toh(cqe.tag_handle), 2);
	tm_sent(0, OHCA_WC_SUCCESS);
	tm_sent(0, OHCA_WC_REM_INV_REQ_ERR);

	sge.lkey = htole32(bed.mb->key + 1);
	tm_add(&tag, OHCA_WC_SUCCESS);
	tm_send_eager(1, 2, 100, 1);
	cqe = tm_expect(OHCA_CQE_TAG_RECV, 2, OHCA_WC_LOC_PROT_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_KEY);
	tm_sent(1, OHCA_WC_REM_OP_ERR);
	tm_expect_nothing();
}

static void refused(unsigned int i, uint32_t len)
{
	tm_send_raw(i, len);
	tm_sent(i, OHCA_WC_REM_INV_REQ_ERR);
	rig_wait_event(bed.hb, OHCA_EVENT_QP_REQ_ERR, bed.b[i]->qpn);
}

/* Invalid headers. */
static void test_bad_headers(void **state)
{
	static const struct tm_tag any = {.handle = 0, .wr_id = 1, .len = 100};
	struct ohca_tmh tmh = {.opcode = OHCA_TMH_EAGER + 1};

	(void)state;
	tm_add(&any, OHCA_WC_SUCCESS);
	tm_post_recv(1, 4096);
	rig_mr_set(bed.ma, TM_SRC, &tmh, sizeof(tmh));
	refused(0, 100);
	tmh.opcode = OHCA_TMH_EAGER;
	rig_mr_set(bed.ma, TM_SRC, &tmh, sizeof(tmh));
	refused(1, sizeof(tmh) - 1);

	tm_new_pair(0, 0);
	rig_connect(bed.a[0], bed.b[0]);
	tmh.opcode = OHCA_TMH_RNDV;
	rig_mr_set(bed.ma, TM_SRC, &tmh, sizeof(tmh));
	refused(0, 31);
	tm_new_pair(1, 0);
	rig_connect(bed.a[1], bed.b[1]);
	refused(1, OHCA_TM_MAX_RNDV + 1);
	tm_expect_nothing();
	tm_del(0, false, OHCA_WC_SUCCESS);
}

static void test_del(void **state)
{
	(void)state;
	tm_add_simple(0x10001, 5);
	tm_add_simple(2, 5);
	tm_del(1, false, OHCA_WC_TM_ERR); /* another handle of this place */
	tm_del(0x10001, true, OHCA_WC_SUCCESS);
	tm_del(0x10001, true, OHCA_WC_TM_ERR);
	tm_send_eager(0, 5, 10, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 2, 5);
	tm_del(2, true, OHCA_WC_TM_ERR);
	tm_add_simple(0x20001, 5);
	tm_send_eager(0, 5, 10, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 0x20001, 5);
}

/* A place that is in use; an unsignaled operation completes if it fails. */
static void test_add_twice(void **state)
{
	struct tm_tag tag = {.handle = 1, .tag = 9, .mask = TM_EXACT, .wr_id = 9, .len = 10};
	struct rig_wr wr = {.wr_id = 77, .opcode = OHCA_OP_TAG_DEL};
	struct ohca_sq_wqe fields = {0};
	struct ohca_cqe cqe;

	(void)state;
	tm_add_simple(1, 5);
	tm_add(&tag, OHCA_WC_TM_ERR);
	fields.tag.handle = htole32(1);
	wr.fields = &fields;
	rig_post_send(bed.ops, &wr);
	rig_post_send(bed.ops, &wr);
	cqe = rig_wait_send(bed.ops);
	assert_int_equal(cqe.status, OHCA_WC_TM_ERR);
	assert_int_equal(le32toh(cqe.wqe_idx), 3);
	tm_add(&tag, OHCA_WC_SUCCESS);
}

/* Invalid work requests: the queue stops, and the tags stay. */
static void test_bad_operations(void **state)
{
	struct ohca_sge sge[OHCA_TM_MAX_SGE + 1] = {0};
	struct ohca_sq_wqe fields = {0};
	const struct rig_wr bad[] = {
		{.opcode = OHCA_OP_SEND},
		{.opcode = OHCA_OP_TAG_SYNC + 1},
		{.opcode = OHCA_OP_TAG_ADD, .flags = OHCA_WQE_SOLICITED},
		{.opcode = OHCA_OP_TAG_ADD, .inl = sge, .inl_len = 1},
		{.opcode = OHCA_OP_TAG_ADD, .sge = sge, .num_sge = OHCA_TM_MAX_SGE + 1},
		{.opcode = OHCA_OP_TAG_DEL, .sge = sge, .num_sge = 1},
		{.opcode = OHCA_OP_TAG_SYNC, .sge = sge, .num_sge = 1},
		{.opcode = OHCA_OP_TAG_ADD, .fields = &fields},
		{.opcode = OHCA_OP_TAG_DEL, .fields = &fields},
	};
	unsigned int i;

	(void)state;
	tm_add_simple(1, 5);
	fields.tag.handle = htole32(TM_TAGS);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		rig_post_send(bed.ops, &bad[i]);
		rig_post_send(bed.ops, &bad[i]);
		assert_int_equal(rig_wait_send(bed.ops).status, OHCA_WC_LOC_QP_OP_ERR);
		assert_int_equal(rig_wait_send(bed.ops).status, OHCA_WC_WR_FLUSH_ERR);
		rig_to_reset(bed.ops);
		assert_int_equal(rig_modify(bed.ops, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	}
	tm_send_eager(0, 5, 10, 1);
	tm_expect_match(OHCA_CQE_TAG_RECV, 1, 5);
}

/* An RDMA WRITE with immediate data consumes a receive as with any SRQ. */
static void test_write_imm(void **state)
{
	struct rig_wr wr = {
		.opcode = OHCA_OP_RDMA_WRITE_IMM,
		.flags = OHCA_WQE_SIGNALED,
		.raddr = TM_ROOM,
		.rkey = bed.mb->key,
		.imm = 0x1111,
	};
	struct ohca_cqe cqe;

	(void)state;
	/* A QP that was not ready for an unexpected message leaves no state behind. */
	tm_send_eager(0, 5, 10, 1);
	inproc_settle();
	tm_post_recv(1, 100);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 1, OHCA_WC_SUCCESS);
	tm_post_recv(2, 0);
	rig_post_send(bed.a[0], &wr);
	cqe = tm_expect(OHCA_CQE_RECV_RDMA_IMM, 2, OHCA_WC_SUCCESS);
	assert_int_equal(be32toh(cqe.imm_data), 0x1111);
	assert_int_equal(tm_sync(1).flags & OHCA_CQE_F_TAG_SYNC, 0);
}

/* Packets are lost, duplicated and delayed: each message uses one tag. */
static void test_lossy(void **state)
{
	unsigned int i, num = 0;

	(void)state;
	link_seed(5);
	link_faults = (struct link_faults){.cut = 512, .drop = 64, .dup = 64, .delay = 64};
	for (i = 0; i < 200; i++) {
		struct ohca_cqe cqe;

		tm_add_simple(i % TM_TAGS, i);
		tm_send_eager(i % TM_NUM, i, 40 * i, i);
		cqe = drv_cq_wait(bed.cq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(le64toh(cqe.wr_id), i % TM_TAGS);
		if (cqe.opcode == OHCA_CQE_TAG_MATCH) {
			tm_expect(OHCA_CQE_TAG_DATA, i % TM_TAGS, OHCA_WC_SUCCESS);
			num++;
		} else {
			assert_int_equal(cqe.opcode, OHCA_CQE_TAG_RECV);
		}
		expect_data(TM_PLACE(i % TM_TAGS), 40 * i, i);
		tm_sent(i % TM_NUM, OHCA_WC_SUCCESS);
	}
	assert_true(num > 20);
	assert_true(link_happened.drop > 10);
}

#define SRQ(field, value, status)                                                             \
	REFUSE(bed.hb->drv, OHCA_CMD_CREATE_SRQ, struct ohca_create_srq_in, in, field, value, \
	       status)
#define QP(field, value, status) \
	REFUSE(bed.hb->drv, OHCA_CMD_CREATE_QP, struct ohca_create_qp_in, qp, field, value, status)

static void test_create(void **state)
{
	struct rig_srq_opts opts = {.max_tags = HCA_MAX_TAGS, .cqn = bed.cq->cqn};
	struct rig_srq tmp;
	struct ohca_create_srq_in in = rig_srq_in(bed.hb, &opts, &tmp);
	uint32_t srqn = drv_create(bed.hb->drv, OHCA_CMD_CREATE_SRQ, &in, sizeof(in));

	(void)state;
	assert_int_equal(drv_destroy(bed.hb->drv, OHCA_CMD_DESTROY_SRQ, srqn), OHCA_CMD_OK);
	SRQ(max_tags, 0, OHCA_CMD_BAD_PARAM);
	SRQ(max_tags, htole16(HCA_MAX_TAGS + 1), OHCA_CMD_BAD_PARAM);
	SRQ(cqn, htole32(7777), OHCA_CMD_BAD_HANDLE);
	SRQ(xrcdn, htole32(1), OHCA_CMD_BAD_PARAM);
	SRQ(type, 3, OHCA_CMD_BAD_PARAM);
	in = rig_srq_in(bed.hb, NULL, &tmp);
	SRQ(max_tags, htole16(1), OHCA_CMD_BAD_PARAM);
}

static void test_create_qp(void **state)
{
	struct rig_qp_opts opts = {.srqn = bed.srq->srqn, .tags = true};
	struct rig_srq *basic = rig_srq_new(bed.hb, NULL);
	struct rig_qp tmp;
	struct ohca_create_qp_in qp = rig_qp_in(bed.hb, &opts, &tmp);
	uint32_t qpn = drv_create(bed.hb->drv, OHCA_CMD_CREATE_QP, &qp, sizeof(qp));

	(void)state;
	assert_int_equal(drv_destroy(bed.hb->drv, OHCA_CMD_DESTROY_QP, qpn), OHCA_CMD_OK);
	QP(send_cqn, htole32(bed.cq->cqn), OHCA_CMD_BAD_PARAM);
	QP(recv_cqn, htole32(bed.cq->cqn), OHCA_CMD_BAD_PARAM);
	QP(sq_log_size, 1, OHCA_CMD_BAD_PARAM);
	QP(max_send_sge, htole16(1), OHCA_CMD_BAD_PARAM);
	QP(slot, htole16(1), OHCA_CMD_BAD_PARAM);
	REFUSE_AT(bed.hb->drv, OHCA_CMD_CREATE_QP, struct ohca_create_qp_in, qp, buf.npages,
		  htole32(1), OHCA_CMD_BAD_PARAM, 0);
	opts.tags = false;
	opts.type = OHCA_QPT_UD;
	qp = rig_qp_in(bed.hb, &opts, &tmp);
	refuse(bed.hb->drv, OHCA_CMD_CREATE_QP, &qp, sizeof(qp), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_create_qp_in, srqn));

	opts.type = OHCA_QPT_TM;
	qp = rig_qp_in(bed.hb, &opts, &tmp);
	QP(srqn, htole32(7777), OHCA_CMD_BAD_HANDLE);
	QP(srqn, htole32(basic->srqn), OHCA_CMD_BAD_PARAM);
	QP(flags, OHCA_QP_F_PRIVILEGED, OHCA_CMD_BAD_PARAM);
	QP(flags, OHCA_QP_F_SRQ, OHCA_CMD_BAD_PARAM);
	QP(recv_cqn, htole32(bed.cq->cqn), OHCA_CMD_BAD_PARAM);
	QP(sq_log_stride, 5, OHCA_CMD_BAD_PARAM);
	QP(send_cqn, htole32(7777), OHCA_CMD_BAD_HANDLE);

	/* The SRQ can't be destroyed as long as QPs of either kind use it. */
	assert_int_equal(rig_srq_destroy(bed.srq), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(bed.ops), OHCA_CMD_OK);
	assert_int_equal(rig_srq_destroy(bed.srq), OHCA_CMD_BUSY);
}

/* Destroying an SRQ also destroys its tags. */
static void test_destroy_with_tags(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++)
		tm_add_simple(i, i);
	for (i = 0; i < TM_NUM; i++)
		assert_int_equal(rig_qp_destroy(bed.b[i]), OHCA_CMD_OK);
	assert_int_equal(rig_qp_destroy(bed.ops), OHCA_CMD_OK);
	assert_int_equal(rig_srq_destroy(bed.srq), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(bed.hb->drv, OHCA_CMD_DESTROY_CQ, bed.cq->cqn), OHCA_CMD_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tm_up, tm_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_eager),
		TEST(test_eager_long),
		TEST(test_order_and_masks),
		TEST(test_all_places),
		TEST(test_no_tag),
		TEST(test_sync),
		TEST(test_sync_by_operation),
		TEST(test_unexpected_unfinished),
		TEST(test_unfinished_goes),
		TEST(test_match_goes),
		TEST(test_bad_tags),
		TEST(test_bad_headers),
		TEST(test_del),
		TEST(test_add_twice),
		TEST(test_bad_operations),
		TEST(test_write_imm),
		TEST(test_lossy),
		TEST(test_create),
		TEST(test_create_qp),
		TEST(test_destroy_with_tags),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
