// SPDX-License-Identifier: GPL-2.0
/*
 * Long commands of one HCA take place in slices: in each round in which one goes on, a message of another HCA is sent and
 * received.  A reset in the middle gives back everything.
 */

#include <endian.h>
#include <string.h>

#include "device/eq.h"
#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "mem/dm.h"
#include "memop.h"
#include "pair.h"
#include "rig_assert.h"
#include "rig_odp.h"
#include "slice_bed.h"

#define PAGE 4096ULL
#define REGION (1ULL << 30) /* 256 Ki pages */
#define ODP_REGION (256ULL << 20)
#define MANY 2000
#define LOG_CQES 18
#define DROPPED_AT_ONCE 4 /* objects that a reset frees between two looks at the clock */
#define EVENTS 4000
#define EVENTS_AT_ONCE 64 /* eq.c writes no more of those that have waited */

/* A region whose table of pages is there, and its attributes; it is not created yet */
static struct ohca_create_mkey_in region(struct rig_mr **mr)
{
	struct ohca_create_mkey_in in = {.iova = htole64(PAIR_IOVA),
					 .length = htole64(REGION),
					 .pdn = htole32(slice_rig->hca[BUSY].pdn),
					 .access = RIG_ALL_ACCESS};

	*mr = rig_mr_new(&slice_rig->hca[BUSY], PAIR_IOVA, REGION, RIG_ALL_ACCESS, 64);
	in.xlt = (*mr)->xlt;
	return in;
}

static void test_create_and_destroy_region(void **state)
{
	struct rig_mr *mr;
	struct ohca_create_mkey_in in = region(&mr);
	struct slice_command command;
	uint64_t used = slice_quota(QUOTA_PAGES)->used;

	(void)state;
	command = slice_begin(OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	slice_end(0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used + mr->num_pages);
	mr->key = slice_id_of(&command);
	slice_begin_destroy(OHCA_CMD_DESTROY_MKEY, mr->key);
	slice_end(0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used);
	slice_begin(OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	slice_reset_in_the_middle();
}

/* The last page is invalid: what was read is given back in slices, too. */
static void test_region_refused(void **state)
{
	struct rig_mr *mr;
	struct ohca_create_mkey_in in = region(&mr);
	uint64_t addr = le64toh(in.xlt.addr), used = slice_quota(QUOTA_PAGES)->used;
	uint64_t last = mr->num_pages - 1;
	unsigned int level;
	__le64 *entry = NULL;

	(void)state;
	for (level = in.xlt.levels; level; level--) {
		entry = (__le64 *)drv_ptr(slice_drv(), addr) + (last >> (9 * (level - 1)) & 511);
		addr = le64toh(*entry);
	}
	*entry = htole64(1);
	slice_begin(OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	slice_end(OHCA_CMD_BAD_PARAM);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used);
}

static void test_modify_region(void **state)
{
	struct rig_mr *mr;
	struct ohca_create_mkey_in attr = region(&mr);
	struct ohca_modify_mkey_in in = {
		.attr = attr, .key = htole32(mr->key), .attr_mask = htole32(OHCA_MKEY_ATTR_XLT)};
	uint64_t used = slice_quota(QUOTA_PAGES)->used;

	(void)state;
	in.attr.pdn = 0;
	in.attr.access = 0;
	slice_begin(OHCA_CMD_MODIFY_MKEY, &in, sizeof(in));
	slice_end(0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used);
	slice_begin(OHCA_CMD_MODIFY_MKEY, &in, sizeof(in));
	slice_reset_in_the_middle();
}

static void test_destroy_region_in_reset(void **state)
{
	struct rig_mr *mr;

	(void)state;
	region(&mr);
	slice_begin_destroy(OHCA_CMD_DESTROY_MKEY, mr->key);
	slice_reset_in_the_middle();
	/* A reset alone is in slices, too. */
	region(&mr);
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	slice_round();
	assert_in_range(slice_quota(QUOTA_PAGES)->used, 1, REGION / PAGE);
	while (inproc_hca(BUSY)->to_reset)
		slice_round();
	rig_renew_hca(slice_rig, BUSY);
}

/* Few of the objects are freed at once. */
static void test_reset_of_many_objects(void **state)
{
	const struct rig_qp_opts opts = {.log_size = 1, .max_sge = 1};
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(&slice_rig->hca[BUSY], &opts, &qp);
	unsigned int i, had;

	(void)state;
	for (i = 0; i < MANY; i++)
		drv_create(slice_drv(), OHCA_CMD_CREATE_QP, &in, sizeof(in));
	slice_round();
	had = inproc_hca(BUSY)->qps.count;
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	assert_in_range(inproc_hca(BUSY)->qps.count, had - 2 * DROPPED_AT_ONCE, had);
	for (i = 0; inproc_hca(BUSY)->to_reset; i++)
		slice_round();
	assert_true(i >= SLICE_ROUNDS);
	rig_renew_hca(slice_rig, BUSY);
}

/* All of the device memory is given back. */
static void test_free_dm(void **state)
{
	const struct ohca_alloc_dm_in in = {.length = htole64(DM_SIZE)};
	struct ohca_alloc_dm_out out;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(drv_cmd(slice_drv(), OHCA_CMD_ALLOC_DM, &in, sizeof(in), &out,
					 sizeof(out)),
				 0);
		memset(inproc_hca(BUSY)->dm->mem, 1, DM_SIZE);
		if (i < 2) {
			slice_begin_destroy(OHCA_CMD_FREE_DM, le32toh(out.id));
			slice_end(0);
		}
	}
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	for (i = 0; inproc_hca(BUSY)->to_reset; i++)
		slice_round();
	assert_true(i >= SLICE_ROUNDS);
	rig_renew_hca(slice_rig, BUSY);
	for (i = 0; i < DM_SIZE; i += 4096)
		assert_int_equal(inproc_hca(BUSY)->dm->mem[i], 0);
}

static struct rig_mr *odp_region(void)
{
	struct rig_mr *mr =
		rig_mr_new(&slice_rig->hca[BUSY], PAIR_IOVA, ODP_REGION, RIG_ALL_ACCESS, 64);

	rig_odp(mr, RIG_ALL_ACCESS);
	assert_int_equal(rig_odp_map(mr, 0, mr->num_pages, true), 0);
	return mr;
}

static struct ohca_modify_pages_in modify_pages(const struct rig_mr *mr, uint8_t op)
{
	return (struct ohca_modify_pages_in){
		.key = htole32(mr->key), .op = op, .num = htole64(mr->num_pages)};
}

#define MODIFY_LEN offsetof(struct ohca_modify_pages_in, page)

static void test_unmap_pages(void **state)
{
	struct rig_mr *mr = odp_region();
	struct ohca_modify_pages_in in = modify_pages(mr, OHCA_PAGES_UNMAP);
	uint64_t used = slice_quota(QUOTA_PAGES)->used;

	(void)state;
	slice_begin(OHCA_CMD_MODIFY_PAGES, &in, MODIFY_LEN);
	slice_end(0);
	assert_true(slice_quota(QUOTA_PAGES)->used <= used - mr->num_pages);
	assert_int_equal(rig_odp_map(mr, 0, mr->num_pages, true), 0);
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, used);
	slice_begin_destroy(OHCA_CMD_DESTROY_MKEY, mr->key);
	slice_end(0);
	mr = odp_region();
	in.key = htole32(mr->key);
	slice_begin(OHCA_CMD_MODIFY_PAGES, &in, MODIFY_LEN);
	slice_reset_in_the_middle();
	mr = odp_region();
	slice_begin_destroy(OHCA_CMD_DESTROY_MKEY, mr->key);
	slice_reset_in_the_middle();
}

