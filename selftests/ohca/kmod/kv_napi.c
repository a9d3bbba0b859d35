// SPDX-License-Identifier: GPL-2.0
/*
 * Test beside those of the kernel's verbs: the netdev's queues are made anew while NAPI still
 * handles the last event.  napi_disable() waits for napi_complete_done(), but the driver arms the
 * CQ after that, and has to keep it until then.  A probe holds NAPI there for long enough.
 */

#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "kv.h"

/**
 * struct kv_napi - what the probes know
 * @napi: NAPI instance that is held
 * @held: it was held already
 * @arming: it is about to arm its CQ
 * @armed: it has been held for long enough
 * @freed: a buffer of queues was freed
 * @late: that was before the CQ was armed
 */
static struct kv_napi {
	struct napi_struct *napi;
	unsigned long held;
	struct completion arming;
	struct completion armed;
	bool freed;
	bool late;
} kv_napi;

static int kv_napi_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	return (void *)regs_get_kernel_argument(regs, 0) != kv_napi.napi ||
	       test_and_set_bit(0, &kv_napi.held);
}

static int kv_napi_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	complete(&kv_napi.arming);
	kv_napi.late = kv_hold_until(&kv_napi.freed);
	complete(&kv_napi.armed);
	return 0;
}

static int kv_napi_freed(struct kprobe *probe, struct pt_regs *regs)
{
	WRITE_ONCE(kv_napi.freed, true);
	return 0;
}

static struct net_device *kv_netdev(struct ib_device *dev)
{
	struct net_device *ndev, *found = NULL;

	rtnl_lock();
	for_each_netdev(&init_net, ndev) {
		if (ndev->dev.parent == dev->dev.parent && ndev->dev_port == KV_PORT - 1) {
			found = ndev;
			break;
		}
	}
	rtnl_unlock();
	return found;
}

/* The interrupt of a completion */
static void kv_napi_irq(void *napi)
{
	napi_schedule(napi);
}

static bool kv_napi_run(struct net_device *ndev)
{
	struct kprobe freed = {
		.symbol_name = "ohca_buf_free",
		.pre_handler = kv_napi_freed,
	};

	if (!KV_EXPECT(!register_kprobe(&freed)))
		return false;
	kv_interrupt_other(kv_napi_irq, kv_napi.napi);
	wait_for_completion(&kv_napi.arming);
	ndev->netdev_ops->ndo_tx_timeout(ndev, 0);
	wait_for_completion(&kv_napi.armed);
	unregister_kprobe(&freed);
	return KV_EXPECT(!kv_napi.late);
}

static bool kv_test_napi(struct kv_rig *rig)
{
	struct net_device *ndev = kv_netdev(rig->dev);
	struct kretprobe complete = {
		.kp.symbol_name = "napi_complete_done",
		.entry_handler = kv_napi_entry,
		.handler = kv_napi_return,
		.maxactive = 16,
	};
	bool ok;

	if (!KV_EXPECT(ndev && netif_running(ndev)))
		return false;
	rtnl_lock();
	kv_napi = (struct kv_napi){
		.napi = list_first_entry(&ndev->napi_list, struct napi_struct, dev_list),
	};
	rtnl_unlock();
	init_completion(&kv_napi.arming);
	init_completion(&kv_napi.armed);
	if (!KV_EXPECT(!register_kretprobe(&complete)))
		return false;
	ok = kv_napi_run(ndev);
	unregister_kretprobe(&complete);
	return ok;
}

/* The queues are made anew by another processor than that of NAPI. */
static bool kv_can_napi(struct ib_device *dev)
{
	return kv_is_roce(dev) && num_online_cpus() > 1;
}

const struct kv_test kv_napi_tests[] = {
	{.name = "queues are made anew during an event", .fn = kv_test_napi, .can = kv_can_napi},
};

const unsigned int kv_num_napi_tests = ARRAY_SIZE(kv_napi_tests);
