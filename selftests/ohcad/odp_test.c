// SPDX-License-Identifier: GPL-2.0
/* Accesses to missing pages: they wait, and continue when the pages are mapped. */

#include <endian.h>

#include "mem/odp.h"
#include "odp_bed.h"
#include "rig_srq.h"
#include "rnd.h"

/* Many ACK timeouts. */
static void let_time_pass(void)
{
	struct loop *loop = inproc_hca(0)->loop;
	uint64_t end = loop_now(loop) + 40 * (4096ULL << 1);

	while (loop_now(loop) < end)
		inproc_step();
}

static bool local_writes(uint8_t op)
{
	return op >= OHCA_OP_RDMA_READ && op <= OHCA_OP_MASKED_FETCH_ADD;
}

/* Pages are missing on either side: each access raises one fault, and waits. */
static void check_op(uint8_t op, uint32_t len, bool at_b, uint32_t seed)
{
	struct rig_mr *mr = at_b ? odp.mb : odp.ma;
	bool write = at_b ? op != OHCA_OP_RDMA_READ : local_writes(op);
	uint32_t bursts = (len + PKT_MAX_LEN - 1) / PKT_MAX_LEN;
	struct rig_fault f;

	rig_odp(mr, ODP_ACCESS);
	odp_prepare(op, len, seed);
	if (op_receives(op))
		odp_post_recv(ODP_DST, len);
	odp_post(op, ODP_SRC, len, ODP_DST);
	if (at_b && bursts > 1 && (op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM)) {
		/* The receiver does not know the length of the message. */
		assert_int_equal(odp_serve_all(), bursts);
	} else {
		f = odp_take_fault(mr, at_b ? ODP_DST : ODP_SRC, len, write);
		let_time_pass();
		odp_assert_no_cqe();
		odp_assert_no_fault(mr->hca);
		odp_serve_fault(mr, &f);
	}
	if (op_receives(op))
		odp_assert_recv(OHCA_WC_SUCCESS, 0);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp_assert_done(op, len, seed);
	odp_assert_no_fault(odp.a->hca);
	odp_assert_no_fault(odp.b->hca);
	assert_int_equal(rig_odp_map(mr, 0, ODP_PAGES, true), OHCA_CMD_OK);
}

/* retry_cnt and rnr_retry are 0, and the timer runs: waiting does not use retries. */
static void test_ops(void **state)
{
	static const uint32_t sizes[] = {8, 300, 70000, 1000000};
	unsigned int i, s, side;
	uint32_t seed = 1;

	(void)state;
	for (i = 0; i < ODP_OPS; i++) {
		for (s = 0; s < (odp_one_word(odp_ops[i]) ? 1 : ARRAY_SIZE(sizes)); s++) {
			for (side = 0; side < 2; side++)
				check_op(odp_ops[i], sizes[s], side, seed++);
		}
	}
}

