/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the health of the device, and recovery of one that was fenced.
 */

#ifndef _OHCA_HEALTH_H
#define _OHCA_HEALTH_H

#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct ohca_dev;
struct ohca_port;

#define OHCA_HEALTH_POLL_MS 1000

/*
 * dev.c: for work that memory reclaim may wait for: completions, and the end of a device that does
 * not answer
 */
extern struct workqueue_struct *ohca_workqueue;

/**
 * struct ohca_health - health of a device
 * @poll_work: checks the device periodically
 * @heartbeat: value at the last check
 * @heartbeat_stuck: number of checks without progress
 * @recover_work: tries to recover it
 * @lock: one attempt at a time; protects all fields below
 * @delay: jiffies until the next attempt
 * @tries: attempts, also successful ones, since the device last worked for a while
 * @last: time of the last successful one, in jiffies
 * @blocked: no recovery for now: the function is being reset, reloaded or removed
 * @bus_until: no recovery before this time, in jiffies: the bus is in error
 * @done: a recovery succeeded that has not been reported to devlink
 */
struct ohca_health {
	struct delayed_work poll_work;
	u32 heartbeat;
	u32 heartbeat_stuck;
	struct delayed_work recover_work;
	struct mutex lock; /* one attempt at a time */
	unsigned long delay;
	u32 tries;
	unsigned long last;
	bool blocked;
	unsigned long bus_until;
	bool done;
};

/**
 * ohca_health_setup() - prepare for checks of the device and for recovery
 * @health: of a new device
 */
void ohca_health_setup(struct ohca_health *health);

/**
 * ohca_health_start() - start checking the device
 * @health: of a device that works
 */
static inline void ohca_health_start(struct ohca_health *health)
{
	health->heartbeat_stuck = 0;
	queue_delayed_work(ohca_workqueue, &health->poll_work,
			   msecs_to_jiffies(OHCA_HEALTH_POLL_MS));
}

/**
 * ohca_health_stop() - stop checking the device
 * @health: of a device
 */
static inline void ohca_health_stop(struct ohca_health *health)
{
	cancel_delayed_work_sync(&health->poll_work);
}

/**
 * ohca_recover_begin() - start the recovery of a fenced device
 * @dev: device
 *
 * The first attempt is at once, unless the last recovery was not long ago.  If it fails it is
 * repeated with growing intervals, without limit as long as the device is absent.
 */
void ohca_recover_begin(struct ohca_dev *dev);

/**
 * ohca_recover_now() - recover a fenced device; sleeps
 * @dev: device
 *
 * If that fails it is tried again later, as with ohca_recover_begin().
 *
 * Return: 0 also if it is not fenced, -ENODEV if it is absent, or another negative errno
 */
int ohca_recover_now(struct ohca_dev *dev);

/**
 * ohca_reinit_stop() - stop a device that works, for a devlink reload; sleeps
 * @dev: device
 *
 * Return: 0, or -EIO if it is fenced
 */
int ohca_reinit_stop(struct ohca_dev *dev);

/**
 * ohca_reinit_start() - start the device again; sleeps
 * @dev: device, stopped by ohca_reinit_stop() or ohca_suspend_stop()
 *
 * If that fails it is fenced, and tried again later, as with ohca_recover_begin().
 *
 * Return: 0 or a negative errno
 */
int ohca_reinit_start(struct ohca_dev *dev);

/**
 * ohca_suspend_stop() - stop the device before the system sleeps; sleeps
 * @dev: device; it may be fenced
 *
 * It is not recovered until ohca_reinit_start().
 */
void ohca_suspend_stop(struct ohca_dev *dev);

/**
 * ohca_reinit_port() - give a port another link layer; sleeps
 * @port: port
 * @link_layer: OHCA_LINK_*
 *
 * If it has another one now, the device is stopped, reset for the change, and started again.
 *
 * Return: 0; -EOPNOTSUPP if the device can't; -EIO if it is fenced, or the port still has its old
 *	one; or another negative errno
 */
int ohca_reinit_port(struct ohca_port *port, u8 link_layer);

/**
 * ohca_type_work() - the same for ports that are to have another link layer, as the device says
 * @work: struct ohca_dev.type_work
 */
void ohca_type_work(struct work_struct *work);

/**
 * ohca_recover_block() - disable recovery, and wait for an attempt that is under way; sleeps
 * @dev: device
 */
void ohca_recover_block(struct ohca_dev *dev);

/**
 * ohca_recover_unblock() - enable recovery again, after a reset by others than the driver
 * @dev: device; if recovery was given up, it begins again
 */
void ohca_recover_unblock(struct ohca_dev *dev);

/**
 * ohca_recover_hold() - disable recovery while the kernel handles an error of the bus
 * @dev: device, not fenced yet
 *
 * If that fails, older releases do not say so: recovery begins again by itself after a while.
 */
void ohca_recover_hold(struct ohca_dev *dev);

/**
 * ohca_recover_wait() - wait for an attempt that is under way; sleeps
 * @dev: device
 */
void ohca_recover_wait(struct ohca_dev *dev);

/**
 * ohca_recover_done() - whether the device has been recovered by itself since the last call
 * @dev: device
 *
 * Return: true if so
 */
bool ohca_recover_done(struct ohca_dev *dev);

#endif /* _OHCA_HEALTH_H */
