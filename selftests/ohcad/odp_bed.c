// SPDX-License-Identifier: GPL-2.0
/* Two QPs whose regions have missing pages, and software that maps them. */

#include <endian.h>

#include "inproc_assert.h"
#include "mem/mkey.h"
#include "odp_bed.h"

#define RECV_ID 5

struct pair odp;

static struct rig_mr *unmap_at_response;

const uint8_t odp_ops[ODP_OPS] = {OHCA_OP_SEND,		  OHCA_OP_SEND_IMM,    OHCA_OP_RDMA_WRITE,
				  OHCA_OP_RDMA_WRITE_IMM, OHCA_OP_RDMA_READ,   OHCA_OP_FETCH_ADD,
				  OHCA_OP_CMP_SWAP,	  OHCA_OP_ATOMIC_WRITE};

int odp_up(void **state)
{
	(void)state;
	odp = pair_new(server, NULL);
	odp.a->attr.timeout = 1; /* 8 us */
	odp.a->attr.retry_cnt = 0;
	odp.a->attr.rnr_retry = 0;
	odp.b->attr.access |= OHCA_ACCESS_REMOTE_ATOMIC;
	rig_connect(odp.a, odp.b);
	link_tells = true;
	return 0;
}

int odp_down(void **state)
{
	(void)state;
	link_capture = NULL;
	link_tells = false;
	rig_close(odp.rig);
	return 0;
}

void odp_reconnect(void)
{
	struct ohca_cqe cqe;

	rig_to_reset(odp.a);
	rig_to_reset(odp.b);
	while (drv_cq_poll(odp.a->scq, &cqe) || drv_cq_poll(odp.b->rcq, &cqe))
		;
	drv_cq_ack(odp.a->scq);
	drv_cq_ack(odp.b->rcq);
	rig_connect(odp.a, odp.b);
}

bool odp_one_word(uint8_t op)
{
	return op >= OHCA_OP_CMP_SWAP && op <= OHCA_OP_ATOMIC_WRITE;
}

void odp_post(uint8_t op, uint64_t addr, uint32_t len, uint64_t raddr)
{
	struct ohca_sge sge = rig_sge(odp.ma, addr, len);
	struct ohca_sq_wqe fields = {.rdma = {.compare_add = htole64(1), .swap = htole64(7)}};
	struct rig_wr wr = {
		.wr_id = op,
		.opcode = op,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.raddr = raddr,
		.rkey = odp.mb->key,
	};

	fields.rdma.raddr = htole64(raddr);
	fields.rdma.rkey = htole32(odp.mb->key);
	if (odp_one_word(op))
		wr.fields = &fields;
	if (odp.a->type == OHCA_QPT_UD) {
		wr.av = &odp.a->attr.av;
		wr.dest_qpn = odp.b->qpn;
		wr.qkey = RIG_QKEY;
	}
	rig_post_send(odp.a, &wr);
}

void odp_post_recv(uint64_t addr, uint32_t len)
{
	struct ohca_sge sge = rig_sge(odp.mb, addr, len);

	rig_post_recv(odp.b, RECV_ID, &sge, 1);
}

void odp_assert_send(enum ohca_wc_status status, uint32_t vendor_err)
{
	struct ohca_cqe cqe = rig_wait_send(odp.a);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
}

void odp_assert_recv(enum ohca_wc_status status, uint32_t vendor_err)
{
	struct ohca_cqe cqe = rig_wait_recv(odp.b);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
	assert_int_equal(le64toh(cqe.wr_id), RECV_ID);
}

void odp_assert_no_cqe(void)
{
	inproc_assert_no_cqe(odp.a->scq);
	inproc_assert_no_cqe(odp.b->rcq);
}