/* A page may be mapped for reading only, and then is missing for a write. */
static void test_read_only(void **state)
{
	struct rig_fault f;

	(void)state;
	rig_odp(odp.ma, ODP_ACCESS);
	rig_odp(odp.mb, ODP_ACCESS);
	assert_int_equal(rig_odp_map(odp.ma, 0, 10, false), OHCA_CMD_OK);
	assert_int_equal(rig_odp_map(odp.mb, 0, 10, false), OHCA_CMD_OK);
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, ODP_DST);
	f = odp_take_fault(odp.mb, ODP_DST, 8, true);
	/* Mapped again, still not writable. */
	assert_int_equal(rig_odp_map(odp.mb, f.first, 1, false), OHCA_CMD_OK);
	f = odp_take_fault(odp.mb, ODP_DST, 8, true);
	odp_assert_no_cqe();
	odp_serve_fault(odp.mb, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp_post(OHCA_OP_RDMA_READ, ODP_SRC, 8, ODP_DST);
	f = odp_take_fault(odp.ma, ODP_SRC, 8, true);
	odp_serve_fault(odp.ma, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	/* A writable page is readable too; a page that was writable may become read-only. */
	assert_int_equal(rig_odp_map(odp.ma, f.first, 1, false), OHCA_CMD_OK);
	odp_post(OHCA_OP_RDMA_READ, ODP_SRC, 8, ODP_DST);
	f = odp_take_fault(odp.ma, ODP_SRC, 8, true);
	odp_serve_fault(odp.ma, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
}

/*
 * Pages are unmapped again and again while a message is transferred, and mapped to other memory
 * each time.
 */
static void test_unmap(void **state)
{
	uint32_t len = 2900000, seed;
	unsigned int i, rounds;
	struct ohca_cqe cqe;

	(void)state;
	rig_odp(odp.ma, ODP_ACCESS);
	rig_odp(odp.mb, ODP_ACCESS);
	for (i = 0; i < 3 * PAIR_OPS; i++) {
		uint8_t op = pair_all_ops[i % PAIR_OPS];

		seed = 100 + i;
		odp_prepare(op, len, seed);
		if (op_receives(op))
			odp_post_recv(ODP_DST, len);
		odp_post(op, ODP_SRC, len, ODP_DST);
		for (rounds = 0; !drv_cq_poll(odp.a->scq, &cqe); rounds++) {
			odp_serve();
			inproc_step();
			if (rounds > 100 || rounds % 3)
				continue;
			if (i & 1)
				assert_int_equal(rig_odp_unmap(odp.ma, 0, ODP_PAGES), OHCA_CMD_OK);
			assert_int_equal(rig_odp_unmap(odp.mb, 0, ODP_PAGES), OHCA_CMD_OK);
		}
		drv_cq_ack(odp.a->scq);
		assert_true(rounds > 3);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		if (op_receives(op))
			odp_assert_recv(OHCA_WC_SUCCESS, 0);
		odp_assert_done(op, len, seed);
		assert_int_equal(rig_odp_unmap(odp.ma, 0, ODP_PAGES), OHCA_CMD_OK);
		assert_int_equal(rig_odp_unmap(odp.mb, 0, ODP_PAGES), OHCA_CMD_OK);
		/* There was no further write to it. */
		inproc_settle();
	}
}

/* A loss before the sender began to wait is detected afterwards, and counted once. */
static void test_lost_before(void **state)
{
	struct qp *qa = inproc_qp(odp.a);
	struct rig_fault f;

	(void)state;
	rc_req(qa)->retry_left = 1;
	rig_odp(odp.ma, ODP_ACCESS);
	assert_int_equal(rig_odp_map(odp.ma, 0, 1, false), OHCA_CMD_OK);
	link_pass(0);
	odp_post(OHCA_OP_RDMA_WRITE, PAIR_IOVA, 8, ODP_DST);
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, ODP_DST + 8);
	f = odp_take_fault(odp.ma, ODP_SRC, 8, false);
	let_time_pass();
	odp_assert_no_cqe();
	assert_int_equal(rc_req(qa)->retry_left, 1);
	/* It is not scheduled meanwhile either. */
	assert_true(list_empty(&qa->run));
	link_capture = NULL;
	odp_serve_fault(odp.ma, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
}

/* Two QPs need one page; one of them continues, and the other one when the page is mapped. */
static void test_two_wait(void **state)
{
	struct rig_qp *a2 = rig_qp_new(odp.a->hca, NULL), *b2 = rig_qp_new(odp.b->hca, NULL);
	struct rig_qp *a1 = odp.a;
	struct rig_fault f;

	(void)state;
	rig_connect(a2, b2);
	rig_odp(odp.mb, ODP_ACCESS);
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, ODP_DST);
	odp_take_fault(odp.mb, ODP_DST, 8, true);
	odp.a = a2;
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 20000, ODP_DST - 8192);
	f = odp_take_fault(odp.mb, ODP_DST - 8192, 20000, true);
	/* The first page is not mapped: it still waits for that. */
	assert_int_equal(rig_odp_map(odp.mb, f.first + 1, f.num - 1, true), OHCA_CMD_OK);
	odp_assert_no_fault(odp.b->hca);
	odp_assert_no_cqe();
	odp.a = a1;
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	assert_int_equal(rig_odp_map(odp.mb, f.first, 1, true), OHCA_CMD_OK);
	odp.a = a2;
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp.a = a1;
}

