// SPDX-License-Identifier: GPL-2.0
/* UARs, PDs, EQs, CQs, memory keys, the port: valid and invalid commands. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "refuse.h"

static struct drv *drv;

static int up(void **state)
{
	(void)state;
	drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	return 0;
}

static int down(void **state)
{
	(void)state;
	drv_close(drv);
	return 0;
}

static void test_uar(void **state)
{
	struct ohca_alloc_uar_in in = {.shadow_addr = htole64(drv_alloc(drv, 4096))};
	uint32_t a, b;

	(void)state;
	a = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	b = drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	assert_int_not_equal(a, b);
	REFUSE(drv, OHCA_CMD_ALLOC_UAR, struct ohca_alloc_uar_in, in, rsvd, 1, OHCA_CMD_BAD_PARAM);
	REFUSE(drv, OHCA_CMD_ALLOC_UAR, struct ohca_alloc_uar_in, in, shadow_addr, 0,
	       OHCA_CMD_BAD_PARAM);
	REFUSE(drv, OHCA_CMD_ALLOC_UAR, struct ohca_alloc_uar_in, in, shadow_addr,
	       htole64(DRV_MEM + 64), OHCA_CMD_BAD_PARAM);
	REFUSE(drv, OHCA_CMD_ALLOC_UAR, struct ohca_alloc_uar_in, in, shadow_addr,
	       htole64(DRV_NOWHERE), OHCA_CMD_BAD_ADDR);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, a), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, a), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, b), OHCA_CMD_OK);
}

static void test_uar_without_shadow(void **state)
{
	struct ohca_alloc_uar_in in = {0};

	(void)state;
	drv_reset(drv);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
	drv_first_uar(drv);
	drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	REFUSE(drv, OHCA_CMD_ALLOC_UAR, struct ohca_alloc_uar_in, in, shadow_addr, htole64(DRV_MEM),
	       OHCA_CMD_UNSUPPORTED);
}

static void test_limits(void **state)
{
	struct ohca_query_device_out limits;
	struct ohca_alloc_uar_in in = {.shadow_addr = htole64(drv_alloc(drv, 4096))};
	struct ohca_handle out;
	uint32_t i, max;

	(void)state;
	drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &limits, sizeof(limits));
	max = le32toh(limits.max_uar);
	for (i = 1; i < max; i++)
		drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in));
	assert_int_equal(drv_cmd(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in), &out, sizeof(out)),
			 OHCA_CMD_NO_RESOURCE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_UAR, 7), OHCA_CMD_OK);
	assert_int_equal(drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in)), 7);

	max = le32toh(limits.max_pd);
	for (i = 0; i < max; i++)
		drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_ALLOC_PD, NULL, 0, &out, sizeof(out)),
			 OHCA_CMD_NO_RESOURCE);

	max = le32toh(limits.max_eq);
	for (i = 0; i < max; i++)
		drv_eq_new(drv, 4, 0, 0);
	{
		struct drv_eq eq;
		struct ohca_create_eq_in eq_in = drv_eq_in(drv, 4, 0, 0, &eq);

		assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_EQ, &eq_in, sizeof(eq_in), &out,
					 sizeof(out)),
				 OHCA_CMD_NO_RESOURCE);
	}
}

#define EQ_REFUSE(field, value, status) \
	REFUSE(drv, OHCA_CMD_CREATE_EQ, struct ohca_create_eq_in, in, field, value, status)
#define EQ_REFUSE_BUF(field, value, status)                                                        \
	REFUSE_AT(drv, OHCA_CMD_CREATE_EQ, struct ohca_create_eq_in, in, buf.field, value, status, \
		  0)

static void test_eq(void **state)
{
	struct ohca_create_eq_in in;
	struct drv_eq eq;
	uint32_t id;

	(void)state;
	in = drv_eq_in(drv, 8, 3, 0, &eq); /* two pages: a table */
	EQ_REFUSE(log_size, 3, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(log_size, 21, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(log_size, 255, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(flags, 2, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(vector, htole16(32), OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(vector, 0xffff, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(rec_offset, htole32(4096 - 64), OHCA_CMD_BAD_PARAM);
	EQ_REFUSE(rec_offset, htole32(4096 + 32), OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(npages, htole32(3), OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(npages, htole32(1), OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(npages, 0, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(levels, 0, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(page_shift, 13, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(offset, htole32(8), OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(rsvd[0], 1, OHCA_CMD_BAD_PARAM);
	EQ_REFUSE_BUF(addr, htole64(DRV_NOWHERE), OHCA_CMD_BAD_ADDR);

	/* A readable table with unmapped pages */
	{
		uint64_t table = le64toh(in.buf.addr);
		__le64 *entry = drv_ptr(drv, table), good = *entry;

		*entry = htole64(DRV_NOWHERE);
		refuse(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in), OHCA_CMD_BAD_ADDR, 0);
		*entry = good;
	}
	id = drv_create(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, id), OHCA_CMD_OK);

	/* One asynchronous EQ, and another when it is gone */
	in.flags = OHCA_EQ_ASYNC;
	id = drv_create(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	refuse(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in), OHCA_CMD_NO_RESOURCE,
	       offsetof(struct ohca_create_eq_in, flags));
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, id), OHCA_CMD_OK);
	id = drv_create(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, id), OHCA_CMD_OK);
}

#define CQ_REFUSE(field, value, status) \
	REFUSE(drv, OHCA_CMD_CREATE_CQ, struct ohca_create_cq_in, in, field, value, status)

static void test_cq(void **state)
{
	struct drv_eq *eq = drv_eq_new(drv, 4, 1, 0);
	struct drv_eq *async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	struct ohca_create_cq_in in;
	struct drv_cq cq;
	uint32_t id;

	(void)state;
	in = drv_cq_in(drv, 2, eq->eqn, &cq);
	CQ_REFUSE(log_size, 21, OHCA_CMD_BAD_PARAM);
	CQ_REFUSE(log_size, 64, OHCA_CMD_BAD_PARAM);
	CQ_REFUSE(log_size, 255, OHCA_CMD_BAD_PARAM);
	CQ_REFUSE(rec_offset, htole32(4 * 64 - 64), OHCA_CMD_BAD_PARAM);
	CQ_REFUSE(rec_offset, htole32(4 * 64 + 1), OHCA_CMD_BAD_PARAM);
	CQ_REFUSE(eqn, htole32(1000), OHCA_CMD_BAD_HANDLE);
	CQ_REFUSE(eqn, htole32(async->eqn), OHCA_CMD_BAD_PARAM);
	REFUSE_AT(drv, OHCA_CMD_CREATE_CQ, struct ohca_create_cq_in, in, rsvd[5], 1,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_create_cq_in, rsvd));
	REFUSE_AT(drv, OHCA_CMD_CREATE_CQ, struct ohca_create_cq_in, in, buf.addr,
		  htole64(DRV_NOWHERE), OHCA_CMD_BAD_ADDR, 0);
	REFUSE_AT(drv, OHCA_CMD_CREATE_CQ, struct ohca_create_cq_in, in, buf.npages, htole32(2),
		  OHCA_CMD_BAD_PARAM, 0);
	/* Entries that straddle pages */
	REFUSE_AT(drv, OHCA_CMD_CREATE_CQ, struct ohca_create_cq_in, in, buf.offset, htole32(32),
		  OHCA_CMD_BAD_PARAM, 0);

	id = drv_create(drv, OHCA_CMD_CREATE_CQ, &in, sizeof(in));
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, eq->eqn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_CQ, id), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_EQ, eq->eqn), OHCA_CMD_OK);
	CQ_REFUSE(eqn, htole32(eq->eqn), OHCA_CMD_BAD_HANDLE);
}

static struct ohca_create_mkey_in mkey_in(uint64_t size, uint32_t pdn)
{
	struct ohca_create_mkey_in in = {
		.xlt = drv_xlt(drv, drv_alloc(drv, size), size, 12),
		.iova = htole64(0x7f0000001000),
		.length = htole64(size),
		.pdn = htole32(pdn),
		.access = OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_REMOTE_WRITE,
	};

	return in;
}

#define MKEY_REFUSE(field, value, status) \
	REFUSE(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, field, value, status)

static void test_mkey(void **state)
{
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), key;
	struct ohca_create_mkey_in in = mkey_in(10 * 4096, pdn);

	(void)state;
	MKEY_REFUSE(access, OHCA_ACCESS_ZERO_BASED, OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(access, OHCA_ACCESS_REMOTE_WRITE, OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(access, OHCA_ACCESS_REMOTE_ATOMIC | OHCA_ACCESS_REMOTE_READ,
		    OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(type, 7, OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(length, 0, OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(length, htole64(UINT64_MAX), OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(max_pages, htole32(1), OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(dm, htole32(1), OHCA_CMD_BAD_PARAM);
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, iova,
		  htole64(-4096ULL), OHCA_CMD_BAD_PARAM,
		  offsetof(struct ohca_create_mkey_in, length));
	MKEY_REFUSE(pdn, htole32(pdn + 1), OHCA_CMD_BAD_HANDLE);
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, rsvd[1], 1,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_create_mkey_in, rsvd));
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, length,
		  htole64(9 * 4096), OHCA_CMD_BAD_PARAM, offsetof(struct ohca_create_mkey_in, xlt));
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, xlt.addr,
		  htole64(DRV_NOWHERE), OHCA_CMD_BAD_ADDR,
		  offsetof(struct ohca_create_mkey_in, xlt));

	key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	assert_int_not_equal(key, 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key ^ 1U << 8),
			 OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key ^ 1U << 31),
			 OHCA_CMD_BAD_HANDLE);
	/* The low bits are not part of the handle. */
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key ^ 1), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn), OHCA_CMD_OK);
}

