// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues: entries consumed in order by many QPs, limit, errors, resize, flush. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "link_hook.h"
#include "pair.h"
#include "refuse.h"
#include "rig_assert.h"
#include "rig_srq.h"
#include "qp/srq.h"

#define NUM 4 /* connections */

static struct rig *rig;
static struct rig_hca *ha, *hb;
static struct rig_mr *ma, *mb;
static struct rig_srq *srq;
static struct rig_qp *a[NUM], *b[NUM]; /* a[i] sends to b[i], which has the SRQ */

static void open_rig(void)
{
	rig = rig_open(server);
	ha = &rig->hca[0];
	hb = &rig->hca[1];
	ma = rig_mr_new(ha, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	mb = rig_mr_new(hb, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
}

static void connect_pair(unsigned int i, uint8_t type)
{
	struct rig_qp_opts opts = {.type = type};

	a[i] = rig_qp_new(ha, &opts);
	opts.srqn = srq->srqn;
	b[i] = rig_qp_new(hb, &opts);
	a[i]->attr.timeout = 0;
	rig_connect(a[i], b[i]);
}

static void up_with(const struct rig_srq_opts *opts, uint8_t type)
{
	unsigned int i;

	open_rig();
	srq = rig_srq_new(hb, opts);
	for (i = 0; i < NUM; i++)
		connect_pair(i, type);
}

static int up(void **state)
{
	(void)state;
	up_with(NULL, OHCA_QPT_RC);
	return 0;
}

static int down(void **state)
{
	(void)state;
	rig_close(rig);
	return 0;
}

static void post_send(unsigned int i, uint8_t opcode, uint64_t wr_id, uint32_t len)
{
	struct ohca_sge sge = rig_sge(ma, PAIR_IOVA, len);
	struct rig_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.imm = wr_id,
	};

	rig_post_send(a[i], &wr);
}

/* Each entry has room for 4096 bytes, at a place of its own. */
#define ROOM 4096
#define PLACE(n) (PAIR_IOVA + ((n) % 256) * ROOM)

static void post_recv(uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(mb, PLACE(wr_id), ROOM);

	rig_srq_post(srq, wr_id, &sge, 1);
}

static void assert_send(unsigned int i, enum ohca_wc_status status)
{
	assert_int_equal(rig_wait_send(a[i]).status, status);
}

static struct ohca_cqe assert_recv(unsigned int i, uint64_t wr_id, enum ohca_wc_status status)
{
	struct ohca_cqe cqe = rig_wait_recv(b[i]);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(le32toh(cqe.qpn), b[i]->qpn);
	assert_int_equal(le32toh(cqe.srqn), srq->srqn);
	assert_int_equal(cqe.flags & (OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ),
			 OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ);
	return cqe;
}

/* Entries are consumed in the order in which messages arrive, over several passes of the ring. */
static void run_fifo(uint32_t first)
{
	static const uint8_t ops[] = {OHCA_OP_SEND, OHCA_OP_SEND_IMM, OHCA_OP_RDMA_WRITE_IMM};
	uint64_t posted = 0, n;
	struct ohca_cqe cqe;

	for (n = 0; n < 500; n++) {
		unsigned int i = (n * 7 + n / 5) % NUM;
		uint8_t op = ops[n % 3];
		uint32_t len = op == OHCA_OP_RDMA_WRITE_IMM ? 0 : n * 37 % (ROOM + 1);

		while (posted - n < 1U << srq->log_size)
			post_recv(posted++);
		rig_mr_fill(ma, PAIR_IOVA, len, n);
		post_send(i, op, n, len);
		cqe = assert_recv(i, n, OHCA_WC_SUCCESS);
		assert_int_equal(le32toh(cqe.byte_len), len);
		assert_int_equal(le32toh(cqe.wqe_idx), first + (uint32_t)n + 1);
		if (n % 3)
			assert_int_equal(be32toh(cqe.imm_data), n);
		assert_true(rig_mr_is(mb, PLACE(n), len, n));
		assert_send(i, OHCA_WC_SUCCESS);
	}
	assert_int_equal(le32toh(rig_srq_query(srq).taken), first + 500);
}

static void test_fifo(void **state)
{
	(void)state;
	run_fifo(0);
}

static void test_index_wraps(void **state)
{
	struct srq *dev = srq_get(inproc_hca(1), srq->srqn);
	uint32_t first = -100;

	(void)state;
	dev->wq.done = first;
	dev->wq.pi = first;
	srq->pi = first;
	srq->rec->pi = htole32(first);
	run_fifo(first);
}

/* An entry is consumed with the first packet, and its slot in the ring is free from then on. */
static void test_copied_when_taken(void **state)
{
	struct ohca_sge sge = rig_sge(mb, PAIR_IOVA + (1 << 20), 1 << 20);
	struct ohca_cqe cqe;
	unsigned int i;

	(void)state;
	rig_mr_fill(ma, PAIR_IOVA, 1 << 20, 5);
	rig_srq_post(srq, 1000, &sge, 1);
	post_send(0, OHCA_OP_SEND, 1, 1 << 20);
	for (i = 0; !rig_srq_query(srq).taken; i++)
		assert_true(i < 100);
	/* Overwrite the ring with other entries */
	for (i = 1; i <= 16; i++)
		post_recv(i);
	memset(rig_srq_entry(srq, 0), 0xff, 16);
	for (i = 1; i < NUM; i++) {
		post_send(i, OHCA_OP_SEND, 7, 64);
		assert_recv(i, i, OHCA_WC_SUCCESS);
	}
	cqe = assert_recv(0, 1000, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(mb, PAIR_IOVA + (1 << 20), 1 << 20, 5));
	assert_int_equal(le32toh(cqe.byte_len), 1 << 20);
	assert_in_range(le32toh(cqe.wqe_idx), 1, 4);
}

static void test_empty(void **state)
{
	(void)state;
	post_send(0, OHCA_OP_SEND, 1, 100);
	post_send(1, OHCA_OP_RDMA_WRITE_IMM, 1, 0);
	inproc_assert_no_cqe(b[0]->rcq);
	assert_int_equal(le32toh(rig_srq_query(srq).taken), 0);
	post_recv(1);
	post_recv(2);
	rig_wait_recv(b[0]);
	rig_wait_recv(b[1]);
	assert_send(0, OHCA_WC_SUCCESS);
	assert_send(1, OHCA_WC_SUCCESS);

	/* A sender that does not retry */
	rig_to_reset(a[2]);
	rig_to_reset(b[2]);
	a[2]->attr.rnr_retry = 0;
	rig_connect(a[2], b[2]);
	post_send(2, OHCA_OP_SEND, 1, 100);
	assert_send(2, OHCA_WC_RNR_RETRY_EXC_ERR);
	assert_int_equal(rig_query(b[2]).state, OHCA_QPS_RTS);
	inproc_assert_no_event(hb);
}

static void message(unsigned int i, uint64_t wr_id)
{
	post_send(i, OHCA_OP_SEND, 1, 8);
	assert_recv(i, wr_id, OHCA_WC_SUCCESS);
	assert_send(i, OHCA_WC_SUCCESS);
}

static void test_limit(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 6; i++)
		post_recv(i);
	assert_int_equal(rig_srq_limit(srq, 3), OHCA_CMD_OK);
	assert_int_equal(le32toh(rig_srq_query(srq).limit), 3);
	for (i = 0; i < 3; i++)
		message(i % NUM, i);
	inproc_assert_no_event(hb);
	message(3, 3);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_LIMIT, srq->srqn);
	assert_int_equal(le32toh(rig_srq_query(srq).limit), 0);
	message(0, 4);
	inproc_assert_no_event(hb);

	/* Entries posted since the device last read the record count. */
	for (i = 6; i < 12; i++)
		post_recv(i);
	assert_int_equal(rig_srq_limit(srq, 4), OHCA_CMD_OK);
	message(0, 5);
	inproc_assert_no_event(hb);
	/* Disarmed: no event.  Armed above the number of entries: an event at once */
	assert_int_equal(rig_srq_limit(srq, 0), OHCA_CMD_OK);
	for (i = 6; i < 10; i++)
		message(0, i);
	inproc_assert_no_event(hb);
	assert_int_equal(rig_srq_limit(srq, 2), OHCA_CMD_OK);
	inproc_assert_no_event(hb);
	assert_int_equal(rig_srq_limit(srq, 3), OHCA_CMD_OK);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_LIMIT, srq->srqn);
	/* Not above the size of the queue */
	assert_int_equal(rig_srq_limit(srq, 17), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rig_srq_limit(srq, 16), OHCA_CMD_OK);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_LIMIT, srq->srqn);
}