/* QPs that wait for a page of one region */
static struct rig_mr *waiting_qps(void)
{
	const struct rig_qp_opts opts = {.log_size = 1, .max_sge = 1, .cq_log_size = 2};
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct rig_mr *mr = rig_mr_new(hca, PAIR_IOVA, PAGE, RIG_ALL_ACCESS, 0);
	struct rig_qp *peer = rig_qp_new(hca, &opts);
	struct ohca_sge sge;
	unsigned int i;

	rig_odp(mr, RIG_ALL_ACCESS);
	sge = rig_sge(mr, PAIR_IOVA, 8);
	for (i = 0; i < MANY / 2; i++) {
		struct rig_wr wr = rig_write(&sge, PAIR_IOVA, mr->key);
		struct rig_qp *qp = rig_qp_new(hca, &opts);

		rig_address(qp, peer);
		assert_to_rts(qp);
		rig_post_send(qp, &wr);
		inproc_settle();
	}
	return mr;
}

/* Accesses that wait for a page are tried again in slices. */
static void test_answer_waiting(void **state)
{
	struct rig_mr *mr = waiting_qps();
	struct ohca_modify_pages_in in = modify_pages(mr, OHCA_PAGES_FAIL);

	(void)state;
	slice_begin(OHCA_CMD_MODIFY_PAGES, &in, MODIFY_LEN);
	slice_end(0);
	rig_renew_hca(slice_rig, BUSY);
	mr = waiting_qps();
	slice_begin_destroy(OHCA_CMD_DESTROY_MKEY, mr->key);
	slice_end(0);
	rig_renew_hca(slice_rig, BUSY);
	mr = waiting_qps();
	slice_begin_destroy(OHCA_CMD_DESTROY_MKEY, mr->key);
	slice_reset_in_the_middle();
}