static struct ohca_query_mkey_out query_mkey(uint32_t key)
{
	struct ohca_handle in = {.id = htole32(key)};
	struct ohca_query_mkey_out out;

	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_MKEY, &in, sizeof(in), &out, sizeof(out)), 0);
	return out;
}

static void test_query_mkey(void **state)
{
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	struct ohca_create_mkey_in in = mkey_in(10 * 4096, pdn);
	const struct ohca_create_mkey_in dma = {
		.pdn = htole32(pdn),
		.access = OHCA_ACCESS_LOCAL_WRITE,
		.type = OHCA_MKEY_DMA,
	};
	uint32_t key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	struct ohca_query_mkey_out out = query_mkey(key ^ 0xff);
	struct ohca_handle handle = {.id = htole32(key)};

	(void)state;
	assert_int_equal(le64toh(out.iova), le64toh(in.iova));
	assert_int_equal(le64toh(out.length), le64toh(in.length));
	assert_int_equal(le32toh(out.key), key);
	assert_int_equal(le32toh(out.pdn), pdn);
	assert_int_equal(out.access, in.access);
	assert_int_equal(out.type, OHCA_MKEY_MR);
	assert_int_equal(out.valid, 1);
	assert_int_equal(out.rsvd, 0);
	assert_int_equal(out.windows, 0);
	out = query_mkey(drv_create(drv, OHCA_CMD_CREATE_MKEY, &dma, sizeof(dma)));
	assert_int_equal(out.length, 0);
	assert_int_equal(out.type, OHCA_MKEY_DMA);
	REFUSE(drv, OHCA_CMD_QUERY_MKEY, struct ohca_handle, handle, rsvd, 1, OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_OK);
	refuse(drv, OHCA_CMD_QUERY_MKEY, &handle, sizeof(handle), OHCA_CMD_BAD_HANDLE, 0);
}