static void test_limit_of_creation(void **state)
{
	struct rig_srq_opts opts = {.limit = 2};
	unsigned int i;

	(void)state;
	open_rig();
	srq = rig_srq_new(hb, &opts);
	connect_pair(0, OHCA_QPT_RC);
	for (i = 0; i < 3; i++)
		post_recv(i);
	inproc_assert_no_event(hb);
	message(0, 0);
	inproc_assert_no_event(hb);
	message(0, 1);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_LIMIT, srq->srqn);
}

/* A receive that a QP has consumed is flushed with it; others are still available to other QPs. */
static void test_flush(void **state)
{
	struct ohca_sge sge = rig_sge(mb, PAIR_IOVA, 1 << 20);
	struct ohca_cqe cqe;

	(void)state;
	rig_srq_post(srq, 77, &sge, 1);
	link_pass(1);
	post_send(0, OHCA_OP_SEND, 1, 1 << 20);
	inproc_settle();
	link_capture = NULL;
	assert_int_equal(le32toh(rig_srq_query(srq).taken), 1);
	post_recv(78);
	assert_int_equal(rig_modify(b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	cqe = assert_recv(0, 77, OHCA_WC_WR_FLUSH_ERR);
	assert_int_equal(cqe.opcode, OHCA_CQE_RECV);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_FLUSH);
	assert_int_equal(le32toh(cqe.wqe_idx), 1);
	inproc_assert_event(hb, OHCA_EVENT_LAST_WQE, b[0]->qpn);
	inproc_assert_no_cqe(b[0]->rcq);
	message(1, 78);
}

/* A QP that allows no writes refuses the whole request: the receive it has consumed is flushed. */
static void test_write_imm_forbidden(void **state)
{
	struct rig_wr wr = {.wr_id = 1, .opcode = OHCA_OP_RDMA_WRITE_IMM};
	struct ohca_cqe cqe;

	(void)state;
	rig_to_reset(a[0]);
	rig_to_reset(b[0]);
	b[0]->attr.access = 0;
	rig_connect(a[0], b[0]);
	post_recv(77);
	rig_post_send(a[0], &wr);
	assert_send(0, OHCA_WC_REM_INV_REQ_ERR);
	cqe = assert_recv(0, 77, OHCA_WC_WR_FLUSH_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), OHCA_VENDOR_ERR_FLUSH);
	inproc_assert_event(hb, OHCA_EVENT_QP_REQ_ERR, b[0]->qpn);
}

