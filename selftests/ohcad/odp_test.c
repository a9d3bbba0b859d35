// SPDX-License-Identifier: GPL-2.0
/* Accesses to pages that are missing: they wait, go on, fail, or go away. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "mkey.h"
#include "pair.h"
#include "rig_odp.h"
#include "rig_srq.h"
#include "rnd.h"

#define ACCESS (RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC)
#define PAGE 4096ULL
#define PAGES (p.ma->num_pages)

static struct pair p;

static void up_with(const struct rig_qp_opts *opts)
{
	p = pair_new(server, opts);
	p.a->attr.timeout = 1; /* 8 us */
	p.a->attr.retry_cnt = 0;
	p.a->attr.rnr_retry = 0;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
	link_tells = true;
}

static int up(void **state)
{
	(void)state;
	up_with(NULL);
	return 0;
}

static int down(void **state)
{
	(void)state;
	link_capture = NULL;
	link_tells = false;
	rig_close(p.rig);
	return 0;
}

static uint64_t page_of(const struct rig_mr *mr, uint64_t addr)
{
	return (addr - mr->iova + mr->iova % PAGE) / PAGE;
}

static void assert_no_fault(struct rig_hca *hca)
{
	struct rig_fault f;

	inproc_settle();
	assert_false(rig_fault_poll(hca, &f));
}

/* The next fault, which is about @len bytes of @mr from @addr on. */
static struct rig_fault take_fault(struct rig_mr *mr, uint64_t addr, uint64_t len, bool write)
{
	struct rig_fault f;

	inproc_settle();
	assert_true(rig_fault_poll(mr->hca, &f));
	assert_int_equal(f.key, mr->key);
	assert_int_equal(f.first, page_of(mr, addr));
	assert_int_equal(f.num, page_of(mr, addr + len - 1) - f.first + 1);
	assert_int_equal(f.write, write);
	return f;
}

static void serve_fault(struct rig_mr *mr, const struct rig_fault *f)
{
	assert_int_equal(rig_odp_map(mr, f->first, f->num, f->write), OHCA_CMD_OK);
}

static void nothing_completes(void)
{
	struct ohca_cqe cqe;

	inproc_settle();
	assert_false(drv_cq_poll(p.a->scq, &cqe));
	assert_false(drv_cq_poll(p.b->rcq, &cqe));
}

/* As software does: pages for all who ask.  Returns how many have. */
static unsigned int serve(void)
{
	struct rig_mr *mr[] = {p.ma, p.mb};
	unsigned int num = 0, i;
	struct rig_fault f;

	for (i = 0; i < 2; i++) {
		while (rig_fault_poll(mr[i]->hca, &f)) {
			assert_int_equal(f.key, mr[i]->key);
			serve_fault(mr[i], &f);
			num++;
		}
	}
	return num;
}

/* The same until nobody asks any more. */
static unsigned int serve_all(void)
{
	unsigned int num = 0, more;

	do {
		inproc_settle();
		more = serve();
		num += more;
	} while (more);
	return num;
}

/* Many ACK timeouts. */
static void let_time_pass(void)
{
	struct loop *loop = inproc_hca(0)->loop;
	uint64_t end = loop_now(loop) + 40 * (4096ULL << 1);

	while (loop_now(loop) < end)
		inproc_step();
}

/* The work request of @op: @len bytes between @src at @p.a and @dst at @p.b. */
static void post(uint8_t op, uint64_t addr, uint32_t len, uint64_t raddr)
{
	struct ohca_sge sge = rig_sge(p.ma, addr, len);
	struct ohca_sq_wqe fields = {.rdma = {.compare_add = htole64(1), .swap = htole64(7)}};
	struct rig_wr wr = {
		.wr_id = op,
		.opcode = op,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.raddr = raddr,
		.rkey = p.mb->key,
	};

	fields.rdma.raddr = htole64(raddr);
	fields.rdma.rkey = htole32(p.mb->key);
	if (op >= OHCA_OP_CMP_SWAP && op <= OHCA_OP_ATOMIC_WRITE)
		wr.fields = &fields;
	rig_post_send(p.a, &wr);
}

static void post_recv(uint64_t addr, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.mb, addr, len);

	rig_post_recv(p.b, 5, &sge, 1);
}

static void assert_send(enum ohca_wc_status status, uint32_t vendor_err)
{
	struct ohca_cqe cqe = rig_wait_send(p.a);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
}

static void assert_recv(enum ohca_wc_status status, uint32_t vendor_err)
{
	struct ohca_cqe cqe = rig_wait_recv(p.b);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
	assert_int_equal(le64toh(cqe.wr_id), 5);
}

