// SPDX-License-Identifier: GPL-2.0
/* Memory windows: the access that they grant, binding and invalidation. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "memop.h"

#define IOVA 0x10000000ULL
#define LEN (64ULL << 10)
#define RW (OHCA_ACCESS_REMOTE_READ | OHCA_ACCESS_REMOTE_WRITE)
#define MAY_BIND (OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_MW_BIND)

/**
 * struct scene - two pairs of QPs between the same HCAs, and a region on the second
 */
struct scene {
	struct pair p;
	struct rig_qp *a2, *b2;
	struct rig_mr *mr;
};

static struct scene scene_new(void)
{
	struct scene s = {.p = pair_open(server, NULL)};

	s.a2 = rig_qp_new(s.p.a->hca, NULL);
	s.b2 = rig_qp_new(s.p.b->hca, NULL);
	rig_connect(s.a2, s.b2);
	s.mr = rig_mr_new(s.p.b->hca, IOVA, LEN, MAY_BIND, 0);
	return s;
}

static void recover(struct scene *s)
{
	struct pair other = {.a = s->a2, .b = s->b2};

	memop_reconnect(&s->p);
	memop_reconnect(&other);
}

/* Bind bytes [@addr, @addr + @length) of the region; returns the window's key. */
static uint32_t bind(struct rig_qp *qp, const struct rig_mr *mr, uint32_t key, uint64_t addr,
		     uint64_t length, uint8_t access)
{
	struct memop_bind b = {.rkey = key,
			       .new_rkey = memop_next_key(key),
			       .lkey = mr->key,
			       .addr = addr,
			       .length = length,
			       .access = access};
	struct ohca_cqe cqe = memop_bind(qp, &b);

	assert_int_equal(cqe.status, 0);
	return b.new_rkey;
}

static int rdma(struct scene *s, uint8_t op, uint64_t *value, uint64_t va, uint32_t key)
{
	return memop_rdma(&s->p, op, value, va, key);
}

/* The same from the other QP. */
static int rdma2(struct scene *s, uint8_t op, uint64_t *value, uint64_t va, uint32_t key)
{
	struct pair other = s->p;

	other.a = s->a2;
	other.b = s->b2;
	return memop_rdma(&other, op, value, va, key);
}

static void assert_denied(struct scene *s, uint8_t op, uint64_t va, uint32_t key)
{
	uint64_t value = 0;

	assert_int_equal(rdma(s, op, &value, va, key), OHCA_WC_REM_ACCESS_ERR);
	rig_wait_event(s->p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, s->p.b->qpn);
	recover(s);
}

/* A window grants its rights to its range, whatever rights the region grants. */
static void check_grants(struct scene *s, uint8_t type)
{
	uint64_t addr = IOVA + 0x1ffc, value = 0xfeed, got;
	uint32_t key = memop_key(s->p.b->hca, type, 0), bound;

	assert_denied(s, OHCA_OP_RDMA_READ, addr, key);
	/* Across the boundary of two pages that are not consecutive in memory. */
	bound = bind(s->p.b, s->mr, key, addr, 16, RW);
	assert_int_equal(rdma(s, OHCA_OP_RDMA_WRITE, &value, addr, bound), 0);
	rig_mr_get(s->mr, addr, &got, 8);
	assert_int_equal(got, 0xfeed);
	value++;
	rig_mr_set(s->mr, addr + 8, &value, 8);
	assert_int_equal(rdma(s, OHCA_OP_RDMA_READ, &got, addr + 8, bound), 0);
	assert_int_equal(got, 0xfeee);
	/* A window of type 2B is destroyed by a reset of its QP. */
	if (type == OHCA_MKEY_MW_1) {
		assert_denied(s, OHCA_OP_RDMA_READ, addr - 1, bound);
		assert_denied(s, OHCA_OP_RDMA_READ, addr + 9, bound);
		assert_denied(s, OHCA_OP_RDMA_READ, addr, key);
		assert_denied(s, OHCA_OP_RDMA_READ, addr, s->mr->key);
		assert_int_equal(rdma(s, OHCA_OP_RDMA_READ, &got, addr, bound), 0);
	} else {
		assert_denied(s, OHCA_OP_RDMA_READ, addr + 9, bound);
		assert_denied(s, OHCA_OP_RDMA_READ, addr, bound);
	}
	assert_int_equal(drv_destroy(s->p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, key), 0);
}