static void test_last_wqe(void **state)
{
	(void)state;
	/* Once for each transition, with no receive consumed, from any state */
	assert_int_equal(rig_modify(b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	inproc_assert_event(hb, OHCA_EVENT_LAST_WQE, b[0]->qpn);
	assert_int_equal(rig_modify(b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	inproc_assert_no_event(hb);
	rig_to_reset(b[0]);
	inproc_assert_no_event(hb);
	assert_int_equal(rig_to_init(b[0]), OHCA_CMD_OK);
	assert_int_equal(rig_modify(b[0], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	inproc_assert_event(hb, OHCA_EVENT_LAST_WQE, b[0]->qpn);
	/* There is no event for a destroyed QP, and none for a QP without an SRQ. */
	assert_int_equal(rig_qp_destroy(b[1]), OHCA_CMD_OK);
	inproc_assert_no_event(hb);
	post_recv(1);
	assert_int_equal(rig_modify(a[2], OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	inproc_settle();
	{
		struct ohca_eqe eqe;

		while (drv_eq_poll(ha->async, &eqe))
			assert_int_not_equal(eqe.type, OHCA_EVENT_LAST_WQE);
	}
}

/* An invalid producer index stops the SRQ, and each QP that needs it. */
static void test_error(void **state)
{
	(void)state;
	post_recv(1);
	message(0, 1);
	srq->rec->pi = htole32(1000);
	post_send(0, OHCA_OP_SEND, 1, 8);
	assert_send(0, OHCA_WC_REM_OP_ERR);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_ERR, srq->srqn);
	inproc_assert_event(hb, OHCA_EVENT_QP_FATAL, b[0]->qpn);
	inproc_assert_event(hb, OHCA_EVENT_LAST_WQE, b[0]->qpn);
	assert_int_equal(rig_query(b[0]).state, OHCA_QPS_ERR);
	assert_int_equal(rig_query(b[1]).state, OHCA_QPS_RTS);
	/* The error is permanent. */
	srq->rec->pi = htole32(2);
	post_send(1, OHCA_OP_RDMA_WRITE_IMM, 1, 0);
	assert_send(1, OHCA_WC_REM_OP_ERR);
	inproc_assert_event(hb, OHCA_EVENT_QP_FATAL, b[1]->qpn);
	inproc_assert_event(hb, OHCA_EVENT_LAST_WQE, b[1]->qpn);
	inproc_assert_no_event(hb);
	assert_int_equal(rig_srq_limit(srq, 1), OHCA_CMD_BAD_STATE);
	assert_int_equal(rig_srq_resize(srq, 6), OHCA_CMD_BAD_STATE);
}

#define AWAY 0x800000000ULL /* memory that is unmapped later */

static void test_memory_goes(void **state)
{
	uint64_t next;

	(void)state;
	open_rig();
	next = hb->drv->next;
	vu_mem_new(hb->drv->vu, AWAY, 1 << 20);
	hb->drv->next = AWAY;
	srq = rig_srq_new(hb, NULL);
	hb->drv->next = next;
	connect_pair(0, OHCA_QPT_RC);
	post_recv(1);
	message(0, 1);
	assert_int_equal(vu_dma_unmap(hb->drv->vu, AWAY, 1 << 20), 0);
	post_send(0, OHCA_OP_SEND, 1, 8);
	assert_send(0, OHCA_WC_REM_OP_ERR);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_ERR, srq->srqn);
	inproc_assert_event(hb, OHCA_EVENT_QP_FATAL, b[0]->qpn);
}

static void test_bad_entries(void **state)
{
	struct ohca_sge sge = rig_sge(mb, PAIR_IOVA, 100);
	struct ohca_rq_wqe *wqe;

	(void)state;
	rig_srq_post(srq, 1, &sge, 1);
	post_send(0, OHCA_OP_SEND, 1, 101);
	assert_int_equal(le32toh(assert_recv(0, 1, OHCA_WC_LOC_LEN_ERR).vendor_err),
			 OHCA_VENDOR_ERR_LENGTH);
	assert_send(0, OHCA_WC_REM_INV_REQ_ERR);

	rig_srq_post(srq, 2, &sge, 1);
	wqe = rig_srq_entry(srq, 1);
	wqe->num_sge = htole32(3);
	post_send(1, OHCA_OP_SEND, 1, 1);
	assert_int_equal(le32toh(assert_recv(1, 2, OHCA_WC_LOC_QP_OP_ERR).vendor_err),
			 OHCA_VENDOR_ERR_WQE_SGE);
	assert_send(1, OHCA_WC_REM_OP_ERR);

	sge.lkey = ~sge.lkey;
	rig_srq_post(srq, 3, &sge, 1);
	post_send(2, OHCA_OP_SEND, 1, 1);
	assert_int_equal(le32toh(assert_recv(2, 3, OHCA_WC_LOC_PROT_ERR).vendor_err),
			 OHCA_VENDOR_ERR_KEY);
	assert_send(2, OHCA_WC_REM_OP_ERR);

	/* Other QPs are not affected. */
	post_recv(4);
	message(3, 4);
}

/* Lists are used with the rights of the SRQ's PD, remote keys with those of the QP's PD. */
static void test_protection(void **state)
{
	struct rig_srq_opts opts = {.flags = OHCA_SRQ_F_PRIVILEGED};
	struct ohca_query_device_out dev;
	struct ohca_sge sge;
	uint64_t page;

	(void)state;
	open_rig();
	opts.pdn = drv_create(hb->drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	srq = rig_srq_new(hb, &opts);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_FREE_PD, opts.pdn), OHCA_CMD_BUSY);
	connect_pair(0, OHCA_QPT_RC);
	connect_pair(1, OHCA_QPT_RC);
	drv_cmd(hb->drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev));
	page = drv_alloc(hb->drv, 4096);
	sge.addr = htole64(page);
	sge.length = htole32(4096);
	sge.lkey = dev.reserved_lkey;
	rig_srq_post(srq, 1, &sge, 1);
	rig_mr_fill(ma, PAIR_IOVA, 8, 3);
	message(0, 1);
	{
		uint64_t want;

		rig_mr_get(ma, PAIR_IOVA, &want, 8);
		assert_memory_equal(drv_ptr(hb->drv, page), &want, 8);
	}
	post_recv(2); /* of the QP's PD */
	post_send(1, OHCA_OP_SEND, 1, 8);
	assert_int_equal(le32toh(assert_recv(1, 2, OHCA_WC_LOC_PROT_ERR).vendor_err),
			 OHCA_VENDOR_ERR_PD);
	assert_send(1, OHCA_WC_REM_OP_ERR);
}

static void test_resize(void **state)
{
	static const uint8_t sizes[] = {5, 3, 4, 8, 6, 3, 10, 4};
	uint64_t posted = 0, seen = 0;
	unsigned int i, n;

	(void)state;
	for (i = 0; i < 200; i++) {
		while (posted - seen < 1 + i % 8)
			post_recv(posted++);
		assert_int_equal(rig_srq_resize(srq, sizes[i % ARRAY_SIZE(sizes)]), OHCA_CMD_OK);
		if (posted - seen < 8)
			post_recv(posted++);
		for (n = i % 5; n && seen != posted; n--, seen++)
			message(seen % NUM, seen);
	}
	/* Not smaller than its number of entries */
	while (posted - seen < 9)
		post_recv(posted++);
	assert_int_equal(rig_srq_resize(srq, 3), OHCA_CMD_BAD_PARAM);
	assert_int_equal(hb->drv->syndrome, offsetof(struct ohca_modify_srq_in, log_size));
	for (; seen < posted; seen++)
		message(seen % NUM, seen);
}

/* If an unreliable connection drops a message, its receive is used for the next one of the QP. */
static void test_unreliable(void **state)
{
	struct ohca_sge sge;
	uint64_t i;

	(void)state;
	up_with(NULL, OHCA_QPT_UC);
	sge = rig_sge(mb, PLACE(0), 64);
	rig_srq_post(srq, 0, &sge, 1);
	post_recv(1);
	post_send(0, OHCA_OP_SEND, 1, 65);
	assert_send(0, OHCA_WC_SUCCESS);
	inproc_assert_no_cqe(b[0]->rcq);
	assert_int_equal(le32toh(rig_srq_query(srq).taken), 1);
	/* The other QP consumes the next entry. */
	message(1, 1);
	rig_mr_fill(ma, PAIR_IOVA, 64, 9);
	post_send(0, OHCA_OP_SEND, 1, 64);
	assert_recv(0, 0, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(mb, PLACE(0), 64, 9));
	assert_send(0, OHCA_WC_SUCCESS);
	/* No entry: the message is lost */
	post_send(2, OHCA_OP_SEND, 1, 64);
	assert_send(2, OHCA_WC_SUCCESS);
	inproc_assert_no_cqe(b[2]->rcq);
	for (i = 2; i < 20; i++) {
		post_recv(i);
		message(i % NUM, i);
	}
	inproc_assert_no_event(hb);
}

/* Datagrams consume entries too; if one is too long, its entry is used for the next one. */
static void test_datagrams(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD};
	struct ohca_av av = {.hop_limit = 1, .port = 1};
	struct ohca_sge from, into;
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &from,
		.av = &av,
		.qkey = RIG_QKEY,
	};
	unsigned int i;

	(void)state;
	open_rig();
	srq = rig_srq_new(hb, NULL);
	a[0] = rig_qp_new(ha, &opts);
	assert_to_rts(a[0]);
	opts.srqn = srq->srqn;
	for (i = 0; i < 2; i++) {
		b[i] = rig_qp_new(hb, &opts);
		assert_to_rts(b[i]);
	}
	memcpy(av.dgid, hb->gid, 16);
	memcpy(av.dmac, hb->mac, 6);
	for (i = 0; i < 100; i++) {
		uint32_t len = i * 11;
		struct ohca_cqe cqe;

		into = rig_sge(mb, PAIR_IOVA, OHCA_GRH_LEN + len);
		from = rig_sge(ma, PAIR_IOVA, len + 1);
		rig_srq_post(srq, i, &into, 1);
		wr.dest_qpn = b[i % 2]->qpn;
		rig_mr_fill(ma, PAIR_IOVA, len, i);
		rig_post_send(a[0], &wr);
		assert_send(0, OHCA_WC_SUCCESS);
		inproc_assert_no_cqe(b[i % 2]->rcq);
		from = rig_sge(ma, PAIR_IOVA, len);
		rig_post_send(a[0], &wr);
		assert_send(0, OHCA_WC_SUCCESS);
		cqe = assert_recv(i % 2, i, OHCA_WC_SUCCESS);
		assert_int_equal(le32toh(cqe.byte_len), OHCA_GRH_LEN + len);
		assert_int_equal(le32toh(cqe.wqe_idx), i + 1);
		assert_int_equal(le32toh(cqe.src_qpn), a[0]->qpn);
		assert_true(cqe.flags & OHCA_CQE_F_GRH);
		assert_true(rig_mr_is(mb, PAIR_IOVA + OHCA_GRH_LEN, len, i));
	}
	/* No entry: lost.  Then the SRQ fails, and the QPs too. */
	rig_post_send(a[0], &wr);
	assert_send(0, OHCA_WC_SUCCESS);
	inproc_assert_no_event(hb);
	srq->rec->pi = htole32(5000);
	rig_post_send(a[0], &wr);
	assert_send(0, OHCA_WC_SUCCESS);
	inproc_assert_event(hb, OHCA_EVENT_SRQ_ERR, srq->srqn);
	inproc_assert_event(hb, OHCA_EVENT_QP_FATAL, b[1]->qpn);
	inproc_assert_event(hb, OHCA_EVENT_LAST_WQE, b[1]->qpn);
	assert_int_equal(rig_query(b[1]).state, OHCA_QPS_ERR);
}

#define CREATE(field, value, status) \
	REFUSE(hb->drv, OHCA_CMD_CREATE_SRQ, struct ohca_create_srq_in, in, field, value, status)
#define MODIFY(field, value, status) \
	REFUSE(hb->drv, OHCA_CMD_MODIFY_SRQ, struct ohca_modify_srq_in, in, field, value, status)

static void test_create(void **state)
{
	struct ohca_create_srq_in in, bad;
	struct ohca_query_device_out dev;
	struct rig_srq tmp;
	uint32_t id;

	(void)state;
	in = rig_srq_in(hb, NULL, &tmp);
	CREATE(type, 3, OHCA_CMD_BAD_PARAM);
	CREATE(max_tags, htole16(1), OHCA_CMD_BAD_PARAM);
	CREATE(flags, 2, OHCA_CMD_BAD_PARAM);
	CREATE(log_size, 16, OHCA_CMD_BAD_PARAM);
	CREATE(log_size, 255, OHCA_CMD_BAD_PARAM);
	CREATE(log_stride, 4, OHCA_CMD_BAD_PARAM);
	CREATE(log_stride, 12, OHCA_CMD_BAD_PARAM);
	CREATE(max_sge, htole16(4), OHCA_CMD_BAD_PARAM);
	CREATE(max_sge, 0xffff, OHCA_CMD_BAD_PARAM);
	CREATE(ring_offset, htole32(32), OHCA_CMD_BAD_PARAM);
	CREATE(rec_offset, htole32(le32toh(in.rec_offset) + 32), OHCA_CMD_BAD_PARAM);
	CREATE(limit, htole32(17), OHCA_CMD_BAD_PARAM);
	CREATE(pdn, htole32(7777), OHCA_CMD_BAD_HANDLE);
	CREATE(cqn, htole32(a[0]->rcq->cqn), OHCA_CMD_BAD_PARAM);
	CREATE(xrcdn, htole32(1), OHCA_CMD_BAD_PARAM);
	bad = in;
	bad.buf.npages = htole32(2);
	refuse(hb->drv, OHCA_CMD_CREATE_SRQ, &bad, sizeof(bad), OHCA_CMD_BAD_PARAM, 0);
	bad = in;
	bad.buf.addr = htole64(DRV_NOWHERE);
	refuse(hb->drv, OHCA_CMD_CREATE_SRQ, &bad, sizeof(bad), OHCA_CMD_BAD_ADDR, 0);

	assert_int_equal(rig_srq_destroy(srq), OHCA_CMD_BUSY);
	id = drv_create(hb->drv, OHCA_CMD_CREATE_SRQ, &in, sizeof(in));
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_DESTROY_SRQ, id), OHCA_CMD_OK);
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_DESTROY_SRQ, id), OHCA_CMD_BAD_HANDLE);

	/* The maximum sizes */
	drv_cmd(hb->drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &dev, sizeof(dev));
	assert_true(le64toh(dev.caps) & OHCA_CAP_SRQ);
	assert_true(le32toh(dev.max_srq) >= 65536 && le32toh(dev.max_srq_wr) >= 16384);
	rig_srq_new(hb, &(struct rig_srq_opts){.log_size = 15, .max_sge = 1});
	rig_srq_new(hb, &(struct rig_srq_opts){.log_size = 4, .max_sge = 32});
}

