// SPDX-License-Identifier: GPL-2.0
/*
 * tm [leave]: tag matching: the buffer of each message, and its completions.  With "leave", exit
 * with tags in the list and a connection: the kernel cleans up.
 */

#include <endian.h>
#include <infiniband/tm_types.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define LEN (1UL << 20)
#define LONG 300000U /* more than one packet burst */
#define TAGS 16U
#define EXACT (~0ULL)
#define HDR sizeof(struct ibv_tmh)

static struct vu_dev dev;
static struct ibv_tm_caps caps;

/**
 * struct bed - an SRQ with tags, and a connection to it
 * @cq: of the SRQ
 * @a: sends
 * @b: has the SRQ
 * @src: messages; the data of a rendezvous are in its second half, and its end is received into its
 *	last bytes
 * @dst: tags in its first half, other receives in the second
 * @unexpected: messages that matched no tag
 */
struct bed {
	struct ibv_cq_ex *cq;
	struct ibv_srq *srq;
	struct vu_qp a, b;
	uint8_t *src, *dst;
	struct ibv_mr *src_mr, *dst_mr;
	uint32_t unexpected;
};

/**
 * struct done - a completion of the SRQ
 */
struct done {
	uint64_t wr_id, tag;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	unsigned int flags;
	uint32_t byte_len, priv;
};

static struct ibv_srq_init_attr_ex srq_attr(struct ibv_cq_ex *cq)
{
	return (struct ibv_srq_init_attr_ex){
		.attr = {.max_wr = 64, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = dev.pd,
		.cq = ibv_cq_ex_to_cq(cq),
		.tm_cap = {.max_num_tags = TAGS, .max_ops = 8},
	};
}

static struct ibv_cq_ex *new_cq(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 256,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO,
	};

	return ibv_create_cq_ex(dev.ctx, &attr);
}

static bool connect_bed(struct bed *bed)
{
	struct vu_qp_opts opts = VU_QP_OPTS, srq_opts = VU_QP_OPTS;

	vu_qp_destroy(&bed->a);
	vu_qp_destroy(&bed->b);
	srq_opts.srq = bed->srq;
	srq_opts.send_wr = 0;
	srq_opts.send_cq = ibv_cq_ex_to_cq(bed->cq);
	srq_opts.recv_cq = ibv_cq_ex_to_cq(bed->cq);
	return vu_qp_create(&dev, &bed->a, &opts) && vu_qp_create(&dev, &bed->b, &srq_opts) &&
	       vu_connect_pair(&dev, &bed->a, &bed->b, &opts);
}

static bool bed_up(struct bed *bed)
{
	struct ibv_srq_init_attr_ex attr;

	memset(bed, 0, sizeof(*bed));
	bed->src = vu_alloc(LEN);
	bed->dst = vu_alloc(LEN);
	bed->src_mr = ibv_reg_mr(dev.pd, bed->src, LEN, VU_RW);
	bed->dst_mr = ibv_reg_mr(dev.pd, bed->dst, LEN, IBV_ACCESS_LOCAL_WRITE);
	bed->cq = new_cq();
	if (!EXPECT(bed->src_mr) || !EXPECT(bed->dst_mr) || !EXPECT(bed->cq))
		return false;
	attr = srq_attr(bed->cq);
	bed->srq = ibv_create_srq_ex(dev.ctx, &attr);
	return EXPECT(bed->srq) && EXPECT(attr.tm_cap.max_ops >= 8) &&
	       EXPECT_EQ(attr.tm_cap.max_num_tags, TAGS) && connect_bed(bed);
}

static void bed_down(struct bed *bed)
{
	vu_qp_destroy(&bed->a);
	vu_qp_destroy(&bed->b);
	if (bed->srq)
		EXPECT_EQ(ibv_destroy_srq(bed->srq), 0);
	if (bed->cq)
		EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(bed->cq)), 0);
	if (bed->src_mr)
		EXPECT_EQ(ibv_dereg_mr(bed->src_mr), 0);
	if (bed->dst_mr)
		EXPECT_EQ(ibv_dereg_mr(bed->dst_mr), 0);
	vu_free(bed->src, LEN);
	vu_free(bed->dst, LEN);
}

