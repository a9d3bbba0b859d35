/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs of the HCAs of ib_bed.h. */

#ifndef SELFTESTS_OHCAD_IB_RIG_H
#define SELFTESTS_OHCAD_IB_RIG_H

#include "ib_bed.h"
#include "rig.h"

extern struct rig_hca hca[BED_HCAS];

/* As ib_bed_open(): links are up, and nothing else; ib_bed_close() ends it. */
int ib_rig_open(void **state);

/* The path to HCA number @i of the bed */
struct ohca_av ib_av_to(unsigned int i);
/* Connects QPs, to RTS; the rest of their attributes, with paths, is there. */
void ib_connect(struct rig_qp *a, struct rig_qp *b);
/* A signaled RDMA write, with 77 for its number; it may be changed before it is posted. */
struct rig_wr ib_write(const struct ohca_sge *sge, uint64_t raddr, uint32_t rkey);
/* Posts such a write. */
void ib_post_write(struct rig_qp *from, struct ohca_sge sge, uint64_t raddr, uint32_t rkey);

/* A QP of @type of HCA number @i, in RTS */
struct rig_qp *ib_new_qp(unsigned int i, uint8_t type);

#endif
