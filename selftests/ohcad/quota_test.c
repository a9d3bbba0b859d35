// SPDX-License-Identifier: GPL-2.0
/*
 * Quotas: the first HCA takes as much as it gets of something.  Then it is refused, the second one still gets all of its
 * own, and what the first one gives back it can take again.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_assert.h"
#include "rig_assert.h"
#include "rig_odp.h"

#define HOG 0
#define NEIGHBOUR 1

static struct rig *rig;

static int start_with(uint32_t given, const struct quota_options *opts)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		inproc_quotas[i] = *opts;
		inproc_quotas[i].given = given;
	}
	server = server_start(2);
	rig = rig_open(server);
	return 0;
}

static int start(void **state)
{
	static const struct quota_options none;

	(void)state;
	return start_with(0, &none);
}

static int stop(void **state)
{
	(void)state;
	rig_close(rig);
	memset(inproc_quotas, 0, sizeof(inproc_quotas));
	return server_stop(server) ? 0 : -1;
}

static const struct quota *quota(unsigned int i, enum quota_kind kind)
{
	return &inproc_hca(i)->quotas[kind];
}

static int create(unsigned int i, uint16_t opcode, const void *in, size_t len, uint32_t *id)
{
	struct ohca_handle out = {0};
	int status = drv_cmd(rig->hca[i].drv, opcode, in, len, &out, sizeof(out));

	*id = le32toh(out.id);
	return status;
}

#define FAST_REG_PAGES (1U << 16)

/* Memory keys for fast registration, whose lists of pages are as long as possible; returns how many there were. */
static unsigned int take_pages(unsigned int i, uint32_t *last)
{
	const struct ohca_create_mkey_in in = {.pdn = htole32(rig->hca[i].pdn),
					       .type = OHCA_MKEY_FAST_REG,
					       .max_pages = htole32(FAST_REG_PAGES)};
	unsigned int num = 0;
	uint32_t id;
	int status;

	while (!(status = create(i, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id))) {
		*last = id;
		num++;
	}
	assert_int_equal(status, OHCA_CMD_NO_RESOURCE);
	return num;
}

/* Also page lists of other kinds are refused then. */
static void assert_no_pages(unsigned int i)
{
	struct drv *drv = rig->hca[i].drv;
	uint64_t addr = drv_alloc(drv, 4096);
	struct ohca_create_mkey_in in = {
		.xlt = drv_xlt(drv, addr, 4096, 12),
		.iova = htole64(addr),
		.length = htole64(4096),
		.pdn = htole32(rig->hca[i].pdn),
		.access = OHCA_ACCESS_LOCAL_WRITE,
	};
	struct ohca_create_mkey_in odp_in = {.xlt = {.page_shift = 12},
					     .length = htole64(4096),
					     .pdn = in.pdn,
					     .access = OHCA_ACCESS_LOCAL_WRITE,
					     .type = OHCA_MKEY_ODP};
	struct ohca_modify_pages_in pages = {.op = OHCA_PAGES_MAP, .num = htole64(1)};
	struct ohca_create_cq_in cq_in;
	struct drv_cq cq;
	uint32_t id;

	assert_int_equal(create(i, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id),
			 OHCA_CMD_NO_RESOURCE);
	cq_in = drv_cq_in(drv, 4, rig->hca[i].comp->eqn, &cq);
	assert_int_equal(create(i, OHCA_CMD_CREATE_CQ, &cq_in, sizeof(cq_in), &id),
			 OHCA_CMD_NO_RESOURCE);
	assert_int_equal(create(i, OHCA_CMD_CREATE_MKEY, &odp_in, sizeof(odp_in), &id), 0);
	pages.key = htole32(id);
	pages.page[0] = htole64(addr | OHCA_PAGE_PRESENT);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PAGES, &pages,
				 offsetof(struct ohca_modify_pages_in, page[1]), NULL, 0),
			 OHCA_CMD_NO_RESOURCE);
}

static void test_pages(void **state)
{
	const uint64_t before = quota(HOG, QUOTA_PAGES)->used;
	uint32_t last = 0;
	unsigned int num;

	(void)state;
	num = take_pages(HOG, &last);
	assert_int_equal(num, (quota(HOG, QUOTA_PAGES)->max - before) / FAST_REG_PAGES);
	while (take_pages(HOG, &last))
		;
	assert_int_equal(take_pages(NEIGHBOUR, &last), num);
	assert_int_equal(quota(NEIGHBOUR, QUOTA_PAGES)->refused, 1);
}

/* A small quota, to the last page */
static int start_few_pages(void **state)
{
	const struct quota_options opts = {.max = {[QUOTA_PAGES] = 2 * FAST_REG_PAGES}};

	(void)state;
	return start_with(1U << QUOTA_PAGES, &opts);
}

static void test_last_page(void **state)
{
	struct ohca_create_mkey_in in = {.pdn = htole32(rig->hca[HOG].pdn),
					 .type = OHCA_MKEY_FAST_REG};
	const struct quota *pages = quota(HOG, QUOTA_PAGES);
	uint64_t before = pages->used;
	uint32_t last = 0, id;

	(void)state;
	assert_true(before);
	assert_int_equal(take_pages(HOG, &last), 1);
	in.max_pages = htole32(pages->max - pages->used + 1);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id),
			 OHCA_CMD_NO_RESOURCE);
	in.max_pages = htole32(pages->max - pages->used);
	assert_int_equal(create(HOG, OHCA_CMD_CREATE_MKEY, &in, sizeof(in), &id), 0);
	assert_int_equal(pages->used, pages->max);
	assert_no_pages(HOG);
	assert_int_equal(drv_destroy(rig->hca[HOG].drv, OHCA_CMD_DESTROY_MKEY, last), 0);
	assert_int_equal(take_pages(HOG, &last), 1);
	rig_renew(rig);
	assert_int_equal(pages->used, before);
	drv_reset(rig->hca[HOG].drv);
	assert_int_equal(pages->used, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pages),
		cmocka_unit_test_setup_teardown(test_last_page, start_few_pages, stop),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
