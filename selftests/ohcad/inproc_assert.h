/* SPDX-License-Identifier: GPL-2.0 */
/* Assertions about events and completions once the device in the program has nothing more to do. */

#ifndef SELFTESTS_OHCAD_INPROC_ASSERT_H
#define SELFTESTS_OHCAD_INPROC_ASSERT_H

#include "inproc.h"

void inproc_assert_no_cqe(struct drv_cq *cq);
/*
 * Asynchronous events other than those of ports and connections: exactly this one is pending, or
 * none.
 */
void inproc_assert_event(struct rig_hca *hca, enum ohca_event type, uint32_t id);
void inproc_assert_no_event(struct rig_hca *hca);
/* A round of the device, in which an empty message from a QP arrives at the one that it is connected to */
void inproc_assert_message(struct rig_qp *from, struct rig_qp *to);
/* Add the rule for HCAs that @text is; it must be valid. */
struct hca_rule *inproc_add_hca_rule(struct fabric *fabric, const char *text);

#endif
