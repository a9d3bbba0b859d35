// SPDX-License-Identifier: GPL-2.0
/* Atomics, ATOMIC_WRITE and FLUSH: their effects on memory, and the requests that are refused. */

#include <endian.h>
#include <pthread.h>

#include "harness.h"
#include "hcas.h"
#include "memop.h"

#define IOVA 0x30000000ULL
#define LEN 16384ULL
#define ALL_ACCESS                                                          \
	(RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC | OHCA_ACCESS_MW_BIND | \
	 OHCA_ACCESS_FLUSH_GLOBAL | OHCA_ACCESS_FLUSH_PERSISTENT)

static struct pair p;
static struct rig_mr *mr; /* at p.b's side */

static int open_pair(void **state)
{
	struct rig_qp_opts opts = {.ext = true, .max_inline = 64};

	(void)state;
	p = pair_new(server, &opts);
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
	mr = rig_mr_new(p.b->hca, IOVA, LEN, ALL_ACCESS, 0);
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	rig_close(p.rig);
	return 0;
}

/**
 * struct atomic - an operation on @va
 */
struct atomic {
	uint8_t op;
	uint64_t va;
	uint64_t compare_add, swap;
	uint64_t mask, swap_mask;
};

static bool is_masked(uint8_t op)
{
	return op == OHCA_OP_MASKED_CMP_SWAP || op == OHCA_OP_MASKED_FETCH_ADD;
}

/* Write the work request; @fields and @ext live until it is posted. */
static struct rig_wr atomic_wr(const struct atomic *op, const struct ohca_sge *sge,
			       struct ohca_sq_wqe *fields, struct ohca_wqe_ext *ext)
{
	struct rig_wr wr = {.opcode = op->op,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = sge,
			    .fields = fields};

	memset(fields, 0, sizeof(*fields));
	fields->rdma.raddr = htole64(op->va);
	fields->rdma.rkey = htole32(mr->key);
	fields->rdma.compare_add = htole64(op->compare_add);
	fields->rdma.swap = htole64(op->swap);
	memset(ext, 0, sizeof(*ext));
	ext->mask.compare = htole64(op->mask);
	ext->mask.swap = htole64(op->swap_mask);
	if (is_masked(op->op))
		wr.ext = ext;
	return wr;
}

static struct ohca_cqe try_atomic(const struct atomic *op, const struct ohca_sge *sge)
{
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr = atomic_wr(op, sge, &fields, &ext);
	struct ohca_cqe cqe;

	rig_post_send(p.a, &wr);
	cqe = rig_wait_send(p.a);
	assert_int_equal(cqe.opcode, op->op);
	return cqe;
}

/*
 * Execute on memory that holds @before.  Checks the result, and returns what the memory holds
 * afterwards.
 */
static uint64_t atomic(const struct atomic *op, uint64_t before)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA + 4, 8);
	uint64_t got = htole64(before);

	rig_mr_set(mr, op->va, &got, 8);
	got = ~got;
	rig_mr_set(p.ma, PAIR_IOVA + 4, &got, 8);
	assert_int_equal(try_atomic(op, &sge).status, 0);
	rig_mr_get(p.ma, PAIR_IOVA + 4, &got, 8);
	assert_int_equal(le64toh(got), before);
	rig_mr_get(mr, op->va, &got, 8);
	return le64toh(got);
}

