// SPDX-License-Identifier: GPL-2.0
/* Tag matching: rendezvous, whose data the device reads. */

#include <endian.h>

#include "harness.h"
#include "rig_odp.h"
#include "qp/srq.h"
#include "transport/tm.h"
#include "tm_bed.h"

#define LONG 300000
#define UNDER_WAY (1 << TM_SQ_LOG_SIZE) /* of one QP */

static void add_room(uint32_t handle, uint64_t tag, uint64_t at, uint32_t len)
{
	struct ohca_sge sge = rig_sge(bed.mb, at, len);
	struct tm_tag add = {.handle = handle,
			     .tag = tag,
			     .mask = TM_EXACT,
			     .wr_id = handle,
			     .sge = &sge,
			     .num_sge = 1};

	tm_add(&add, OHCA_WC_SUCCESS);
}

static void check_rndv(unsigned int i, uint64_t tag, uint32_t len)
{
	struct ohca_cqe cqe;

	tm_post_fin(i);
	tm_send_rndv(i, tag, 3, len, tag);
	cqe = tm_expect_match(OHCA_CQE_TAG_MATCH, 1, tag);
	assert_int_equal(le32toh(cqe.tag_handle), 1);
	cqe = tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), len);
	assert_int_equal(le32toh(cqe.qpn), bed.b[i]->qpn);
	assert_true(rig_mr_is(bed.mb, TM_ROOM, len, tag));
	tm_expect_fin(i, tag);
	tm_sent(i, OHCA_WC_SUCCESS);
	tm_expect_nothing();
}

static void test_rndv(void **state)
{
	static const uint32_t sizes[] = {0, 1, 1024, 1025, 70000, LONG};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		add_room(1, i, TM_ROOM, LONG);
		check_rndv(i % TM_NUM, i, sizes[i]);
	}
}

/* A list of many elements, of which only some are needed. */
static void test_lists(void **state)
{
	struct ohca_sge sge[OHCA_TM_MAX_SGE];
	struct tm_tag add = {.handle = 1, .tag = 9, .mask = TM_EXACT, .wr_id = 1, .sge = sge};
	uint32_t off = 0, i, len;

	(void)state;
	for (i = 0; i < OHCA_TM_MAX_SGE; i++) {
		len = i == 2 ? 0 : 100 + 7000 * i;
		sge[i] = rig_sge(bed.mb, TM_ROOM + off, len);
		off += len;
	}
	add.num_sge = OHCA_TM_MAX_SGE;
	tm_add(&add, OHCA_WC_SUCCESS);
	check_rndv(0, 9, off);
	tm_add(&add, OHCA_WC_SUCCESS);
	check_rndv(0, 9, 100);
	tm_add(&add, OHCA_WC_SUCCESS);
	check_rndv(1, 9, 30000);
}

/* The keys are checked against the SRQ's protection domain, whatever the QP's is. */
static void test_protection(void **state)
{
	uint32_t pdn = drv_create(bed.hb->drv, OHCA_CMD_ALLOC_PD, NULL, 0);

	(void)state;
	tm_new_pair(0, pdn);
	rig_connect(bed.a[0], bed.b[0]);
	add_room(1, 5, TM_ROOM, LONG);
	check_rndv(0, 5, LONG);
}

/* No tag matches: the whole message goes to software. */
static void test_unexpected(void **state)
{
	struct ohca_rvh rvh;
	struct ohca_cqe cqe;

	(void)state;
	tm_post_recv(8, OHCA_TM_MAX_RNDV);
	tm_send_rndv(0, 5, 0, 1000, 1);
	cqe = tm_expect(OHCA_CQE_RECV_UNEXPECTED, 8, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), 32);
	rig_mr_get(bed.mb, TM_RECV + 16, &rvh, sizeof(rvh));
	assert_int_equal(be64toh(rvh.va), TM_DATA);
	assert_int_equal(be32toh(rvh.len), 1000);
	tm_expect_nothing();
}

