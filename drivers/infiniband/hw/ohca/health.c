// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the health of the device, and recovery of one that was fenced.
 *
 * To recover a device, it is unregistered from ib_core, so that all objects that were created
 * through it are destroyed.  Its queues are freed.  Then it is reset, initialized and registered
 * again.  Its netdev stays, and is detached meanwhile.  A port gets another link layer in the same
 * way, and its netdev is removed or created.
 *
 * A thread that waits for an attempt may hold the PCI function's device lock (removal, reset of the
 * function) or devlink's lock (recovery by the user): an attempt takes neither.
 */

#include <linux/pci.h>
#include <linux/sched/mm.h>

#include "flush.h"
#include "ohca.h"
#include "ohca_compat.h"

#define OHCA_HEARTBEAT_LOOKS 10 /* without progress: the device is stuck */
#define OHCA_RECOVER_MIN_DELAY msecs_to_jiffies(50)
#define OHCA_RECOVER_MAX_DELAY msecs_to_jiffies(5000)
#define OHCA_RECOVER_TRIES 12
#define OHCA_RECOVER_CALM msecs_to_jiffies(10000) /* the device is well after that time */
#define OHCA_RECOVER_BUS msecs_to_jiffies(120000) /* a link may take a minute after its reset */

/* A device that was absent has lost its PCI configuration as well. */
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
	struct ohca_health *health = &dev->health;
	const char *reason = dev->fence.reason;
	int err;

	lockdep_assert_held(&health->lock);

	if (!pci_device_is_present(dev->pdev))
		return -ENODEV;

	if (dev->up)
		ohca_flush_wait(dev);
	ohca_dev_stop(dev);
	ohca_unfence(dev);
	err = ohca_recover_start(dev);
	health->tries++;
	if (err) {
		ohca_refence(dev, reason);
		return err;
	}

	dev_info(ohca_dmadev(dev), "recovered from: %s\n", reason);
	health->last = jiffies;
	health->delay = min(OHCA_RECOVER_MIN_DELAY << health->tries, OHCA_RECOVER_MAX_DELAY);
	return 0;
}

static void ohca_recover_later(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;

	lockdep_assert_held(&health->lock);

	mod_delayed_work(system_long_wq, &health->recover_work, health->delay);
	health->delay = clamp(2 * health->delay, OHCA_RECOVER_MIN_DELAY, OHCA_RECOVER_MAX_DELAY);
}

static bool ohca_recover_may(const struct ohca_health *health)
{
	return !health->blocked && time_after_eq(jiffies, READ_ONCE(health->bus_until));
}

static int ohca_recover(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;
	unsigned int noio;
	int err;

	lockdep_assert_held(&health->lock);

	if (!ohca_quiesced(dev))
		return 0;

	/* Reclaiming memory may need a disk or file system that waits for this device. */
	noio = memalloc_noio_save();
	err = ohca_recover_may(health) ? ohca_recover_try(dev) : -EBUSY;
	memalloc_noio_restore(noio);
	if (!err) {
		cancel_delayed_work(&health->recover_work);
		return 0;
	}

	if (health->tries < OHCA_RECOVER_TRIES)
		ohca_recover_later(dev);
	else
		dev_err(ohca_dmadev(dev), "recovery failed after %u attempts: %pe\n", health->tries,
			ERR_PTR(err));
	return err;
}

static void ohca_recover_work(struct work_struct *work)
{
	struct ohca_dev *dev =
		container_of(to_delayed_work(work), struct ohca_dev, health.recover_work);
	struct ohca_health *health = &dev->health;

	mutex_lock(&health->lock);
	if (ohca_quiesced(dev) && !ohca_recover(dev)) {
		health->done = true;
		schedule_work(&dev->fence.work);
	}
	mutex_unlock(&health->lock);
}

/* Health */

static void ohca_health_poll(struct work_struct *work)
{
	struct ohca_dev *dev =
		container_of(to_delayed_work(work), struct ohca_dev, health.poll_work);
	struct ohca_health *health = &dev->health;
	u32 status, heartbeat;

	if (ohca_fenced(dev))
		return;

	status = ohca_status(dev);
	if (status == U32_MAX || (status & OHCA_STATUS_FATAL) || !(status & OHCA_STATUS_READY)) {
		ohca_fence(dev, "not ready any more");
		return;
	}

	heartbeat = readl(dev->regs + OHCA_REG_HEARTBEAT);
	if (heartbeat != health->heartbeat) {
		health->heartbeat_stuck = 0;
	} else if (++health->heartbeat_stuck >= OHCA_HEARTBEAT_LOOKS) {
		ohca_fence(dev, "no heartbeat");
		return;
	}
	health->heartbeat = heartbeat;
	queue_delayed_work(ohca_workqueue, &health->poll_work,
			   msecs_to_jiffies(OHCA_HEALTH_POLL_MS));
}

void ohca_health_setup(struct ohca_health *health)
{
	mutex_init(&health->lock);
	health->bus_until = jiffies;
	INIT_DELAYED_WORK(&health->poll_work, ohca_health_poll);
	INIT_DELAYED_WORK(&health->recover_work, ohca_recover_work);
}

/* Requests of other parts of the driver */

void ohca_recover_begin(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;

	mutex_lock(&health->lock);
	if (time_after(jiffies, health->last + OHCA_RECOVER_CALM)) {
		health->tries = 0;
		health->delay = 0;
	}
	if (health->tries < OHCA_RECOVER_TRIES)
		ohca_recover_later(dev);
	else
		dev_err(ohca_dmadev(dev), "%u failures in a row, no more recovery\n",
			health->tries);
	mutex_unlock(&health->lock);
}

