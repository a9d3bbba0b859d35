/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for the tests of on-demand paging: a source and a target with on-demand paging.
 */

#ifndef SELFTEST_ODP_UTIL_H
#define SELFTEST_ODP_UTIL_H

#include "verbs_util.h"

#define PAGE VU_PAGE
#define LEN (64 * PAGE)
#define ALL (VU_RW | IBV_ACCESS_REMOTE_ATOMIC)
#define ODP (ALL | IBV_ACCESS_ON_DEMAND)

extern struct vu_dev dev;
extern uint8_t *src, *dst; /* of LEN bytes */
extern struct ibv_mr *src_mr, *dst_mr;

/*
 * Open the device and register the memory; bails out on an error, or skips all if there is no
 * on-demand paging.
 */
void odp_open(void);
/* The rest of main() */
int odp_main(const struct tap_test *tests, unsigned int num, void (*cleanup)(void));

/* Discard the pages of this memory: it is zero then. */
void drop(uint8_t *mem, size_t len);
bool all_zero(const uint8_t *mem, size_t len);

/* One request between a local and a remote buffer */
bool odp_op(struct vu_qp *q, enum ibv_wr_opcode opcode, struct ibv_mr *lmr, void *local, size_t len,
	    struct ibv_mr *rmr, void *remote, enum ibv_wc_status status);

/* Flags of a page in /proc/PID/pagemap */
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAPPED (1ULL << 62)
uint64_t pagemap(const uint8_t *mem);

#endif