void odp_prepare(uint8_t op, uint32_t len, uint32_t seed)
{
	uint64_t zero = 0;

	rig_mr_fill(odp.ma, ODP_SRC, len, op == OHCA_OP_RDMA_READ ? ~seed : seed);
	rig_mr_fill(odp.mb, ODP_DST, len, op == OHCA_OP_RDMA_READ ? seed : ~seed);
	if (op == OHCA_OP_CMP_SWAP || op == OHCA_OP_FETCH_ADD)
		rig_mr_set(odp.mb, ODP_DST, &zero, 8);
}

void odp_assert_done(uint8_t op, uint32_t len, uint32_t seed)
{
	if (op == OHCA_OP_FETCH_ADD || op == OHCA_OP_CMP_SWAP) {
		assert_int_equal(odp_word_at(odp.ma, ODP_SRC), 0);
		assert_int_equal(odp_word_at(odp.mb, ODP_DST), op == OHCA_OP_FETCH_ADD ? 1 : 0);
	} else {
		assert_true(op == OHCA_OP_RDMA_READ ? rig_mr_is(odp.ma, ODP_SRC, len, seed)
						    : rig_mr_is(odp.mb, ODP_DST, len, seed));
	}
}

uint64_t odp_word_at(struct rig_mr *mr, uint64_t addr)
{
	uint64_t value;

	rig_mr_get(mr, addr, &value, 8);
	return le64toh(value);
}

uint64_t odp_page_of(const struct rig_mr *mr, uint64_t addr)
{
	return (addr - mr->iova + mr->iova % ODP_PAGE_SIZE) / ODP_PAGE_SIZE;
}

struct rig_fault odp_take_fault(struct rig_mr *mr, uint64_t addr, uint64_t len, bool write)
{
	struct rig_fault f;

	inproc_settle();
	assert_true(rig_fault_poll(mr->hca, &f));
	assert_int_equal(f.key, mr->key);
	assert_int_equal(f.first, odp_page_of(mr, addr));
	assert_int_equal(f.num, odp_page_of(mr, addr + len - 1) - f.first + 1);
	assert_int_equal(f.write, write);
	return f;
}

void odp_assert_no_fault(struct rig_hca *hca)
{
	struct rig_fault f;

	inproc_settle();
	assert_false(rig_fault_poll(hca, &f));
}

struct rig_fault odp_miss(uint8_t op, uint32_t len, struct rig_mr *mr)
{
	struct rig_fault f;

	if (op_receives(op))
		odp_post_recv(ODP_DST, len);
	odp_post(op, ODP_SRC, len, ODP_DST);
	inproc_settle();
	assert_true(rig_fault_poll(mr->hca, &f));
	assert_int_equal(f.key, mr->key);
	return f;
}

void odp_serve_fault(struct rig_mr *mr, const struct rig_fault *f)
{
	assert_int_equal(rig_odp_map(mr, f->first, f->num, f->write), OHCA_CMD_OK);
}

unsigned int odp_serve(void)
{
	struct rig_mr *mr[] = {odp.ma, odp.mb};
	unsigned int num = 0, i;
	struct rig_fault f;

	for (i = 0; i < 2; i++) {
		while (rig_fault_poll(mr[i]->hca, &f)) {
			assert_int_equal(f.key, mr[i]->key);
			odp_serve_fault(mr[i], &f);
			num++;
		}
	}
	return num;
}

unsigned int odp_serve_all(void)
{
	unsigned int num = 0, more;

	do {
		inproc_settle();
		more = odp_serve();
		num += more;
	} while (more);
	return num;
}

static void lose_place(struct qp *src, const struct pkt *pkt)
{
	struct rig_mr *mr = unmap_at_response;

	if (mr && pkt_is_response(pkt->op) && pkt->op != PKT_ACK) {
		unmap_at_response = NULL;
		odp_unmap(mkey_find(inproc_hca(0), mr->key)->odp, 0, mr->num_pages, UINT64_MAX);
	}
	__real_link_send(src, pkt);
}

void odp_unmap_at_response(struct rig_mr *mr)
{
	unmap_at_response = mr;
	link_capture = lose_place;
}
