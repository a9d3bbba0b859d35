// SPDX-License-Identifier: GPL-2.0
/* The rate limit of InfiniBand ports: the data rate of the link, and static rates. */

#include <errno.h>
#include <stdlib.h>

#include "device/object.h"
#include "fabric/ib_traffic.h"
#include "fabric/ib_vl_arb.h"
#include "fabric/ib_route.h"
#include "packet/ib.h"
#include "qp/pace.h"
#include "qp/qp.h"
#include "qp/sched.h"

/* Smallest overhead of a packet beside its payload */
#define OVERHEAD (LRH_LEN + BTH_LEN + ICRC_LEN + VCRC_LEN)

/* A timer may be late by this time (ns) without loss of bandwidth. */
#define LATENESS 100000

/* Quantum of a QP if lanes have weights: about the largest weight, which is in units of 64 bytes */
#define ARB_QUANTUM (16U << 10)

/**
 * struct pacer - state of the rate limit of a port
 * @free_at: time when the link has sent all accepted packets
 * @waiting: QPs (struct qp.run) of each virtual lane, in the order in which they came
 * @next: the QP that VL arbitration has chosen, and that is about to run; only compared.  NULL: there is none
 * @grant: of @next, or of the QP that runs
 * @timer: for the first of them whose time comes, or for another one than @next if that does not run; is armed while
 *	any QP waits
 */
struct pacer {
	struct port *port;
	uint64_t free_at;
	struct list waiting[IB_PORT_VLS];
	struct vl_arb arb;
	const struct qp *next;
	struct vl_grant grant;
	struct timer timer;
};

static struct ib_port *port_of(const struct pacer *p)
{
	return p->port->ib;
}

static uint64_t due(const struct pacer *p, const struct qp *qp)
{
	return qp->pace_at > p->free_at ? qp->pace_at : p->free_at;
}

/* Datagrams have individual addresses.  The lane of the last one is taken, which is mostly the same. */
static unsigned int lane_of(const struct pacer *p, const struct qp *qp)
{
	const struct ib_port *ib = port_of(p);
	int vl = ib_vl(ib->sl2vl, qp_is(qp, QPT_DATAGRAM) ? qp->sl : qp->attr.av.sl, ib);

	/* Packets without a lane are discarded later. */
	return vl < 0 || vl >= IB_PORT_VLS ? 0 : vl;
}

static struct qp *first_due(const struct pacer *p, const struct list *waiting, uint64_t now)
{
	const struct list *node;

	for (node = waiting->next; node != waiting; node = node->next) {
		struct qp *qp = list_entry(node, struct qp, run);

		if (due(p, qp) <= now)
			return qp;
	}
	return NULL;
}

/* Choose the QP that may send now; NULL: none */
static struct qp *choose(struct pacer *p, uint64_t now)
{
	struct qp *first[IB_PORT_VLS];
	uint8_t ready = 0;
	unsigned int vl;

	for (vl = 0; vl < IB_PORT_VLS; vl++) {
		first[vl] = first_due(p, &p->waiting[vl], now);
		ready |= first[vl] ? 1 << vl : 0;
	}
	if (!ready)
		return NULL;
	p->grant = ib_vl_arb_next(&p->arb, ready);
	return first[p->grant.vl];
}

/* The time when the first waiting QP may send; UINT64_MAX: no QP waits */
static uint64_t first_time(const struct pacer *p)
{
	uint64_t first = UINT64_MAX;
	const struct list *node;
	unsigned int vl;

	for (vl = 0; vl < IB_PORT_VLS; vl++) {
		for (node = p->waiting[vl].next; node != &p->waiting[vl]; node = node->next) {
			uint64_t at = due(p, list_entry(node, struct qp, run));

			first = at < first ? at : first;
		}
	}
	return first;
}

static bool anybody_waits(const struct pacer *p)
{
	unsigned int vl = 0;

	while (vl < IB_PORT_VLS && list_empty(&p->waiting[vl]))
		vl++;
	return vl < IB_PORT_VLS;
}

/* Wait until another QP may be chosen. */
static void arm(struct pacer *p, uint64_t now)
{
	uint64_t at = first_time(p);

	ib_wait(port_of(p), IB_WAIT_PACE, at != UINT64_MAX);
	if (at == UINT64_MAX) {
		loop_timer_cancel(p->port->hca->loop, &p->timer);
		return;
	}
	/* The one that was chosen may be gone before it runs. */
	loop_timer_arm(p->port->hca->loop, &p->timer, p->next ? now + LATENESS : at);
}

