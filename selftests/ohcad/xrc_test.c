// SPDX-License-Identifier: GPL-2.0
/* XRC: initiators reach any SRQ of a domain through any target of it; invalid requests. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "link_hook.h"
#include "pair.h"
#include "refuse.h"
#include "rig_srq.h"
#include "qp/srq.h"

#define NUM 3 /* initiators and targets */
#define SRQS 2

static struct rig *rig;
static struct rig_hca *ha, *hb;
static struct rig_mr *ma, *mb[SRQS]; /* mb[i] is of the PD of srq[i] */
static uint32_t xrcdn, pdn[SRQS];
static struct drv_cq *cq[SRQS];
static struct rig_srq *srq[SRQS];
static struct rig_qp *ini[NUM], *tgt[NUM];

/* A region of another PD than the HCA's own. */
static struct rig_mr *mr_of(struct rig_hca *hca, uint32_t of)
{
	uint32_t own = hca->pdn;
	struct rig_mr *mr;

	hca->pdn = of;
	mr = rig_mr_new(hca, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC, 0);
	hca->pdn = own;
	return mr;
}

static struct rig_srq *xrc_srq(unsigned int i, uint32_t domain)
{
	struct rig_srq_opts opts = {
		.log_size = 6, .pdn = pdn[i], .xrcdn = domain, .cqn = cq[i]->cqn};

	return rig_srq_new(hb, &opts);
}

static int up(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_XRC_INI};
	unsigned int i;

	(void)state;
	rig = rig_open(server);
	ha = &rig->hca[0];
	hb = &rig->hca[1];
	ma = rig_mr_new(ha, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	xrcdn = drv_create(hb->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0);
	for (i = 0; i < SRQS; i++) {
		pdn[i] = drv_create(hb->drv, OHCA_CMD_ALLOC_PD, NULL, 0);
		mb[i] = mr_of(hb, pdn[i]);
		cq[i] = drv_cq_new(hb->drv, 8, hb->comp->eqn);
		srq[i] = xrc_srq(i, xrcdn);
	}
	for (i = 0; i < NUM; i++) {
		opts.type = OHCA_QPT_XRC_INI;
		opts.xrcdn = 0;
		ini[i] = rig_qp_new(ha, &opts);
		opts.type = OHCA_QPT_XRC_TGT;
		opts.xrcdn = xrcdn;
		tgt[i] = rig_qp_new(hb, &opts);
		ini[i]->attr.timeout = 10;
		tgt[i]->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
		rig_connect(ini[i], tgt[i]);
	}
	return 0;
}

static int down(void **state)
{
	(void)state;
	link_capture = NULL;
	rig_close(rig);
	return 0;
}

/* The work request of an initiator, @len bytes at @off of the regions. */
static void post(unsigned int q, uint8_t opcode, uint32_t srqn, uint32_t rkey, uint32_t off,
		 uint32_t len)
{
	struct ohca_sge sge = rig_sge(ma, PAIR_IOVA + off, len);
	struct rig_wr wr = {
		.wr_id = opcode,
		.opcode = opcode,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.imm = len,
		.raddr = PAIR_IOVA + off,
		.rkey = rkey,
		.srqn = srqn,
	};

	rig_post_send(ini[q], &wr);
}

static void assert_send(unsigned int q, enum ohca_wc_status status)
{
	assert_int_equal(rig_wait_send(ini[q]).status, status);
}

static struct ohca_cqe assert_recv(unsigned int s, unsigned int q, uint64_t wr_id,
				   enum ohca_wc_status status)
{
	struct ohca_cqe cqe = drv_cq_wait(cq[s]);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(le32toh(cqe.qpn), tgt[q]->qpn);
	assert_int_equal(le32toh(cqe.srqn), srq[s]->srqn);
	assert_int_equal(cqe.flags & ~OHCA_CQE_F_IMM, OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ);
	return cqe;
}

