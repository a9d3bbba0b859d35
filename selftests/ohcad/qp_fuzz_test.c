// SPDX-License-Identifier: GPL-2.0
/*
 * Random bytes in work queues, and objects that are destroyed under traffic.  All choices are
 * random, from a seed (environment SEED).
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "pair.h"
#include "rnd.h"

#define NUM_WQES 10000
#define MARK 0xdeadbeefcafeULL

static int start(void **state)
{
	rnd_seed();
	return start_two_hcas(state);
}

static uint64_t rnd64(void)
{
	uint64_t hi = rnd(~0U);

	return hi << 32 | rnd(~0U);
}

static void scribble(void *to, size_t len)
{
	uint8_t *p = to;

	while (len--)
		*p++ = rnd(256);
}

static bool is_ud(const struct pair *p)
{
	return p->a->type == OHCA_QPT_UD;
}

/* A random operation of @from that may be valid for its type, and its destination. */
static void choose_op(const struct pair *p, const struct rig_qp *from, struct rig_wr *wr)
{
	static const uint8_t sends[] = {OHCA_OP_SEND, OHCA_OP_SEND_IMM};

	wr->opcode = pair_all_ops[rnd(p->a->type == OHCA_QPT_UC ? PAIR_OPS - 1 : PAIR_OPS)];
	if (!is_ud(p))
		return;
	wr->opcode = sends[rnd(2)];
	wr->av = &from->attr.av;
	wr->dest_qpn = le32toh(from->attr.dest_qpn);
	wr->qkey = RIG_QKEY;
}

/* An element that is valid, or nearly valid. */
static struct ohca_sge random_sge(const struct pair *p, const struct rig_mr *mr)
{
	/* Four elements are seldom more than a packet. */
	uint32_t len = is_ud(p) ? rnd(rnd(300) ? 1000 : 10000) : rnd(rnd(8) ? 3000 : 300000);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA + rnd(PAIR_LEN / 2), len);

	switch (rnd(1000)) {
	case 0:
		sge.lkey = htole32(rnd(~0U));
		break;
	case 1:
		sge.addr = htole64(rnd64());
		break;
	case 2:
		sge.length = htole32(rnd(~0U));
		break;
	}
	return sge;
}

static void random_send(struct pair *p)
{
	struct ohca_sge sge[8];
	struct rig_wr wr = {
		.wr_id = p->a->sq_pi,
		.flags = rnd(200) ? rnd(8) : rnd(256),
		.num_sge = rnd(100) ? rnd(5) : rnd(9),
		.sge = sge,
		.imm = rnd(~0U),
		.raddr = PAIR_IOVA + PAIR_LEN / 2 + rnd(PAIR_LEN / 4),
		.rkey = p->mb->key,
	};
	unsigned int i;

	for (i = 0; i < 8; i++)
		sge[i] = random_sge(p, p->ma);
	choose_op(p, p->a, &wr);
	switch (rnd(400)) {
	case 0:
		wr.opcode = rnd(256);
		break;
	case 1:
		wr.raddr = rnd64();
		break;
	case 2:
		wr.rkey = rnd(~0U);
		break;
	case 3:
		scribble(rig_sq_entry(p->a, p->a->sq_pi++), 1 << p->a->sq_log_stride);
		return;
	}
	rig_put_send(p->a, &wr);
}

