// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the PCI function, bring-up and removal of the device, and its health.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/module.h>

#include "devlink.h"
#include "en.h"
#include "ohca.h"
#include "trace.h"

#define OHCA_RESET_TIMEOUT_MS 5000
#define OHCA_ENABLE_TIMEOUT_MS 5000
#define OHCA_HEALTH_MS 1000
#define OHCA_HEARTBEAT_LOOKS 10 /* without progress: the device is stuck */

static const char *ohca_fatal_name(u32 fatal)
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
 * ohca_dispatch_event() - tell ib_core's clients of an event of the device or its port
 * @dev: device
 * @type: IB_EVENT_DEVICE_FATAL or IB_EVENT_PORT_*
 *
 * Callable in any context; before the ib_device is registered and after it is unregistered, there
 * is nobody to tell.
 */
void ohca_dispatch_event(struct ohca_dev *dev, enum ib_event_type type)
{
	struct ib_event event = {.event = type};
	unsigned long flags;

	if (type != IB_EVENT_DEVICE_FATAL)
		event.element.port_num = OHCA_PORT;

	spin_lock_irqsave(&dev->ib_lock, flags);
	if (dev->ib_live) {
		event.device = dev->ibdev;
		ib_dispatch_event(&event);
	}
	spin_unlock_irqrestore(&dev->ib_lock, flags);
}

static void ohca_ib_set_live(struct ohca_dev *dev, bool live)
{
	spin_lock_irq(&dev->ib_lock);
	dev->ib_live = live;
	spin_unlock_irq(&dev->ib_lock);
}

/* Make sure that the device does not touch host memory any more, without waiting for it. */
static void ohca_silence(struct ohca_dev *dev)
{
	pci_clear_master(dev->pdev);
	writel(OHCA_CTRL_RESET, dev->regs + OHCA_REG_CTRL);
	readl(dev->regs + OHCA_REG_STATUS); /* flushes the write */
}

/**
 * ohca_fence() - give the device up: it broke, or is gone
 * @dev: device
 * @why: for people
 *
 * Callable in any context, any number of times.  See ohca_fenced().
 */
void ohca_fence(struct ohca_dev *dev, const char *why)
{
	u32 status, fatal;

	if (test_and_set_bit(0, &dev->fence_bit))
		return;

	status = readl(dev->regs + OHCA_REG_STATUS);
	fatal = readl(dev->regs + OHCA_REG_FATAL);
	ohca_silence(dev);
	if (status == U32_MAX)
		dev_err(ohca_dmadev(dev), "fenced: %s; device is gone\n", why);
	else if (status & OHCA_STATUS_FATAL)
		dev_err(ohca_dmadev(dev), "fenced: %s; fatal error %u (%s)\n", why, fatal,
			ohca_fatal_name(fatal));
	else
		dev_err(ohca_dmadev(dev), "fenced: %s\n", why);
	trace_ohca_fence(dev, why, status);

	dev->fence.status = status;
	dev->fence.fatal = fatal;
	smp_store_release(&dev->fence.why, why); /* after the rest; see ohca_silent() */
	schedule_work(&dev->fence.flush);
	ohca_cmdq_abort(dev);
	ohca_port_check_link(dev);
	ohca_dispatch_event(dev, IB_EVENT_DEVICE_FATAL);
	schedule_work(&dev->fence.work); /* last: what it leads to may free what was used here */
}

/**
 * ohca_unfence() - use a fenced device again
 * @dev: device, stopped: see ohca_dev_stop()
 */
void ohca_unfence(struct ohca_dev *dev)
{
	WRITE_ONCE(dev->fence.why, NULL);
	clear_bit(0, &dev->fence_bit);
}

/**
 * ohca_refence() - undo ohca_unfence()
 * @dev: device, still or again stopped
 * @why: as before
 */
void ohca_refence(struct ohca_dev *dev, const char *why)
{
	if (test_and_set_bit(0, &dev->fence_bit))
		return;
	ohca_silence(dev);
	smp_store_release(&dev->fence.why, why); /* see ohca_silent() */
}

