/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of counters: the port's, and those that software binds QPs to. */

#ifndef OHCAD_COUNTERS_H
#define OHCAD_COUNTERS_H

#include <stdint.h>

#include "ohca/ohca_cmd.h"

struct hca;
struct object_class;

/**
 * struct counters - a set
 * @value: by enum ohca_counter
 * @id: 0: the port's
 * @refs: QPs that are bound to it
 */
struct counters {
	uint64_t value[OHCA_NUM_COUNTERS];
	uint32_t id;
	uint32_t refs;
};

/* 0 yields the port's set; NULL if there is none. */
struct counters *counters_get(struct hca *hca, uint32_t id);

/* The sums of all sets, those that are gone included. */
void counters_total(const struct hca *hca, struct counters *total);

extern const struct object_class counters_class;

#endif