/* The tag has no room for the data: its buffer receives the headers, and software continues. */
static void test_incomplete(void **state)
{
	struct ohca_rvh rvh;
	struct ohca_cqe cqe;

	(void)state;
	add_room(1, 5, TM_ROOM, 999);
	tm_send_rndv(0, 5, 0, 1000, 1);
	cqe = tm_expect(OHCA_CQE_TAG_RECV, 1, OHCA_WC_TM_RNDV_INCOMPLETE);
	assert_int_equal(le32toh(cqe.byte_len), 32);
	assert_int_equal(le32toh(cqe.tag.low), 5);
	rig_mr_get(bed.mb, TM_ROOM + 16, &rvh, sizeof(rvh));
	assert_int_equal(be32toh(rvh.len), 1000);
	tm_sent(0, OHCA_WC_SUCCESS);

	/* The connection stays usable, unless not even the headers fit. */
	add_room(1, 6, TM_ROOM, LONG);
	check_rndv(0, 6, 1000);
	add_room(1, 7, TM_ROOM, 31);
	tm_send_rndv(0, 7, 0, 1000, 1);
	tm_expect(OHCA_CQE_TAG_RECV, 1, OHCA_WC_LOC_LEN_ERR);
	tm_sent(0, OHCA_WC_REM_INV_REQ_ERR);
}

/* Inaccessible data, or an inaccessible buffer. */
static void test_bad_keys(void **state)
{
	struct ohca_sge sge = rig_sge(bed.mb, TM_ROOM, 1000);
	struct tm_tag add = {
		.handle = 2, .tag = 6, .mask = TM_EXACT, .wr_id = 2, .sge = &sge, .num_sge = 1};
	struct ohca_cqe cqe;

	(void)state;
	add_room(1, 5, TM_ROOM, 1000);
	assert_int_equal(rig_mr_destroy(bed.ma), OHCA_CMD_OK);
	bed.ma = rig_mr_new(bed.ha, PAIR_IOVA, PAIR_LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	tm_send_rndv(0, 5, 0, 1000, 1);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 1, 5);
	tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_REM_ACCESS_ERR);
	rig_wait_event(bed.ha, OHCA_EVENT_QP_ACCESS_ERR, bed.a[0]->qpn);
	rig_wait_event(bed.hb, OHCA_EVENT_LAST_WQE, bed.b[0]->qpn);

	assert_int_equal(rig_mr_destroy(bed.ma), OHCA_CMD_OK);
	bed.ma = rig_mr_new(bed.ha, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	sge.lkey = htole32(bed.mb->key ^ 1);
	tm_add(&add, OHCA_WC_SUCCESS);
	tm_send_rndv(1, 6, 0, 1000, 1);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 2, 6);
	cqe = tm_expect(OHCA_CQE_TAG_DATA, 2, OHCA_WC_LOC_PROT_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_KEY);
	tm_sent(1, OHCA_WC_SUCCESS);
	tm_expect_nothing();
}

/* A QP that is not allowed to read. */
static void test_no_reads(void **state)
{
	(void)state;
	tm_new_pair(0, 0);
	bed.b[0]->attr.max_rd_atomic = 0;
	rig_connect(bed.a[0], bed.b[0]);
	add_room(1, 5, TM_ROOM, 1000);
	tm_send_rndv(0, 5, 0, 1000, 1);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 1, 5);
	tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_LOC_QP_OP_ERR);
}

