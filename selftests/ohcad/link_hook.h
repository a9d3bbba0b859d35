/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaces the link between the QPs of the device in the test program: the program is linked with
 * --wrap=link_send, peer_is_busy and peer_has_fault, so that all packets pass these functions.
 */

#ifndef SELFTESTS_OHCAD_LINK_HOOK_H
#define SELFTESTS_OHCAD_LINK_HOOK_H

#include "inproc.h"

/**
 * struct link_faults - faults of packets: probabilities in 1024, independent of each other
 * @cut: a burst is first divided into packets of one MTU
 * @drop: the packet does not arrive
 * @dup: it arrives now, and once more later
 * @delay: it arrives after later packets
 */
struct link_faults {
	unsigned int cut, drop, dup, delay;
};

extern struct link_faults link_faults;
/* Seed of the random numbers. */
void link_seed(uint64_t seed);
/* Number of faults since link_seed(). */
extern struct link_faults link_happened;

/* If set, packets go only to this function. */
extern void (*link_capture)(struct qp *src, const struct pkt *pkt);
/* Set it so that @num packets arrive and all later ones are lost. */
void link_pass(unsigned int num);

/* peer_is_busy() and peer_has_fault() return the real values; else false, as on a wire. */
extern bool link_tells;

/* The device's own function. */
void __real_link_send(struct qp *src, const struct pkt *pkt);

#endif
