/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link between the QPs of the device inside of the test program, in the hands of the test:
 * the program is linked with --wrap=link_send, peer_is_busy and peer_has_fault, so that all packets come
 * here.
 */

#ifndef SELFTESTS_OHCAD_LINK_HOOK_H
#define SELFTESTS_OHCAD_LINK_HOOK_H

#include "inproc.h"

/**
 * struct link_faults - what happens to packets: chances in 1024, each for itself
 * @cut: a burst is cut into packets of one MTU first
 * @drop: it does not arrive
 * @dup: it arrives now, and once more later
 * @delay: it arrives after others
 */
struct link_faults {
	unsigned int cut, drop, dup, delay;
};

extern struct link_faults link_faults;
/* Seed of the choices. */
void link_seed(uint64_t seed);
/* What happened since link_seed(). */
extern struct link_faults link_happened;

/* If set, packets go here and nowhere else. */
extern void (*link_capture)(struct qp *src, const struct pkt *pkt);
/* Set it: @num packets arrive, those after them are lost. */
void link_pass(unsigned int num);

/* peer_is_busy() and peer_has_fault() say what is so; else what a wire tells: nothing. */
extern bool link_tells;

/* The link's own delivery. */
void __real_link_send(struct qp *src, const struct pkt *pkt);

#endif
