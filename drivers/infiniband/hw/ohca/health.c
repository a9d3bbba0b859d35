// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: a fenced device is brought back to work.
 *
 * The device is withdrawn from ib_core, so that nothing of what was created through it is left, its
 * queues are given up, it is reset, set up and offered again.  Its netdev stays, and is detached
 * meanwhile.
 *
 * Whoever waits for an attempt may hold the PCI function's device lock (removal, reset of the
 * function) or devlink's lock (recovery by hand): an attempt takes neither.
 */

#include <linux/pci.h>
#include <linux/sched/mm.h>

#include "ohca.h"

#define OHCA_RECOVER_MIN_DELAY msecs_to_jiffies(50)
#define OHCA_RECOVER_MAX_DELAY msecs_to_jiffies(5000)
#define OHCA_RECOVER_TRIES 12
#define OHCA_RECOVER_CALM msecs_to_jiffies(10000) /* the device is well after that time */

/* One that was away has forgotten its configuration, too. */
static int ohca_recover_start(struct ohca_dev *dev)
{
	int err;

	err = pci_load_saved_state(dev->pdev, dev->pci_state);
	if (err)
		return err;
	pci_restore_state(dev->pdev);
	return ohca_dev_start(dev);
}

static int ohca_recover_try(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;
	const char *why = dev->fence.why;
	int err;

	lockdep_assert_held(&rec->lock);

	if (!pci_device_is_present(dev->pdev))
		return -ENODEV;

	if (dev->up)
		ohca_flush_wait(dev);
	ohca_dev_stop(dev);
	ohca_unfence(dev);
	err = ohca_recover_start(dev);
	rec->tries++;
	if (err) {
		ohca_refence(dev, why);
		return err;
	}

	dev_info(ohca_dmadev(dev), "works again after: %s\n", why);
	rec->last = jiffies;
	rec->delay = min(OHCA_RECOVER_MIN_DELAY << rec->tries, OHCA_RECOVER_MAX_DELAY);
	return 0;
}

static void ohca_recover_later(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;

	lockdep_assert_held(&rec->lock);

	mod_delayed_work(system_long_wq, &rec->work, rec->delay);
	rec->delay = clamp(2 * rec->delay, OHCA_RECOVER_MIN_DELAY, OHCA_RECOVER_MAX_DELAY);
}

static int ohca_recover(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;
	unsigned int noio;
	int err;

	lockdep_assert_held(&rec->lock);

	if (!ohca_silent(dev))
		return 0;

	/* Memory may have to be written to a disk or file system that waits for this device. */
	noio = memalloc_noio_save();
	err = rec->blocked ? -EBUSY : ohca_recover_try(dev);
	memalloc_noio_restore(noio);
	if (!err) {
		cancel_delayed_work(&rec->work);
		return 0;
	}

	if (rec->tries < OHCA_RECOVER_TRIES)
		ohca_recover_later(dev);
	else
		dev_err(ohca_dmadev(dev), "given up after %u attempts to recover: %pe\n",
			rec->tries, ERR_PTR(err));
	return err;
}

static void ohca_recover_work(struct work_struct *work)
{
	struct ohca_recover *rec = container_of(to_delayed_work(work), struct ohca_recover, work);
	struct ohca_dev *dev = container_of(rec, struct ohca_dev, recover);

	mutex_lock(&rec->lock);
	if (ohca_silent(dev) && !ohca_recover(dev)) {
		rec->news = true;
		schedule_work(&dev->fence.work);
	}
	mutex_unlock(&rec->lock);
}

void ohca_recover_setup(struct ohca_dev *dev)
{
	mutex_init(&dev->recover.lock);
	INIT_DELAYED_WORK(&dev->recover.work, ohca_recover_work);
}

void ohca_recover_begin(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;

	mutex_lock(&rec->lock);
	if (time_after(jiffies, rec->last + OHCA_RECOVER_CALM)) {
		rec->tries = 0;
		rec->delay = 0;
	}
	if (rec->tries < OHCA_RECOVER_TRIES)
		ohca_recover_later(dev);
	else
		dev_err(ohca_dmadev(dev), "failed %u times in a row, not recovered\n", rec->tries);
	mutex_unlock(&rec->lock);
}

int ohca_recover_now(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;
	int err;

	mutex_lock(&rec->lock);
	rec->tries = 0;
	rec->delay = 0;
	err = ohca_recover(dev);
	rec->news = false;
	mutex_unlock(&rec->lock);
	return err;
}

int ohca_reinit_stop(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;
	int err = -EIO;

	mutex_lock(&rec->lock);
	if (!ohca_fenced(dev)) {
		rec->blocked = true;
		ohca_dev_stop(dev);
		err = 0;
	}
	mutex_unlock(&rec->lock);
	return err;
}

int ohca_reinit_start(struct ohca_dev *dev)
{
	struct ohca_recover *rec = &dev->recover;
	bool fenced;
	int err;

	mutex_lock(&rec->lock);
	rec->blocked = false;
	fenced = ohca_silent(dev); /* it broke on the way */
	if (fenced)
		ohca_unfence(dev);
	err = ohca_dev_start(dev);
	if (err)
		ohca_refence(dev, "not set up anew");
	else
		rec->news = fenced;
	if (err || fenced)
		schedule_work(&dev->fence.work);
	mutex_unlock(&rec->lock);
	return err;
}

void ohca_recover_block(struct ohca_dev *dev)
{
	mutex_lock(&dev->recover.lock);
	dev->recover.blocked = true;
	mutex_unlock(&dev->recover.lock);
}

void ohca_recover_unblock(struct ohca_dev *dev)
{
	mutex_lock(&dev->recover.lock);
	dev->recover.blocked = false;
	mutex_unlock(&dev->recover.lock);
}

bool ohca_recover_news(struct ohca_dev *dev)
{
	bool news;

	mutex_lock(&dev->recover.lock);
	news = dev->recover.news;
	dev->recover.news = false;
	mutex_unlock(&dev->recover.lock);
	return news;
}
