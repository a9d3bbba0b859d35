// SPDX-License-Identifier: GPL-2.0
/* Reliable connections: every error, its status, and the resulting state. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "pair.h"
#include "rig_assert.h"

#define FAR_AWAY (PAIR_IOVA + (1ULL << 40))

static struct rig_wr wr_of(const struct pair *p, uint8_t opcode, const struct ohca_sge *sge)
{
	struct rig_wr wr = {
		.wr_id = 77,
		.opcode = opcode,
		.num_sge = 1,
		.sge = sge,
		.raddr = PAIR_IOVA,
		.rkey = p->mb->key,
	};

	return wr;
}

/*
 * Post a valid RDMA READ, the invalid work request, and two more: the first one succeeds, the
 * invalid one completes as expected, the others are flushed, and a receive of the same QP too.
 */
static void check_local(struct pair *p, const struct rig_wr *bad, uint8_t status,
			uint32_t vendor_err)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, 60000);
	struct rig_wr good = wr_of(p, OHCA_OP_RDMA_READ, &sge);
	struct ohca_cqe cqe;

	good.flags = OHCA_WQE_SIGNALED;
	good.wr_id = 1;
	rig_post_recv(p->a, 9, &sge, 1);
	rig_put_send(p->a, &good);
	rig_put_send(p->a, bad);
	good.wr_id = 2;
	rig_put_send(p->a, &good);
	good.flags = 0;
	good.wr_id = 3;
	rig_post_send(p->a, &good);
	pair_assert_send_done(p->a, 1, OHCA_OP_RDMA_READ);
	cqe = rig_wait_send(p->a);
	assert_cqe(cqe, status, vendor_err, bad->wr_id);
	assert_int_equal(cqe.opcode, bad->opcode);
	assert_cqe(rig_wait_send(p->a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 2);
	assert_cqe(rig_wait_send(p->a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 3);
	assert_cqe(rig_wait_recv(p->a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 9);
	assert_state(p->a, OHCA_QPS_ERR);
	assert_state(p->b, OHCA_QPS_RTS);
}

/* Both back to RTS, for the next case. */
static void reconnect(struct pair *p)
{
	rig_to_reset(p->a);
	rig_to_reset(p->b);
	rig_connect(p->a, p->b);
}

static void test_bad_wqe(void **state)
{
	static const uint8_t opcodes[] = {0, 16, 0x80, 0xff};
	struct rig_qp_opts opts = {.max_sge = 2, .max_inline = 100};
	struct pair p = pair_open(server, &opts);
	struct ohca_sge sge[3] = {rig_sge(p.ma, PAIR_IOVA, 8), rig_sge(p.ma, PAIR_IOVA, 8)};
	uint8_t data[104] = {0};
	struct rig_wr wr;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(opcodes); i++) {
		wr = wr_of(&p, opcodes[i], sge);
		check_local(&p, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
		reconnect(&p);
	}
	for (i = 0x10; i < 0x100; i <<= 1) {
		wr = wr_of(&p, OHCA_OP_SEND, sge);
		wr.flags = i;
		check_local(&p, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
		reconnect(&p);
	}
	for (i = 0; i < PAIR_OPS; i++) {
		wr = wr_of(&p, pair_all_ops[i], sge);
		wr.num_sge = 3;
		check_local(&p, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
		reconnect(&p);
	}
	wr = wr_of(&p, OHCA_OP_SEND, sge);
	wr.inl = data;
	wr.inl_len = 101;
	check_local(&p, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE);
	reconnect(&p);
	wr = wr_of(&p, OHCA_OP_RDMA_READ, sge);
	wr.inl = data;
	wr.inl_len = 8;
	check_local(&p, &wr, OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE);
	rig_close(p.rig);
}

static void test_too_long(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge[4] = {rig_sge(p.ma, 0, 1U << 30), rig_sge(p.ma, 0, 1)};
	struct rig_wr wr = wr_of(&p, OHCA_OP_RDMA_WRITE, sge);
	unsigned int i;

	(void)state;
	wr.num_sge = 2;
	check_local(&p, &wr, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	reconnect(&p);
	/* A total that exceeds 32 bits */
	for (i = 0; i < 4; i++)
		sge[i] = rig_sge(p.ma, 0, 0x80000000U);
	wr.num_sge = 4;
	check_local(&p, &wr, OHCA_WC_LOC_LEN_ERR, OHCA_VENDOR_ERR_LENGTH);
	rig_close(p.rig);
}

/* A region in another protection domain. */
static struct rig_mr *foreign_mr(struct rig_hca *hca)
{
	uint32_t pdn = hca->pdn;
	struct rig_mr *mr;

	hca->pdn = drv_create(hca->drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	mr = rig_mr_new(hca, PAIR_IOVA, 8192, RIG_ALL_ACCESS, 0);
	hca->pdn = pdn;
	return mr;
}

/* A region whose pages are unmapped. */
static uint32_t hollow_key(struct rig_hca *hca)
{
	struct ohca_create_mkey_in in = {
		.xlt = {.addr = htole64(DRV_NOWHERE), .npages = htole32(1), .page_shift = 12},
		.iova = htole64(0x1000),
		.length = htole64(4096),
		.pdn = htole32(hca->pdn),
		.access = RIG_ALL_ACCESS,
	};

	return drv_create(hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

static struct ohca_sge raw_sge(uint64_t addr, uint32_t len, uint32_t key)
{
	struct ohca_sge sge = {.addr = htole64(addr), .length = htole32(len), .lkey = htole32(key)};

	return sge;
}

static void test_local_protection(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct rig_mr *foreign = foreign_mr(&p.rig->hca[0]);
	struct rig_mr *ro = rig_mr_new(&p.rig->hca[0], PAIR_IOVA, 8192, 0, 0);
	struct rig_mr *gone = rig_mr_new(&p.rig->hca[0], PAIR_IOVA, 8192, RIG_ALL_ACCESS, 0);
	uint32_t hollow = hollow_key(&p.rig->hca[0]);
	const struct {
		uint8_t op;
		struct ohca_sge sge;
		uint32_t vendor_err;
	} cases[] = {
		{OHCA_OP_SEND, raw_sge(PAIR_IOVA, 8, 0), OHCA_VENDOR_ERR_KEY},
		{OHCA_OP_SEND, raw_sge(PAIR_IOVA, 8, p.ma->key + 1), OHCA_VENDOR_ERR_KEY},
		{OHCA_OP_SEND, raw_sge(PAIR_IOVA, 8, 0x100), OHCA_VENDOR_ERR_KEY},
		{OHCA_OP_SEND, raw_sge(PAIR_IOVA, 8, gone->key), OHCA_VENDOR_ERR_KEY},
		{OHCA_OP_RDMA_WRITE, raw_sge(PAIR_IOVA, 8, foreign->key), OHCA_VENDOR_ERR_PD},
		{OHCA_OP_RDMA_WRITE, raw_sge(PAIR_IOVA - 1, 8, p.ma->key), OHCA_VENDOR_ERR_BOUNDS},
		{OHCA_OP_RDMA_WRITE, raw_sge(PAIR_IOVA + PAIR_LEN - 7, 8, p.ma->key),
		 OHCA_VENDOR_ERR_BOUNDS},
		{OHCA_OP_RDMA_WRITE, raw_sge(FAR_AWAY, 8, p.ma->key), OHCA_VENDOR_ERR_BOUNDS},
		{OHCA_OP_RDMA_WRITE, raw_sge(~0ULL, 8, p.ma->key), OHCA_VENDOR_ERR_BOUNDS},
		{OHCA_OP_RDMA_READ, raw_sge(PAIR_IOVA, 8, ro->key), OHCA_VENDOR_ERR_ACCESS},
		{OHCA_OP_RDMA_READ, raw_sge(FAR_AWAY, 8, p.ma->key), OHCA_VENDOR_ERR_BOUNDS},
		{OHCA_OP_RDMA_WRITE, raw_sge(0x1000, 8, hollow), OHCA_VENDOR_ERR_DMA},
		{OHCA_OP_RDMA_READ, raw_sge(0x1000, 8, hollow), OHCA_VENDOR_ERR_DMA},
	};
	unsigned int i;

	(void)state;
	assert_int_equal(rig_mr_destroy(gone), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig_wr wr = wr_of(&p, cases[i].op, &cases[i].sge);
		struct ohca_sge into = rig_sge(p.mb, PAIR_IOVA, 64);

		rig_post_recv(p.b, 0, &into, 1);
		check_local(&p, &wr, OHCA_WC_LOC_PROT_ERR, cases[i].vendor_err);
		reconnect(&p);
	}
	rig_close(p.rig);
}

/* The invalid element is at the end of the message: the data before it were sent already. */
static void test_late_local_protection(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge[2] = {rig_sge(p.ma, PAIR_IOVA, 1 << 20), raw_sge(PAIR_IOVA, 8, 0)};
	struct rig_wr wr = wr_of(&p, OHCA_OP_RDMA_WRITE, sge);

	(void)state;
	wr.num_sge = 2;
	check_local(&p, &wr, OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
	rig_close(p.rig);
}

/*
 * A request that the peer refuses: the sender's status.  The peer's QP enters the error state with
 * @event, and its receives are flushed; the first one completes with @recv_status if that is not 0.
 */
static void check_remote(struct pair *p, const struct rig_wr *wr, const struct ohca_sge *into,
			 uint8_t status, enum ohca_event event, uint8_t recv_status,
			 uint32_t recv_err)
{
	struct ohca_sge none[4];

	memset(none, 0, sizeof(none));
	rig_post_recv(p->b, 100, into ? into : none, 1);
	rig_post_recv(p->b, 101, none, 4);
	rig_put_send(p->a, wr);
	rig_post_send(p->a, wr);
	assert_cqe(rig_wait_send(p->a), status, OHCA_VENDOR_ERR_NAK, wr->wr_id);
	assert_cqe(rig_wait_send(p->a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, wr->wr_id);
	if (recv_status)
		assert_cqe(rig_wait_recv(p->b), recv_status, recv_err, 100);
	else
		assert_cqe(rig_wait_recv(p->b), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 100);
	assert_cqe(rig_wait_recv(p->b), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 101);
	if (event)
		rig_wait_event(p->b->hca, event, p->b->qpn);
	assert_state(p->a, OHCA_QPS_ERR);
	assert_state(p->b, OHCA_QPS_ERR);
	reconnect(p);
}

static void test_remote_access(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_RDMA_WRITE, OHCA_OP_RDMA_READ,
				      OHCA_OP_RDMA_WRITE_IMM};
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct rig_mr *foreign = foreign_mr(&p.rig->hca[1]);
	struct rig_mr *local =
		rig_mr_new(&p.rig->hca[1], PAIR_IOVA, 8192, OHCA_ACCESS_LOCAL_WRITE, 0);
	const struct {
		uint64_t addr;
		uint32_t key;
		uint32_t err;
	} cases[] = {
		{PAIR_IOVA, 0, OHCA_VENDOR_ERR_KEY},
		{PAIR_IOVA, p.mb->key ^ 0x100, OHCA_VENDOR_ERR_KEY},
		{PAIR_IOVA, 0x100, OHCA_VENDOR_ERR_KEY},
		{PAIR_IOVA, foreign->key, OHCA_VENDOR_ERR_PD},
		{PAIR_IOVA, local->key, OHCA_VENDOR_ERR_ACCESS},
		{PAIR_IOVA - 1, p.mb->key, OHCA_VENDOR_ERR_BOUNDS},
		{PAIR_IOVA + PAIR_LEN - 7, p.mb->key, OHCA_VENDOR_ERR_BOUNDS},
		{~0ULL, p.mb->key, OHCA_VENDOR_ERR_BOUNDS},
		{FAR_AWAY, p.mb->key, OHCA_VENDOR_ERR_BOUNDS},
	};
	unsigned int o, i;

	(void)state;
	for (o = 0; o < sizeof(ops); o++) {
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			struct rig_wr wr = wr_of(&p, ops[o], &sge);
			bool imm = op_receives(ops[o]);

			wr.raddr = cases[i].addr;
			wr.rkey = cases[i].key;
			check_remote(&p, &wr, NULL, OHCA_WC_REM_ACCESS_ERR,
				     OHCA_EVENT_QP_ACCESS_ERR, imm ? OHCA_WC_LOC_ACCESS_ERR : 0,
				     imm ? cases[i].err : 0);
		}
	}
	rig_close(p.rig);
}

/* Nothing is written if the message is too long as a whole. */
static void test_remote_access_long(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct rig_mr *small = rig_mr_new(&p.rig->hca[1], PAIR_IOVA, 900000, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 1 << 20);
	struct rig_wr wr = wr_of(&p, OHCA_OP_RDMA_WRITE, &sge);

	(void)state;
	wr.rkey = small->key;
	rig_mr_fill(p.ma, PAIR_IOVA, 1 << 20, 1);
	rig_mr_fill(small, PAIR_IOVA, 900000, 2);
	check_remote(&p, &wr, NULL, OHCA_WC_REM_ACCESS_ERR, OHCA_EVENT_QP_ACCESS_ERR, 0, 0);
	assert_true(rig_mr_is(small, PAIR_IOVA, 900000, 2));
	rig_close(p.rig);
}

/* A request of length zero accesses no memory: keys and addresses are ignored on both sides. */
static void test_zero_bytes(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_RDMA_WRITE, OHCA_OP_RDMA_READ, OHCA_OP_SEND,
				      OHCA_OP_RDMA_WRITE_IMM};
	struct pair p = pair_open(server, NULL);
	struct ohca_sge nothing = raw_sge(FAR_AWAY, 0, 77);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(ops); i++) {
		struct rig_wr wr = wr_of(&p, ops[i], &nothing);

		wr.flags = OHCA_WQE_SIGNALED;
		wr.raddr = ~0ULL;
		wr.rkey = 0;
		if (op_receives(ops[i]))
			rig_post_recv(p.b, i, &nothing, 1);
		rig_post_send(p.a, &wr);
		pair_assert_send_done(p.a, 77, ops[i]);
		if (op_receives(ops[i]))
			assert_cqe(rig_wait_recv(p.b), OHCA_WC_SUCCESS, 0, i);
	}
	rig_close(p.rig);
}

/* Memory that was unmapped although the key is valid. */
static void test_remote_memory_gone(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_RDMA_WRITE, OHCA_OP_RDMA_READ};
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	unsigned int o;

	(void)state;
	for (o = 0; o < sizeof(ops); o++) {
		struct rig_wr wr = wr_of(&p, ops[o], &sge);

		wr.rkey = hollow_key(&p.rig->hca[1]);
		wr.raddr = 0x1000;
		check_remote(&p, &wr, NULL, OHCA_WC_REM_OP_ERR, OHCA_EVENT_QP_ACCESS_ERR, 0, 0);
	}
	rig_close(p.rig);
}

/* The QP does not allow the access, or not as many at a time. */
static void test_remote_invalid(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8), big = rig_sge(p.ma, PAIR_IOVA, 1 << 20);
	struct rig_wr wr = wr_of(&p, OHCA_OP_RDMA_WRITE, &sge),
		      rd = wr_of(&p, OHCA_OP_RDMA_READ, &big);

	(void)state;
	p.b->attr.access = OHCA_ACCESS_REMOTE_READ;
	rig_connect(p.a, p.b);
	check_remote(&p, &wr, NULL, OHCA_WC_REM_INV_REQ_ERR, OHCA_EVENT_QP_REQ_ERR, 0, 0);
	p.b->attr.access = OHCA_ACCESS_REMOTE_WRITE;
	reconnect(&p);
	wr.opcode = OHCA_OP_RDMA_READ;
	check_remote(&p, &wr, NULL, OHCA_WC_REM_INV_REQ_ERR, OHCA_EVENT_QP_REQ_ERR, 0, 0);

	/* More READs at a time than it allows: the earlier ones are answered. */
	p.b->attr.access = OHCA_ACCESS_REMOTE_READ;
	p.b->attr.max_dest_rd_atomic = 2;
	reconnect(&p);
	rd.flags = OHCA_WQE_SIGNALED;
	rig_put_send(p.a, &rd);
	rig_put_send(p.a, &rd);
	rig_put_send(p.a, &rd);
	rig_post_send(p.a, &rd);
	pair_assert_send_done(p.a, 77, OHCA_OP_RDMA_READ);
	pair_assert_send_done(p.a, 77, OHCA_OP_RDMA_READ);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_REM_INV_REQ_ERR, OHCA_VENDOR_ERR_NAK, 77);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 77);
	rig_wait_event(p.b->hca, OHCA_EVENT_QP_REQ_ERR, p.b->qpn);

	/* None is allowed: the requester knows that */
	p.a->attr.max_rd_atomic = 0;
	reconnect(&p);
	rig_post_send(p.a, &rd);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_OPCODE, 77);
	rig_close(p.rig);
}

static void test_receive(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100000), into;
	struct rig_mr *ro = rig_mr_new(&p.rig->hca[1], PAIR_IOVA, 200000, 0, 0);
	struct rig_wr wr = wr_of(&p, OHCA_OP_SEND, &sge);

	(void)state;
	into = rig_sge(p.mb, PAIR_IOVA, 99999);
	check_remote(&p, &wr, &into, OHCA_WC_REM_INV_REQ_ERR, 0, OHCA_WC_LOC_LEN_ERR,
		     OHCA_VENDOR_ERR_LENGTH);
	into = rig_sge(ro, PAIR_IOVA, 100000);
	check_remote(&p, &wr, &into, OHCA_WC_REM_OP_ERR, 0, OHCA_WC_LOC_PROT_ERR,
		     OHCA_VENDOR_ERR_ACCESS);
	into = raw_sge(PAIR_IOVA, 100000, 0);
	check_remote(&p, &wr, &into, OHCA_WC_REM_OP_ERR, 0, OHCA_WC_LOC_PROT_ERR,
		     OHCA_VENDOR_ERR_KEY);
	into = rig_sge(p.mb, FAR_AWAY, 100000);
	check_remote(&p, &wr, &into, OHCA_WC_REM_OP_ERR, 0, OHCA_WC_LOC_PROT_ERR,
		     OHCA_VENDOR_ERR_BOUNDS);

	/* More elements than the queue was made for */
	rig_post_recv(p.b, 100, &into, 1);
	((struct ohca_rq_wqe *)rig_rq_entry(p.b, 0))->num_sge = htole32(5);
	rig_post_send(p.a, &wr);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK, 77);
	assert_cqe(rig_wait_recv(p.b), OHCA_WC_LOC_QP_OP_ERR, OHCA_VENDOR_ERR_WQE_SGE, 100);
	rig_close(p.rig);
}

