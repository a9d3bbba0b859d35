/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: page faults of the device.
 */

#ifndef _OHCA_FAULT_H
#define _OHCA_FAULT_H

#include <linux/mempool.h>
#include <linux/workqueue.h>

struct ohca_dev;

/**
 * struct ohca_faults - page faults being handled
 * @pool: memory for them, with a reserve
 * @wq: work queue that handles them, NULL if the device has none
 * @open: page faults are handled
 * @stalled: there was no memory for one, which is still in the event queue
 */
struct ohca_faults {
	mempool_t *pool;
	struct workqueue_struct *wq;
	bool open;
	bool stalled;
};

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

int ohca_faults_init(struct ohca_dev *dev);
void ohca_faults_fini(struct ohca_dev *dev);
bool ohca_fault_take(struct ohca_dev *dev, u32 key, u64 what);

#else

static inline int ohca_faults_init(struct ohca_dev *dev)
{
	return 0;
}

static inline void ohca_faults_fini(struct ohca_dev *dev)
{
}

static inline bool ohca_fault_take(struct ohca_dev *dev, u32 key, u64 what)
{
	return true;
}

#endif

#endif /* _OHCA_FAULT_H */