static void test_mkey_dma(void **state)
{
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), key;
	struct ohca_create_mkey_in in = {
		.pdn = htole32(pdn),
		.access = 0xf,
		.type = OHCA_MKEY_DMA,
	};

	(void)state;
	MKEY_REFUSE(iova, htole64(4096), OHCA_CMD_BAD_PARAM);
	MKEY_REFUSE(length, htole64(1), OHCA_CMD_BAD_PARAM);
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, xlt.page_shift, 12,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_create_mkey_in, xlt));
	key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_OK);
}

/* Types that get their memory later. */
static void test_mkey_types(void **state)
{
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), key;
	struct ohca_create_mkey_in with_xlt = mkey_in(4096, pdn);
	struct ohca_create_mkey_in in = {.pdn = htole32(pdn)};
	struct ohca_query_device_out limits;

	(void)state;
	drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &limits, sizeof(limits));
	for (in.type = OHCA_MKEY_FAST_REG; in.type <= OHCA_MKEY_MW_2; in.type++) {
		in.max_pages = in.type == OHCA_MKEY_FAST_REG ? limits.max_fast_reg : 0;
		MKEY_REFUSE(access, OHCA_ACCESS_REMOTE_READ, OHCA_CMD_BAD_PARAM);
		MKEY_REFUSE(iova, htole64(1), OHCA_CMD_BAD_PARAM);
		MKEY_REFUSE(length, htole64(1), OHCA_CMD_BAD_PARAM);
		MKEY_REFUSE(xlt, with_xlt.xlt, OHCA_CMD_BAD_PARAM);
		MKEY_REFUSE(pdn, htole32(pdn + 1), OHCA_CMD_BAD_HANDLE);
		MKEY_REFUSE(max_pages, htole32(le32toh(limits.max_fast_reg) + 1),
			    OHCA_CMD_BAD_PARAM);
		if (in.type == OHCA_MKEY_FAST_REG)
			MKEY_REFUSE(max_pages, 0, OHCA_CMD_BAD_PARAM);
		key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
		assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn), OHCA_CMD_BUSY);
		assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_OK);
	}
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn), OHCA_CMD_OK);
}

