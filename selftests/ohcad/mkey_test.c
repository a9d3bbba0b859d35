// SPDX-License-Identifier: GPL-2.0
/* Memory regions in use: their first addresses, and changes of them. */

#include <endian.h>
#include <stdlib.h>

#include "harness.h"
#include "hcas.h"
#include "memop.h"

/*
 * A region of two pages of @p->b's HCA that begins @offset bytes into the first one; *@ptr is set
 * to its first byte.
 */
static struct ohca_create_mkey_in region_in(struct pair *p, uint64_t iova, uint32_t offset,
					    uint64_t length, uint8_t **ptr)
{
	struct rig_hca *hca = p->b->hca;
	uint64_t addr = drv_alloc(hca->drv, 8192);
	struct ohca_create_mkey_in in = {
		.xlt = drv_xlt(hca->drv, addr, offset + length, 12),
		.iova = htole64(iova),
		.length = htole64(length),
		.pdn = htole32(hca->pdn),
		.access = RIG_ALL_ACCESS,
	};

	in.xlt.offset = htole32(offset);
	*ptr = (uint8_t *)drv_ptr(hca->drv, addr) + offset;
	return in;
}

/* Address and offset in the page are independent. */
static void test_any_iova(void **state)
{
	static const uint64_t iovas[] = {0, 1, 0x1fff, 0x7f0000000123ULL, -5000ULL};
	struct pair p = pair_open(server, NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		uint64_t value = 0x1122334455667788ULL + i, got = 0;
		struct ohca_create_mkey_in in;
		uint8_t *ptr;
		uint32_t key;

		in = region_in(&p, iovas[i], 0xabc, 5000, &ptr);
		key = drv_create(p.b->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
		/* Into the bytes around the end of the first page. */
		assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_WRITE, &value, iovas[i] + 0x540, key),
				 0);
		assert_memory_equal(ptr + 0x540, &value, 8);
		assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, iovas[i] + 0x540, key), 0);
		assert_int_equal(got, value);
		assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, iovas[i] + 4993, key),
				 OHCA_WC_REM_ACCESS_ERR);
		memop_reconnect(&p);
	}
	rig_close(p.rig);
}

static int modify(struct pair *p, uint32_t key, uint32_t mask, struct ohca_create_mkey_in attr)
{
	struct ohca_modify_mkey_in in = {
		.key = htole32(key), .attr_mask = htole32(mask), .attr = attr};

	if (!(mask & OHCA_MKEY_ATTR_XLT)) {
		memset(&in.attr.xlt, 0, sizeof(in.attr.xlt));
		in.attr.iova = 0;
		in.attr.length = 0;
	}
	if (!(mask & OHCA_MKEY_ATTR_PD))
		in.attr.pdn = 0;
	if (!(mask & OHCA_MKEY_ATTR_ACCESS))
		in.attr.access = 0;
	return drv_cmd(p->b->hca->drv, OHCA_CMD_MODIFY_MKEY, &in, sizeof(in), NULL, 0);
}

/* Each attribute that can change changes, and nothing else; the key stays the same. */
static void test_modify(void **state)
{
	struct pair p = pair_open(server, NULL);
	uint32_t pdn = drv_create(p.b->hca->drv, OHCA_CMD_ALLOC_PD, NULL, 0), key;
	struct ohca_create_mkey_in in, other;
	uint64_t one = 1, two = 2, got = 0;
	uint8_t *ptr, *ptr2;

	(void)state;
	in = region_in(&p, 0x1000, 0, 4096, &ptr);
	key = drv_create(p.b->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	other = region_in(&p, 0x7000, 8, 8, &ptr2);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_WRITE, &one, 0x1000, key), 0);
	assert_int_equal(modify(&p, key, OHCA_MKEY_ATTR_XLT, other), 0);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_WRITE, &two, 0x7000, key), 0);
	assert_memory_equal(ptr, &one, 8);
	assert_memory_equal(ptr2, &two, 8);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, 0x1000, key),
			 OHCA_WC_REM_ACCESS_ERR);
	memop_reconnect(&p);

	other.access = OHCA_ACCESS_REMOTE_READ;
	assert_int_equal(modify(&p, key, OHCA_MKEY_ATTR_ACCESS, other), 0);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, 0x7000, key), 0);
	assert_int_equal(got, 2);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_WRITE, &one, 0x7000, key),
			 OHCA_WC_REM_ACCESS_ERR);
	memop_reconnect(&p);

	other.pdn = htole32(pdn);
	assert_int_equal(modify(&p, key, OHCA_MKEY_ATTR_PD, other), 0);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, 0x7000, key),
			 OHCA_WC_REM_ACCESS_ERR);
	memop_reconnect(&p);

	/* All attributes at once, and a change that fails has no effect. */
	assert_int_equal(modify(&p, key,
				OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS, in),
			 0);
	other.xlt.addr = htole64(4096 + 1);
	assert_int_equal(modify(&p, key,
				OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS,
				other),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, 0x1000, key), 0);
	assert_int_equal(got, 1);
	rig_close(p.rig);
}

