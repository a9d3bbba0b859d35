// SPDX-License-Identifier: GPL-2.0
/*
 * A program that uses its objects in every wrong way: it must not affect others.
 *
 * A victim, another process with connected queue pairs, has checked traffic all the time.  After
 * each attack the victim must still make progress, and the attacker must get the specified errors.
 */

#define _GNU_SOURCE
#include <endian.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"
#include "verbs_util.h"

#define PAGE VU_PAGE

/**
 * struct victim_state - shared with the victim
 * @rounds: rounds of traffic done
 * @stop: asks it to end
 */
struct victim_state {
	volatile uint64_t rounds;
	volatile int stop;
};

static struct victim_state *victim;
static pid_t victim_pid;
static struct vu_dev dev; /* for GIDs and limits */
static struct raw_ctx ctx;
static uint32_t pd;

/*
 * The victim: writes, reads and sends of random data, each compared.  Exit status 0: all was right.
 */
static void run_victim(void)
{
	const unsigned int len = 20000;
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct vu_dev own;
	struct vu_qp a, b;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	uint8_t *buf;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tap_mute();
	tap_begin();
	vu_open(&own);
	buf = vu_alloc(4 * len);
	mr = ibv_reg_mr(own.pd, buf, 4 * len, VU_RW);
	if (!mr || !vu_qp_create(&own, &a, &opts) || !vu_qp_create(&own, &b, &opts) ||
	    !vu_connect_pair(&own, &a, &b, &opts))
		exit(1);
	while (!victim->stop && !tap_failed()) {
		vu_fill(buf, len, victim->rounds);
		EXPECT_EQ(vu_post_recv(&b, 9, mr, buf + len, len), 0);
		EXPECT_EQ(vu_post_send(&a, IBV_WR_SEND, 1, 0, mr, buf, len, 0, 0), 0);
		EXPECT_EQ(vu_post_send(&a, IBV_WR_RDMA_WRITE, 2, 0, mr, buf, len,
				       (uintptr_t)buf + 2 * len, mr->rkey),
			  0);
		EXPECT_EQ(vu_post_send(&a, IBV_WR_RDMA_READ, 3, IBV_SEND_SIGNALED, mr,
				       buf + 3 * len, len, (uintptr_t)buf, mr->rkey),
			  0);
		vu_wait_wc(b.rcq, &wc, 9, IBV_WC_SUCCESS);
		vu_wait_wc(a.scq, &wc, 3, IBV_WC_SUCCESS);
		EXPECT_EQ(vu_check(buf + len, len, victim->rounds), -1);
		EXPECT_EQ(vu_check(buf + 2 * len, len, victim->rounds), -1);
		EXPECT_EQ(vu_check(buf + 3 * len, len, victim->rounds), -1);
		victim->rounds++;
	}
	exit(tap_failed());
}

