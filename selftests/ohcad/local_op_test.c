// SPDX-License-Identifier: GPL-2.0
/* Fast registration and invalidation: states of a region, order in the send queue, errors. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "memop.h"

#define IOVA 0x20000000ULL
#define LEN (1ULL << 20)
#define PAGES (LEN / 4096)

static const struct rig_qp_opts priv = {.flags = OHCA_QP_F_PRIVILEGED, .ext = true};

/**
 * struct scene - a pair, and on the second HCA a region for fast registration and the pages for it
 * @mr: a region of the same pages, to look at them
 */
struct scene {
	struct pair p;
	struct rig_mr *mr;
	uint32_t key;
};

static struct scene scene_new(void)
{
	struct scene s = {.p = pair_open(server, &priv)};

	s.mr = rig_mr_new(s.p.b->hca, IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	s.key = memop_key(s.p.b->hca, OHCA_MKEY_FAST_REG, PAGES);
	return s;
}

static void reg(struct scene *s, uint64_t iova, uint8_t access)
{
	s->key = memop_next_key(s->key);
	assert_int_equal(memop_reg(s->p.b, s->mr, iova, s->key, access).status, 0);
}

static void assert_denied(struct scene *s, uint8_t op, uint64_t va, uint32_t key)
{
	uint64_t value = 0;

	assert_int_equal(memop_rdma(&s->p, op, &value, va, key), OHCA_WC_REM_ACCESS_ERR);
	memop_reconnect(&s->p);
}

/* A registered region works like any other, under the new key only. */
static void test_register(void **state)
{
	struct scene s = scene_new();
	uint64_t value = 0x600d, got, va = 0x1000 + LEN - 8;
	uint32_t first = s.key;

	(void)state;
	assert_denied(&s, OHCA_OP_RDMA_READ, IOVA, s.key);
	reg(&s, 0x1000, RIG_ALL_ACCESS);
	assert_int_equal(memop_rdma(&s.p, OHCA_OP_RDMA_WRITE, &value, va, s.key), 0);
	rig_mr_get(s.mr, IOVA + LEN - 8, &got, 8);
	assert_int_equal(got, value);
	assert_denied(&s, OHCA_OP_RDMA_READ, va, first);
	assert_denied(&s, OHCA_OP_RDMA_READ, va + 1, s.key);
	assert_int_equal(memop_rdma(&s.p, OHCA_OP_RDMA_READ, &got, va, s.key), 0);

	/*
	 * An invalidated region can't be accessed; with other pages and rights it is another
	 * region.
	 */
	assert_int_equal(memop_inv(s.p.b, s.key).status, 0);
	assert_denied(&s, OHCA_OP_RDMA_READ, va, s.key);
	assert_int_equal(memop_inv(s.p.b, s.key).status, 0);
	s.mr = rig_mr_new(s.p.b->hca, IOVA, 100, 0, 0);
	reg(&s, -100ULL, OHCA_ACCESS_REMOTE_READ);
	rig_mr_set(s.mr, IOVA, &value, 8);
	assert_int_equal(memop_rdma(&s.p, OHCA_OP_RDMA_READ, &got, -100ULL, s.key), 0);
	assert_int_equal(got, value);
	assert_denied(&s, OHCA_OP_RDMA_WRITE, -100ULL, s.key);
	assert_denied(&s, OHCA_OP_RDMA_READ, -92ULL + 85, s.key);
	assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, first), 0);
	rig_close(s.p.rig);
}

/* The device has copied the table of pages. */
static void test_table_copied(void **state)
{
	struct scene s = scene_new();
	uint64_t value = 1, got;

	(void)state;
	reg(&s, 0, RIG_ALL_ACCESS);
	memset(drv_ptr(s.p.b->hca->drv, le64toh(s.mr->xlt.addr)), 0xff, 4096);
	assert_int_equal(memop_rdma(&s.p, OHCA_OP_RDMA_WRITE, &value, LEN - 8, s.key), 0);
	rig_mr_get(s.mr, IOVA + LEN - 8, &got, 8);
	assert_int_equal(got, 1);
	rig_close(s.p.rig);
}

