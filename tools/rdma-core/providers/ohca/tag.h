/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The list of tags of a shared receive queue.
 *
 * The device executes operations in order.  So a place in its list is free for another tag as soon
 * as a deletion was posted, or when the completion of a match was taken.  A handle has a number
 * besides the place, so that a late operation or match is not applied to the next tag at the same
 * place.
 */

#ifndef OHCA_TAG_H
#define OHCA_TAG_H

#include "ohca.h"
#include "wq.h"

#define OHCA_TAG_PLACE 0xffffU

/**
 * ohca_tag_find - find the tag with this handle; returns NULL if there is none
 * @srq: the SRQ, the send queue of its operations locked
 * @handle: of the tag
 */
static inline struct ohca_tag *ohca_tag_find(struct ohca_srq *srq, uint32_t handle)
{
	uint32_t place = handle & OHCA_TAG_PLACE;

	if (place >= srq->num_tags || !srq->tags[place].used || srq->tags[place].handle != handle)
		return NULL;
	return &srq->tags[place];
}

/**
 * ohca_tag_free - free the place of a tag
 * @srq: the SRQ, the send queue of its operations locked
 * @tag: the tag
 */
static inline void ohca_tag_free(struct ohca_srq *srq, struct ohca_tag *tag)
{
	tag->used = false;
	tag->next = srq->free_tag;
	srq->free_tag = tag - srq->tags;
}

/**
 * ohca_tag_matched - free the place of a tag that a message has matched
 * @srq: the SRQ, whose CQ is locked
 * @handle: of the tag
 */
static inline void ohca_tag_matched(struct ohca_srq *srq, uint32_t handle)
{
	struct ohca_tag *tag;
	struct ohca_wq *sq;
	uint32_t tail;

	/* The SRQ is being destroyed. */
	if (!srq->ops)
		return;
	sq = &srq->ops->sq;
	ohca_lock(&sq->lock);
	tag = ohca_tag_find(srq, handle);
	if (tag) {
		/* The operation that added the tag need not have a completion. */
		tail = atomic_load_explicit(&sq->tail, memory_order_relaxed);
		if ((int32_t)(tag->op - tail) > 0)
			atomic_store_explicit(&sq->tail, tag->op, memory_order_release);
		ohca_tag_free(srq, tag);
	}
	ohca_unlock(&sq->lock);
}

#endif /* OHCA_TAG_H */