static void start_victim(void)
{
	victim = mmap(NULL, sizeof(*victim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	fflush(stdout);
	victim_pid = fork();
	if (!victim_pid)
		run_victim();
}

/* The victim completes rounds that began after this call. */
static bool victim_gets_on(void)
{
	uint64_t start = victim->rounds, deadline = vu_now() + vu_timeout_ms();

	while (victim->rounds < start + 3 && vu_now() < deadline &&
	       waitpid(victim_pid, NULL, WNOHANG) == 0)
		sched_yield();
	return EXPECT(victim->rounds >= start + 3);
}

static void connect_self(struct raw_qp *q)
{
	EXPECT_EQ(raw_qp_connect(q, q->qpn, dev.gid.raw, dev.gid_index), 0);
}

/* Invalid requests to the kernel. */
static void test_context_abi(const void *arg)
{
	struct {
		struct ohca_uctx_req req;
		uint64_t more;
	} longer = {};
	struct ohca_uctx_req req = {.comp_mask = 1};
	struct raw_ctx other;
	int fd = raw_open_file();

	(void)arg;
	EXPECT_EQ(raw_get_context(&other, fd, &req, sizeof(req)), EOPNOTSUPP);
	req = (struct ohca_uctx_req){.rsvd = 1};
	EXPECT_EQ(raw_get_context(&other, fd, &req, sizeof(req)), EINVAL);
	EXPECT_EQ(raw_get_context(&other, fd, &req, 0), EINVAL);
	EXPECT_EQ(raw_get_context(&other, fd, &req, 4), EINVAL);
	longer.more = 1;
	EXPECT_EQ(raw_get_context(&other, fd, &longer, sizeof(longer)), EOPNOTSUPP);
	longer.more = 0;
	EXPECT_EQ(raw_get_context(&other, fd, &longer, sizeof(longer)), 0);
	close(other.async_fd);
	close(fd);
	victim_gets_on();
}

#define BAD_CQ(field, value, err)                                                               \
	do {                                                                                    \
		struct ohca_create_cq_req _req = raw_cq_req(buf);                               \
		int _ret;                                                                       \
		_req.field = (value);                                                           \
		_ret = raw_create_cq(&ctx, RAW_CQ_SIZE, &_req, sizeof(_req), &handle, &number); \
		if (_ret != (err))                                                              \
			tap_fail(__FILE__, __LINE__, "CQ with %s %s: %d, expected %s", #field,  \
				 #value, _ret, #err);                                           \
		if (!_ret)                                                                      \
			raw_destroy_cq(&ctx, handle);                                           \
	} while (0)

static void test_cq_abi(const void *arg)
{
	uint8_t *buf = vu_alloc(RAW_CQ_BYTES + PAGE), *ro = vu_alloc(RAW_CQ_BYTES);
	uint32_t handle, number;

	(void)arg;
	mprotect(ro, RAW_CQ_BYTES, PROT_READ);
	BAD_CQ(comp_mask, 1, EOPNOTSUPP);
	BAD_CQ(rsvd, 1, EINVAL);
	BAD_CQ(buf_addr, 0, EFAULT);
	BAD_CQ(buf_addr, (uintptr_t)ro, EFAULT);
	BAD_CQ(buf_addr, (uintptr_t)buf + 8, EINVAL);
	BAD_CQ(buf_addr, 0xffff888000000000, EFAULT);
	BAD_CQ(buf_size, 0, EINVAL);
	BAD_CQ(buf_size, 1024, EINVAL);
	BAD_CQ(buf_size, RAW_CQ_BYTES + PAGE, EINVAL);
	BAD_CQ(buf_size, -1ULL, EINVAL);
	BAD_CQ(rec_offset, 0, EINVAL);
	BAD_CQ(rec_offset, RAW_CQ_REC - 64, EINVAL);
	BAD_CQ(rec_offset, RAW_CQ_REC + 4, EINVAL);
	BAD_CQ(rec_offset, RAW_CQ_BYTES, EINVAL);
	BAD_CQ(rec_offset, 0xffffffc0, EINVAL);
	BAD_CQ(log_size, RAW_CQ_LOG_SIZE - 1, EINVAL); /* fewer entries than asked for */
	BAD_CQ(log_size, 12, EINVAL);
	BAD_CQ(log_size, 31, EINVAL);
	BAD_CQ(log_size, 32, EINVAL);
	BAD_CQ(log_size, 0xffffffff, EINVAL);
	EXPECT_EQ(raw_create_cq(&ctx, RAW_CQ_SIZE, NULL, 0, &handle, &number), EINVAL);
	vu_free(buf, RAW_CQ_BYTES + PAGE);
	vu_free(ro, RAW_CQ_BYTES);
	victim_gets_on();
}

#define BAD_QP(field, value, err)                                                              \
	do {                                                                                   \
		struct ohca_create_qp_req _req = raw_qp_req(buf, 0);                           \
		int _ret;                                                                      \
		_req.field = (value);                                                          \
		_ret = raw_create_qp(&ctx, pd, q.cq_handle, &_req, sizeof(_req), &handle,      \
				     &number);                                                 \
		if (_ret != (err))                                                             \
			tap_fail(__FILE__, __LINE__, "QP with %s %s: %d, expected %s", #field, \
				 #value, _ret, #err);                                          \
		if (!_ret)                                                                     \
			raw_destroy_qp(&ctx, handle);                                          \
	} while (0)

static void test_qp_abi(const void *arg)
{
	uint8_t *buf = vu_alloc(RAW_QP_BYTES);
	uint32_t handle, number;
	struct raw_qp q;
	int ret;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 0);
	BAD_QP(comp_mask, 1, EOPNOTSUPP);
	BAD_QP(rsvd, 1, EINVAL);
	BAD_QP(slot, OHCA_SHADOW_SLOTS, EINVAL);
	BAD_QP(slot, 0xffffffff, EINVAL);
	BAD_QP(buf_addr, 0, EFAULT);
	BAD_QP(buf_addr, (uintptr_t)buf + 4, EINVAL);
	BAD_QP(buf_size, 0, EINVAL);
	BAD_QP(buf_size, 64, EINVAL);
	BAD_QP(sq_offset, 4, EINVAL);
	BAD_QP(sq_offset, RAW_QP_BYTES, EINVAL);
	BAD_QP(sq_offset, 0xffffffc0, EINVAL);
	BAD_QP(rq_offset, 8, EINVAL);
	BAD_QP(rq_offset, RAW_QP_BYTES - 64, EINVAL);
	BAD_QP(sq_rec_offset, 4, EINVAL);
	BAD_QP(sq_rec_offset, RAW_QP_BYTES, EINVAL);
	BAD_QP(rq_rec_offset, RAW_QP_BYTES - 4, EINVAL);
	BAD_QP(sq_log_size, 0, EINVAL);
	BAD_QP(sq_log_size, 16, EINVAL);
	BAD_QP(sq_log_size, 255, EINVAL);
	BAD_QP(rq_log_size, 31, EINVAL);
	BAD_QP(sq_log_stride, 5, EINVAL);
	BAD_QP(sq_log_stride, 12, EINVAL);
	BAD_QP(sq_log_stride, 6, EINVAL); /* no room for two elements */
	BAD_QP(rq_log_stride, 4, EINVAL);
	BAD_QP(rq_log_stride, 255, EINVAL);
	/* EINVAL of older kernels, ENOENT of newer ones */
	ret = raw_create_qp(&ctx, pd, 0x7777, NULL, 0, &handle, &number);
	EXPECT(ret == EINVAL || ret == ENOENT);
	ret = raw_create_qp(&ctx, 0x7777, q.cq_handle, NULL, 0, &handle, &number);
	EXPECT(ret == EINVAL || ret == ENOENT);
	EXPECT_EQ(raw_create_qp(&ctx, pd, q.cq_handle, NULL, 0, &handle, &number), EINVAL);
	raw_qp_destroy(&q);
	vu_free(buf, RAW_QP_BYTES);
	victim_gets_on();
}

/* Only the two pages of this context can be mapped, one page each. */
static void test_mmap(const void *arg)
{
	uint64_t ok[] = {ctx.uctx.uar_offset, ctx.uctx.shadow_offset};
	uint64_t off;
	void *p;

	(void)arg;
	for (off = 0; off < 64 * PAGE; off += PAGE) {
		p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ctx.fd, off);
		if (off == ok[0] || (ctx.shadow && off == ok[1])) {
			if (p != MAP_FAILED)
				munmap(p, PAGE);
			continue;
		}
		EXPECT(p == MAP_FAILED);
	}
	EXPECT(mmap(NULL, 2 * PAGE, PROT_WRITE, MAP_SHARED, ctx.fd, ok[0]) == MAP_FAILED);
	EXPECT(mmap(NULL, 2 * PAGE, PROT_WRITE, MAP_SHARED, ctx.fd, ok[1]) == MAP_FAILED);
	EXPECT(mmap(NULL, PAGE, PROT_WRITE, MAP_PRIVATE, ctx.fd, ok[0]) == MAP_FAILED);
	EXPECT(mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, ctx.fd, 1ULL << 40) == MAP_FAILED);
	victim_gets_on();
}

/* A producer index that jumps */
static void test_index_jumps(const void *arg)
{
	static const uint32_t jumps[] = {RAW_SIZE + 1, 0x80000000, 0xffffffff, 1000};
	struct ohca_cqe cqe;
	struct raw_qp q;
	unsigned int i;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 3);
	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		connect_self(&q);
		raw_ring(&q, jumps[i]);
		EXPECT_EQ(raw_async(&ctx), IBV_EVENT_QP_FATAL);
	}
	/* backwards, after a valid request */
	connect_self(&q);
	raw_send_wqe(&q)->opcode = OHCA_OP_RDMA_WRITE;
	((struct ohca_sq_wqe *)q.sq)->flags = OHCA_WQE_SIGNALED;
	raw_ring(&q, 1);
	EXPECT(raw_poll(&q, &cqe));
	EXPECT_EQ(cqe.status, OHCA_WC_SUCCESS);
	raw_ring(&q, -1U);
	EXPECT_EQ(raw_async(&ctx), IBV_EVENT_QP_FATAL);
	/* of the receive queue: detected when a packet needs a request */
	connect_self(&q);
	__atomic_store_n(&q.rq_rec->pi, htole32(0x40000000), __ATOMIC_RELEASE);
	raw_send_wqe(&q)->opcode = OHCA_OP_SEND;
	raw_ring(&q, 1);
	EXPECT_EQ(raw_async(&ctx), IBV_EVENT_QP_FATAL);
	raw_qp_destroy(&q);
	victim_gets_on();
}