/* A send with invalidate invalidates the region. */
static void test_remote_inv(void **state)
{
	struct scene s = scene_new();
	struct ohca_sge sge = rig_sge(s.p.ma, PAIR_IOVA, 200000);
	struct ohca_sge into = rig_sge(s.p.mb, PAIR_IOVA, 200000);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND_INV, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct ohca_cqe cqe;

	(void)state;
	reg(&s, 0, RIG_ALL_ACCESS);
	wr.inv_key = s.key;
	rig_mr_fill(s.p.ma, PAIR_IOVA, 200000, 1);
	rig_post_recv(s.p.b, 0, &into, 1);
	rig_post_send(s.p.a, &wr);
	cqe = rig_wait_recv(s.p.b);
	assert_int_equal(cqe.status, 0);
	assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_INV);
	assert_int_equal(le32toh(cqe.inv_key), s.key);
	assert_true(rig_mr_is(s.p.mb, PAIR_IOVA, 200000, 1));
	assert_int_equal(rig_wait_send(s.p.a).status, 0);
	assert_denied(&s, OHCA_OP_RDMA_READ, 0, s.key);

	/* The peer can't invalidate a region that it has no rights to. */
	reg(&s, 0, OHCA_ACCESS_LOCAL_WRITE);
	wr.inv_key = s.key;
	rig_post_recv(s.p.b, 0, &into, 1);
	rig_post_send(s.p.a, &wr);
	cqe = rig_wait_recv(s.p.b);
	assert_int_equal(cqe.status, OHCA_WC_LOC_ACCESS_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_ACCESS);
	assert_int_equal(rig_wait_send(s.p.a).status, OHCA_WC_RETRY_EXC_ERR);
	rig_close(s.p.rig);
}

/*
 * Register, read into the region, invalidate, register again: posted at once.  Each starts when the
 * operations that it depends on are complete.
 */
static void test_order(void **state)
{
	struct scene s = scene_new();
	struct ohca_sq_wqe fields[2];
	struct ohca_wqe_ext ext[2];
	struct ohca_sge sge[2];
	struct rig_wr wr[5];
	unsigned int round, i;

	(void)state;
	for (round = 0; round < 20; round++) {
		rig_mr_fill(s.p.ma, PAIR_IOVA, LEN, round);
		for (i = 0; i < 2; i++) {
			uint32_t key = memop_next_key(s.key);

			wr[3 * i] = memop_reg_wr(s.mr, i * LEN, key, OHCA_ACCESS_LOCAL_WRITE,
						 &fields[i], &ext[i]);
			sge[i] = rig_sge(s.mr, i * LEN, LEN);
			sge[i].lkey = htole32(key);
			wr[3 * i + 1] = (struct rig_wr){.opcode = i ? OHCA_OP_RDMA_WRITE
								    : OHCA_OP_RDMA_READ,
							.flags = OHCA_WQE_SIGNALED,
							.num_sge = 1,
							.sge = &sge[i],
							.raddr = PAIR_IOVA + i * (LEN + 4096),
							.rkey = s.p.ma->key};
			s.key = key;
			if (!i)
				wr[2] = memop_inv_wr(key);
		}
		for (i = 0; i < 5; i++) {
			wr[i].wr_id = i;
			rig_put_send(s.p.b, &wr[i]);
		}
		rig_ring(s.p.b);
		for (i = 0; i < 5; i++)
			pair_assert_send_done(s.p.b, i, wr[i].opcode);
		assert_true(rig_mr_is(s.p.ma, PAIR_IOVA + LEN + 4096, LEN, round));
		assert_int_equal(memop_inv(s.p.b, s.key).status, 0);
	}
	rig_close(s.p.rig);
}

