// SPDX-License-Identifier: GPL-2.0
/* Deferred packets, with copies of their payload. */

#include <stdlib.h>
#include <string.h>

#include "inject/pkt_deferred.h"
#include "qp/qp.h"
#include "net/datagram.h"

static struct pkt_deferred *first(const struct pkt_deferred_list *list)
{
	return list_entry(list->list.next, struct pkt_deferred, link);
}

static void take_out(struct pkt_deferred_list *list, struct pkt_deferred *deferred)
{
	list_del(&deferred->link);
	list->num--;
	list->counting -= deferred->counts;
	list->bytes -= deferred->size;
}

/* Arm the timer for the first deadline. */
static void arm(struct pkt_deferred_list *list)
{
	if (list_empty(&list->list))
		loop_timer_cancel(list->loop, &list->timer);
	else
		loop_timer_arm(list->loop, &list->timer, first(list)->deadline);
}

static void on_timer(struct timer *timer)
{
	struct pkt_deferred_list *list = list_entry(timer, struct pkt_deferred_list, timer);
	uint64_t now = loop_now(list->loop);

	while (!list_empty(&list->list) && first(list)->deadline <= now) {
		struct pkt_deferred *deferred = first(list);

		take_out(list, deferred);
		list->requeue(list, deferred);
	}
	arm(list);
}

void pkt_deferred_init(struct pkt_deferred_list *list, struct loop *loop,
		       void (*requeue)(struct pkt_deferred_list *list,
				       struct pkt_deferred *deferred))
{
	list->requeue = requeue;
	list->loop = loop;
	list_init(&list->list);
	list->timer.fn = on_timer;
}

/* Copy the payload to @to, as one piece. */
static void gather(uint8_t *to, const struct iovec *iov, uint32_t len)
{
	struct iovec all = {.iov_base = to, .iov_len = len};
	struct iov_pos pos = {.iov = iov};

	if (len)
		iov_copy(&all, 1, &pos, false);
}

/* The part of the copy of a connection's packet before its payload */
struct pkt_copy {
	struct pkt pkt;
	struct pkt_atomic atomic;
	struct iovec iov;
};

static void copy_pkt(struct pkt_deferred *deferred, const struct pkt *pkt)
{
	struct pkt_copy *copy = (struct pkt_copy *)deferred->data;

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
	deferred->ref.pkt = &copy->pkt;
}

/* The part of the copy of a datagram before its payload */
struct datagram_copy {
	struct datagram dg;
	struct ohca_av av;
};

static void copy_datagram(struct pkt_deferred *deferred, const struct datagram *dg)
{
	struct datagram_copy *copy = (struct datagram_copy *)deferred->data;
	uint32_t len = dg->len - sizeof(dg->grh);

	copy->dg = *dg;
	copy->av = *dg->av;
	copy->dg.av = &copy->av;
	copy->dg.iov[0].iov_base = copy->dg.grh;
	gather((uint8_t *)(copy + 1), dg->iov + 1, len);
	copy->dg.iov[1].iov_base = copy + 1;
	copy->dg.iov[1].iov_len = len;
	copy->dg.num = 2;
	deferred->ref.dg = &copy->dg;
}

static size_t size_of(const struct pkt_ref *ref)
{
	if (ref->pkt)
		return sizeof(struct pkt_copy) + ref->pkt->len;
	if (ref->dg)
		return sizeof(struct datagram_copy) + ref->dg->len;
	return ref->smp ? sizeof(*ref->smp) : ref->len;
}

struct pkt_deferred *pkt_deferred_copy(const struct pkt_ref *ref)
{
	size_t size = sizeof(struct pkt_deferred) + size_of(ref);
	struct pkt_deferred *deferred = malloc(size);

	if (!deferred)
		return NULL;
	list_init(&deferred->link);
	deferred->ref = *ref;
	deferred->ref.place.mad = NULL;
	deferred->size = size;
	if (ref->pkt) {
		copy_pkt(deferred, ref->pkt);
	} else if (ref->dg) {
		copy_datagram(deferred, ref->dg);
	} else if (ref->smp) {
		memcpy(deferred->data, ref->smp, sizeof(*ref->smp));
		deferred->ref.smp = (const struct mad_packet *)deferred->data;
	} else {
		memcpy(deferred->data, ref->frame, ref->len);
		deferred->ref.frame = (const uint8_t *)deferred->data;
	}
	return deferred;
}

void pkt_deferred_add(struct pkt_deferred_list *list, const struct pkt_ref *ref, uint64_t ns,
		      uint32_t after)
{
	struct pkt_deferred *deferred = NULL;
	struct list *behind;

	if (list->num < PKT_DEFERRED_MAX && list->bytes + size_of(ref) <= PKT_DEFERRED_MAX_BYTES)
		deferred = pkt_deferred_copy(ref);
	if (!deferred) {
		list->lost++;
		return;
	}
	deferred->deadline = loop_now(list->loop) + ns;
	deferred->counts = after;
	deferred->after = after;
	/* Packets with the same deadline stay in order. */
	for (behind = list->list.prev; behind != &list->list; behind = behind->prev) {
		if (list_entry(behind, struct pkt_deferred, link)->deadline <= deferred->deadline)
			break;
	}
	list_add_tail(behind->next, &deferred->link);
	list->num++;
	list->counting += deferred->counts;
	list->bytes += deferred->size;
	arm(list);
}

static bool same(const struct pkt_place *a, const struct pkt_place *b)
{
	return a->port == b->port && a->rx == b->rx && a->qpn == b->qpn;
}

/* The first packet after @node that waits at @place for others; NULL if there is none. */
static struct pkt_deferred *find(const struct pkt_deferred_list *list, const struct list *node,
				 const struct pkt_place *place)
{
	for (node = node->next; node != &list->list; node = node->next) {
		struct pkt_deferred *deferred = list_entry(node, struct pkt_deferred, link);

		if (deferred->counts && same(&deferred->ref.place, place))
			return deferred;
	}
	return NULL;
}

bool pkt_deferred_at(const struct pkt_deferred_list *list, const struct pkt_place *place)
{
	return list->counting && find(list, &list->list, place);
}

void pkt_deferred_passed(struct pkt_deferred_list *list, const struct pkt_place *place)
{
	struct pkt_deferred *deferred, *next;
	struct list due;

	if (!list->counting)
		return;
	list_init(&due);
	for (deferred = find(list, &list->list, place); deferred; deferred = next) {
		next = find(list, &deferred->link, place);
		if (--deferred->after)
			continue;
		take_out(list, deferred);
		list_add_tail(&due, &deferred->link);
	}
	/* The call may change the list again. */
	while (!list_empty(&due)) {
		deferred = list_entry(due.next, struct pkt_deferred, link);
		list_del(&deferred->link);
		list->requeue(list, deferred);
	}
	arm(list);
}

void pkt_deferred_forget(struct pkt_deferred_list *list, const struct qp *src,
			 const struct port *port)
{
	struct list *node, *next;

	for (node = list->list.next; node != &list->list; node = next) {
		struct pkt_deferred *deferred = list_entry(node, struct pkt_deferred, link);

		next = node->next;
		if ((src && deferred->ref.src != src) || (port && deferred->ref.place.port != port))
			continue;
		take_out(list, deferred);
		free(deferred);
	}
	arm(list);
}
