// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the PCI function.
 */

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>

#include "devlink.h"
#include "flush.h"
#include "ohca.h"
#include "ohca_compat.h"

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
	dev->uar_len = pci_resource_len(pdev, OHCA_BAR_UAR);
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

static void ohca_fence_work(struct work_struct *work)
{
	struct ohca_dev *dev = container_of(work, struct ohca_dev, fence.work);
	const char *reason;

	ohca_devlink_report_recovery(dev);
	reason = smp_load_acquire(&dev->fence.reason); /* see ohca_quiesced() */
	if (reason)
		ohca_devlink_report_fatal(dev, reason);
}

static struct ohca_dev *ohca_dev_alloc(struct pci_dev *pdev)
{
	struct ohca_dev *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int i;

	if (!dev)
		return NULL;
	dev->pdev = pdev;
	strscpy(dev->ib_name, OHCA_IB_NAME, sizeof(dev->ib_name));
	strscpy(dev->node_desc, "OHCA", sizeof(dev->node_desc));
	xa_init_flags(&dev->cqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->mkeys, XA_FLAGS_LOCK_IRQ);
	ida_init(&dev->uars);
	mutex_init(&dev->eqs.async_lock);
	spin_lock_init(&dev->ib_lock);
	for (i = 0; i < OHCA_MAX_PORTS; i++)
		ohca_port_setup(&dev->ports[i], dev, i + 1);
	INIT_WORK(&dev->fence.work, ohca_fence_work);
	disable_work(&dev->fence.work);
	INIT_WORK(&dev->fence.flush, ohca_flush_work);
	INIT_WORK(&dev->type_work, ohca_type_work);
	disable_work(&dev->type_work);
	ohca_health_setup(&dev->health);
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
	ida_destroy(&dev->uars);
	kfree(dev);
}

/* The last step of probe: devlink gets reports of earlier events. */
static void ohca_dev_show(struct ohca_dev *dev)
{
	ohca_devlink_show(dev);
	enable_work(&dev->fence.work);
	if (ohca_quiesced(dev))
		schedule_work(&dev->fence.work);
	enable_work(&dev->type_work);
	ohca_check_types(dev);
}

/* The device is not recovered after this. */
static void ohca_dev_hide(struct ohca_dev *dev)
{
	ohca_recover_block(dev);
	disable_work_sync(&dev->type_work);
	disable_work_sync(&dev->fence.work);
	disable_delayed_work_sync(&dev->health.recover_work);
	ohca_devlink_hide(dev);
}

static int ohca_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ohca_dev *dev;
	int err;

	dev = ohca_dev_alloc(pdev);
	if (!dev)
		return -ENOMEM;
	err = ohca_pci_init(dev);
	if (err)
		goto err_free;
	err = ohca_devlink_init(dev);
	if (err)
		goto err_pci;
	err = ohca_dev_init(dev);
	if (err)
		goto err_devlink;
	ohca_dev_show(dev);
	return 0;

err_devlink:
	ohca_devlink_fini(dev);
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
	ohca_dev_fini(dev);
	ohca_devlink_fini(dev);
	ohca_pci_fini(dev);
	ohca_dev_free(dev);
}

/* Reboot, kexec: objects are not destroyed, but the device must not access memory any more. */
static void ohca_shutdown(struct pci_dev *pdev)
{
	struct ohca_dev *dev = pci_get_drvdata(pdev);

	ohca_recover_block(dev);
	disable_delayed_work_sync(&dev->health.poll_work);
	ohca_fence_quietly(dev);
}

/*
 * The system sleeps, is written to a disk, or wakes up: without power, the device loses all of its
 * state.  The RDMA device is unregistered, as when the device is recovered; the netdevs stay.
 */
static int ohca_suspend(struct device *device)
{
	ohca_suspend_stop(dev_get_drvdata(device));
	return 0;
}

/* A device that does not come back is recovered later, as any that breaks: the system wakes up. */
static int ohca_resume(struct device *device)
{
	ohca_reinit_start(dev_get_drvdata(device));
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(ohca_pm_ops, ohca_suspend, ohca_resume);

/*
 * Errors of the bus.  What the device has done since is not known, so it is fenced at once, and
 * recovered when the bus works again.  With a permanent failure the driver stays bound: the device
 * is looked for now and then, as one that was unplugged.
 */
static pci_ers_result_t ohca_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct ohca_dev *dev = pci_get_drvdata(pdev);

	ohca_recover_hold(dev);
	ohca_fence(dev, "PCI error");
	if (state == pci_channel_io_perm_failure) {
		ohca_recover_unblock(dev);
		return PCI_ERS_RESULT_DISCONNECT;
	}
	ohca_recover_wait(dev);
	return PCI_ERS_RESULT_NEED_RESET;
}

/* The function or its link was reset; its configuration is that of power-on. */
static pci_ers_result_t ohca_slot_reset(struct pci_dev *pdev)
{
	struct ohca_dev *dev = pci_get_drvdata(pdev);

	if (pci_load_saved_state(pdev, dev->pci_state))
		return PCI_ERS_RESULT_DISCONNECT;
	pci_restore_state(pdev);
	return pci_device_is_present(pdev) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

static void ohca_error_resume(struct pci_dev *pdev)
{
	ohca_recover_unblock(pci_get_drvdata(pdev));
}

/* A function reset by others than the driver: the device has lost all of its state. */
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
	.slot_reset = ohca_slot_reset,
	.resume = ohca_error_resume,
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
	.driver.pm = pm_sleep_ptr(&ohca_pm_ops),
};

static int __init ohca_module_init(void)
{
	int err;

	ohca_workqueue = alloc_workqueue("ohca", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!ohca_workqueue)
		return -ENOMEM;
	err = pci_register_driver(&ohca_pci_driver);
	if (err)
		destroy_workqueue(ohca_workqueue);
	return err;
}

static void __exit ohca_module_exit(void)
{
	pci_unregister_driver(&ohca_pci_driver);
	destroy_workqueue(ohca_workqueue);
}

module_init(ohca_module_init);
module_exit(ohca_module_exit);

MODULE_AUTHOR("OHCA developers");
MODULE_DESCRIPTION("Open Host Channel Adapter RDMA and Ethernet driver");
MODULE_LICENSE("GPL");