/* A failure is reported after the earlier operations, and flushes the later ones. */
static void test_failure_in_order(void **state)
{
	struct scene s = scene_new();
	struct ohca_sge sge = rig_sge(s.p.mb, PAIR_IOVA, LEN);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = s.p.ma->key};
	struct rig_wr bad = memop_inv_wr(0x12345);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	bad.flags = 0;
	bad.wr_id = 7;
	rig_mr_fill(s.p.mb, PAIR_IOVA, LEN, 3);
	for (i = 0; i < 5; i++)
		rig_put_send(s.p.b, &wr);
	rig_put_send(s.p.b, &bad);
	rig_put_send(s.p.b, &wr);
	rig_ring(s.p.b);
	cqe = rig_wait_send(s.p.b);
	memop_assert_refused(cqe, OHCA_VENDOR_ERR_KEY);
	assert_int_equal(le64toh(cqe.wr_id), 7);
	assert_int_equal(le32toh(cqe.wqe_idx), 5);
	assert_true(rig_mr_is(s.p.ma, PAIR_IOVA, LEN, 3));
	assert_int_equal(rig_wait_send(s.p.b).status, OHCA_WC_WR_FLUSH_ERR);
	assert_int_equal(rig_query(s.p.b).state, OHCA_QPS_ERR);
	rig_close(s.p.rig);
}

/* A valid registration with one invalid field. */
static void test_bad_registrations(void **state)
{
	struct scene s = scene_new();
	struct rig_hca *hca = s.p.b->hca;
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr;
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		static const uint32_t errors[] = {
			OHCA_VENDOR_ERR_KEY,	OHCA_VENDOR_ERR_KEY_STATE,
			OHCA_VENDOR_ERR_ACCESS, OHCA_VENDOR_ERR_ACCESS,
			OHCA_VENDOR_ERR_BOUNDS, OHCA_VENDOR_ERR_BOUNDS,
			OHCA_VENDOR_ERR_BOUNDS, OHCA_VENDOR_ERR_DMA,
			OHCA_VENDOR_ERR_BOUNDS, OHCA_VENDOR_ERR_KEY_STATE,
		};
		struct rig_mr *larger;

		wr = memop_reg_wr(s.mr, 0, s.key, RIG_ALL_ACCESS, &fields, &ext);
		switch (i) {
		case 0:
			fields.reg.key = htole32(s.key ^ 0x100);
			break;
		case 1:
			fields.reg.key = htole32(s.p.mb->key);
			break;
		case 2:
			fields.reg.access = OHCA_ACCESS_REMOTE_WRITE;
			break;
		case 3:
			fields.reg.access |= OHCA_ACCESS_ZERO_BASED;
			break;
		case 4:
			fields.reg.length = 0;
			break;
		case 5:
			fields.reg.iova = htole64(-1ULL);
			break;
		case 6:
			ext.xlt.page_shift = 13;
			break;
		case 7:
			ext.xlt.addr = htole64(DRV_NOWHERE);
			break;
		case 8:
			larger = rig_mr_new(hca, IOVA, LEN + 4096, 0, 0);
			wr = memop_reg_wr(larger, 0, s.key, 0, &fields, &ext);
			break;
		case 9:
			assert_int_equal(memop_reg(s.p.b, s.mr, 0, s.key, RIG_ALL_ACCESS).status,
					 0);
			break;
		}
		rig_post_send(s.p.b, &wr);
		memop_assert_refused(rig_wait_send(s.p.b), errors[i]);
		memop_reconnect(&s.p);
		if (i < 9)
			assert_denied(&s, OHCA_OP_RDMA_READ, 0, s.key);
	}
	rig_close(s.p.rig);
}

static void assert_not_allowed(struct rig_qp *qp, const struct rig_wr *wr, uint8_t status,
			       uint32_t vendor_err)
{
	struct ohca_cqe cqe;

	rig_post_send(qp, wr);
	cqe = rig_wait_send(qp);
	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
	assert_int_equal(cqe.opcode, wr->opcode);
}

