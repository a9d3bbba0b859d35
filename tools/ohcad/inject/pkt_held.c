// SPDX-License-Identifier: GPL-2.0
/* Packets that wait, with copies of their payload. */

#include <stdlib.h>
#include <string.h>

#include "inject/pkt_held.h"
#include "qp/qp.h"
#include "net/datagram.h"

static struct pkt_held *first(const struct pkt_held_list *list)
{
	return list_entry(list->list.next, struct pkt_held, link);
}

static void take_out(struct pkt_held_list *list, struct pkt_held *held)
{
	list_del(&held->link);
	list->num--;
	list->counting -= held->counts;
	list->bytes -= held->size;
}

/* The timer runs for the first one. */
static void arm(struct pkt_held_list *list)
{
	if (list_empty(&list->list))
		loop_timer_cancel(list->loop, &list->timer);
	else
		loop_timer_arm(list->loop, &list->timer, first(list)->deadline);
}

static void on_timer(struct timer *timer)
{
	struct pkt_held_list *list = list_entry(timer, struct pkt_held_list, timer);
	uint64_t now = loop_now(list->loop);

	while (!list_empty(&list->list) && first(list)->deadline <= now) {
		struct pkt_held *held = first(list);

		take_out(list, held);
		list->go_on(list, held);
	}
	arm(list);
}

void pkt_held_init(struct pkt_held_list *list, struct loop *loop,
		   void (*go_on)(struct pkt_held_list *list, struct pkt_held *held))
{
	list->go_on = go_on;
	list->loop = loop;
	list_init(&list->list);
	list->timer.fn = on_timer;
}

/* The payload as one piece, at @to. */
static void gather(uint8_t *to, const struct iovec *iov, uint32_t len)
{
	struct iovec all = {.iov_base = to, .iov_len = len};
	struct iov_pos pos = {.iov = iov};

	if (len)
		iov_copy(&all, 1, &pos, false);
}

/* What is kept of a packet of a connection, before its payload. */
struct pkt_copy {
	struct pkt pkt;
	struct pkt_atomic atomic;
	struct iovec iov;
};

static void copy_pkt(struct pkt_held *held, const struct pkt *pkt)
{
	struct pkt_copy *copy = (struct pkt_copy *)held->data;

	copy->pkt = *pkt;
	if (pkt->op == PKT_CMP_SWAP || pkt->op == PKT_FETCH_ADD) {
		copy->atomic = *pkt->atomic;
		copy->pkt.atomic = &copy->atomic;
	}
	gather((uint8_t *)(copy + 1), pkt->iov, pkt->len);
	copy->iov.iov_base = copy + 1;
	copy->iov.iov_len = pkt->len;
	copy->pkt.iov = &copy->iov;
	copy->pkt.num = pkt->len ? 1 : 0;
	held->parcel.pkt = &copy->pkt;
}

/* The same of a datagram. */
struct datagram_copy {
	struct datagram dg;
	struct ohca_av av;
};

static void copy_datagram(struct pkt_held *held, const struct datagram *dg)
{
	struct datagram_copy *copy = (struct datagram_copy *)held->data;
	uint32_t len = dg->len - sizeof(dg->grh);

	copy->dg = *dg;
	copy->av = *dg->av;
	copy->dg.av = &copy->av;
	copy->dg.iov[0].iov_base = copy->dg.grh;
	gather((uint8_t *)(copy + 1), dg->iov + 1, len);
	copy->dg.iov[1].iov_base = copy + 1;
	copy->dg.iov[1].iov_len = len;
	copy->dg.num = 2;
	held->parcel.dg = &copy->dg;
}

static size_t size_of(const struct parcel *parcel)
{
	if (parcel->pkt)
		return sizeof(struct pkt_copy) + parcel->pkt->len;
	if (parcel->dg)
		return sizeof(struct datagram_copy) + parcel->dg->len;
	return parcel->len;
}

struct pkt_held *pkt_held_copy(const struct parcel *parcel)
{
	size_t size = sizeof(struct pkt_held) + size_of(parcel);
	struct pkt_held *held = malloc(size);

	if (!held)
		return NULL;
	list_init(&held->link);
	held->parcel = *parcel;
	held->size = size;
	if (parcel->pkt) {
		copy_pkt(held, parcel->pkt);
	} else if (parcel->dg) {
		copy_datagram(held, parcel->dg);
	} else {
		memcpy(held->data, parcel->frame, parcel->len);
		held->parcel.frame = (const uint8_t *)held->data;
	}
	return held;
}

void pkt_held_add(struct pkt_held_list *list, const struct parcel *parcel, uint64_t ns,
		  uint32_t after)
{
	struct pkt_held *held = NULL;
	struct list *behind;

	if (list->num < PKT_HELD_MAX && list->bytes + size_of(parcel) <= PKT_HELD_MAX_BYTES)
		held = pkt_held_copy(parcel);
	if (!held) {
		list->lost++;
		return;
	}
	held->deadline = loop_now(list->loop) + ns;
	held->counts = after;
	held->after = after;
	/* Those of one deadline stay in order. */
	for (behind = list->list.prev; behind != &list->list; behind = behind->prev) {
		if (list_entry(behind, struct pkt_held, link)->deadline <= held->deadline)
			break;
	}
	list_add_tail(behind->next, &held->link);
	list->num++;
	list->counting += held->counts;
	list->bytes += held->size;
	arm(list);
}

static bool same(const struct pkt_place *a, const struct pkt_place *b)
{
	return a->port == b->port && a->rx == b->rx && a->qpn == b->qpn;
}

/* One that waits at @place for others, after @node in the list; NULL if there is none. */
static struct pkt_held *find(const struct pkt_held_list *list, const struct list *node,
			     const struct pkt_place *place)
{
	for (node = node->next; node != &list->list; node = node->next) {
		struct pkt_held *held = list_entry(node, struct pkt_held, link);

		if (held->counts && same(&held->parcel.place, place))
			return held;
	}
	return NULL;
}

bool pkt_held_at(const struct pkt_held_list *list, const struct pkt_place *place)
{
	return list->counting && find(list, &list->list, place);
}

void pkt_held_passed(struct pkt_held_list *list, const struct pkt_place *place)
{
	struct pkt_held *held, *next;
	struct list due;

	if (!list->counting)
		return;
	list_init(&due);
	for (held = find(list, &list->list, place); held; held = next) {
		next = find(list, &held->link, place);
		if (--held->after)
			continue;
		take_out(list, held);
		list_add_tail(&due, &held->link);
	}
	/* To go on may make others pass. */
	while (!list_empty(&due)) {
		held = list_entry(due.next, struct pkt_held, link);
		list_del(&held->link);
		list->go_on(list, held);
	}
	arm(list);
}

void pkt_held_forget(struct pkt_held_list *list, const struct qp *src)
{
	struct list *node, *next;

	for (node = list->list.next; node != &list->list; node = next) {
		struct pkt_held *held = list_entry(node, struct pkt_held, link);

		next = node->next;
		if (src && held->parcel.src != src)
			continue;
		take_out(list, held);
		free(held);
	}
	arm(list);
}
