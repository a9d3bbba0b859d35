/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on demand: packets that are lost, late, out of order, doubled or corrupted by rules
 * (pkt_rule.h; Documentation/faults.rst).  Packets pass here twice, if there are rules for their QPs:
 * when they leave their sender, and when they reach the port of their receiver.  The first rule that
 * hits is what happens to the packet; then it goes on.
 *
 * fabric->faults is NULL while there is no rule and no packet waits: then none comes here.
 */

#ifndef OHCAD_PKT_FAULT_H
#define OHCAD_PKT_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "inject/pkt_held.h"
#include "inject/pkt_rule.h"

struct datagram;
struct fabric;
struct pkt;
struct port;
struct qp;
struct roce_packet;

#define PKT_FAULT_MAX_RULES 256

/**
 * struct pkt_faults - the rules of a fabric
 * @rules: in the order in which they look at a packet
 * @num: of them
 * @held: packets that wait
 * @corrupt: the packet that goes on just now is corrupted, in bit @bit
 * @bad_crc: corrupted packets that never left the process, and were dropped where they arrived
 */
struct pkt_faults {
	struct fabric *fabric;
	struct list rules;
	unsigned int num;
	struct pkt_held_list held;
	bool corrupt;
	uint32_t bit;
	uint64_t bad_crc;
};

/*
 * Add a rule after the others; it belongs to the fabric then, and has its number.  Returns 0, or
 * -errno: -ENOENT for an adapter that is not there, -ENOSPC, -ENOMEM.
 */
int pkt_fault_add(struct fabric *fabric, struct loop *loop, struct pkt_rule *rule);
/* Remove a rule, or all (0).  False: there is no such rule.  Packets that wait arrive. */
bool pkt_fault_clear(struct fabric *fabric, uint32_t id);
/* The rule after this one, the first one after NULL; NULL: there is none. */
const struct pkt_rule *pkt_fault_next(const struct fabric *fabric, const struct pkt_rule *rule);
/* All is freed; what the rules did is logged. */
void pkt_fault_fini(struct fabric *fabric);

/* link.c, wire.c, ud.c: packets that pass */

/* Must packets from @src to @dst, NULL if that is behind an uplink, come here? */
bool pkt_fault_between(const struct pkt_faults *faults, const struct qp *src, const struct qp *dst);
/* A train leaves @src: packets that go on do so by link_forward(). */
void pkt_fault_send(struct qp *src, const struct pkt *train);
/* A packet from @src has reached @dst: link_arrive(). */
void pkt_fault_arrive(struct qp *src, struct qp *dst, const struct pkt *pkt);
/*
 * The same with datagrams, link_forward_datagram() and link_arrive_datagram(); @src is NULL if it has come
 * from an uplink.  Returns the bytes that were received by now.
 */
uint64_t pkt_fault_send_datagram(struct qp *src, const struct datagram *dg);
uint64_t pkt_fault_arrive_datagram(struct qp *src, struct port *port, const struct datagram *dg);
/*
 * A good packet for @port has come from an uplink.  False: it goes on; else that is all, and if it goes
 * on later it comes to wire_receive_late().
 */
bool pkt_fault_frame(struct port *port, const struct roce_packet *p, const uint8_t *frame,
		     size_t len);
/* A packet was encoded for an uplink. */
void pkt_fault_encoded(const struct pkt_faults *faults, uint8_t *frame, size_t len);
/* What waits and came from @qp is lost: reset. */
void pkt_fault_forget(struct qp *qp);

#endif
