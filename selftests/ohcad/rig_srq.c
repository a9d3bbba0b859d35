// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues of a rig. */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig_srq.h"

static const struct rig_srq_opts none;

static uint8_t stride_for(uint16_t max_sge)
{
	uint8_t log = 5;

	while (1U << log < OHCA_RQ_WQE_HDR + max_sge * sizeof(struct ohca_sge))
		log++;
	return log;
}

/* Memory for a ring with its record; the ring does not begin at the start of the buffer. */
static struct ohca_xlt alloc_ring(struct rig_srq *srq, uint32_t *ring_offset, uint32_t *rec_offset)
{
	struct drv *drv = srq->hca->drv;
	uint32_t start = 1U << srq->log_stride;
	uint32_t rec = (start + (1U << (srq->log_size + srq->log_stride)) + 63) & ~63U;
	uint64_t addr = drv_alloc(drv, rec + 64);

	srq->ring = (uint8_t *)drv_ptr(drv, addr) + start;
	srq->rec = drv_ptr(drv, addr + rec);
	*ring_offset = htole32(start);
	*rec_offset = htole32(rec);
	return drv_xlt(drv, addr, rec + 64, 12);
}

struct ohca_create_srq_in rig_srq_in(struct rig_hca *hca, const struct rig_srq_opts *opts,
				     struct rig_srq *srq)
{
	struct ohca_create_srq_in in = {0};
	uint16_t max_sge;

	if (!opts)
		opts = &none;
	max_sge = opts->max_sge ? opts->max_sge : 2;
	memset(srq, 0, sizeof(*srq));
	srq->hca = hca;
	srq->log_size = opts->log_size ? opts->log_size : 4;
	srq->log_stride = stride_for(max_sge);
	in.buf = alloc_ring(srq, &in.ring_offset, &in.rec_offset);
	in.pdn = htole32(opts->pdn ? opts->pdn : hca->pdn);
	in.max_sge = htole16(max_sge);
	in.log_size = srq->log_size;
	in.log_stride = srq->log_stride;
	in.flags = opts->flags;
	in.limit = htole32(opts->limit);
	if (opts->xrcdn) {
		in.type = OHCA_SRQ_XRC;
		in.xrcdn = htole32(opts->xrcdn);
		in.cqn = htole32(opts->cqn);
	} else if (opts->max_tags) {
		in.type = OHCA_SRQ_TM;
		in.max_tags = htole16(opts->max_tags);
		in.cqn = htole32(opts->cqn);
	}
	return in;
}

struct rig_srq *rig_srq_new(struct rig_hca *hca, const struct rig_srq_opts *opts)
{
	struct rig_srq *srq = drv_own(hca->drv, sizeof(*srq));
	struct ohca_create_srq_in in = rig_srq_in(hca, opts, srq);

	srq->srqn = drv_create(hca->drv, OHCA_CMD_CREATE_SRQ, &in, sizeof(in));
	return srq;
}

int rig_srq_destroy(struct rig_srq *srq)
{
	return drv_destroy(srq->hca->drv, OHCA_CMD_DESTROY_SRQ, srq->srqn);
}

struct ohca_query_srq_out rig_srq_query(struct rig_srq *srq)
{
	struct ohca_handle in = {.id = htole32(srq->srqn)};
	struct ohca_query_srq_out out;

	if (drv_cmd(srq->hca->drv, OHCA_CMD_QUERY_SRQ, &in, sizeof(in), &out, sizeof(out))) {
		fprintf(stderr, "rig: query SRQ\n");
		abort();
	}
	return out;
}

int rig_srq_limit(struct rig_srq *srq, uint32_t limit)
{
	struct ohca_modify_srq_in in = {
		.srqn = htole32(srq->srqn),
		.attr_mask = htole32(OHCA_SRQ_ATTR_LIMIT),
		.limit = htole32(limit),
	};

	return drv_cmd(srq->hca->drv, OHCA_CMD_MODIFY_SRQ, &in, sizeof(in), NULL, 0);
}

struct ohca_modify_srq_in rig_srq_resize_in(const struct rig_srq *srq, uint8_t log_size,
					    struct rig_srq *to)
{
	struct ohca_modify_srq_in in = {
		.srqn = htole32(srq->srqn),
		.attr_mask = htole32(OHCA_SRQ_ATTR_SIZE),
		.log_size = log_size,
	};

	*to = *srq;
	to->log_size = log_size;
	in.buf = alloc_ring(to, &in.ring_offset, &in.rec_offset);
	*to->rec = *srq->rec;
	return in;
}

int rig_srq_resize(struct rig_srq *srq, uint8_t log_size)
{
	struct rig_srq to;
	struct ohca_modify_srq_in in = rig_srq_resize_in(srq, log_size, &to);
	int status = drv_cmd(srq->hca->drv, OHCA_CMD_MODIFY_SRQ, &in, sizeof(in), NULL, 0);

	if (!status) {
		/* The device no longer uses the old ring. */
		memset(srq->ring, 0xff, 1U << (srq->log_size + srq->log_stride));
		*srq = to;
	}
	return status;
}

void *rig_srq_entry(struct rig_srq *srq, uint32_t idx)
{
	return srq->ring + ((idx & ((1U << srq->log_size) - 1)) << srq->log_stride);
}

void rig_srq_post(struct rig_srq *srq, uint64_t wr_id, const struct ohca_sge *sge, uint16_t num_sge)
{
	struct ohca_rq_wqe *wqe = rig_srq_entry(srq, srq->pi++);

	wqe->wr_id = htole64(wr_id);
	wqe->num_sge = htole32(num_sge);
	wqe->rsvd = 0;
	if (num_sge)
		memcpy(wqe->sge, sge, num_sge * sizeof(*sge));
	__atomic_store_n(&srq->rec->pi, htole32(srq->pi), __ATOMIC_RELEASE);
}

bool rig_srq_add_tags(struct rig_qp *ops, struct ohca_sge sge, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		struct ohca_sq_wqe fields = {.tag = {.tag = htole64(1 + i),
						     .mask = htole64(UINT64_MAX >> 1),
						     .handle = htole32(i)}};
		struct rig_wr wr = {.opcode = OHCA_OP_TAG_ADD,
				    .flags = OHCA_WQE_SIGNALED,
				    .num_sge = 1,
				    .sge = &sge,
				    .fields = &fields};

		rig_post_send(ops, &wr);
		if (rig_wait_send(ops).status)
			return false;
	}
	return true;
}
