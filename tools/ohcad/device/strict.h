/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules for software, the S-nnn of the specification, that a device can see broken.  An HCA with the
 * option "strict" logs and counts them.  It does not change what the device does.
 */

#ifndef OHCAD_STRICT_H
#define OHCAD_STRICT_H

#include "device/hca.h"
#include "device/ring.h"

/**
 * strict_broken() - software has broken a rule
 * @rule: its number, "S-102"
 * @what: what software did, for the log line
 *
 * Nothing happens without the option.
 */
void strict_broken(struct hca *hca, const char *rule, const char *what);

/* S-302: the @len bytes of the record of a queue that is created are zero. */
void strict_record(struct hca *hca, const void *rec, uint32_t len);

/* S-302, S-304: all bytes of a ring of completions or events that is created are zero. */
void strict_ring(struct hca *hca, struct ring *ring);

#endif
