// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the kernel's verbs: two connected queue pairs of one device move data in every way that
 * the driver offers to the kernel.  The tests run when the module is loaded; their results, in the
 * Test Anything Protocol, are in debugfs: kverbs_test/result.  Never installed.
 */

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define KV_PORT 1
#define KV_BUF (256 * 1024)
#define KV_DEPTH 64
#define KV_INLINE 64
#define KV_TIMEOUT (30 * HZ)
#define KV_RESULT (64 * 1024)

static char *device_prefix = "ohca";
module_param_named(device, device_prefix, charp, 0444);
MODULE_PARM_DESC(device, "beginning of the name of the device to test");

static struct ib_device *kv_device;
static struct dentry *kv_dir;
static struct debugfs_blob_wrapper kv_blob;
static unsigned int kv_num;

/**
 * struct kv_wr - a work request that is waited for
 * @cqe: for ib_core
 * @done: it has completed
 * @wc: how
 */
struct kv_wr {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/**
 * struct kv_end - a queue pair and its buffer
 * @qp: queue pair
 * @buf: KV_BUF bytes
 * @dma: the same for the device
 */
struct kv_end {
	struct ib_qp *qp;
	u8 *buf;
	u64 dma;
};

/**
 * struct kv_rig - two connected ends
 * @dev: device
 * @pd: protection domain, with keys for all memory
 * @cq: of all queues
 * @end: side 0 sends, side 1 receives
 * @poll: how the CQ is polled
 */
struct kv_rig {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct kv_end end[2];
	enum ib_poll_context poll;
};

static __printf(1, 2) void kv_say(const char *fmt, ...)
{
	char *text = kv_blob.data;
	va_list ap;

	va_start(ap, fmt);
	kv_blob.size += vscnprintf(text + kv_blob.size, KV_RESULT - kv_blob.size, fmt, ap);
	va_end(ap);
}

static void kv_result(int err, const char *name, const char *how)
{
	kv_say("%s %u %s%s%s\n", err ? "not ok" : "ok", ++kv_num, how, *how ? ": " : "", name);
}

#define KV_EXPECT(cond)                                                     \
	({                                                                  \
		bool _ok = (cond);                                          \
		if (!_ok)                                                   \
			kv_say("# line %d: not so: %s\n", __LINE__, #cond); \
		_ok;                                                        \
	})

static void kv_fill(u8 *buf, size_t len, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = i * 7 + (i >> 8) + seed;
}

static bool kv_same(const u8 *buf, size_t len, u8 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (buf[i] != (u8)(i * 7 + (i >> 8) + seed))
			return false;
	return true;
}

/* Work requests */

static void kv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_wr *wr = container_of(wc->wr_cqe, struct kv_wr, cqe);

	wr->wc = *wc;
	complete(&wr->done);
}

static void kv_wr_init(struct kv_wr *wr)
{
	wr->cqe.done = kv_done;
	init_completion(&wr->done);
}

static bool kv_wait(struct kv_rig *rig, struct kv_wr *wr, enum ib_wc_status status)
{
	unsigned long deadline = jiffies + KV_TIMEOUT;

	if (rig->poll == IB_POLL_DIRECT) {
		while (!completion_done(&wr->done) && time_before(jiffies, deadline)) {
			ib_process_cq_direct(rig->cq, 16);
			cond_resched();
		}
	}
	if (!wait_for_completion_timeout(&wr->done, KV_TIMEOUT)) {
		kv_say("# no completion\n");
		return false;
	}
	if (wr->wc.status != status) {
		kv_say("# status %s, expected %s\n", ib_wc_status_msg(wr->wc.status),
		       ib_wc_status_msg(status));
		return false;
	}
	return true;
}

static struct ib_sge kv_sge(struct kv_rig *rig, int side, size_t off, size_t len)
{
	return (struct ib_sge){
		.addr = rig->end[side].dma + off,
		.length = len,
		.lkey = rig->pd->local_dma_lkey,
	};
}

static int kv_recv(struct kv_rig *rig, struct kv_wr *wr, size_t off, size_t len)
{
	struct ib_sge sge = kv_sge(rig, 1, off, len);
	struct ib_recv_wr recv = {.wr_cqe = &wr->cqe, .sg_list = &sge, .num_sge = 1};

	kv_wr_init(wr);
	return ib_post_recv(rig->end[1].qp, &recv, NULL);
}

/* Post from side 0; @roff is the offset in the other side's buffer for RDMA. */
static int kv_send(struct kv_rig *rig, struct kv_wr *wr, enum ib_wr_opcode op, int flags,
		   struct ib_sge *sge, int num, size_t roff)
{
	struct ib_rdma_wr send = {
		.wr.wr_cqe = &wr->cqe,
		.wr.sg_list = sge,
		.wr.num_sge = num,
		.wr.opcode = op,
		.wr.send_flags = flags | IB_SEND_SIGNALED,
		.wr.ex.imm_data = cpu_to_be32(0x11223344),
		.remote_addr = rig->end[1].dma + roff,
		.rkey = rig->pd->unsafe_global_rkey,
	};