static bool local_writes(uint8_t op)
{
	return op >= OHCA_OP_RDMA_READ && op <= OHCA_OP_MASKED_FETCH_ADD;
}

static const uint8_t ops[] = {OHCA_OP_SEND,	      OHCA_OP_SEND_IMM,	   OHCA_OP_RDMA_WRITE,
			      OHCA_OP_RDMA_WRITE_IMM, OHCA_OP_RDMA_READ,   OHCA_OP_FETCH_ADD,
			      OHCA_OP_CMP_SWAP,	      OHCA_OP_ATOMIC_WRITE};

/* Both are shortly before the end of a page. */
#define SRC (PAIR_IOVA + 0x2ec0)
#define DST (PAIR_IOVA + 0x5ee0)

static uint64_t word_at(struct rig_mr *mr, uint64_t addr)
{
	uint64_t value;

	rig_mr_get(mr, addr, &value, 8);
	return value;
}

/* The memory of @op before, and after it. */
static void prepare(uint8_t op, uint32_t len, uint32_t seed)
{
	uint64_t zero = 0;

	rig_mr_fill(p.ma, SRC, len, op == OHCA_OP_RDMA_READ ? ~seed : seed);
	rig_mr_fill(p.mb, DST, len, op == OHCA_OP_RDMA_READ ? seed : ~seed);
	if (op == OHCA_OP_CMP_SWAP || op == OHCA_OP_FETCH_ADD)
		rig_mr_set(p.mb, DST, &zero, 8);
}

static void assert_done(uint8_t op, uint32_t len, uint32_t seed)
{
	if (op == OHCA_OP_FETCH_ADD || op == OHCA_OP_CMP_SWAP) {
		assert_int_equal(word_at(p.ma, SRC), 0);
		assert_int_equal(word_at(p.mb, DST), op == OHCA_OP_FETCH_ADD ? 1 : 0);
	} else {
		assert_true(op == OHCA_OP_RDMA_READ ? rig_mr_is(p.ma, SRC, len, seed)
						    : rig_mr_is(p.mb, DST, len, seed));
	}
}

static bool one_word(uint8_t op)
{
	return op >= OHCA_OP_CMP_SWAP && op <= OHCA_OP_ATOMIC_WRITE;
}

/* Each side misses its pages: it asks once, and waits. */
static void check_op(uint8_t op, uint32_t len, bool at_b, uint32_t seed)
{
	struct rig_mr *mr = at_b ? p.mb : p.ma;
	bool write = at_b ? op != OHCA_OP_RDMA_READ : local_writes(op);
	uint32_t trains = (len + PKT_MAX_LEN - 1) / PKT_MAX_LEN;
	struct rig_fault f;

	rig_odp(mr, ACCESS);
	prepare(op, len, seed);
	if (op_receives(op))
		post_recv(DST, len);
	post(op, SRC, len, DST);
	if (at_b && trains > 1 && (op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM)) {
		/* The receiver does not know how long it is. */
		assert_int_equal(serve_all(), trains);
	} else {
		f = take_fault(mr, at_b ? DST : SRC, len, write);
		let_time_pass();
		nothing_completes();
		assert_no_fault(mr->hca);
		serve_fault(mr, &f);
	}
	if (op_receives(op))
		assert_recv(OHCA_WC_SUCCESS, 0);
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_done(op, len, seed);
	assert_no_fault(p.a->hca);
	assert_no_fault(p.b->hca);
	assert_int_equal(rig_odp_map(mr, 0, PAGES, true), OHCA_CMD_OK);
}

/* retry_cnt and rnr_retry are 0, and the timer runs: none of it counts. */
static void test_ops(void **state)
{
	static const uint32_t sizes[] = {8, 300, 70000, 1000000};
	unsigned int i, s, side;
	uint32_t seed = 1;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (s = 0; s < (one_word(ops[i]) ? 1 : ARRAY_SIZE(sizes)); s++) {
			for (side = 0; side < 2; side++)
				check_op(ops[i], sizes[s], side, seed++);
		}
	}
}