static void test_grants(void **state)
{
	struct scene s = scene_new();

	(void)state;
	check_grants(&s, OHCA_MKEY_MW_1);
	check_grants(&s, OHCA_MKEY_MW_2);
	rig_close(s.p.rig);
}

static void test_rights(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_1, 0);
	uint64_t value = 0;

	(void)state;
	key = bind(s.p.b, s.mr, key, IOVA, LEN, OHCA_ACCESS_REMOTE_READ);
	assert_int_equal(rdma(&s, OHCA_OP_RDMA_READ, &value, IOVA, key), 0);
	assert_denied(&s, OHCA_OP_RDMA_WRITE, IOVA, key);
	key = bind(s.p.b, s.mr, key, IOVA, LEN, OHCA_ACCESS_REMOTE_WRITE);
	assert_int_equal(rdma(&s, OHCA_OP_RDMA_WRITE, &value, IOVA, key), 0);
	assert_denied(&s, OHCA_OP_RDMA_READ, IOVA, key);
	rig_close(s.p.rig);
}

static void test_zero_based(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_1, 0);
	uint64_t value = 0x123456789, got;

	(void)state;
	key = bind(s.p.b, s.mr, key, IOVA + 0x2345, 0x100, RW | OHCA_ACCESS_ZERO_BASED);
	assert_int_equal(rdma(&s, OHCA_OP_RDMA_WRITE, &value, 0xf8, key), 0);
	rig_mr_get(s.mr, IOVA + 0x2345 + 0xf8, &got, 8);
	assert_int_equal(got, value);
	assert_denied(&s, OHCA_OP_RDMA_WRITE, 0xf9, key);
	assert_denied(&s, OHCA_OP_RDMA_WRITE, IOVA + 0x2345, key);
	rig_close(s.p.rig);
}

/* Type 1: usable by all QPs of its PD, can be bound again, and unbound. */
static void test_type_1(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_1, 0), old;
	struct memop_bind nothing = {0};
	uint64_t value = 0;

	(void)state;
	old = bind(s.p.b, s.mr, key, IOVA, 0x1000, RW);
	assert_int_equal(rdma2(&s, OHCA_OP_RDMA_READ, &value, IOVA, old), 0);
	key = bind(s.b2, s.mr, old, IOVA + 0x1000, 0x1000, RW);
	assert_int_equal(rdma(&s, OHCA_OP_RDMA_READ, &value, IOVA + 0x1000, key), 0);
	assert_denied(&s, OHCA_OP_RDMA_READ, IOVA + 0x1000, old);
	assert_denied(&s, OHCA_OP_RDMA_READ, IOVA, key);

	nothing.rkey = key;
	nothing.new_rkey = memop_next_key(key);
	assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, s.mr->key),
			 OHCA_CMD_BUSY);
	assert_int_equal(memop_bind(s.p.b, &nothing).status, 0);
	assert_denied(&s, OHCA_OP_RDMA_READ, IOVA + 0x1000, key);
	assert_denied(&s, OHCA_OP_RDMA_READ, IOVA + 0x1000, nothing.new_rkey);
	/* It can't be invalidated. */
	key = bind(s.p.b, s.mr, nothing.new_rkey, IOVA, LEN, RW);
	memop_assert_refused(memop_inv(s.p.b, key), OHCA_VENDOR_ERR_KEY_STATE);
	recover(&s);
	assert_int_equal(rdma(&s, OHCA_OP_RDMA_READ, &value, IOVA, key), 0);
	assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, s.mr->key),
			 OHCA_CMD_OK);
	rig_close(s.p.rig);
}