static void test_modify(void **state)
{
	struct ohca_modify_srq_in in, bad;
	struct rig_srq tmp;

	(void)state;
	in = rig_srq_resize_in(srq, 5, &tmp);
	MODIFY(srqn, htole32(7777), OHCA_CMD_BAD_HANDLE);
	MODIFY(attr_mask, 0, OHCA_CMD_BAD_PARAM);
	MODIFY(attr_mask, htole32(4 | OHCA_SRQ_ATTR_SIZE), OHCA_CMD_BAD_PARAM);
	MODIFY(limit, htole32(1), OHCA_CMD_BAD_PARAM);
	MODIFY(log_size, 16, OHCA_CMD_BAD_PARAM);
	MODIFY(ring_offset, htole32(8), OHCA_CMD_BAD_PARAM);
	MODIFY(ring_offset, htole32(1U << (srq->log_stride - 1)), OHCA_CMD_BAD_PARAM);
	MODIFY(rec_offset, htole32(8), OHCA_CMD_BAD_PARAM);
	bad = in;
	bad.rsvd[2] = 1;
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &bad, sizeof(bad), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_modify_srq_in, rsvd));
	bad = in;
	bad.buf.addr = htole64(DRV_NOWHERE);
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &bad, sizeof(bad), OHCA_CMD_BAD_ADDR, 0);
	/* Attributes that depend on the size, which is not changed */
	bad = in;
	bad.attr_mask = htole32(OHCA_SRQ_ATTR_LIMIT);
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &bad, sizeof(bad), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_modify_srq_in, buf));
	memset(&bad.buf, 0, sizeof(bad.buf));
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &bad, sizeof(bad), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_modify_srq_in, ring_offset));
	/* A record whose contents differ from the old one's */
	tmp.rec->pi = htole32(1);
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &in, sizeof(in), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_modify_srq_in, rec_offset));
	post_recv(1);
	message(0, 1);
	/* Both at the same time */
	in = rig_srq_resize_in(srq, 5, &tmp);
	in.attr_mask = htole32(OHCA_SRQ_ATTR_SIZE | OHCA_SRQ_ATTR_LIMIT);
	in.limit = htole32(33);
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &in, sizeof(in), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_modify_srq_in, limit));
	in.limit = htole32(32);
	refuse(hb->drv, OHCA_CMD_MODIFY_SRQ, &in, sizeof(in), OHCA_CMD_OK, 0);
	*srq = tmp;
	inproc_assert_event(hb, OHCA_EVENT_SRQ_LIMIT, srq->srqn);
	post_recv(2);
	message(1, 2);
}

