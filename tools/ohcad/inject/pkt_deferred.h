/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that are under way between two places of pkt_fault.c, and those of them that wait. */

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

/* Most packets that wait at once, and bytes of memory that they take. */
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
 * struct pkt_deferred - a ref that waits, with a copy of all that it refers to
 * @link: in pkt_deferred_list.list
 * @deadline: then it goes on
 * @counts: or behind @after others of its place
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
 * struct pkt_deferred_list - those that wait
 * @requeue: called with one that is taken out of the list, and frees it
 * @list: by deadline
 * @num, @bytes: what is in it
 * @counting: those that count others
 * @lost: there was no room for so many
 * @timer: the first deadline
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

/* A copy that does not wait yet; NULL if there is no memory. */
struct pkt_deferred *pkt_deferred_copy(const struct pkt_ref *ref);
/* Let @ref wait for @ns, or for @after others if that is not 0; if there is no room it is lost. */
void pkt_deferred_add(struct pkt_deferred_list *list, const struct pkt_ref *ref, uint64_t ns,
		      uint32_t after);
/* One has passed at @place. */
void pkt_deferred_passed(struct pkt_deferred_list *list, const struct pkt_place *place);
/* Does one wait at @place for others? */
bool pkt_deferred_at(const struct pkt_deferred_list *list, const struct pkt_place *place);
/* Free those from @src; all if it is NULL. */
void pkt_deferred_forget(struct pkt_deferred_list *list, const struct qp *src);

#endif
