// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: messages, RDMA, full queues, errors.
 */

#include <linux/slab.h>

#include "kv.h"

static bool kv_test_send(struct kv_rig *rig)
{
	static const size_t sizes[] = {0, 1, 63, 1024, 4097, KV_BUF / 2};
	struct kv_wr send, recv;
	struct ib_sge sge;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		kv_fill(rig->end[0].buf, sizes[i], i);
		memset(rig->end[1].buf, 0xff, KV_BUF);
		sge = kv_sge(rig, 0, 0, sizes[i]);
		if (!KV_EXPECT(!kv_recv(rig, &recv, 0, KV_BUF)) ||
		    !KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND_WITH_IMM, 0, &sge, 1, 0)) ||
		    !kv_wait(rig, &send, IB_WC_SUCCESS) || !kv_wait(rig, &recv, IB_WC_SUCCESS))
			return false;
		if (!KV_EXPECT(recv.wc.byte_len == sizes[i]) ||
		    !KV_EXPECT(recv.wc.opcode == IB_WC_RECV) ||
		    !KV_EXPECT(send.wc.opcode == IB_WC_SEND) ||
		    !KV_EXPECT(recv.wc.wc_flags & IB_WC_WITH_IMM) ||
		    !KV_EXPECT(be32_to_cpu(recv.wc.ex.imm_data) == 0x11223344) ||
		    !KV_EXPECT(recv.wc.qp == rig->end[1].qp) ||
		    !KV_EXPECT(kv_same(rig->end[1].buf, sizes[i], i)) ||
		    !KV_EXPECT(rig->end[1].buf[sizes[i]] == 0xff))
			return false;
	}
	return true;
}

static bool kv_test_inline(struct kv_rig *rig)
{
	struct kv_wr send, recv;
	struct ib_sge sge[2];
	u8 data[KV_INLINE];

	kv_fill(data, sizeof(data), 3);
	memset(rig->end[1].buf, 0xff, KV_BUF);
	sge[0] = (struct ib_sge){.addr = (uintptr_t)data, .length = 20};
	sge[1] = (struct ib_sge){.addr = (uintptr_t)data + 20, .length = KV_INLINE - 20};
	if (!KV_EXPECT(!kv_recv(rig, &recv, 0, KV_BUF)) ||
	    !KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, IB_SEND_INLINE, sge, 2, 0)))
		return false;
	memset(data, 0, sizeof(data)); /* was copied */
	return kv_wait(rig, &send, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
	       KV_EXPECT(recv.wc.byte_len == KV_INLINE) &&
	       KV_EXPECT(kv_same(rig->end[1].buf, KV_INLINE, 3)) &&
	       KV_EXPECT(rig->end[1].buf[KV_INLINE] == 0xff);
}

static bool kv_test_gather(struct kv_rig *rig)
{
	struct kv_wr send, recv;
	struct ib_sge sge[4];
	int i;

	kv_fill(rig->end[0].buf, 10000, 4);
	memset(rig->end[1].buf, 0xff, KV_BUF);
	for (i = 0; i < 4; i++)
		sge[i] = kv_sge(rig, 0, i * 2500, 2500);
	return KV_EXPECT(!kv_recv(rig, &recv, 5, 10000)) &&
	       KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, sge, 4, 0)) &&
	       kv_wait(rig, &send, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
	       KV_EXPECT(kv_same(rig->end[1].buf + 5, 10000, 4)) &&
	       KV_EXPECT(rig->end[1].buf[4] == 0xff && rig->end[1].buf[10005] == 0xff);
}

