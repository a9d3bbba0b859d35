// SPDX-License-Identifier: GPL-2.0
/* Messages between two QPs. */

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pair.h"

struct pair pair_new_in(struct rig *rig, const struct rig_qp_opts *opts)
{
	struct pair p = {.rig = rig};

	p.a = rig_qp_new(&p.rig->hca[0], opts);
	p.b = rig_qp_new(&p.rig->hca[1], opts);
	p.ma = rig_mr_new(&p.rig->hca[0], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	p.mb = rig_mr_new(&p.rig->hca[1], PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	return p;
}

struct pair pair_new(const struct server *server, const struct rig_qp_opts *opts)
{
	return pair_new_in(rig_open(server), opts);
}

struct pair pair_open(const struct server *server, const struct rig_qp_opts *opts)
{
	struct pair p = pair_new(server, opts);

	rig_connect(p.a, p.b);
	return p;
}

void pair_assert_send_done(struct rig_qp *qp, uint64_t wr_id, uint8_t opcode)
{
	struct ohca_cqe cqe = rig_wait_send(qp);

	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(cqe.opcode, opcode);
	assert_int_equal(le32toh(cqe.qpn), qp->qpn);
}

/* Split @len bytes from @addr on into @num elements of uneven length. */
static void split(struct ohca_sge *sge, unsigned int num, const struct rig_mr *mr, uint64_t addr,
		  uint32_t len)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		uint32_t part = i == num - 1 ? len : (len / num) * (1 + i % 2);

		if (part > len)
			part = len;
		sge[i] = rig_sge(mr, addr, part);
		addr += part;
		len -= part;
	}
}

bool op_writes(uint8_t op)
{
	return op == OHCA_OP_RDMA_WRITE || op == OHCA_OP_RDMA_WRITE_IMM;
}

bool op_receives(uint8_t op)
{
	return op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM || op == OHCA_OP_RDMA_WRITE_IMM;
}

bool op_has_imm(uint8_t op)
{
	return op == OHCA_OP_SEND_IMM || op == OHCA_OP_RDMA_WRITE_IMM;
}

/* The 64 bytes on either side of the message still have their earlier pattern. */
static void assert_untouched(struct rig_mr *mr, uint64_t addr, uint32_t len, uint32_t seed)
{
	uint8_t *now = malloc(len + 128), *old = malloc(len + 128);

	assert_true(now && old);
	rig_mr_get(mr, addr - 64, now, len + 128);
	rig_mr_fill(mr, addr - 64, len + 128, seed);
	rig_mr_get(mr, addr - 64, old, len + 128);
	assert_memory_equal(now, old, 64);
	assert_memory_equal(now + 64 + len, old + 64 + len, 64);
	free(now);
	free(old);
}

void pair_check_message(struct pair *p, uint8_t op, const struct pair_layout *l, uint32_t seed)
{
	bool read = op == OHCA_OP_RDMA_READ;
	struct rig_mr *from = read ? p->mb : p->ma, *to = read ? p->ma : p->mb;
	uint64_t src = PAIR_IOVA + 64 + l->src_off, dst = PAIR_IOVA + 4096 + l->dst_off;
	struct ohca_sge send[32], recv[32];
	struct rig_wr wr = {
		.wr_id = 0x1234567800000000ULL + seed,
		.opcode = op,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = l->src_sge,
		.sge = send,
		.imm = 0xcafe0000 + seed,
		.raddr = read ? src : dst,
		.rkey = p->mb->key,
	};
	struct ohca_cqe cqe;

	rig_mr_fill(from, src, l->len, seed);
	rig_mr_fill(to, dst - 64, l->len + 128, ~seed);
	split(send, l->src_sge, p->ma, read ? dst : src, l->len);
	split(recv, l->dst_sge, p->mb, dst, l->len);
	if (op_receives(op))
		rig_post_recv(p->b, seed, recv, op_writes(op) ? 0 : l->dst_sge);
	rig_post_send(p->a, &wr);
	if (op_receives(op)) {
		cqe = rig_wait_recv(p->b);
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(le64toh(cqe.wr_id), seed);
		assert_int_equal(le32toh(cqe.byte_len), l->len);
		assert_int_equal(le32toh(cqe.qpn), p->b->qpn);
		assert_int_equal(cqe.opcode,
				 op_writes(op) ? OHCA_CQE_RECV_RDMA_IMM : OHCA_CQE_RECV);
		assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | (op_has_imm(op) ? OHCA_CQE_F_IMM : 0));
		if (op_has_imm(op))
			assert_int_equal(be32toh(cqe.imm_data), wr.imm);
	}
	pair_assert_send_done(p->a, wr.wr_id, op);
	assert_true(rig_mr_is(to, dst, l->len, seed));
	assert_untouched(to, dst, l->len, ~seed);
}

const uint8_t pair_all_ops[PAIR_OPS] = {OHCA_OP_SEND, OHCA_OP_SEND_IMM, OHCA_OP_RDMA_WRITE,
					OHCA_OP_RDMA_WRITE_IMM, OHCA_OP_RDMA_READ};
