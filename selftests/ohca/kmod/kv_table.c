// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: the tables of an InfiniBand port change while the driver registers
 * its device.  ib_core has filled its caches then, and the driver does not pass events on yet.  In
 * the end the caches have what the port has.
 */

#include <linux/delay.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>

#include "kv.h"

#define KV_BLOCK_KEYS 32
#define KV_KEY_INDEX 40
#define KV_KEY 0xfabc
#define KV_BLOCK_GUIDS 8
#define KV_GUID_INDEX 3
#define KV_GUID 0x0200c0ffee000001ULL

/* Get or set a block of a table, as a subnet manager does. */
static bool kv_smp(struct ib_device *dev, u8 method, __be16 attr, u32 block, struct ib_smp *smp)
{
	static struct ib_mad in, out;
	size_t len = sizeof(out);
	u16 pkey_index = 0;
	int result;

	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = method;
	smp->status = 0;
	smp->attr_id = attr;
	smp->attr_mod = cpu_to_be32(block);
	memcpy(&in, smp, sizeof(*smp));
	result = dev->ops.process_mad(dev, IB_MAD_IGNORE_MKEY, KV_PORT, NULL, NULL, &in, &out, &len,
				      &pkey_index);
	memcpy(smp, &out, sizeof(*smp));
	return KV_EXPECT(result == (IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY)) &&
	       KV_EXPECT(!smp->status);
}

/* Change an entry, of @size bytes, of a block. */
static void kv_set(struct ib_device *dev, __be16 attr, u32 block, u32 entry, const void *value,
		   size_t size)
{
	static struct ib_smp smp;

	if (!kv_smp(dev, IB_MGMT_METHOD_GET, attr, block, &smp))
		return;
	memcpy(smp.data + entry * size, value, size);
	kv_smp(dev, IB_MGMT_METHOD_SET, attr, block, &smp);
}

/* There is no subnet manager yet, which would make ib_core renew its caches. */
void kv_change_tables(struct ib_device *dev)
{
	__be16 key = cpu_to_be16(KV_KEY);
	__be64 guid = cpu_to_be64(KV_GUID);

	kv_set(dev, IB_SMP_ATTR_PKEY_TABLE, KV_KEY_INDEX / KV_BLOCK_KEYS,
	       KV_KEY_INDEX % KV_BLOCK_KEYS, &key, sizeof(key));
	kv_set(dev, IB_SMP_ATTR_GUID_INFO, KV_GUID_INDEX / KV_BLOCK_GUIDS,
	       KV_GUID_INDEX % KV_BLOCK_GUIDS, &guid, sizeof(guid));
}

static bool kv_key_is_cached(struct ib_device *dev)
{
	u16 of_port, cached;

	return !ib_query_pkey(dev, KV_PORT, KV_KEY_INDEX, &of_port) &&
	       !ib_get_cached_pkey(dev, KV_PORT, KV_KEY_INDEX, &cached) && of_port == KV_KEY &&
	       cached == KV_KEY;
}

static bool kv_guid_is_cached(struct ib_device *dev)
{
	union ib_gid of_port, cached;

	return !dev->ops.query_gid(dev, KV_PORT, KV_GUID_INDEX, &of_port) &&
	       of_port.global.interface_id == cpu_to_be64(KV_GUID) &&
	       !rdma_query_gid(dev, KV_PORT, KV_GUID_INDEX, &cached) &&
	       !memcmp(&of_port, &cached, sizeof(cached));
}

static bool kv_wait_until(struct ib_device *dev, bool (*so)(struct ib_device *dev))
{
	unsigned long end = jiffies + KV_TIMEOUT;

	while (!so(dev)) {
		if (time_after(jiffies, end))
			return false;
		msleep(20);
	}
	return true;
}

void kv_check_tables(struct ib_device *dev)
{
	kv_say("TAP version 13\n1..2\n");
	kv_say("%s 1 the GID is in the cache\n",
	       kv_wait_until(dev, kv_guid_is_cached) ? "ok" : "not ok");
	kv_say("%s 2 the P_Key is in the cache\n",
	       kv_wait_until(dev, kv_key_is_cached) ? "ok" : "not ok");
}
