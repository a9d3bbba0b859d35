/* SPDX-License-Identifier: GPL-2.0 */
/* Regions of a rig with on-demand paging, and what software does for them. */

#ifndef SELFTESTS_OHCAD_RIG_ODP_H
#define SELFTESTS_OHCAD_RIG_ODP_H

#include "rig.h"

/* Give @mr another key, of type OHCA_MKEY_ODP, for the same memory; no page is mapped. */
void rig_odp(struct rig_mr *mr, uint8_t access);

/* Commands on its pages; they return their status.  Mapping uses several commands if needed. */
int rig_odp_map(struct rig_mr *mr, uint64_t first, uint64_t num, bool write);
int rig_odp_unmap(struct rig_mr *mr, uint64_t first, uint64_t num);
int rig_odp_fail(struct rig_mr *mr, uint64_t first, uint64_t num);

/**
 * struct rig_fault - fields of OHCA_EVENT_PAGE_FAULT
 */
struct rig_fault {
	uint32_t key;
	uint64_t first, num;
	bool write;
};

struct rig_fault rig_fault_of(const struct ohca_eqe *eqe);
/* The next fault, if there is one; other events are skipped. */
bool rig_fault_poll(struct rig_hca *hca, struct rig_fault *fault);

#endif
