// SPDX-License-Identifier: GPL-2.0
/* An SRQ with tags, and functions to use it. */

#include <endian.h>

#include "inproc_assert.h"
#include "tm_bed.h"

struct tm_bed bed;

void tm_new_pair(unsigned int i, uint32_t pdn)
{
	struct rig_qp_opts opts = {0};

	bed.a[i] = rig_qp_new(bed.ha, &opts);
	bed.a[i]->attr.timeout = 9; /* about 2 ms: tests that lose packets should be short */
	opts.srqn = bed.srq->srqn;
	opts.pdn = pdn;
	opts.tags = true;
	bed.b[i] = rig_qp_new(bed.hb, &opts);
	bed.b[i]->attr.timeout = 9;
}

static void new_ops(void)
{
	struct rig_qp_opts opts = {
		.type = OHCA_QPT_TM, .srqn = bed.srq->srqn, .max_sge = OHCA_TM_MAX_SGE};

	bed.ops = rig_qp_new(bed.hb, &opts);
	assert_int_equal(rig_modify(bed.ops, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
}

int tm_up(void **state)
{
	struct rig_srq_opts opts = {.max_tags = TM_TAGS};
	unsigned int i;

	(void)state;
	memset(&bed, 0, sizeof(bed));
	bed.rig = rig_open(server);
	bed.ha = &bed.rig->hca[0];
	bed.hb = &bed.rig->hca[1];
	bed.ma = rig_mr_new(bed.ha, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	bed.mb = rig_mr_new(bed.hb, PAIR_IOVA, PAIR_LEN, RIG_ALL_ACCESS, 0);
	bed.cq = drv_cq_new(bed.hb->drv, 8, bed.hb->comp->eqn);
	opts.cqn = bed.cq->cqn;
	bed.srq = rig_srq_new(bed.hb, &opts);
	new_ops();
	for (i = 0; i < TM_NUM; i++) {
		tm_new_pair(i, 0);
		rig_connect(bed.a[i], bed.b[i]);
	}
	return 0;
}

int tm_down(void **state)
{
	(void)state;
	memset(&link_faults, 0, sizeof(link_faults));
	link_seed(0);
	rig_close(bed.rig);
	return 0;
}

static struct ohca_cqe post_op(uint8_t opcode, uint64_t wr_id, bool sync,
			       const struct ohca_sq_wqe *fields, const struct ohca_sge *sge,
			       uint16_t num_sge)
{
	struct rig_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = OHCA_WQE_SIGNALED | (sync ? OHCA_WQE_TAG_SYNC : 0),
		.num_sge = num_sge,
		.sge = sge,
		.fields = fields,
	};
	struct ohca_cqe cqe;

	rig_post_send(bed.ops, &wr);
	cqe = rig_wait_send(bed.ops);
	assert_int_equal(cqe.opcode, opcode);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(le32toh(cqe.qpn), bed.ops->qpn);
	return cqe;
}

struct ohca_cqe tm_add(const struct tm_tag *tag, enum ohca_wc_status status)
{
	struct ohca_sge sge = rig_sge(bed.mb, TM_PLACE(tag->handle), tag->len);
	struct ohca_sq_wqe fields = {0};
	struct ohca_cqe cqe;

	fields.tag.recv_wr_id = htole64(tag->wr_id);
	fields.tag.tag = htole64(tag->tag);
	fields.tag.mask = htole64(tag->mask);
	fields.tag.handle = htole32(tag->handle);
	fields.tag.unexpected = htole32(bed.unexpected);
	cqe = post_op(OHCA_OP_TAG_ADD, tag->handle, tag->sync, &fields, tag->sge ? tag->sge : &sge,
		      tag->sge ? tag->num_sge : 1);
	assert_int_equal(cqe.status, status);
	return cqe;
}

struct ohca_cqe tm_del(uint32_t handle, bool sync, enum ohca_wc_status status)
{
	struct ohca_sq_wqe fields = {0};
	struct ohca_cqe cqe;

	fields.tag.handle = htole32(handle);
	fields.tag.unexpected = htole32(bed.unexpected);
	cqe = post_op(OHCA_OP_TAG_DEL, handle, sync, &fields, NULL, 0);
	assert_int_equal(cqe.status, status);
	return cqe;
}

struct ohca_cqe tm_sync(uint32_t unexpected)
{
	struct ohca_sq_wqe fields = {0};
	struct ohca_cqe cqe;

	bed.unexpected = unexpected;
	fields.tag.unexpected = htole32(unexpected);
	cqe = post_op(OHCA_OP_TAG_SYNC, 0x5117c, true, &fields, NULL, 0);
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	return cqe;
}

void tm_add_simple(uint32_t n, uint64_t tag)
{
	struct tm_tag add = {
		.handle = n,
		.tag = tag,
		.mask = TM_EXACT,
		.wr_id = n,
		.len = 64U << 10,
		.sync = true,
	};

	tm_add(&add, OHCA_WC_SUCCESS);
}

void tm_post_recv(uint64_t wr_id, uint32_t len)
{
	struct ohca_sge sge = rig_sge(bed.mb, TM_RECV, len);

	rig_srq_post(bed.srq, wr_id, &sge, 1);
}

void tm_send_raw(unsigned int i, uint32_t len)
{
	struct ohca_sge sge = rig_sge(bed.ma, TM_SRC, len);
	struct rig_wr wr = {
		.wr_id = 0x5e9d,
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
	};

	rig_post_send(bed.a[i], &wr);
}

static struct ohca_tmh header(uint8_t opcode, uint64_t tag)
{
	struct ohca_tmh tmh = {
		.opcode = opcode, .app_ctx = htobe32(tag ^ 0xc7c7), .tag = htobe64(tag)};

	return tmh;
}

void tm_send(unsigned int i, uint8_t opcode, uint64_t tag, uint32_t len, uint32_t seed)
{
	struct ohca_tmh tmh = header(opcode, tag);

	rig_mr_set(bed.ma, TM_SRC, &tmh, sizeof(tmh));
	rig_mr_fill(bed.ma, TM_SRC + sizeof(tmh), len, seed);
	tm_send_raw(i, sizeof(tmh) + len);
}

void tm_send_eager(unsigned int i, uint64_t tag, uint32_t len, uint32_t seed)
{
	tm_send(i, OHCA_TMH_EAGER, tag, len, seed);
}

void tm_send_rndv(unsigned int i, uint64_t tag, uint32_t off, uint32_t len, uint32_t seed)
{
	struct {
		struct ohca_tmh tmh;
		struct ohca_rvh rvh;
	} hdr = {
		.tmh = header(OHCA_TMH_RNDV, tag),
		.rvh = {.va = htobe64(TM_DATA + off),
			.rkey = htobe32(bed.ma->key),
			.len = htobe32(len)},
	};

	rig_mr_fill(bed.ma, TM_DATA + off, len, seed);
	rig_mr_set(bed.ma, TM_SRC, &hdr, sizeof(hdr));
	tm_send_raw(i, sizeof(hdr));
}

void tm_sent(unsigned int i, enum ohca_wc_status status)
{
	assert_int_equal(rig_wait_send(bed.a[i]).status, status);
}

struct ohca_cqe tm_expect(uint8_t opcode, uint64_t wr_id, enum ohca_wc_status status)
{
	struct ohca_cqe cqe = drv_cq_wait(bed.cq);

	assert_int_equal(cqe.status, status);
	assert_int_equal(cqe.opcode, opcode);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
	assert_int_equal(le32toh(cqe.srqn), bed.srq->srqn);
	assert_int_equal(cqe.flags & (OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ),
			 OHCA_CQE_F_RQ | OHCA_CQE_F_SRQ);
	return cqe;
}

struct ohca_cqe tm_expect_match(uint8_t opcode, uint64_t wr_id, uint64_t tag)
{
	struct ohca_cqe cqe = tm_expect(opcode, wr_id, OHCA_WC_SUCCESS);

	assert_int_equal(le32toh(cqe.tag.low) | (uint64_t)le32toh(cqe.tag.high) << 32, tag);
	assert_int_equal(le32toh(cqe.tag.app_ctx), (uint32_t)(tag ^ 0xc7c7));
	return cqe;
}

void tm_expect_nothing(void)
{
	inproc_assert_no_cqe(bed.cq);
}

void tm_post_fin(unsigned int i)
{
	uint64_t at = TM_FIN + (bed.num_fins++ % 128) * 64;
	struct ohca_sge sge = rig_sge(bed.ma, at, 64);

	rig_post_recv(bed.a[i], at, &sge, 1);
}

void tm_expect_fin(unsigned int i, uint64_t tag)
{
	struct ohca_cqe cqe = rig_wait_recv(bed.a[i]);
	struct ohca_tmh want = header(OHCA_TMH_FIN, tag), got;

	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(le32toh(cqe.byte_len), sizeof(struct ohca_tmh) + sizeof(struct ohca_rvh));
	rig_mr_get(bed.ma, le64toh(cqe.wr_id), &got, sizeof(got));
	assert_memory_equal(&got, &want, sizeof(want));
}