/* A consumer index that jumps is detected when the ring seems to be full. */
static void test_cq_index_jumps(const void *arg)
{
	struct raw_qp q;
	int i;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 4);
	connect_self(&q);
	__atomic_store_n(&q.cq_rec->ci, htole32(0x12345678), __ATOMIC_RELEASE);
	for (i = 0; i <= (int)RAW_CQ_SIZE; i++) {
		struct ohca_sq_wqe *wqe = raw_send_wqe(&q);

		wqe->opcode = OHCA_OP_RDMA_WRITE;
		wqe->flags = OHCA_WQE_SIGNALED;
		raw_ring(&q, 1);
		/* no more entries are outstanding than the ring has */
		if (i < (int)RAW_CQ_SIZE && !EXPECT(raw_completed(&q, i)))
			break;
	}
	EXPECT_EQ(raw_async(&ctx), IBV_EVENT_CQ_ERR);
	raw_qp_destroy(&q);
	victim_gets_on();
}

/* Programs may use all operations except for the last one, OHCA_OP_REG_MR. */
static bool op_exists(unsigned int op)
{
	return op >= OHCA_OP_SEND && op < OHCA_OP_REG_MR;
}

/* Every operation code. */
static void test_opcodes(const void *arg)
{
	struct ohca_cqe cqe;
	struct raw_qp q;
	unsigned int op;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 5);
	for (op = 0; op < 256; op++) {
		struct ohca_sq_wqe *wqe;

		if (op_exists(op))
			continue;
		connect_self(&q);
		wqe = raw_send_wqe(&q);
		wqe->opcode = op;
		wqe->wr_id = htole64(op);
		raw_ring(&q, 1);
		if (!EXPECT(raw_poll(&q, &cqe)))
			break;
		EXPECT_EQ(cqe.status, OHCA_WC_LOC_QP_OP_ERR);
		EXPECT_EQ(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_WQE_OPCODE);
		EXPECT_EQ(le64toh(cqe.wr_id), op);
		EXPECT_EQ(le32toh(cqe.qpn), q.qpn);
	}
	raw_qp_destroy(&q);
	victim_gets_on();
}

