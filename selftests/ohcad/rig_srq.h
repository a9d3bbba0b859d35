/* SPDX-License-Identifier: GPL-2.0 */
/* Shared receive queues of a rig. */

#ifndef SELFTESTS_OHCAD_RIG_SRQ_H
#define SELFTESTS_OHCAD_RIG_SRQ_H

#include "rig.h"

/**
 * struct rig_srq_opts - geometry; zero is the default
 */
struct rig_srq_opts {
	uint8_t flags;
	uint8_t log_size; /* 4 */
	uint16_t max_sge; /* 2 */
	uint32_t pdn; /* the HCA's */
	uint32_t xrcdn; /* none: OHCA_SRQ_BASIC */
	uint16_t max_tags; /* none; else OHCA_SRQ_TM */
	uint32_t cqn; /* with xrcdn or max_tags */
	uint32_t limit;
};

/**
 * struct rig_srq - a shared receive queue
 * @pi: entries posted
 */
struct rig_srq {
	struct rig_hca *hca;
	uint32_t srqn;
	uint8_t log_size, log_stride;
	uint8_t *ring;
	struct ohca_wq_rec *rec;
	uint32_t pi;
};

/*
 * The input of the command, for tests that make it invalid; @srq is filled in except for its
 * number.
 */
struct ohca_create_srq_in rig_srq_in(struct rig_hca *hca, const struct rig_srq_opts *opts,
				     struct rig_srq *srq);
struct rig_srq *rig_srq_new(struct rig_hca *hca, const struct rig_srq_opts *opts);
int rig_srq_destroy(struct rig_srq *srq);
struct ohca_query_srq_out rig_srq_query(struct rig_srq *srq);
/* Arm the limit; returns the command's status. */
int rig_srq_limit(struct rig_srq *srq, uint32_t limit);
/*
 * The input of a command that gives it another ring, and the SRQ afterwards; the record is copied.
 */
struct ohca_modify_srq_in rig_srq_resize_in(const struct rig_srq *srq, uint8_t log_size,
					    struct rig_srq *to);
/* Resize; returns the command's status. */
int rig_srq_resize(struct rig_srq *srq, uint8_t log_size);

/*
 * Add tags 1 to @num, of which all bits but the highest are compared, each with the buffer @sge, by
 * work requests of @ops, a QP of type OHCA_QPT_TM.  Returns whether all succeeded.
 */
bool rig_srq_add_tags(struct rig_qp *ops, struct ohca_sge sge, unsigned int num);

void *rig_srq_entry(struct rig_srq *srq, uint32_t idx);
void rig_srq_post(struct rig_srq *srq, uint64_t wr_id, const struct ohca_sge *sge,
		  uint16_t num_sge);

#endif