static void test_results(void **state)
{
	struct atomic op = {.op = OHCA_OP_CMP_SWAP, .va = IOVA + 8, .compare_add = 5, .swap = 7};
	const uint64_t fields = 0x8000000080008080ULL;

	(void)state;
	assert_int_equal(atomic(&op, 5), 7);
	assert_int_equal(atomic(&op, 6), 6);
	op.op = OHCA_OP_FETCH_ADD;
	op.swap = 0;
	assert_int_equal(atomic(&op, 10), 15);
	assert_int_equal(atomic(&op, ~0ULL - 1), 3);
	op.va = IOVA + LEN - 8;
	op.compare_add = 0x8000000000000000ULL;
	assert_int_equal(atomic(&op, 0x8000000000000001ULL), 1);

	op.op = OHCA_OP_MASKED_CMP_SWAP;
	op.compare_add = 0x1234;
	op.swap = 0xaaaaaaaaaaaaaaaaULL;
	op.mask = 0xff00;
	op.swap_mask = 0xff000000000000ffULL;
	if (ON_WIRE) {
		/* No packet has such a length. */
		struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
		struct ohca_cqe cqe = try_atomic(&op, &sge);

		assert_int_equal(cqe.status, OHCA_WC_LOC_QP_OP_ERR);
		assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_WQE_OPCODE);
		return;
	}
	assert_int_equal(atomic(&op, 0x55555555555512ffULL), 0xaa555555555512aaULL);
	assert_int_equal(atomic(&op, 0x55555555555534ffULL), 0x55555555555534ffULL);
	op.mask = 0;
	assert_int_equal(atomic(&op, 1), 0xaa000000000000aaULL);
	op.mask = ~0ULL;
	op.swap_mask = ~0ULL;
	assert_int_equal(atomic(&op, 0x1234), 0xaaaaaaaaaaaaaaaaULL);

	/* Fields of 8, 8, 16 and 32 bits, each of which overflows. */
	op.op = OHCA_OP_MASKED_FETCH_ADD;
	op.mask = fields;
	op.compare_add = 0x0000000100010101ULL;
	assert_int_equal(atomic(&op, ~0ULL), 0);
	op.compare_add = 0xffffffffffffffffULL;
	assert_int_equal(atomic(&op, 0), 0xffffffffffffffffULL);
	op.compare_add = 0x8000000080008080ULL;
	assert_int_equal(atomic(&op, 0x8000000180028384ULL), 0x0000000100020304ULL);
	op.mask = 0;
	op.compare_add = 1;
	assert_int_equal(atomic(&op, ~0ULL), 0);
}

/* The place of the result in more than one piece, and one that is not writable. */
static void test_result_place(void **state)
{
	struct rig_mr *read_only = rig_mr_new(p.a->hca, IOVA, 4096, 0, 0);
	struct atomic op = {.op = OHCA_OP_FETCH_ADD, .va = IOVA, .compare_add = 1};
	struct ohca_sge sge[3] = {rig_sge(p.ma, PAIR_IOVA + 1, 3), rig_sge(p.ma, PAIR_IOVA + 9, 5)};
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr = atomic_wr(&op, sge, &fields, &ext);
	uint64_t value = htole64(0x1122334455667788ULL);
	uint8_t got[8];
	struct ohca_cqe cqe;

	(void)state;
	rig_mr_set(mr, IOVA, &value, 8);
	wr.num_sge = 2;
	rig_post_send(p.a, &wr);
	assert_int_equal(rig_wait_send(p.a).status, 0);
	rig_mr_get(p.ma, PAIR_IOVA + 1, got, 3);
	rig_mr_get(p.ma, PAIR_IOVA + 9, got + 3, 5);
	assert_memory_equal(got, &value, 8);

	sge[0] = rig_sge(read_only, IOVA, 8);
	cqe = try_atomic(&op, sge);
	assert_int_equal(cqe.status, OHCA_WC_LOC_PROT_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_ACCESS);
	/* The place is needed when the response comes: the atomic was executed. */
	rig_mr_get(mr, IOVA, got, 8);
	value = htole64(le64toh(value) + 2);
	assert_memory_equal(got, &value, 8);
}

static void assert_failed(struct ohca_cqe cqe, uint8_t status, uint32_t vendor_err)
{
	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
	memop_reconnect(&p);
}

