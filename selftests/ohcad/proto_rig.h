/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connected QPs for tests of requester and responder packet by packet: no packet that one sends
 * comes to the other.  The test takes it, and gives any packets to responder_rx() and requester_rx().
 */

#ifndef SELFTESTS_OHCAD_PROTO_RIG_H
#define SELFTESTS_OHCAD_PROTO_RIG_H

#include "link_hook.h"
#include "pair.h"

#define PROTO_PSN 100 /* of the first request */
#define PROTO_MAX_RD 4 /* reads and atomics outstanding */
#define PROTO_MAX_SENT 64

/**
 * struct sent - a packet that the device has sent, without its payload
 * @value: of an atomic's response
 */
struct sent {
	struct pkt pkt;
	uint64_t value;
};

extern struct pair p;
extern struct qp *qa, *qb; /* the device's objects of p.a, which sends requests, and of p.b */
extern unsigned int num_sent; /* packets that wait for take_sent() */
extern struct sent sent[PROTO_MAX_SENT];

/* Connect the QPs.  They have no timers, so only packets make them send. */
void proto_open(const struct rig_qp_opts *opts);
/* The same, with queues of 256 entries, as a test's setup */
int proto_setup(void **state);
int proto_close(void **state);
/* Connect them again. */
void proto_reconnect(void);

/* The next packet that the device has sent, with these values; -1: any. */
struct sent take_sent(int op, int64_t psn, int64_t npsn);
/* The same, without a value */
struct pkt take_pkt(int op, int64_t psn, int64_t npsn);
/* All packets of a message, in any number of bursts; returns the last burst. */
struct pkt take_all(int op, uint32_t psn, uint32_t npsn);
/* The device sends nothing. */
void take_nothing(void);

#endif