struct bad_wqe {
	uint8_t opcode, flags;
	uint16_t num_sge;
	uint8_t status;
	uint8_t vendor_err;
};

static void test_bad_wqes(const void *arg)
{
	static const struct bad_wqe cases[] = {
		{OHCA_OP_SEND, 0, 15, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE},
		{OHCA_OP_RDMA_WRITE, 0, 0xffff, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE},
		{OHCA_OP_RDMA_READ, 0, 100, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE},
		{OHCA_OP_RDMA_WRITE, OHCA_WQE_INLINE, 1000, OHCA_WC_LOC_QP_OP_ERR,
		 OHCA_VENDOR_ERR_WQE_SGE},
		{OHCA_OP_RDMA_WRITE, OHCA_WQE_INLINE, 0xffff, OHCA_WC_LOC_QP_OP_ERR,
		 OHCA_VENDOR_ERR_WQE_SGE},
		{OHCA_OP_RDMA_READ, OHCA_WQE_INLINE, 8, OHCA_WC_LOC_QP_OP_ERR,
		 OHCA_VENDOR_ERR_WQE_OPCODE},
		{OHCA_OP_RDMA_WRITE, 0xe0, 0, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE},
		{OHCA_OP_SEND, OHCA_WQE_CSUM, 0, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE},
	};
	struct ohca_cqe cqe;
	struct raw_qp q;
	unsigned int i;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 6);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ohca_sq_wqe *wqe;

		connect_self(&q);
		wqe = raw_send_wqe(&q);
		wqe->opcode = cases[i].opcode;
		wqe->flags = cases[i].flags;
		wqe->num_sge = htole16(cases[i].num_sge);
		raw_ring(&q, 1);
		if (!EXPECT(raw_poll(&q, &cqe)))
			break;
		if (cqe.status != cases[i].status || le32toh(cqe.vendor_err) != cases[i].vendor_err)
			tap_fail(__FILE__, __LINE__, "case %u: status %u, vendor_err %u", i,
				 cqe.status, le32toh(cqe.vendor_err));
	}
	raw_qp_destroy(&q);
	victim_gets_on();
}