/* Requests that the requester refuses to send. */
static void test_bad_requests(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_CMP_SWAP, OHCA_OP_FETCH_ADD, OHCA_OP_MASKED_CMP_SWAP,
				      OHCA_OP_MASKED_FETCH_ADD};
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	uint64_t zero = 0, value;
	unsigned int i;

	(void)state;
	rig_mr_set(mr, IOVA, &zero, 8);
	for (i = 0; i < sizeof(ops); i++) {
		struct atomic op = {.op = ops[i], .va = IOVA, .compare_add = 1};
		struct ohca_sq_wqe fields;
		struct ohca_wqe_ext ext;
		struct rig_wr wr;

		sge.length = htole32(7);
		assert_failed(try_atomic(&op, &sge), OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
		sge.length = htole32(8);
		wr = atomic_wr(&op, &sge, &fields, &ext);
		wr.ext = is_masked(ops[i]) ? NULL : &ext;
		rig_post_send(p.a, &wr);
		assert_failed(rig_wait_send(p.a), OHCA_WC_LOC_QP_OP_ERR,
			      OHCA_VENDOR_ERR_WQE_OPCODE);
		wr = atomic_wr(&op, &sge, &fields, &ext);
		wr.inl = &zero;
		wr.inl_len = 8;
		rig_post_send(p.a, &wr);
		assert_failed(rig_wait_send(p.a), OHCA_WC_LOC_QP_OP_ERR,
			      OHCA_VENDOR_ERR_WQE_OPCODE);
		p.a->attr.max_rd_atomic = 0;
		memop_reconnect(&p);
		assert_failed(try_atomic(&op, &sge), OHCA_WC_LOC_QP_OP_ERR,
			      OHCA_VENDOR_ERR_WQE_OPCODE);
		p.a->attr.max_rd_atomic = 16;
		memop_reconnect(&p);
	}
	rig_mr_get(mr, IOVA, &value, 8);
	assert_int_equal(value, 0);
}

static void assert_refused(const struct atomic *op, uint8_t status, uint32_t vendor_err,
			   enum ohca_event event)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct ohca_cqe cqe = try_atomic(op, &sge);

	rig_wait_event(p.b->hca, event, p.b->qpn);
	assert_int_equal(rig_query(p.b).state, OHCA_QPS_ERR);
	assert_failed(cqe, status, vendor_err);
}

/* Requests that the responder refuses. */
static void test_refused(void **state)
{
	struct atomic op = {.op = OHCA_OP_FETCH_ADD, .va = IOVA + 4, .compare_add = 1};
	struct rig_mr *good = mr;
	uint64_t value;

	(void)state;
	assert_refused(&op, OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_ALIGN, OHCA_EVENT_QP_REQ_ERR);
	op.va = IOVA + LEN;
	assert_refused(&op, OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK, OHCA_EVENT_QP_ACCESS_ERR);
	op.va = IOVA;
	p.b->attr.access &= ~OHCA_ACCESS_REMOTE_ATOMIC;
	memop_reconnect(&p);
	assert_refused(&op, OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_NAK, OHCA_EVENT_QP_REQ_ERR);
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	memop_reconnect(&p);
	mr = rig_mr_new(p.b->hca, IOVA, 4096, RIG_ALL_ACCESS, 0);
	assert_refused(&op, OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK, OHCA_EVENT_QP_ACCESS_ERR);

	/* The address is aligned, the memory is not. */
	mr = rig_mr_new(p.b->hca, IOVA + 4, 4096, ALL_ACCESS, 0);
	{
		struct ohca_modify_mkey_in in = {
			.key = htole32(mr->key),
			.attr_mask = htole32(OHCA_MKEY_ATTR_XLT),
			.attr = {.xlt = mr->xlt, .iova = htole64(IOVA), .length = htole64(4096)},
		};

		assert_int_equal(
			drv_cmd(p.b->hca->drv, OHCA_CMD_MODIFY_MKEY, &in, sizeof(in), NULL, 0), 0);
	}
	assert_refused(&op, OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_NAK, OHCA_EVENT_QP_REQ_ERR);
	op.va = IOVA + 4088; /* across two pages */
	assert_refused(&op, OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_NAK, OHCA_EVENT_QP_REQ_ERR);
	mr = good;
	rig_mr_get(mr, IOVA, &value, 8);
	assert_int_equal(value, 0);
}