/* The next completion of the SRQ. */
static bool next(struct bed *bed, struct done *done)
{
	struct ibv_poll_cq_attr attr = {};
	struct ibv_wc_tm_info info;
	uint64_t end = vu_now() + vu_timeout_ms();
	int ret;

	do
		ret = ibv_start_poll(bed->cq, &attr);
	while (ret == ENOENT && vu_now() < end);
	if (!EXPECT_EQ(ret, 0))
		return false;
	ibv_wc_read_tm_info(bed->cq, &info);
	*done = (struct done){
		.wr_id = bed->cq->wr_id,
		.status = bed->cq->status,
		.opcode = ibv_wc_read_opcode(bed->cq),
		.flags = ibv_wc_read_wc_flags(bed->cq),
		.byte_len = ibv_wc_read_byte_len(bed->cq),
		.tag = info.tag,
		.priv = info.priv,
	};
	ibv_end_poll(bed->cq);
	return true;
}

static bool expect(struct bed *bed, enum ibv_wc_opcode opcode, uint64_t wr_id, unsigned int flags,
		   struct done *done)
{
	return next(bed, done) && EXPECT_EQ(done->status, IBV_WC_SUCCESS) &&
	       EXPECT_EQ(done->opcode, opcode) && EXPECT_EQ(done->wr_id, wr_id) &&
	       EXPECT_EQ(done->flags, flags);
}

static struct ibv_ops_wr add_wr(struct bed *bed, uint64_t wr_id, uint64_t tag, struct ibv_sge *sge)
{
	return (struct ibv_ops_wr){
		.wr_id = wr_id + 1000,
		.opcode = IBV_WR_TAG_ADD,
		.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
		.tm = {.unexpected_cnt = bed->unexpected,
		       .add = {.recv_wr_id = wr_id,
			       .sg_list = sge,
			       .num_sge = 1,
			       .tag = tag,
			       .mask = EXACT}},
	};
}

static struct ibv_sge dst_sge(struct bed *bed, size_t off, uint32_t len)
{
	return (struct ibv_sge){(uintptr_t)bed->dst + off, len, bed->dst_mr->lkey};
}

/* Add a tag for @len bytes at @off; returns its handle in *@handle, unless NULL. */
static bool add(struct bed *bed, uint64_t wr_id, uint64_t tag, size_t off, uint32_t len,
		uint32_t *handle)
{
	struct ibv_sge sge = dst_sge(bed, off, len);
	struct ibv_ops_wr *bad, wr = add_wr(bed, wr_id, tag, &sge);
	struct done done;

	if (!EXPECT_EQ(ibv_post_srq_ops(bed->srq, &wr, &bad), 0) ||
	    !expect(bed, IBV_WC_TM_ADD, wr_id + 1000, 0, &done))
		return false;
	if (handle)
		*handle = wr.tm.handle;
	return true;
}

static bool sync_count(struct bed *bed, uint32_t count, unsigned int flags)
{
	struct ibv_ops_wr *bad, wr = {
					.wr_id = 5,
					.opcode = IBV_WR_TAG_SYNC,
					.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
					.tm = {.unexpected_cnt = count},
				};
	struct done done;

	bed->unexpected = count;
	return EXPECT_EQ(ibv_post_srq_ops(bed->srq, &wr, &bad), 0) &&
	       expect(bed, IBV_WC_TM_SYNC, 5, flags, &done);
}

static bool del(struct bed *bed, uint32_t handle, enum ibv_wc_status status)
{
	struct ibv_ops_wr *bad, wr = {
					.wr_id = 6,
					.opcode = IBV_WR_TAG_DEL,
					.flags = IBV_OPS_SIGNALED,
					.tm = {.handle = handle},
				};
	struct done done;

	return EXPECT_EQ(ibv_post_srq_ops(bed->srq, &wr, &bad), 0) && next(bed, &done) &&
	       EXPECT_EQ(done.opcode, IBV_WC_TM_DEL) && EXPECT_EQ(done.status, status) &&
	       EXPECT_EQ(done.wr_id, 6);
}

static bool post_recv(struct bed *bed, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = dst_sge(bed, LEN / 2, len);
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	return EXPECT_EQ(ibv_post_srq_recv(bed->srq, &wr, &bad), 0);
}

static bool send_bytes(struct bed *bed, uint32_t len)
{
	struct ibv_wc wc;

	return EXPECT_EQ(vu_post_send(&bed->a, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, bed->src_mr,
				      bed->src, len, 0, 0),
			 0) &&
	       vu_wait_wc(bed->a.scq, &wc, 1, IBV_WC_SUCCESS);
}