/* Type 2B: belongs to one QP, and is invalid before it is bound. */
static void test_type_2(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_2, 0);
	struct memop_bind again;
	uint64_t value = 0;

	(void)state;
	key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
	assert_int_equal(rdma(&s, OHCA_OP_RDMA_READ, &value, IOVA, key), 0);
	assert_int_equal(rdma2(&s, OHCA_OP_RDMA_READ, &value, IOVA, key), OHCA_WC_REM_ACCESS_ERR);
	rig_close(s.p.rig);

	s = scene_new();
	key = memop_key(s.p.b->hca, OHCA_MKEY_MW_2, 0);
	key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
	again = (struct memop_bind){.rkey = key,
				    .new_rkey = memop_next_key(key),
				    .lkey = s.mr->key,
				    .addr = IOVA,
				    .length = 8,
				    .access = RW};
	memop_assert_refused(memop_bind(s.b2, &again), OHCA_VENDOR_ERR_KEY_STATE);
	memop_assert_refused(memop_inv(s.a2, key), OHCA_VENDOR_ERR_KEY);
	rig_close(s.p.rig);

	s = scene_new();
	key = memop_key(s.p.b->hca, OHCA_MKEY_MW_2, 0);
	key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
	memop_assert_refused(memop_inv(s.b2, key), OHCA_VENDOR_ERR_ACCESS);
	/* Invalidated by its own QP, twice. */
	assert_int_equal(memop_inv(s.p.b, key).status, 0);
	assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, s.mr->key),
			 OHCA_CMD_OK);
	memop_assert_refused(memop_inv(s.p.b, key), OHCA_VENDOR_ERR_KEY_STATE);
	rig_close(s.p.rig);
}

/* Software does not have to know the last key of a window of type 2B. */
static void test_type_2_again(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_2, 0), bound;
	uint64_t value = 0;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct memop_bind b = {.rkey = key,
				       .new_rkey = key ^ (i + 1),
				       .lkey = s.mr->key,
				       .addr = IOVA,
				       .length = LEN,
				       .access = RW};

		assert_int_equal(memop_bind(s.p.b, &b).status, 0);
		bound = b.new_rkey;
		assert_int_equal(rdma(&s, OHCA_OP_RDMA_READ, &value, IOVA, bound), 0);
		assert_denied(&s, OHCA_OP_RDMA_READ, IOVA, key);
		/* Reconnecting has unbound it. */
		memop_assert_refused(memop_inv(s.p.b, bound), OHCA_VENDOR_ERR_KEY_STATE);
		recover(&s);
	}
	rig_close(s.p.rig);
}

/* A send with invalidate invalidates a window of the destination QP. */
static void test_remote_inv(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_2, 0);
	struct ohca_sge sge = rig_sge(s.p.ma, PAIR_IOVA, 100);
	struct ohca_sge into = rig_sge(s.p.mb, PAIR_IOVA, 100);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND_INV, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
		wr.inv_key = key;
		rig_post_recv(s.p.b, i, &into, 1);
		rig_post_send(s.p.a, &wr);
		cqe = rig_wait_recv(s.p.b);
		assert_int_equal(cqe.status, 0);
		assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_INV);
		assert_int_equal(le32toh(cqe.inv_key), key);
		assert_int_equal(le32toh(cqe.byte_len), 100);
		assert_int_equal(rig_wait_send(s.p.a).status, 0);
	}
	/* Again, when it is invalid: the receive fails, and both QPs; the sender gets no answer. */
	rig_post_recv(s.p.b, 0, &into, 1);
	rig_post_send(s.p.a, &wr);
	cqe = rig_wait_recv(s.p.b);
	assert_int_equal(cqe.status, OHCA_WC_LOC_ACCESS_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_KEY_STATE);
	assert_int_equal(cqe.flags & OHCA_CQE_F_INV, 0);
	assert_int_equal(rig_wait_send(s.p.a).status, OHCA_WC_RETRY_EXC_ERR);
	rig_wait_event(s.p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, s.p.b->qpn);
	recover(&s);

	/* A window of another QP, and keys that are not such windows. */
	wr.inv_key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
	rig_post_recv(s.b2, 0, &into, 1);
	rig_post_send(s.a2, &wr);
	assert_int_equal(rig_wait_send(s.a2).status, OHCA_WC_RETRY_EXC_ERR);
	recover(&s);
	wr.inv_key = s.p.mb->key;
	rig_post_recv(s.p.b, 0, &into, 1);
	rig_post_send(s.p.a, &wr);
	assert_int_equal(rig_wait_send(s.p.a).status, OHCA_WC_RETRY_EXC_ERR);
	rig_close(s.p.rig);
}