/* Every target reaches every SRQ, with every operation. */
static void test_all_to_all(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_SEND, OHCA_OP_SEND_IMM, OHCA_OP_RDMA_WRITE,
				      OHCA_OP_RDMA_WRITE_IMM, OHCA_OP_RDMA_READ};
	uint32_t taken[SRQS] = {0};
	struct ohca_cqe cqe;
	unsigned int n;

	(void)state;
	for (n = 0; n < 600; n++) {
		unsigned int q = n % NUM, s = n / 7 % SRQS;
		uint8_t op = ops[n % 5];
		bool read = op == OHCA_OP_RDMA_READ;
		uint32_t len = n * 331 % 100000, off = 64 * (n % 50);
		struct rig_mr *from = read ? mb[s] : ma, *to = read ? ma : mb[s];

		rig_mr_fill(to, PAIR_IOVA + off, len, ~n);
		rig_mr_fill(from, PAIR_IOVA + off, len, n);
		if (op_receives(op)) {
			struct ohca_sge sge = rig_sge(mb[s], PAIR_IOVA + off, len);

			rig_srq_post(srq[s], n, &sge, op_writes(op) ? 0 : 1);
		}
		post(q, op, srq[s]->srqn, mb[s]->key, off, len);
		if (op_receives(op)) {
			cqe = assert_recv(s, q, n, OHCA_WC_SUCCESS);
			assert_int_equal(le32toh(cqe.byte_len), len);
			assert_int_equal(le32toh(cqe.wqe_idx), ++taken[s]);
			assert_int_equal(!!(cqe.flags & OHCA_CQE_F_IMM), op_has_imm(op));
			if (op_has_imm(op))
				assert_int_equal(be32toh(cqe.imm_data), len);
		}
		assert_send(q, OHCA_WC_SUCCESS);
		assert_true(rig_mr_is(to, PAIR_IOVA + off, len, n));
	}
	inproc_assert_no_event(hb);
}

/* Long messages of all targets at once, to one SRQ; then of one target to both. */
static void test_interleaved(void **state)
{
	uint32_t len = 500000;
	unsigned int i, seen = 0;

	(void)state;
	for (i = 0; i < NUM; i++) {
		struct ohca_sge sge = rig_sge(mb[0], PAIR_IOVA + i * len, len);

		rig_mr_fill(ma, PAIR_IOVA + i * len, len, i);
		rig_srq_post(srq[0], i, &sge, 1);
	}
	for (i = 0; i < NUM; i++)
		post(i, OHCA_OP_SEND, srq[0]->srqn, 0, i * len, len);
	for (i = 0; i < NUM; i++) {
		struct ohca_cqe cqe = drv_cq_wait(cq[0]);

		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		assert_int_equal(le32toh(cqe.byte_len), len);
		seen |= 1 << le64toh(cqe.wr_id);
		assert_send(i, OHCA_WC_SUCCESS);
	}
	assert_int_equal(seen, (1 << NUM) - 1);
	/* Any message may consume any entry; each message is complete. */
	for (i = 0, seen = 0; i < NUM * NUM; i++) {
		if (rig_mr_is(mb[0], PAIR_IOVA + i / NUM * len, len, i % NUM))
			seen++;
	}
	assert_true(seen >= 1);
	for (i = 0; i < 6; i++) {
		struct ohca_sge sge = rig_sge(mb[i % 2], PAIR_IOVA, len);

		rig_srq_post(srq[i % 2], 100 + i, &sge, 1);
		post(0, OHCA_OP_SEND, srq[i % 2]->srqn, 0, 0, len);
	}
	for (i = 0; i < 6; i++) {
		assert_recv(i % 2, 0, 100 + i, OHCA_WC_SUCCESS);
		assert_send(0, OHCA_WC_SUCCESS);
	}
}

static void test_empty(void **state)
{
	(void)state;
	post(0, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 0);
	inproc_assert_no_cqe(cq[0]);
	/* The other SRQ has an entry, and another target uses it. */
	rig_srq_post(srq[1], 1, NULL, 0);
	post(1, OHCA_OP_SEND, srq[1]->srqn, 0, 0, 0);
	assert_recv(1, 1, 1, OHCA_WC_SUCCESS);
	rig_srq_post(srq[0], 2, NULL, 0);
	assert_recv(0, 0, 2, OHCA_WC_SUCCESS);
	assert_send(0, OHCA_WC_SUCCESS);
}

