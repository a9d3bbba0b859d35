// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs of a program when the kernel can't allocate memory: they fail, leave nothing behind, and
 * work afterwards.
 */

#include "nomem.h"
#include "verbs_util.h"

#define LEN 65536
#define GROUP_LID 0xc000

static struct vu_dev dev;
static struct ibv_mr *mr;
static struct ibv_cq *cq;

/* Whatever an operation creates */
static struct ibv_context *op_ctx;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_mr *op_mr;
static struct ibv_mw *mw;
static struct ibv_dm *dm;
static struct ibv_cq *op_cq;
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static struct ibv_ah *ah;
static struct ibv_qp *qp;
static struct ibv_wq *wq;
static struct ibv_rwq_ind_table *table;
static struct ibv_flow *flow;
static bool attached; /* @qp is in @group */

static union ibv_gid group = {.raw = {0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3}};

/* Destroy the object if there is one; the function returns the errno if that fails. */
#define DESTROY(call, object)                    \
	do {                                     \
		if (object) {                    \
			int _err = call(object); \
			if (_err)                \
				return _err;     \
			(object) = NULL;         \
		}                                \
	} while (0)

static int created(const void *object)
{
	return object ? 0 : errno;
}

/* Of several calls, one has failed with an errno, and those before it have to be undone. */
static int failed(int err, int (*undo)(void))
{
	EXPECT_EQ(undo(), 0);
	return err;
}

static int act_open(void)
{
	op_ctx = vu_open_context();
	return created(op_ctx);
}

static int undo_open(void)
{
	DESTROY(ibv_close_device, op_ctx);
	return 0;
}

static int act_pd(void)
{
	pd = ibv_alloc_pd(dev.ctx);
	return created(pd);
}

static int undo_pd(void)
{
	DESTROY(ibv_dealloc_pd, pd);
	return 0;
}

static int act_channel(void)
{
	channel = ibv_create_comp_channel(dev.ctx);
	return created(channel);
}

static int undo_channel(void)
{
	DESTROY(ibv_destroy_comp_channel, channel);
	return 0;
}

static int act_cq(void)
{
	op_cq = ibv_create_cq(dev.ctx, 1000, NULL, NULL, 0);
	return created(op_cq);
}

static int undo_cq(void)
{
	DESTROY(ibv_destroy_cq, op_cq);
	return 0;
}

static int act_resize(void)
{
	return ibv_resize_cq(cq, 2000);
}

static int undo_resize(void)
{
	return ibv_resize_cq(cq, 1000);
}

static int act_mr(void)
{
	op_mr = ibv_reg_mr(dev.pd, mr->addr, LEN, VU_RW);
	return created(op_mr);
}

static int undo_mr(void)
{
	DESTROY(ibv_dereg_mr, op_mr);
	return 0;
}

static int act_odp(void)
{
	op_mr = ibv_reg_mr(dev.pd, mr->addr, LEN, VU_RW | IBV_ACCESS_ON_DEMAND);
	return created(op_mr);
}

static int rereg(size_t len, int access)
{
	const int flags = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS;

	return ibv_rereg_mr(mr, flags, NULL, mr->addr, len, access) ? errno : 0;
}

static int act_rereg(void)
{
	return rereg(LEN / 2, IBV_ACCESS_LOCAL_WRITE);
}

static int undo_rereg(void)
{
	return rereg(LEN, VU_RW);
}

static int act_mw(void)
{
	mw = ibv_alloc_mw(dev.pd, IBV_MW_TYPE_2);
	return created(mw);
}

static int undo_mw(void)
{
	DESTROY(ibv_dealloc_mw, mw);
	return 0;
}

static int act_dm(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};

	dm = ibv_alloc_dm(dev.ctx, &attr);
	return created(dm);
}

static int undo_dm(void)
{
	DESTROY(ibv_free_dm, dm);
	return 0;
}

static int act_srq(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 100, .max_sge = 2}};

	srq = ibv_create_srq(dev.pd, &init);
	return created(srq);
}

static int undo_srq(void)
{
	DESTROY(ibv_destroy_srq, srq);
	return 0;
}

static int act_ah(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.grh = {.dgid = dev.gid, .sgid_index = dev.gid_index, .hop_limit = 1},
		.dlid = dev.port.lid,
		.port_num = VU_PORT,
	};

	ah = ibv_create_ah(dev.pd, &attr);
	return created(ah);
}

static int undo_ah(void)
{
	DESTROY(ibv_destroy_ah, ah);
	return 0;
}

static int undo_xrc(void)
{
	DESTROY(ibv_destroy_srq, srq);
	DESTROY(ibv_close_xrcd, xrcd);
	return 0;
}

/* Without a target: if ib_core can't allocate one, the domain can't be closed any more. */
static int act_xrc(void)
{
	xrcd = vu_open_xrcd(&dev);
	if (!xrcd)
		return errno;
	srq = vu_create_xrc_srq(&dev, xrcd, cq);
	return srq ? 0 : failed(errno, undo_xrc);
}

static struct ibv_qp *make_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 2, .max_recv_sge = 2},
		.qp_type = type,
	};

	return ibv_create_qp(dev.pd, &init);
}

static int undo_qp(void)
{
	DESTROY(ibv_destroy_qp, qp);
	return 0;
}

/* Connected with itself */
static int act_rc(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1,
			    .grh = {.dgid = dev.gid, .sgid_index = dev.gid_index, .hop_limit = 1},
			    .dlid = dev.port.lid,
			    .port_num = VU_PORT},
	};
	int err;

	qp = make_qp(IBV_QPT_RC);
	if (!qp)
		return errno;
	err = vu_any_to_init(qp);
	attr.dest_qp_num = qp->qp_num;
	if (!err)
		err = ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					    IBV_QP_MIN_RNR_TIMER);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1};
	if (!err)
		err = ibv_modify_qp(qp, &attr,
				    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					    IBV_QP_MAX_QP_RD_ATOMIC);
	return err ? failed(err, undo_qp) : 0;
}