/* A page may be there to be read, and missing to who writes. */
static void test_read_only(void **state)
{
	struct rig_fault f;

	(void)state;
	rig_odp(p.ma, ACCESS);
	rig_odp(p.mb, ACCESS);
	assert_int_equal(rig_odp_map(p.ma, 0, 10, false), OHCA_CMD_OK);
	assert_int_equal(rig_odp_map(p.mb, 0, 10, false), OHCA_CMD_OK);
	post(OHCA_OP_RDMA_WRITE, SRC, 8, DST);
	f = take_fault(p.mb, DST, 8, true);
	/* Again, and still not to be written. */
	assert_int_equal(rig_odp_map(p.mb, f.first, 1, false), OHCA_CMD_OK);
	f = take_fault(p.mb, DST, 8, true);
	nothing_completes();
	serve_fault(p.mb, &f);
	assert_send(OHCA_WC_SUCCESS, 0);
	post(OHCA_OP_RDMA_READ, SRC, 8, DST);
	f = take_fault(p.ma, SRC, 8, true);
	serve_fault(p.ma, &f);
	assert_send(OHCA_WC_SUCCESS, 0);
	/* What may be written may be read; what was may be no more. */
	assert_int_equal(rig_odp_map(p.ma, f.first, 1, false), OHCA_CMD_OK);
	post(OHCA_OP_RDMA_READ, SRC, 8, DST);
	f = take_fault(p.ma, SRC, 8, true);
	serve_fault(p.ma, &f);
	assert_send(OHCA_WC_SUCCESS, 0);
}

/* Pages go while a message is under way, again and again; each time the pages are others. */
static void test_unmap(void **state)
{
	uint32_t len = 1500000, seed;
	unsigned int i, rounds;
	struct ohca_cqe cqe;

	(void)state;
	rig_odp(p.ma, ACCESS);
	rig_odp(p.mb, ACCESS);
	for (i = 0; i < 3 * PAIR_OPS; i++) {
		uint8_t op = pair_all_ops[i % PAIR_OPS];

		seed = 100 + i;
		prepare(op, len, seed);
		if (op_receives(op))
			post_recv(DST, len);
		post(op, SRC, len, DST);
		for (rounds = 0; !drv_cq_poll(p.a->scq, &cqe); rounds++) {
			serve();
			inproc_step();
			if (rounds > 100 || rounds % 3)
				continue;
			if (i & 1)
				assert_int_equal(rig_odp_unmap(p.ma, 0, PAGES), OHCA_CMD_OK);
			assert_int_equal(rig_odp_unmap(p.mb, 0, PAGES), OHCA_CMD_OK);
		}
		drv_cq_ack(p.a->scq);
		assert_true(rounds > 3);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		if (op_receives(op))
			assert_recv(OHCA_WC_SUCCESS, 0);
		assert_done(op, len, seed);
		assert_int_equal(rig_odp_unmap(p.ma, 0, PAGES), OHCA_CMD_OK);
		assert_int_equal(rig_odp_unmap(p.mb, 0, PAGES), OHCA_CMD_OK);
		/* Nobody has written there since. */
		inproc_settle();
	}
}

static void reconnect(void)
{
	struct ohca_cqe cqe;

	rig_to_reset(p.a);
	rig_to_reset(p.b);
	while (drv_cq_poll(p.a->scq, &cqe) || drv_cq_poll(p.b->rcq, &cqe))
		;
	drv_cq_ack(p.a->scq);
	drv_cq_ack(p.b->rcq);
	rig_connect(p.a, p.b);
}

/* Begin @op, and wait until it misses a page of @mr. */
static struct rig_fault miss(uint8_t op, uint32_t len, struct rig_mr *mr)
{
	struct rig_fault f;

	if (op_receives(op))
		post_recv(DST, len);
	post(op, SRC, len, DST);
	inproc_settle();
	assert_true(rig_fault_poll(mr->hca, &f));
	assert_int_equal(f.key, mr->key);
	return f;
}

/* Software refuses: the statuses of memory that is not there. */
static void test_fail(void **state)
{
	unsigned int i, side;
	struct rig_fault f;

	(void)state;
	for (i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		uint8_t op = ops[i / 2];
		bool send = op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM;
		struct rig_mr *mr;

		side = i % 2;
		mr = side ? p.mb : p.ma;
		rig_odp(mr, ACCESS);
		f = miss(op, 8, mr);
		/* Another page is none of its business. */
		assert_int_equal(rig_odp_fail(mr, f.first + 1, 10), OHCA_CMD_OK);
		assert_int_equal(rig_odp_fail(mr, 0, f.first), OHCA_CMD_OK);
		nothing_completes();
		assert_no_fault(mr->hca);
		assert_int_equal(rig_odp_fail(mr, f.first, 1), OHCA_CMD_OK);
		if (side)
			assert_send(OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK);
		else
			assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
		if (side && op_receives(op))
			assert_recv(send ? OHCA_WC_LOC_PROT_ERR : OHCA_WC_LOC_ACCESS_ERR,
				    OHCA_VENDOR_ERR_DMA);
		if (side && !send)
			rig_wait_event(p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, p.b->qpn);
		reconnect();
		/* The key is as it was. */
		assert_int_equal(rig_odp_map(mr, 0, 20, true), OHCA_CMD_OK);
		if (op_receives(op))
			post_recv(DST, 8);
		post(op, SRC, 8, DST);
		assert_send(OHCA_WC_SUCCESS, 0);
		if (op_receives(op))
			assert_recv(OHCA_WC_SUCCESS, 0);
	}
}