/* Windows are invalidated when their QP is destroyed or reset. */
static void test_qp_gone(void **state)
{
	struct scene s = scene_new();
	struct drv *drv = s.p.b->hca->drv;
	uint32_t key[3];
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		key[i] = memop_key(s.p.b->hca, OHCA_MKEY_MW_2, 0);
		key[i] = bind(s.p.b, s.mr, key[i], IOVA, LEN, RW);
	}
	/* From the middle of the QP's list. */
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key[1]), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, s.mr->key), OHCA_CMD_BUSY);
	recover(&s);
	key[0] = bind(s.b2, s.mr, key[0], IOVA, LEN, RW);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, s.mr->key), OHCA_CMD_BUSY);
	assert_int_equal(rig_qp_destroy(s.b2), 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, s.mr->key), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key[0]), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key[2]), OHCA_CMD_OK);
	rig_close(s.p.rig);
}

/* A region can't be changed while it has windows. */
static void test_region_held(void **state)
{
	struct scene s = scene_new();
	struct ohca_modify_mkey_in modify = {.key = htole32(s.mr->key),
					     .attr_mask = htole32(OHCA_MKEY_ATTR_ACCESS)};
	struct drv *drv = s.p.b->hca->drv;
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_1, 0);

	(void)state;
	key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_MKEY, &modify, sizeof(modify), NULL, 0),
			 OHCA_CMD_BUSY);
	/* Reset with bound windows: no object is left. */
	drv_reset(drv);
	rig_close(s.p.rig);
}

/* A valid request with one invalid field. */
struct bad_bind {
	uint8_t type;
	uint32_t vendor_err;
	void (*spoil)(struct scene *s, struct memop_bind *bind);
};

static void bad_rkey(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->rkey ^= 1;
}

static void bad_new_rkey(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->new_rkey ^= 0x100;
}

static void bad_no_window(struct scene *s, struct memop_bind *bind)
{
	bind->rkey = s->p.mb->key;
	bind->new_rkey = bind->rkey;
}

static void bad_lkey(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->lkey ^= 0x10;
}

static void bad_no_region(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->lkey = bind->rkey;
}

static void bad_no_bind(struct scene *s, struct memop_bind *bind)
{
	bind->lkey = s->p.mb->key;
	bind->addr = PAIR_IOVA;
}

static void bad_no_write(struct scene *s, struct memop_bind *bind)
{
	bind->lkey = rig_mr_new(s->p.b->hca, IOVA, LEN, OHCA_ACCESS_MW_BIND, 0)->key;
}

static void bad_access(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->access |= OHCA_ACCESS_LOCAL_WRITE;
}

static void bad_before(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->addr = IOVA - 1;
}

static void bad_after(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->addr = IOVA + 1;
}

static void bad_endless(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->length = ~0ULL;
}

static void bad_empty(struct scene *s, struct memop_bind *bind)
{
	(void)s;
	bind->length = 0;
}

static uint32_t in_other_pd(struct scene *s, struct ohca_create_mkey_in *in)
{
	struct drv *drv = s->p.b->hca->drv;

	in->pdn = htole32(drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0));
	return drv_create(drv, OHCA_CMD_CREATE_MKEY, in, sizeof(*in));
}

