// SPDX-License-Identifier: GPL-2.0
/* Reliable connections: every operation and its result. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "pair.h"

static void test_sizes(void **state)
{
	static const uint32_t sizes[] = {0,
					 1,
					 7,
					 8,
					 63,
					 64,
					 65,
					 1023,
					 1024,
					 1025,
					 4095,
					 4096,
					 4097,
					 65536,
					 262143,
					 262144,
					 262145,
					 1 << 20,
					 (1 << 20) + 4097};
	static const uint16_t offs[] = {0, 1, 63, 4095};
	struct pair p = pair_open(server, NULL);
	unsigned int o, s, i;
	uint32_t seed = 1;

	(void)state;
	for (o = 0; o < PAIR_OPS; o++) {
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			for (i = 0; i < 16; i++) {
				struct pair_layout l = {sizes[s], offs[i % 4], offs[i / 4], 1, 1};

				if (sizes[s] > 65536 && i % 5)
					continue;
				pair_check_message(&p, pair_all_ops[o], &l, seed++);
			}
		}
	}
	rig_close(p.rig);
}

static void test_gather_scatter(void **state)
{
	static const uint32_t sizes[] = {0, 1, 31, 64, 4096, 4097, 70000, 300001, (1 << 20) + 1};
	static const uint16_t counts[] = {1, 2, 3, 16, 32};
	struct rig_qp_opts opts = {.max_sge = 32};
	struct pair p = pair_open(server, &opts);
	unsigned int o, s, i, j;
	uint32_t seed = 1;

	(void)state;
	for (o = 0; o < PAIR_OPS; o++) {
		for (s = 0; s < ARRAY_SIZE(sizes); s++) {
			for (i = 0; i < 5; i++) {
				for (j = 0; j < 5; j++) {
					struct pair_layout l = {sizes[s], 3, 5, counts[i],
								counts[j]};

					if (sizes[s] > 100000 && (i + j) % 3)
						continue;
					pair_check_message(&p, pair_all_ops[o], &l, seed++);
				}
			}
		}
	}
	rig_close(p.rig);
}

static void test_mtus(void **state)
{
	struct rig *rig = rig_open(server);
	unsigned int mtu, o;
	uint32_t seed = 1;

	(void)state;
	for (mtu = 1; mtu <= 5; mtu++) {
		struct pair p = {.rig = rig};

		p.a = rig_qp_new(&rig->hca[0], NULL);
		p.b = rig_qp_new(&rig->hca[1], NULL);
		p.ma = rig_mr_new(&rig->hca[0], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
		p.mb = rig_mr_new(&rig->hca[1], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
		p.a->attr.path_mtu = mtu;
		p.b->attr.path_mtu = mtu;
		rig_connect(p.a, p.b);
		for (o = 0; o < PAIR_OPS; o++) {
			struct pair_layout l = {600001, 1, 2, 2, 3};

			pair_check_message(&p, pair_all_ops[o], &l, seed++);
		}
	}
	rig_close(rig);
}

static void test_inline(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_SEND, OHCA_OP_RDMA_WRITE, OHCA_OP_RDMA_WRITE_IMM};
	struct rig_qp_opts opts = {.max_inline = OHCA_MAX_INLINE};
	struct pair p = pair_open(server, &opts);
	uint8_t data[OHCA_MAX_INLINE], got[OHCA_MAX_INLINE];
	unsigned int o, len, i;

	(void)state;
	for (o = 0; o < sizeof(ops); o++) {
		for (len = 0; len <= OHCA_MAX_INLINE; len += len < 70 ? 1 : 151) {
			struct ohca_sge sge = rig_sge(p.mb, PAIR_IOVA, sizeof(got));
			struct rig_wr wr = {.opcode = ops[o],
					    .flags = OHCA_WQE_SIGNALED,
					    .inl = data,
					    .inl_len = len,
					    .raddr = PAIR_IOVA,
					    .rkey = p.mb->key};

			for (i = 0; i < len; i++)
				data[i] = i * 7 + len + o;
			if (op_receives(ops[o]))
				rig_post_recv(p.b, 1, &sge, 1);
			rig_post_send(p.a, &wr);
			pair_assert_send_done(p.a, 0, ops[o]);
			if (op_receives(ops[o]))
				assert_int_equal(rig_wait_recv(p.b).status, 0);
			rig_mr_get(p.mb, PAIR_IOVA, got, len);
			assert_memory_equal(data, got, len);
		}
	}
	rig_close(p.rig);
}

/* Many work requests of all kinds at once; the signaled ones complete, in order. */
static void test_order(void **state)
{
	struct rig_qp_opts opts = {.log_size = 8};
	struct pair p = pair_open(server, &opts);
	unsigned int round, i, pending;
	uint32_t idx = 0;

	(void)state;
	srand(1);
	for (round = 0; round < 40; round++) {
		uint8_t ops[200];
		bool sig[200];

		rig_mr_fill(p.ma, PAIR_IOVA, 1 << 20, round);
		rig_mr_fill(p.mb, PAIR_IOVA, 1 << 20, round + 1000);
		for (i = 0; i < 200; i++) {
			uint32_t len = rand() % 3 ? rand() % 64 : rand() % 40000;
			struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA + 4096 * i, len);
			struct ohca_sge into = rig_sge(p.mb, PAIR_IOVA + (2 << 20), 65536);
			struct rig_wr wr = {.wr_id = i,
					    .num_sge = 1,
					    .sge = &sge,
					    .rkey = p.mb->key,
					    .raddr = PAIR_IOVA + (1 << 20)};

			ops[i] = pair_all_ops[rand() % 5];
			sig[i] = i == 199 || rand() % 2;
			wr.opcode = ops[i];
			wr.flags = (sig[i] ? OHCA_WQE_SIGNALED : 0) |
				   (rand() % 8 ? 0 : OHCA_WQE_FENCE);
			if (op_receives(ops[i]))
				rig_post_recv(p.b, i, &into, 1);
			rig_put_send(p.a, &wr);
		}
		rig_ring(p.a);
		for (i = 0, pending = 0; i < 200; i++) {
			struct ohca_cqe cqe;

			if (op_receives(ops[i]))
				pending++;
			if (!sig[i])
				continue;
			cqe = rig_wait_send(p.a);
			assert_int_equal(cqe.status, 0);
			assert_int_equal(le64toh(cqe.wr_id), i);
			assert_int_equal(cqe.opcode, ops[i]);
			assert_int_equal(le32toh(cqe.wqe_idx), idx + i);
		}
		idx += 200;
		while (pending--)
			assert_int_equal(rig_wait_recv(p.b).status, 0);
	}
	rig_close(p.rig);
}