static void pass_nothing(struct qp *src, const struct pkt *pkt)
{
	(void)src;
	(void)pkt;
}

/* A page that comes after the refusal, before the access is tried again, is used. */
static void test_fail_then_map(void **state)
{
	struct qp *qa = inproc_qp(p.a);
	struct rig_fault f;

	(void)state;
	rig_odp(p.mb, ACCESS);
	f = miss(OHCA_OP_RDMA_WRITE, 8, p.mb);
	link_capture = pass_nothing;
	qa->attr.timeout = 10;
	qa->req.retry_left = 7;
	assert_int_equal(rig_odp_fail(p.mb, f.first, 1), OHCA_CMD_OK);
	inproc_settle();
	serve_fault(p.mb, &f);
	/* It asked for the packet in vain; the sender finds out by itself. */
	link_capture = NULL;
	assert_send(OHCA_WC_SUCCESS, 0);
	/* What was refused then is asked for now. */
	assert_int_equal(rig_odp_unmap(p.mb, 0, PAGES), OHCA_CMD_OK);
	f = miss(OHCA_OP_RDMA_WRITE, 8, p.mb);
	serve_fault(p.mb, &f);
	assert_send(OHCA_WC_SUCCESS, 0);
}

/* The key goes. */
static void test_key_destroyed(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		uint8_t op = ops[i / 2];
		bool send = op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM;
		struct rig_mr *mr = i % 2 ? p.mb : p.ma;

		rig_odp(mr, ACCESS);
		miss(op, 8, mr);
		assert_int_equal(rig_mr_destroy(mr), OHCA_CMD_OK);
		if (i % 2 == 0)
			assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
		else
			assert_send(send ? OHCA_WC_REM_OP_ERR : OHCA_WC_REM_ACCESS_ERR,
				    OHCA_VENDOR_ERR_NAK);
		if (i % 2 && op_receives(op))
			assert_recv(send ? OHCA_WC_LOC_PROT_ERR : OHCA_WC_LOC_ACCESS_ERR,
				    OHCA_VENDOR_ERR_KEY);
		assert_no_fault(mr->hca);
		reconnect();
		rig_odp(mr, ACCESS);
		assert_int_equal(rig_odp_map(mr, 0, 20, true), OHCA_CMD_OK);
	}
}

/* The QP that waits goes away, one way or the other. */
static void test_qp_gone(void **state)
{
	unsigned int i, side, how;
	struct rig_fault f;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (side = 0; side < 2; side++) {
			for (how = 0; how < 3; how++) {
				struct rig_mr *mr = side ? p.mb : p.ma;
				struct rig_qp *qp = side ? p.b : p.a;

				rig_odp(mr, ACCESS);
				f = miss(ops[i], 8, mr);
				if (how == 0)
					assert_int_equal(rig_qp_destroy(qp), OHCA_CMD_OK);
				else if (how == 1)
					rig_to_reset(qp);
				else
					assert_int_equal(rig_modify(qp, OHCA_QPS_ERR,
								    OHCA_QP_STATE),
							 OHCA_CMD_OK);
				serve_fault(mr, &f);
				inproc_settle();
				assert_int_equal(rig_mr_destroy(mr), OHCA_CMD_OK);
				rig_close(p.rig);
				up_with(NULL);
			}
		}
	}
}

/* A function that is reset while accesses wait. */
static void test_reset(void **state)
{
	(void)state;
	rig_odp(p.ma, ACCESS);
	miss(OHCA_OP_SEND, 8, p.ma);
	drv_reset(p.a->hca->drv);
	rig_odp(p.mb, ACCESS);
	inproc_settle();
	drv_reset(p.b->hca->drv);
	inproc_settle();
}