static void bad_window_pd(struct scene *s, struct memop_bind *bind)
{
	struct ohca_create_mkey_in in = {.type = OHCA_MKEY_MW_1};

	bind->rkey = in_other_pd(s, &in);
	bind->new_rkey = bind->rkey;
}

static void bad_region_pd(struct scene *s, struct memop_bind *bind)
{
	struct ohca_create_mkey_in in = {.xlt = s->mr->xlt,
					 .iova = htole64(IOVA),
					 .length = htole64(LEN),
					 .access = MAY_BIND};

	bind->lkey = in_other_pd(s, &in);
}

static void bad_dma(struct scene *s, struct memop_bind *bind)
{
	struct ohca_create_mkey_in in = {
		.type = OHCA_MKEY_DMA, .access = MAY_BIND, .pdn = htole32(s->p.b->hca->pdn)};

	bind->lkey = drv_create(s->p.b->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

static void test_bad_binds(void **state)
{
	static const struct bad_bind bad[] = {
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_KEY, bad_rkey},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_KEY, bad_new_rkey},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_KEY_STATE, bad_no_window},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_PD, bad_window_pd},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_KEY, bad_lkey},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_KEY_STATE, bad_no_region},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_KEY_STATE, bad_dma},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_PD, bad_region_pd},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_ACCESS, bad_no_bind},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_ACCESS, bad_no_write},
		{OHCA_MKEY_MW_2, OHCA_VENDOR_ERR_ACCESS, bad_access},
		{OHCA_MKEY_MW_2, OHCA_VENDOR_ERR_BOUNDS, bad_before},
		{OHCA_MKEY_MW_2, OHCA_VENDOR_ERR_BOUNDS, bad_after},
		{OHCA_MKEY_MW_1, OHCA_VENDOR_ERR_BOUNDS, bad_endless},
		{OHCA_MKEY_MW_2, OHCA_VENDOR_ERR_BOUNDS, bad_empty},
	};
	struct scene s = scene_new();
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		uint32_t key = memop_key(s.p.b->hca, bad[i].type, 0);
		struct memop_bind b = {.rkey = key,
				       .new_rkey = memop_next_key(key),
				       .lkey = s.mr->key,
				       .addr = IOVA,
				       .length = LEN,
				       .access = RW};

		bad[i].spoil(&s, &b);
		memop_assert_refused(memop_bind(s.p.b, &b), bad[i].vendor_err);
		assert_int_equal(rig_query(s.p.b).state, OHCA_QPS_ERR);
		recover(&s);
		/* The window is unchanged. */
		bind(s.p.b, s.mr, key, IOVA, LEN, RW);
		assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, key), 0);
	}
	assert_int_equal(drv_destroy(s.p.b->hca->drv, OHCA_CMD_DESTROY_MKEY, s.mr->key), 0);
	rig_close(s.p.rig);
}

/* A window can't be used as a local key. */
static void test_no_lkey(void **state)
{
	struct scene s = scene_new();
	uint32_t key = memop_key(s.p.b->hca, OHCA_MKEY_MW_1, 0);
	struct ohca_sge sge;
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = s.p.ma->key};
	struct ohca_cqe cqe;

	(void)state;
	key = bind(s.p.b, s.mr, key, IOVA, LEN, RW);
	sge = rig_sge(s.mr, IOVA, 8);
	sge.lkey = htole32(key);
	rig_post_send(s.p.b, &wr);
	cqe = rig_wait_send(s.p.b);
	assert_int_equal(cqe.status, OHCA_WC_LOC_PROT_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_KEY_STATE);
	rig_close(s.p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grants),	    cmocka_unit_test(test_rights),
		cmocka_unit_test(test_zero_based),  cmocka_unit_test(test_type_1),
		cmocka_unit_test(test_type_2),	    cmocka_unit_test(test_type_2_again),
		cmocka_unit_test(test_remote_inv),  cmocka_unit_test(test_qp_gone),
		cmocka_unit_test(test_region_held), cmocka_unit_test(test_bad_binds),
		cmocka_unit_test(test_no_lkey),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
