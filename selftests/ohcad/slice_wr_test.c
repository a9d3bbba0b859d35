// SPDX-License-Identifier: GPL-2.0
/* Long work requests of one HCA are executed in parts: in each round a message of another HCA is sent and received. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "memop.h"
#include "rig_assert.h"
#include "slice_bed.h"

#define PAGE 4096ULL
#define PAGES 65536U
#define REGION (PAGES * PAGE)
/* What a part of a registration reads: a table; inproc_step() has two rounds */
#define TABLE 512U
#define IN_A_STEP (2 * TABLE)
#define IOVA 0x10000000ULL
#define REGION_IOVA 0x7f0000000000ULL

static const struct rig_qp_opts priv = {.flags = OHCA_QP_F_PRIVILEGED, .ext = true};

/* Two connected QPs of the busy HCA, a region whose pages are to be registered, and a key */
static struct pair p;
static uint32_t key;

static void open_pair(void)
{
	struct rig_hca *hca = &slice_rig->hca[BUSY];

	p = (struct pair){
		.rig = slice_rig, .a = rig_qp_new(hca, &priv), .b = rig_qp_new(hca, &priv)};
	p.ma = rig_mr_new(hca, REGION_IOVA, REGION, RIG_ALL_ACCESS, 64);
	p.mb = p.ma;
	rig_connect(p.a, p.b);
	key = memop_key(hca, OHCA_MKEY_FAST_REG, PAGES);
}

static void post_registration(struct rig_qp *qp, const struct rig_mr *mr)
{
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr = memop_reg_wr(mr, IOVA, key, RIG_ALL_ACCESS, &fields, &ext);

	rig_post_send(qp, &wr);
}

static struct mkey *region(void)
{
	return mkey_find_name(inproc_hca(BUSY), key);
}

/* A step, in each round of which no more than one table of pages is read.  Returns whether the region is registered. */
static bool round_of_registration(void)
{
	uint32_t had = region()->xlt.npages;

	slice_round();
	assert_true(region()->xlt.npages <= had + IN_A_STEP);
	return region()->valid;
}

static void assert_status(struct rig_qp *qp, int status, uint32_t vendor_err)
{
	struct ohca_cqe cqe;

	assert_true(drv_cq_poll(qp->scq, &cqe));
	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
}

/* What follows waits, and the region has all its pages. */
static void test_register(void **state)
{
	struct ohca_sge sge;
	struct rig_wr wr;
	struct ohca_cqe cqe;
	unsigned int rounds;

	(void)state;
	open_pair();
	sge = rig_sge(p.ma, REGION_IOVA, 8);
	wr = rig_write(&sge, IOVA + REGION - PAGE, key);
	slice_round();
	post_registration(p.a, p.ma);
	rig_post_send(p.a, &wr);
	for (rounds = 1; !round_of_registration(); rounds++)
		assert_false(drv_cq_poll(p.a->scq, &cqe));
	assert_true(rounds >= PAGES / IN_A_STEP);
	assert_int_equal(region()->xlt.npages, PAGES);
	slice_round();
	pair_assert_send_done(p.a, 0, OHCA_OP_REG_MR);
	pair_assert_send_done(p.a, 77, OHCA_OP_RDMA_WRITE);
}

/* A registration that has begun, and read some of its pages */
static void begin(struct rig_qp *qp, const struct rig_mr *mr)
{
	unsigned int i;

	slice_round();
	post_registration(qp, mr);
	for (i = 0; i < 4; i++)
		assert_false(round_of_registration());
	assert_in_range(region()->xlt.npages, 1, 4 * IN_A_STEP);
}

/* Of two registrations at a time one succeeds. */
static void test_two_at_a_time(void **state)
{
	(void)state;
	open_pair();
	begin(p.a, p.ma);
	post_registration(p.b, p.ma);
	while (!region()->valid)
		slice_round();
	slice_round();
	assert_status(p.a, OHCA_WC_MW_BIND_ERR, OHCA_VENDOR_ERR_KEY_STATE);
	assert_status(p.b, OHCA_WC_SUCCESS, 0);
	assert_int_equal(region()->xlt.npages, PAGES);
}