/* A QP that many windows of type 2B are bound to */
static struct rig_qp *qp_with_windows(uint32_t *last)
{
	const struct rig_qp_opts opts = {.ext = true};
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct rig_qp *qp = rig_qp_new(hca, &opts), *peer = rig_qp_new(hca, &opts);
	struct rig_mr *mr =
		rig_mr_new(hca, PAIR_IOVA, PAGE, RIG_ALL_ACCESS | OHCA_ACCESS_MW_BIND, 0);
	unsigned int i;

	rig_connect(qp, peer);
	for (i = 0; i < MANY; i++) {
		uint32_t key = memop_key(hca, OHCA_MKEY_MW_2, 0);
		const struct memop_bind bind = {.rkey = key,
						.new_rkey = memop_next_key(key),
						.lkey = mr->key,
						.addr = PAIR_IOVA,
						.length = 8,
						.access = OHCA_ACCESS_REMOTE_READ};

		assert_int_equal(memop_bind(qp, &bind).status, 0);
		*last = bind.new_rkey;
	}
	return qp;
}

static void test_unbind_windows(void **state)
{
	struct ohca_query_mkey_out out;
	struct ohca_handle key = {0};
	uint32_t last;
	struct rig_qp *qp = qp_with_windows(&last);
	struct ohca_modify_qp_in in = {.qpn = htole32(qp->qpn),
				       .attr_mask = htole32(OHCA_QP_STATE),
				       .attr = {.state = OHCA_QPS_RESET}};

	(void)state;
	slice_begin(OHCA_CMD_MODIFY_QP, &in, sizeof(in));
	slice_end(0);
	key.id = htole32(last);
	assert_int_equal(
		drv_cmd(slice_drv(), OHCA_CMD_QUERY_MKEY, &key, sizeof(key), &out, sizeof(out)), 0);
	assert_false(out.valid);
	rig_renew_hca(slice_rig, BUSY);
	qp = qp_with_windows(&last);
	slice_begin_destroy(OHCA_CMD_DESTROY_QP, qp->qpn);
	slice_end(0);
	rig_renew_hca(slice_rig, BUSY);
	qp = qp_with_windows(&last);
	slice_begin_destroy(OHCA_CMD_DESTROY_QP, qp->qpn);
	slice_reset_in_the_middle();
}

static uint32_t qp_in_groups(void)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .ext = true};
	uint32_t qpn = rig_qp_new(&slice_rig->hca[BUSY], &opts)->qpn, i;

	for (i = 0; i < MANY; i++) {
		struct ohca_mcast_in in = {.gid = {0xff, 0x12}, .qpn = htole32(qpn)};

		memcpy(in.gid + 12, &i, sizeof(i));
		assert_int_equal(
			drv_cmd(slice_drv(), OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0), 0);
	}
	return qpn;
}

static void test_leave_groups(void **state)
{
	(void)state;
	slice_begin_destroy(OHCA_CMD_DESTROY_QP, qp_in_groups());
	slice_end(0);
	assert_int_equal(slice_quota(QUOTA_GROUPS)->used, 0);
	assert_int_equal(slice_quota(QUOTA_MEMBERS)->used, 0);
	slice_begin_destroy(OHCA_CMD_DESTROY_QP, qp_in_groups());
	slice_reset_in_the_middle();
}

static void test_create_and_resize_cq(void **state)
{
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct drv_cq cq, bigger;
	struct ohca_create_cq_in in = drv_cq_in(slice_drv(), LOG_CQES, hca->comp->eqn, &cq);
	struct ohca_resize_cq_in resize;
	struct slice_command command;
	uint64_t used;

	(void)state;
	command = slice_begin(OHCA_CMD_CREATE_CQ, &in, sizeof(in));
	slice_end(0);
	cq.cqn = slice_id_of(&command);
	used = slice_quota(QUOTA_PAGES)->used;
	resize = drv_cq_resize_in(&cq, LOG_CQES + 1, &bigger);
	slice_begin(OHCA_CMD_RESIZE_CQ, &resize, sizeof(resize));
	slice_end(0);
	assert_true(slice_quota(QUOTA_PAGES)->used > used);
	resize = drv_cq_resize_in(&bigger, LOG_CQES, &cq);
	slice_begin(OHCA_CMD_RESIZE_CQ, &resize, sizeof(resize));
	slice_reset_in_the_middle();
	in = drv_cq_in(slice_drv(), LOG_CQES, hca->comp->eqn, &cq);
	slice_begin(OHCA_CMD_CREATE_CQ, &in, sizeof(in));
	slice_reset_in_the_middle();
}