static void put_header(struct bed *bed, uint8_t opcode, uint64_t tag)
{
	struct ibv_tmh tmh = {.opcode = opcode, .app_ctx = htobe32(0xabcd), .tag = htobe64(tag)};

	memcpy(bed->src, &tmh, HDR);
}

static bool send_tagged(struct bed *bed, uint8_t opcode, uint64_t tag, uint32_t len, uint64_t seed)
{
	put_header(bed, opcode, tag);
	vu_fill(bed->src + HDR, len, seed);
	return send_bytes(bed, HDR + len);
}

/* Announce data of @len bytes, which the receiver reads. */
static bool send_rndv(struct bed *bed, uint64_t tag, uint32_t len, uint32_t rkey, uint64_t seed)
{
	struct ibv_rvh rvh = {.va = htobe64((uintptr_t)bed->src + LEN / 2),
			      .rkey = htobe32(rkey),
			      .len = htobe32(len)};

	put_header(bed, IBV_TMH_RNDV, tag);
	memcpy(bed->src + HDR, &rvh, sizeof(rvh));
	vu_fill(bed->src + LEN / 2, len, seed);
	return send_bytes(bed, HDR + sizeof(rvh));
}

static bool same(const uint8_t *at, uint32_t len, uint64_t seed)
{
	return EXPECT_EQ(vu_check(at, len, seed), -1);
}

static void test_caps(const void *arg)
{
	(void)arg;
	EXPECT(caps.flags & IBV_TM_CAP_RC);
	EXPECT(caps.max_num_tags >= 1024);
	EXPECT(caps.max_ops >= 64);
	EXPECT(caps.max_sge >= 1);
	EXPECT(caps.max_rndv_hdr_size >= HDR + sizeof(struct ibv_rvh));
}

static void test_eager(const void *arg)
{
	const unsigned int both = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
	struct done done;
	struct bed bed;

	(void)arg;
	if (bed_up(&bed) && add(&bed, 7, 0xfedcba9876543210ULL, 0, 1000, NULL) &&
	    send_tagged(&bed, IBV_TMH_EAGER, 0xfedcba9876543210ULL, 900, 1) &&
	    expect(&bed, IBV_WC_TM_RECV, 7, both, &done)) {
		EXPECT_EQ(done.byte_len, 900);
		EXPECT(done.tag == 0xfedcba9876543210ULL);
		EXPECT_EQ(done.priv, 0xabcd);
		same(bed.dst, 900, 1);
	}
	bed_down(&bed);
}

static void test_long(const void *arg)
{
	struct done done;
	struct bed bed;

	(void)arg;
	if (bed_up(&bed) && add(&bed, 7, 1, 0, LONG, NULL) &&
	    send_tagged(&bed, IBV_TMH_EAGER, 1, LONG, 2) &&
	    expect(&bed, IBV_WC_TM_RECV, 7, IBV_WC_TM_MATCH, &done) && EXPECT_EQ(done.tag, 1) &&
	    expect(&bed, IBV_WC_TM_RECV, 7, IBV_WC_TM_DATA_VALID, &done)) {
		EXPECT_EQ(done.byte_len, LONG);
		same(bed.dst, LONG, 2);
	}
	bed_down(&bed);
}

/* The oldest matching tag of many is used; one of them has a mask. */
static void test_order(const void *arg)
{
	const unsigned int both = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
	struct ibv_ops_wr *bad, wr;
	struct ibv_sge sge;
	struct done done;
	struct bed bed;
	unsigned int i;

	(void)arg;
	if (!bed_up(&bed) || !add(&bed, 0, 0x77, 0, 100, NULL))
		goto out;
	sge = dst_sge(&bed, 100, 100);
	wr = add_wr(&bed, 1, 0x70, &sge);
	wr.tm.add.mask = 0xf0;
	if (!EXPECT_EQ(ibv_post_srq_ops(bed.srq, &wr, &bad), 0) ||
	    !expect(&bed, IBV_WC_TM_ADD, 1001, 0, &done) || !add(&bed, 2, 0x77, 200, 100, NULL) ||
	    !add(&bed, 3, 0x78, 300, 100, NULL))
		goto out;
	for (i = 0; i < 3; i++) {
		if (!send_tagged(&bed, IBV_TMH_EAGER, 0x77, 100, i) ||
		    !expect(&bed, IBV_WC_TM_RECV, i, both, &done) ||
		    !same(bed.dst + 100 * i, 100, i))
			goto out;
	}
	if (send_tagged(&bed, IBV_TMH_EAGER, 0x78, 100, 9) &&
	    expect(&bed, IBV_WC_TM_RECV, 3, both, &done))
		same(bed.dst + 300, 100, 9);
out:
	bed_down(&bed);
}

