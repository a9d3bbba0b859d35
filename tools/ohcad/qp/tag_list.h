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
#define TAG_CHUNK 64 /* tags */

/**
 * struct tag_chunk - masked tags in a row, so that they are compared without a look at the tags themselves
 * @link: in tag_list.masked, or in tag_list.unused
 * @num: tags in it
 * @match: what is compared
 * @tags: the tags
 */
struct tag_chunk {
	struct list link;
	uint32_t num;
	struct {
		uint64_t tag, mask;
	} match[TAG_CHUNK];
	struct tag *tags[TAG_CHUNK];
};

/**
 * struct tag - a tag and its scatter list
 * @link: all bits of its mask are ones: in one of tag_list.exact, but only the oldest one of a value
 * @same: with the others of its value
 * @chunk: it is masked: where it is
 * @seq: older tags have lower numbers
 * @sge: a copy
 */
struct tag {
	union {
		struct {
			struct list link;
			struct list same;
		};
		struct tag_chunk *chunk;
	};
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
 * @seed: of the hash, random, so that a client that chooses tags does not choose their lists
 * @exact: tags whose mask is all ones, by their hash, the oldest one of each value
 * @masked: chunks of the others, oldest first.  Two neighbours together have more tags than one has room for.
 * @unused: chunks that have been used
 * @num_chunks: chunks that were ever used
 * @tags: by their place; chunks are behind them
 */
struct tag_list {
	uint64_t seq;
	uint64_t active;
	uint32_t waiting;
	uint32_t unexpected;
	uint32_t synced;
	uint32_t max;
	uint64_t seed;
	struct list exact[TAG_BUCKETS];
	struct list masked;
	struct list unused;
	uint32_t num_chunks;
	struct tag tags[];
};

/* As many chunks as @max tags need at most */
static inline uint32_t tag_list_chunks(uint32_t max)
{
	return 2 * max / TAG_CHUNK + 2;
}

/* Bytes of one with room for @max tags */
static inline size_t tag_list_memory(uint32_t max)
{
	return sizeof(struct tag_list) + max * sizeof(struct tag) +
	       tag_list_chunks(max) * sizeof(struct tag_chunk);
}

struct tag_list *tag_list_new(uint32_t max); /* Returns NULL if there is no memory. */

/* The place of a handle, or NULL if the list has no such place */
static inline struct tag *tag_list_place(struct tag_list *list, uint32_t handle)
{
	return (handle & 0xffff) < list->max ? &list->tags[handle & 0xffff] : NULL;
}

/* Add @tag, an unused place; the fields from @tag on but @used are set. */
void tag_list_add(struct tag_list *list, struct tag *tag);
void tag_list_del(struct tag_list *list, struct tag *tag);

/* The oldest active tag that matches, or NULL.  *@compared: so many masked tags had to be compared. */
struct tag *tag_list_find(struct tag_list *list, uint64_t value, uint32_t *compared);

/* Software has handled @unexpected unexpected messages. */
void tag_list_sync(struct tag_list *list, uint32_t unexpected);
/* A message was unexpected (1), or such a message will not reach software after all (-1). */
void tag_list_count(struct tag_list *list, int num);

#endif
