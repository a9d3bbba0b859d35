// SPDX-License-Identifier: GPL-2.0
/*
 * Test of power management and of errors of the bus: calls the driver of a PCI function as the PCI
 * core does, and takes the function's state away in between.  All of it happens when the module is
 * loaded, which fails if an answer of the driver is not the expected one.  Never installed.
 */

#include <linux/module.h>
#include <linux/pci.h>

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "domain:bus:device.function");

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "suspend, nonfatal, frozen or permanent");

/* Without power, the function loses all of its state. */
static int test_lose_state(struct pci_dev *pdev)
{
	pci_save_state(pdev);
	return __pci_reset_function_locked(pdev);
}

static int test_suspend(struct pci_dev *pdev)
{
	const struct dev_pm_ops *ops = pdev->dev.driver->pm;
	int err;

	if (!ops || !ops->suspend || !ops->resume || !ops->freeze || !ops->restore)
		return -EOPNOTSUPP;
	err = ops->suspend(&pdev->dev);
	if (err)
		return err;
	err = test_lose_state(pdev);
	pci_restore_state(pdev);
	return ops->resume(&pdev->dev) ?: err;
}

/* An error that the bus, or its reset, takes back */
static int test_recovered(struct pci_dev *pdev, const struct pci_error_handlers *handlers,
			  pci_channel_state_t state)
{
	int err;

	if (handlers->error_detected(pdev, state) != PCI_ERS_RESULT_NEED_RESET)
		return -EPROTO;
	err = test_lose_state(pdev);
	if (err)
		return err;
	if (handlers->slot_reset(pdev) != PCI_ERS_RESULT_RECOVERED)
		return -EPROTO;
	handlers->resume(pdev);
	return 0;
}

static int test_error(struct pci_dev *pdev)
{
	const struct pci_error_handlers *handlers = to_pci_driver(pdev->dev.driver)->err_handler;

	if (!handlers || !handlers->error_detected || !handlers->slot_reset || !handlers->resume)
		return -EOPNOTSUPP;
	if (!strcmp(what, "nonfatal"))
		return test_recovered(pdev, handlers, pci_channel_io_normal);
	if (!strcmp(what, "frozen"))
		return test_recovered(pdev, handlers, pci_channel_io_frozen);
	if (strcmp(what, "permanent"))
		return -EINVAL;
	if (handlers->error_detected(pdev, pci_channel_io_perm_failure) !=
	    PCI_ERS_RESULT_DISCONNECT)
		return -EPROTO;
	return 0;
}

static int __init test_init(void)
{
	unsigned int domain, bus, slot, fn;
	struct pci_dev *pdev;
	int err = -ENODEV;

	if (sscanf(function, "%x:%x:%x.%x", &domain, &bus, &slot, &fn) != 4)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, fn));
	if (!pdev)
		return -ENODEV;
	device_lock(&pdev->dev);
	if (pdev->dev.driver)
		err = strcmp(what, "suspend") ? test_error(pdev) : test_suspend(pdev);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
	return err;
}

static void __exit test_exit(void)
{
}

module_init(test_init);
module_exit(test_exit);
MODULE_DESCRIPTION("Test of a PCI driver's power management and error handlers");
MODULE_LICENSE("GPL");
