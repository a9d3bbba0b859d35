/* SPDX-License-Identifier: GPL-2.0 */
/* Protection domains, which associate regions with queues. */

#ifndef OHCAD_PD_H
#define OHCAD_PD_H

#include "device/hca.h"

/**
 * struct pd - a protection domain
 * @refs: memory keys and QPs in it
 */
struct pd {
	uint32_t id;
	uint32_t refs;
};

/* Returns NULL if there is none. */
static inline struct pd *pd_get(struct hca *hca, uint32_t pdn)
{
	return table_get(&hca->pds, pdn);
}

extern const struct object_class pd_class;

#endif