/* Reads of a chain of increments, with and without fences: the fence keeps the order. */
static void test_fence(void **state)
{
	struct pair p = pair_open(server, NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100000);
		struct rig_wr rd = {.opcode = OHCA_OP_RDMA_READ,
				    .num_sge = 1,
				    .sge = &sge,
				    .raddr = PAIR_IOVA,
				    .rkey = p.mb->key};
		struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
				    .num_sge = 1,
				    .sge = &sge,
				    .flags = OHCA_WQE_FENCE | OHCA_WQE_SIGNALED,
				    .raddr = PAIR_IOVA + (1 << 20),
				    .rkey = p.mb->key};

		rig_mr_fill(p.ma, PAIR_IOVA, 100000, 7);
		rig_mr_fill(p.mb, PAIR_IOVA, 100000, i);
		rig_put_send(p.a, &rd);
		rig_put_send(p.a, &wr);
		rig_ring(p.a);
		pair_assert_send_done(p.a, 0, OHCA_OP_RDMA_WRITE);
		assert_true(rig_mr_is(p.mb, PAIR_IOVA + (1 << 20), 100000, i));
	}
	rig_close(p.rig);
}

static void test_many_reads(void **state)
{
	static const uint8_t depths[] = {1, 2, 16, 128};
	struct rig *rig = rig_open(server);
	struct rig_mr *ma = rig_mr_new(&rig->hca[0], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	struct rig_mr *mb = rig_mr_new(&rig->hca[1], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	unsigned int d, i;

	(void)state;
	for (d = 0; d < sizeof(depths); d++) {
		struct rig_qp_opts opts = {.log_size = 7};
		struct rig_qp *a = rig_qp_new(&rig->hca[0], &opts);
		struct rig_qp *b = rig_qp_new(&rig->hca[1], &opts);

		a->attr.max_rd_atomic = depths[d];
		b->attr.max_dest_rd_atomic = depths[d];
		rig_connect(a, b);
		rig_mr_fill(mb, PAIR_IOVA, 128 * 20000, d);
		rig_mr_fill(ma, PAIR_IOVA, 128 * 20000, 99);
		for (i = 0; i < 128; i++) {
			struct ohca_sge sge = rig_sge(ma, PAIR_IOVA + i * 20000, 20000);
			struct rig_wr wr = {.wr_id = i,
					    .opcode = OHCA_OP_RDMA_READ,
					    .num_sge = 1,
					    .sge = &sge,
					    .flags = OHCA_WQE_SIGNALED,
					    .raddr = PAIR_IOVA + i * 20000,
					    .rkey = mb->key};

			rig_put_send(a, &wr);
		}
		rig_ring(a);
		for (i = 0; i < 128; i++)
			pair_assert_send_done(a, i, OHCA_OP_RDMA_READ);
		assert_true(rig_mr_is(ma, PAIR_IOVA, 128 * 20000, d));
	}
	rig_close(rig);
}

static void test_1_gib(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_RDMA_WRITE, OHCA_OP_RDMA_READ, OHCA_OP_SEND};
	/* On the wire the length is smaller, because sanitizers make packets slow. */
	uint32_t len = getenv("OHCAD_WIRE") ? 1U << 26 : 1U << 30;
	struct rig *rig = rig_open(server);
	struct rig_mr *ma = rig_mr_new(&rig->hca[0], 0, len, RIG_ALL_ACCESS, 2);
	struct rig_mr *mb = rig_mr_new(&rig->hca[1], 0, len, RIG_ALL_ACCESS, 2);
	struct ohca_sge sge = rig_sge(ma, 0, len), into = rig_sge(mb, 0, len);
	struct rig_qp *a = rig_qp_new(&rig->hca[0], NULL), *b = rig_qp_new(&rig->hca[1], NULL);
	unsigned int o;

	(void)state;
	rig_connect(a, b);
	for (o = 0; o < sizeof(ops); o++) {
		struct rig_wr wr = {.opcode = ops[o],
				    .flags = OHCA_WQE_SIGNALED,
				    .num_sge = 1,
				    .sge = &sge,
				    .rkey = mb->key};
		bool read = ops[o] == OHCA_OP_RDMA_READ;

		rig_mr_fill(read ? mb : ma, 0, 8192, o);
		if (op_receives(ops[o]))
			rig_post_recv(b, 0, &into, 1);
		rig_post_send(a, &wr);
		pair_assert_send_done(a, 0, ops[o]);
		if (op_receives(ops[o]))
			assert_int_equal(le32toh(rig_wait_recv(b).byte_len), len);
		assert_true(rig_mr_is(read ? ma : mb, 0, 8192, o));
	}
	rig_close(rig);
}

/* Connections within one HCA, and of a QP with itself. */
static void test_loopback(void **state)
{
	struct rig *rig = rig_open(server);
	struct pair p = {.rig = rig};
	unsigned int o, self;
	uint32_t seed = 1;

	(void)state;
	for (self = 0; self < 2; self++) {
		p.a = rig_qp_new(&rig->hca[0], NULL);
		p.b = self ? p.a : rig_qp_new(&rig->hca[0], NULL);
		p.ma = rig_mr_new(&rig->hca[0], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
		p.mb = rig_mr_new(&rig->hca[0], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
		rig_connect(p.a, p.b);
		for (o = 0; o < PAIR_OPS; o++) {
			struct pair_layout l = {100001, 1, 2, 1, 1};

			pair_check_message(&p, pair_all_ops[o], &l, seed++);
			l.len = 8;
			pair_check_message(&p, pair_all_ops[o], &l, seed++);
		}
	}
	rig_close(rig);
}

static void test_solicited(void **state)
{
	struct pair p = pair_open(server, NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8),
				into = rig_sge(p.mb, PAIR_IOVA, 8);
		struct rig_wr wr = {.opcode = i & 1 ? OHCA_OP_SEND : OHCA_OP_RDMA_WRITE_IMM,
				    .num_sge = 1,
				    .sge = &sge,
				    .rkey = p.mb->key,
				    .raddr = PAIR_IOVA};

		wr.flags = OHCA_WQE_SIGNALED | (i & 2 ? OHCA_WQE_SOLICITED : 0);
		rig_post_recv(p.b, i, &into, 1);
		rig_post_send(p.a, &wr);
		assert_int_equal(!!(rig_wait_recv(p.b).flags & OHCA_CQE_F_SOLICITED), i >> 1);
		pair_assert_send_done(p.a, 0, wr.opcode);
	}
	rig_close(p.rig);
}

/* Reserved bytes of entries are ignored: later versions may use them. */
static void test_reserved_bytes(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 64), into = rig_sge(p.mb, PAIR_IOVA, 64);
	struct rig_wr wr = {.wr_id = 7,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge};
	struct ohca_sq_wqe *send = rig_sq_entry(p.a, 0);
	struct ohca_rq_wqe *recv = rig_rq_entry(p.b, 0);

	(void)state;
	rig_mr_fill(p.ma, PAIR_IOVA, 64, 3);
	rig_post_recv(p.b, 8, &into, 1);
	recv->rsvd = htole32(~0U);
	rig_put_send(p.a, &wr);
	memset(send->rsvd, 0xff, sizeof(send->rsvd));
	send->imm_data = ~0U;
	rig_ring(p.a);
	pair_assert_send_done(p.a, 7, OHCA_OP_SEND);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(p.mb, PAIR_IOVA, 64, 3));
	rig_close(p.rig);
}