/* The memory of a response is unmapped once when it arrives. */
static void test_response_misses(void **state)
{
	unsigned int i;

	(void)state;
	rig_odp(odp.ma, ODP_ACCESS);
	rig_odp(odp.mb, ODP_ACCESS);
	assert_int_equal(rig_odp_map(odp.mb, 0, ODP_PAGES, true), OHCA_CMD_OK);
	for (i = 0; i < ODP_OPS; i++) {
		uint32_t len = odp_one_word(odp_ops[i]) ? 8 : 300000;
		struct rig_fault f;

		if (!local_writes(odp_ops[i]))
			continue;
		assert_int_equal(rig_odp_map(odp.ma, 0, ODP_PAGES, true), OHCA_CMD_OK);
		odp_prepare(odp_ops[i], len, i);
		odp_unmap_at_response(odp.ma);
		/* The memory of the next one is unmapped once too. */
		odp_post(odp_ops[i], ODP_SRC, len, ODP_DST);
		odp_post(OHCA_OP_FETCH_ADD, ODP_SRC + (1 << 20), 8, ODP_DST + (1 << 20));
		inproc_settle();
		f = odp_take_fault(odp.ma, ODP_SRC, len, true);
		odp_assert_no_cqe();
		odp_serve_fault(odp.ma, &f);
		odp_serve_all();
		odp_assert_send(OHCA_WC_SUCCESS, 0);
		odp_assert_done(odp_ops[i], len, i);
		odp_assert_send(OHCA_WC_SUCCESS, 0);
	}
	assert_int_equal(odp_word_at(odp.mb, ODP_DST + (1 << 20)) -
				 odp_word_at(odp.ma, ODP_SRC + (1 << 20)),
			 1);
}

/* A long queue after a waiting request: everything arrives in order and once. */
static void test_queue_behind(void **state)
{
	uint64_t zero = 0;
	unsigned int i, side;

	(void)state;
	for (side = 0; side < 2; side++) {
		rig_odp(odp.ma, ODP_ACCESS);
		rig_odp(odp.mb, ODP_ACCESS);
		assert_int_equal(rig_odp_map(side ? odp.ma : odp.mb, 0, ODP_PAGES, true),
				 OHCA_CMD_OK);
		rig_mr_set(odp.mb, ODP_DST, &zero, 8);
		for (i = 0; i < 30; i++) {
			odp_post_recv(PAIR_IOVA + 0x100000 + i * ODP_PAGE_SIZE, 64);
			odp_post(i % 2 ? OHCA_OP_SEND : OHCA_OP_FETCH_ADD, ODP_SRC, i % 2 ? 64 : 8,
				 ODP_DST);
		}
		for (i = 0; i < 30; i++) {
			odp_serve_all();
			odp_assert_send(OHCA_WC_SUCCESS, 0);
			if (i % 2)
				odp_assert_recv(OHCA_WC_SUCCESS, 0);
		}
		assert_int_equal(odp_word_at(odp.mb, ODP_DST), 15);
		odp_reconnect();
	}
}