	kv_wr_init(wr);
	return ib_post_send(rig->end[0].qp, &send.wr, NULL);
}

/* The rig */

static int kv_qp_create(struct kv_rig *rig, struct kv_end *end)
{
	struct ib_qp_init_attr init = {
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.cap.max_send_wr = KV_DEPTH + 1,
		.cap.max_recv_wr = KV_DEPTH + 1,
		.cap.max_send_sge = 4,
		.cap.max_recv_sge = 4,
		.cap.max_inline_data = KV_INLINE,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int err;

	end->buf = kzalloc(KV_BUF, GFP_KERNEL);
	if (!end->buf)
		return -ENOMEM;
	end->dma = ib_dma_map_single(rig->dev, end->buf, KV_BUF, DMA_BIDIRECTIONAL);
	err = ib_dma_mapping_error(rig->dev, end->dma);
	if (err)
		goto err_buf;
	end->qp = ib_create_qp(rig->pd, &init);
	if (IS_ERR(end->qp)) {
		err = PTR_ERR(end->qp);
		goto err_dma;
	}
	return 0;

err_dma:
	ib_dma_unmap_single(rig->dev, end->dma, KV_BUF, DMA_BIDIRECTIONAL);
err_buf:
	kfree(end->buf);
	end->qp = NULL;
	end->buf = NULL;
	return err;
}

static void kv_qp_destroy(struct kv_rig *rig, struct kv_end *end)
{
	if (!end->qp)
		return;
	ib_destroy_qp(end->qp);
	ib_dma_unmap_single(rig->dev, end->dma, KV_BUF, DMA_BIDIRECTIONAL);
	kfree(end->buf);
}

/* A RoCEv2 entry of the GID table, with its MAC address. */
static int kv_find_gid(struct ib_device *dev, union ib_gid *gid, u8 *mac)
{
	int i;

	for (i = 0; i < 256; i++) {
		const struct ib_gid_attr *attr = rdma_get_gid_attr(dev, KV_PORT, i);
		int err;

		if (IS_ERR(attr))
			continue;
		err = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP ? 0 : -ENOENT;
		if (!err)
			err = rdma_read_gid_l2_fields(attr, NULL, mac);
		*gid = attr->gid;
		rdma_put_gid_attr(attr);
		if (!err)
			return i;
	}
	return -ENOENT;
}

static int kv_to_rts(struct kv_rig *rig, struct ib_qp *qp, u32 dest)
{
	struct ib_qp_attr attr = {.qp_state = IB_QPS_INIT, .port_num = KV_PORT};
	union ib_gid gid;
	u8 mac[ETH_ALEN];
	int err, index;

	attr.qp_access_flags = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	err = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;

	index = kv_find_gid(rig->dev, &gid, mac);
	if (index < 0)
		return index;
	attr.qp_state = IB_QPS_RTR;
	attr.path_mtu = IB_MTU_1024;
	attr.dest_qp_num = dest;
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 1;
	attr.ah_attr.type = rdma_ah_find_type(rig->dev, KV_PORT);
	rdma_ah_set_port_num(&attr.ah_attr, KV_PORT);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, index, 64, 0);
	rdma_ah_set_dgid_raw(&attr.ah_attr, &gid);
	memcpy(attr.ah_attr.roce.dmac, mac, ETH_ALEN);
	err = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;

	attr.qp_state = IB_QPS_RTS;
	attr.timeout = 17;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	return ib_modify_qp(qp, &attr,
			    IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static void kv_down(struct kv_rig *rig)
{
	kv_qp_destroy(rig, &rig->end[1]);
	kv_qp_destroy(rig, &rig->end[0]);
	ib_free_cq(rig->cq);
	ib_dealloc_pd(rig->pd);
}

static int kv_up(struct kv_rig *rig)
{
	int err;

	rig->pd = ib_alloc_pd(rig->dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(rig->pd))
		return PTR_ERR(rig->pd);
	rig->cq = ib_alloc_cq(rig->dev, rig, 4 * KV_DEPTH + 4, 0, rig->poll);
	if (IS_ERR(rig->cq)) {
		err = PTR_ERR(rig->cq);
		goto err_pd;
	}
	err = kv_qp_create(rig, &rig->end[0]);
	if (!err)
		err = kv_qp_create(rig, &rig->end[1]);
	if (!err)
		err = kv_to_rts(rig, rig->end[0].qp, rig->end[1].qp->qp_num);
	if (!err)
		err = kv_to_rts(rig, rig->end[1].qp, rig->end[0].qp->qp_num);
	if (err)
		kv_down(rig);
	return err;

err_pd:
	ib_dealloc_pd(rig->pd);
	return err;
}

/* Tests.  Each returns whether all was well. */

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

/* As many as the queues hold, over and over. */
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
		ib_drain_qp(rig->end[0].qp); /* nobody completes into freed memory */
	if (!ok)
		ib_drain_qp(rig->end[1].qp);
	kfree(recv);
	kfree(send);
	return ok;
}

static bool kv_test_bad_key(struct kv_rig *rig)
{
	struct ib_sge sge = kv_sge(rig, 0, 0, 64);
	struct ib_rdma_wr send = {
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = rig->end[1].dma,
		.rkey = rig->pd->local_dma_lkey, /* is no rkey */
	};
	struct kv_wr wr;

	send.wr.wr_cqe = &wr.cqe;
	kv_wr_init(&wr);
	return KV_EXPECT(!ib_post_send(rig->end[0].qp, &send.wr, NULL)) &&
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

static const struct {
	const char *name;
	bool (*fn)(struct kv_rig *rig);
} kv_tests[] = {
	{"send", kv_test_send},		 {"inline data", kv_test_inline},
	{"gather list", kv_test_gather}, {"RDMA write and read", kv_test_rdma},
	{"full queues", kv_test_many},	 {"bad remote key", kv_test_bad_key},
	{"drain", kv_test_drain},
};

static const struct {
	const char *name;
	enum ib_poll_context poll;
} kv_polls[] = {
	{"direct", IB_POLL_DIRECT},
	{"softirq", IB_POLL_SOFTIRQ},
	{"workqueue", IB_POLL_WORKQUEUE},
	{"unbound workqueue", IB_POLL_UNBOUND_WORKQUEUE},
};

static void kv_run(struct ib_device *dev)
{
	unsigned int i, j;

	kv_say("TAP version 13\n1..%zu\n", ARRAY_SIZE(kv_polls) * ARRAY_SIZE(kv_tests));
	for (i = 0; i < ARRAY_SIZE(kv_polls); i++) {
		for (j = 0; j < ARRAY_SIZE(kv_tests); j++) {
			struct kv_rig rig = {.dev = dev, .poll = kv_polls[i].poll};
			int err = kv_up(&rig);

			if (err) {
				kv_say("# set-up: %d\n", err);
			} else {
				err = kv_tests[j].fn(&rig) ? 0 : -EIO;
				kv_down(&rig);
			}
			kv_result(err, kv_tests[j].name, kv_polls[i].name);
		}
	}
}

/* ib_core tells of the devices that there are. */

static int kv_add(struct ib_device *dev)
{
	if (kv_device || strncmp(dev_name(&dev->dev), device_prefix, strlen(device_prefix)))
		return -EOPNOTSUPP;
	kv_device = dev;
	return 0;
}

static void kv_remove(struct ib_device *dev, void *data)
{
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
	if (kv_device)
		kv_run(kv_device);
	else
		kv_say("TAP version 13\n1..0 # SKIP no device\n");
	kv_dir = debugfs_create_dir("kverbs_test", NULL);
	debugfs_create_blob("result", 0444, kv_dir, &kv_blob);
	return 0;

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