static void test_no_tag(const void *arg)
{
	struct done done;
	struct bed bed;

	(void)arg;
	if (bed_up(&bed) && add(&bed, 1, 5, 0, 100, NULL) && post_recv(&bed, 20, 4096) &&
	    send_tagged(&bed, IBV_TMH_NO_TAG, 5, 1000, 3) &&
	    expect(&bed, IBV_WC_TM_NO_TAG, 20, 0, &done)) {
		EXPECT_EQ(done.byte_len, 1000 + HDR);
		same(bed.dst + LEN / 2 + HDR, 1000, 3);
	}
	bed_down(&bed);
}

/* A tag that was added too late waits until all earlier messages are handled. */
static void test_unexpected(const void *arg)
{
	struct ibv_ops_wr *bad, wr;
	struct ibv_sge sge;
	struct done done;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed) || !post_recv(&bed, 20, 4096) || !post_recv(&bed, 21, 4096) ||
	    !send_tagged(&bed, IBV_TMH_EAGER, 5, 1000, 3) ||
	    !expect(&bed, IBV_WC_TM_RECV, 20, 0, &done) || !EXPECT_EQ(done.byte_len, 1000 + HDR) ||
	    !same(bed.dst + LEN / 2 + HDR, 1000, 3))
		goto out;
	sge = dst_sge(&bed, 0, 1000);
	wr = add_wr(&bed, 1, 5, &sge);
	if (!EXPECT_EQ(ibv_post_srq_ops(bed.srq, &wr, &bad), 0) ||
	    !expect(&bed, IBV_WC_TM_ADD, 1001, IBV_WC_TM_SYNC_REQ, &done) ||
	    !send_tagged(&bed, IBV_TMH_EAGER, 5, 1000, 4) ||
	    !expect(&bed, IBV_WC_TM_RECV, 21, IBV_WC_TM_SYNC_REQ, &done) ||
	    !sync_count(&bed, 1, IBV_WC_TM_SYNC_REQ) || !sync_count(&bed, 2, 0) ||
	    !send_tagged(&bed, IBV_TMH_EAGER, 5, 1000, 5) ||
	    !expect(&bed, IBV_WC_TM_RECV, 1, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, &done))
		goto out;
	same(bed.dst, 1000, 5);
out:
	bed_down(&bed);
}

/* The device reads the data to several buffers, and notifies the sender. */
static void test_rndv(const void *arg)
{
	struct ibv_sge sge[3];
	struct ibv_ops_wr *bad, wr;
	struct ibv_tmh *fin;
	struct ibv_wc wc;
	struct done done;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	sge[0] = dst_sge(&bed, 0, 1);
	sge[1] = dst_sge(&bed, 1, 100000);
	sge[2] = dst_sge(&bed, 100001, LEN / 2 - 100001);
	wr = add_wr(&bed, 1, 9, sge);
	wr.tm.add.num_sge = caps.max_sge < 3 ? 1 : 3;
	if (wr.tm.add.num_sge == 1)
		sge[0].length = LEN / 2;
	if (!EXPECT_EQ(ibv_post_srq_ops(bed.srq, &wr, &bad), 0) ||
	    !expect(&bed, IBV_WC_TM_ADD, 1001, 0, &done) ||
	    !EXPECT_EQ(vu_post_recv(&bed.a, 3, bed.src_mr, bed.src + LEN - 64, 64), 0) ||
	    !send_rndv(&bed, 9, LONG, bed.src_mr->rkey, 6) ||
	    !expect(&bed, IBV_WC_TM_RECV, 1, IBV_WC_TM_MATCH, &done) || !EXPECT_EQ(done.tag, 9) ||
	    !expect(&bed, IBV_WC_TM_RECV, 1, IBV_WC_TM_DATA_VALID, &done))
		goto out;
	EXPECT_EQ(done.byte_len, LONG);
	same(bed.dst, LONG, 6);
	if (!vu_wait_wc(bed.a.rcq, &wc, 3, IBV_WC_SUCCESS))
		goto out;
	fin = (struct ibv_tmh *)(bed.src + LEN - 64);
	EXPECT_EQ(wc.byte_len, HDR + sizeof(struct ibv_rvh));
	EXPECT_EQ(fin->opcode, IBV_TMH_FIN);
	EXPECT_EQ(be32toh(fin->app_ctx), 0xabcd);
	EXPECT_EQ(be64toh(fin->tag), 9);
out:
	bed_down(&bed);
}