/* Random bytes as work requests, on QPs whose keys and neighbours exist: all requests end. */
static void test_garbage(const void *arg)
{
	uint8_t *mem = vu_alloc(16 * PAGE);
	uint32_t handle, key;
	uint64_t state = 1;
	struct ohca_cqe cqe;
	struct raw_qp q;
	unsigned int round, i;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 7);
	EXPECT_EQ(raw_reg_mr(&ctx, pd, mem, 16 * PAGE, &handle, &key), 0);
	for (round = 0; round < 400; round++) {
		struct ohca_sq_wqe *wqe;

		connect_self(&q);
		for (i = 0; i < RAW_SIZE * RAW_RQ_STRIDE; i++)
			q.rq[i] = vu_rand(&state);
		/* as many as the CQ has room for, beside the two requests below */
		__atomic_store_n(&q.rq_rec->pi, htole32(RAW_SIZE - 2), __ATOMIC_RELEASE);
		wqe = raw_send_wqe(&q);
		for (i = 0; i < RAW_SQ_STRIDE; i++)
			((uint8_t *)wqe)[i] = vu_rand(&state);
		/* often almost valid */
		if (round % 2) {
			wqe->opcode = round % 8;
			wqe->num_sge &= htole16(3);
			wqe->sge[0].lkey = htole32(key);
			wqe->rdma.rkey = htole32(key);
			wqe->rdma.raddr = htole64((uintptr_t)mem + vu_rand(&state) % (20 * PAGE));
			wqe->sge[0].addr = htole64((uintptr_t)mem + vu_rand(&state) % (20 * PAGE));
		}
		wqe->flags = round % 4 < 2 ? OHCA_WQE_SIGNALED : vu_rand(&state);
		raw_ring(&q, 1);
		/* the request may be unsignalled and successful: add one that is neither */
		wqe = raw_send_wqe(&q);
		wqe->opcode = 0xff;
		raw_ring(&q, 1);
		do {
			if (!EXPECT(raw_poll(&q, &cqe)))
				goto out;
		} while (cqe.flags & OHCA_CQE_F_RQ || le32toh(cqe.wqe_idx) != 1);
		EXPECT(cqe.status == OHCA_WC_LOC_QP_OP_ERR || cqe.status == OHCA_WC_WR_FLUSH_ERR);
		/* the rest of the receive queue is flushed into the CQ: continue with a new QP */
		raw_qp_destroy(&q);
		raw_qp_create(&ctx, pd, &q, 7);
	}