/* Receives of a shared queue: the receive that was taken is kept. */
static void check_srq(uint8_t type)
{
	uint32_t xrcdn = type == OHCA_QPT_XRC_TGT
				 ? drv_create(odp.b->hca->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0)
				 : 0;
	struct rig_srq_opts srq_opts = {.xrcdn = xrcdn, .cqn = xrcdn ? odp.b->rcq->cqn : 0};
	struct rig_srq *srq = rig_srq_new(odp.b->hca, &srq_opts);
	struct rig_qp_opts opts = {.type = xrcdn ? OHCA_QPT_XRC_INI : OHCA_QPT_RC};
	struct rig_qp *a = rig_qp_new(odp.a->hca, &opts), *b;
	struct ohca_sge from = rig_sge(odp.ma, ODP_SRC, 200000), into[2];
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
	b = rig_qp_new(odp.b->hca, &opts);
	rig_connect(a, b);
	rig_odp(odp.mb, ODP_ACCESS);
	rig_mr_fill(odp.ma, ODP_SRC, 200000, 5);
	rig_mr_fill(odp.mb, ODP_DST, 1000000, 6);
	for (i = 0; i < 2; i++) {
		into[i] = rig_sge(odp.mb, ODP_DST + i * 400000, 200000);
		rig_srq_post(srq, i, &into[i], 1);
	}
	for (i = 0; i < 2; i++) {
		rig_post_send(a, &wr);
		inproc_settle();
		assert_int_equal(le32toh(rig_srq_query(srq).taken), i + 1);
		assert_true(odp_serve_all() > 0);
		cqe = drv_cq_wait(xrcdn ? odp.b->rcq : b->rcq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(le64toh(cqe.wr_id), i);
		assert_int_equal(le32toh(cqe.byte_len), 200000);
		assert_int_equal(rig_wait_send(a).status, OHCA_WC_SUCCESS);
		assert_true(rig_mr_is(odp.mb, ODP_DST + i * 400000, 200000, 5));
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

/* A key of the second HCA for a region with pages of this size, of which none is mapped */
static uint32_t new_key(unsigned int shift, uint64_t length)
{
	struct ohca_create_mkey_in in = {
		.xlt = {.page_shift = shift},
		.length = htole64(length),
		.pdn = htole32(odp.b->hca->pdn),
		.access = ODP_ACCESS,
		.type = OHCA_MKEY_ODP,
	};

	return drv_create(odp.b->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

/* Map a page of it.  Returns the command's status. */
static int map_page(uint32_t key, uint64_t page, uint64_t entry)
{
	struct ohca_modify_pages_in in = {
		.key = htole32(key), .first = htole64(page), .num = htole64(1)};

	in.page[0] = htole64(entry);
	return drv_cmd(odp.b->hca->drv, OHCA_CMD_MODIFY_PAGES, &in,
		       offsetof(struct ohca_modify_pages_in, page) + 8, NULL, 0);
}

/* A region of the whole address space, in pages of this size, with accesses far apart */
static void check_far_apart(unsigned int shift)
{
	static const uint64_t at[] = {0x1000, 0x7f0000000ff0, 0x123456789abcd8, (1ULL << 56) + 8};
	uint64_t size = 1ULL << shift, pages, val;
	struct rig_mr *mb = odp.mb, far = *odp.mb;
	struct drv *drv = odp.b->hca->drv;
	struct rig_fault f;
	unsigned int i;

	far.key = new_key(shift, 1ULL << OHCA_ODP_MAX_LOG_SIZE);
	pages = (drv_alloc(drv, (ARRAY_SIZE(at) + 1) * size) + size - 1) & ~(size - 1);
	odp.mb = &far;
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		uint64_t page = pages + i * size;

		val = at[i];
		rig_mr_set(odp.ma, ODP_SRC, &val, 8);
		odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, at[i]);
		inproc_settle();
		assert_true(rig_fault_poll(odp.b->hca, &f));
		assert_int_equal(f.first, at[i] >> shift);
		assert_int_equal(f.num, 1);
		assert_int_equal(map_page(far.key, f.first, page | size / 2 | OHCA_PAGE_PRESENT),
				 OHCA_CMD_BAD_PARAM);
		assert_int_equal(map_page(far.key, f.first,
					  page | OHCA_PAGE_PRESENT | OHCA_PAGE_WRITE),
				 OHCA_CMD_OK);
		odp_assert_send(OHCA_WC_SUCCESS, 0);
		memcpy(&val, (uint8_t *)drv_ptr(drv, page) + at[i] % size, 8);
		assert_int_equal(val, at[i]);
	}
	/* An address beyond its end is an error, not a missing page. */
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, (1ULL << OHCA_ODP_MAX_LOG_SIZE) - 4);
	odp_assert_send(OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK);
	odp.mb = mb;
}

static void test_far_apart(void **state)
{
	(void)state;
	check_far_apart(12);
}

static void test_larger_pages(void **state)
{
	(void)state;
	check_far_apart(OHCA_ODP_MAX_PAGE_SHIFT);
}

/* A message over two large pages, the second of which is missing */
static void test_ends_of_large_pages(void **state)
{
	const uint64_t size = 1ULL << 14, len = 3000, at = size - 1000;
	struct rig_mr *mb = odp.mb, large = *odp.mb;
	struct drv *drv = odp.b->hca->drv;
	uint8_t want[3000];
	struct rig_fault f;
	uint64_t pages;
	unsigned int i;

	(void)state;
	large.key = new_key(14, 4 * size);
	pages = (drv_alloc(drv, 4 * size) + size - 1) & ~(size - 1);
	odp.mb = &large;
	for (i = 0; i < len; i++)
		want[i] = i * 7;
	rig_mr_set(odp.ma, ODP_SRC, want, len);
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, len, at);
	for (i = 0; i < 2; i++) {
		inproc_settle();
		assert_true(rig_fault_poll(odp.b->hca, &f));
		assert_int_equal(f.first, i);
		assert_int_equal(f.num, 2 - i);
		/* The second page is in front of the first one. */
		assert_int_equal(map_page(large.key, i,
					  (pages + (1 - i) * size) | OHCA_PAGE_PRESENT |
						  OHCA_PAGE_WRITE),
				 OHCA_CMD_OK);
	}
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	assert_memory_equal((uint8_t *)drv_ptr(drv, pages + size) + at, want, 1000);
	assert_memory_equal(drv_ptr(drv, pages), want + 1000, len - 1000);
	odp.mb = mb;
}

/* One fault of a long message asks for at most the number of pages that an event has room for. */
static void test_long(void **state)
{
	uint32_t len = 20 << 20;
	struct rig_mr *ma = rig_mr_new(odp.a->hca, PAIR_IOVA, len, ODP_ACCESS, 64);
	struct rig_mr *mb = rig_mr_new(odp.b->hca, PAIR_IOVA, len, ODP_ACCESS, 64);
	unsigned int i, faults;
	struct ohca_cqe cqe;

	(void)state;
	odp.ma = ma;
	odp.mb = mb;
	for (i = 0; i < 2; i++) {
		rig_odp(ma, ODP_ACCESS);
		rig_odp(mb, ODP_ACCESS);
		odp_post(i ? OHCA_OP_RDMA_READ : OHCA_OP_RDMA_WRITE, PAIR_IOVA, len, PAIR_IOVA);
		for (faults = 0; !drv_cq_poll(odp.a->scq, &cqe); inproc_step())
			faults += odp_serve();
		drv_cq_ack(odp.a->scq);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(faults, 6);
	}
}

/* Random operations of software on pages. */
static void meddle(void)
{
	struct rig_mr *mr = rnd(2) ? odp.ma : odp.mb;
	uint64_t first = rnd(ODP_PAGES), num = 1 + rnd(ODP_PAGES - first);

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
		odp_serve();
	}
}

