// SPDX-License-Identifier: GPL-2.0
/*
 * Test of power management and of errors of the bus: calls the driver of a PCI function as the PCI
 * core does, and takes the function's state away in between.  All of it happens when the module is
 * loaded, which fails if an answer of the driver is not the expected one.  Never installed.
 */

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pci.h>

static char *function = "";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "domain:bus:device.function");

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "suspend, nonfatal, frozen, permanent or race");

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

/**
 * struct test_racer - a thread that calls the driver at the same time as others
 * @pdev: function
 * @call: what it calls
 * @to_come: number of threads that have not come so far
 * @done: it has returned
 */
struct test_racer {
	struct pci_dev *pdev;
	void (*call)(struct pci_dev *pdev);
	atomic_t *to_come;
	struct completion done;
};

static void test_bus_reports(struct pci_dev *pdev)
{
	to_pci_driver(pdev->dev.driver)->err_handler->error_detected(pdev, pci_channel_io_frozen);
}

static void test_resets(struct pci_dev *pdev)
{
	to_pci_driver(pdev->dev.driver)->err_handler->reset_prepare(pdev);
}

static int test_racer_run(void *data)
{
	struct test_racer *racer = data;

	atomic_dec(racer->to_come);
	while (atomic_read(racer->to_come))
		cond_resched();
	racer->call(racer->pdev);
	complete(&racer->done);
	return 0;
}

/* Let threads fence the device at the same time, two for each reason, and bring it back. */
static int test_race(struct pci_dev *pdev, const struct pci_error_handlers *handlers)
{
	struct test_racer racers[4];
	atomic_t to_come = ATOMIC_INIT(ARRAY_SIZE(racers));
	struct task_struct *task;
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(racers); i++) {
		racers[i] = (struct test_racer){
			.pdev = pdev,
			.call = i % 2 ? test_resets : test_bus_reports,
			.to_come = &to_come,
		};
		init_completion(&racers[i].done);
		task = kthread_run(test_racer_run, &racers[i], "ohca_racer/%d", i);
		if (IS_ERR(task)) {
			atomic_dec(&to_come);
			complete(&racers[i].done);
			err = PTR_ERR(task);
		}
	}
	for (i = 0; i < ARRAY_SIZE(racers); i++)
		wait_for_completion(&racers[i].done);
	err = test_lose_state(pdev) ?: err;
	if (handlers->slot_reset(pdev) != PCI_ERS_RESULT_RECOVERED)
		return -EPROTO;
	handlers->reset_done(pdev);
	handlers->resume(pdev);
	return err;
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
	if (!strcmp(what, "race"))
		return test_race(pdev, handlers);
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