static void test_rnr(void **state)
{
	struct pair p = pair_new(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100), into = rig_sge(p.mb, PAIR_IOVA, 100);
	struct rig_wr wr = wr_of(&p, OHCA_OP_SEND, &sge);
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		p.a->attr.rnr_retry = i;
		p.b->attr.min_rnr_timer = 5;
		reconnect(&p);
		wr.opcode = i == 1 ? OHCA_OP_RDMA_WRITE_IMM : OHCA_OP_SEND;
		rig_post_send(p.a, &wr);
		assert_cqe(rig_wait_send(p.a), OHCA_WC_RNR_RETRY_EXC_ERR, OHCA_VENDOR_ERR_RNR, 77);
		assert_state(p.a, OHCA_QPS_ERR);
		assert_state(p.b, OHCA_QPS_RTS);
	}
	/* Infinite retries; and later requests complete too. */
	p.a->attr.rnr_retry = 7;
	p.b->attr.min_rnr_timer = 1;
	reconnect(&p);
	wr.flags = OHCA_WQE_SIGNALED;
	rig_put_send(p.a, &wr);
	rig_post_send(p.a, &wr);
	for (i = 0; i < 100; i++)
		assert_state(p.a, OHCA_QPS_RTS);
	rig_post_recv(p.b, 1, &into, 1);
	pair_assert_send_done(p.a, 77, OHCA_OP_SEND);
	rig_post_recv(p.b, 2, &into, 1);
	pair_assert_send_done(p.a, 77, OHCA_OP_SEND);
	rig_close(p.rig);
}