/* QPs and regions that do not allow it, and invalid requests. */
static void test_not_allowed(void **state)
{
	struct scene s = scene_new();
	struct rig_qp_opts opts = priv;
	struct ohca_sge sge = rig_sge(s.mr, IOVA, 8);
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr = memop_reg_wr(s.mr, 0, s.key, 0, &fields, &ext);
	struct pair q = s.p;

	(void)state;
	opts.flags = 0;
	q.a = rig_qp_new(s.p.a->hca, &opts);
	q.b = rig_qp_new(s.p.b->hca, &opts);
	rig_connect(q.a, q.b);
	assert_not_allowed(q.b, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	wr.ext = NULL;
	assert_not_allowed(s.p.b, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	memop_reconnect(&s.p);
	wr.ext = &ext;
	wr.num_sge = 1;
	wr.sge = &sge;
	assert_not_allowed(s.p.b, &wr, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	memop_reconnect(&s.p);
	wr = memop_inv_wr(s.key);
	wr.ext = &ext;
	assert_not_allowed(s.p.b, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	memop_reconnect(&s.p);

	/* An entry without room for the extension. */
	opts = priv;
	opts.ext = false;
	opts.max_sge = 1;
	q.a = rig_qp_new(s.p.a->hca, &opts);
	q.b = rig_qp_new(s.p.b->hca, &opts);
	rig_connect(q.a, q.b);
	assert_int_equal(q.b->sq_log_stride, 6);
	wr = memop_reg_wr(s.mr, 0, s.key, 0, &fields, &ext);
	assert_not_allowed(q.b, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
	rig_close(s.p.rig);
}

/* Keys that can't be invalidated. */
static void test_bad_invalidations(void **state)
{
	struct scene s = scene_new();
	struct ohca_create_mkey_in in = {.type = OHCA_MKEY_FAST_REG, .max_pages = htole32(1)};
	struct drv *drv = s.p.b->hca->drv;
	struct memop_bind bind = {.addr = IOVA, .length = 1, .access = OHCA_ACCESS_REMOTE_READ};

	(void)state;
	memop_assert_refused(memop_inv(s.p.b, s.p.mb->key), OHCA_VENDOR_ERR_KEY_STATE);
	memop_reconnect(&s.p);
	memop_assert_refused(memop_inv(s.p.b, s.key ^ 1), OHCA_VENDOR_ERR_KEY);
	memop_reconnect(&s.p);
	in.pdn = htole32(drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0));
	memop_assert_refused(memop_inv(s.p.b,
				       drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in))),
			     OHCA_VENDOR_ERR_PD);
	memop_reconnect(&s.p);

	/* With a window bound to it. */
	reg(&s, IOVA, OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_MW_BIND);
	bind.rkey = memop_key(s.p.b->hca, OHCA_MKEY_MW_1, 0);
	bind.new_rkey = bind.rkey;
	bind.lkey = s.key;
	assert_int_equal(memop_bind(s.p.b, &bind).status, 0);
	memop_assert_refused(memop_inv(s.p.b, s.key), OHCA_VENDOR_ERR_KEY_STATE);
	memop_reconnect(&s.p);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, s.key), OHCA_CMD_BUSY);
	bind.length = 0;
	assert_int_equal(memop_bind(s.p.b, &bind).status, 0);
	assert_int_equal(memop_inv(s.p.b, s.key).status, 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, s.key), OHCA_CMD_OK);
	rig_close(s.p.rig);
}

/* In SQD none is started; an unsignaled operation is completed with the next completion. */
static void test_quiet(void **state)
{
	struct scene s = scene_new();
	struct rig_wr wr = memop_inv_wr(s.key);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	assert_int_equal(rig_modify(s.p.b, OHCA_QPS_SQD, OHCA_QP_STATE), 0);
	wr.flags = 0;
	for (i = 0; i < 200; i++) {
		if (i == 63)
			assert_int_equal(rig_modify(s.p.b, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
		wr.wr_id = i;
		wr.flags = i % 8 == 7 ? OHCA_WQE_SIGNALED : 0;
		rig_post_send(s.p.b, &wr);
		if (i < 63 || !wr.flags)
			continue;
		do
			cqe = rig_wait_send(s.p.b);
		while (le32toh(cqe.wqe_idx) != i);
		assert_int_equal(cqe.status, 0);
		assert_int_equal(le64toh(cqe.wr_id), i);
	}
	rig_close(s.p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register),
		cmocka_unit_test(test_table_copied),
		cmocka_unit_test(test_remote_inv),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_failure_in_order),
		cmocka_unit_test(test_bad_registrations),
		cmocka_unit_test(test_not_allowed),
		cmocka_unit_test(test_bad_invalidations),
		cmocka_unit_test(test_quiet),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