/* CQEs that come while a CQ is resized are in the new ring, each once and in order. */
static void test_resize_with_completions(void **state)
{
	const struct rig_qp_opts opts = {.cq_log_size = 10};
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct rig_qp *a = rig_qp_new(hca, &opts), *b = rig_qp_new(hca, NULL);
	struct rig_mr *mr = rig_mr_new(hca, PAIR_IOVA, PAGE, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, 8);
	struct rig_wr wr = rig_write(&sge, PAIR_IOVA + 64, mr->key);
	struct ohca_resize_cq_in resize;
	struct drv_cq bigger;
	struct ohca_cqe cqe;
	unsigned int num, i;

	(void)state;
	rig_connect(a, b);
	resize = drv_cq_resize_in(a->scq, LOG_CQES, &bigger);
	slice_round();
	slice_begin(OHCA_CMD_RESIZE_CQ, &resize, sizeof(resize));
	for (num = 0; !slice_is_done(); num++) {
		wr.wr_id = num;
		if (num < 500)
			rig_post_send(a, &wr);
		slice_round();
	}
	assert_int_equal(drv_wait(slice_drv()).status, 0);
	assert_true(num >= SLICE_ROUNDS);
	inproc_settle();
	for (i = 0; i < num && i < 500; i++) {
		assert_true(drv_cq_poll(&bigger, &cqe));
		assert_int_equal(cqe.status, 0);
		assert_int_equal(le64toh(cqe.wr_id), i);
	}
	assert_false(drv_cq_poll(&bigger, &cqe));
}

/* Events that wait: the asynchronous EQ is full. */
static void fill_async_eq(void)
{
	struct hca *hca = inproc_hca(BUSY);
	uint32_t i, pi = hca->async_eq->pi;

	for (i = 0; i < EVENTS; i++)
		eq_async(hca, OHCA_EVENT_QP_FATAL, i);
	assert_int_equal(hca->async_eq->pending.count, EVENTS - (hca->async_eq->pi - pi));
}

static void test_destroy_eq(void **state)
{
	uint32_t eqn = slice_rig->hca[BUSY].async->eqn;

	(void)state;
	fill_async_eq();
	slice_begin_destroy(OHCA_CMD_DESTROY_EQ, eqn);
	slice_end(0);
	rig_renew_hca(slice_rig, BUSY);
	fill_async_eq();
	slice_begin_destroy(OHCA_CMD_DESTROY_EQ, slice_rig->hca[BUSY].async->eqn);
	slice_reset_in_the_middle();
	fill_async_eq();
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	slice_round();
	assert_true(inproc_hca(BUSY)->to_reset);
	while (inproc_hca(BUSY)->to_reset)
		slice_round();
	rig_renew_hca(slice_rig, BUSY);
}

/* Events that have waited come some in each round, in their order, when there is room. */
static void test_events_that_waited(void **state)
{
	struct drv_eq *async = slice_rig->hca[BUSY].async;
	struct ohca_eqe eqe;
	unsigned int num, steps;
	uint32_t next = 0;

	(void)state;
	while (drv_eq_poll(async, &eqe))
		drv_eq_ack(async);
	slice_round();
	fill_async_eq();
	for (steps = 0; next < EVENTS; steps++) {
		for (num = 0; drv_eq_poll(async, &eqe); num++) {
			assert_int_equal(eqe.type, OHCA_EVENT_QP_FATAL);
			assert_int_equal(le32toh(eqe.id), next++);
		}
		assert_true(num <= 2 * EVENTS_AT_ONCE || !steps);
		drv_eq_ack(async);
		slice_round();
	}
	assert_true(steps >= SLICE_ROUNDS);
}

#define SLICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, slice_open, slice_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLICE_TEST(test_create_and_destroy_region),
		SLICE_TEST(test_region_refused),
		SLICE_TEST(test_modify_region),
		SLICE_TEST(test_destroy_region_in_reset),
		SLICE_TEST(test_reset_of_many_objects),
		SLICE_TEST(test_free_dm),
		SLICE_TEST(test_unmap_pages),
		SLICE_TEST(test_answer_waiting),
		SLICE_TEST(test_unbind_windows),
		SLICE_TEST(test_leave_groups),
		SLICE_TEST(test_create_and_resize_cq),
		SLICE_TEST(test_resize_with_completions),
		SLICE_TEST(test_destroy_eq),
		SLICE_TEST(test_events_that_waited),
	};

	drv_mem_size = 256ULL << 20; /* for the page lists of regions of 1 GiB */
	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
