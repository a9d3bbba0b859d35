// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: two connected queue pairs of one device transfer data in every way
 * that the driver offers to the kernel.  The tests run when the module is loaded; their results, in
 * the Test Anything Protocol, are in debugfs: kverbs_test/result.  With hold=live or hold=dead the
 * module holds queue pairs instead until the device is removed, working or fenced, and then prints
 * the results.  With hold=tables, loaded before the device is there, it changes tables of the port
 * while the device is registered.  Never installed.
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "kv.h"

#define KV_RESULT (64 * 1024)

static char *device_prefix = "ohca";
module_param_named(device, device_prefix, charp, 0444);
MODULE_PARM_DESC(device, "beginning of the name of the device to test");

static char *hold = "";
module_param(hold, charp, 0444);
MODULE_PARM_DESC(hold, "hold queue pairs until the device, live or dead, goes; or tables");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "run only this group of tests");

static unsigned int timeout = 30;
module_param(timeout, uint, 0444);
MODULE_PARM_DESC(timeout, "seconds to wait for a completion");

static struct ib_device *kv_device;
static struct dentry *kv_dir;
static struct debugfs_blob_wrapper kv_blob;
static unsigned int kv_num;

void kv_say(const char *fmt, ...)
{
	char *text = kv_blob.data;
	va_list ap;

	va_start(ap, fmt);
	kv_blob.size += vscnprintf(text + kv_blob.size, KV_RESULT - kv_blob.size, fmt, ap);
	va_end(ap);
}

unsigned long kv_timeout(void)
{
	return timeout * HZ;
}

static const struct {
	const char *name;
	enum ib_poll_context poll;
} kv_polls[] = {
	{"direct", IB_POLL_DIRECT},
	{"softirq", IB_POLL_SOFTIRQ},
	{"workqueue", IB_POLL_WORKQUEUE},
	{"unbound workqueue", IB_POLL_UNBOUND_WORKQUEUE},
};

static void kv_run_one(struct ib_device *dev, const struct kv_test *test, enum ib_poll_context poll,
		       const char *how)
{
	struct kv_rig rig = {
		.dev = dev,
		.poll = poll,
		.type = test->type ?: IB_QPT_RC,
		.shared = test->shared,
		.pooled = test->pooled,
		.rw_ctxs = test->rw_ctxs,
	};
	bool ok = false;
	int err;

	if (*only && strcmp(only, how)) {
		kv_say("ok %u %s: %s # SKIP not chosen\n", ++kv_num, how, test->name);
		return;
	}
	if (test->can && !test->can(dev)) {
		kv_say("ok %u %s: %s # SKIP the device has no such thing\n", ++kv_num, how,
		       test->name);
		return;
	}
	err = kv_up(&rig);
	if (err) {
		kv_say("# set-up: %d\n", err);
	} else {
		ok = test->fn(&rig);
		kv_down(&rig);
		ok = KV_EXPECT(!rig.atomic) && ok;
	}
	kv_say("%s %u %s: %s\n", ok ? "ok" : "not ok", ++kv_num, how, test->name);
}

static void kv_run(struct ib_device *dev)
{
	unsigned int i, j;

	kv_say("TAP version 13\n1..%zu\n",
	       ARRAY_SIZE(kv_polls) * kv_num_data_tests + kv_num_mem_tests + kv_num_core_tests +
		       kv_num_type_tests + kv_num_srq_tests + kv_num_path_tests +
		       kv_num_large_tests + kv_num_free_tests + kv_num_napi_tests);
	for (i = 0; i < ARRAY_SIZE(kv_polls); i++)
		for (j = 0; j < kv_num_data_tests; j++)
			kv_run_one(dev, &kv_data_tests[j], kv_polls[i].poll, kv_polls[i].name);
	for (j = 0; j < kv_num_mem_tests; j++)
		kv_run_one(dev, &kv_mem_tests[j], IB_POLL_SOFTIRQ, "memory");
	for (j = 0; j < kv_num_core_tests; j++)
		kv_run_one(dev, &kv_core_tests[j], IB_POLL_WORKQUEUE, "core");
	for (j = 0; j < kv_num_type_tests; j++)
		kv_run_one(dev, &kv_type_tests[j], IB_POLL_SOFTIRQ, "types");
	for (j = 0; j < kv_num_srq_tests; j++)
		kv_run_one(dev, &kv_srq_tests[j], IB_POLL_DIRECT, "SRQ");
	for (j = 0; j < kv_num_path_tests; j++)
		kv_run_one(dev, &kv_path_tests[j], IB_POLL_SOFTIRQ, "paths");
	for (j = 0; j < kv_num_large_tests; j++)
		kv_run_one(dev, &kv_large_tests[j], IB_POLL_SOFTIRQ, "large pages");
	for (j = 0; j < kv_num_free_tests; j++)
		kv_run_one(dev, &kv_free_tests[j], IB_POLL_SOFTIRQ, "CQ is freed");
	for (j = 0; j < kv_num_napi_tests; j++)
		kv_run_one(dev, &kv_napi_tests[j], IB_POLL_SOFTIRQ, "netdev");
}

static bool kv_holds(const char *what)
{
	return !strcmp(hold, what);
}

/* ib_core calls this for the existing devices. */

static int kv_add(struct ib_device *dev)
{
	if (kv_device || strncmp(dev_name(&dev->dev), device_prefix, strlen(device_prefix)))
		return -EOPNOTSUPP;
	kv_device = dev;
	if (kv_holds("tables"))
		kv_change_tables(dev);
	return 0;
}

static void kv_remove(struct ib_device *dev, void *data)
{
	if (kv_holds("tables"))
		kv_check_tables(dev);
	else if (*hold)
		kv_release(kv_holds("dead"));
	kv_device = NULL;
}

static struct ib_client kv_client = {
	.name = "kverbs_test",
	.add = kv_add,
	.remove = kv_remove,
};

static int __init kv_init(void)
{
	int err;

	kv_blob.data = vzalloc(KV_RESULT);
	if (!kv_blob.data)
		return -ENOMEM;
	err = ib_register_client(&kv_client);
	if (err)
		goto err_blob;
	if (kv_holds("tables"))
		err = 0; /* kv_add() and kv_remove() do it */
	else if (!kv_device)
		kv_say("TAP version 13\n1..0 # SKIP no device\n");
	else if (!*hold)
		kv_run(kv_device);
	else
		err = kv_hold(kv_device);
	if (err)
		goto err_client;
	kv_dir = debugfs_create_dir("kverbs_test", NULL);
	debugfs_create_blob("result", 0444, kv_dir, &kv_blob);
	return 0;

err_client:
	ib_unregister_client(&kv_client);
err_blob:
	vfree(kv_blob.data);
	return err;
}

static void __exit kv_exit(void)
{
	debugfs_remove(kv_dir);
	ib_unregister_client(&kv_client);
	vfree(kv_blob.data);
}

module_init(kv_init);
module_exit(kv_exit);
MODULE_DESCRIPTION("Test of the kernel's verbs");
MODULE_LICENSE("GPL");