/* The PD is that of the SRQ, for local and remote keys. */
static void test_protection(void **state)
{
	struct ohca_sge sge = rig_sge(mb[1], PAIR_IOVA, 64);

	(void)state;
	post(0, OHCA_OP_RDMA_WRITE, srq[0]->srqn, mb[1]->key, 0, 8);
	assert_send(0, OHCA_WC_REM_ACCESS_ERR);
	inproc_assert_event(hb, OHCA_EVENT_QP_ACCESS_ERR, tgt[0]->qpn);
	post(1, OHCA_OP_RDMA_READ, srq[1]->srqn, mb[0]->key, 0, 8);
	assert_send(1, OHCA_WC_REM_ACCESS_ERR);
	inproc_assert_event(hb, OHCA_EVENT_QP_ACCESS_ERR, tgt[1]->qpn);
	rig_srq_post(srq[0], 5, &sge, 1);
	post(2, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 8);
	assert_int_equal(le32toh(assert_recv(0, 2, 5, OHCA_WC_LOC_PROT_ERR).vendor_err),
			 OHCA_VENDOR_ERR_PD);
	assert_send(2, OHCA_WC_REM_OP_ERR);
}

static void reconnect(unsigned int q)
{
	rig_to_reset(ini[q]);
	rig_to_reset(tgt[q]);
	rig_connect(ini[q], tgt[q]);
}

/* Packets with the number of an SRQ that is not in the target's domain. */
static void test_wrong_srq(void **state)
{
	static const uint8_t ops[] = {OHCA_OP_SEND, OHCA_OP_RDMA_WRITE, OHCA_OP_RDMA_WRITE_IMM,
				      OHCA_OP_RDMA_READ};
	uint32_t other = drv_create(hb->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0);
	struct rig_srq *basic = rig_srq_new(hb, NULL), *foreign = xrc_srq(0, other);
	const uint32_t bad[] = {0, 77777, UINT32_MAX, basic->srqn, foreign->srqn};
	unsigned int i;

	(void)state;
	rig_srq_post(srq[0], 1, NULL, 0);
	rig_srq_post(basic, 1, NULL, 0);
	rig_srq_post(foreign, 1, NULL, 0);
	for (i = 0; i < ARRAY_SIZE(bad) * ARRAY_SIZE(ops); i++) {
		post(0, ops[i % 4], bad[i / 4], mb[0]->key, 0, 0);
		assert_send(0, OHCA_WC_REM_INV_REQ_ERR);
		inproc_assert_event(hb, OHCA_EVENT_QP_REQ_ERR, tgt[0]->qpn);
		assert_int_equal(rig_query(tgt[0]).state, OHCA_QPS_ERR);
		reconnect(0);
	}
	assert_int_equal(le32toh(rig_srq_query(srq[0]).taken), 0);
	assert_int_equal(le32toh(rig_srq_query(basic).taken), 0);
	assert_int_equal(le32toh(rig_srq_query(foreign).taken), 0);
	post(0, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 0);
	assert_recv(0, 0, 1, OHCA_WC_SUCCESS);
	assert_send(0, OHCA_WC_SUCCESS);
}

/* The first packets of a message to srq[0] have arrived, the others are lost for now. */
static void begin_message(unsigned int q, uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(mb[0], PAIR_IOVA, 1 << 20);

	rig_srq_post(srq[0], wr_id, &sge, 1);
	link_pass(1);
	post(q, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 1 << 20);
	inproc_settle();
	assert_int_equal(le32toh(rig_srq_query(srq[0]).taken), srq[0]->pi);
}

static void test_destroyed_under_way(void **state)
{
	(void)state;
	begin_message(0, 1);
	assert_int_equal(rig_srq_destroy(srq[0]), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_DESTROY_CQ, cq[0]->cqn), OHCA_CMD_OK);
	assert_int_equal(rig_mr_destroy(mb[0]), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_PD, pdn[0]), OHCA_CMD_OK);
	link_capture = NULL;
	assert_send(0, OHCA_WC_REM_INV_REQ_ERR);
	inproc_assert_event(hb, OHCA_EVENT_QP_REQ_ERR, tgt[0]->qpn);
	inproc_assert_no_event(hb);
	/* The others continue. */
	rig_srq_post(srq[1], 1, NULL, 0);
	post(1, OHCA_OP_SEND, srq[1]->srqn, 0, 0, 0);
	assert_recv(1, 1, 1, OHCA_WC_SUCCESS);
}