/* Through a memory window. */
static void test_window(void **state)
{
	struct atomic op = {.op = OHCA_OP_FETCH_ADD, .va = IOVA + 8, .compare_add = 1};
	struct memop_bind bind = {.lkey = mr->key,
				  .addr = IOVA + 8,
				  .length = 8,
				  .access = OHCA_ACCESS_REMOTE_ATOMIC,
				  .rkey = memop_key(p.b->hca, OHCA_MKEY_MW_1, 0)};
	struct rig_mr window = *mr;
	struct rig_mr *region = mr;

	(void)state;
	bind.new_rkey = memop_next_key(bind.rkey);
	assert_int_equal(memop_bind(p.b, &bind).status, 0);
	window.key = bind.new_rkey;
	mr = &window;
	assert_int_equal(atomic(&op, 77), 78);
	op.va = IOVA;
	assert_refused(&op, OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK, OHCA_EVENT_QP_ACCESS_ERR);
	mr = region;
}

#define MANY 2000

/*
 * Executed in order with reads and writes, never more outstanding than allowed, each executed once.
 */
static void check_stream(uint8_t max)
{
	struct ohca_sge sge[3] = {rig_sge(p.ma, PAIR_IOVA, 8), rig_sge(p.ma, PAIR_IOVA + 8, 8000),
				  rig_sge(p.ma, PAIR_IOVA + 8192, 8)};
	struct atomic op = {.op = OHCA_OP_FETCH_ADD, .va = IOVA, .compare_add = 1};
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr[3] = {atomic_wr(&op, &sge[0], &fields, &ext)};
	uint64_t value = 0;
	unsigned int i;

	wr[1] = (struct rig_wr){.opcode = OHCA_OP_RDMA_READ,
				.num_sge = 1,
				.sge = &sge[1],
				.raddr = IOVA,
				.rkey = mr->key};
	wr[2] = wr[1];
	wr[2].opcode = OHCA_OP_RDMA_WRITE;
	wr[2].sge = &sge[2];
	wr[2].raddr = IOVA + 8192;
	p.a->attr.max_rd_atomic = max;
	p.b->attr.max_dest_rd_atomic = max;
	memop_reconnect(&p);
	rig_mr_set(mr, IOVA, &value, 8);
	for (i = 0; i < MANY; i++) {
		wr[i % 3].flags = i % 21 == 20 || i == MANY - 1 ? OHCA_WQE_SIGNALED : 0;
		rig_post_send(p.a, &wr[i % 3]);
		if (wr[i % 3].flags)
			assert_int_equal(rig_wait_send(p.a).status, 0);
	}
	rig_mr_get(mr, IOVA, &value, 8);
	assert_int_equal(le64toh(value), (MANY + 2) / 3);
}

static void test_stream(void **state)
{
	(void)state;
	check_stream(1);
	check_stream(4);
	check_stream(64);
}

/* A processor adds to the same word, to that half which is not the lower one of the device: no addition is lost. */
#define ADDER_SHIFT (BYTE_ORDER == LITTLE_ENDIAN ? 32 : 0)

struct adder {
	uint64_t *word;
	bool stop;
	uint64_t num;
};

