/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: disable_work() and the like for releases without them; ohca_compat.h includes it
 * there.
 *
 * queue_work() and the like do nothing with a work that is pending, and all leave a pending work
 * alone that is being cancelled.  Such a state of a work lasts here until it is enabled.  A work
 * that was disabled twice is enabled by one call.
 */

#ifndef _OHCA_COMPAT_WORK_H
#define _OHCA_COMPAT_WORK_H

#include <linux/workqueue.h>

#define OHCA_COMPAT_DISABLED ((long)(WORK_STRUCT_PENDING | WORK_OFFQ_CANCELING))

static inline bool ohca_compat_work_disabled(struct work_struct *work)
{
	return (atomic_long_read(&work->data) & (OHCA_COMPAT_DISABLED | WORK_STRUCT_PWQ)) ==
	       OHCA_COMPAT_DISABLED;
}

/* @dwork: the delayed work that @work is of, or NULL */
static inline void ohca_compat_disable(struct work_struct *work, struct delayed_work *dwork)
{
	long data;

	while (!ohca_compat_work_disabled(work)) {
		if (dwork)
			cancel_delayed_work(dwork);
		else
			cancel_work(work);
		data = atomic_long_read(&work->data);
		if (!(data & (WORK_STRUCT_PENDING | WORK_STRUCT_PWQ)))
			atomic_long_cmpxchg(&work->data, data, data | OHCA_COMPAT_DISABLED);
	}
}

#define disable_work(_work) ohca_compat_disable(_work, NULL)

static inline void disable_work_sync(struct work_struct *work)
{
	disable_work(work);
	flush_work(work);
}

static inline void disable_delayed_work_sync(struct delayed_work *dwork)
{
	ohca_compat_disable(&dwork->work, dwork);
	flush_work(&dwork->work);
}

static inline void enable_work(struct work_struct *work)
{
	if (ohca_compat_work_disabled(work))
		atomic_long_andnot(OHCA_COMPAT_DISABLED, &work->data);
}

/* The kernel's would wait until it is enabled again. */
static inline void ohca_compat_cancel_work_sync(struct work_struct *work)
{
	if (ohca_compat_work_disabled(work))
		flush_work(work);
	else
		cancel_work_sync(work);
}

#define cancel_work_sync ohca_compat_cancel_work_sync

#endif /* _OHCA_COMPAT_WORK_H */
