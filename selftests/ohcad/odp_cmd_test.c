// SPDX-License-Identifier: GPL-2.0
/* Regions with on-demand paging: their commands, and the inputs that these refuse. */

#include <endian.h>

#include "harness.h"
#include "drv.h"
#include "refuse.h"
#include "server.h"

#define HEAD offsetof(struct ohca_modify_pages_in, page)
#define BITS (OHCA_PAGE_PRESENT | OHCA_PAGE_WRITE)
#define MAX_SIZE (1ULL << OHCA_ODP_MAX_LOG_SIZE)

static struct server *server;
static struct drv *drv;
static uint32_t pdn;

static int setup(void **state)
{
	(void)state;
	server = server_start(1);
	drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	drv_close(drv);
	return server_stop(server) ? 0 : -1;
}

static struct ohca_create_mkey_in region(uint32_t offset, uint64_t length)
{
	struct ohca_create_mkey_in in = {
		.xlt = {.offset = htole32(offset), .page_shift = 12},
		.length = htole64(length),
		.pdn = htole32(pdn),
		.access = OHCA_ACCESS_LOCAL_WRITE,
		.type = OHCA_MKEY_ODP,
	};

	return in;
}

static uint32_t make(uint32_t offset, uint64_t length)
{
	struct ohca_create_mkey_in in = region(offset, length);

	return drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

static void destroy(uint32_t key)
{
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), OHCA_CMD_OK);
}

static void test_capability(void **state)
{
	struct ohca_query_device_out out;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)),
			 OHCA_CMD_OK);
	assert_true(le64toh(out.caps) & OHCA_CAP_ODP);
}

#define REFUSE_REGION(off, len, member, value, status, at)                                         \
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, region(off, len), member, \
		  value, status, offsetof(struct ohca_create_mkey_in, at))

static void test_create(void **state)
{
	(void)state;
	destroy(make(0, 1));
	destroy(make(4095, 1));
	destroy(make(0, MAX_SIZE));
	destroy(make(4095, MAX_SIZE - 4095));
	REFUSE_REGION(0, 4096, xlt.page_shift, 17, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 4096, xlt.page_shift, 11, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 4096, xlt.page_shift, 0, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(1U << 16, 4096, xlt.page_shift, 16, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 4096, xlt.addr, htole64(4096), OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 4096, xlt.npages, htole32(1), OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 4096, xlt.levels, 1, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 4096, xlt.rsvd[5], 1, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(4096, 4096, rsvd[0], 0, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(UINT32_MAX, 4096, rsvd[0], 0, OHCA_CMD_BAD_PARAM, xlt);
	REFUSE_REGION(0, 0, rsvd[0], 0, OHCA_CMD_BAD_PARAM, length);
	REFUSE_REGION(0, MAX_SIZE + 1, rsvd[0], 0, OHCA_CMD_BAD_PARAM, length);
	REFUSE_REGION(1, MAX_SIZE, rsvd[0], 0, OHCA_CMD_BAD_PARAM, length);
	REFUSE_REGION(0, UINT64_MAX, rsvd[0], 0, OHCA_CMD_BAD_PARAM, length);
	REFUSE_REGION(0, 4097, iova, htole64(-4096ULL), OHCA_CMD_BAD_PARAM, length);
	REFUSE_REGION(0, 4096, access, OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_MW_BIND,
		      OHCA_CMD_BAD_PARAM, access);
	REFUSE_REGION(0, 4096, access, OHCA_ACCESS_REMOTE_WRITE, OHCA_CMD_BAD_PARAM, access);
	REFUSE_REGION(0, 4096, pdn, htole32(77777), OHCA_CMD_BAD_HANDLE, pdn);
	REFUSE_REGION(0, 4096, dm, htole32(1), OHCA_CMD_BAD_PARAM, dm);
	REFUSE_REGION(0, 4096, max_pages, htole32(1), OHCA_CMD_BAD_PARAM, max_pages);
	REFUSE_REGION(0, 4096, rsvd[1], 1, OHCA_CMD_BAD_PARAM, rsvd);
	REFUSE_REGION(0, 4096, type, OHCA_MKEY_ODP + 1, OHCA_CMD_BAD_PARAM, type);
}

static int modify(uint32_t key, uint32_t mask, const struct ohca_create_mkey_in *attr)
{
	struct ohca_modify_mkey_in in = {.key = htole32(key), .attr_mask = htole32(mask)};

	if (attr)
		in.attr = *attr;
	return drv_cmd(drv, OHCA_CMD_MODIFY_MKEY, &in, sizeof(in), NULL, 0);
}

static void test_modify(void **state)
{
	struct ohca_create_mkey_in attr = {.access = OHCA_ACCESS_REMOTE_READ};
	uint32_t other = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), key = make(0, 4096);

	(void)state;
	assert_int_equal(modify(key, OHCA_MKEY_ATTR_ACCESS, &attr), OHCA_CMD_OK);
	attr.access = OHCA_ACCESS_MW_BIND;
	assert_int_equal(modify(key, OHCA_MKEY_ATTR_ACCESS, &attr), OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_modify_mkey_in, attr.access));
	attr.access = 0;
	attr.pdn = htole32(other);
	assert_int_equal(modify(key, OHCA_MKEY_ATTR_PD, &attr), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, other), OHCA_CMD_BUSY);
	attr = region(0, 8192);
	attr.pdn = 0;
	attr.access = 0;
	attr.type = 0;
	assert_int_equal(modify(key, OHCA_MKEY_ATTR_XLT, &attr), OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_modify_mkey_in, attr_mask));
	destroy(key);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, other), OHCA_CMD_OK);
}

