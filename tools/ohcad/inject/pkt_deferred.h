/* SPDX-License-Identifier: GPL-2.0 */
/* Packets on their way through pkt_fault.c, and those that are deferred there. */

#ifndef OHCAD_PKT_DEFERRED_H
#define OHCAD_PKT_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "inject/pkt_rule.h"
#include "packet/mad.h"

struct datagram;
struct fabric;
struct ib_port;
struct pkt;
struct qp;

/* The largest number of packets that are deferred at once, and bytes of memory for them */
#define PKT_DEFERRED_MAX 65536
#define PKT_DEFERRED_MAX_BYTES (64U << 20)

/**
 * struct pkt_ref - a packet at a place, by reference; one of @pkt, @dg, @smp and @frame is set
 * @place: of it
 * @src: who sent it, or NULL: it has come from an uplink
 * @pkt: of a connection
 * @dg: a datagram
 * @smp: of QP 0; it leaves @from by its link
 * @mad: what place.mad points at, of a datagram
 * @frame: from an uplink, @len bytes
 */
struct pkt_ref {
	struct pkt_place place;
	struct qp *src;
	const struct pkt *pkt;
	const struct datagram *dg;
	const struct mad_packet *smp;
	struct ib_port *from;
	struct mad_hdr mad;
	const uint8_t *frame;
	size_t len;
};

/**
 * struct pkt_deferred - a deferred packet, with a copy of everything that it refers to
 * @link: in pkt_deferred_list.list
 * @deadline: time at which it is forwarded
 * @counts: it is forwarded earlier, when @after others have passed its place
 * @size: bytes of memory
 */
struct pkt_deferred {
	struct list link;
	struct pkt_ref ref;
	uint64_t deadline;
	bool counts;
	uint32_t after;
	size_t size;
	uint64_t data[];
};

/**
 * struct pkt_deferred_list - the deferred packets
 * @requeue: called with a packet that was taken out of the list, and frees it
 * @list: ordered by deadline
 * @num, @bytes: packets in the list, and their memory
 * @counting: number of packets that wait for others to pass
 * @lost: number of packets for which there was no room
 * @timer: for the first deadline
 */
struct pkt_deferred_list {
	void (*requeue)(struct pkt_deferred_list *list, struct pkt_deferred *deferred);
	struct loop *loop;
	struct list list;
	unsigned int num;
	unsigned int counting;
	size_t bytes;
	uint64_t lost;
	struct timer timer;
};

void pkt_deferred_init(struct pkt_deferred_list *list, struct loop *loop,
		       void (*requeue)(struct pkt_deferred_list *list,
				       struct pkt_deferred *deferred));

/* Copy a packet without deferring it.  Returns NULL if there is no memory. */
struct pkt_deferred *pkt_deferred_copy(const struct pkt_ref *ref);
/*
 * Defer @ref for @ns, or if @after is not 0 until so many others have passed.  The packet is lost
 * if there is no room.
 */
void pkt_deferred_add(struct pkt_deferred_list *list, const struct pkt_ref *ref, uint64_t ns,
		      uint32_t after);
/* Another packet has passed @place. */
void pkt_deferred_passed(struct pkt_deferred_list *list, const struct pkt_place *place);
/* Whether a packet at @place waits for others */
bool pkt_deferred_at(const struct pkt_deferred_list *list, const struct pkt_place *place);
/* Free the packets from @src, NULL: from all, that wait at @port, NULL: at all. */
void pkt_deferred_forget(struct pkt_deferred_list *list, const struct qp *src,
			 const struct port *port);

#endif