static void test_qp_with_srq(void **state)
{
	struct rig_qp_opts opts = {.srqn = srq->srqn};
	struct ohca_create_qp_in in, bad;
	struct rig_qp tmp;
	uint32_t qpn;

	(void)state;
	in = rig_qp_in(hb, &opts, &tmp);
#define QP(field, value, status) \
	REFUSE(hb->drv, OHCA_CMD_CREATE_QP, struct ohca_create_qp_in, in, field, value, status)
	QP(srqn, htole32(7777), OHCA_CMD_BAD_HANDLE);
	QP(recv_cqn, 0, OHCA_CMD_BAD_HANDLE);
	QP(rq_log_size, 1, OHCA_CMD_BAD_PARAM);
	QP(rq_log_stride, 5, OHCA_CMD_BAD_PARAM);
	QP(max_recv_sge, htole16(1), OHCA_CMD_BAD_PARAM);
	QP(rq_offset, htole32(32), OHCA_CMD_BAD_PARAM);
	QP(rq_rec_offset, htole32(64), OHCA_CMD_BAD_PARAM);
	bad = rig_qp_in(hb, NULL, &tmp);
	bad.srqn = htole32(srq->srqn);
	refuse(hb->drv, OHCA_CMD_CREATE_QP, &bad, sizeof(bad), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_create_qp_in, srqn));
	qpn = drv_create(hb->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	assert_int_equal(drv_destroy(hb->drv, OHCA_CMD_DESTROY_QP, qpn), OHCA_CMD_OK);
}

