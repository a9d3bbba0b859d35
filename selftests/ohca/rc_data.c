// SPDX-License-Identifier: GPL-2.0
/*
 * rc_data [-2] [-o] [-m MIB] [-t TIMEOUT]: RC: every operation transfers exactly the right bytes.
 * Two sides: of one machine, or with -2 of two machines.  With -o the memory has on-demand paging,
 * and is not mapped when a test begins; with -m no message is longer; -t sets the local ACK timeout
 * of the random traffic.  Each transfer begins at side 0; the receiving side compares every byte,
 * and the bytes before and after.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rc_traffic.h"
#include "verbs_util.h"

#define MIB (1UL << 20)
#define MAX_MSG (64 * MIB)
#define GUARD 64
#define GUARD_BYTE 0xa5
#define MAX_SGE 32
#define IMM 0x01234567

static struct vu_dev dev;
static struct sess sess;
static uint8_t *buf;
static size_t buf_len = MAX_MSG + MIB;
static struct ibv_mr *mr;
static struct vu_qp qp;
static struct vu_addr mine, theirs;
static bool on_demand;
static size_t max_msg = MAX_MSG;
static struct vu_qp_opts traffic_qps = VU_QP_OPTS;

static void cleanup(void)
{
	vu_qp_destroy(&qp);
	if (on_demand)
		EXPECT_EQ(madvise(buf, buf_len, MADV_DONTNEED), 0);
}

static bool connect_sides(const struct vu_qp_opts *opts)
{
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	return vu_connect_sess(&dev, &sess, &qp, opts, &mine, &theirs);
}

/**
 * struct xfer - one transfer from side 0
 * @op: operation
 * @size: bytes
 * @odd: misalignment of the buffers
 * @num_sge: pieces of the local list, of the remote one too if it is a receive
 * @inl: inline data
 * @slack: bytes by which the receive buffer is longer than the message
 * @mtu: path MTU
 */
struct xfer {
	enum ibv_wr_opcode op;
	size_t size;
	unsigned int odd;
	unsigned int num_sge;
	bool inl;
	unsigned int slack;
	enum ibv_mtu mtu;
};