/* No tag, or no room: software continues. */
static void test_rndv_software(const void *arg)
{
	struct ibv_rvh *rvh;
	struct done done;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed) || !post_recv(&bed, 20, 4096) ||
	    !send_rndv(&bed, 9, LONG, bed.src_mr->rkey, 6) ||
	    !expect(&bed, IBV_WC_TM_RECV, 20, 0, &done) || !sync_count(&bed, 1, 0) ||
	    !add(&bed, 1, 9, 0, LONG - 1, NULL) || !send_rndv(&bed, 9, LONG, bed.src_mr->rkey, 6) ||
	    !next(&bed, &done))
		goto out;
	EXPECT_EQ(done.status, IBV_WC_TM_RNDV_INCOMPLETE);
	EXPECT_EQ(done.wr_id, 1);
	rvh = (struct ibv_rvh *)(bed.dst + HDR);
	EXPECT_EQ(be32toh(rvh->len), LONG);
	EXPECT_EQ(be32toh(rvh->rkey), bed.src_mr->rkey);
out:
	bed_down(&bed);
}

/* Invalid keys fail the tag and the connection; the other tags stay for the next one. */
static void test_errors(const void *arg)
{
	struct ibv_sge sge;
	struct ibv_ops_wr *bad, wr;
	struct done done;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed) || !add(&bed, 1, 9, 0, LONG, NULL) || !add(&bed, 2, 10, 0, 100, NULL) ||
	    !send_rndv(&bed, 9, LONG, bed.src_mr->rkey ^ 0x5a00, 6) ||
	    !expect(&bed, IBV_WC_TM_RECV, 1, IBV_WC_TM_MATCH, &done) || !next(&bed, &done) ||
	    !EXPECT_EQ(done.status, IBV_WC_REM_ACCESS_ERR) || !EXPECT_EQ(done.wr_id, 1) ||
	    !connect_bed(&bed))
		goto out;
	if (!send_tagged(&bed, IBV_TMH_EAGER, 10, 100, 7) ||
	    !expect(&bed, IBV_WC_TM_RECV, 2, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, &done))
		goto out;
	sge = dst_sge(&bed, 0, 100);
	sge.lkey ^= 0x5a00;
	wr = add_wr(&bed, 3, 11, &sge);
	if (!EXPECT_EQ(ibv_post_srq_ops(bed.srq, &wr, &bad), 0) ||
	    !expect(&bed, IBV_WC_TM_ADD, 1003, 0, &done))
		goto out;
	put_header(&bed, IBV_TMH_EAGER, 11);
	EXPECT_EQ(vu_post_send(&bed.a, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, bed.src_mr, bed.src, 100,
			       0, 0),
		  0);
	if (next(&bed, &done)) {
		EXPECT_EQ(done.status, IBV_WC_LOC_PROT_ERR);
		EXPECT_EQ(done.wr_id, 3);
	}
out:
	bed_down(&bed);
}

/* A tag that is taken can't be deleted, and its place is used again. */
static void test_del(const void *arg)
{
	struct done done;
	struct bed bed;
	uint32_t handle[2];

	(void)arg;
	if (bed_up(&bed) && add(&bed, 1, 9, 0, 100, &handle[0]) &&
	    add(&bed, 2, 9, 100, 100, &handle[1]) && del(&bed, handle[0], IBV_WC_SUCCESS) &&
	    del(&bed, handle[0], IBV_WC_TM_ERR) && send_tagged(&bed, IBV_TMH_EAGER, 9, 100, 1) &&
	    expect(&bed, IBV_WC_TM_RECV, 2, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, &done) &&
	    same(bed.dst + 100, 100, 1))
		del(&bed, handle[1], IBV_WC_TM_ERR);
	bed_down(&bed);
}

