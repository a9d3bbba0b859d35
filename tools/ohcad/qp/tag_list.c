// SPDX-License-Identifier: GPL-2.0
/*
 * The tags of an SRQ.
 *
 * Tags that match one value only are hashed.  The others are compared one by one, so the cost of a
 * message grows with the number of masked tags.
 */

#include <stdlib.h>

#include "qp/tag_list.h"

struct tag_list *tag_list_new(uint32_t max)
{
	struct tag_list *list = calloc(1, tag_list_memory(max));
	unsigned int i;

	if (!list)
		return NULL;
	list->max = max;
	for (i = 0; i < TAG_BUCKETS; i++)
		list_init(&list->exact[i]);
	list_init(&list->masked);
	return list;
}

static struct list *bucket(struct tag_list *list, uint64_t value)
{
	return &list->exact[(value * 0x9e3779b97f4a7c15ULL) >> 56];
}

/* Device and software agree on the unexpected messages: all tags become active. */
static void settle(struct tag_list *list)
{
	if (list->unexpected != list->synced)
		return;
	list->active = list->seq;
	list->waiting = 0;
}

void tag_list_add(struct tag_list *list, struct tag *tag)
{
	tag->used = true;
	tag->seq = list->seq++;
	list_add_tail(~tag->mask ? &list->masked : bucket(list, tag->tag), &tag->link);
	list->waiting++;
	settle(list);
}

void tag_list_del(struct tag_list *list, struct tag *tag)
{
	tag->used = false;
	list_del(&tag->link);
	if (tag->seq >= list->active)
		list->waiting--;
}

static struct tag *find_in(const struct tag_list *list, struct list *head, uint64_t value)
{
	struct list *node;

	for (node = head->next; node != head; node = node->next) {
		struct tag *tag = list_entry(node, struct tag, link);

		if (tag->seq >= list->active)
			break;
		if ((value & tag->mask) == tag->tag)
			return tag;
	}
	return NULL;
}

struct tag *tag_list_find(struct tag_list *list, uint64_t value)
{
	struct tag *exact = find_in(list, bucket(list, value), value);
	struct tag *masked = find_in(list, &list->masked, value);

	if (!exact || !masked)
		return exact ? exact : masked;
	return exact->seq < masked->seq ? exact : masked;
}

void tag_list_sync(struct tag_list *list, uint32_t unexpected)
{
	list->synced = unexpected;
	settle(list);
}

void tag_list_count(struct tag_list *list, int num)
{
	list->unexpected += num;
	settle(list);
}