/* Have @num rendezvous outstanding, of a QP that can't send yet. */
static void pile_up(unsigned int num)
{
	unsigned int i;

	tm_new_pair(0, 0);
	bed.a[0]->attr.min_rnr_timer = 1;
	rig_address(bed.a[0], bed.b[0]);
	assert_int_equal(rig_to_init(bed.a[0]) | rig_to_init(bed.b[0]), OHCA_CMD_OK);
	assert_int_equal(rig_to_rtr(bed.a[0]) | rig_to_rtr(bed.b[0]), OHCA_CMD_OK);
	assert_int_equal(rig_to_rts(bed.a[0]), OHCA_CMD_OK);
	for (i = 0; i < num; i++) {
		add_room(i % TM_TAGS, i, TM_ROOM + 1000 * i, 1000);
		tm_post_fin(0);
		tm_send_rndv(0, i, 1000 * i, 1000, i);
		tm_expect_match(OHCA_CQE_TAG_MATCH, i % TM_TAGS, i);
		tm_sent(0, OHCA_WC_SUCCESS);
	}
}

/* The number of outstanding rendezvous is limited: a further one has to wait, and its tag stays. */
static void test_many(void **state)
{
	unsigned int i;

	(void)state;
	pile_up(UNDER_WAY);
	add_room(0, UNDER_WAY, TM_ROOM, 1000);
	tm_send_rndv(0, UNDER_WAY, 0, 1000, 0);
	tm_expect_nothing();
	assert_true(inproc_qp(bed.b[0])->counters->value[OHCA_CNT_OUT_OF_BUFFER] > 0);
	tm_del(0, false, OHCA_WC_SUCCESS);
	add_room(0, UNDER_WAY, TM_ROOM + 1000 * UNDER_WAY, 1000);

	assert_int_equal(rig_to_rts(bed.b[0]), OHCA_CMD_OK);
	for (i = 0; i < UNDER_WAY; i++) {
		tm_expect(OHCA_CQE_TAG_DATA, i, OHCA_WC_SUCCESS);
		assert_true(rig_mr_is(bed.mb, TM_ROOM + 1000 * i, 1000, i));
		tm_expect_fin(0, i);
	}
	tm_sent(0, OHCA_WC_SUCCESS);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 0, UNDER_WAY);
	tm_post_fin(0);
	tm_expect(OHCA_CQE_TAG_DATA, 0, OHCA_WC_SUCCESS);
	tm_expect_fin(0, UNDER_WAY);
	tm_expect_nothing();
}

/* The QP enters the error state: each tag of an outstanding rendezvous completes once. */
static void test_error(void **state)
{
	unsigned int i;

	(void)state;
	pile_up(5);
	assert_int_equal(rig_modify(bed.b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	for (i = 0; i < 5; i++)
		tm_expect(OHCA_CQE_TAG_DATA, i, OHCA_WC_WR_FLUSH_ERR);
	rig_wait_event(bed.hb, OHCA_EVENT_LAST_WQE, bed.b[0]->qpn);
	tm_expect_nothing();
}

/* The QP is reset and connected again, or destroyed. */
static void test_goes(void **state)
{
	(void)state;
	pile_up(5);
	assert_int_equal(rig_modify(bed.b[0], OHCA_QPS_RESET, OHCA_QP_STATE), OHCA_CMD_OK);
	tm_expect_nothing();
	rig_to_reset(bed.a[0]);
	rig_connect(bed.a[0], bed.b[0]);
	add_room(1, 99, TM_ROOM, LONG);
	check_rndv(0, 99, LONG);
	pile_up(5);
	assert_int_equal(rig_qp_destroy(bed.b[0]), OHCA_CMD_OK);
	tm_expect_nothing();
}

/* The peer fails while its data are read. */
static void test_peer_goes(void **state)
{
	(void)state;
	pile_up(3);
	assert_int_equal(rig_qp_destroy(bed.a[0]), OHCA_CMD_OK);
	bed.b[0]->attr.retry_cnt = 1;
	assert_int_equal(rig_to_rts(bed.b[0]), OHCA_CMD_OK);
	tm_expect(OHCA_CQE_TAG_DATA, 0, OHCA_WC_RETRY_EXC_ERR);
	tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_WR_FLUSH_ERR);
	tm_expect(OHCA_CQE_TAG_DATA, 2, OHCA_WC_WR_FLUSH_ERR);
}

/* The data have arrived before the peer can receive the final message. */
static void test_late_fin(void **state)
{
	(void)state;
	bed.a[0]->attr.min_rnr_timer = 1;
	add_room(1, 5, TM_ROOM, 1000);
	tm_send_rndv(0, 5, 0, 1000, 1);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 1, 5);
	tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_SUCCESS);
	inproc_settle();
	tm_post_fin(0);
	tm_expect_fin(0, 5);
}