/* Nobody is about to run: let the next one, or wait for its time. */
static void advance(struct pacer *p, uint64_t now)
{
	struct qp *qp = choose(p, now);

	if (qp) {
		list_del(&qp->run);
		qp_schedule(qp);
		p->next = qp;
	}
	arm(p, now);
}

static void on_timer(struct timer *timer)
{
	struct pacer *p = list_entry(timer, struct pacer, timer);

	p->next = NULL;
	advance(p, loop_now(p->port->hca->loop));
}

static void wait(struct pacer *p, struct qp *qp)
{
	list_add_tail(&p->waiting[lane_of(p, qp)], &qp->run);
}

/* QP 0 has a lane of its own; who is in error sends nothing. */
static bool is_paced(const struct qp *qp)
{
	return qp->type != OHCA_QPT_SMI && qp_receives(qp);
}

bool pace_holds(struct qp *qp)
{
	struct pacer *p = qp->port->pacer;
	uint64_t now = loop_now(p->port->hca->loop);
	bool chosen = p->next == qp, first;

	if (!is_paced(qp))
		return false;
	if (chosen)
		p->next = NULL;
	if (due(p, qp) <= now && chosen)
		return false;
	if (due(p, qp) <= now && !p->next && !anybody_waits(p)) {
		p->grant = ib_vl_arb_next(&p->arb, 1 << lane_of(p, qp));
		return false;
	}
	first = !anybody_waits(p);
	wait(p, qp);
	if (!p->next)
		advance(p, now);
	else if (first)
		arm(p, now);
	return true;
}

uint32_t pace_quantum(const struct qp *qp, uint32_t max)
{
	uint32_t quantum = ib_vl_arb_used(qp->port->ib) ? ARB_QUANTUM : SCHED_EGRESS;

	/* Each datagram has its own address, with a rate of its own. */
	if (qp_is(qp, QPT_DATAGRAM))
		return 1;
	return max < quantum ? max : quantum;
}

/* ns that @bytes take at @rate Mb/s, from @begin on, if that is not too long ago */
static uint64_t end_of(uint64_t begin, uint64_t now, uint64_t bytes, uint32_t rate)
{
	if (begin + LATENESS < now)
		begin = now - LATENESS;
	return begin + bytes * 8000 / rate;
}

static void account(struct pacer *p, struct qp *qp, uint64_t bytes, uint64_t now)
{
	uint32_t own = ib_static_rate(qp_is(qp, QPT_DATAGRAM) ? qp->static_rate
							      : qp->attr.av.ib.static_rate);

	p->free_at = end_of(p->free_at, now, bytes, ib_speeds_rate(&port_of(p)->active));
	if (own)
		qp->pace_at = end_of(qp->pace_at, now, bytes, own);
	ib_vl_arb_sent(&p->arb, p->grant, bytes);
}

bool pace_sent(struct qp *qp, uint64_t pkts, uint64_t bytes, bool more)
{
	struct pacer *p = qp->port->pacer;
	uint64_t now = loop_now(p->port->hca->loop);

	if (p->next == qp)
		p->next = NULL;
	if (!is_paced(qp))
		return more;
	if (pkts)
		account(p, qp, bytes + pkts * OVERHEAD, now);
	/* It takes part in the choice of the next one. */
	if (more && list_empty(&qp->run) && anybody_waits(p)) {
		wait(p, qp);
		more = false;
	}
	if (!p->next && anybody_waits(p))
		advance(p, now);
	return more;
}

int pacer_new(struct port *port)
{
	struct pacer *p = calloc(1, sizeof(*p));
	unsigned int vl;

	if (!p)
		return -ENOMEM;
	p->port = port;
	p->arb.ib = port->ib;
	for (vl = 0; vl < IB_PORT_VLS; vl++)
		list_init(&p->waiting[vl]);
	p->timer.fn = on_timer;
	port->pacer = p;
	return 0;
}

/* The QPs are gone, or have nothing to send. */
static void reset_one(struct pacer *p)
{
	if (!p)
		return;
	loop_timer_cancel(p->port->hca->loop, &p->timer);
	p->free_at = 0;
	p->next = NULL;
	p->arb = (struct vl_arb){.ib = p->arb.ib};
}

void pacer_free(struct port *port)
{
	reset_one(port->pacer);
	free(port->pacer);
	port->pacer = NULL;
}

static void pace_reset(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++)
		reset_one(hca->ports[i]->pacer);
}

static void pace_fini(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++)
		pacer_free(hca->ports[i]);
}

const struct object_class pace_class = {
	.reset = pace_reset,
	.fini = pace_fini,
};
