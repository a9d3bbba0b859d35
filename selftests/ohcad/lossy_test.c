// SPDX-License-Identifier: GPL-2.0
/*
 * The transport over a link that drops, duplicates and reorders packets: everything arrives once,
 * in order and complete.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "memop.h"

#define ONE_IN(n) (1024 / (n))

static struct pair open_pair(const struct rig_qp_opts *opts)
{
	struct pair p = pair_new(server, opts);

	/* An ACK timeout of about 2 ms, to keep the test short. */
	p.a->attr.timeout = 9;
	p.b->attr.timeout = 9;
	rig_connect(p.a, p.b);
	return p;
}

static void check_all_ops(const struct link_faults *faults, unsigned int rounds)
{
	static const uint32_t sizes[] = {0, 8, 1024, 1025, 5000, 70000, 300000};
	struct pair p = open_pair(NULL);
	unsigned int o, s, r;
	uint32_t seed = 1;

	for (r = 0; r < rounds; r++) {
		for (o = 0; o < PAIR_OPS; o++) {
			for (s = 0; s < ARRAY_SIZE(sizes); s++) {
				struct pair_layout l = {sizes[s], 1, 2, 2, 3};

				link_faults = *faults;
				pair_check_message(&p, pair_all_ops[o], &l, seed++);
			}
		}
	}
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

static void test_cut(void **state)
{
	struct link_faults faults = {.cut = 1024};

	(void)state;
	link_seed(1);
	check_all_ops(&faults, 2);
	assert_true(link_happened.cut > 0);
}

static void test_drop(void **state)
{
	struct link_faults faults = {.cut = 512, .drop = ONE_IN(32)};

	(void)state;
	link_seed(2);
	check_all_ops(&faults, 10);
	assert_true(link_happened.drop > 100);
}

static void test_dup(void **state)
{
	struct link_faults faults = {.cut = 512, .dup = ONE_IN(8)};

	(void)state;
	link_seed(3);
	check_all_ops(&faults, 20);
	assert_true(link_happened.dup > 100);
}

static void test_delay(void **state)
{
	struct link_faults faults = {.cut = 512, .delay = ONE_IN(32)};

	(void)state;
	link_seed(4);
	check_all_ops(&faults, 10);
	assert_true(link_happened.delay > 100);
}

static void test_everything(void **state)
{
	struct link_faults faults = {
		.cut = 512, .drop = ONE_IN(64), .dup = ONE_IN(32), .delay = ONE_IN(64)};

	(void)state;
	link_seed(5);
	check_all_ops(&faults, 20);
}

#define STREAM 200

/* One work request of the stream. */
static struct rig_wr stream_wr(struct pair *p, struct ohca_sge *sge, unsigned int i, uint32_t len)
{
	struct rig_wr wr = {
		.wr_id = i,
		.opcode = pair_all_ops[rand() % PAIR_OPS],
		.flags = OHCA_WQE_SIGNALED | (rand() % 8 ? 0 : OHCA_WQE_FENCE),
		.num_sge = 1,
		.sge = sge,
		.imm = i,
		.raddr = PAIR_IOVA + (1 << 20) + i * 4096,
		.rkey = p->mb->key,
	};

	/*
	 * READs return the memory's earlier contents; all others transfer that piece of the
	 * pattern.
	 */
	*sge = rig_sge(p->ma, PAIR_IOVA + i * 4096, len);
	if (wr.opcode == OHCA_OP_RDMA_READ)
		*sge = rig_sge(p->ma, PAIR_IOVA + (1 << 20) + i * 4096, len);
	return wr;
}

/* Many messages outstanding: each receive gets the message that belongs to it. */
static void test_stream(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8};
	struct pair p = open_pair(&opts);
	unsigned int round, i, recvs;

	(void)state;
	srand(6);
	for (round = 0; round < 30; round++) {
		uint32_t len[STREAM];
		uint8_t ops[STREAM];

		link_seed(100 + round);
		memset(&link_faults, 0, sizeof(link_faults));
		rig_mr_fill(p.ma, PAIR_IOVA, STREAM * 4096, round);
		rig_mr_fill(p.mb, PAIR_IOVA + (1 << 20), STREAM * 4096, round + 1000);
		for (i = 0; i < STREAM; i++) {
			struct ohca_sge sge,
				into = rig_sge(p.mb, PAIR_IOVA + (1 << 20) + i * 4096, 4096);
			struct rig_wr wr;

			len[i] = rand() % 4096;
			wr = stream_wr(&p, &sge, i, len[i]);
			ops[i] = wr.opcode;
			if (op_receives(wr.opcode))
				rig_post_recv(p.b, i, &into, 1);
			rig_put_send(p.a, &wr);
		}
		link_faults = (struct link_faults){
			.cut = 512, .drop = ONE_IN(64), .dup = ONE_IN(32), .delay = ONE_IN(64)};
		rig_ring(p.a);
		for (i = 0; i < STREAM; i++)
			pair_assert_send_done(p.a, i, ops[i]);
		for (i = 0, recvs = 0; i < STREAM; i++) {
			struct ohca_cqe cqe;

			if (!op_receives(ops[i]))
				continue;
			cqe = rig_wait_recv(p.b);
			assert_int_equal(cqe.status, 0);
			assert_int_equal(le64toh(cqe.wr_id), i);
			assert_int_equal(le32toh(cqe.byte_len), len[i]);
			if (op_has_imm(ops[i]))
				assert_int_equal(be32toh(cqe.imm_data), i);
			recvs++;
		}
		assert_true(recvs > 0);
		for (i = 0; i < STREAM; i++) {
			uint8_t a[4096], b[4096];

			rig_mr_get(ops[i] == OHCA_OP_RDMA_READ ? p.ma : p.ma,
				   PAIR_IOVA + (ops[i] == OHCA_OP_RDMA_READ ? 1 << 20 : 0) +
					   i * 4096,
				   a, len[i]);
			rig_mr_get(p.mb, PAIR_IOVA + (1 << 20) + i * 4096, b, len[i]);
			assert_memory_equal(a, b, len[i]);
		}
	}
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

/* Both directions, and late receives: RNR NAKs among the losses. */
static void test_rnr(void **state)
{
	struct pair p = open_pair(NULL);
	unsigned int i, j;

	(void)state;
	link_seed(7);
	for (i = 0; i < 100; i++) {
		struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 3000),
				into = rig_sge(p.mb, PAIR_IOVA, 3000);
		struct rig_wr wr = {.wr_id = i,
				    .opcode = i & 1 ? OHCA_OP_SEND : OHCA_OP_RDMA_WRITE_IMM,
				    .flags = OHCA_WQE_SIGNALED,
				    .num_sge = 1,
				    .sge = &sge,
				    .raddr = PAIR_IOVA,
				    .rkey = p.mb->key};

		link_faults =
			(struct link_faults){.cut = 512, .drop = ONE_IN(32), .delay = ONE_IN(32)};
		rig_mr_fill(p.ma, PAIR_IOVA, 3000, i);
		rig_mr_fill(p.mb, PAIR_IOVA, 3000, ~i);
		rig_post_send(p.a, &wr);
		for (j = 0; j < 10; j++)
			inproc_step();
		rig_post_recv(p.b, i, &into, 1);
		assert_int_equal(rig_wait_recv(p.b).status, 0);
		pair_assert_send_done(p.a, i, wr.opcode);
		assert_true(rig_mr_is(p.mb, PAIR_IOVA, 3000, i));
	}
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

/*
 * Atomics, atomic writes and flushes among reads and writes: each atomic is executed once, and
 * returns the value that it found.
 */
static void test_atomics(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8};
	struct pair p = pair_new(server, &opts);
	struct rig_mr *mr;
	uint64_t sum = 0, value;
	unsigned int round, i;

	(void)state;
	p.a->attr.timeout = 9;
	p.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(p.a, p.b);
	mr = rig_mr_new(p.b->hca, PAIR_IOVA, 8192,
			RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC | OHCA_ACCESS_FLUSH_GLOBAL, 0);
	for (round = 0; round < 30; round++) {
		static const uint8_t ops[] = {OHCA_OP_FETCH_ADD, OHCA_OP_RDMA_READ,
					      OHCA_OP_ATOMIC_WRITE, OHCA_OP_RDMA_WRITE,
					      OHCA_OP_FLUSH};

		link_seed(300 + round);
		link_faults = (struct link_faults){
			.cut = 512, .drop = ONE_IN(64), .dup = ONE_IN(16), .delay = ONE_IN(64)};
		for (i = 0; i < STREAM; i++) {
			uint8_t op = ops[i % 5];
			uint64_t at = PAIR_IOVA + i * 4096;
			uint32_t len = op == OHCA_OP_RDMA_READ || op == OHCA_OP_RDMA_WRITE ? 3000
											   : 8;
			struct ohca_sge sge = rig_sge(p.ma, at, len);
			struct ohca_sq_wqe fields = {0};
			struct rig_wr wr = {.wr_id = i,
					    .opcode = op,
					    .flags = OHCA_WQE_SIGNALED,
					    .num_sge = op == OHCA_OP_FLUSH ? 0 : 1,
					    .sge = &sge,
					    .fields = &fields};

			if (op == OHCA_OP_FLUSH) {
				fields.flush.raddr = htole64(PAIR_IOVA);
				fields.flush.length = htole64(8192);
				fields.flush.rkey = htole32(mr->key);
				fields.flush.placement = OHCA_FLUSH_GLOBAL;
			} else {
				fields.rdma.raddr = htole64(PAIR_IOVA + (len == 8 ? 0 : 1024));
				fields.rdma.rkey = htole32(mr->key);
				fields.rdma.compare_add = htole64(i);
			}
			if (op == OHCA_OP_ATOMIC_WRITE) {
				fields.rdma.raddr = htole64(PAIR_IOVA + 8);
				rig_mr_set(p.ma, at, &i, 4);
			}
			rig_put_send(p.a, &wr);
		}
		rig_ring(p.a);
		for (i = 0; i < STREAM; i++)
			pair_assert_send_done(p.a, i, ops[i % 5]);
		for (i = 0; i < STREAM; i += 5) {
			rig_mr_get(p.ma, PAIR_IOVA + i * 4096, &value, 8);
			assert_int_equal(le64toh(value), sum);
			sum += i;
		}
		rig_mr_get(mr, PAIR_IOVA, &value, 8);
		assert_int_equal(le64toh(value), sum);
		rig_mr_get(mr, PAIR_IOVA + 8, &i, 4);
		assert_int_equal(i, STREAM - 3);
	}
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

#define REGIONS 16

/*
 * Registrations among messages that have to be sent again: each is in effect for the messages after
 * it, and completes in order.
 */
static void test_registrations(void **state)
{
	struct rig_qp_opts opts = {.flags = OHCA_QP_F_PRIVILEGED, .ext = true};
	struct pair p = open_pair(&opts);
	struct rig_mr *mr = rig_mr_new(p.a->hca, PAIR_IOVA, REGIONS * 8192, 0, 0);
	uint32_t key[REGIONS];
	unsigned int round, i;

	(void)state;
	for (i = 0; i < REGIONS; i++)
		key[i] = memop_key(p.a->hca, OHCA_MKEY_FAST_REG, mr->num_pages);
	for (round = 0; round < 30; round++) {
		struct ohca_sq_wqe fields;
		struct ohca_wqe_ext ext;
		struct rig_wr wr;

		link_seed(200 + round);
		memset(&link_faults, 0, sizeof(link_faults));
		rig_mr_fill(mr, PAIR_IOVA, REGIONS * 8192, round);
		for (i = 0; i < REGIONS; i++) {
			struct ohca_sge sge = rig_sge(mr, i * 8192, 8192);

			key[i] = memop_next_key(key[i]);
			wr = memop_reg_wr(mr, 0, key[i], 0, &fields, &ext);
			rig_put_send(p.a, &wr);
			sge.lkey = htole32(key[i]);
			wr = (struct rig_wr){.opcode = OHCA_OP_RDMA_WRITE,
					     .flags = OHCA_WQE_SIGNALED,
					     .num_sge = 1,
					     .sge = &sge,
					     .raddr = PAIR_IOVA + i * 8192,
					     .rkey = p.mb->key};
			rig_put_send(p.a, &wr);
		}
		for (i = 0; i < REGIONS; i++) {
			wr = memop_inv_wr(key[i]);
			rig_put_send(p.a, &wr);
		}
		link_faults = (struct link_faults){
			.cut = 512, .drop = ONE_IN(32), .dup = ONE_IN(32), .delay = ONE_IN(64)};
		rig_ring(p.a);
		for (i = 0; i < 2 * REGIONS; i++)
			pair_assert_send_done(p.a, 0, i % 2 ? OHCA_OP_RDMA_WRITE : OHCA_OP_REG_MR);
		for (i = 0; i < REGIONS; i++)
			pair_assert_send_done(p.a, 0, OHCA_OP_LOCAL_INV);
		assert_true(rig_mr_is(p.mb, PAIR_IOVA, REGIONS * 8192, round));
	}
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

/* A send with invalidate that arrives more than once invalidates once. */
static void test_remote_inv(void **state)
{
	struct pair p = open_pair(NULL);
	struct rig_mr *mr = rig_mr_new(p.b->hca, PAIR_IOVA, 4096,
				       OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_MW_BIND, 0);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 3000);
	struct ohca_sge into = rig_sge(p.mb, PAIR_IOVA, 3000);
	struct memop_bind bind = {.lkey = mr->key,
				  .addr = PAIR_IOVA,
				  .length = 4096,
				  .access = OHCA_ACCESS_REMOTE_READ,
				  .new_rkey = memop_key(p.b->hca, OHCA_MKEY_MW_2, 0)};
	unsigned int i;

	(void)state;
	link_seed(9);
	for (i = 0; i < 300; i++) {
		struct rig_wr wr = {.wr_id = i,
				    .opcode = OHCA_OP_SEND_INV,
				    .flags = OHCA_WQE_SIGNALED,
				    .num_sge = 1,
				    .sge = &sge};
		struct ohca_cqe cqe;

		bind.rkey = bind.new_rkey;
		bind.new_rkey = memop_next_key(bind.rkey);
		assert_int_equal(memop_bind(p.b, &bind).status, 0);
		wr.inv_key = bind.new_rkey;
		link_faults = (struct link_faults){
			.cut = 512, .drop = ONE_IN(16), .dup = ONE_IN(8), .delay = ONE_IN(32)};
		rig_post_recv(p.b, i, &into, 1);
		rig_post_send(p.a, &wr);
		cqe = rig_wait_recv(p.b);
		assert_int_equal(cqe.status, 0);
		assert_int_equal(le32toh(cqe.inv_key), bind.new_rkey);
		pair_assert_send_done(p.a, i, OHCA_OP_SEND_INV);
	}
	assert_true(link_happened.dup > 20 && link_happened.drop > 20);
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

/* A link that carries nothing: the retries are exhausted. */
static void test_dead(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100);
	struct rig_wr wr = {.wr_id = 5,
			    .opcode = OHCA_OP_RDMA_WRITE,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};

	(void)state;
	p.a->attr.timeout = 5;
	p.a->attr.retry_cnt = 3;
	rig_connect(p.a, p.b);
	link_seed(8);
	link_faults = (struct link_faults){.drop = 1024};
	rig_post_send(p.a, &wr);
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_RETRY_EXC_ERR);
	assert_int_equal(link_happened.drop, 4);
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_ERR);
	memset(&link_faults, 0, sizeof(link_faults));
	rig_close(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_drop),
		cmocka_unit_test(test_dup),	   cmocka_unit_test(test_delay),
		cmocka_unit_test(test_everything), cmocka_unit_test(test_stream),
		cmocka_unit_test(test_rnr),	   cmocka_unit_test(test_registrations),
		cmocka_unit_test(test_remote_inv), cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_dead),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
