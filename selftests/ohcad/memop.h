/* SPDX-License-Identifier: GPL-2.0 */
/* Operations on memory keys, for tests: windows, fast registration, invalidation. */

#ifndef SELFTESTS_OHCAD_MEMOP_H
#define SELFTESTS_OHCAD_MEMOP_H

#include "pair.h"

/*
 * One operation of 8 bytes between the first bytes of @p->ma and (@va, @key) at the other side;
 * returns its status.
 */
int memop_rdma(struct pair *p, uint8_t op, uint64_t *value, uint64_t va, uint32_t key);
/* Reset and connect both QPs; earlier completions are gone. */
void memop_reconnect(struct pair *p);

/* A key of a type that gets its memory later. */
uint32_t memop_key(struct rig_hca *hca, uint8_t type, uint32_t max_pages);
/* The same key with other low bits. */
uint32_t memop_next_key(uint32_t key);

/**
 * struct memop_bind - fields of OHCA_OP_BIND_MW
 */
struct memop_bind {
	uint32_t rkey, new_rkey, lkey;
	uint64_t addr, length;
	uint8_t access;
};

/* Work requests, signaled; rig_put_send() writes them. */
struct rig_wr memop_bind_wr(const struct memop_bind *bind, struct ohca_sq_wqe *fields);
struct rig_wr memop_inv_wr(uint32_t key);
/* Register all pages of @mr under another address; @ext: where the extension goes. */
struct rig_wr memop_reg_wr(const struct rig_mr *mr, uint64_t iova, uint32_t key, uint8_t access,
			   struct ohca_sq_wqe *fields, struct ohca_wqe_ext *ext);

/* Execute it; returns the completion. */
struct ohca_cqe memop_bind(struct rig_qp *qp, const struct memop_bind *bind);
struct ohca_cqe memop_inv(struct rig_qp *qp, uint32_t key);
struct ohca_cqe memop_reg(struct rig_qp *qp, const struct rig_mr *mr, uint64_t iova, uint32_t key,
			  uint8_t access);
/* The operation failed with MW_BIND_ERR for this reason. */
void memop_assert_refused(struct ohca_cqe cqe, uint32_t vendor_err);

#endif