static void ohca_fence_work(struct work_struct *work)
{
	struct ohca_dev *dev = container_of(work, struct ohca_dev, fence.work);
	const char *why;

	ohca_devlink_report_recovery(dev);
	why = smp_load_acquire(&dev->fence.why); /* see ohca_silent() */
	if (why)
		ohca_devlink_report_fatal(dev, why);
}

/* Last of all: what happened before, devlink is told now. */
static int ohca_dev_show(struct ohca_dev *dev)
{
	int err;

	err = ohca_devlink_init(dev);
	if (err)
		return err;
	enable_work(&dev->fence.work);
	if (ohca_silent(dev))
		schedule_work(&dev->fence.work);
	return 0;
}

/* Nobody recovers it after that. */
static void ohca_dev_hide(struct ohca_dev *dev)
{
	ohca_recover_block(dev);
	disable_work_sync(&dev->fence.work);
	disable_delayed_work_sync(&dev->recover.work);
	ohca_devlink_fini(dev);
}

static void ohca_health_work(struct work_struct *work)
{
	struct ohca_dev *dev = container_of(to_delayed_work(work), struct ohca_dev, health);
	u32 status, heartbeat;

	if (ohca_fenced(dev))
		return;

	status = readl(dev->regs + OHCA_REG_STATUS);
	if (status == U32_MAX || (status & OHCA_STATUS_FATAL) || !(status & OHCA_STATUS_READY)) {
		ohca_fence(dev, "not ready any more");
		return;
	}

	heartbeat = readl(dev->regs + OHCA_REG_HEARTBEAT);
	if (heartbeat != dev->heartbeat) {
		dev->heartbeat_stuck = 0;
	} else if (++dev->heartbeat_stuck >= OHCA_HEARTBEAT_LOOKS) {
		ohca_fence(dev, "no heartbeat");
		return;
	}
	dev->heartbeat = heartbeat;
	schedule_delayed_work(&dev->health, msecs_to_jiffies(OHCA_HEALTH_MS));
}

/*
 * Wait until the status register's bits in @mask are @want.  A device that is gone shows all
 * ones.
 */
static int ohca_wait_status(struct ohca_dev *dev, u32 mask, u32 want, unsigned int timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	bool last;
	u32 status;

	do {
		last = time_after(jiffies, end);
		status = readl(dev->regs + OHCA_REG_STATUS);
		if (status == U32_MAX)
			return -ENODEV;
		if ((status & mask) == want)
			return 0;
		if (status & mask & OHCA_STATUS_FATAL)
			return -EIO;
		usleep_range(500, 1000);
	} while (!last);
	return -ETIMEDOUT;
}

static int ohca_reset(struct ohca_dev *dev)
{
	writel(OHCA_CTRL_RESET, dev->regs + OHCA_REG_CTRL);
	return ohca_wait_status(dev, OHCA_STATUS_RESETTING, 0, OHCA_RESET_TIMEOUT_MS);
}

/* The device uses no memory after this, not even if it does not answer. */
static void ohca_stop(struct ohca_dev *dev)
{
	int err = ohca_reset(dev);

	if (err && err != -ENODEV)
		dev_err(ohca_dmadev(dev), "reset failed: %pe\n", ERR_PTR(err));
	pci_clear_master(dev->pdev);
}

