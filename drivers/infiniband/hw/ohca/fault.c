// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: page faults of the device.
 *
 * An event reports that an access waits for pages.  The access waits until the driver maps them or
 * reports a failure, so no event may be lost.  If there is no memory for an event, the interrupt
 * handler leaves it in the event queue.  That happens only while others are handled; when one of
 * them is finished, the event queue is handled again.
 */

#include <linux/slab.h>

#include "odp.h"
#include "ohca.h"
#include "rsc.h"

#define OHCA_FAULT_RESERVE 64

/**
 * struct ohca_fault - a page fault
 * @work: handles it
 * @dev: device
 * @key: region
 * @what: OHCA_FAULT_*
 */
struct ohca_fault {
	struct work_struct work;
	struct ohca_dev *dev;
	u32 key;
	u64 what;
};

static void ohca_fault_free(struct ohca_fault *fault)
{
	struct ohca_dev *dev = fault->dev;

	mempool_free(fault, dev->faults.pool);
	smp_mb(); /* here: room, then stalled; ohca_fault_alloc(): stalled, then room */
	if (READ_ONCE(dev->faults.stalled) && xchg(&dev->faults.stalled, false))
		ohca_eqs_kick(dev);
}

static struct ohca_fault *ohca_fault_alloc(struct ohca_faults *faults)
{
	struct ohca_fault *fault = mempool_alloc(faults->pool, GFP_ATOMIC);

	if (fault)
		return fault;
	WRITE_ONCE(faults->stalled, true);
	smp_mb(); /* see ohca_fault_free() */
	return mempool_alloc(faults->pool, GFP_ATOMIC);
}

static void ohca_fault_work(struct work_struct *work)
{
	struct ohca_fault *fault = container_of(work, struct ohca_fault, work);
	struct ohca_core_mkey *mkey = ohca_core_mkey_get(fault->dev, fault->key);
	u64 num = ((fault->what & OHCA_FAULT_NUM_MASK) >> OHCA_FAULT_NUM_SHIFT) + 1;
	bool later = false;

	/* Nothing to do if the key was destroyed: that ended the access. */
	if (mkey) {
		later = !ohca_odp_fault(mkey, fault->what >> OHCA_FAULT_FIRST_SHIFT, num,
					fault->what & OHCA_FAULT_WRITE);
		ohca_core_mkey_put(mkey);
	}
	if (later)
		queue_work(fault->dev->faults.wq, work);
	else
		ohca_fault_free(fault);
}

/**
 * ohca_fault_take() - take a page fault from the event queue
 * @dev: device
 * @key: region
 * @what: OHCA_FAULT_*
 *
 * Called when the event queue is read, with &ohca_eqs.async_lock.
 *
 * Return: false if the event has to stay in the queue for now; ohca_eqs_kick() is called later
 */
bool ohca_fault_take(struct ohca_dev *dev, u32 key, u64 what)
{
	struct ohca_fault *fault;

	if (!READ_ONCE(dev->faults.open))
		return true; /* no region exists any more */

	fault = ohca_fault_alloc(&dev->faults);
	if (!fault)
		return false;

	INIT_WORK(&fault->work, ohca_fault_work);
	fault->dev = dev;
	fault->key = key;
	fault->what = what;
	queue_work(dev->faults.wq, &fault->work);
	return true;
}

/**
 * ohca_faults_init() - prepare for page faults, if the device supports on-demand paging
 * @dev: device, whose event queues don't exist yet
 *
 * Return: 0 or -ENOMEM
 */
int ohca_faults_init(struct ohca_dev *dev)
{
	struct ohca_faults *faults = &dev->faults;

	if (!(dev->attr.caps & OHCA_CAP_ODP))
		return 0;

	faults->pool = mempool_create_kmalloc_pool(OHCA_FAULT_RESERVE, sizeof(struct ohca_fault));
	if (!faults->pool)
		return -ENOMEM;
	faults->wq = alloc_workqueue("ohca-fault", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!faults->wq) {
		mempool_destroy(faults->pool);
		return -ENOMEM;
	}
	faults->stalled = false;
	faults->open = true;
	return 0;
}

/**
 * ohca_faults_fini() - stop handling page faults
 * @dev: device, without regions; its event queues exist unless they were never created
 */
void ohca_faults_fini(struct ohca_dev *dev)
{
	struct ohca_faults *faults = &dev->faults;

	if (!faults->wq)
		return;
	WRITE_ONCE(faults->open, false);
	/* Nobody is in ohca_fault_take() any more. */
	mutex_lock(&dev->eqs.async_lock);
	mutex_unlock(&dev->eqs.async_lock);
	destroy_workqueue(faults->wq);
	faults->wq = NULL;
	mempool_destroy(faults->pool);
}
