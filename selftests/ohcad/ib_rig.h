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
/* A connection from HCA 0 to number @dst by the service level @sl; without an answer it ends after 2 ms. */
void ib_new_connection(struct rig_qp **from, struct rig_qp **to, unsigned int dst, uint8_t sl);
/* Posts rig_write(). */
void ib_post_write(struct rig_qp *from, struct ohca_sge sge, uint64_t raddr, uint32_t rkey);
/* The same; the status of its completion, when nothing more comes of it. */
uint8_t ib_wait_write(struct rig_qp *from, struct ohca_sge sge, uint64_t raddr, uint32_t rkey);

/* Attaches @qp to the group ff12::1 with the LID @mlid, or detaches it, as @op says.  Returns the command's status. */
int ib_mcast(uint16_t op, const struct rig_qp *qp, uint16_t mlid);

/* A QP of @type of HCA number @i, in RTS */
struct rig_qp *ib_new_qp(unsigned int i, uint8_t type);

#endif