static int ohca_check_identity(struct ohca_dev *dev)
{
	u32 magic = readl(dev->regs + OHCA_REG_MAGIC);
	u32 version = readl(dev->regs + OHCA_REG_VERSION);
	u32 major = FIELD_GET(OHCA_VERSION_MAJOR_MASK, version);

	if (magic != OHCA_MAGIC) {
		dev_err(ohca_dmadev(dev), "not an OHCA: magic 0x%08x\n", magic);
		return -ENODEV;
	}
	if (major != OHCA_VERSION_MAJOR) {
		dev_err(ohca_dmadev(dev), "interface version %u.%u, this driver needs %u.x\n",
			major, (u32)FIELD_GET(OHCA_VERSION_MINOR_MASK, version),
			OHCA_VERSION_MAJOR);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void ohca_negotiate(struct ohca_dev *dev)
{
	u64 caps = readl(dev->regs + OHCA_REG_CAPS_LO);

	writel(OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR, dev->regs + OHCA_REG_SW_VERSION);
	caps |= (u64)readl(dev->regs + OHCA_REG_CAPS_HI) << 32;
	dev->feats = caps & (OHCA_FEAT_SHADOW_DB | OHCA_FEAT_ETH);
	writel(lower_32_bits(dev->feats), dev->regs + OHCA_REG_FEATS_LO);
	writel(upper_32_bits(dev->feats), dev->regs + OHCA_REG_FEATS_HI);
}

static int ohca_enable(struct ohca_dev *dev)
{
	u32 fatal;
	int err;

	writel(OHCA_CTRL_ENABLE, dev->regs + OHCA_REG_CTRL);
	err = ohca_wait_status(dev, OHCA_STATUS_READY | OHCA_STATUS_FATAL, OHCA_STATUS_READY,
			       OHCA_ENABLE_TIMEOUT_MS);
	if (err) {
		fatal = readl(dev->regs + OHCA_REG_FATAL);
		dev_err(ohca_dmadev(dev), "not enabled: %pe, fatal error %u (%s)\n", ERR_PTR(err),
			fatal, ohca_fatal_name(fatal));
	}
	return err;
}

static int ohca_check_attr(struct ohca_dev *dev)
{
	struct ohca_dev_attr *attr = &dev->attr;
	int err;

	err = ohca_cmd_query_device(dev, attr);
	if (err)
		return err;
	if (!attr->num_ports || !attr->max_uar || !attr->max_send_sge || !attr->max_recv_sge ||
	    !(attr->page_size_cap & OHCA_UAR_SIZE) || attr->max_eq < 2) {
		dev_err(ohca_dmadev(dev), "device limits are unusable\n");
		return -EIO;
	}
	if (!IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING))
		attr->caps &= ~OHCA_CAP_ODP;
	dev->eqs.ncomp = min(dev->eqs.ncomp, attr->max_eq - 1);
	dev_dbg(ohca_dmadev(dev), "device version %u.%u.%u, features 0x%llx\n",
		upper_32_bits(attr->fw_ver), lower_32_bits(attr->fw_ver) >> 16,
		lower_32_bits(attr->fw_ver) & 0xffff, dev->feats);
	return 0;
}

/* Commands ring through UAR 0's shadow page while it exists. */
static void ohca_cmdq_use_shadow(struct ohca_dev *dev, bool use)
{
	spin_lock_irq(&dev->cmdq.lock);
	dev->cmdq.shadow = use;
	spin_unlock_irq(&dev->cmdq.lock);
}

static int ohca_uar0_init(struct ohca_dev *dev)
{
	int err;

	err = ohca_uar_alloc(dev, &dev->uar);
	if (err)
		return err;
	if (dev->uar.index) {
		dev_err(ohca_dmadev(dev), "the first UAR is number %u\n", dev->uar.index);
		ohca_uar_free(dev, &dev->uar);
		return -EIO;
	}
	ohca_cmdq_use_shadow(dev, dev->uar.shadow);
	return 0;
}

static void ohca_uar0_fini(struct ohca_dev *dev)
{
	ohca_cmdq_use_shadow(dev, false);
	ohca_uar_free(dev, &dev->uar);
}

/* First half: the PCI function. */
static int ohca_pci_init(struct ohca_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int err;

	err = pci_enable_device_mem(pdev);
	if (err)
		return err;
	err = pci_request_mem_regions(pdev, KBUILD_MODNAME);
	if (err)
		goto err_disable;

	err = -ENODEV;
	if (pci_resource_len(pdev, OHCA_BAR_REGS) < OHCA_BAR_REGS_SIZE ||
	    pci_resource_len(pdev, OHCA_BAR_UAR) < OHCA_UAR_SIZE)
		goto err_regions;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto err_regions;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);

	err = -ENOMEM;
	dev->uar_phys = pci_resource_start(pdev, OHCA_BAR_UAR);
	dev->regs = pci_iomap(pdev, OHCA_BAR_REGS, OHCA_BAR_REGS_SIZE);
	if (!dev->regs)
		goto err_regions;
	pci_save_state(pdev);
	dev->pci_state = pci_store_saved_state(pdev);
	if (!dev->pci_state)
		goto err_regs;
	return 0;

err_regs:
	pci_iounmap(pdev, dev->regs);
err_regions:
	pci_release_mem_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return err;
}

