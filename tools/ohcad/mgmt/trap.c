// SPDX-License-Identifier: GPL-2.0
/* Traps of the agents. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ib_node.h"
#include "fabric/ib_switch.h"
#include "mgmt/trap.h"

#define MAX_TRAPS 16 /* traps of a port that are not repressed */
#define MAX_SECURITY 12 /* with those of wrong keys, which leave room for others */
#define TID 0x4f48434100000000ULL /* of the first; none of the host's */
#define MIN_PERIOD_NS 10000000ULL
#define TIMEOUT_UNIT_NS 4096ULL

/**
 * struct trap - a trap that is not repressed yet
 * @again: the event has happened again since the trap was sent
 */
struct trap {
	struct notice notice;
	uint64_t tid;
	bool again;
};

/**
 * struct trap_queue - traps of a port
 * @num: of @traps, in the order in which they are to be sent
 * @timer: for the first of them; runs while there are any
 * @sent: when the last one was
 */
struct trap_queue {
	struct ib_port *ib;
	struct trap traps[MAX_TRAPS];
	unsigned int num;
	uint64_t tid;
	struct timer timer;
	uint64_t sent;
};

/* At most one trap is sent in each SubnetTimeOut. */
static uint64_t period(const struct ib_port *ib)
{
	uint64_t ns = TIMEOUT_UNIT_NS << ib->subnet_timeout;

	return ns > MIN_PERIOD_NS ? ns : MIN_PERIOD_NS;
}

/* The LIDs of the node itself, which may have changed since the event, are those by which it is found now. */
static void update_lids(struct notice *notice, uint16_t lid)
{
	notice->issuer_lid = htobe16(lid);
	switch (be16toh(notice->trap)) {
	case TRAP_LINK_STATE:
		notice->lid_128 = htobe16(lid);
		break;
	case TRAP_LINK_INTEGRITY:
	case TRAP_BUFFER_OVERRUN:
	case TRAP_FLOW_CONTROL:
	case TRAP_LOCAL_CHANGES:
		notice->local.lid = htobe16(lid);
		break;
	case TRAP_SWITCH_BAD_PKEY:
		notice->switch_pkey.sw_lid = htobe16(lid);
		break;
	}
}

static void send(struct trap_queue *q, struct trap *trap)
{
	struct ib_port *ib = q->ib;
	struct mad_packet p = {.slid = ib->lid, .dlid = ib->sm_lid, .sl = ib->sm_sl};

	memset(&p.smp, 0, sizeof(p.smp));
	p.hdr.base_version = MAD_BASE_VERSION;
	p.hdr.mgmt_class = MAD_CLASS_SM_LID;
	p.hdr.class_version = 1;
	p.hdr.method = MAD_TRAP;
	p.hdr.tid = htobe64(trap->tid);
	p.hdr.attr_id = htobe16(SM_NOTICE);
	memcpy(p.smp.data, &trap->notice, sizeof(trap->notice));
	ib_node_send(ib, &p);
}

static void update_all(struct trap_queue *q)
{
	unsigned int i;

	for (i = 0; i < q->num; i++)
		update_lids(&q->traps[i].notice, q->ib->lid);
}

/* Send the first trap, and move it to the end of the queue. */
static void send_first(struct trap_queue *q)
{
	struct loop *loop = q->ib->node->loop;
	struct trap first;

	update_all(q);
	first = q->traps[0];
	memmove(&q->traps[0], &q->traps[1], (q->num - 1) * sizeof(first));
	q->traps[q->num - 1] = first;
	q->sent = loop_now(loop);
	loop_timer_arm(loop, &q->timer, q->sent + period(q->ib));
	if (q->ib->lid && q->ib->sm_lid)
		send(q, &first);
}

static void timer_ran(struct timer *timer)
{
	send_first(list_entry(timer, struct trap_queue, timer));
}

static struct trap_queue *queue_of(struct ib_port *ib)
{
	if (!ib->traps)
		ib->traps = calloc(1, sizeof(*ib->traps));
	if (!ib->traps)
		return NULL;
	ib->traps->ib = ib;
	ib->traps->timer.fn = timer_ran;
	return ib->traps;
}

/* Do both notices report the same event, or the state of the same attribute? */
static bool is_same(const struct notice *a, const struct notice *b)
{
	return a->trap == b->trap && (a->trap == htobe16(TRAP_LOCAL_CHANGES) ||
				      !memcmp(a->details, b->details, sizeof(a->details)));
}

/* The trap in the queue for the same event, or NULL */
static struct trap *find(struct trap_queue *q, const struct notice *notice)
{
	unsigned int i;

	for (i = 0; i < q->num; i++) {
		if (is_same(&q->traps[i].notice, notice))
			return &q->traps[i];
	}
	return NULL;
}

/* The same event has happened again.  What trap 144 says of earlier changes stays true. */
static void update(struct notice *old, const struct notice *notice)
{
	uint8_t changes = old->local.local_changes;
	__be16 flags = old->local.change_flags;

	memcpy(old->details, notice->details, sizeof(old->details));
	if (old->trap != htobe16(TRAP_LOCAL_CHANGES))
		return;
	old->local.local_changes |= changes;
	old->local.change_flags |= flags;
}

static struct trap *add(struct trap_queue *q, const struct notice *notice)
{
	bool security = notice->generic_type == (NOTICE_GENERIC | NOTICE_SECURITY);
	struct trap *trap;

	if (q->num >= (security ? MAX_SECURITY : MAX_TRAPS))
		return NULL;
	trap = &q->traps[q->num++];
	memset(trap, 0, sizeof(*trap));
	trap->notice = *notice;
	trap->notice.producer[2] = q->ib->node->type;
	trap->notice.issuer_lid = htobe16(q->ib->lid);
	trap->tid = TID + q->tid++;
	return trap;
}

void traps_raise(struct ib_port *at, const struct notice *notice)
{
	struct ib_port *ib = ib_managed_port(at);
	struct trap_queue *q;
	struct trap *trap;

	if (!ib->lid || !ib->sm_lid)
		return;
	q = queue_of(ib);
	if (q)
		update_all(q);
	trap = q ? find(q, notice) : NULL;
	if (trap) {
		update(&trap->notice, notice);
		trap->again = true;
		return;
	}
	if (!q || !add(q, notice) || q->timer.pos)
		return;
	if (q->sent && loop_now(ib->node->loop) - q->sent < period(ib))
		loop_timer_arm(ib->node->loop, &q->timer, q->sent + period(ib));
	else
		send_first(q);
}

bool traps_repress(struct ib_port *ib, const struct smp *smp)
{
	struct trap_queue *q = ib->traps;
	unsigned int i = 0;
	struct trap trap;

	while (q && i < q->num && htobe64(q->traps[i].tid) != smp->hdr.tid)
		i++;
	if (!q || i == q->num)
		return false;
	trap = q->traps[i];
	q->num--;
	memmove(&q->traps[i], &q->traps[i + 1], (q->num - i) * sizeof(trap));
	if (trap.again)
		add(q, &trap.notice);
	if (!q->num)
		loop_timer_cancel(ib->node->loop, &q->timer);
	return true;
}

void traps_forget(struct ib_port *ib)
{
	if (!ib->traps)
		return;
	loop_timer_cancel(ib->node->loop, &ib->traps->timer);
	free(ib->traps);
	ib->traps = NULL;
}
