// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: status and fencing of the device, and the events of the device and its ports.
 */

#include <linux/pci.h>

#include "ohca.h"
#include "trace.h"

/**
 * ohca_status() - state of the device
 * @dev: device
 *
 * Return: OHCA_REG_STATUS without the bits that are undefined during a reset; U32_MAX for a device
 *	that was removed
 */
u32 ohca_status(struct ohca_dev *dev)
{
	u32 status = readl(dev->regs + OHCA_REG_STATUS);

	if (status != U32_MAX && status & OHCA_STATUS_RESETTING)
		return OHCA_STATUS_RESETTING;
	return status;
}

struct workqueue_struct *ohca_workqueue;

/**
 * ohca_fatal_name() - name of a fatal error
 * @fatal: OHCA_REG_FATAL
 *
 * Return: name
 */
const char *ohca_fatal_name(u32 fatal)
{
	switch (fatal) {
	case OHCA_FATAL_CONFIG:
		return "configuration not accepted";
	case OHCA_FATAL_CMDQ:
		return "command queue";
	case OHCA_FATAL_EQ:
		return "event queue";
	case OHCA_FATAL_INTERNAL:
		return "internal error";
	case OHCA_FATAL_VERSION:
		return "interface version";
	default:
		return "unknown";
	}
}

/**
 * ohca_dispatch_event() - dispatch an event of the device or its port to ib_core's clients
 * @dev: device
 * @type: IB_EVENT_DEVICE_FATAL, or an event of the port
 * @port: number of the port, 0 for the device
 *
 * Callable in any context.  Nothing is done before the ib_device is registered and after it is
 * unregistered.
 */
void ohca_dispatch_event(struct ohca_dev *dev, enum ib_event_type type, u32 port)
{
	struct ib_event event = {.event = type, .element.port_num = port};
	unsigned long flags;

	spin_lock_irqsave(&dev->ib_lock, flags);
	if (dev->ib_live) {
		event.device = dev->ibdev;
		ib_dispatch_event(&event);
	}
	spin_unlock_irqrestore(&dev->ib_lock, flags);
}

/**
 * ohca_ib_set_live() - start or stop dispatching events
 * @dev: device; its ib_device is registered
 * @live: true to start
 */
void ohca_ib_set_live(struct ohca_dev *dev, bool live)
{
	spin_lock_irq(&dev->ib_lock);
	dev->ib_live = live;
	spin_unlock_irq(&dev->ib_lock);
}

/**
 * ohca_check_types() - schedule ohca_type_work()
 * @dev: device
 *
 * Callable in any context.
 */
void ohca_check_types(struct ohca_dev *dev)
{
	queue_work(system_long_wq, &dev->type_work);
}

/* Make sure that the device does not access host memory any more, without waiting for it. */
static void ohca_quiesce(struct ohca_dev *dev)
{
	pci_clear_master(dev->pdev);
	writel(OHCA_CTRL_RESET, dev->regs + OHCA_REG_CTRL);
	readl(dev->regs + OHCA_REG_STATUS); /* flushes the write, and what the device has written */
	smp_mb__before_atomic();
	set_bit(OHCA_QUIET, &dev->fence_bits);
}

/**
 * ohca_fence_sync() - a fenced device does not access host memory any more after this
 * @dev: device, fenced
 *
 * Callable in any context.  It does not wait for the thread that fences the device, which may be
 * one that this one interrupted, but does what is left to do.
 */
void ohca_fence_sync(struct ohca_dev *dev)
{
	if (!test_bit_acquire(OHCA_QUIET, &dev->fence_bits))
		ohca_quiesce(dev);
}

/**
 * ohca_fence() - fence a device that is broken or was removed
 * @dev: device
 * @reason: for the kernel log and devlink
 *
 * Callable in any context, any number of times.  After this, the device does not access host memory
 * any more, also if another thread has begun to fence it.  See ohca_fenced().
 */
void ohca_fence(struct ohca_dev *dev, const char *reason)
{
	u32 status, fatal = OHCA_FATAL_NONE;
	struct ohca_port *port;

	if (test_and_set_bit(OHCA_FENCED, &dev->fence_bits)) {
		ohca_fence_sync(dev);
		return;
	}

	status = ohca_status(dev);
	if (status & OHCA_STATUS_FATAL)
		fatal = readl(dev->regs + OHCA_REG_FATAL);
	ohca_quiesce(dev);
	if (status == U32_MAX)
		dev_err(ohca_dmadev(dev), "fenced: %s; device is gone\n", reason);
	else if (status & OHCA_STATUS_RESETTING)
		dev_err(ohca_dmadev(dev), "fenced: %s; device is being reset\n", reason);
	else if (status & OHCA_STATUS_FATAL)
		dev_err(ohca_dmadev(dev), "fenced: %s; fatal error %u (%s)\n", reason, fatal,
			ohca_fatal_name(fatal));
	else
		dev_err(ohca_dmadev(dev), "fenced: %s\n", reason);
	trace_ohca_fence(dev, reason, status);

	dev->fence.status = status;
	dev->fence.fatal = fatal;
	smp_store_release(&dev->fence.reason, reason); /* last store; see ohca_quiesced() */
	queue_work(ohca_workqueue, &dev->fence.flush);
	ohca_cmdq_abort(dev);
	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		ohca_port_check_link(port);
	ohca_dispatch_event(dev, IB_EVENT_DEVICE_FATAL, 0);
	schedule_work(&dev->fence.work); /* last, as the work may free what is used above */
}

/**
 * ohca_fence_quietly() - fence the device for shutdown, without reports or events
 * @dev: device
 */
void ohca_fence_quietly(struct ohca_dev *dev)
{
	set_bit(OHCA_FENCED, &dev->fence_bits);
	ohca_fence_sync(dev);
	ohca_cmdq_abort(dev);
}

/**
 * ohca_unfence() - end the fencing of a device
 * @dev: device, stopped: see ohca_dev_stop()
 */
void ohca_unfence(struct ohca_dev *dev)
{
	WRITE_ONCE(dev->fence.reason, NULL);
	WRITE_ONCE(dev->fence_bits, 0);
}

/**
 * ohca_refence() - undo ohca_unfence()
 * @dev: device, which is stopped
 * @reason: as before
 */
void ohca_refence(struct ohca_dev *dev, const char *reason)
{
	if (test_and_set_bit(OHCA_FENCED, &dev->fence_bits))
		return;
	ohca_quiesce(dev);
	smp_store_release(&dev->fence.reason, reason); /* see ohca_quiesced() */
}