static void ohca_pci_fini(struct ohca_dev *dev)
{
	kfree(dev->pci_state);
	pci_iounmap(dev->pdev, dev->regs);
	pci_release_mem_regions(dev->pdev);
	pci_disable_device(dev->pdev);
}

/* Second half: the device behind it, up to the point where commands and events work. */
static int ohca_hw_init(struct ohca_dev *dev)
{
	int err;

	err = ohca_check_identity(dev);
	if (err)
		return err;
	err = ohca_reset(dev);
	if (err) {
		dev_err(ohca_dmadev(dev), "reset failed: %pe\n", ERR_PTR(err));
		return err;
	}
	pci_set_master(dev->pdev);
	ohca_negotiate(dev);
	err = ohca_cmdq_init(dev);
	if (err)
		return err;
	err = ohca_irq_init(dev);
	if (err)
		goto err_cmdq;
	ohca_port_init(dev);
	err = ohca_enable(dev);
	if (err)
		goto err_reset;
	err = ohca_check_attr(dev);
	if (err)
		goto err_reset;
	err = ohca_uar0_init(dev);
	if (err)
		goto err_reset;
	err = ohca_cmd_query_port(dev, OHCA_PORT, &dev->port.attr);
	if (err)
		goto err_uar0;
	err = ohca_faults_init(dev);
	if (err)
		goto err_uar0;
	err = ohca_eqs_init(dev);
	if (err)
		goto err_faults;
	dev->heartbeat_stuck = 0;
	schedule_delayed_work(&dev->health, msecs_to_jiffies(OHCA_HEALTH_MS));
	return 0;

err_faults:
	ohca_faults_fini(dev);
err_uar0:
	ohca_uar0_fini(dev);
err_reset:
	ohca_port_fini(dev);
	ohca_stop(dev);
	ohca_irq_fini(dev);
err_cmdq:
	ohca_cmdq_fini(dev);
	return err;
}

static void ohca_hw_fini(struct ohca_dev *dev)
{
	cancel_delayed_work_sync(&dev->health);
	ohca_faults_fini(dev);
	ohca_eqs_fini(dev);
	ohca_port_fini(dev);
	ohca_uar0_fini(dev);
	ohca_stop(dev);
	ohca_irq_fini(dev);
	ohca_cmdq_fini(dev);
}

static struct ohca_dev *ohca_dev_alloc(struct pci_dev *pdev)
{
	struct ohca_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	dev->pdev = pdev;
	strscpy(dev->ib_name, OHCA_IB_NAME);
	xa_init_flags(&dev->cqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->mkeys, XA_FLAGS_LOCK_IRQ);
	mutex_init(&dev->eqs.kick_lock);
	spin_lock_init(&dev->ib_lock);
	ohca_port_setup(dev);
	INIT_DELAYED_WORK(&dev->health, ohca_health_work);
	INIT_WORK(&dev->fence.work, ohca_fence_work);
	disable_work(&dev->fence.work);
	INIT_WORK(&dev->fence.flush, ohca_flush_work);
	ohca_recover_setup(dev);
	pci_set_drvdata(pdev, dev);
	return dev;
}

static void ohca_dev_free(struct ohca_dev *dev)
{
	disable_work_sync(&dev->fence.flush);
	xa_destroy(&dev->cqs);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->mkeys);
	kfree(dev);
}

static int ohca_ib_up(struct ohca_dev *dev)
{
	int err = ohca_ib_register(dev);

	if (err)
		return err;
	ohca_ib_set_live(dev, true);
	ohca_port_announce(dev);
	return 0;
}

static void ohca_ib_down(struct ohca_dev *dev)
{
	ohca_ib_set_live(dev, false);
	ohca_ib_unregister(dev);
}

/**
 * ohca_dev_stop() - give up all but the netdev, which is detached
 * @dev: device, bound; nothing is done if it is stopped already
 */
void ohca_dev_stop(struct ohca_dev *dev)
{
	if (!dev->up)
		return;
	dev->up = false;
	ohca_ib_down(dev);
	ohca_en_suspend(dev);
	ohca_hw_fini(dev);
}