/* The list has a limit, and free places after matches. */
static void test_full(const void *arg)
{
	const unsigned int both = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
	struct ibv_ops_wr *bad, wr;
	uint32_t handle = 0, i;
	struct ibv_sge sge;
	struct done done;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	for (i = 0; i < TAGS; i++)
		if (!add(&bed, i, i, 100 * i, 100, &handle))
			goto out;
	sge = dst_sge(&bed, 0, 100);
	wr = add_wr(&bed, 1, 99, &sge);
	EXPECT_EQ(ibv_post_srq_ops(bed.srq, &wr, &bad), ENOMEM);
	EXPECT(bad == &wr);
	if (!del(&bed, handle, IBV_WC_SUCCESS))
		goto out;
	for (i = 0; i < 3 * TAGS; i++) {
		wr = add_wr(&bed, i, 200 + i, &sge);
		wr.flags = 0;
		/* The operation has no completion; a later one has. */
		if (!EXPECT_EQ(ibv_post_srq_ops(bed.srq, &wr, &bad), 0) ||
		    !sync_count(&bed, 0, 0) || !send_tagged(&bed, IBV_TMH_EAGER, 200 + i, 100, i) ||
		    !expect(&bed, IBV_WC_TM_RECV, i, both, &done) || !same(bed.dst, 100, i))
			goto out;
	}
out:
	bed_down(&bed);
}