/* The maximum number; all of them in the same memory. */
static void test_many(void **state)
{
	struct rig_srq tmp;
	struct ohca_create_srq_in in = rig_srq_in(hb, NULL, &tmp);
	struct ohca_handle out;
	uint32_t i;

	(void)state;
	for (i = 1; i < HCA_MAX_SRQ; i++)
		drv_create(hb->drv, OHCA_CMD_CREATE_SRQ, &in, sizeof(in));
	assert_int_equal(drv_cmd(hb->drv, OHCA_CMD_CREATE_SRQ, &in, sizeof(in), &out, sizeof(out)),
			 OHCA_CMD_NO_RESOURCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fifo, up, down),
		cmocka_unit_test_setup_teardown(test_index_wraps, up, down),
		cmocka_unit_test_setup_teardown(test_copied_when_taken, up, down),
		cmocka_unit_test_setup_teardown(test_empty, up, down),
		cmocka_unit_test_setup_teardown(test_limit, up, down),
		cmocka_unit_test_setup_teardown(test_limit_of_creation, NULL, down),
		cmocka_unit_test_setup_teardown(test_flush, up, down),
		cmocka_unit_test_setup_teardown(test_write_imm_forbidden, up, down),
		cmocka_unit_test_setup_teardown(test_last_wqe, up, down),
		cmocka_unit_test_setup_teardown(test_error, up, down),
		cmocka_unit_test_setup_teardown(test_memory_goes, NULL, down),
		cmocka_unit_test_setup_teardown(test_bad_entries, up, down),
		cmocka_unit_test_setup_teardown(test_protection, NULL, down),
		cmocka_unit_test_setup_teardown(test_resize, up, down),
		cmocka_unit_test_setup_teardown(test_unreliable, NULL, down),
		cmocka_unit_test_setup_teardown(test_datagrams, NULL, down),
		cmocka_unit_test_setup_teardown(test_create, up, down),
		cmocka_unit_test_setup_teardown(test_modify, up, down),
		cmocka_unit_test_setup_teardown(test_qp_with_srq, up, down),
		cmocka_unit_test_setup_teardown(test_many, up, down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