/* A message can't continue with another SRQ than that of its first packet. */
static void test_srq_changes_in_message(void **state)
{
	struct qp *dev;
	struct iovec iov;
	static uint8_t payload[1024];
	struct pkt pkt = {.op = PKT_SEND, .npsn = 1, .iov = &iov, .num = 1, .len = sizeof(payload)};

	(void)state;
	begin_message(0, 1);
	dev = inproc_qp(tgt[0]);
	iov.iov_base = payload;
	iov.iov_len = sizeof(payload);
	pkt.psn = rc_resp(dev)->epsn;
	pkt.srqn = srq[1]->srqn;
	responder_rx(dev, &pkt);
	/* The receive that it consumed is flushed to the CQ of its SRQ. */
	inproc_assert_event(hb, OHCA_EVENT_QP_REQ_ERR, tgt[0]->qpn);
	assert_recv(0, 0, 1, OHCA_WC_WR_FLUSH_ERR);
}

/* Nor can an RDMA write, which takes no receive, also if the other SRQ gives the same rights. */
static void test_srq_changes_in_write(void **state)
{
	struct rig_srq_opts opts = {
		.log_size = 6, .pdn = pdn[0], .xrcdn = xrcdn, .cqn = cq[0]->cqn};
	static uint8_t payload[1024];
	struct iovec iov = {payload, sizeof(payload)};
	struct qp *dev = inproc_qp(tgt[0]);
	struct pkt pkt = {.op = PKT_WRITE,
			  .flags = PKT_FIRST,
			  .npsn = 1,
			  .va = PAIR_IOVA,
			  .rkey = mb[0]->key,
			  .dma_len = 2 * sizeof(payload),
			  .srqn = srq[0]->srqn,
			  .iov = &iov,
			  .num = 1,
			  .len = sizeof(payload)};

	(void)state;
	pkt.psn = rc_resp(dev)->epsn;
	responder_rx(dev, &pkt);
	assert_int_equal(rc_resp(dev)->epsn, psn_add(pkt.psn, 1));
	pkt.psn = rc_resp(dev)->epsn;
	pkt.flags = PKT_LAST;
	pkt.srqn = rig_srq_new(hb, &opts)->srqn;
	responder_rx(dev, &pkt);
	inproc_assert_event(hb, OHCA_EVENT_QP_REQ_ERR, tgt[0]->qpn);
}

/* A repeated read request may have another SRQ than the message that has begun since. */
static void test_read_again(void **state)
{
	struct pkt pkt = {.op = PKT_READ_REQ,
			  .flags = PKT_FIRST | PKT_LAST,
			  .psn = RIG_PSN,
			  .npsn = 1,
			  .va = PAIR_IOVA,
			  .dma_len = 8};

	(void)state;
	post(0, OHCA_OP_RDMA_READ, srq[1]->srqn, mb[1]->key, 0, 8);
	assert_send(0, OHCA_WC_SUCCESS);
	begin_message(0, 1);
	pkt.rkey = mb[1]->key;
	pkt.srqn = srq[1]->srqn;
	responder_rx(inproc_qp(tgt[0]), &pkt);
	inproc_assert_no_event(hb);
	link_capture = NULL;
	assert_recv(0, 0, 1, OHCA_WC_SUCCESS);
	assert_send(0, OHCA_WC_SUCCESS);
}

static unsigned int num_sent;
static struct pkt sent; /* the last one */

static void count_sent(struct qp *src, const struct pkt *pkt)
{
	(void)src;
	num_sent++;
	sent = *pkt;
}

/*
 * The SRQ of requests is destroyed, and they come again: the read is dropped, the atomic is answered
 * with its result.
 */
static void test_again_without_srq(void **state)
{
	static const struct pkt_atomic one = {.compare_add = 1};
	struct pkt pkt = {.op = PKT_READ_REQ,
			  .flags = PKT_FIRST | PKT_LAST,
			  .psn = RIG_PSN,
			  .npsn = 1,
			  .va = PAIR_IOVA,
			  .rkey = mb[1]->key,
			  .dma_len = 8,
			  .srqn = srq[1]->srqn,
			  .atomic = &one};

	(void)state;
	post(0, OHCA_OP_RDMA_READ, srq[1]->srqn, mb[1]->key, 0, 8);
	assert_send(0, OHCA_WC_SUCCESS);
	post(0, OHCA_OP_FETCH_ADD, srq[1]->srqn, mb[1]->key, 0, 8);
	assert_send(0, OHCA_WC_SUCCESS);
	assert_int_equal(rig_srq_destroy(srq[1]), OHCA_CMD_OK);
	num_sent = 0;
	link_capture = count_sent;
	responder_rx(inproc_qp(tgt[0]), &pkt);
	inproc_settle();
	assert_int_equal(num_sent, 0);
	pkt.op = PKT_FETCH_ADD;
	pkt.psn = RIG_PSN + 1;
	responder_rx(inproc_qp(tgt[0]), &pkt);
	inproc_settle();
	assert_int_equal(num_sent, 1);
	assert_int_equal(sent.op, PKT_ATOMIC_RESP);
	assert_int_equal(sent.psn, pkt.psn);
	link_capture = NULL;
	inproc_assert_no_event(hb);
	assert_int_equal(rig_query(tgt[0]).state, OHCA_QPS_RTS);
	rig_srq_post(srq[0], 2, NULL, 0);
	post(0, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 0);
	assert_recv(0, 0, 2, OHCA_WC_SUCCESS);
	assert_send(0, OHCA_WC_SUCCESS);
}