static struct ohca_modify_pages_in pages(uint32_t key, uint8_t op, uint64_t first, uint64_t num)
{
	struct ohca_modify_pages_in in = {
		.key = htole32(key), .op = op, .first = htole64(first), .num = htole64(num)};
	uint64_t i;

	for (i = 0; op == OHCA_PAGES_MAP && i < num && i < OHCA_MODIFY_PAGES_MAX; i++)
		in.page[i] = htole64(DRV_MEM + i * 4096 + BITS);
	return in;
}

static int run(const struct ohca_modify_pages_in *in, size_t len)
{
	return drv_cmd(drv, OHCA_CMD_MODIFY_PAGES, in, len, NULL, 0);
}

/* @len bytes of the input are sent. */
static void refuse_pages(const struct ohca_modify_pages_in *in, size_t len, unsigned int field)
{
	refuse(drv, OHCA_CMD_MODIFY_PAGES, in, len, OHCA_CMD_BAD_PARAM, field);
}

#define REFUSE_PAGES(op, first, num, len, member, value, at)                        \
	do {                                                                        \
		struct ohca_modify_pages_in _in = pages(key, op, first, num);       \
		_in.member = value;                                                 \
		refuse_pages(&_in, len, offsetof(struct ohca_modify_pages_in, at)); \
	} while (0)

/* The input length has to match its fields. */
static void test_lengths(void **state)
{
	uint32_t key = make(0, 1 << 20);
	struct ohca_modify_pages_in in = pages(key, OHCA_PAGES_MAP, 0, 3);
	size_t len;

	(void)state;
	for (len = 0; len < HEAD + 24; len++)
		assert_int_equal(run(&in, len), OHCA_CMD_BAD_LEN);
	assert_int_equal(run(&in, HEAD + 24), OHCA_CMD_OK);
	assert_int_equal(run(&in, sizeof(in)), OHCA_CMD_OK);
	in.page[3] = 1;
	assert_int_equal(run(&in, HEAD + 24), OHCA_CMD_OK);
	refuse_pages(&in, HEAD + 32, HEAD + 24);
	in = pages(key, OHCA_PAGES_MAP, 0, OHCA_MODIFY_PAGES_MAX);
	assert_int_equal(run(&in, sizeof(in) - 1), OHCA_CMD_BAD_LEN);
	assert_int_equal(run(&in, sizeof(in)), OHCA_CMD_OK);
	in = pages(key, OHCA_PAGES_UNMAP, 0, 256);
	assert_int_equal(run(&in, HEAD - 1), OHCA_CMD_BAD_LEN);
	assert_int_equal(run(&in, HEAD), OHCA_CMD_OK);
	assert_int_equal(run(&in, sizeof(in)), OHCA_CMD_OK);
	in.page[0] = htole64(BITS);
	refuse_pages(&in, HEAD + 8, HEAD);
	destroy(key);
}