static bool kv_test_rdma(struct kv_rig *rig)
{
	struct kv_wr wr, recv;
	struct ib_sge sge;

	kv_fill(rig->end[0].buf, 70000, 5);
	memset(rig->end[1].buf, 0, KV_BUF);
	sge = kv_sge(rig, 0, 0, 70000);
	if (!KV_EXPECT(!kv_send(rig, &wr, IB_WR_RDMA_WRITE, 0, &sge, 1, 17)) ||
	    !kv_wait(rig, &wr, IB_WC_SUCCESS) || !KV_EXPECT(wr.wc.opcode == IB_WC_RDMA_WRITE) ||
	    !KV_EXPECT(kv_same(rig->end[1].buf + 17, 70000, 5)))
		return false;

	memset(rig->end[0].buf, 0, KV_BUF);
	sge = kv_sge(rig, 0, 100, 70000);
	if (!KV_EXPECT(!kv_send(rig, &wr, IB_WR_RDMA_READ, 0, &sge, 1, 17)) ||
	    !kv_wait(rig, &wr, IB_WC_SUCCESS) || !KV_EXPECT(wr.wc.opcode == IB_WC_RDMA_READ) ||
	    !KV_EXPECT(wr.wc.byte_len == 70000) ||
	    !KV_EXPECT(kv_same(rig->end[0].buf + 100, 70000, 5)))
		return false;

	kv_fill(rig->end[0].buf, 5000, 6);
	sge = kv_sge(rig, 0, 0, 5000);
	return KV_EXPECT(!kv_recv(rig, &recv, 0, 0)) &&
	       KV_EXPECT(!kv_send(rig, &wr, IB_WR_RDMA_WRITE_WITH_IMM, 0, &sge, 1, 9)) &&
	       kv_wait(rig, &wr, IB_WC_SUCCESS) && kv_wait(rig, &recv, IB_WC_SUCCESS) &&
	       KV_EXPECT(recv.wc.opcode == IB_WC_RECV_RDMA_WITH_IMM) &&
	       KV_EXPECT(recv.wc.byte_len == 5000) &&
	       KV_EXPECT(kv_same(rig->end[1].buf + 9, 5000, 6));
}

/* As many as the queues hold, repeatedly. */
static bool kv_test_many(struct kv_rig *rig)
{
	struct kv_wr *send = kcalloc(KV_DEPTH, sizeof(*send), GFP_KERNEL);
	struct kv_wr *recv = kcalloc(KV_DEPTH, sizeof(*recv), GFP_KERNEL);
	bool ok = KV_EXPECT(send && recv);
	int round, i;

	for (round = 0; ok && round < 20; round++) {
		kv_fill(rig->end[0].buf, KV_DEPTH * 512, round);
		memset(rig->end[1].buf, 0, KV_DEPTH * 512);
		for (i = 0; ok && i < KV_DEPTH; i++)
			ok = KV_EXPECT(!kv_recv(rig, &recv[i], i * 512, 512));
		for (i = 0; ok && i < KV_DEPTH; i++) {
			struct ib_sge sge = kv_sge(rig, 0, i * 512, 512);

			ok = KV_EXPECT(!kv_send(rig, &send[i], IB_WR_SEND, 0, &sge, 1, 0));
		}
		for (i = 0; ok && i < KV_DEPTH; i++)
			ok = kv_wait(rig, &send[i], IB_WC_SUCCESS) &&
			     kv_wait(rig, &recv[i], IB_WC_SUCCESS);
		ok = ok && KV_EXPECT(kv_same(rig->end[1].buf, KV_DEPTH * 512, round));
	}
	if (!ok)
		ib_drain_qp(rig->end[0].qp); /* nothing completes into freed memory */
	if (!ok)
		ib_drain_qp(rig->end[1].qp);
	kfree(recv);
	kfree(send);
	return ok;
}

static bool kv_test_bad_key(struct kv_rig *rig)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, 64);
	struct kv_wr wr;

	/* the local key is not a remote key */
	return KV_EXPECT(!kv_rdma(rig, &wr, IB_WR_RDMA_WRITE, &sge, 1, rig->end[1].dma,
				  rig->pd->local_dma_lkey)) &&
	       kv_wait(rig, &wr, IB_WC_REM_ACCESS_ERR);
}

/* Draining flushes what is posted; after that, posted requests are flushed at once. */
static bool kv_test_drain(struct kv_rig *rig)
{
	struct kv_wr recv[4], send;
	struct ib_sge sge = kv_sge(rig, 0, 0, 8);
	int i;

	for (i = 0; i < 4; i++)
		if (!KV_EXPECT(!kv_recv(rig, &recv[i], 0, 64)))
			return false;
	ib_drain_qp(rig->end[1].qp);
	for (i = 0; i < 4; i++)
		if (!kv_wait(rig, &recv[i], IB_WC_WR_FLUSH_ERR))
			return false;
	ib_drain_qp(rig->end[0].qp);
	return KV_EXPECT(!kv_send(rig, &send, IB_WR_SEND, 0, &sge, 1, 0)) &&
	       kv_wait(rig, &send, IB_WC_WR_FLUSH_ERR);
}

const struct kv_test kv_data_tests[] = {
	{.name = "send", .fn = kv_test_send},
	{.name = "inline data", .fn = kv_test_inline},
	{.name = "gather list", .fn = kv_test_gather},
	{.name = "RDMA write and read", .fn = kv_test_rdma},
	{.name = "full queues", .fn = kv_test_many},
	{.name = "bad remote key", .fn = kv_test_bad_key},
	{.name = "drain", .fn = kv_test_drain},
};

const unsigned int kv_num_data_tests = ARRAY_SIZE(kv_data_tests);