static void test_flush(void **state)
{
	(void)state;
	begin_message(0, 3);
	assert_int_equal(rig_modify(tgt[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_recv(0, 0, 3, OHCA_WC_WR_FLUSH_ERR);
	/* No event: the QP has no SRQ of its own. */
	inproc_assert_no_event(hb);
	/* The receive is forgotten when the QP is destroyed or reset */
	begin_message(1, 4);
	assert_int_equal(rig_qp_destroy(tgt[1]), OHCA_CMD_OK);
	begin_message(2, 5);
	rig_to_reset(tgt[2]);
	inproc_assert_no_cqe(cq[0]);
	assert_int_equal(rig_srq_destroy(srq[0]), OHCA_CMD_OK);
}

/* The CQ of an SRQ overruns: the target QP enters the error state. */
static void test_cq_error(void **state)
{
	struct rig_srq_opts opts = {.pdn = pdn[0], .xrcdn = xrcdn};
	struct drv_cq *small = drv_cq_new(hb->drv, 0, hb->comp->eqn);
	struct rig_srq *s;
	unsigned int i;

	(void)state;
	opts.cqn = small->cqn;
	s = rig_srq_new(hb, &opts);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_DESTROY_CQ, small->cqn), OHCA_CMD_BUSY);
	for (i = 0; i < 2; i++)
		rig_srq_post(s, i, NULL, 0);
	post(0, OHCA_OP_SEND, s->srqn, 0, 0, 0);
	assert_send(0, OHCA_WC_SUCCESS);
	post(0, OHCA_OP_SEND, s->srqn, 0, 0, 0);
	assert_send(0, OHCA_WC_REM_OP_ERR);
	inproc_assert_event(hb, OHCA_EVENT_CQ_ERR, small->cqn);
	assert_int_equal(rig_query(tgt[0]).state, OHCA_QPS_ERR);
}

#define SRQ(field, value, status) \
	REFUSE(hb->drv, OHCA_CMD_CREATE_SRQ, struct ohca_create_srq_in, in, field, value, status)
#define QP(field, value, status) \
	REFUSE(hb->drv, OHCA_CMD_CREATE_QP, struct ohca_create_qp_in, in, field, value, status)

static void test_objects(void **state)
{
	struct rig_srq_opts opts = {.xrcdn = xrcdn, .cqn = cq[0]->cqn};
	struct rig_srq tmp;
	unsigned int i;

	(void)state;
	{
		struct ohca_create_srq_in in = rig_srq_in(hb, &opts, &tmp);

		SRQ(cqn, htole32(77777), OHCA_CMD_BAD_HANDLE);
		SRQ(cqn, 0, OHCA_CMD_BAD_HANDLE);
		SRQ(xrcdn, htole32(77777), OHCA_CMD_BAD_HANDLE);
		SRQ(xrcdn, 0, OHCA_CMD_BAD_HANDLE);
	}
	{
		struct rig_qp_opts qp_opts = {.type = OHCA_QPT_XRC_TGT, .xrcdn = xrcdn};
		struct rig_qp qp;
		struct ohca_create_qp_in in = rig_qp_in(hb, &qp_opts, &qp);

		QP(xrcdn, 0, OHCA_CMD_BAD_HANDLE);
		QP(xrcdn, htole32(77777), OHCA_CMD_BAD_HANDLE);
		QP(flags, OHCA_QP_F_SRQ, OHCA_CMD_BAD_PARAM);
		QP(srqn, htole32(srq[0]->srqn), OHCA_CMD_BAD_PARAM);
		QP(send_cqn, htole32(cq[0]->cqn), OHCA_CMD_BAD_PARAM);
		QP(recv_cqn, htole32(cq[0]->cqn), OHCA_CMD_BAD_PARAM);
		QP(sq_log_size, 1, OHCA_CMD_BAD_PARAM);
		QP(pdn, htole32(77777), OHCA_CMD_BAD_HANDLE);
	}
	{
		struct rig_qp_opts qp_opts = {.type = OHCA_QPT_XRC_INI};
		struct rig_qp qp;
		struct ohca_create_qp_in in = rig_qp_in(hb, &qp_opts, &qp);

		QP(xrcdn, htole32(xrcdn), OHCA_CMD_BAD_PARAM);
		QP(srqn, htole32(srq[0]->srqn), OHCA_CMD_BAD_PARAM);
		QP(recv_cqn, htole32(cq[0]->cqn), OHCA_CMD_BAD_PARAM);
		QP(rq_log_stride, 5, OHCA_CMD_BAD_PARAM);
	}
	{
		/* A QP can't be created with an XRC SRQ. */
		struct rig_qp_opts qp_opts = {.srqn = srq[0]->srqn};
		struct rig_qp qp;
		struct ohca_create_qp_in in = rig_qp_in(hb, &qp_opts, &qp);

		refuse(hb->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in), OHCA_CMD_BAD_PARAM,
		       offsetof(struct ohca_create_qp_in, srqn));
	}
	/* The domain is in use until the last of its SRQs and targets is destroyed. */
	for (i = 0; i < NUM; i++) {
		assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_XRCD, xrcdn), OHCA_CMD_BUSY);
		assert_int_equal(rig_qp_destroy(tgt[i]), OHCA_CMD_OK);
	}
	for (i = 0; i < SRQS; i++) {
		assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_XRCD, xrcdn), OHCA_CMD_BUSY);
		assert_int_equal(rig_srq_destroy(srq[i]), OHCA_CMD_OK);
	}
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_XRCD, xrcdn), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_XRCD, xrcdn), OHCA_CMD_BAD_HANDLE);
}