#define MODIFY_REFUSE(field, value, status) \
	REFUSE(drv, OHCA_CMD_MODIFY_MKEY, struct ohca_modify_mkey_in, modify, field, value, status)

/* Invalid inputs of OHCA_CMD_MODIFY_MKEY, and references to PDs. */
static void test_mkey_modify(void **state)
{
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	uint32_t pdn2 = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), key, dma_key;
	struct ohca_create_mkey_in in = mkey_in(10 * 4096, pdn);
	struct ohca_create_mkey_in dma = {.type = OHCA_MKEY_DMA, .pdn = htole32(pdn)};
	struct ohca_modify_mkey_in modify = {.attr = mkey_in(3 * 4096, pdn2)};

	(void)state;
	key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	dma_key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &dma, sizeof(dma));
	modify.key = htole32(key);
	modify.attr_mask = htole32(OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS);
	REFUSE_AT(drv, OHCA_CMD_MODIFY_MKEY, struct ohca_modify_mkey_in, modify, key,
		  htole32(key ^ 1U << 20), OHCA_CMD_BAD_HANDLE, 0);
	MODIFY_REFUSE(key, htole32(dma_key), OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr_mask, 0, OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr_mask, htole32(0xf), OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr.type, OHCA_MKEY_DMA, OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr.max_pages, htole32(1), OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr.dm, htole32(1), OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr.access, OHCA_ACCESS_REMOTE_WRITE, OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr.length, 0, OHCA_CMD_BAD_PARAM);
	MODIFY_REFUSE(attr.pdn, htole32(pdn2 + 1), OHCA_CMD_BAD_HANDLE);
	REFUSE_AT(drv, OHCA_CMD_MODIFY_MKEY, struct ohca_modify_mkey_in, modify, attr.xlt.addr,
		  htole64(DRV_NOWHERE), OHCA_CMD_BAD_ADDR,
		  offsetof(struct ohca_modify_mkey_in, attr.xlt));
	/* Values of attributes that do not change. */
	REFUSE_AT(drv, OHCA_CMD_MODIFY_MKEY, struct ohca_modify_mkey_in, modify, attr_mask,
		  htole32(OHCA_MKEY_ATTR_PD), OHCA_CMD_BAD_PARAM,
		  offsetof(struct ohca_modify_mkey_in, attr.xlt));

	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, dma_key), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn), OHCA_CMD_BUSY);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_MKEY, &modify, sizeof(modify), NULL, 0),
			 OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn2), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, pdn2), OHCA_CMD_OK);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * All keys differ, none is 0 or the reserved one, and one can rarely be guessed from the one before
 * it.
 */
