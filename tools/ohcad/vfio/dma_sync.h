/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guest memory in files on a disk is written back by a thread, as that takes as long as the disk does.  Requests of all
 * maps are served one after the other.
 */

#ifndef OHCAD_DMA_SYNC_H
#define OHCAD_DMA_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct dma_map;
struct loop;

/**
 * struct dma_sync - what was asked for the memory of an HCA; all zero but @link at first
 * @link: in the list of those that wait for the thread
 * @asked: number of the last request
 * @begun: of the last one that the thread has begun
 * @done: of the last one that has ended
 * @bad_from, @bad_to: the last ones that have failed
 * @ended: called when requests have ended, with @arg
 */
struct dma_sync {
	struct list link;
	uint64_t asked, begun, done;
	uint64_t bad_from, bad_to;
	void (*ended)(void *arg);
	void *arg;
};

enum dma_sync_state {
	DMA_SYNC_PENDING,
	DMA_SYNC_DONE,
	DMA_SYNC_FAILED
};

/*
 * Write back what was written to the memory until now.  Returns the number of the request, which several may have, or 0 if no
 * memory of the map is on a disk: nothing is to do.
 */
uint64_t dma_sync_ask(struct dma_map *map, struct loop *loop);
enum dma_sync_state dma_sync_state(const struct dma_map *map, uint64_t number);

/* The map is to be freed. */
void dma_sync_forget(struct dma_map *map);

/* Does the thread work?  Then no memory may be unmapped. */
bool dma_sync_works(void);

#endif