static bool takes_recv(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool has_imm(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode op)
{
	switch (op) {
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	default:
		return IBV_WC_SEND;
	}
}

/* The side's own buffer of a transfer. */
static uint8_t *xfer_buf(const struct xfer *x)
{
	return buf + GUARD + (sess.side ? x->odd * 7 % GUARD : x->odd);
}

/*
 * Cut @size bytes at @base into pieces of uneven length with small gaps; some are empty when there
 * are many.
 */
static unsigned int cut(struct ibv_sge *sge, uint8_t *base, size_t size, unsigned int num)
{
	unsigned int i;

	if (num <= 1) {
		sge[0] =
			(struct ibv_sge){.addr = (uintptr_t)base, .length = size, .lkey = mr->lkey};
		return size ? 1 : 0;
	}
	for (i = 0; i < num; i++) {
		size_t len = i == num - 1 ? size : i % 5 == 3 ? 0 : size / (num - i) / 2 + i;

		if (len > size)
			len = size;
		sge[i] = (struct ibv_sge){.addr = (uintptr_t)base, .length = len, .lkey = mr->lkey};
		base += len + 3;
		size -= len;
	}
	return num;
}

static void fill_pieces(const struct ibv_sge *sge, unsigned int num, size_t size, uint64_t seed)
{
	uint8_t *flat, *p;
	unsigned int i;

	if (num == 1) {
		vu_fill((void *)(uintptr_t)sge[0].addr, size, seed);
		return;
	}
	flat = malloc(size + 1);
	vu_fill(flat, size, seed);
	for (i = 0, p = flat; i < num; p += sge[i++].length)
		memcpy((void *)(uintptr_t)sge[i].addr, p, sge[i].length);
	free(flat);
}

static bool all_guard(const uint8_t *p, size_t len)
{
	while (len--)
		if (*p++ != GUARD_BYTE)
			return false;
	return true;
}

/* The message is in the pieces in order, and nothing was written between, before and after them. */
static void check_pieces(const struct ibv_sge *sge, unsigned int num, const uint8_t *base,
			 size_t size, uint64_t seed)
{
	uint8_t *flat = (uint8_t *)base;
	const uint8_t *end = base + size;
	unsigned int i;

	EXPECT(all_guard(base - GUARD / 2, GUARD / 2));
	if (num > 1) {
		uint8_t *p = flat = malloc(size + 1);

		end = base;
		for (i = 0; i < num; p += sge[i++].length) {
			memcpy(p, (void *)(uintptr_t)sge[i].addr, sge[i].length);
			EXPECT(all_guard(end, (uint8_t *)(uintptr_t)sge[i].addr - end));
			end = (uint8_t *)(uintptr_t)sge[i].addr + sge[i].length;
		}
	}
	EXPECT(all_guard(end, GUARD));
	EXPECT_EQ(vu_check(flat, size, seed), -1);
	if (flat != base)
		free(flat);
}

static void xfer_send(const struct xfer *x, struct ibv_sge *sge, unsigned int num)
{
	struct ibv_send_wr wr =
				   {
					   .wr_id = 0x1122334455667788ULL,
					   .sg_list = sge,
					   .num_sge = num,
					   .opcode = x->op,
					   .send_flags = IBV_SEND_SIGNALED |
							 (x->inl ? IBV_SEND_INLINE : 0),
					   .imm_data = htonl(IMM),
					   .wr.rdma =
						   {
							   .remote_addr = theirs.va + GUARD +
									  x->odd * 7 % GUARD,
							   .rkey = theirs.rkey,
						   },
				   },
			   *bad;
	struct ibv_wc wc;
	uint32_t lkey = sge[0].lkey;

	if (x->inl)
		sge[0].lkey = ~lkey; /* inline data need not be registered */
	if (!EXPECT_EQ(ibv_post_send(qp.qp, &wr, &bad), 0))
		return;
	if (x->inl && num)
		memset((void *)(uintptr_t)sge[0].addr, 0,
		       sge[0].length); /* and is copied by the post */
	if (!vu_wait_wc(qp.scq, &wc, wr.wr_id, IBV_WC_SUCCESS))
		return;
	EXPECT_EQ(wc.opcode, wc_opcode(x->op));
	EXPECT_EQ(wc.qp_num, qp.qp->qp_num);
	if (x->op == IBV_WR_RDMA_READ)
		EXPECT_EQ(wc.byte_len, x->size);
	EXPECT_EQ(ibv_poll_cq(qp.scq, 1, &wc), 0);
}

static void xfer_recv(const struct xfer *x)
{
	struct ibv_wc wc;

	if (!vu_wait_wc(qp.rcq, &wc, 42, IBV_WC_SUCCESS))
		return;
	EXPECT_EQ(wc.opcode,
		  x->op == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	EXPECT_EQ(wc.qp_num, qp.qp->qp_num);
	EXPECT_EQ(wc.byte_len, x->size);
	EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, has_imm(x->op) ? IBV_WC_WITH_IMM : 0);
	if (has_imm(x->op))
		EXPECT_EQ(ntohl(wc.imm_data), IMM);
}

static void test_xfer(const void *arg)
{
	const struct xfer *x = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	bool one_sided = x->op == IBV_WR_RDMA_WRITE || x->op == IBV_WR_RDMA_WRITE_WITH_IMM ||
			 x->op == IBV_WR_RDMA_READ;
	int source = x->op == IBV_WR_RDMA_READ ? 1 : 0;
	uint64_t seed = sess.test;
	struct ibv_sge sge[MAX_SGE];
	unsigned int num;

	opts.send_sge = opts.recv_sge = x->num_sge ? x->num_sge : 1;
	opts.inline_data = x->inl ? x->size : 0;
	opts.mtu = x->mtu;
	if ((int)opts.send_sge > dev.attr.max_sge) {
		tap_skip("more elements than the device has");
		return;
	}
	if (!connect_sides(&opts))
		return;
	/* the remote end of a one-sided operation is one piece */
	num = cut(sge, xfer_buf(x), x->size, sess.side && one_sided ? 1 : x->num_sge);
	if (sess.side == source)
		fill_pieces(sge, num, x->size, seed);
	else
		memset(xfer_buf(x) - GUARD / 2, GUARD_BYTE, x->size + 3 * GUARD + x->num_sge * 3);
	if (sess.side && takes_recv(x->op)) {
		struct ibv_recv_wr wr = {.wr_id = 42, .sg_list = sge, .num_sge = num}, *bad;

		if (one_sided)
			wr.num_sge = 0;
		if (x->slack && num)
			sge[num - 1].length += x->slack;
		EXPECT_EQ(ibv_post_recv(qp.qp, &wr, &bad), 0);
		if (x->slack && num)
			sge[num - 1].length -= x->slack;
	}
	if (!sess_sync(&sess))
		return;
	if (!sess.side)
		xfer_send(x, sge, num);
	else if (takes_recv(x->op))
		xfer_recv(x);
	if (!sess_sync(&sess))
		return;
	if (sess.side != source)
		check_pieces(sge, num, xfer_buf(x), x->size, seed);
	EXPECT_EQ(vu_state(&qp), IBV_QPS_RTS);
}

/* A read, then a fenced write and a fenced send of the data that were read. */
static void test_fence(const void *arg)
{
	const size_t len = MIB - 5;
	uint8_t *from = buf, *via = buf + 2 * MIB, *to = buf + 4 * MIB;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	if (sess.side) {
		vu_fill(from, len, sess.test);
		memset(to, 0, 2 * len);
		EXPECT_EQ(vu_post_recv(&qp, 7, mr, to + len, len), 0);
	}
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		memset(via, 0, len);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, 1, 0, mr, via, len, theirs.va,
				       theirs.rkey),
			  0);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, 2, IBV_SEND_FENCE, mr, via, len,
				       theirs.va + 4 * MIB, theirs.rkey),
			  0);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 3, IBV_SEND_FENCE | IBV_SEND_SIGNALED, mr,
				       via, len, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 3, IBV_WC_SUCCESS);
		EXPECT_EQ(ibv_poll_cq(qp.scq, 1, &wc), 0);
	} else if (vu_wait_wc(qp.rcq, &wc, 7, IBV_WC_SUCCESS)) {
		EXPECT_EQ(vu_check(to, len, sess.test), -1);
		EXPECT_EQ(vu_check(to + len, len, sess.test), -1);
	}
	sess_sync(&sess);
}