out:
	raw_qp_destroy(&q);
	vu_free(mem, 16 * PAGE);
	victim_gets_on();
}

/* Rings and records that overlap, and a QP in the memory of a CQ. */
static void test_overlap(const void *arg)
{
	struct ohca_create_qp_req req;
	struct raw_qp q, over;
	int i;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 8);
	over = q;
	/*
	 * a QP all of whose parts are the CQ's ring, which the device writes while it reads
	 * requests from it
	 */
	req = raw_qp_req(q.cq_buf, 9);
	req.buf_size = PAGE;
	req.sq_offset = req.rq_offset = 0;
	req.sq_rec_offset = req.rq_rec_offset = 64;
	if (EXPECT_EQ(raw_create_qp(&ctx, pd, q.cq_handle, &req, sizeof(req), &over.qp_handle,
				    &over.qpn),
		      0)) {
		over.slot = 9;
		over.sq = over.rq = q.cq_buf;
		over.sq_rec = over.rq_rec = (struct ohca_wq_rec *)(q.cq_buf + 64);
		connect_self(&q);
		EXPECT_EQ(raw_qp_connect(&over, over.qpn, dev.gid.raw, dev.gid_index), 0);
		for (i = 0; i < 40; i++) {
			struct ohca_sq_wqe *wqe = raw_send_wqe(&q);

			wqe->opcode = OHCA_OP_RDMA_WRITE;
			wqe->flags = OHCA_WQE_SIGNALED;
			raw_ring(&q, 1);
			raw_ring(&over, 1);
		}
		victim_gets_on();
		EXPECT_EQ(raw_destroy_qp(&ctx, over.qp_handle), 0);
	}
	raw_qp_destroy(&q);
	victim_gets_on();
}

/* Doorbells for queues of others, at every offset of the doorbell page, with every width. */
static void test_doorbells(const void *arg)
{
	uint64_t state = 2;
	unsigned int i;

	(void)arg;
	for (i = 0; i < 600; i++) {
		uint32_t qpn = i < 300 ? i : vu_rand(&state) & 0xffffff;

		*(volatile uint64_t *)(ctx.uar + OHCA_UAR_SQ_DB) =
			htole64((uint64_t)qpn << OHCA_SQ_DB_QPN_SHIFT | (uint32_t)vu_rand(&state));
	}
	for (i = 0; i < PAGE; i += 8) {
		*(volatile uint64_t *)(ctx.uar + i) = ~0ULL;
		*(volatile uint32_t *)(ctx.uar + i) = ~0U;
		*(volatile uint8_t *)(ctx.uar + i + 1) = 0xff;
	}
	victim_gets_on();
}

static void *scribbler(void *arg)
{
	volatile int *stop = arg;
	uint64_t state = 3;
	uint64_t *words = (uint64_t *)ctx.shadow;

	while (!*stop) {
		unsigned int i = vu_rand(&state) % (PAGE / 8);

		__atomic_store_n(&words[i], vu_rand(&state) % 3 ? ~0ULL : vu_rand(&state),
				 __ATOMIC_RELAXED);
		if (i == 5)
			*(volatile uint32_t *)(ctx.uar + OHCA_UAR_WAKE) = 1;
	}
	return NULL;
}