static void test_fields(void **state)
{
	uint32_t key = make(100, (1 << 20) - 100), mr;
	struct ohca_create_mkey_in mr_in = region(0, 4096);
	struct ohca_modify_pages_in in;
	unsigned int bit;

	(void)state;
	in = pages(key ^ 0xff, OHCA_PAGES_UNMAP, 0, 256);
	assert_int_equal(run(&in, HEAD), OHCA_CMD_OK); /* commands name the object */
	in = pages(key ^ 0x100, OHCA_PAGES_UNMAP, 0, 1);
	assert_int_equal(run(&in, HEAD), OHCA_CMD_BAD_HANDLE);
	REFUSE_PAGES(OHCA_PAGES_FAIL, 0, 1, HEAD, op, OHCA_PAGES_FAIL + 1, op);
	REFUSE_PAGES(OHCA_PAGES_FAIL, 0, 1, HEAD, op, 255, op);
	REFUSE_PAGES(OHCA_PAGES_FAIL, 0, 1, HEAD, rsvd[0], 1, rsvd);
	REFUSE_PAGES(OHCA_PAGES_FAIL, 0, 1, HEAD, rsvd[2], 1, rsvd);
	REFUSE_PAGES(OHCA_PAGES_UNMAP, 256, 1, HEAD, rsvd[0], 0, first);
	REFUSE_PAGES(OHCA_PAGES_UNMAP, UINT64_MAX, 1, HEAD, rsvd[0], 0, first);
	REFUSE_PAGES(OHCA_PAGES_UNMAP, 0, 0, HEAD, rsvd[0], 0, num);
	REFUSE_PAGES(OHCA_PAGES_UNMAP, 0, 257, HEAD, rsvd[0], 0, num);
	REFUSE_PAGES(OHCA_PAGES_UNMAP, 255, 2, HEAD, rsvd[0], 0, num);
	REFUSE_PAGES(OHCA_PAGES_UNMAP, 1, UINT64_MAX, HEAD, rsvd[0], 0, num);
	REFUSE_PAGES(OHCA_PAGES_MAP, 0, 0, HEAD, rsvd[0], 0, num);
	REFUSE_PAGES(OHCA_PAGES_MAP, 0, OHCA_MODIFY_PAGES_MAX + 1, HEAD, rsvd[0], 0, num);
	REFUSE_PAGES(OHCA_PAGES_MAP, 0, UINT64_MAX, HEAD, rsvd[0], 0, num);
	for (bit = 2; bit < 12; bit++)
		REFUSE_PAGES(OHCA_PAGES_MAP, 0, 3, HEAD + 24, page[1],
			     htole64((DRV_MEM + BITS) | 1U << bit), page[1]);
	REFUSE_PAGES(OHCA_PAGES_MAP, 0, 3, HEAD + 24, page[2], htole64(OHCA_PAGE_WRITE), page[2]);
	REFUSE_PAGES(OHCA_PAGES_MAP, 0, 3, HEAD + 24, page[2], htole64(DRV_MEM), page[2]);
	/* Pages of other types of region can't be mapped and unmapped. */
	mr_in.type = OHCA_MKEY_MR;
	mr_in.xlt = drv_xlt(drv, drv_alloc(drv, 4096), 4096, 12);
	mr = drv_create(drv, OHCA_CMD_CREATE_MKEY, &mr_in, sizeof(mr_in));
	in = pages(mr, OHCA_PAGES_UNMAP, 0, 1);
	refuse_pages(&in, HEAD, 0);
	destroy(mr);
	destroy(key);
	in = pages(key, OHCA_PAGES_UNMAP, 0, 1);
	assert_int_equal(run(&in, HEAD), OHCA_CMD_BAD_HANDLE);
}

/* Pages all over a region of the largest size, all at once, and again. */
static void test_far_apart(void **state)
{
	static const uint64_t last = (MAX_SIZE >> 12) - 1;
	uint32_t key = make(0, MAX_SIZE);
	struct ohca_modify_pages_in in;
	unsigned int i, round;

	(void)state;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 46; i++) {
			in = pages(key, OHCA_PAGES_MAP, ((1ULL << i) - 1) & (last - 100), 100);
			assert_int_equal(run(&in, HEAD + 800), OHCA_CMD_OK);
			in = pages(key, OHCA_PAGES_MAP, last - (((1ULL << i) - 1) & last), 1);
			assert_int_equal(run(&in, HEAD + 8), OHCA_CMD_OK);
			/* An entry of 0 unmaps the page. */
			in.page[0] = 0;
			assert_int_equal(run(&in, HEAD + 8), OHCA_CMD_OK);
		}
		in = pages(key, OHCA_PAGES_UNMAP, 1 << 20, last - (2 << 20));
		assert_int_equal(run(&in, HEAD), OHCA_CMD_OK);
		in = pages(key, OHCA_PAGES_UNMAP, 0, last + 1);
		if (round < 2)
			assert_int_equal(run(&in, HEAD), OHCA_CMD_OK);
	}
	destroy(key);
}

/*
 * The memory for lists of pages is limited, and their nodes count: a command that fails has no
 * effect.
 */
static void test_bounded(void **state)
{
	struct ohca_create_mkey_in big = {
		.pdn = htole32(pdn), .type = OHCA_MKEY_FAST_REG, .max_pages = htole32(65536)};
	uint32_t key = make(0, MAX_SIZE), num[3], i, last = 0;
	struct ohca_modify_pages_in in;
	struct ohca_handle out;
	unsigned int round;
	int status;

	(void)state;
	while (!drv_cmd(drv, OHCA_CMD_CREATE_MKEY, &big, sizeof(big), &out, sizeof(out)))
		last = le32toh(out.id);
	in = pages(key, OHCA_PAGES_MAP, 511, 2);
	assert_int_equal(run(&in, HEAD + 16), OHCA_CMD_NO_RESOURCE);
	assert_true(last);
	destroy(last);
	for (round = 0; round < 3; round++) {
		for (i = 0;; i++) {
			/* Two leaves, one of which may exceed the limit. */
			in = pages(key, OHCA_PAGES_MAP, ((uint64_t)i << 20) + 511, 2);
			status = run(&in, HEAD + 16);
			if (status)
				break;
		}
		assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
		num[round] = i;
		in = pages(key, OHCA_PAGES_UNMAP, 0, MAX_SIZE >> 12);
		assert_int_equal(run(&in, HEAD), OHCA_CMD_OK);
	}
	assert_true(num[0] > 10);
	assert_int_equal(num[0], num[1]);
	assert_int_equal(num[0], num[2]);
	destroy(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capability), cmocka_unit_test(test_create),
		cmocka_unit_test(test_modify),	   cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_fields),	   cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_bounded),
	};

	return RUN_TESTS(tests, setup, teardown);
}
