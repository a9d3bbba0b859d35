// SPDX-License-Identifier: GPL-2.0
/* Tables of objects by number. */

#include "harness.h"
#include "base/table.h"

static int obj[5000];

static void test_numbers_start_at_first(void **state)
{
	struct table t;
	uint32_t id;

	(void)state;
	assert_int_equal(table_init(&t, 7, 10), 0);
	assert_null(table_get(&t, 7));
	assert_int_equal(table_add(&t, &obj[0], &id), 0);
	assert_int_equal(id, 7);
	assert_ptr_equal(table_get(&t, 7), &obj[0]);
	assert_null(table_get(&t, 6));
	assert_null(table_get(&t, 10));
	assert_null(table_get(&t, UINT32_MAX));
	table_fini(&t);
}

static void test_limit_holds(void **state)
{
	struct table t;
	uint32_t id, i;

	(void)state;
	assert_int_equal(table_init(&t, 1, 1025), 0);
	for (i = 0; i < 1024; i++)
		assert_int_equal(table_add(&t, &obj[i], &id), 0);
	assert_int_equal(table_add(&t, &obj[i], &id), -ENOSPC);
	table_del(&t, 500);
	assert_int_equal(table_add(&t, &obj[i], &id), 0);
	assert_int_equal(id, 500);
	assert_int_equal(table_add(&t, &obj[i], &id), -ENOSPC);
	table_fini(&t);
}

static void test_freed_number_is_last_to_return(void **state)
{
	struct table t;
	uint32_t id, i;

	(void)state;
	assert_int_equal(table_init(&t, 0, 3000), 0);
	for (i = 0; i < 2999; i++) {
		assert_int_equal(table_add(&t, &obj[0], &id), 0);
		assert_int_equal(id, i);
		table_del(&t, id);
	}
	assert_int_equal(table_add(&t, &obj[0], &id), 0);
	assert_int_equal(id, 2999);
	assert_int_equal(table_add(&t, &obj[0], &id), 0);
	assert_int_equal(id, 0);
	table_fini(&t);
}

/* An empty table gives out fewer numbers from then on, or all again. */
static void test_fewer_numbers(void **state)
{
	struct table t;
	uint32_t id, i;

	(void)state;
	assert_int_equal(table_init(&t, 5, 3000), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(table_add(&t, &obj[i], &id), 0);
		table_del(&t, id);
	}
	t.max = 4;
	for (i = 0; i < 4; i++) {
		assert_int_equal(table_add(&t, &obj[i], &id), 0);
		assert_int_equal(id, 5 + i);
	}
	assert_int_equal(table_add(&t, &obj[4], &id), -ENOSPC);
	table_del(&t, 6);
	assert_int_equal(table_add(&t, &obj[4], &id), 0);
	assert_int_equal(id, 6);
	for (i = 5; i < 9; i++)
		table_del(&t, i);
	t.max = 3000 - 5;
	for (i = 0; i < 3000 - 5; i++)
		assert_int_equal(table_add(&t, &obj[i], &id), 0);
	assert_int_equal(table_add(&t, &obj[i], &id), -ENOSPC);
	table_fini(&t);
}

/* A number below the first one is allocated explicitly, in addition to all others. */
static void test_numbers_below_first(void **state)
{
	uint32_t id, i;
	struct table t;

	(void)state;
	assert_int_equal(table_init(&t, 16, 20), 0);
	assert_int_equal(table_add_at(&t, &obj[0], 1), 0);
	assert_int_equal(table_add_at(&t, &obj[1], 1), -EEXIST);
	assert_ptr_equal(table_get(&t, 1), &obj[0]);
	for (i = 16; i < 20; i++) {
		assert_int_equal(table_add(&t, &obj[i], &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(table_add(&t, &obj[20], &id), -ENOSPC);
	id = 0;
	assert_ptr_equal(table_next(&t, &id), &obj[0]);
	assert_int_equal(id, 1);
	table_del(&t, 1);
	table_del(&t, 1);
	assert_int_equal(t.count, 4);
	assert_null(table_get(&t, 1));
	assert_int_equal(table_add_at(&t, &obj[2], 1), 0);
	table_fini(&t);
}

static void test_memory_shrinks(void **state)
{
	uint32_t id, i, leaves = 0;
	struct table t;

	(void)state;
	assert_int_equal(table_init(&t, 0, 5 * TABLE_LEAF), 0);
	for (i = 0; i < 3 * TABLE_LEAF + 1; i++)
		assert_int_equal(table_add(&t, &obj[i % 5000], &id), 0);
	for (i = 0; i < 3 * TABLE_LEAF + 1; i++)
		table_del(&t, i);
	assert_int_equal(t.count, 0);
	for (i = 0; i < 5; i++)
		leaves += !!t.leaves[i];
	assert_int_equal(leaves, 1);
	table_fini(&t);
}

static void test_next_walks_all(void **state)
{
	uint32_t id, n = 0, i;
	struct table t;

	(void)state;
	assert_int_equal(table_init(&t, 1, 10000), 0);
	for (i = 0; i < 5000; i++)
		assert_int_equal(table_add(&t, &obj[i], &id), 0);
	for (i = 1; i <= 5000; i++) {
		if (i % 3 || (i > 1024 && i < 2048))
			table_del(&t, i);
	}
	for (id = 0; table_next(&t, &id); id++, n++) {
		assert_int_equal(id % 3, 0);
		assert_ptr_equal(table_get(&t, id), &obj[id - 1]);
	}
	assert_int_equal(n, t.count);
	table_fini(&t);
}

static void test_random_against_model(void **state)
{
	static uint8_t model[2100];
	uint32_t id, i, count = 0;
	struct table t;

	(void)state;
	srand(1);
	assert_int_equal(table_init(&t, 3, 2100), 0);
	for (i = 0; i < 200000; i++) {
		if (rand() % 2) {
			if (table_add(&t, &obj[0], &id)) {
				assert_int_equal(count, 2097);
				continue;
			}
			assert_true(id >= 3 && id < 2100 && !model[id]);
			model[id] = 1;
			count++;
		} else {
			id = rand() % 2200;
			if (table_get(&t, id)) {
				assert_true(model[id]);
				model[id] = 0;
				count--;
			} else {
				assert_true(id >= 2100 || !model[id]);
			}
			table_del(&t, id);
		}
		assert_int_equal(t.count, count);
	}
	table_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_start_at_first),
		cmocka_unit_test(test_limit_holds),
		cmocka_unit_test(test_freed_number_is_last_to_return),
		cmocka_unit_test(test_numbers_below_first),
		cmocka_unit_test(test_memory_shrinks),
		cmocka_unit_test(test_next_walks_all),
		cmocka_unit_test(test_fewer_numbers),
		cmocka_unit_test(test_random_against_model),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