/* Many unsignalled requests, one CQE for each run of them; the rings wrap several times. */
static void test_unsignalled(const void *arg)
{
	const unsigned int depth = 32, runs = 40, len = 4096;
	struct vu_qp_opts opts = VU_QP_OPTS;
	unsigned int run, i;
	struct ibv_wc wc;

	(void)arg;
	opts.send_wr = depth;
	if (!connect_sides(&opts))
		return;
	for (run = 0; run < runs; run++) {
		if (!sess.side) {
			vu_fill(buf, depth * len, run + 1);
			for (i = 0; i < depth; i++)
				EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, run * depth + i,
						       i == depth - 1 ? IBV_SEND_SIGNALED : 0, mr,
						       buf + i * len, len, theirs.va + i * len,
						       theirs.rkey),
					  0);
			vu_wait_wc(qp.scq, &wc, run * depth + depth - 1, IBV_WC_SUCCESS);
			EXPECT_EQ(ibv_poll_cq(qp.scq, 1, &wc), 0);
		}
		if (!sess_sync(&sess))
			return;
		if (sess.side)
			EXPECT_EQ(vu_check(buf, depth * len, run + 1), -1);
		if (!sess_sync(&sess))
			return;
	}
}

/* All requests of a QP that was created so complete, whatever their flags are. */
static void test_sig_all(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	opts.sig_all = true;
	if (!connect_sides(&opts))
		return;
	for (i = 0; !sess.side && i < 8; i++) {
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, i, 0, mr, buf, 64, theirs.va,
				       theirs.rkey),
			  0);
		vu_wait_wc(qp.scq, &wc, i, IBV_WC_SUCCESS);
	}
	sess_sync(&sess);
}

/* The receiver polls on memory: when the last byte has arrived, all have. */
static void test_last_byte(const void *arg)
{
	const unsigned int sizes[] = {8, 200, 5000, 100003};
	struct vu_qp_opts opts = VU_QP_OPTS;
	volatile uint8_t *last;
	uint64_t deadline;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	for (i = 0; i < 64; i++) {
		unsigned int len = sizes[i % ARRAY_SIZE(sizes)];

		if (sess.side)
			memset(buf, 0, len);
		else
			vu_fill(buf, len - 1, i);
		buf[len - 1] = sess.side ? 0 : 0xff;
		if (!sess_sync(&sess))
			return;
		if (!sess.side) {
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, i, IBV_SEND_SIGNALED, mr,
					       buf, len, theirs.va, theirs.rkey),
				  0);
			vu_wait_wc(qp.scq, &wc, i, IBV_WC_SUCCESS);
		} else {
			last = buf + len - 1;
			deadline = vu_now() + vu_timeout_ms();
			while (!*last && vu_now() < deadline)
				sched_yield();
			__sync_synchronize();
			EXPECT_EQ(*last, 0xff);
			EXPECT_EQ(vu_check(buf, len - 1, i), -1);
		}
		if (!sess_sync(&sess))
			return;
	}
}

