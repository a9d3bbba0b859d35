// SPDX-License-Identifier: GPL-2.0
/* Guest memory in files on a disk is written back by a thread. */

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/loop.h"
#include "base/page.h"
#include "vfio/dma.h"
#include "vfio/dma_sync.h"

#define LOOK_NS 100000 /* between looks of the loop at what the thread does */

struct range {
	void *va;
	size_t size;
};

/**
 * struct job - what the thread does, one at a time
 * @map: whose memory; NULL: it was freed meanwhile
 * @ranges: @num of them, to write back
 * @works: the thread has not ended it yet
 * @bad: that failed
 */
static struct {
	struct dma_map *map;
	struct range *ranges;
	unsigned int num;
	bool works;
	bool bad;
} job;

static struct list waiting = {&waiting, &waiting};
static struct timer timer;
static struct loop *timer_loop;

static bool is_on_disk(const struct dma_region *region)
{
	return region->on_disk && region->writable;
}

static void *write_back(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < job.num; i++)
		job.bad |= msync(job.ranges[i].va, job.ranges[i].size, MS_SYNC) != 0;
	__atomic_store_n(&job.works, false, __ATOMIC_RELEASE);
	return NULL;
}

/* The ranges of a map.  Returns false if there is no memory for them. */
static bool set_ranges(const struct dma_map *map)
{
	unsigned int i;

	job.num = 0;
	job.ranges = malloc(map->num * sizeof(*job.ranges) + 1);
	for (i = 0; job.ranges && i < map->num; i++) {
		const struct dma_region *region = &map->regions[i];
		uintptr_t off = page_offset((uintptr_t)region->va);

		if (is_on_disk(region))
			job.ranges[job.num++] =
				(struct range){region->va - off, region->size + off};
	}
	return job.ranges;
}

/* Begin the next request that waits.  Without memory or a thread, it fails. */
static void begin_next(void)
{
	struct dma_sync *sync = list_entry(waiting.next, struct dma_sync, link);
	struct dma_map *map = list_entry(sync, struct dma_map, sync);
	pthread_attr_t attr;
	pthread_t thread;

	list_del(&sync->link);
	sync->begun = sync->asked;
	job.map = map;
	job.works = true;
	job.bad = !set_ranges(map);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (job.bad || pthread_create(&thread, &attr, write_back, NULL)) {
		job.bad = true;
		job.works = false;
	}
	pthread_attr_destroy(&attr);
	loop_timer_arm(timer_loop, &timer, loop_now(timer_loop) + LOOK_NS);
}

static void end_job(void)
{
	struct dma_sync *sync = job.map ? &job.map->sync : NULL;

	free(job.ranges);
	job.ranges = NULL;
	job.map = NULL;
	if (!sync)
		return;
	if (job.bad) {
		sync->bad_from = sync->done + 1;
		sync->bad_to = sync->begun;
	}
	sync->done = sync->begun;
	if (sync->ended)
		sync->ended(sync->arg);
}

static void look(struct timer *t)
{
	if (dma_sync_works()) {
		loop_timer_arm(timer_loop, t, loop_now(timer_loop) + LOOK_NS);
		return;
	}
	end_job();
	if (!list_empty(&waiting))
		begin_next();
}

uint64_t dma_sync_ask(struct dma_map *map, struct loop *loop)
{
	struct dma_sync *sync = &map->sync;
	unsigned int i;

	for (i = 0; i < map->num && !is_on_disk(&map->regions[i]); i++)
		;
	if (i == map->num)
		return 0;
	if (sync->asked == sync->begun) {
		sync->asked++;
		list_add_tail(&waiting, &sync->link);
		timer_loop = loop;
		timer.fn = look;
		if (!timer.pos)
			begin_next();
	}
	return sync->asked;
}

enum dma_sync_state dma_sync_state(const struct dma_map *map, uint64_t number)
{
	const struct dma_sync *sync = &map->sync;

	if (number > sync->done)
		return DMA_SYNC_PENDING;
	return number >= sync->bad_from && number <= sync->bad_to ? DMA_SYNC_FAILED : DMA_SYNC_DONE;
}

void dma_sync_forget(struct dma_map *map)
{
	list_del(&map->sync.link);
	if (job.map == map)
		job.map = NULL;
}

bool dma_sync_works(void)
{
	return __atomic_load_n(&job.works, __ATOMIC_ACQUIRE);
}
