// SPDX-License-Identifier: GPL-2.0
/*
 * A device of the profile Minimal RC of the specification: what it does not have is refused, and does
 * not disturb what it has.
 */

#include <string.h>

#include "verbs_util.h"

#define LEN 4096

static struct vu_dev dev;
static struct ibv_mr *mr;

static void test_attributes(const void *arg)
{
	struct ibv_device_attr_ex attr;

	(void)arg;
	if (!EXPECT_EQ(ibv_query_device_ex(dev.ctx, NULL, &attr), 0))
		return;
	EXPECT_EQ(attr.orig_attr.max_qp_wr, 16);
	EXPECT_EQ(attr.orig_attr.max_cqe, 64);
	EXPECT_EQ(attr.orig_attr.max_sge, 1);
	EXPECT_EQ(attr.orig_attr.max_qp_rd_atom, 1);
	EXPECT_EQ(attr.orig_attr.max_srq, 0);
	EXPECT_EQ(attr.orig_attr.max_mw, 0);
	EXPECT_EQ(attr.orig_attr.max_ah, 0);
	EXPECT_EQ(attr.orig_attr.max_mcast_grp, 0);
	EXPECT_EQ(attr.orig_attr.atomic_cap, IBV_ATOMIC_NONE);
	EXPECT_EQ(attr.odp_caps.general_caps, 0);
	EXPECT_EQ(attr.rss_caps.max_rwq_indirection_tables, 0);
	EXPECT_EQ(attr.tm_caps.max_num_tags, 0);
	EXPECT_EQ(attr.max_dm_size, 0);
	EXPECT_EQ(attr.completion_timestamp_mask, 0);
	EXPECT_EQ(attr.orig_attr.device_cap_flags &
			  (IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_XRC |
			   IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_SRQ_RESIZE),
		  0);
	EXPECT_EQ(dev.port.gid_tbl_len, 1);
	EXPECT_EQ(dev.port.max_msg_sz, 1 << 20);
}

static struct ibv_qp *make_qp(struct ibv_cq *cq, enum ibv_qp_type type, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = cap,
		.qp_type = type,
	};

	return ibv_create_qp(dev.pd, &init);
}

static void test_qps(const void *arg)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 64, NULL, NULL, 0);
	struct ibv_qp_cap more;

	(void)arg;
	if (!EXPECT(cq))
		return;
	EXPECT_NULL(make_qp(cq, IBV_QPT_UC, cap), EOPNOTSUPP);
	EXPECT_NULL(make_qp(cq, IBV_QPT_UD, cap), EOPNOTSUPP);
	EXPECT_NULL(make_qp(cq, IBV_QPT_XRC_SEND, cap), EOPNOTSUPP);
	EXPECT_NULL(make_qp(cq, IBV_QPT_RAW_PACKET, cap), EOPNOTSUPP);
#define MORE(field, value)                                          \
	do {                                                        \
		more = cap;                                         \
		more.field = value;                                 \
		EXPECT_NULL(make_qp(cq, IBV_QPT_RC, more), EINVAL); \
	} while (0)
	MORE(max_send_wr, 17);
	MORE(max_recv_wr, 17);
	MORE(max_send_sge, 2);
	MORE(max_recv_sge, 2);
	MORE(max_inline_data, 1);
#undef MORE
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

static void test_objects(const void *arg)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_ah_attr ah = {.is_global = 1,
				 .grh = {.dgid = dev.gid, .sgid_index = dev.gid_index},
				 .port_num = VU_PORT};
	struct ibv_alloc_dm_attr dm = {.length = 4096};
	struct ibv_wq_init_attr wq = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = dev.pd};

	(void)arg;
	EXPECT_NULL(ibv_create_srq(dev.pd, &srq), EOPNOTSUPP);
	EXPECT_NULL(vu_open_xrcd(&dev), EOPNOTSUPP);
	EXPECT_NULL(ibv_create_ah(dev.pd, &ah), EOPNOTSUPP);
	EXPECT_NULL(ibv_alloc_mw(dev.pd, IBV_MW_TYPE_1), EOPNOTSUPP);
	EXPECT_NULL(ibv_alloc_dm(dev.ctx, &dm), EOPNOTSUPP);
	EXPECT_NULL(ibv_create_wq(dev.ctx, &wq), EOPNOTSUPP);
}