/* A send without a receive request waits for one. */
static void test_rnr_wait(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_wc wc;

	(void)arg;
	if (!connect_sides(&opts))
		return;
	if (!sess.side) {
		vu_fill(buf, 10000, sess.test);
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr, buf, 10000, 0,
				       0),
			  0);
	}
	if (!sess_sync(&sess))
		return;
	if (!sess.side) {
		vu_wait_wc(qp.scq, &wc, 1, IBV_WC_SUCCESS);
	} else {
		EXPECT_EQ(vu_post_recv(&qp, 2, mr, buf, 10000), 0);
		if (vu_wait_wc(qp.rcq, &wc, 2, IBV_WC_SUCCESS))
			EXPECT_EQ(vu_check(buf, 10000, sess.test), -1);
	}
	sess_sync(&sess);
}

/* Packet sequence numbers wrap from 2^24 - 1 to 0, in both directions. */
static void test_psn_wrap(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	const unsigned int len = 9000;
	struct ibv_wc wc;
	unsigned int i;

	(void)arg;
	if (!vu_qp_create(&dev, &qp, &opts))
		return;
	qp.psn = 0xfffff0;
	vu_qp_addr(&dev, &qp, &mine);
	mine.va = (uintptr_t)buf;
	mine.rkey = mr->rkey;
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)) ||
	    !vu_connect(&dev, &qp, &theirs, &opts) || !sess_sync(&sess))
		return;
	for (i = 0; i < 8; i++) {
		if (sess.side)
			vu_fill(buf + MIB, len, i);
		if (!sess_sync(&sess))
			return;
		if (!sess.side) {
			vu_fill(buf, len, i + 100);
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_WRITE, 0, 0, mr, buf, len,
					       theirs.va, theirs.rkey),
				  0);
			EXPECT_EQ(vu_post_send(&qp, IBV_WR_RDMA_READ, i, IBV_SEND_SIGNALED, mr,
					       buf + 2 * MIB, len, theirs.va + MIB, theirs.rkey),
				  0);
			if (vu_wait_wc(qp.scq, &wc, i, IBV_WC_SUCCESS))
				EXPECT_EQ(vu_check(buf + 2 * MIB, len, i), -1);
		}
		if (!sess_sync(&sess))
			return;
		if (sess.side)
			EXPECT_EQ(vu_check(buf, len, i + 100), -1);
	}
}

/* A QP that is connected with itself. */
static void test_self(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_addr self;
	struct ibv_wc wc;

	(void)arg;
	if (!vu_qp_create(&dev, &qp, &opts))
		return;
	vu_qp_addr(&dev, &qp, &self);
	if (!vu_connect(&dev, &qp, &self, &opts))
		return;
	vu_fill(buf, 50001, sess.test);
	memset(buf + MIB, 0, 50001);
	EXPECT_EQ(vu_post_recv(&qp, 1, mr, buf + MIB, 50001), 0);
	EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 2, IBV_SEND_SIGNALED, mr, buf, 50001, 0, 0), 0);
	vu_wait_wc(qp.scq, &wc, 2, IBV_WC_SUCCESS);
	vu_wait_wc(qp.rcq, &wc, 1, IBV_WC_SUCCESS);
	EXPECT_EQ(vu_check(buf + MIB, 50001, sess.test), -1);
}

static void test_traffic(const void *arg)
{
	struct traffic tr = {
		.dev = &dev,
		.sess = &sess,
		.mr = mr,
		.buf = buf,
		.opts = arg,
		.qp_opts = &traffic_qps,
	};

	traffic_run(&tr);
}

#define MAX_TESTS 256
static struct tap_test tests[MAX_TESTS];
static struct xfer xfers[MAX_TESTS];
static unsigned int num_tests;

static void add(const char *name, void (*fn)(const void *arg), const void *arg)
{
	if (num_tests == MAX_TESTS)
		tap_bail("too many tests");
	tests[num_tests++] = (struct tap_test){name, fn, arg};
}

static const struct {
	enum ibv_wr_opcode op;
	const char *name;
} ops[] = {
	{IBV_WR_SEND, "send"},
	{IBV_WR_SEND_WITH_IMM, "send with immediate"},
	{IBV_WR_RDMA_WRITE, "RDMA write"},
	{IBV_WR_RDMA_WRITE_WITH_IMM, "RDMA write with immediate"},
	{IBV_WR_RDMA_READ, "RDMA read"},
};

static void add_xfer(unsigned int op, struct xfer x, const char *what)
{
	static const char *const mtus[] = {"?", "256", "512", "1024", "2048", "4096"};
	char *name;

	if (!x.mtu)
		x.mtu = IBV_MTU_1024;
	if (asprintf(&name, "%s of %zu bytes%s%s, %u pieces, MTU %s", ops[op].name, x.size,
		     x.inl ? " inline" : "", what, x.num_sge, mtus[x.mtu]) < 0)
		tap_bail("no memory");
	x.op = ops[op].op;
	xfers[num_tests] = x;
	add(name, test_xfer, &xfers[num_tests]);
}