/* The address of a port that does not exist */
static void address_nobody(struct rig_qp *qp)
{
	if (qp->hca->lid)
		qp->attr.av.ib.dlid = htole16(99);
	else
		qp->attr.av.dgid[15] = 99;
}

/*
 * Nothing answers: the QP does not exist, is in another state or connected to another one; another
 * GID or LID; a port that is down, which a command can do for Ethernet.
 */
static void test_no_answer(void **state)
{
	struct ohca_modify_port_in down = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	struct pair p = pair_new(server, NULL);
	struct rig_qp *c = rig_qp_new(&p.rig->hca[1], NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100);
	struct rig_wr wr = wr_of(&p, OHCA_OP_RDMA_WRITE, &sge);
	unsigned int i;

	(void)state;
	for (i = 0; i < (p.a->hca->lid ? 6 : 7); i++) {
		rig_to_reset(p.a);
		rig_to_reset(p.b);
		rig_address(p.a, p.b);
		p.a->attr.timeout = 1;
		p.a->attr.retry_cnt = i;
		if (i == 0)
			p.a->attr.dest_qpn = htole32(0xabcdef);
		if (i == 1)
			p.a->attr.dest_qpn = htole32(c->qpn);
		if (i == 2)
			p.b->attr.dest_qpn = htole32(p.a->qpn + 1);
		if (i == 3)
			address_nobody(p.a);
		if (i == 4)
			address_nobody(p.b);
		assert_int_equal(rig_to_init(p.a) || rig_to_rtr(p.a) || rig_to_rts(p.a), 0);
		assert_int_equal(rig_to_init(p.b), 0);
		if (i != 5)
			assert_int_equal(rig_to_rtr(p.b), 0);
		if (i == 6)
			assert_int_equal(drv_cmd(p.rig->hca[1].drv, OHCA_CMD_MODIFY_PORT, &down,
						 sizeof(down), NULL, 0),
					 0);
		rig_post_send(p.a, &wr);
		assert_cqe(rig_wait_send(p.a), OHCA_WC_RETRY_EXC_ERR, OHCA_VENDOR_ERR_TIMEOUT, 77);
		assert_state(p.a, OHCA_QPS_ERR);
	}
	rig_close(p.rig);
}