int ohca_recover_now(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;
	int err;

	mutex_lock(&health->lock);
	health->tries = 0;
	health->delay = 0;
	err = ohca_recover(dev);
	health->done = false;
	mutex_unlock(&health->lock);
	return err;
}

int ohca_reinit_stop(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;
	int err = -EIO;

	mutex_lock(&health->lock);
	if (!ohca_fenced(dev)) {
		health->blocked = true;
		ohca_dev_stop(dev);
		err = 0;
	}
	mutex_unlock(&health->lock);
	return err;
}

void ohca_suspend_stop(struct ohca_dev *dev)
{
	mutex_lock(&dev->health.lock);
	dev->health.blocked = true;
	if (ohca_quiesced(dev) && dev->up)
		ohca_flush_wait(dev);
	ohca_dev_stop(dev);
	mutex_unlock(&dev->health.lock);
}

static int ohca_start_again(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;
	bool fenced;
	int err;

	lockdep_assert_held(&health->lock);

	health->blocked = false;
	fenced = ohca_quiesced(dev); /* it broke during the attempt */
	if (fenced)
		ohca_unfence(dev);
	err = ohca_dev_start(dev);
	if (err)
		ohca_refence(dev, "not initialized again");
	else if (fenced)
		health->done = true; /* and otherwise an earlier recovery may not be reported yet */
	if (err || fenced)
		schedule_work(&dev->fence.work);
	return err;
}

int ohca_reinit_start(struct ohca_dev *dev)
{
	int err;

	mutex_lock(&dev->health.lock);
	err = ohca_start_again(dev);
	mutex_unlock(&dev->health.lock);
	return err;
}

/* Link layers of ports */

/* Whether a reset will give the port another one.  If one did not, a second one is in vain. */
static bool ohca_port_will_change(struct ohca_port *port)
{
	struct ohca_port_attr attr;

	if (ohca_cmd_query_port(port->dev, port->num, &attr))
		return false;
	if (!attr.next_link_layer || attr.next_link_layer == attr.link_layer) {
		port->link_tried = 0;
		return false;
	}
	if (attr.next_link_layer == port->link_tried)
		return false;
	port->link_tried = attr.next_link_layer;
	return true;
}

static bool ohca_ports_will_change(struct ohca_dev *dev)
{
	struct ohca_port *port;
	bool change = false;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		change |= ohca_port_will_change(port);
	return change;
}

/* A device that is fenced or stopped is reset anyway. */
static int ohca_change_ports(struct ohca_dev *dev)
{
	lockdep_assert_held(&dev->health.lock);

	if (ohca_fenced(dev))
		return -EIO;
	if (!ohca_ports_will_change(dev))
		return 0;
	dev_info(ohca_dmadev(dev), "restarting for another link layer of a port\n");
	ohca_dev_stop(dev);
	return ohca_start_again(dev);
}

static int ohca_set_link_layer(struct ohca_port *port, u8 link_layer)
{
	struct ohca_dev *dev = port->dev;
	int err;

	if (dev->health.blocked)
		return -EBUSY;
	if (ohca_fenced(dev))
		return -EIO;
	if (!(dev->attr.caps & OHCA_CAP_LINK_LAYER))
		return -EOPNOTSUPP;
	err = ohca_cmd_set_link_layer(dev, port->num, link_layer);
	if (err)
		return err;
	port->link_tried = 0;
	err = ohca_change_ports(dev);
	if (err)
		return err;
	ohca_port_will_change(port);
	return port->link_tried ? -EIO : 0;
}

int ohca_reinit_port(struct ohca_port *port, u8 link_layer)
{
	struct ohca_health *health = &port->dev->health;
	int err;

	mutex_lock(&health->lock);
	err = ohca_set_link_layer(port, link_layer);
	mutex_unlock(&health->lock);
	return err;
}

void ohca_type_work(struct work_struct *work)
{
	struct ohca_dev *dev = container_of(work, struct ohca_dev, type_work);

	mutex_lock(&dev->health.lock);
	if (!dev->health.blocked)
		ohca_change_ports(dev);
	mutex_unlock(&dev->health.lock);
}

void ohca_recover_block(struct ohca_dev *dev)
{
	mutex_lock(&dev->health.lock);
	dev->health.blocked = true;
	mutex_unlock(&dev->health.lock);
}

void ohca_recover_hold(struct ohca_dev *dev)
{
	WRITE_ONCE(dev->health.bus_until, jiffies + OHCA_RECOVER_BUS);
}

void ohca_recover_wait(struct ohca_dev *dev)
{
	mutex_lock(&dev->health.lock);
	mutex_unlock(&dev->health.lock);
}

/* The device has been reset: that may help where recovery has been given up. */
void ohca_recover_unblock(struct ohca_dev *dev)
{
	struct ohca_health *health = &dev->health;

	mutex_lock(&health->lock);
	health->blocked = false;
	WRITE_ONCE(health->bus_until, jiffies);
	if (ohca_quiesced(dev) && health->tries >= OHCA_RECOVER_TRIES) {
		health->tries = 0;
		health->delay = 0;
		ohca_recover_later(dev);
	}
	mutex_unlock(&health->lock);
}

bool ohca_recover_done(struct ohca_dev *dev)
{
	bool done;

	mutex_lock(&dev->health.lock);
	done = dev->health.done;
	dev->health.done = false;
	mutex_unlock(&dev->health.lock);
	return done;
}