/* Unused fields of a completion are zero. */
static void test_completion_fields(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 64), into = rig_sge(p.mb, PAIR_IOVA, 64);
	struct rig_wr wr = {.wr_id = 7,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge};
	const struct ohca_cqe sent = {
		.wr_id = htole64(7),
		.qpn = htole32(p.a->qpn),
		.byte_len = htole32(64),
		.opcode = OHCA_OP_SEND,
		.owner = 1,
	};
	const struct ohca_cqe received = {
		.wr_id = htole64(8),
		.qpn = htole32(p.b->qpn),
		.byte_len = htole32(64),
		.opcode = OHCA_CQE_RECV,
		.flags = OHCA_CQE_F_RQ,
		.owner = 1,
	};
	struct ohca_cqe cqe;

	(void)state;
	rig_post_recv(p.b, 8, &into, 1);
	rig_post_send(p.a, &wr);
	cqe = rig_wait_send(p.a);
	assert_memory_equal(&cqe, &sent, sizeof(cqe));
	cqe = rig_wait_recv(p.b);
	assert_memory_equal(&cqe, &received, sizeof(cqe));
	rig_close(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	       cmocka_unit_test(test_gather_scatter),
		cmocka_unit_test(test_mtus),	       cmocka_unit_test(test_inline),
		cmocka_unit_test(test_order),	       cmocka_unit_test(test_fence),
		cmocka_unit_test(test_many_reads),     cmocka_unit_test(test_1_gib),
		cmocka_unit_test(test_loopback),       cmocka_unit_test(test_solicited),
		cmocka_unit_test(test_reserved_bytes), cmocka_unit_test(test_completion_fields),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