/*
 * Work requests posted to a QP in the error state are flushed too, later; those of the receive
 * queue without a doorbell.
 */
static void test_flush_later(void **state)
{
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100);
	struct rig_wr wr = wr_of(&p, OHCA_OP_SEND, &sge);
	unsigned int i;

	(void)state;
	rig_post_recv(p.a, 1000, &sge, 1);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_cqe(rig_wait_recv(p.a), OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, 1000);
	for (i = 0; i < 20; i++) {
		struct ohca_cqe cqe;

		rig_post_recv(p.a, i, &sge, 1);
		cqe = rig_wait_recv(p.a);
		assert_cqe(cqe, OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, i);
		assert_int_equal(le32toh(cqe.wqe_idx), i + 1);
		assert_int_equal(cqe.flags & OHCA_CQE_F_RQ, OHCA_CQE_F_RQ);
		wr.wr_id = i;
		rig_post_send(p.a, &wr);
		cqe = rig_wait_send(p.a);
		assert_cqe(cqe, OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH, i);
		assert_int_equal(le32toh(cqe.wqe_idx), i);
		assert_int_equal(cqe.opcode, OHCA_OP_SEND);
	}
	rig_close(p.rig);
}

/* Invalid producer indices. */
static void test_index_jump(void **state)
{
	static const int32_t jumps[] = {65, 1000, -1, 0x7fffffff};
	struct pair p = pair_open(server, NULL);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100);
	struct rig_wr wr = wr_of(&p, OHCA_OP_SEND, &sge);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(jumps); i++) {
		p.a->sq_pi = jumps[i];
		rig_ring(p.a);
		rig_wait_event(p.a->hca, OHCA_EVENT_QP_FATAL, p.a->qpn);
		assert_state(p.a, OHCA_QPS_ERR);
		reconnect(&p);

		__atomic_store_n(&p.b->rq_rec->pi, htole32(jumps[i]), __ATOMIC_RELEASE);
		rig_post_send(p.a, &wr);
		assert_cqe(rig_wait_send(p.a), OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK, 77);
		rig_wait_event(p.b->hca, OHCA_EVENT_QP_FATAL, p.b->qpn);
		assert_state(p.b, OHCA_QPS_ERR);
		reconnect(&p);
	}
	rig_close(p.rig);
}