/* Two QPs want one page; one of them goes on, and the other, when it is there. */
static void test_two_wait(void **state)
{
	struct rig_qp *a2 = rig_qp_new(p.a->hca, NULL), *b2 = rig_qp_new(p.b->hca, NULL);
	struct rig_qp *a1 = p.a;
	struct rig_fault f;

	(void)state;
	rig_connect(a2, b2);
	rig_odp(p.mb, ACCESS);
	post(OHCA_OP_RDMA_WRITE, SRC, 8, DST);
	take_fault(p.mb, DST, 8, true);
	p.a = a2;
	post(OHCA_OP_RDMA_WRITE, SRC, 20000, DST - 8192);
	f = take_fault(p.mb, DST - 8192, 20000, true);
	/* Not the first page: it still waits for that. */
	assert_int_equal(rig_odp_map(p.mb, f.first + 1, f.num - 1, true), OHCA_CMD_OK);
	assert_no_fault(p.b->hca);
	nothing_completes();
	p.a = a1;
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_int_equal(rig_odp_map(p.mb, f.first, 1, true), OHCA_CMD_OK);
	p.a = a2;
	assert_send(OHCA_WC_SUCCESS, 0);
	p.a = a1;
}

/* What was lost before the sender began to wait is found out after that, and counted once. */
static void test_lost_before(void **state)
{
	struct qp *qa = inproc_qp(p.a);
	struct rig_fault f;

	(void)state;
	qa->req.retry_left = 1;
	rig_odp(p.ma, ACCESS);
	assert_int_equal(rig_odp_map(p.ma, 0, 1, false), OHCA_CMD_OK);
	link_capture = pass_nothing;
	post(OHCA_OP_RDMA_WRITE, PAIR_IOVA, 8, DST);
	post(OHCA_OP_RDMA_WRITE, SRC, 8, DST + 8);
	f = take_fault(p.ma, SRC, 8, false);
	let_time_pass();
	nothing_completes();
	assert_int_equal(qa->req.retry_left, 1);
	/* Nor does it take turns meanwhile. */
	assert_true(list_empty(&qa->run));
	link_capture = NULL;
	serve_fault(p.ma, &f);
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_send(OHCA_WC_SUCCESS, 0);
}

