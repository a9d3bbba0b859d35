// SPDX-License-Identifier: GPL-2.0
/* Rules for software that are broken. */

#include "base/log.h"
#include "device/cmd.h"
#include "device/strict.h"

void strict_broken(struct hca *hca, const char *rule, const char *what)
{
	if (!hca->strict)
		return;
	hca->broken_rules++;
	if (hca_may_log(hca))
		log_error(hca->name, "software breaks %s: %s", rule, what);
}

void strict_record(struct hca *hca, const void *rec, uint32_t len)
{
	if (hca->strict && !cmd_all_zero(rec, len))
		strict_broken(hca, "S-302", "the record of a new queue is not zero");
}

void strict_ring(struct hca *hca, struct ring *ring)
{
	uint32_t i;

	if (!hca->strict)
		return;
	for (i = 0; i < 1U << ring->log_size; i++) {
		const void *entry = ring_entry(ring, i);

		if (entry && !cmd_all_zero(entry, 1U << ring->log_stride)) {
			strict_broken(hca, "S-304", "the ring of a new queue is not zero");
			return;
		}
	}
}
