// SPDX-License-Identifier: GPL-2.0
/* Operations on memory keys, for tests. */

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "memop.h"

int memop_rdma(struct pair *p, uint8_t op, uint64_t *value, uint64_t va, uint32_t key)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, 8);
	struct rig_wr wr = {.opcode = op,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = va,
			    .rkey = key};
	struct ohca_cqe cqe;

	if (op_writes(op))
		rig_mr_set(p->ma, PAIR_IOVA, value, 8);
	rig_post_send(p->a, &wr);
	cqe = rig_wait_send(p->a);
	if (!op_writes(op))
		rig_mr_get(p->ma, PAIR_IOVA, value, 8);
	return cqe.status;
}

static void drain(struct drv_cq *cq)
{
	struct ohca_cqe cqe;

	while (drv_cq_poll(cq, &cqe))
		;
	drv_cq_ack(cq);
}

void memop_reconnect(struct pair *p)
{
	rig_to_reset(p->a);
	rig_to_reset(p->b);
	drain(p->a->scq);
	drain(p->a->rcq);
	drain(p->b->scq);
	drain(p->b->rcq);
	rig_connect(p->a, p->b);
}

uint32_t memop_key(struct rig_hca *hca, uint8_t type, uint32_t max_pages)
{
	struct ohca_create_mkey_in in = {
		.pdn = htole32(hca->pdn), .type = type, .max_pages = htole32(max_pages)};

	return drv_create(hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

uint32_t memop_next_key(uint32_t key)
{
	return (key & ~0xffU) | ((key + 1) & 0xff);
}

struct rig_wr memop_bind_wr(const struct memop_bind *bind, struct ohca_sq_wqe *fields)
{
	struct rig_wr wr = {
		.opcode = OHCA_OP_BIND_MW, .flags = OHCA_WQE_SIGNALED, .fields = fields};

	memset(fields, 0, sizeof(*fields));
	fields->bind.addr = htole64(bind->addr);
	fields->bind.length = htole64(bind->length);
	fields->bind.lkey = htole32(bind->lkey);
	fields->bind.rkey = htole32(bind->rkey);
	fields->bind.new_rkey = htole32(bind->new_rkey);
	fields->bind.access = bind->access;
	return wr;
}

struct rig_wr memop_inv_wr(uint32_t key)
{
	struct rig_wr wr = {
		.opcode = OHCA_OP_LOCAL_INV, .flags = OHCA_WQE_SIGNALED, .inv_key = key};

	return wr;
}

struct rig_wr memop_reg_wr(const struct rig_mr *mr, uint64_t iova, uint32_t key, uint8_t access,
			   struct ohca_sq_wqe *fields, struct ohca_wqe_ext *ext)
{
	struct rig_wr wr = {
		.opcode = OHCA_OP_REG_MR, .flags = OHCA_WQE_SIGNALED, .fields = fields, .ext = ext};

	memset(fields, 0, sizeof(*fields));
	fields->reg.iova = htole64(iova);
	fields->reg.length = htole64(mr->length);
	fields->reg.key = htole32(key);
	fields->reg.access = access;
	memset(ext, 0, sizeof(*ext));
	ext->xlt = mr->xlt;
	return wr;
}

static struct ohca_cqe do_it(struct rig_qp *qp, const struct rig_wr *wr)
{
	struct ohca_cqe cqe;

	rig_post_send(qp, wr);
	cqe = rig_wait_send(qp);
	assert_int_equal(cqe.opcode, wr->opcode);
	return cqe;
}

struct ohca_cqe memop_bind(struct rig_qp *qp, const struct memop_bind *bind)
{
	struct ohca_sq_wqe fields;
	struct rig_wr wr = memop_bind_wr(bind, &fields);

	return do_it(qp, &wr);
}

struct ohca_cqe memop_inv(struct rig_qp *qp, uint32_t key)
{
	struct rig_wr wr = memop_inv_wr(key);

	return do_it(qp, &wr);
}

struct ohca_cqe memop_reg(struct rig_qp *qp, const struct rig_mr *mr, uint64_t iova, uint32_t key,
			  uint8_t access)
{
	struct ohca_sq_wqe fields;
	struct ohca_wqe_ext ext;
	struct rig_wr wr = memop_reg_wr(mr, iova, key, access, &fields, &ext);

	return do_it(qp, &wr);
}

void memop_assert_refused(struct ohca_cqe cqe, uint32_t vendor_err)
{
	assert_int_equal(cqe.status, OHCA_WC_MW_BIND_ERR);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
}