static void port_changes(struct rig_hca *hca, unsigned int num)
{
	struct ohca_modify_port_in in = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	unsigned int i;

	for (i = 0; i < num; i++) {
		in.admin_up = i & 1;
		assert_int_equal(drv_cmd(hca->drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
				 OHCA_CMD_OK);
	}
}

/* Faults of two QPs while the event queue is full: both are told of when there is room. */
static void test_eq_full(void **state)
{
	struct rig_qp *a2 = rig_qp_new(p.a->hca, NULL), *b2 = rig_qp_new(p.b->hca, NULL);
	struct rig_qp *a1 = p.a;
	struct rig_fault f;

	(void)state;
	rig_connect(a2, b2);
	rig_odp(p.ma, ACCESS);
	/* Both queues hold 256. */
	port_changes(p.a->hca, 300);
	post(OHCA_OP_RDMA_WRITE, SRC, 8, DST);
	p.a = a2;
	post(OHCA_OP_RDMA_WRITE, SRC + 8192, 8, DST);
	inproc_settle();
	/* The first of them goes away before it was told. */
	assert_int_equal(rig_modify(a1, OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	f = (struct rig_fault){0};
	while (!rig_fault_poll(p.ma->hca, &f))
		inproc_step();
	assert_int_equal(f.first, page_of(p.ma, SRC + 8192));
	assert_int_equal(f.num, 1);
	serve_fault(p.ma, &f);
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_no_fault(p.ma->hca);
	p.a = a1;
	/* Nor is a key that is destroyed meanwhile. */
	reconnect();
	port_changes(p.a->hca, 300);
	post(OHCA_OP_RDMA_WRITE, SRC, 8, DST);
	inproc_settle();
	assert_int_equal(rig_mr_destroy(p.ma), OHCA_CMD_OK);
	assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
	assert_no_fault(p.a->hca);
}

static struct rig_mr *unmap_at_response;

/* The place of a response is gone when it comes, once. */
static void lose_place(struct qp *src, const struct pkt *pkt)
{
	struct rig_mr *mr = unmap_at_response;

	if (mr && pkt_is_response(pkt->op) && pkt->op != PKT_ACK) {
		unmap_at_response = NULL;
		odp_unmap(mkey_find(inproc_hca(0), mr->key)->odp, 0, PAGES);
	}
	__real_link_send(src, pkt);
}

static void test_response_misses(void **state)
{
	unsigned int i;

	(void)state;
	rig_odp(p.ma, ACCESS);
	rig_odp(p.mb, ACCESS);
	assert_int_equal(rig_odp_map(p.mb, 0, PAGES, true), OHCA_CMD_OK);
	link_capture = lose_place;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		uint32_t len = one_word(ops[i]) ? 8 : 300000;
		struct rig_fault f;

		if (!local_writes(ops[i]))
			continue;
		assert_int_equal(rig_odp_map(p.ma, 0, PAGES, true), OHCA_CMD_OK);
		prepare(ops[i], len, i);
		unmap_at_response = p.ma;
		/* What comes after it goes too, once. */
		post(ops[i], SRC, len, DST);
		post(OHCA_OP_FETCH_ADD, SRC + (1 << 20), 8, DST + (1 << 20));
		inproc_settle();
		f = take_fault(p.ma, SRC, len, true);
		nothing_completes();
		serve_fault(p.ma, &f);
		serve_all();
		assert_send(OHCA_WC_SUCCESS, 0);
		assert_done(ops[i], len, i);
		assert_send(OHCA_WC_SUCCESS, 0);
	}
	assert_int_equal(word_at(p.mb, DST + (1 << 20)) - word_at(p.ma, SRC + (1 << 20)), 1);
}

/* A refusal when the response has come. */
static void test_response_fails(void **state)
{
	struct rig_fault f;

	(void)state;
	rig_odp(p.ma, ACCESS);
	link_capture = lose_place;
	assert_int_equal(rig_odp_map(p.ma, 0, PAGES, true), OHCA_CMD_OK);
	unmap_at_response = p.ma;
	post(OHCA_OP_RDMA_READ, SRC, 300000, DST);
	f = take_fault(p.ma, SRC, 300000, true);
	assert_int_equal(rig_odp_fail(p.ma, f.first, 1), OHCA_CMD_OK);
	assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
}

/* A long queue behind a request that waits: all of it arrives, in order, and once. */
static void test_queue_behind(void **state)
{
	uint64_t zero = 0;
	unsigned int i, side;

	(void)state;
	for (side = 0; side < 2; side++) {
		rig_odp(p.ma, ACCESS);
		rig_odp(p.mb, ACCESS);
		assert_int_equal(rig_odp_map(side ? p.ma : p.mb, 0, PAGES, true), OHCA_CMD_OK);
		rig_mr_set(p.mb, DST, &zero, 8);
		for (i = 0; i < 30; i++) {
			post_recv(PAIR_IOVA + 0x100000 + i * PAGE, 64);
			post(i % 2 ? OHCA_OP_SEND : OHCA_OP_FETCH_ADD, SRC, i % 2 ? 64 : 8, DST);
		}
		for (i = 0; i < 30; i++) {
			serve_all();
			assert_send(OHCA_WC_SUCCESS, 0);
			if (i % 2)
				assert_recv(OHCA_WC_SUCCESS, 0);
		}
		assert_int_equal(word_at(p.mb, DST), 15);
		reconnect();
	}
}

/* Receives of a shared queue: the one that was taken is kept. */
static void check_srq(uint8_t type)
{
	uint32_t xrcdn = type == OHCA_QPT_XRC_TGT
				 ? drv_create(p.b->hca->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0)
				 : 0;
	struct rig_srq_opts srq_opts = {.xrcdn = xrcdn, .cqn = xrcdn ? p.b->rcq->cqn : 0};
	struct rig_srq *srq = rig_srq_new(p.b->hca, &srq_opts);
	struct rig_qp_opts opts = {.type = xrcdn ? OHCA_QPT_XRC_INI : OHCA_QPT_RC};
	struct rig_qp *a = rig_qp_new(p.a->hca, &opts), *b;
	struct ohca_sge from = rig_sge(p.ma, SRC, 200000), into[2];
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &from,
			    .srqn = xrcdn ? srq->srqn : 0};
	struct ohca_cqe cqe;
	unsigned int i;

	opts.type = type;
	opts.xrcdn = xrcdn;
	opts.srqn = xrcdn ? 0 : srq->srqn;
	b = rig_qp_new(p.b->hca, &opts);
	rig_connect(a, b);
	rig_odp(p.mb, ACCESS);
	rig_mr_fill(p.ma, SRC, 200000, 5);
	rig_mr_fill(p.mb, DST, 1000000, 6);
	for (i = 0; i < 2; i++) {
		into[i] = rig_sge(p.mb, DST + i * 400000, 200000);
		rig_srq_post(srq, i, &into[i], 1);
	}
	for (i = 0; i < 2; i++) {
		rig_post_send(a, &wr);
		inproc_settle();
		assert_int_equal(le32toh(rig_srq_query(srq).taken), i + 1);
		assert_true(serve_all() > 0);
		cqe = drv_cq_wait(xrcdn ? p.b->rcq : b->rcq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(le64toh(cqe.wr_id), i);
		assert_int_equal(le32toh(cqe.byte_len), 200000);
		assert_int_equal(rig_wait_send(a).status, OHCA_WC_SUCCESS);
		assert_true(rig_mr_is(p.mb, DST + i * 400000, 200000, 5));
	}
	assert_int_equal(le32toh(rig_srq_query(srq).taken), 2);
}

static void test_srq(void **state)
{
	(void)state;
	check_srq(OHCA_QPT_RC);
}

static void test_xrc(void **state)
{
	(void)state;
	check_srq(OHCA_QPT_XRC_TGT);
}

/* A region of a whole address space, used here and there. */
static void test_far_apart(void **state)
{
	static const uint64_t at[] = {0x1000, 0x7f0000000ff0, 0x123456789abcd8, (1ULL << 56) + 8};
	struct ohca_create_mkey_in in = {
		.xlt = {.page_shift = 12},
		.length = htole64(1ULL << OHCA_ODP_MAX_LOG_SIZE),
		.pdn = htole32(p.b->hca->pdn),
		.access = ACCESS,
		.type = OHCA_MKEY_ODP,
	};
	struct rig_mr *mb = p.mb, far = *p.mb;
	struct rig_fault f;
	unsigned int i;
	uint64_t val;

	(void)state;
	far.key = drv_create(p.b->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	p.mb = &far;
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		struct ohca_modify_pages_in map = {.key = htole32(far.key), .num = htole64(1)};

		val = at[i];
		rig_mr_set(p.ma, SRC, &val, 8);
		post(OHCA_OP_RDMA_WRITE, SRC, 8, at[i]);
		inproc_settle();
		assert_true(rig_fault_poll(p.b->hca, &f));
		assert_int_equal(f.first, at[i] >> 12);
		assert_int_equal(f.num, 1);
		map.first = htole64(f.first);
		map.page[0] = htole64(mb->pages[i] | OHCA_PAGE_PRESENT | OHCA_PAGE_WRITE);
		assert_int_equal(drv_cmd(p.b->hca->drv, OHCA_CMD_MODIFY_PAGES, &map,
					 offsetof(struct ohca_modify_pages_in, page) + 8, NULL, 0),
				 OHCA_CMD_OK);
		assert_send(OHCA_WC_SUCCESS, 0);
		memcpy(&val, (uint8_t *)drv_ptr(p.b->hca->drv, mb->pages[i]) + at[i] % PAGE, 8);
		assert_int_equal(val, at[i]);
	}
	/* Beyond its end there is nothing to wait for. */
	post(OHCA_OP_RDMA_WRITE, SRC, 8, (1ULL << OHCA_ODP_MAX_LOG_SIZE) - 4);
	assert_send(OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK);
	p.mb = mb;
}

/* A long message asks for no more pages at once than an event can tell of. */
static void test_long(void **state)
{
	uint32_t len = 20 << 20;
	struct rig_mr *ma = rig_mr_new(p.a->hca, PAIR_IOVA, len, ACCESS, 64);
	struct rig_mr *mb = rig_mr_new(p.b->hca, PAIR_IOVA, len, ACCESS, 64);
	unsigned int i, faults;
	struct ohca_cqe cqe;

	(void)state;
	p.ma = ma;
	p.mb = mb;
	for (i = 0; i < 2; i++) {
		rig_odp(ma, ACCESS);
		rig_odp(mb, ACCESS);
		post(i ? OHCA_OP_RDMA_READ : OHCA_OP_RDMA_WRITE, PAIR_IOVA, len, PAIR_IOVA);
		for (faults = 0; !drv_cq_poll(p.a->scq, &cqe); inproc_step())
			faults += serve();
		drv_cq_ack(p.a->scq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(faults, 6);
	}
}

/* A page that is mapped to where there is no memory is not one to wait for. */
static void test_nowhere(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		uint8_t op = ops[i / 2];
		struct rig_mr *mr = i % 2 ? p.mb : p.ma, copy = *mr;
		uint64_t nowhere[20];
		unsigned int j;

		for (j = 0; j < 20; j++)
			nowhere[j] = DRV_NOWHERE;
		rig_odp(mr, ACCESS);
		copy.key = mr->key;
		copy.pages = nowhere;
		assert_int_equal(rig_odp_map(&copy, 0, 20, true), OHCA_CMD_OK);
		if (op_receives(op))
			post_recv(DST, 8);
		post(op, SRC, 8, DST);
		if (i % 2)
			assert_send(OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK);
		else
			assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
		assert_no_fault(mr->hca);
		reconnect();
		assert_int_equal(rig_odp_map(mr, 0, 20, true), OHCA_CMD_OK);
	}
}

/* What software does to pages at random. */
static void meddle(void)
{
	struct rig_mr *mr = rnd(2) ? p.ma : p.mb;
	uint64_t first = rnd(PAGES), num = 1 + rnd(PAGES - first);

	switch (rnd(12)) {
	case 0:
		rig_odp_unmap(mr, first, num);
		break;
	case 1:
		rig_odp_map(mr, first, num, rnd(2));
		break;
	case 2:
	case 3:
		break;
	default:
		serve();
	}
}

/*
 * Many messages at a time while pages come and go, over a link that is good, or loses packets:
 * each arrives once.
 */
static void check_stress(unsigned int rounds)
{
	unsigned int i, n, adds, posted;
	uint64_t total = 0, zero = 0;
	struct ohca_cqe cqe;

	rig_odp(p.ma, ACCESS);
	rig_odp(p.mb, ACCESS);
	rig_mr_set(p.mb, PAIR_IOVA, &zero, 8);
	for (n = 0; n < rounds; n++) {
		posted = 1 + rnd(12);
		for (i = 0, adds = 0; i < posted; i++) {
			uint8_t op = ops[rnd(ARRAY_SIZE(ops))];
			uint32_t len = one_word(op) ? 8 : rnd(rnd(4) ? 3000 : 200000);
			uint64_t at = PAIR_IOVA + 8 * (1 + rnd(100000));
			bool add = op == OHCA_OP_FETCH_ADD;

			adds += add;
			if (op_receives(op))
				post_recv(at, len);
			post(op, at, len, add ? PAIR_IOVA : at);
		}
		for (i = 0; i < posted;) {
			while (drv_cq_poll(p.a->scq, &cqe)) {
				assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
				i++;
			}
			drv_cq_ack(p.a->scq);
			while (drv_cq_poll(p.b->rcq, &cqe))
				assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			drv_cq_ack(p.b->rcq);
			meddle();
			inproc_step();
		}
		total += adds;
		assert_int_equal(word_at(p.mb, PAIR_IOVA), total);
	}
}

static void test_stress(void **state)
{
	(void)state;
	rnd_seed();
	check_stress(300);
}

static void test_stress_lossy(void **state)
{
	(void)state;
	link_tells = false;
	link_seed(7);
	rnd_seed();
	rig_to_reset(p.a);
	rig_to_reset(p.b);
	p.a->attr.timeout = 9;
	p.a->attr.retry_cnt = 7;
	p.a->attr.rnr_retry = 7;
	p.b->attr.timeout = 9;
	rig_connect(p.a, p.b);
	link_faults = (struct link_faults){.cut = 300, .drop = 20, .dup = 20, .delay = 20};
	check_stress(40);
	link_faults = (struct link_faults){0};
	assert_true(link_happened.drop && link_happened.delay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ops, up, down),
		cmocka_unit_test_setup_teardown(test_read_only, up, down),
		cmocka_unit_test_setup_teardown(test_unmap, up, down),
		cmocka_unit_test_setup_teardown(test_fail, up, down),
		cmocka_unit_test_setup_teardown(test_fail_then_map, up, down),
		cmocka_unit_test_setup_teardown(test_lost_before, up, down),
		cmocka_unit_test_setup_teardown(test_key_destroyed, up, down),
		cmocka_unit_test_setup_teardown(test_qp_gone, up, down),
		cmocka_unit_test_setup_teardown(test_reset, up, down),
		cmocka_unit_test_setup_teardown(test_two_wait, up, down),
		cmocka_unit_test_setup_teardown(test_eq_full, up, down),
		cmocka_unit_test_setup_teardown(test_response_misses, up, down),
		cmocka_unit_test_setup_teardown(test_response_fails, up, down),
		cmocka_unit_test_setup_teardown(test_queue_behind, up, down),
		cmocka_unit_test_setup_teardown(test_srq, up, down),
		cmocka_unit_test_setup_teardown(test_xrc, up, down),
		cmocka_unit_test_setup_teardown(test_far_apart, up, down),
		cmocka_unit_test_setup_teardown(test_long, up, down),
		cmocka_unit_test_setup_teardown(test_nowhere, up, down),
		cmocka_unit_test_setup_teardown(test_stress, up, down),
		cmocka_unit_test_setup_teardown(test_stress_lossy, up, down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
