/* SPDX-License-Identifier: GPL-2.0 */
/* Assertions about the state and completions of a rig's QPs. */

#ifndef SELFTESTS_OHCAD_RIG_ASSERT_H
#define SELFTESTS_OHCAD_RIG_ASSERT_H

#include "rig.h"

void assert_cqe(struct ohca_cqe cqe, uint8_t status, uint32_t vendor_err, uint64_t wr_id);
void assert_state(struct rig_qp *qp, enum ohca_qp_state state);
/* From RESET to RTS by the QP's attributes */
void assert_to_rts(struct rig_qp *qp);

/* The status of a command that creates a QP; a QP that was created is destroyed again. */
int try_create_qp(struct rig_hca *hca, const struct ohca_create_qp_in *in);

/* A counter of the port */
uint64_t rig_counter(struct rig_hca *hca, enum ohca_counter counter);

#endif