/* The low bits of a key are checked when memory is accessed. */
static void test_low_bits(void **state)
{
	struct pair p = pair_open(server, NULL);
	uint64_t got;
	unsigned int bit;

	(void)state;
	for (bit = 0; bit < 8; bit++) {
		assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, PAIR_IOVA,
					    p.mb->key ^ 1U << bit),
				 OHCA_WC_REM_ACCESS_ERR);
		memop_reconnect(&p);
	}
	rig_close(p.rig);
}

#define NUM_KEYS 4096
#define SPREAD (NUM_KEYS / 16) /* more than eight standard deviations of the bits that are set */

static uint32_t set_bits(const uint32_t *keys, unsigned int bit, unsigned int distance)
{
	uint32_t i, sum = 0;

	for (i = distance; i < NUM_KEYS; i++)
		sum += (keys[i] ^ (distance ? keys[i - distance] : 0)) >> bit & 1;
	return sum;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Keys that are made one after the other, of objects that exist at a time and of one that is made
 * again and again: each bit is set in half of them, and differs between neighbours in half of them, and
 * hardly any two differences between neighbours are equal.
 */
static void test_random_keys(void **state)
{
	struct rig *rig = rig_open(server);
	struct rig_hca *hca = &rig->hca[0];
	static uint32_t keys[NUM_KEYS], diff[NUM_KEYS];
	unsigned int again, bit, i, distance, same = 0;

	(void)state;
	for (again = 0; again < 2; again++) {
		for (i = 0; i < NUM_KEYS; i++) {
			keys[i] = memop_key(hca, OHCA_MKEY_MW_1, 0);
			diff[i] = i ? keys[i] - keys[i - 1] : 0;
			if (again)
				assert_int_equal(
					drv_destroy(hca->drv, OHCA_CMD_DESTROY_MKEY, keys[i]), 0);
		}
		for (bit = 0; bit < 32; bit++) {
			for (distance = 0; distance < 3; distance++) {
				uint32_t num = set_bits(keys, bit, distance);

				assert_in_range(num, NUM_KEYS / 2 - SPREAD, NUM_KEYS / 2 + SPREAD);
			}
		}
		for (i = 0; i < NUM_KEYS && !again; i++)
			assert_int_equal(drv_destroy(hca->drv, OHCA_CMD_DESTROY_MKEY, keys[i]), 0);
		qsort(keys, NUM_KEYS, sizeof(keys[0]), compare);
		qsort(diff, NUM_KEYS, sizeof(diff[0]), compare);
		for (i = 1; i < NUM_KEYS; i++) {
			assert_int_not_equal(keys[i] >> 8, again ? 0 : keys[i - 1] >> 8);
			same += diff[i] == diff[i - 1];
		}
	}
	assert_in_range(same, 0, 3);
	rig_close(rig);
}

#define NODE 0x800000000ULL
#define NODE_SIZE (1ULL << 20)

/* Memory of the host that is in several pieces, one behind the other, as that of several NUMA nodes. */
static void test_dma_across_pieces(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct vu *vu = p.b->hca->drv->vu;
	struct ohca_create_mkey_in in = {
		.type = OHCA_MKEY_DMA, .pdn = htole32(p.b->hca->pdn), .access = RIG_ALL_ACCESS};
	uint32_t key = drv_create(p.b->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	uint64_t value = 0x1122334455667788ULL, got = 0;
	struct vu_mem *first = vu_mem_new(vu, NODE, NODE_SIZE);
	struct vu_mem *second = vu_mem_new(vu, NODE + NODE_SIZE, NODE_SIZE);

	(void)state;
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_WRITE, &value, NODE + NODE_SIZE - 3, key), 0);
	assert_memory_equal((uint8_t *)first->va + NODE_SIZE - 3, &value, 3);
	assert_memory_equal(second->va, (uint8_t *)&value + 3, 5);
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_READ, &got, NODE + NODE_SIZE - 3, key), 0);
	assert_int_equal(got, value);
	/* There is nothing behind them. */
	assert_int_equal(memop_rdma(&p, OHCA_OP_RDMA_WRITE, &value, NODE + 2 * NODE_SIZE - 3, key),
			 OHCA_WC_REM_OP_ERR);
	rig_close(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_iova),	  cmocka_unit_test(test_modify),
		cmocka_unit_test(test_low_bits),	  cmocka_unit_test(test_random_keys),
		cmocka_unit_test(test_dma_across_pieces),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
