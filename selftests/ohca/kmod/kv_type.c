// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: unreliable connections and datagrams.
 */

#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>

#include "kv.h"

#define KV_LEN 1000

static bool kv_can_ud(struct ib_device *dev)
{
	return dev->ops.create_ah;
}

static bool kv_can_ud_eth(struct ib_device *dev)
{
	return kv_can_ud(dev) && rdma_protocol_roce(dev, 1);
}

static bool kv_can_ud_srq(struct ib_device *dev)
{
	return kv_can_ud(dev) && dev->ops.create_srq;
}

static bool kv_test_uc(struct kv_rig *rig)
{
	struct kv_wr send, recv;
	struct ib_sge sge = kv_sge(rig, 0, 0, 5000);

	kv_fill(rig->end[0].buf, 5000, 21);
	if (!KV_EXPECT(!kv_recv(rig, &recv, 7, 5000)) ||
	    !KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND_WITH_IMM, 0, &sge, 1, 0)) ||
	    !kv_wait(rig, &send, IB_WC_SUCCESS) || !kv_wait(rig, &recv, IB_WC_SUCCESS) ||
	    !KV_EXPECT(recv.wc.byte_len == 5000) || !KV_EXPECT(recv.wc.wc_flags & IB_WC_WITH_IMM) ||
	    !KV_EXPECT(kv_same(rig->end[1].buf + 7, 5000, 21)))
		return false;

	kv_fill(rig->end[0].buf, 5000, 22);
	return KV_EXPECT(!kv_recv(rig, &recv, 0, 0)) &&
	       KV_EXPECT(!kv_send(rig, &send, IB_WR_RDMA_WRITE_WITH_IMM, 0, &sge, 1, 3)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
	       KV_EXPECT(recv.wc.opcode == IB_WC_RECV_RDMA_WITH_IMM) &&
	       KV_EXPECT(kv_same(rig->end[1].buf + 3, 5000, 22));
}

/* A message that does not arrive completes all the same, and later ones arrive. */
static bool kv_test_uc_lost(struct kv_rig *rig)
{
	struct kv_wr send, recv;
	struct ib_sge sge = kv_sge(rig, 0, 0, 64);

	kv_fill(rig->end[0].buf, 64, 23);
	return KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, &sge, 1, 0)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) &&
	       KV_EXPECT(!kv_rdma(rig, &send, IB_WR_RDMA_WRITE, &sge, 1, rig->end[1].dma,
				  rig->pd->local_dma_lkey)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) && KV_EXPECT(!kv_recv(rig, &recv, 0, 64)) &&
	       KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, &sge, 1, 0)) &&
	       kv_wait(rig, &recv, IB_WC_SUCCESS) && kv_wait(rig, &send, IB_WC_SUCCESS) &&
	       KV_EXPECT(kv_same(rig->end[1].buf, 64, 23));
}

static int kv_send_ud(struct kv_rig *rig, struct kv_wr *wr, enum ib_wr_opcode op, int flags,
		      struct ib_sge *sge, int num, u32 qkey)
{
	struct ib_ud_wr send = {
		.wr.sg_list = sge,
		.wr.num_sge = num,
		.wr.opcode = op,
		.wr.send_flags = flags,
		.wr.ex.imm_data = cpu_to_be32(0x55667788),
		.ah = rig->ah,
		.remote_qpn = rig->end[1].qp->qp_num,
		.remote_qkey = qkey,
	};

	return kv_post(rig, 0, wr, &send.wr);
}

/* The receiver of a datagram gets its source. */
static bool kv_test_ud(struct kv_rig *rig)
{
	struct ib_grh *grh = (struct ib_grh *)rig->end[1].buf;
	struct ib_sge sge = kv_sge(rig, 0, 0, KV_LEN);
	struct rdma_ah_attr sent, back = {};
	bool roce = kv_is_roce(rig->dev);
	struct kv_wr send, recv;
	int err;

	kv_fill(rig->end[0].buf, KV_LEN, 31);
	if (!KV_EXPECT(!kv_recv(rig, &recv, 0, sizeof(*grh) + KV_LEN)) ||
	    !KV_EXPECT(!kv_send_ud(rig, &send, IB_WR_SEND_WITH_IMM, 0, &sge, 1, KV_QKEY)) ||
	    !kv_wait(rig, &send, IB_WC_SUCCESS) || !kv_wait(rig, &recv, IB_WC_SUCCESS) ||
	    !KV_EXPECT(recv.wc.opcode == IB_WC_RECV) ||
	    !KV_EXPECT(recv.wc.byte_len == sizeof(*grh) + KV_LEN) ||
	    !KV_EXPECT(recv.wc.src_qp == rig->end[0].qp->qp_num) ||
	    !KV_EXPECT(recv.wc.wc_flags & IB_WC_GRH) ||
	    !KV_EXPECT(recv.wc.wc_flags & IB_WC_WITH_IMM) ||
	    !KV_EXPECT(recv.wc.ex.imm_data == cpu_to_be32(0x55667788)) ||
	    !KV_EXPECT(!!(recv.wc.wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE) == roce) ||
	    !KV_EXPECT(!!(recv.wc.wc_flags & IB_WC_WITH_SMAC) == roce) ||
	    !KV_EXPECT(!(recv.wc.wc_flags & IB_WC_WITH_VLAN)) ||
	    !KV_EXPECT(kv_same(rig->end[1].buf + sizeof(*grh), KV_LEN, 31)))
		return false;

	if (!KV_EXPECT(!rdma_query_ah(rig->ah, &sent)) ||
	    !KV_EXPECT(!roce || ether_addr_equal(recv.wc.smac, sent.roce.dmac)))
		return false;
	err = ib_init_ah_attr_from_wc(rig->dev, KV_PORT, &recv.wc, grh, &back);
	if (!KV_EXPECT(!err))
		return false;
	err = memcmp(&rdma_ah_read_grh(&back)->dgid, &rdma_ah_read_grh(&sent)->dgid,
		     sizeof(union ib_gid));
	rdma_destroy_ah_attr(&back);
	return KV_EXPECT(!err);
}