static void test_cqs(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16,
					   .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_modify_cq_attr moder = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					   .moderate = {.cq_count = 1, .cq_period = 1}};
	struct ibv_cq *cq;

	(void)arg;
	EXPECT_NULL(ibv_create_cq(dev.ctx, 65, NULL, NULL, 0), EINVAL);
	EXPECT_NULL(ibv_create_cq_ex(dev.ctx, &attr), EOPNOTSUPP);
	cq = ibv_create_cq(dev.ctx, 16, NULL, NULL, 0);
	if (!EXPECT(cq))
		return;
	EXPECT_EQ(ibv_modify_cq(cq, &moder), EOPNOTSUPP);
	EXPECT_EQ(ibv_resize_cq(cq, 32), EOPNOTSUPP);
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

static void test_regions(const void *arg)
{
	/* ib_core refuses it before the driver does; in older kernels, with EINVAL. */
	int on_demand = vu_kernel_before(6, 12) ? EINVAL : EOPNOTSUPP;

	(void)arg;
	EXPECT_NULL(ibv_reg_mr(dev.pd, mr->addr, LEN, VU_RW | IBV_ACCESS_ON_DEMAND), on_demand);
	EXPECT_NULL(ibv_reg_mr(dev.pd, mr->addr, LEN, VU_RW | IBV_ACCESS_MW_BIND), EOPNOTSUPP);
	EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, VU_RW),
		  IBV_REREG_MR_ERR_CMD);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

/* Work requests that need a capability, on queue pairs that work */
static void test_requests(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_sge sge = {.addr = (uintptr_t)mr->addr, .length = 8, .lkey = mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_cq *cq = ibv_create_cq(dev.ctx, 64, NULL, NULL, 0);
	struct ibv_send_wr *bad;
	struct vu_qp a, b;
	struct ibv_wc wc;

	(void)arg;
	if (!EXPECT(cq))
		return;
	opts.send_cq = cq;
	opts.recv_cq = cq;
	opts.send_wr = 8;
	opts.recv_wr = 8;
	opts.rd_atomic = 1;
	opts.dest_rd_atomic = 1;
	if (!vu_qp_create(&dev, &a, &opts))
		goto out_cq;
	if (!vu_qp_create(&dev, &b, &opts))
		goto out_a;
	if (!vu_connect_pair(&dev, &a, &b, &opts))
		goto out;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = (uintptr_t)mr->addr;
	wr.wr.atomic.rkey = mr->rkey;
	EXPECT_EQ(ibv_post_send(a.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_SEND_WITH_INV;
	EXPECT_EQ(ibv_post_send(a.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_LOCAL_INV;
	EXPECT_EQ(ibv_post_send(a.qp, &wr, &bad), EINVAL);
	/* They have posted nothing. */
	memset(mr->addr, 0, LEN);
	*(uint64_t *)mr->addr = 77;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma.remote_addr = (uintptr_t)mr->addr + 64;
	wr.wr.rdma.rkey = mr->rkey;
	wr.wr_id = 5;
	if (EXPECT_EQ(ibv_post_send(a.qp, &wr, &bad), 0) && vu_wait_wc(cq, &wc, 5, IBV_WC_SUCCESS))
		EXPECT_EQ(((uint64_t *)mr->addr)[8], 77);
out:
	vu_qp_destroy(&b);
out_a:
	vu_qp_destroy(&a);
out_cq:
	EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

static const struct tap_test tests[] = {
	{"attributes", test_attributes, NULL},	{"queue pairs", test_qps, NULL},
	{"objects", test_objects, NULL},	{"completion queues", test_cqs, NULL},
	{"memory regions", test_regions, NULL}, {"work requests", test_requests, NULL},
};

int main(void)
{
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, LEN);
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
