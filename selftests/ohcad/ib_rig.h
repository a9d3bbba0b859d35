/* SPDX-License-Identifier: GPL-2.0 */
/* Queue pairs of the HCAs of ib_bed.h. */

#ifndef SELFTESTS_OHCAD_IB_RIG_H
#define SELFTESTS_OHCAD_IB_RIG_H

#include "ib_bed.h"
#include "rig.h"

extern struct rig_hca hca[BED_HCAS];

/* As ib_bed_open(): links are up, and nothing else; ib_bed_close() ends it. */
int ib_rig_open(void **state);

void ib_to_rts(struct rig_qp *qp);
/* A QP of @type of HCA number @i, in RTS */
struct rig_qp *ib_new_qp(unsigned int i, uint8_t type);

#endif
