/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tags of an SRQ of type OHCA_SRQ_TM: finds the tag that a message matches, and synchronizes
 * with software, which matches all messages that match no tag here.
 */

#ifndef OHCAD_TAG_LIST_H
#define OHCAD_TAG_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "ohca/ohca_queue.h"

#define TAG_BUCKETS 256

/**
 * struct tag - a tag and its scatter list
 * @link: in one of the lists of struct tag_list, while @used
 * @seq: older tags have lower numbers
 * @sge: a copy
 */
struct tag {
	struct list link;
	uint64_t seq;
	uint64_t tag;
	uint64_t mask;
	uint64_t wr_id;
	uint32_t handle;
	uint16_t num_sge;
	bool used;
	struct ohca_sge sge[OHCA_TM_MAX_SGE];
};

/**
 * struct tag_list - the tags of an SRQ
 * @seq: of the next tag
 * @active: tags below this match: software had handled all unexpected messages after they were
 *	added
 * @waiting: number of tags that do not match yet
 * @unexpected: messages that matched no tag
 * @synced: number of those that software has handled, as it reported
 * @max: number of @tags
 * @exact: tags whose mask is all ones, by their hash, oldest first
 * @masked: the others, oldest first
 * @tags: by their place
 */
struct tag_list {
	uint64_t seq;
	uint64_t active;
	uint32_t waiting;
	uint32_t unexpected;
	uint32_t synced;
	uint32_t max;
	struct list exact[TAG_BUCKETS];
	struct list masked;
	struct tag tags[];
};

/* Bytes of one with room for @max tags */
static inline size_t tag_list_memory(uint32_t max)
{
	return sizeof(struct tag_list) + max * sizeof(struct tag);
}

struct tag_list *tag_list_new(uint32_t max); /* Returns NULL if there is no memory. */

/* The place of a handle, or NULL if the list has no such place */
static inline struct tag *tag_list_place(struct tag_list *list, uint32_t handle)
{
	return (handle & 0xffff) < list->max ? &list->tags[handle & 0xffff] : NULL;
}

/* Add @tag, an unused place; all fields but @link, @seq and @used are set. */
void tag_list_add(struct tag_list *list, struct tag *tag);
void tag_list_del(struct tag_list *list, struct tag *tag);

/* The oldest active tag that matches, or NULL. */
struct tag *tag_list_find(struct tag_list *list, uint64_t value);

/* Software has handled @unexpected unexpected messages. */
void tag_list_sync(struct tag_list *list, uint32_t unexpected);
/* A message was unexpected (1), or such a message will not reach software after all (-1). */
void tag_list_count(struct tag_list *list, int num);

#endif