static void test_mkey_values(void **state)
{
	static uint32_t keys[20000], live[10000];
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), i, near = 0, again = 0;
	struct ohca_create_mkey_in in = mkey_in(4096, pdn);
	struct ohca_query_device_out limits;

	(void)state;
	drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &limits, sizeof(limits));
	for (i = 0; i < 20000; i++) {
		keys[i] = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
		assert_int_not_equal(keys[i], 0);
		assert_int_not_equal(keys[i], le32toh(limits.reserved_lkey));
		if (i && keys[i] - keys[i - 1] + 4096 < 8192)
			near++;
		if (i % 2)
			assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, keys[i]), 0);
		else
			live[i / 2] = keys[i];
	}
	/* Some random permutations have a few such pairs. */
	assert_true(near < 20000 / 100);
	qsort(keys, 20000, sizeof(keys[0]), by_value);
	for (i = 1; i < 20000; i++)
		again += keys[i] == keys[i - 1];
	/* A key that was destroyed may be drawn again: one in thirty runs has such a key, hardly any has two. */
	assert_true(again < 5);
	qsort(live, 10000, sizeof(live[0]), by_value);
	for (i = 1; i < 10000; i++)
		assert_int_not_equal(live[i], live[i - 1]);
}

#define PORT_REFUSE(field, value)                                                       \
	REFUSE(drv, OHCA_CMD_MODIFY_PORT, struct ohca_modify_port_in, in, field, value, \
	       OHCA_CMD_BAD_PARAM)

static struct ohca_query_port_out query_port(void)
{
	struct ohca_query_port_in in = {.port = 1};
	struct ohca_query_port_out out;

	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)), 0);
	return out;
}

static void test_port(void **state)
{
	static const uint8_t perm[6] = {2, 0, 0, 0, 0, 1};
	struct ohca_modify_port_in in = {
		.attr_mask =
			htole32(OHCA_PORT_ATTR_ADMIN | OHCA_PORT_ATTR_MAC | OHCA_PORT_ATTR_PROMISC),
		.port = 1,
		.admin_up = 1,
		.mac = {2, 1, 2, 3, 4, 5},
	};
	struct ohca_query_port_in query = {.port = 1};
	struct ohca_query_port_out out = query_port();

	(void)state;
	assert_int_equal(out.state, 1);
	assert_int_equal(out.phys_state, 3);
	assert_int_equal(out.max_mtu, 5);
	assert_memory_equal(out.mac, perm, 6);
	assert_int_equal(le16toh(out.pkey_tbl_len), 1);
	REFUSE(drv, OHCA_CMD_QUERY_PORT, struct ohca_query_port_in, query, port, 0,
	       OHCA_CMD_BAD_PARAM);
	REFUSE(drv, OHCA_CMD_QUERY_PORT, struct ohca_query_port_in, query, port, 2,
	       OHCA_CMD_BAD_PARAM);
	REFUSE_AT(drv, OHCA_CMD_QUERY_PORT, struct ohca_query_port_in, query, rsvd[5], 1,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_query_port_in, rsvd));

	PORT_REFUSE(attr_mask, htole32(16));
	PORT_REFUSE(port, 0);
	PORT_REFUSE(port, 2);
	PORT_REFUSE(admin_up, 2);
	PORT_REFUSE(promisc, 2);
	PORT_REFUSE(large_rx, 1); /* the mask does not name it */
	REFUSE_AT(drv, OHCA_CMD_MODIFY_PORT, struct ohca_modify_port_in, in, rsvd1[1], 1,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_modify_port_in, rsvd1));
	REFUSE_AT(drv, OHCA_CMD_MODIFY_PORT, struct ohca_modify_port_in, in, mac[0], 3,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_modify_port_in, mac));
	/* The command had no effect */
	assert_int_equal(query_port().state, 1);

	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
	out = query_port();
	assert_int_equal(out.state, 4);
	assert_int_equal(out.phys_state, 5);
	assert_memory_equal(out.mac, perm, 6);
	in.admin_up = 0;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
	assert_int_equal(query_port().state, 1);
	/* Fields that are not in the mask are ignored */
	in.attr_mask = 0;
	in.admin_up = 77;
	in.mac[0] = 1;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
}