/* A CQ overrun puts its QPs into the error state. */
static void test_cq_overrun(void **state)
{
	struct rig_qp_opts opts = {.cq_log_size = 2};
	struct pair p = pair_open(server, &opts);
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 100), into = rig_sge(p.mb, PAIR_IOVA, 100);
	struct rig_wr wr = wr_of(&p, OHCA_OP_RDMA_WRITE, &sge);
	unsigned int i;

	(void)state;
	wr.flags = OHCA_WQE_SIGNALED;
	for (i = 0; i < 6; i++)
		rig_put_send(p.a, &wr);
	rig_ring(p.a);
	rig_wait_event(p.a->hca, OHCA_EVENT_CQ_ERR, p.a->scq->cqn);
	assert_state(p.a, OHCA_QPS_ERR);
	rig_close(p.rig);

	p = pair_open(server, &opts);
	sge = rig_sge(p.ma, PAIR_IOVA, 100);
	into = rig_sge(p.mb, PAIR_IOVA, 100);
	wr = wr_of(&p, OHCA_OP_SEND, &sge);
	for (i = 0; i < 6; i++) {
		rig_post_recv(p.b, i, &into, 1);
		rig_put_send(p.a, &wr);
	}
	rig_ring(p.a);
	assert_cqe(rig_wait_send(p.a), OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK, 77);
	rig_wait_event(p.b->hca, OHCA_EVENT_CQ_ERR, p.b->rcq->cqn);
	assert_state(p.b, OHCA_QPS_ERR);
	rig_close(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_wqe),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_local_protection),
		cmocka_unit_test(test_late_local_protection),
		cmocka_unit_test(test_remote_access),
		cmocka_unit_test(test_remote_access_long),
		cmocka_unit_test(test_zero_bytes),
		cmocka_unit_test(test_remote_memory_gone),
		cmocka_unit_test(test_remote_invalid),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_rnr),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_flush_later),
		cmocka_unit_test(test_index_jump),
		cmocka_unit_test(test_cq_overrun),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