/* All dirty bits set all the time, and random values in the rest of the page. */
static void test_shadow(const void *arg)
{
	volatile int stop = 0;
	pthread_t thread;
	struct raw_qp q;

	(void)arg;
	if (!ctx.shadow) {
		tap_skip("no shadow page");
		return;
	}
	raw_qp_create(&ctx, pd, &q, 4500);
	connect_self(&q);
	memset(ctx.shadow, 0xff, PAGE);
	*(volatile uint32_t *)(ctx.uar + OHCA_UAR_WAKE) = 1;
	victim_gets_on();
	EXPECT_EQ(pthread_create(&thread, NULL, scribbler, (void *)&stop), 0);
	victim_gets_on();
	victim_gets_on();
	stop = 1;
	pthread_join(thread, NULL);
	memset(ctx.shadow, 0, PAGE);
	raw_qp_destroy(&q);
	victim_gets_on();
}

/*
 * The process unmaps the memory of its queues while they are in use: the queues keep the pages
 * until they are destroyed.
 */
static void test_unmapped_queues(const void *arg)
{
	struct raw_qp q;
	int i;

	(void)arg;
	raw_qp_create(&ctx, pd, &q, 10);
	connect_self(&q);
	for (i = 0; i < 8; i++) {
		struct ohca_sq_wqe *wqe = raw_send_wqe(&q);

		wqe->opcode = OHCA_OP_RDMA_WRITE;
		wqe->flags = OHCA_WQE_SIGNALED;
		raw_ring(&q, 1);
	}
	vu_free(q.cq_buf, RAW_CQ_BYTES);
	vu_free(q.buf, RAW_QP_BYTES);
	raw_doorbell(&q);
	victim_gets_on();
	EXPECT_EQ(raw_destroy_qp(&ctx, q.qp_handle), 0);
	EXPECT_EQ(raw_destroy_cq(&ctx, q.cq_handle), 0);
	victim_gets_on();
}

/* The context is closed with all its objects. */
static void test_close(const void *arg)
{
	struct raw_ctx other;
	uint32_t other_pd;
	struct raw_qp q;
	int i;

	(void)arg;
	for (i = 0; i < 20; i++) {
		struct ohca_sq_wqe *wqe;

		raw_open(&other);
		EXPECT_EQ(raw_alloc_pd(&other, &other_pd), 0);
		raw_qp_create(&other, other_pd, &q, i);
		connect_self(&q);
		wqe = raw_send_wqe(&q);
		wqe->opcode = OHCA_OP_RDMA_WRITE;
		raw_ring(&q, 1);
		raw_close(&other);
		vu_free(q.cq_buf, RAW_CQ_BYTES);
		vu_free(q.buf, RAW_QP_BYTES);
	}
	victim_gets_on();
}

static void test_victim(const void *arg)
{
	int status;

	(void)arg;
	victim->stop = 1;
	EXPECT_EQ(waitpid(victim_pid, &status, 0), victim_pid);
	EXPECT(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 0);
}

static const struct tap_test tests[] = {
	{"contexts with bad requests", test_context_abi, NULL},
	{"CQs with bad requests", test_cq_abi, NULL},
	{"QPs with bad requests", test_qp_abi, NULL},
	{"mmap of what is not there", test_mmap, NULL},
	{"producer indices that jump", test_index_jumps, NULL},
	{"a consumer index that jumps", test_cq_index_jumps, NULL},
	{"every operation code", test_opcodes, NULL},
	{"work requests with bad fields", test_bad_wqes, NULL},
	{"random bytes as work requests", test_garbage, NULL},
	{"queues that overlap", test_overlap, NULL},
	{"doorbells of others", test_doorbells, NULL},
	{"a shadow page full of anything", test_shadow, NULL},
	{"queues whose memory was unmapped", test_unmapped_queues, NULL},
	{"contexts closed in use", test_close, NULL},
	{"the victim's traffic was right all the time", test_victim, NULL},
};

int main(void)
{
	const char *name = vu_device_name();
	int status;

	if (!name || strncmp(name, "ohca", 4))
		tap_skip_all("needs an OHCA");
	start_victim();
	vu_open(&dev);
	raw_open(&ctx);
	if (raw_alloc_pd(&ctx, &pd))
		tap_bail("no PD");
	status = tap_run(tests, ARRAY_SIZE(tests));
	raw_close(&ctx);
	return status;
}