/* The flags are also in completions of the plain poll interface. */
static void test_plain_poll(const void *arg)
{
	struct ibv_wc wc;
	struct bed bed;

	(void)arg;
	if (bed_up(&bed) && add(&bed, 7, 5, 0, 1000, NULL) &&
	    send_tagged(&bed, IBV_TMH_EAGER, 5, 900, 1) &&
	    vu_wait_wc(ibv_cq_ex_to_cq(bed.cq), &wc, 7, IBV_WC_SUCCESS)) {
		EXPECT_EQ(wc.opcode, IBV_WC_TM_RECV);
		EXPECT_EQ(wc.wc_flags, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
		EXPECT_EQ(wc.byte_len, 900);
		EXPECT_EQ(wc.qp_num, bed.b.qp->qp_num);
		EXPECT_EQ(wc.src_qp, 0);
	}
	bed_down(&bed);
}

/* A connection in error: its matched tags complete, the others stay. */
static void test_flush(const void *arg)
{
	struct done done;
	struct bed bed;

	(void)arg;
	if (bed_up(&bed) && add(&bed, 1, 5, 0, 100, NULL) && vu_to_err(&bed.b) &&
	    vu_wait_async(dev.ctx, IBV_EVENT_QP_LAST_WQE_REACHED, bed.b.qp) && connect_bed(&bed) &&
	    send_tagged(&bed, IBV_TMH_EAGER, 5, 100, 1))
		expect(&bed, IBV_WC_TM_RECV, 1, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, &done);
	bed_down(&bed);
}

static void refused_srq(struct ibv_srq_init_attr_ex attr, int err)
{
	struct ibv_srq *srq = ibv_create_srq_ex(dev.ctx, &attr);

	if (EXPECT(!srq))
		EXPECT_EQ(errno, err);
	else
		ibv_destroy_srq(srq);
}

static void test_bad_srq(const void *arg)
{
	struct ibv_srq_init_attr_ex attr, good;
	struct ibv_cq_ex *cq = new_cq();

	(void)arg;
	if (!EXPECT(cq))
		return;
	good = srq_attr(cq);
	attr = good;
	attr.comp_mask &= ~IBV_SRQ_INIT_ATTR_CQ;
	refused_srq(attr, EINVAL);
	attr = good;
	attr.comp_mask &= ~IBV_SRQ_INIT_ATTR_TM;
	refused_srq(attr, EINVAL);
	attr = good;
	attr.tm_cap.max_num_tags = 0;
	refused_srq(attr, EINVAL);
	attr.tm_cap.max_num_tags = caps.max_num_tags + 1;
	refused_srq(attr, EINVAL);
	attr.tm_cap.max_num_tags = 1U << 31;
	refused_srq(attr, EINVAL);
	attr = good;
	attr.tm_cap.max_ops = caps.max_ops + 1;
	refused_srq(attr, EINVAL);
	EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static void refused_qp(struct bed *bed, enum ibv_qp_type type, uint32_t send_wr, int err)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = ibv_cq_ex_to_cq(bed->cq),
		.recv_cq = ibv_cq_ex_to_cq(bed->cq),
		.srq = bed->srq,
		.cap = {.max_send_wr = send_wr, .max_send_sge = 1},
		.qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(dev.pd, &attr);

	if (EXPECT(!qp))
		EXPECT_EQ(errno, err);
	else
		ibv_destroy_qp(qp);
}

static void refused_op(struct bed *bed, struct ibv_ops_wr wr, int err)
{
	struct ibv_ops_wr *bad = NULL;

	EXPECT_EQ(ibv_post_srq_ops(bed->srq, &wr, &bad), err);
	EXPECT(bad == &wr);
}

static void test_bad_use(const void *arg)
{
	struct ibv_sge sge = {};
	struct ibv_send_wr *bad, send = {.opcode = IBV_WR_SEND};
	struct ibv_ops_wr wr, *bad_op;
	struct ibv_srq_init_attr basic_attr = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *basic;
	struct bed bed;

	(void)arg;
	if (!bed_up(&bed))
		goto out;
	refused_qp(&bed, IBV_QPT_RC, 1, EINVAL);
	refused_qp(&bed, IBV_QPT_UD, 1, EINVAL);
	refused_qp(&bed, IBV_QPT_DRIVER, 1, EOPNOTSUPP);
	EXPECT_EQ(ibv_post_send(bed.b.qp, &send, &bad), EINVAL);
	EXPECT_EQ(ibv_destroy_srq(bed.srq), EBUSY);

	wr = add_wr(&bed, 1, 1, &sge);
	wr.opcode = 77;
	refused_op(&bed, wr, EINVAL);
	wr = add_wr(&bed, 1, 1, &sge);
	wr.flags = 0x80;
	refused_op(&bed, wr, EINVAL);
	wr = add_wr(&bed, 1, 1, &sge);
	wr.tm.add.num_sge = caps.max_sge + 1;
	refused_op(&bed, wr, EINVAL);
	wr.tm.add.num_sge = -1;
	refused_op(&bed, wr, EINVAL);
	wr = (struct ibv_ops_wr){.opcode = IBV_WR_TAG_DEL, .tm = {.handle = TAGS}};
	refused_op(&bed, wr, EINVAL);

	basic = ibv_create_srq(dev.pd, &basic_attr);
	if (EXPECT(basic)) {
		EXPECT_EQ(ibv_post_srq_ops(basic, &wr, &bad_op), EINVAL);
		EXPECT_EQ(ibv_destroy_srq(basic), 0);
	}
	/* It works as before. */
	add(&bed, 1, 1, 0, 100, NULL);
out:
	bed_down(&bed);
}

static const struct tap_test tests[] = {
	{"what the device can do", test_caps, NULL},
	{"a message goes to its tag", test_eager, NULL},
	{"a long message", test_long, NULL},
	{"the oldest tag that matches", test_order, NULL},
	{"a message without a tag", test_no_tag, NULL},
	{"unexpected messages, and tags that wait", test_unexpected, NULL},
	{"rendezvous", test_rndv, NULL},
	{"rendezvous that software ends", test_rndv_software, NULL},
	{"bad keys", test_errors, NULL},
	{"deleted tags", test_del, NULL},
	{"a full list", test_full, NULL},
	{"ibv_poll_cq", test_plain_poll, NULL},
	{"a connection in error", test_flush, NULL},
	{"refused SRQs", test_bad_srq, NULL},
	{"refused use", test_bad_use, NULL},
};

static int leave(void)
{
	struct bed bed;

	tap_mute();
	tap_begin();
	return bed_up(&bed) && add(&bed, 1, 1, 0, LONG, NULL) && add(&bed, 2, 2, 0, LONG, NULL) &&
			       send_rndv(&bed, 1, LONG, bed.src_mr->rkey, 1)
		       ? TAP_PASS
		       : TAP_FAIL;
}

int main(int argc, char **argv)
{
	struct ibv_device_attr_ex attr;

	vu_open(&dev);
	if (ibv_query_device_ex(dev.ctx, NULL, &attr) || !attr.tm_caps.flags)
		tap_skip_all("the device matches no tags");
	caps = attr.tm_caps;
	if (argc > 1 && !strcmp(argv[1], "leave"))
		return leave();
	return vu_main(&dev, NULL, tests, ARRAY_SIZE(tests), NULL);
}
