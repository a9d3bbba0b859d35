/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that are under way between two places of pkt_fault.c, and those of them that wait. */

#ifndef OHCAD_PKT_HELD_H
#define OHCAD_PKT_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "inject/pkt_rule.h"

struct datagram;
struct fabric;
struct pkt;
struct qp;

/* Most packets that wait at once, and bytes of memory that they take. */
#define PKT_HELD_MAX 65536
#define PKT_HELD_MAX_BYTES (64U << 20)

/**
 * struct parcel - a packet at a place; one of @pkt, @dg and @frame is set
 * @place: of it
 * @src: who sent it, or NULL: it has come from an uplink
 * @pkt: of a connection
 * @dg: a datagram
 * @frame: from an uplink, @len bytes
 */
struct parcel {
	struct pkt_place place;
	struct qp *src;
	const struct pkt *pkt;
	const struct datagram *dg;
	const uint8_t *frame;
	size_t len;
};

/**
 * struct pkt_held - a parcel that waits, with a copy of all that it refers to
 * @link: in pkt_held_list.list
 * @deadline: then it goes on
 * @counts: or behind @after others of its place
 * @size: bytes of memory
 */
struct pkt_held {
	struct list link;
	struct parcel parcel;
	uint64_t deadline;
	bool counts;
	uint32_t after;
	size_t size;
	uint64_t data[];
};

/**
 * struct pkt_held_list - those that wait
 * @go_on: called with one that is taken out of the list, and frees it
 * @list: by deadline
 * @num, @bytes: what is in it
 * @counting: those that count others
 * @lost: there was no room for so many
 * @timer: the first deadline
 */
struct pkt_held_list {
	void (*go_on)(struct pkt_held_list *list, struct pkt_held *held);
	struct loop *loop;
	struct list list;
	unsigned int num;
	unsigned int counting;
	size_t bytes;
	uint64_t lost;
	struct timer timer;
};

void pkt_held_init(struct pkt_held_list *list, struct loop *loop,
		   void (*go_on)(struct pkt_held_list *list, struct pkt_held *held));

/* A copy that does not wait yet; NULL if there is no memory. */
struct pkt_held *pkt_held_copy(const struct parcel *parcel);
/* Let @parcel wait for @ns, or for @after others if that is not 0; if there is no room it is lost. */
void pkt_held_add(struct pkt_held_list *list, const struct parcel *parcel, uint64_t ns,
		  uint32_t after);
/* One has passed at @place. */
void pkt_held_passed(struct pkt_held_list *list, const struct pkt_place *place);
/* Does one wait at @place for others? */
bool pkt_held_at(const struct pkt_held_list *list, const struct pkt_place *place);
/* Free those from @src; all if it is NULL. */
void pkt_held_forget(struct pkt_held_list *list, const struct qp *src);

#endif