/* Packets of all kinds are lost, duplicated and delayed. */
static void test_lossy(void **state)
{
	unsigned int i;

	(void)state;
	link_seed(7);
	link_faults = (struct link_faults){.cut = 512, .drop = 32, .dup = 64, .delay = 64};
	for (i = 0; i < 100; i++) {
		unsigned int c = i % TM_NUM;

		add_room(1, i, TM_ROOM, LONG);
		tm_post_fin(c);
		tm_send_rndv(c, i, 3, 900 * i, i);
		tm_expect_match(OHCA_CQE_TAG_MATCH, 1, i);
		tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_SUCCESS);
		assert_true(rig_mr_is(bed.mb, TM_ROOM, 900 * i, i));
		tm_expect_fin(c, i);
		tm_sent(c, OHCA_WC_SUCCESS);
	}
	assert_true(link_happened.drop > 10);
}

/* Map pages until there are no more faults; returns the number of faults. */
static unsigned int serve_faults(void)
{
	struct rig_fault f;
	unsigned int num = 0;

	for (inproc_settle(); rig_fault_poll(bed.hb, &f); inproc_settle(), num++) {
		assert_int_equal(f.key, bed.mb->key);
		assert_int_equal(rig_odp_map(bed.mb, f.first, f.num, f.write), OHCA_CMD_OK);
	}
	return num;
}

/* Memory whose pages are missing at first: a message that is sent again uses the same tag. */
static void test_paging(void **state)
{
	(void)state;
	rig_odp(bed.mb, RIG_ALL_ACCESS);
	add_room(1, 5, TM_ROOM, LONG);
	add_room(2, 5, TM_ROOM + LONG, LONG);
	tm_send_eager(0, 5, LONG, 1);
	assert_true(serve_faults() > 0);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 1, 5);
	tm_expect(OHCA_CQE_TAG_DATA, 1, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(bed.mb, TM_ROOM, LONG, 1));
	tm_sent(0, OHCA_WC_SUCCESS);

	tm_post_fin(0);
	tm_send_rndv(0, 5, 0, LONG, 2);
	assert_true(serve_faults() > 0);
	tm_expect_match(OHCA_CQE_TAG_MATCH, 2, 5);
	tm_expect(OHCA_CQE_TAG_DATA, 2, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(bed.mb, TM_ROOM + LONG, LONG, 2));
	tm_expect_fin(0, 5);

	/* A message without a tag counts once as unexpected, and consumes one receive. */
	tm_post_recv(9, 4096);
	tm_send_eager(1, 5, 1000, 3);
	assert_true(serve_faults() > 0);
	tm_expect(OHCA_CQE_RECV_UNEXPECTED, 9, OHCA_WC_SUCCESS);
	assert_int_equal(srq_get(inproc_hca(1), bed.srq->srqn)->tags->unexpected, 1);
	assert_int_equal(le32toh(rig_srq_query(bed.srq).taken), 1);
	tm_expect_nothing();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tm_up, tm_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rndv),       TEST(test_lists),      TEST(test_protection),
		TEST(test_unexpected), TEST(test_incomplete), TEST(test_bad_keys),
		TEST(test_no_reads),   TEST(test_many),	      TEST(test_error),
		TEST(test_goes),       TEST(test_peer_goes),  TEST(test_late_fin),
		TEST(test_lossy),      TEST(test_paging),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