/* A QP that is reset in the middle begins again, also with other pages. */
static void test_reset_of_qp(void **state)
{
	struct rig_mr *other;

	(void)state;
	open_pair();
	other = rig_mr_new(&slice_rig->hca[BUSY], REGION_IOVA, REGION, RIG_ALL_ACCESS, 64);
	begin(p.a, p.ma);
	memop_reconnect(&p);
	post_registration(p.a, other);
	while (!region()->valid)
		slice_round();
	slice_round();
	assert_status(p.a, OHCA_WC_SUCCESS, 0);
	assert_int_equal(region()->xlt.npages, PAGES);
	assert_int_equal(region()->xlt.pages[0], other->pages[0]);
	assert_int_equal(region()->xlt.pages[PAGES - 1], other->pages[PAGES - 1]);
}

/* The QP goes to ERR in the middle: the request is flushed, and the region stays invalid. */
static void test_error_of_qp(void **state)
{
	struct ohca_cqe cqe;

	(void)state;
	open_pair();
	begin(p.a, p.ma);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	inproc_settle();
	assert_status(p.a, OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH);
	assert_false(region()->valid);
	memop_reconnect(&p);
	cqe = memop_reg(p.b, p.ma, IOVA, key, RIG_ALL_ACCESS);
	assert_int_equal(cqe.status, 0);
}

/* It stands still in SQD, and goes on in RTS. */
static void test_drained(void **state)
{
	uint32_t had;
	unsigned int i;

	(void)state;
	open_pair();
	begin(p.a, p.ma);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE), 0);
	had = region()->xlt.npages;
	for (i = 0; i < 4; i++)
		assert_false(round_of_registration());
	assert_int_equal(region()->xlt.npages, had);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	while (!region()->valid)
		slice_round();
	slice_round();
	assert_status(p.a, OHCA_WC_SUCCESS, 0);
}

/* The region is destroyed in the middle, or the HCA is reset. */
static void test_end_of_region(void **state)
{
	struct ohca_handle id = {0};

	(void)state;
	open_pair();
	begin(p.a, p.ma);
	id.id = htole32(key);
	assert_int_equal(drv_cmd(slice_drv(), OHCA_CMD_DESTROY_MKEY, &id, sizeof(id), NULL, 0), 0);
	inproc_settle();
	assert_status(p.a, OHCA_WC_MW_BIND_ERR, OHCA_VENDOR_ERR_KEY);
	open_pair();
	begin(p.a, p.ma);
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	while (inproc_hca(BUSY)->to_reset)
		slice_round();
	assert_int_equal(slice_quota(QUOTA_PAGES)->used, 0);
	rig_renew_hca(slice_rig, BUSY);
}

/* The last page is invalid: the request fails, and no page is there. */
static void test_bad_page(void **state)
{
	uint64_t addr;
	unsigned int level;
	__le64 *entry = NULL;

	(void)state;
	open_pair();
	addr = le64toh(p.ma->xlt.addr);
	for (level = p.ma->xlt.levels; level; level--) {
		entry = (__le64 *)drv_ptr(slice_drv(), addr) +
			((PAGES - 1) >> (9 * (level - 1)) & 511);
		addr = le64toh(*entry);
	}
	*entry = htole64(1);
	begin(p.a, p.ma);
	while (region()->xlt.npages)
		slice_round();
	slice_round();
	assert_status(p.a, OHCA_WC_MW_BIND_ERR, OHCA_VENDOR_ERR_BOUNDS);
	assert_int_equal(region()->xlt.npages, 0);
}

#define SLICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, slice_open, slice_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLICE_TEST(test_register),    SLICE_TEST(test_two_at_a_time),
		SLICE_TEST(test_reset_of_qp), SLICE_TEST(test_error_of_qp),
		SLICE_TEST(test_drained),     SLICE_TEST(test_end_of_region),
		SLICE_TEST(test_bad_page),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
