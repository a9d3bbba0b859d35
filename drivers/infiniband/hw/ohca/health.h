/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: a fenced device is brought back to work.
 */

#ifndef _OHCA_HEALTH_H
#define _OHCA_HEALTH_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct ohca_dev;

/**
 * struct ohca_recover - recovery
 * @work: tries
 * @lock: one attempt at a time; protects all but @work
 * @delay: jiffies until the next attempt
 * @tries: attempts, also those that succeeded, since the device last worked for a while
 * @last: when one succeeded, in jiffies
 * @blocked: the device is somebody else's for now
 * @news: devlink is yet to be told of a success
 */
struct ohca_recover {
	struct delayed_work work;
	struct mutex lock; /* one attempt at a time */
	unsigned long delay;
	u32 tries;
	unsigned long last;
	bool blocked;
	bool news;
};

/**
 * ohca_recover_setup() - prepare for recovery
 * @dev: device, new
 */
void ohca_recover_setup(struct ohca_dev *dev);

/**
 * ohca_recover_begin() - recover a fenced device, by and by
 * @dev: device
 *
 * It is tried at once, but if the last recovery was not long ago; again and again with growing
 * intervals if it fails; and without end as long as the device is silent.
 */
void ohca_recover_begin(struct ohca_dev *dev);

/**
 * ohca_recover_now() - recover a fenced device; sleeps
 * @dev: device
 *
 * If that fails it is tried again later, as with ohca_recover_begin().
 *
 * Return: 0 also if it is not fenced, -ENODEV if it is silent, or another negative errno
 */
int ohca_recover_now(struct ohca_dev *dev);

/**
 * ohca_reinit_stop() - give up a device that works, to set it up anew; sleeps
 * @dev: device
 *
 * Return: 0, or -EIO if it is fenced
 */
int ohca_reinit_stop(struct ohca_dev *dev);

/**
 * ohca_reinit_start() - set the device up anew; sleeps
 * @dev: device, given up by ohca_reinit_stop()
 *
 * If that fails it is fenced, and tried again later, as with ohca_recover_begin().
 *
 * Return: 0 or a negative errno
 */
int ohca_reinit_start(struct ohca_dev *dev);

/**
 * ohca_recover_block() - leave the device alone, and wait for an attempt that is under way; sleeps
 * @dev: device
 */
void ohca_recover_block(struct ohca_dev *dev);

/**
 * ohca_recover_unblock() - the device may be recovered again
 * @dev: device
 */
void ohca_recover_unblock(struct ohca_dev *dev);

/**
 * ohca_recover_news() - has the device been recovered by itself since the last call?
 * @dev: device
 *
 * Return: true if so
 */
bool ohca_recover_news(struct ohca_dev *dev);

#endif /* _OHCA_HEALTH_H */
