// SPDX-License-Identifier: GPL-2.0
/* Hash tables. */

#include "base/hash_table.h"
#include "base/list.h"
#include "harness.h"

#define NUM 5000
#define SAME 3 /* objects of each key */

struct object {
	uint64_t key;
	unsigned int order;
	struct hash_node node;
};

static struct object objects[NUM];

static uint64_t hash(const struct hash_table *t, uint64_t key)
{
	return hash_of(t, 7, &key, 1);
}

/* The objects of a key that are in the table are found in the order in which they were added. */
static unsigned int num_found(const struct hash_table *t, uint64_t key)
{
	struct hash_node *node = hash_table_find(t, hash(t, key));
	unsigned int num = 0, order = 0;

	for (; node; node = hash_table_next(node)) {
		const struct object *object = list_entry(node, struct object, node);

		if (object->key != key)
			continue;
		assert_true(object->order >= order);
		order = object->order;
		num++;
	}
	return num;
}

static void fill(struct hash_table *t)
{
	unsigned int i;

	for (i = 0; i < NUM; i++) {
		objects[i].key = i / SAME;
		objects[i].order = i;
		assert_true(hash_table_grow(t));
		hash_table_add(t, &objects[i].node, hash(t, objects[i].key));
	}
	assert_int_equal(t->count, NUM);
}

static void test_empty(void **state)
{
	struct hash_table t = {0};

	(void)state;
	assert_null(hash_table_find(&t, 0));
	assert_true(hash_table_grow(&t));
	assert_null(hash_table_find(&t, hash(&t, 1)));
	hash_table_fini(&t);
	assert_null(hash_table_find(&t, 0));
}

static void test_found_and_removed(void **state)
{
	struct hash_table t = {0};
	unsigned int i;

	(void)state;
	fill(&t);
	for (i = 0; i < NUM / SAME; i++)
		assert_int_equal(num_found(&t, i), SAME);
	assert_int_equal(num_found(&t, NUM), 0);
	for (i = 0; i < NUM; i += 2)
		hash_table_del(&t, &objects[i].node);
	assert_int_equal(t.count, NUM / 2);
	for (i = 0; i < NUM / SAME; i++)
		assert_int_equal(num_found(&t, i), i % 2 ? 2 : 1);
	hash_table_fini(&t);
	assert_int_equal(t.count, 0);
}

/* Each call makes room for one node, by one bucket: nothing is done for all nodes at once. */
static void test_grows_by_one(void **state)
{
	struct hash_table t = {0};
	unsigned int i, before;

	(void)state;
	for (i = 0; i < NUM; i++) {
		before = t.num;
		assert_true(hash_table_grow(&t));
		if (before)
			assert_in_range(t.num - before, 0, 1);
		assert_true(t.num > t.count);
		assert_in_range(t.num, t.half + 1, 2 * t.half);
		hash_table_add(&t, &objects[i].node, hash(&t, i));
	}
	hash_table_fini(&t);
}

/* No chain is long, and two tables have different hashes. */
static void test_spread(void **state)
{
	struct hash_table t = {0}, other = {0};
	unsigned int i, len, longest = 0;

	(void)state;
	fill(&t);
	for (i = 0; i < t.num; i++) {
		const struct hash_node *node = t.buckets[i];

		for (len = 0; node; node = node->next)
			len++;
		longest = len > longest ? len : longest;
	}
	assert_in_range(longest, SAME, 10 * SAME);
	assert_true(hash_table_grow(&other));
	assert_int_not_equal(hash(&t, 1), hash(&other, 1));
	hash_table_fini(&t);
	hash_table_fini(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_found_and_removed),
		cmocka_unit_test(test_grows_by_one),
		cmocka_unit_test(test_spread),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
