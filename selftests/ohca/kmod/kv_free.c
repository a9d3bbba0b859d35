// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: a CQ is freed while the kernel still handles its last event.
 *
 * ib_core waits for the end of the poll, but in a softirq the CQ is armed after that; and an
 * interrupt can queue a CQ's work after it was cancelled.  Either way, the driver has to keep the
 * CQ until the handler has ended.  Two operations of the device are replaced during the test, so
 * that the handler is where it has to be, for long enough.
 */

#include <linux/cpumask.h>

#include "kv.h"

/**
 * struct kv_free - the CQ that is freed, and what happens to it
 * @cq: CQ
 * @arm: the device's operation to arm a CQ
 * @destroy: the device's operation to destroy one
 * @arming: the handler begins to arm the CQ
 * @armed: it has ended that
 * @work: the CQ is polled in a workqueue
 * @destroyed: the driver has destroyed the CQ
 * @late: the handler was to arm a CQ that was destroyed
 */
static struct kv_free {
	struct ib_cq *cq;
	int (*arm)(struct ib_cq *cq, enum ib_cq_notify_flags flags);
	int (*destroy)(struct ib_cq *cq, struct ib_udata *udata);
	struct completion arming;
	struct completion armed;
	bool work;
	bool destroyed;
	bool late;
} kv_free;

/* Arm the CQ after a time in which it may be destroyed. */
static int kv_free_arm(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	int ret = 0;

	if (cq != READ_ONCE(kv_free.cq))
		return kv_free.arm(cq, flags);

	complete(&kv_free.arming);
	kv_free.late = kv_hold_until(&kv_free.destroyed);
	if (!kv_free.late)
		ret = kv_free.arm(cq, flags);
	complete(&kv_free.armed);
	return ret;
}

/* Have an event handled, and destroy the CQ meanwhile. */
static int kv_free_destroy(struct ib_cq *cq, struct ib_udata *udata)
{
	int ret;

	if (cq != kv_free.cq)
		return kv_free.destroy(cq, udata);

	if (kv_free.work) {
		cq->comp_handler(cq, NULL);
		wait_for_completion(&kv_free.arming);
	}
	ret = kv_free.destroy(cq, udata);
	WRITE_ONCE(kv_free.destroyed, true);
	wait_for_completion(&kv_free.armed);
	if (kv_free.work)
		cancel_work_sync(&cq->work);
	return ret;
}

/* The interrupt of the CQ's last event */
static void kv_free_irq(void *cq)
{
	((struct ib_cq *)cq)->comp_handler(cq, NULL);
}

/* Replace the operations. */
static void kv_free_hook(struct ib_device *dev, typeof(kv_free.arm) arm,
			 typeof(kv_free.destroy) destroy)
{
	smp_wmb(); /* other processors see what the new ones use */
	WRITE_ONCE(dev->ops.req_notify_cq, arm);
	WRITE_ONCE(dev->ops.destroy_cq, destroy);
	synchronize_rcu(); /* others' softirqs have left the old ones */
}

static bool kv_free_run(struct kv_rig *rig, enum ib_poll_context poll)
{
	struct ib_cq *cq = ib_alloc_cq(rig->dev, NULL, 16, 0, poll);

	if (!KV_EXPECT(!IS_ERR(cq)))
		return false;

	kv_free = (struct kv_free){
		.cq = cq,
		.arm = rig->dev->ops.req_notify_cq,
		.destroy = rig->dev->ops.destroy_cq,
		.work = poll == IB_POLL_WORKQUEUE,
	};
	init_completion(&kv_free.arming);
	init_completion(&kv_free.armed);
	kv_free_hook(rig->dev, kv_free_arm, kv_free_destroy);
	if (!kv_free.work) {
		kv_interrupt_other(kv_free_irq, cq);
		wait_for_completion(&kv_free.arming);
	}
	ib_free_cq(cq);
	WRITE_ONCE(kv_free.cq, NULL);
	kv_free_hook(rig->dev, kv_free.arm, kv_free.destroy);
	return KV_EXPECT(!kv_free.late);
}

static bool kv_test_free_softirq(struct kv_rig *rig)
{
	return kv_free_run(rig, IB_POLL_SOFTIRQ);
}

static bool kv_test_free_work(struct kv_rig *rig)
{
	return kv_free_run(rig, IB_POLL_WORKQUEUE);
}

/* The softirq runs beside the thread that frees the CQ. */
static bool kv_can_free_softirq(struct ib_device *dev)
{
	return num_online_cpus() > 1;
}

const struct kv_test kv_free_tests[] = {
	{
		.name = "during its softirq",
		.fn = kv_test_free_softirq,
		.can = kv_can_free_softirq,
	},
	{.name = "when its work is queued late", .fn = kv_test_free_work},
};

const unsigned int kv_num_free_tests = ARRAY_SIZE(kv_free_tests);
