// SPDX-License-Identifier: GPL-2.0
/*
 * The tags of an SRQ.
 *
 * Tags that match one value only are hashed.  The others are compared one by one, so the cost of a
 * message grows with the number of masked tags.  So what is compared of them is close together in memory.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "qp/tag_list.h"

struct tag_list *tag_list_new(uint32_t max)
{
	struct tag_list *list = calloc(1, tag_list_memory(max));
	unsigned int i;

	if (!list)
		return NULL;
	if (getrandom(&list->seed, sizeof(list->seed), 0) != sizeof(list->seed)) {
		free(list);
		return NULL;
	}
	list->max = max;
	for (i = 0; i < TAG_BUCKETS; i++)
		list_init(&list->exact[i]);
	list_init(&list->masked);
	list_init(&list->unused);
	return list;
}

/* Tags with all bits of their mask */

static struct list *bucket(struct tag_list *list, uint64_t value)
{
	uint64_t hash = (value ^ list->seed) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ hash >> 32 ^ list->seed) * 0x94d049bb133111ebULL;
	return &list->exact[hash >> 56];
}

/* The oldest tag of a value, or NULL */
static struct tag *find_exact(struct tag_list *list, uint64_t value)
{
	struct list *head = bucket(list, value), *node;

	for (node = head->next; node != head; node = node->next) {
		struct tag *tag = list_entry(node, struct tag, link);

		if (tag->tag == value)
			return tag;
	}
	return NULL;
}

static void add_exact(struct tag_list *list, struct tag *tag)
{
	struct tag *oldest = find_exact(list, tag->tag);

	list_init(&tag->link);
	list_init(&tag->same);
	if (oldest)
		list_add_tail(&oldest->same, &tag->same);
	else
		list_add_tail(bucket(list, tag->tag), &tag->link);
}

static void del_exact(struct tag *tag)
{
	struct tag *next = list_entry(tag->same.next, struct tag, same);

	/* The next one of its value takes its place, if it had one. */
	if (next != tag && !list_empty(&tag->link))
		list_add_tail(&tag->link, &next->link);
	list_del(&tag->link);
	list_del(&tag->same);
}

/* Masked tags */

static struct tag_chunk *chunk_of(struct list *node)
{
	return list_entry(node, struct tag_chunk, link);
}

static void put(struct tag_chunk *chunk, struct tag *tag)
{
	chunk->match[chunk->num].tag = tag->tag;
	chunk->match[chunk->num].mask = tag->mask;
	chunk->tags[chunk->num++] = tag;
	tag->chunk = chunk;
}

/* One that has been used before, if there is one: others are in memory that nobody has touched yet. */
static struct tag_chunk *new_chunk(struct tag_list *list)
{
	struct tag_chunk *chunks = (struct tag_chunk *)&list->tags[list->max], *chunk;

	if (list_empty(&list->unused)) {
		chunk = &chunks[list->num_chunks++];
	} else {
		chunk = chunk_of(list->unused.next);
		list_del(&chunk->link);
	}
	list_add_tail(&list->masked, &chunk->link);
	return chunk;
}

static void add_masked(struct tag_list *list, struct tag *tag)
{
	struct list *last = list->masked.prev;

	if (last == &list->masked || chunk_of(last)->num == TAG_CHUNK)
		put(new_chunk(list), tag);
	else
		put(chunk_of(last), tag);
}

/* If the tags of two neighbours have room in one, they are in the first one from now on. */
static void merge(struct tag_list *list, struct list *first, struct list *second)
{
	struct tag_chunk *from;
	uint32_t i;

	if (first == &list->masked || second == &list->masked ||
	    chunk_of(first)->num + chunk_of(second)->num > TAG_CHUNK)
		return;
	from = chunk_of(second);
	for (i = 0; i < from->num; i++)
		put(chunk_of(first), from->tags[i]);
	from->num = 0;
	list_del(second);
	list_add_tail(&list->unused, second);
}

static void del_masked(struct tag_list *list, struct tag *tag)
{
	struct tag_chunk *chunk = tag->chunk;
	struct list *node = &chunk->link;
	uint32_t i = 0, left;

	while (chunk->tags[i] != tag)
		i++;
	left = --chunk->num - i;
	memmove(&chunk->match[i], &chunk->match[i + 1], left * sizeof(chunk->match[0]));
	memmove(&chunk->tags[i], &chunk->tags[i + 1], left * sizeof(struct tag *));
	if (!chunk->num) {
		node = node->prev;
		list_del(&chunk->link);
		list_add_tail(&list->unused, &chunk->link);
	}
	merge(list, node, node->next);
	merge(list, node->prev, node);
}

static struct tag *find_masked(const struct tag_list *list, uint64_t value, uint32_t *compared)
{
	const struct list *node;
	uint32_t i;

	*compared = 0;
	for (node = list->masked.next; node != &list->masked; node = node->next) {
		const struct tag_chunk *chunk = list_entry(node, struct tag_chunk, link);

		for (i = 0; i < chunk->num; i++) {
			if ((value & chunk->match[i].mask) == chunk->match[i].tag)
				break;
		}
		*compared += i;
		if (i < chunk->num)
			return chunk->tags[i];
	}
	return NULL;
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
	if (~tag->mask)
		add_masked(list, tag);
	else
		add_exact(list, tag);
	list->waiting++;
	settle(list);
}

void tag_list_del(struct tag_list *list, struct tag *tag)
{
	tag->used = false;
	if (~tag->mask)
		del_masked(list, tag);
	else
		del_exact(tag);
	if (tag->seq >= list->active)
		list->waiting--;
}

/* The others of those that match are no older: only if it is active, one is. */
static struct tag *if_active(const struct tag_list *list, struct tag *tag)
{
	return tag && tag->seq < list->active ? tag : NULL;
}

struct tag *tag_list_find(struct tag_list *list, uint64_t value, uint32_t *compared)
{
	struct tag *exact = if_active(list, find_exact(list, value));
	struct tag *masked = if_active(list, find_masked(list, value, compared));

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
