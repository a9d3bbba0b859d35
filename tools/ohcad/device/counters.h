/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of counters: one of each port, and those that software binds QPs to. */

#ifndef OHCAD_COUNTERS_H
#define OHCAD_COUNTERS_H

#include <stdint.h>

#include "ohca/ohca_cmd.h"

struct hca;
struct object_class;

/**
 * struct counters - a set
 * @value: by enum ohca_counter
 * @id: 0: the port's own
 * @port: number of the port of its QPs
 * @refs: QPs that are bound to it
 */
struct counters {
	uint64_t value[OHCA_NUM_COUNTERS];
	uint32_t id;
	uint32_t refs;
	uint8_t port;
};

/* A set that software has made, or NULL */
struct counters *counters_get(struct hca *hca, uint32_t id);

/* The own set of a port that exists */
struct counters *counters_of_port(struct hca *hca, uint8_t port);

/* The sums of all sets of a port, those that are gone included */
void counters_total(const struct hca *hca, uint8_t port, struct counters *total);

extern const struct object_class counters_class;

#endif