static bool kv_test_ud_inline(struct kv_rig *rig)
{
	struct ib_sge sge = {.addr = (uintptr_t)rig->end[0].buf, .length = KV_INLINE};
	struct kv_wr send, recv;

	kv_fill(rig->end[0].buf, KV_INLINE, 32);
	return KV_EXPECT(!kv_recv(rig, &recv, 0, sizeof(struct ib_grh) + KV_INLINE)) &&
	       KV_EXPECT(!kv_send_ud(rig, &send, IB_WR_SEND, IB_SEND_INLINE, &sge, 1, KV_QKEY)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
	       KV_EXPECT(kv_same(rig->end[1].buf + sizeof(struct ib_grh), KV_INLINE, 32));
}

/* A wrong Q_Key uses no receive request; the QP's own Q_Key can be used by both sides. */
static bool kv_test_ud_qkey(struct kv_rig *rig)
{
	struct ib_sge bad = kv_sge(rig, 0, 0, 32), good = kv_sge(rig, 0, 100, 64);
	struct kv_wr send, recv;

	return KV_EXPECT(!kv_recv(rig, &recv, 0, 200)) &&
	       KV_EXPECT(!kv_send_ud(rig, &send, IB_WR_SEND, 0, &bad, 1, KV_QKEY + 1)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) &&
	       KV_EXPECT(!kv_send_ud(rig, &send, IB_WR_SEND, 0, &good, 1, 0x80000000)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
	       KV_EXPECT(recv.wc.byte_len == sizeof(struct ib_grh) + 64);
}

/* A message is one packet; and a datagram can't write. */
static bool kv_test_ud_bad(struct kv_rig *rig)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, KV_BUF);
	struct kv_wr send;

	return KV_EXPECT(kv_send_ud(rig, &send, IB_WR_RDMA_WRITE, 0, &sge, 1, KV_QKEY) ==
			 -EINVAL) &&
	       KV_EXPECT(!kv_send_ud(rig, &send, IB_WR_SEND, 0, &sge, 1, KV_QKEY)) &&
	       kv_wait(rig, &send, IB_WC_LOC_LEN_ERR);
}

/* There is no IP over InfiniBand on Ethernet. */
static bool kv_test_no_offloads(struct kv_rig *rig)
{
	struct ib_qp_init_attr init = {
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IB_QPT_UD,
		.create_flags = IB_QP_CREATE_IPOIB_UD_LSO,
	};
	struct ib_sge sge = kv_sge(rig, 0, 0, KV_LEN);
	struct ib_qp *qp = ib_create_qp(rig->pd, &init);
	struct kv_wr send;

	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	return KV_EXPECT(!(rig->dev->attrs.device_cap_flags & IB_DEVICE_UD_IP_CSUM)) &&
	       KV_EXPECT(!(rig->dev->attrs.kernel_cap_flags & IBK_UD_TSO)) &&
	       KV_EXPECT(qp == ERR_PTR(-EOPNOTSUPP)) &&
	       KV_EXPECT(kv_send_ud(rig, &send, IB_WR_LSO, 0, &sge, 1, KV_QKEY) == -EOPNOTSUPP) &&
	       KV_EXPECT(kv_send_ud(rig, &send, IB_WR_SEND, IB_SEND_IP_CSUM, &sge, 1, KV_QKEY) ==
			 -EOPNOTSUPP);
}

static bool kv_test_qp_attr(struct kv_rig *rig)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return KV_EXPECT(!ib_query_qp(rig->end[1].qp, &attr, IB_QP_STATE | IB_QP_QKEY, &init)) &&
	       KV_EXPECT(attr.qp_state == IB_QPS_RTS) && KV_EXPECT(attr.qkey == KV_QKEY) &&
	       KV_EXPECT(init.qp_type == IB_QPT_UD);
}

const struct kv_test kv_type_tests[] = {
	{"UC: send, RDMA write", kv_test_uc, .type = IB_QPT_UC},
	{"UC: lost messages", kv_test_uc_lost, .type = IB_QPT_UC},
	{"UD: datagram", kv_test_ud, .can = kv_can_ud, .type = IB_QPT_UD},
	{"UD: inline data", kv_test_ud_inline, .can = kv_can_ud, .type = IB_QPT_UD},
	{"UD: Q_Key", kv_test_ud_qkey, .can = kv_can_ud, .type = IB_QPT_UD},
	{"UD: bad requests", kv_test_ud_bad, .can = kv_can_ud, .type = IB_QPT_UD},
	{"UD: no offloads", kv_test_no_offloads, .can = kv_can_ud_eth, .type = IB_QPT_UD},
	{"UD: attributes", kv_test_qp_attr, .can = kv_can_ud, .type = IB_QPT_UD},
	{"UD from an SRQ", kv_test_ud, .can = kv_can_ud_srq, .type = IB_QPT_UD, .shared = true},
};

const unsigned int kv_num_type_tests = ARRAY_SIZE(kv_type_tests);
