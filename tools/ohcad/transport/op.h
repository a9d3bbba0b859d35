/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of a send queue: the properties of each of them. */

#ifndef OHCAD_OP_H
#define OHCAD_OP_H

#include "qp/qp.h"

/* Sets of operations */
#define OPS(op) (1U << (op))
#define OPS_ATOMIC                                                                       \
	(OPS(OHCA_OP_CMP_SWAP) | OPS(OHCA_OP_FETCH_ADD) | OPS(OHCA_OP_MASKED_CMP_SWAP) | \
	 OPS(OHCA_OP_MASKED_FETCH_ADD))

#define OP_NUM 16

static inline bool op_in(uint8_t op, uint32_t ops)
{
	return op < OP_NUM && ops >> op & 1;
}

/**
 * enum op_kind - how an operation is executed
 * @OP_MESSAGE: bursts that are acknowledged
 * @OP_READ_ATOMIC: a request that has a response of its own; max_rd_atomic counts them
 * @OP_LOCAL: in this HCA; nothing is sent
 */
enum op_kind {
	OP_MESSAGE,
	OP_READ_ATOMIC,
	OP_LOCAL,
};

/**
 * struct op_rule - rules for the WQEs of an operation
 * @types: types of QP that have it, QPT()
 * @kind: enum op_kind
 * @flags: OHCA_WQE_* that it may have
 * @must: OHCA_WQE_* that it must have
 * @qp_flags: OHCA_QP_F_* that the QP must have
 * @fixed: its list or inline data have @len bytes
 */
struct op_rule {
	uint16_t types;
	uint8_t kind;
	uint8_t flags;
	uint8_t must;
	uint8_t qp_flags;
	bool fixed;
	uint8_t len;
};

extern const struct op_rule op_rules[OP_NUM];

/* The operations that an HCA with these OHCA_CAP_* has, a bit each */
uint32_t op_mask(uint64_t caps);

/* Returns the rule for a WQE; NULL if the WQE breaks it, except by its length. */
static inline const struct op_rule *op_rule(const struct qp *qp, const struct ohca_sq_wqe *wqe)
{
	const struct op_rule *rule = &op_rules[wqe->opcode % OP_NUM];

	if (!op_in(wqe->opcode, qp->hca->wqe_ops) || !(rule->types & QPT(qp->type)) ||
	    wqe->flags & ~rule->flags || rule->must & ~wqe->flags || rule->qp_flags & ~qp->flags)
		return NULL;
	return rule;
}

#endif
