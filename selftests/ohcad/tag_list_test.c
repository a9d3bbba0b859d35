// SPDX-License-Identifier: GPL-2.0
/* The tags of an SRQ, compared with a list that is searched from its beginning. */

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "qp/tag_list.h"
#include "rnd.h"

#define MAX 300U
#define STEPS 200000U
#define VALUES 40U

static struct tag_list *list;

/* Tags in the order in which they were added */
static struct tag *order[MAX];
static unsigned int num;

static void forget(struct tag *tag)
{
	unsigned int i = 0;

	while (order[i] != tag)
		i++;
	memmove(&order[i], &order[i + 1], (--num - i) * sizeof(struct tag *));
}

static struct tag *plain_find(uint64_t value, unsigned int *masked)
{
	struct tag *found = NULL;
	unsigned int i;

	*masked = 0;
	for (i = 0; i < num; i++) {
		const struct tag *tag = order[i];

		*masked += tag->mask != UINT64_MAX;
		if (!found && (value & tag->mask) == tag->tag && tag->seq < list->active)
			found = order[i];
	}
	return found;
}

static void add(void)
{
	static const uint64_t masks[] = {UINT64_MAX, UINT64_MAX, 0xff, 0xff00, 0, 0xf0f0};
	struct tag *tag = &list->tags[rnd(MAX)];

	if (tag->used)
		return;
	tag->mask = masks[rnd(sizeof(masks) / sizeof(masks[0]))];
	/* Some can match nothing. */
	tag->tag = (rnd(VALUES) * 0x101) & (rnd(8) ? tag->mask : UINT64_MAX);
	tag_list_add(list, tag);
	order[num++] = tag;
}

static void find(bool take)
{
	uint64_t value = rnd(VALUES) * 0x101;
	uint32_t compared;
	unsigned int masked;
	struct tag *want = plain_find(value, &masked), *tag;

	tag = tag_list_find(list, value, &compared);
	assert_ptr_equal(tag, want);
	assert_true(compared <= masked);
	if (!tag || !take)
		return;
	tag_list_del(list, tag);
	forget(tag);
}

static void del(void)
{
	struct tag *tag;

	if (!num)
		return;
	tag = order[rnd(num)];
	tag_list_del(list, tag);
	forget(tag);
}

/* Few chunks are enough, however tags come and go. */
static void check(void)
{
	const struct list *node;
	unsigned int sum = 0, masked;

	plain_find(0, &masked);
	for (node = list->masked.next; node != &list->masked; node = node->next)
		sum += list_entry(node, struct tag_chunk, link)->num;
	assert_int_equal(sum, masked);
	assert_true(list->num_chunks <= tag_list_chunks(MAX));
}

static void test_random(void **state)
{
	unsigned int i, phase = 0;
	uint32_t unexpected = 0;

	(void)state;
	rnd_seed();
	list = tag_list_new(MAX);
	num = 0;
	for (i = 0; i < STEPS; i++) {
		/* The list becomes full and empty. */
		if (!(i % 2000))
			phase = rnd(3);
		if (rnd(4) < 1 + phase)
			add();
		else if (rnd(4))
			find(true);
		else
			del();
		find(false);
		if (!rnd(100))
			tag_list_count(list, 1);
		if (!rnd(50)) {
			unexpected = list->unexpected;
			tag_list_sync(list, unexpected);
		}
		if (!(i % 64))
			check();
	}
	free(list);
}

/* Of masked tags that were added in order, every chunk loses all but one: they do not take a chunk each. */
static void test_sparse(void **state)
{
	unsigned int round, i;
	uint32_t compared;

	(void)state;
	list = tag_list_new(MAX);
	num = 0;
	for (round = 0; round < MAX; round++) {
		struct tag *keep = &list->tags[round];

		for (i = 0; i < TAG_CHUNK && round + i < MAX; i++) {
			struct tag *tag = &list->tags[round + i];

			tag->mask = 1;
			tag->tag = 2;
			tag_list_add(list, tag);
		}
		for (i = 1; i < TAG_CHUNK && round + i < MAX; i++)
			tag_list_del(list, &list->tags[round + i]);
		assert_true(keep->used);
	}
	assert_null(tag_list_find(list, 0, &compared));
	assert_int_equal(compared, MAX);
	assert_true(list->num_chunks <= tag_list_chunks(MAX));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sparse),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