static int undo_group(void)
{
	int err = attached ? ibv_detach_mcast(qp, &group, GROUP_LID) : 0;

	if (err)
		return err;
	attached = false;
	return undo_qp();
}

static int act_group(void)
{
	int err;

	qp = make_qp(IBV_QPT_UD);
	if (!qp)
		return errno;
	err = vu_any_to_init(qp);
	if (!err) {
		err = ibv_attach_mcast(qp, &group, GROUP_LID);
		attached = !err;
	}
	return err ? failed(err, undo_group) : 0;
}

static int undo_flow(void)
{
	DESTROY(ibv_destroy_flow, flow);
	DESTROY(ibv_destroy_qp, qp);
	return 0;
}

static int act_flow(void)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = {.size = sizeof(rule), .num_of_specs = 1, .port = VU_PORT},
		.eth = {.type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(rule.eth),
			.val.dst_mac = {2, 1, 2, 3, 4, 5},
			.mask.dst_mac = {255, 255, 255, 255, 255, 255}},
	};
	int err;

	qp = make_qp(IBV_QPT_RAW_PACKET);
	if (!qp)
		return errno;
	err = vu_any_to_init(qp);
	if (!err) {
		flow = ibv_create_flow(qp, &rule.attr);
		err = created(flow);
	}
	return err ? failed(err, undo_flow) : 0;
}

static int undo_rss(void)
{
	DESTROY(ibv_destroy_qp, qp);
	DESTROY(ibv_destroy_rwq_ind_table, table);
	DESTROY(ibv_destroy_wq, wq);
	return 0;
}

static int act_rss(void)
{
	struct ibv_wq_init_attr wq_init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 16,
		.max_sge = 1,
		.pd = dev.pd,
		.cq = cq,
	};
	struct ibv_rwq_ind_table_init_attr table_init = {.ind_tbl = &wq};
	static uint8_t key[40];
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = dev.pd,
		.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				 .rx_hash_key_len = sizeof(key),
				 .rx_hash_key = key,
				 .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4},
	};
	struct ibv_wq_attr to = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	int err;

	wq = ibv_create_wq(dev.ctx, &wq_init);
	if (!wq)
		return errno;
	err = ibv_modify_wq(wq, &to);
	if (!err) {
		table = ibv_create_rwq_ind_table(dev.ctx, &table_init);
		err = created(table);
	}
	init.rwq_ind_tbl = table;
	if (!err) {
		qp = ibv_create_qp_ex(dev.ctx, &init);
		err = created(qp);
	}
	return err ? failed(err, undo_rss) : 0;
}

static const struct nomem_op op_open = {act_open, undo_open, NULL};
static const struct nomem_op op_pd = {act_pd, undo_pd, NULL};
static const struct nomem_op op_channel = {act_channel, undo_channel, NULL};
static const struct nomem_op op_cq_create = {act_cq, undo_cq, NULL};
static const struct nomem_op op_resize = {act_resize, undo_resize, NULL};
static const struct nomem_op op_reg = {act_mr, undo_mr, NULL};
static const struct nomem_op op_odp = {act_odp, undo_mr, NULL};
static const struct nomem_op op_rereg = {act_rereg, undo_rereg, NULL};
static const struct nomem_op op_mw = {act_mw, undo_mw, NULL};
static const struct nomem_op op_dm = {act_dm, undo_dm, NULL};
static const struct nomem_op op_srq = {act_srq, undo_srq, NULL};
static const struct nomem_op op_ah = {act_ah, undo_ah, NULL};
static const struct nomem_op op_rc = {act_rc, undo_qp, NULL};
static const struct nomem_op op_xrc = {act_xrc, undo_xrc, NULL};
static const struct nomem_op op_group = {act_group, undo_group, NULL};
static const struct nomem_op op_flow = {act_flow, undo_flow, NULL};
static const struct nomem_op op_rss = {act_rss, undo_rss, NULL};

static void test_ethernet(const void *arg)
{
	if (vu_is_ib(&dev))
		tap_skip("no frames on InfiniBand");
	else
		nomem_run(arg);
}

static const struct tap_test tests[] = {
	{"a context", nomem_run, &op_open},
	{"a protection domain", nomem_run, &op_pd},
	{"a completion channel", nomem_run, &op_channel},
	{"a completion queue", nomem_run, &op_cq_create},
	{"another size of a completion queue", nomem_run, &op_resize},
	{"a memory region", nomem_run, &op_reg},
	{"a region with on-demand paging", nomem_run, &op_odp},
	{"a region that is registered again", nomem_run, &op_rereg},
	{"a memory window", nomem_run, &op_mw},
	{"device memory", nomem_run, &op_dm},
	{"a shared receive queue", nomem_run, &op_srq},
	{"an address handle", nomem_run, &op_ah},
	{"a connected queue pair", nomem_run, &op_rc},
	{"an XRC domain and its SRQ", nomem_run, &op_xrc},
	{"a multicast group", nomem_run, &op_group},
	{"a flow", test_ethernet, &op_flow},
	{"receive-side scaling", test_ethernet, &op_rss},
};

int main(void)
{
	vu_open(&dev);
	nomem_init();
	mr = vu_alloc_mr(&dev, LEN);
	cq = ibv_create_cq(dev.ctx, 1000, NULL, NULL, 0);
	if (!cq)
		tap_bail("no completion queue");
	return vu_main(&dev, mr, tests, ARRAY_SIZE(tests), NULL);
}
