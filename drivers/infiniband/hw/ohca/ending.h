/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the ends of a process's objects, many at a time.
 */

#ifndef _OHCA_ENDING_H
#define _OHCA_ENDING_H

#include <rdma/ib_verbs.h>

#include "cmdq.h"

struct ohca_dev;
struct ohca_umem;

/**
 * enum ohca_end - kinds of objects, those that refer to others before these
 * @OHCA_END_MW: memory windows
 * @OHCA_END_QP: queue pairs
 * @OHCA_END_SRQ: shared receive queues
 * @OHCA_END_MR: memory regions
 * @OHCA_END_CQ: completion queues
 * @OHCA_END_PD: protection domains
 */
enum ohca_end {
	OHCA_END_MW,
	OHCA_END_QP,
	OHCA_END_SRQ,
	OHCA_END_MR,
	OHCA_END_CQ,
	OHCA_END_PD,
};

/**
 * struct ohca_endings - objects of a process that are being destroyed
 * @batch: the commands
 * @kinds: bit map of enum ohca_end: what may be pending
 *
 * A process that ends destroys its objects one after the other; ib_core lets no other thread do so
 * at the same time.
 */
struct ohca_endings {
	struct ohca_cmd_batch batch;
	u32 kinds;
};

void ohca_endings_init(struct ohca_endings *endings);
void ohca_endings_wait(struct ohca_dev *dev, struct ib_ucontext *ibuc);
bool ohca_end_later(struct ohca_dev *dev, struct ib_ucontext *ibuc, enum ohca_end kind, u32 id,
		    const struct ohca_umem *umem);

#endif /* _OHCA_ENDING_H */