static void add_xfers(void)
{
	static const size_t sizes[] = {0,     1,     3,	      64,	    257,
				       1023,  1024,  1025,    4096,	    4097,
				       65535, 65536, MIB + 1, 16 * MIB - 1, MAX_MSG};
	static const unsigned int inline_sizes[] = {0, 1, 16, 17, 63, 200, 256};
	static const unsigned int pieces[] = {2, 3, 4, 8, 15, 16, 17, 31, 32};
	unsigned int op, i;

	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			if (sizes[i] <= max_msg && sizes[i] <= dev.port.max_msg_sz)
				add_xfer(op,
					 (struct xfer){.size = sizes[i],
						       .num_sge = 1,
						       .odd = (i * 13 + op) % GUARD},
					 "");
		for (i = 0; i < ARRAY_SIZE(inline_sizes) && ops[op].op != IBV_WR_RDMA_READ; i++)
			add_xfer(op,
				 (struct xfer){.size = inline_sizes[i],
					       .num_sge = 1,
					       .inl = true,
					       .odd = i},
				 "");
		for (i = 0; i < ARRAY_SIZE(pieces); i++)
			add_xfer(op,
				 (struct xfer){
					 .size = 9001 * (i + 1), .num_sge = pieces[i], .odd = i},
				 "");
		for (i = IBV_MTU_256; i <= (unsigned int)dev.port.active_mtu; i++)
			add_xfer(op, (struct xfer){.size = 20011, .num_sge = 1, .mtu = i}, "");
	}
	add_xfer(0, (struct xfer){.size = 100, .num_sge = 1, .slack = 32}, " to a longer buffer");
	add_xfer(1, (struct xfer){.size = 5000, .num_sge = 3, .slack = 32}, " to a longer buffer");
}

static const struct traffic_opts traffics[] = {
	{.name = "random traffic from side 0",
	 .num_qps = 1,
	 .window = 32,
	 .slot = 65536,
	 .rounds = 12,
	 .one_way = true},
	{.name = "random traffic both ways",
	 .num_qps = 1,
	 .window = 32,
	 .slot = 65536,
	 .rounds = 12},
	{.name = "small messages both ways", .num_qps = 1, .window = 60, .slot = 256, .rounds = 60},
	{.name = "random traffic both ways, by completion events",
	 .num_qps = 1,
	 .window = 16,
	 .slot = 16384,
	 .rounds = 20,
	 .events = true},
	{.name = "random traffic both ways on 64 queue pairs",
	 .num_qps = 64,
	 .window = 256,
	 .slot = 8192,
	 .rounds = 6},
	{.name = "random traffic both ways on 64 queue pairs, by completion events",
	 .num_qps = 64,
	 .window = 256,
	 .slot = 2048,
	 .rounds = 6,
	 .events = true},
	{.name = "reads beyond the depth",
	 .num_qps = 1,
	 .window = 48,
	 .slot = 4096,
	 .rounds = 10,
	 .only_reads = true},
	{.name = "one queue entry at a time",
	 .num_qps = 1,
	 .window = 1,
	 .slot = 3000,
	 .rounds = 200},
};

int main(int argc, char **argv)
{
	bool machines = false;
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "2om:t:")) != -1) {
		if (opt == '2')
			machines = true;
		else if (opt == 'o')
			on_demand = true;
		else if (opt == 'm')
			max_msg = strtoul(optarg, NULL, 10) * MIB;
		else if (opt == 't')
			traffic_qps.timeout = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	sess_start(&sess, machines);
	vu_open(&dev);
	buf = vu_alloc(buf_len);
	mr = ibv_reg_mr(dev.pd, buf, buf_len, VU_RW | (on_demand ? IBV_ACCESS_ON_DEMAND : 0));
	if (!mr)
		tap_bail("ibv_reg_mr: %s", strerror(errno));
	add_xfers();
	add("read, then fenced write and send of what it brought", test_fence, NULL);
	add("unsignalled requests", test_unsignalled, NULL);
	add("a QP that signals all", test_sig_all, NULL);
	add("the last byte of a write is written last", test_last_byte, NULL);
	add("a send waits for its receive request", test_rnr_wait, NULL);
	add("packet sequence numbers wrap", test_psn_wrap, NULL);
	add("a QP connected with itself", test_self, NULL);
	for (i = 0; i < ARRAY_SIZE(traffics); i++)
		add(traffics[i].name, test_traffic, &traffics[i]);
	return sess_run(&sess, tests, num_tests, cleanup);
}