static void test_port_events(void **state)
{
	struct drv_eq *eq = drv_eq_new(drv, 4, 2, OHCA_EQ_ASYNC);
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN),
		.port = 1,
		.admin_up = 1,
	};
	struct ohca_eqe eqe;

	(void)state;
	drv_eq_arm(eq);
	drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0);
	eqe = drv_eq_wait(eq);
	assert_int_equal(eqe.type, OHCA_EVENT_PORT_ACTIVE);
	assert_int_equal(le32toh(eqe.id), 1);
	assert_int_equal(vu_irq_wait(drv->vu, 2), 1);
	/* No change, no event */
	drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0);
	in.admin_up = 0;
	drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0);
	eqe = drv_eq_wait(eq);
	assert_int_equal(eqe.type, OHCA_EVENT_PORT_ERR);
	drv_reg(drv, OHCA_REG_STATUS);
	assert_false(drv_eq_poll(eq, &eqe));
	assert_int_equal(vu_irq_count(drv->vu, 2), 0);
}

#define GID_REFUSE(field, value) \
	REFUSE(drv, OHCA_CMD_SET_GID, struct ohca_set_gid_in, in, field, value, OHCA_CMD_BAD_PARAM)

static void test_gid(void **state)
{
	struct ohca_set_gid_in in = {
		.gid = {0xfe, 0x80, [15] = 1},
		.port = 1,
		.type = OHCA_GID_ROCE_V2,
		.mac = {2, 0, 0, 0, 0, 1},
		.vlan = htole16(OHCA_VLAN_NONE),
	};
	unsigned int i, len = le16toh(query_port().gid_tbl_len);

	(void)state;
	GID_REFUSE(port, 0);
	GID_REFUSE(type, 1);
	GID_REFUSE(type, 255);
	GID_REFUSE(index, htole16(len));
	GID_REFUSE(index, 0xffff);
	GID_REFUSE(vlan, htole16(4095));
	GID_REFUSE(rsvd, 1);
	REFUSE_AT(drv, OHCA_CMD_SET_GID, struct ohca_set_gid_in, in, type, OHCA_GID_NONE,
		  OHCA_CMD_BAD_PARAM, 0);
	REFUSE_AT(drv, OHCA_CMD_SET_GID, struct ohca_set_gid_in, in, mac[0], 1, OHCA_CMD_BAD_PARAM,
		  offsetof(struct ohca_set_gid_in, mac));
	for (i = 0; i < len; i++) {
		in.index = htole16(i);
		in.gid[14] = i;
		in.vlan = htole16(i % 2 ? 4094 : OHCA_VLAN_NONE);
		assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0), 0);
	}
	memset(in.gid, 0, 16);
	REFUSE_AT(drv, OHCA_CMD_SET_GID, struct ohca_set_gid_in, in, type, OHCA_GID_ROCE_V2,
		  OHCA_CMD_BAD_PARAM, 0);
	in.type = OHCA_GID_NONE;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, up, down)
	const struct CMUnitTest tests[] = {
		TEST(test_uar),		TEST(test_uar_without_shadow),
		TEST(test_limits),	TEST(test_eq),
		TEST(test_cq),		TEST(test_mkey),
		TEST(test_query_mkey),	TEST(test_mkey_dma),
		TEST(test_mkey_types),	TEST(test_mkey_modify),
		TEST(test_mkey_values), TEST(test_port),
		TEST(test_port_events), TEST(test_gid),
	};

	return RUN_TESTS(tests, start_one_hca, stop_hcas);
}