/*
 * Many messages at a time while pages are mapped and unmapped, over a good link or one that loses
 * packets: each arrives once.
 */
static void check_stress(unsigned int rounds)
{
	unsigned int i, n, adds, posted;
	uint64_t total = 0, zero = 0;
	struct ohca_cqe cqe;

	rig_odp(odp.ma, ODP_ACCESS);
	rig_odp(odp.mb, ODP_ACCESS);
	rig_mr_set(odp.mb, PAIR_IOVA, &zero, 8);
	for (n = 0; n < rounds; n++) {
		posted = 1 + rnd(12);
		for (i = 0, adds = 0; i < posted; i++) {
			uint8_t op = odp_ops[rnd(ODP_OPS)];
			uint32_t len = odp_one_word(op) ? 8 : rnd(rnd(4) ? 3000 : 200000);
			uint64_t at = PAIR_IOVA + 8 * (1 + rnd(100000));
			bool add = op == OHCA_OP_FETCH_ADD;

			adds += add;
			if (op_receives(op))
				odp_post_recv(at, len);
			odp_post(op, at, len, add ? PAIR_IOVA : at);
		}
		for (i = 0; i < posted;) {
			while (drv_cq_poll(odp.a->scq, &cqe)) {
				assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
				i++;
			}
			drv_cq_ack(odp.a->scq);
			while (drv_cq_poll(odp.b->rcq, &cqe))
				assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			drv_cq_ack(odp.b->rcq);
			meddle();
			inproc_step();
		}
		total += adds;
		assert_int_equal(odp_word_at(odp.mb, PAIR_IOVA), total);
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
	rig_to_reset(odp.a);
	rig_to_reset(odp.b);
	odp.a->attr.timeout = 9;
	odp.a->attr.retry_cnt = 7;
	odp.a->attr.rnr_retry = 7;
	odp.b->attr.timeout = 9;
	rig_connect(odp.a, odp.b);
	link_faults = (struct link_faults){.cut = 300, .drop = 20, .dup = 20, .delay = 20};
	check_stress(40);
	link_faults = (struct link_faults){0};
	assert_true(link_happened.drop && link_happened.delay);
}

#define ODP_TEST(fn) cmocka_unit_test_setup_teardown(fn, odp_up, odp_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ODP_TEST(test_ops),	     ODP_TEST(test_read_only),
		ODP_TEST(test_unmap),	     ODP_TEST(test_lost_before),
		ODP_TEST(test_two_wait),     ODP_TEST(test_response_misses),
		ODP_TEST(test_queue_behind), ODP_TEST(test_srq),
		ODP_TEST(test_xrc),	     ODP_TEST(test_far_apart),
		ODP_TEST(test_larger_pages), ODP_TEST(test_ends_of_large_pages),
		ODP_TEST(test_long),	     ODP_TEST(test_stress),
		ODP_TEST(test_stress_lossy),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