static void *add(void *arg)
{
	struct adder *adder = arg;

	while (!__atomic_load_n(&adder->stop, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(adder->word, 1ULL << ADDER_SHIFT, __ATOMIC_SEQ_CST);
		adder->num++;
	}
	return NULL;
}

static void test_atomicity(void **state)
{
	struct adder adder = {.word = drv_ptr(p.b->hca->drv, mr->pages[0])};
	struct atomic op = {.op = OHCA_OP_FETCH_ADD, .va = IOVA, .compare_add = 1};
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	pthread_t thread;
	unsigned int i;

	(void)state;
	*adder.word = 0;
	assert_int_equal(pthread_create(&thread, NULL, add, &adder), 0);
	for (i = 0; i < MANY; i++) {
		op.op = i % 2 || ON_WIRE ? OHCA_OP_FETCH_ADD : OHCA_OP_MASKED_FETCH_ADD;
		op.mask = 1ULL << 31;
		assert_int_equal(try_atomic(&op, &sge).status, 0);
	}
	__atomic_store_n(&adder.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal((uint32_t)(*adder.word >> ADDER_SHIFT), (uint32_t)adder.num);
	assert_int_equal((uint32_t)le64toh(*adder.word), MANY);
}

static struct rig_wr write_wr(const struct ohca_sge *sge, uint64_t va)
{
	struct rig_wr wr = {.opcode = OHCA_OP_ATOMIC_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = sge,
			    .raddr = va,
			    .rkey = mr->key};

	return wr;
}

static struct ohca_cqe send_wr(const struct rig_wr *wr)
{
	rig_post_send(p.a, wr);
	return rig_wait_send(p.a);
}

static void test_atomic_write(void **state)
{
	struct ohca_sge sge[3] = {rig_sge(p.ma, PAIR_IOVA + 1, 8)};
	struct rig_wr wr = write_wr(sge, IOVA + 16);
	uint64_t value = 0x123456789abcdefULL, got = htole64(value);

	(void)state;
	rig_mr_set(p.ma, PAIR_IOVA + 1, &got, 8);
	assert_int_equal(send_wr(&wr).status, 0);
	rig_mr_get(mr, IOVA + 16, &got, 8);
	assert_int_equal(le64toh(got), value);

	/* Gathered from several elements, and inline. */
	sge[0] = rig_sge(p.ma, PAIR_IOVA + 1, 5);
	sge[1] = rig_sge(p.ma, PAIR_IOVA + 1, 3);
	wr.num_sge = 2;
	assert_int_equal(send_wr(&wr).status, 0);
	rig_mr_get(mr, IOVA + 16, &got, 8);
	assert_int_equal(le64toh(got), (value & 0xffffffffffULL) | value << 40);
	wr.inl = "abcdefgh";
	wr.inl_len = 8;
	assert_int_equal(send_wr(&wr).status, 0);
	rig_mr_get(mr, IOVA + 16, &got, 8);
	assert_memory_equal(&got, "abcdefgh", 8);

	wr.inl_len = 7;
	assert_failed(send_wr(&wr), OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	wr.inl_len = 8;
	wr.raddr = IOVA + 12;
	assert_failed(send_wr(&wr), OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_ALIGN);
	wr.raddr = IOVA + LEN;
	assert_failed(send_wr(&wr), OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK);
	wr.raddr = IOVA;
	p.b->attr.access = OHCA_ACCESS_REMOTE_READ | OHCA_ACCESS_REMOTE_ATOMIC;
	memop_reconnect(&p);
	assert_failed(send_wr(&wr), OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_NAK);
	wr = write_wr(sge, IOVA);
	sge[0] = rig_sge(p.ma, PAIR_IOVA + PAIR_LEN, 8);
	assert_failed(send_wr(&wr), OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_BOUNDS);
}

static struct rig_wr flush_wr(uint64_t va, uint64_t length, uint8_t placement, uint8_t level,
			      struct ohca_sq_wqe *fields)
{
	struct rig_wr wr = {.opcode = OHCA_OP_FLUSH, .flags = OHCA_WQE_SIGNALED, .fields = fields};

	memset(fields, 0, sizeof(*fields));
	fields->flush.raddr = htole64(va);
	fields->flush.length = htole64(length);
	fields->flush.rkey = htole32(mr->key);
	fields->flush.placement = placement;
	fields->flush.level = level;
	return wr;
}

static struct ohca_cqe flush(uint64_t va, uint64_t length, uint8_t placement, uint8_t level)
{
	struct ohca_sq_wqe fields;
	struct rig_wr wr = flush_wr(va, length, placement, level, &fields);

	return send_wr(&wr);
}

static void test_flush(void **state)
{
	const uint8_t both = OHCA_FLUSH_GLOBAL | OHCA_FLUSH_PERSISTENT;
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, LEN);
	struct rig_wr write = {.opcode = OHCA_OP_RDMA_WRITE,
			       .num_sge = 1,
			       .sge = &sge,
			       .raddr = IOVA,
			       .rkey = mr->key};
	struct rig_mr *some;
	uint8_t placement;

	(void)state;
	for (placement = 1; placement <= both; placement++) {
		rig_mr_fill(p.ma, PAIR_IOVA, LEN, placement);
		rig_put_send(p.a, &write);
		assert_int_equal(flush(IOVA, LEN, placement, OHCA_FLUSH_RANGE).status, 0);
		assert_true(rig_mr_is(mr, IOVA, LEN, placement));
		/* Address and length are ignored. */
		assert_int_equal(flush(0, 0, placement, OHCA_FLUSH_MR).status, 0);
	}
	assert_int_equal(flush(0, 0, both, OHCA_FLUSH_RANGE).status, 0);
	assert_failed(flush(IOVA, LEN, 0, OHCA_FLUSH_RANGE), OHCA_WC_LOC_QP_OP_ERR,
		      OHCA_VENDOR_ERR_WQE_OPCODE);
	assert_failed(flush(IOVA, LEN, 4, OHCA_FLUSH_RANGE), OHCA_WC_LOC_QP_OP_ERR,
		      OHCA_VENDOR_ERR_WQE_OPCODE);
	assert_failed(flush(IOVA, LEN, both, 2), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	assert_failed(flush(IOVA, 1ULL << 32, both, OHCA_FLUSH_RANGE), OHCA_WC_LOC_LEN_ERR,
		      OHCA_VENDOR_ERR_LENGTH);
	assert_failed(flush(IOVA, LEN + 1, both, OHCA_FLUSH_RANGE), OHCA_WC_REM_ACCESS_ERR,
		      OHCA_VENDOR_ERR_NAK);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_ACCESS_ERR, p.b->qpn);

	some = mr;
	mr = rig_mr_new(p.b->hca, IOVA, LEN, OHCA_ACCESS_FLUSH_GLOBAL, 0);
	assert_int_equal(flush(IOVA, LEN, OHCA_FLUSH_GLOBAL, OHCA_FLUSH_RANGE).status, 0);
	assert_failed(flush(IOVA, LEN, both, OHCA_FLUSH_RANGE), OHCA_WC_REM_ACCESS_ERR,
		      OHCA_VENDOR_ERR_NAK);
	assert_failed(flush(IOVA, LEN, OHCA_FLUSH_PERSISTENT, OHCA_FLUSH_MR),
		      OHCA_WC_REM_ACCESS_ERR, OHCA_VENDOR_ERR_NAK);
	mr = rig_mr_new(p.b->hca, IOVA, LEN, OHCA_ACCESS_FLUSH_PERSISTENT, 0);
	assert_int_equal(flush(IOVA, LEN, OHCA_FLUSH_PERSISTENT, OHCA_FLUSH_MR).status, 0);
	assert_failed(flush(IOVA, LEN, OHCA_FLUSH_GLOBAL, OHCA_FLUSH_RANGE), OHCA_WC_REM_ACCESS_ERR,
		      OHCA_VENDOR_ERR_NAK);
	mr = some;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_results),   TEST(test_result_place), TEST(test_bad_requests),
		TEST(test_refused),   TEST(test_window),       TEST(test_stream),
		TEST(test_atomicity), TEST(test_atomic_write), TEST(test_flush),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