static void random_recv(struct pair *p)
{
	struct ohca_sge sge[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		sge[i] = rnd(4) ? rig_sge(p->mb, PAIR_IOVA, 500000) : random_sge(p, p->mb);
	rig_post_recv(p->b, p->b->rq_pi, sge, rnd(30) ? 4 : rnd(4));
	if (!rnd(200))
		scribble(rig_rq_entry(p->b, p->b->rq_pi - 1), 1 << p->b->rq_log_stride);
}

static void reconnect(struct pair *p)
{
	struct ohca_cqe cqe;

	rig_to_reset(p->a);
	rig_to_reset(p->b);
	while (drv_cq_poll(p->a->scq, &cqe) || drv_cq_poll(p->b->rcq, &cqe))
		;
	drv_cq_ack(p->a->scq);
	drv_cq_ack(p->b->rcq);
	p->a->attr.rnr_retry = rnd(3);
	rig_connect(p->a, p->b);
}

/* Take all completions of the receiver. */
static uint32_t drain_recv(struct pair *p)
{
	struct ohca_cqe cqe;
	uint32_t n = 0;

	while (drv_cq_poll(p->b->rcq, &cqe)) {
		assert_int_equal(le32toh(cqe.qpn), p->b->qpn);
		n++;
	}
	drv_cq_ack(p->b->rcq);
	return n;
}

/*
 * Take completions up to the mark: in order, and flushed after the first error.  Returns whether
 * all were successful.
 */
static bool wait_mark(struct pair *p)
{
	bool failed = false;
	struct ohca_cqe cqe;
	uint32_t last = 0;
	bool any = false;

	do {
		cqe = rig_wait_send(p->a);
		assert_int_equal(le32toh(cqe.qpn), p->a->qpn);
		assert_true(!any || le32toh(cqe.wqe_idx) > last);
		last = le32toh(cqe.wqe_idx);
		any = true;
		if (failed)
			assert_int_equal(cqe.status, OHCA_WC_WR_FLUSH_ERR);
		failed = cqe.status;
		drain_recv(p);
	} while (le64toh(cqe.wr_id) != MARK || last != p->a->sq_pi - 1);
	return !failed;
}

static void check_garbage(uint8_t type)
{
	struct rig_qp_opts opts = {.type = type, .max_inline = 112, .cq_log_size = 8};
	struct pair p = pair_new(server, &opts);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct rig_wr mark = {.wr_id = MARK,
			      .opcode = OHCA_OP_RDMA_WRITE,
			      .flags = OHCA_WQE_SIGNALED,
			      .num_sge = 1,
			      .sge = &sge,
			      .raddr = PAIR_IOVA,
			      .rkey = p.mb->key};
	unsigned int done = 0, good = 0, bad = 0;

	if (is_ud(&p))
		choose_op(&p, p.a, &mark);
	p.b->attr.min_rnr_timer = 1;
	reconnect(&p);
	while (done < NUM_WQES) {
		unsigned int n = 1 + rnd(32), i;

		for (i = 0; i < n; i++) {
			random_send(&p);
			random_recv(&p);
		}
		rig_put_send(p.a, &mark);
		rig_ring(p.a);
		done += n;
		if (wait_mark(&p)) {
			good++;
			/* Flush the unused receives. */
			assert_int_equal(rig_modify(p.b, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
		} else {
			bad++;
			assert_int_equal(rig_query(p.a).state,
					 type == OHCA_QPT_RC ? OHCA_QPS_ERR : OHCA_QPS_SQE);
		}
		reconnect(&p);
	}
	print_message("# %u work requests: %u batches ended well, %u in error\n", done, good, bad);
	assert_true(good > 10 && bad > 10);
	rig_close(p.rig);
}

static void test_garbage_rc(void **state)
{
	(void)state;
	check_garbage(OHCA_QPT_RC);
}

static void test_garbage_uc(void **state)
{
	(void)state;
	check_garbage(OHCA_QPT_UC);
}

static void test_garbage_ud(void **state)
{
	(void)state;
	check_garbage(OHCA_QPT_UD);
}

/* A pair of any type. */
static struct pair random_pair(void)
{
	static const uint8_t types[] = {OHCA_QPT_RC, OHCA_QPT_UC, OHCA_QPT_UD};
	struct rig_qp_opts opts = {.type = types[rnd(3)]};

	return pair_new(server, &opts);
}

static void traffic(struct pair *p, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, rnd(4) ? rnd(4000) : rnd(1 << 20));
		struct ohca_sge into = rig_sge(p->mb, PAIR_IOVA, 1 << 20);
		struct rig_wr wr = {.wr_id = i,
				    .num_sge = 1,
				    .sge = &sge,
				    .raddr = PAIR_IOVA,
				    .rkey = p->mb->key,
				    .flags = rnd(2) ? OHCA_WQE_SIGNALED : 0};

		choose_op(p, p->a, &wr);
		rig_put_send(p->a, &wr);
		choose_op(p, p->b, &wr);
		rig_put_send(p->b, &wr);
		rig_post_recv(p->b, i, &into, 1);
	}
	rig_ring(p->a);
	rig_ring(p->b);
}

/*
 * One of the objects of a connection is destroyed while messages are outstanding; both sides still
 * work.
 */
static void test_teardown(void **state)
{
	struct ohca_modify_port_in port = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	unsigned int round;

	(void)state;
	for (round = 0; round < 300; round++) {
		struct pair p = random_pair();
		struct rig_qp *qp = rnd(2) ? p.a : p.b;

		p.a->attr.timeout = 1;
		p.b->attr.timeout = 1;
		p.a->attr.rnr_retry = rnd(8);
		rig_connect(p.a, p.b);
		traffic(&p, 1 + rnd(40));
		switch (rnd(9)) {
		case 0:
			assert_int_equal(rig_qp_destroy(qp), 0);
			break;
		case 1:
			rig_to_reset(qp);
			break;
		case 2:
			assert_int_equal(rig_modify(qp, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
			break;
		case 3:
			assert_int_equal(rig_mr_destroy(rnd(2) ? p.ma : p.mb), 0);
			break;
		case 4:
			assert_int_equal(drv_cmd(qp->hca->drv, OHCA_CMD_MODIFY_PORT, &port,
						 sizeof(port), NULL, 0),
					 0);
			break;
		case 5:
			drv_reset(qp->hca->drv);
			break;
		case 6:
			assert_int_equal(vu_dma_unmap(qp->hca->drv->vu, DRV_MEM, DRV_MEM_SIZE), 0);
			break;
		case 7:
			/* The client too: rig_close() closes the other one. */
			break;
		case 8:
			rig_to_reset(p.a);
			rig_to_reset(p.b);
			rig_connect(p.a, p.b);
			traffic(&p, 10);
			break;
		}
		rig_close(p.rig);
	}
}

/* Work queues and their records change at any time while the device reads them. */
static void test_scribble(void **state)
{
	unsigned int round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		struct pair p = random_pair();

		p.a->attr.timeout = 1;
		p.a->attr.rnr_retry = 0;
		rig_connect(p.a, p.b);
		traffic(&p, 40);
		for (i = 0; i < 300; i++) {
			struct rig_qp *qp = rnd(2) ? p.a : p.b;
			uint8_t *at = rnd(2) ? rig_sq_entry(qp, rnd(64))
					     : rig_rq_entry(qp, rnd(64));

			at[rnd(32)] ^= 1 << rnd(8);
			if (!rnd(100))
				scribble(qp->sq_rec, 4);
			if (!rnd(100))
				scribble(qp->rq_rec, 4);
			if (!rnd(20))
				drv_ring(qp->hca->drv, 0, qp->hca->drv->shadow, qp->slot);
		}
		rig_query(p.a);
		rig_query(p.b);
		rig_close(p.rig);
	}
}

/* Afterwards the device still works. */
static void test_alive(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct pair_layout l = {100000, 1, 2, 2, 2};
	unsigned int o;

	(void)state;
	for (o = 0; o < PAIR_OPS; o++)
		pair_check_message(&p, pair_all_ops[o], &l, o);
	rig_close(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage_rc), cmocka_unit_test(test_garbage_uc),
		cmocka_unit_test(test_garbage_ud), cmocka_unit_test(test_teardown),
		cmocka_unit_test(test_scribble),   cmocka_unit_test(test_alive),
	};

	return RUN_TESTS(tests, start, stop_hcas);
}