/* A target is drained at once, and can be stopped and started; an initiator drains. */
static void test_states(void **state)
{
	(void)state;
	tgt[0]->attr.en_sqd_async_notify = 1;
	assert_int_equal(rig_modify(tgt[0], OHCA_QPS_SQD,
				    OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY),
			 OHCA_CMD_OK);
	inproc_assert_event(hb, OHCA_EVENT_SQ_DRAINED, tgt[0]->qpn);
	rig_srq_post(srq[0], 1, NULL, 0);
	post(0, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 0);
	assert_recv(0, 0, 1, OHCA_WC_SUCCESS);
	assert_send(0, OHCA_WC_SUCCESS);
	assert_int_equal(rig_modify(tgt[0], OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_int_equal(rig_modify(ini[0], OHCA_QPS_SQD, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_int_equal(rig_modify(ini[0], OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_int_equal(rig_modify(ini[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	post(0, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 0);
	assert_send(0, OHCA_WC_WR_FLUSH_ERR);
	/* Packets for a QP of another type are dropped. */
	{
		struct rig_qp *rc = rig_qp_new(hb, NULL);

		ini[1]->attr.retry_cnt = 0;
		rig_to_reset(ini[1]);
		rig_connect(ini[1], rc);
		post(1, OHCA_OP_SEND, srq[0]->srqn, 0, 0, 0);
		assert_send(1, OHCA_WC_RETRY_EXC_ERR);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_to_all, up, down),
		cmocka_unit_test_setup_teardown(test_interleaved, up, down),
		cmocka_unit_test_setup_teardown(test_empty, up, down),
		cmocka_unit_test_setup_teardown(test_protection, up, down),
		cmocka_unit_test_setup_teardown(test_wrong_srq, up, down),
		cmocka_unit_test_setup_teardown(test_destroyed_under_way, up, down),
		cmocka_unit_test_setup_teardown(test_srq_changes_in_message, up, down),
		cmocka_unit_test_setup_teardown(test_srq_changes_in_write, up, down),
		cmocka_unit_test_setup_teardown(test_read_again, up, down),
		cmocka_unit_test_setup_teardown(test_again_without_srq, up, down),
		cmocka_unit_test_setup_teardown(test_flush, up, down),
		cmocka_unit_test_setup_teardown(test_cq_error, up, down),
		cmocka_unit_test_setup_teardown(test_objects, up, down),
		cmocka_unit_test_setup_teardown(test_states, up, down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