/**
 * ohca_dev_start() - undo ohca_dev_stop()
 * @dev: device, not fenced
 *
 * Return: 0, or a negative errno, and it is still stopped
 */
int ohca_dev_start(struct ohca_dev *dev)
{
	int err;

	err = ohca_hw_init(dev);
	if (err)
		return err;
	err = ohca_en_resume(dev);
	if (err)
		goto err_hw;
	err = ohca_ib_up(dev);
	if (err)
		goto err_netdev;
	dev->up = true;
	return 0;

err_netdev:
	ohca_en_suspend(dev);
err_hw:
	ohca_hw_fini(dev);
	return err;
}

static int ohca_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ohca_dev *dev;
	int err;

	if (PAGE_SIZE != OHCA_UAR_SIZE) {
		dev_err(&pdev->dev, "needs pages of %u bytes\n", OHCA_UAR_SIZE);
		return -EOPNOTSUPP;
	}

	dev = ohca_dev_alloc(pdev);
	if (!dev)
		return -ENOMEM;
	err = ohca_pci_init(dev);
	if (err)
		goto err_free;
	err = ohca_hw_init(dev);
	if (err)
		goto err_pci;
	err = ohca_en_init(dev);
	if (err)
		goto err_hw;
	err = ohca_ib_up(dev);
	if (err)
		goto err_netdev;
	dev->up = true;
	err = ohca_dev_show(dev);
	if (err)
		goto err_ib;
	return 0;

err_ib:
	ohca_ib_down(dev);
err_netdev:
	ohca_en_fini(dev);
err_hw:
	ohca_hw_fini(dev);
err_pci:
	ohca_pci_fini(dev);
err_free:
	ohca_dev_free(dev);
	return err;
}

static void ohca_remove(struct pci_dev *pdev)
{
	struct ohca_dev *dev = pci_get_drvdata(pdev);

	ohca_dev_hide(dev);
	if (dev->up)
		ohca_ib_down(dev);
	ohca_en_fini(dev);
	if (dev->up)
		ohca_hw_fini(dev);
	ohca_pci_fini(dev);
	ohca_dev_free(dev);
}

/* Reboot, kexec: nothing is torn down, but the device must leave memory alone. */
static void ohca_shutdown(struct pci_dev *pdev)
{
	struct ohca_dev *dev = pci_get_drvdata(pdev);

	ohca_recover_block(dev);
	disable_delayed_work_sync(&dev->health);
	if (!test_and_set_bit(0, &dev->fence_bit)) {
		ohca_silence(dev);
		ohca_cmdq_abort(dev);
	}
}

static pci_ers_result_t ohca_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	ohca_fence(pci_get_drvdata(pdev), "PCI error");
	return PCI_ERS_RESULT_DISCONNECT;
}

/* A reset by somebody else takes everything with it that the device knew. */
static void ohca_reset_prepare(struct pci_dev *pdev)
{
	struct ohca_dev *dev = pci_get_drvdata(pdev);

	ohca_recover_block(dev);
	ohca_fence(dev, "PCI function reset");
}

static void ohca_reset_done(struct pci_dev *pdev)
{
	ohca_recover_unblock(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers ohca_err_handlers = {
	.error_detected = ohca_error_detected,
	.reset_prepare = ohca_reset_prepare,
	.reset_done = ohca_reset_done,
};

/* clang-format off */
static const struct pci_device_id ohca_pci_ids[] = {
	{ PCI_DEVICE(OHCA_PCI_VENDOR_ID, OHCA_PCI_DEVICE_ID) },
	{}
};

/* clang-format on */
MODULE_DEVICE_TABLE(pci, ohca_pci_ids);

static struct pci_driver ohca_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ohca_pci_ids,
	.probe = ohca_probe,
	.remove = ohca_remove,
	.shutdown = ohca_shutdown,
	.err_handler = &ohca_err_handlers,
};
module_pci_driver(ohca_pci_driver);

MODULE_AUTHOR("OHCA developers");
MODULE_DESCRIPTION("Open Host Channel Adapter RDMA and Ethernet driver");
MODULE_LICENSE("GPL");
