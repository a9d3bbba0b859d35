// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: alternate paths of a connection.  One port has two paths to itself:
 * with a GRH, as the rig is connected, and by its LID alone.
 */

#include "kv.h"

#define KV_LEN 1000
#define KV_MIG_MASK (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)

static bool kv_can_migrate(struct ib_device *dev)
{
	return dev->attrs.device_cap_flags & IB_DEVICE_AUTO_PATH_MIG;
}

static int kv_rearm(struct kv_rig *rig, int side)
{
	struct ib_qp_attr attr = {
		.alt_port_num = KV_PORT,
		.alt_timeout = 16,
		.path_mig_state = IB_MIG_REARM,
	};
	int err;

	err = kv_address(rig, &attr.alt_ah_attr);
	if (err)
		return err;
	if (!kv_is_roce(rig->dev))
		rdma_ah_set_ah_flags(&attr.alt_ah_attr, 0);
	return ib_modify_qp(rig->end[side].qp, &attr, KV_MIG_MASK);
}

static int kv_set_mig_state(struct kv_rig *rig, int side, enum ib_mig_state state)
{
	struct ib_qp_attr attr = {.path_mig_state = state};

	return ib_modify_qp(rig->end[side].qp, &attr, IB_QP_PATH_MIG_STATE);
}

static bool kv_write(struct kv_rig *rig, u8 seed)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, KV_LEN);
	struct kv_wr send;

	kv_fill(rig->end[0].buf, KV_LEN, seed);
	return KV_EXPECT(!kv_send(rig, &send, IB_WR_RDMA_WRITE, 0, &sge, 1, 0)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) &&
	       KV_EXPECT(kv_same(rig->end[1].buf, KV_LEN, seed));
}

/* Its state, and whether its path has a GRH */
static bool kv_path_is(struct kv_rig *rig, int side, enum ib_mig_state state, bool grh)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return KV_EXPECT(!ib_query_qp(rig->end[side].qp, &attr, IB_QP_AV | KV_MIG_MASK, &init)) &&
	       KV_EXPECT(attr.path_mig_state == state) &&
	       KV_EXPECT(!!(rdma_ah_get_ah_flags(&attr.ah_attr) & IB_AH_GRH) == grh) &&
	       KV_EXPECT(attr.alt_port_num == KV_PORT) &&
	       KV_EXPECT(!(rdma_ah_get_ah_flags(&attr.alt_ah_attr) & IB_AH_GRH));
}

static bool kv_test_migrate(struct kv_rig *rig)
{
	return KV_EXPECT(!kv_rearm(rig, 0)) && kv_path_is(rig, 0, IB_MIG_REARM, true) &&
	       KV_EXPECT(kv_set_mig_state(rig, 0, IB_MIG_MIGRATED) == -EINVAL) &&
	       KV_EXPECT(!kv_rearm(rig, 1)) && kv_write(rig, 41) &&
	       kv_path_is(rig, 0, IB_MIG_ARMED, true) && kv_path_is(rig, 1, IB_MIG_ARMED, true) &&
	       KV_EXPECT(kv_set_mig_state(rig, 0, IB_MIG_ARMED) == -EINVAL) &&
	       KV_EXPECT(!kv_set_mig_state(rig, 0, IB_MIG_MIGRATED)) && kv_write(rig, 42) &&
	       KV_EXPECT(wait_for_completion_timeout(&rig->migrated[0], KV_TIMEOUT)) &&
	       KV_EXPECT(wait_for_completion_timeout(&rig->migrated[1], KV_TIMEOUT)) &&
	       kv_path_is(rig, 0, IB_MIG_MIGRATED, false) &&
	       kv_path_is(rig, 1, IB_MIG_MIGRATED, false) && kv_write(rig, 43);
}

/* RoCE has no path migration. */
static bool kv_test_refused(struct kv_rig *rig)
{
	return KV_EXPECT(kv_rearm(rig, 0) == -EINVAL) &&
	       KV_EXPECT(kv_set_mig_state(rig, 0, IB_MIG_REARM) == -EOPNOTSUPP) &&
	       kv_write(rig, 44);
}

const struct kv_test kv_path_tests[] = {
	{"migration by software", kv_test_migrate, .can = kv_can_migrate},
	{"no migration on Ethernet", kv_test_refused, .can = kv_is_roce},
};

const unsigned int kv_num_path_tests = ARRAY_SIZE(kv_path_tests);
