// SPDX-License-Identifier: GPL-2.0
/* Multicast groups. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "device/object.h"
#include "fabric/port.h"
#include "net/datagram.h"
#include "net/link_takers.h"
#include "net/mcast.h"
#include "packet/gid.h"
#include "packet/mad.h"
#include "qp/qp.h"
#include "qp/sched.h"

/* Groups that a QP leaves between two looks at the clock */
#define GROUPS_AT_ONCE 8

/* What it costs to look at a member, in addition to what a datagram costs (sched.h) */
#define LOOK_COST 64

/**
 * struct mcast_link - an entry of a group's list: a member or a mark
 * @qp: NULL: a mark
 */
struct mcast_link {
	struct list node;
	struct qp *qp;
};

/**
 * struct mcast_mark - a datagram still has to come to the members of a port that follow in the list
 * @group: of @link; only while that is in a list
 * @port: the port; likewise
 * @seq: the last member that there was when it was sent
 * @takers: QPs of the port that it has come to
 * @next: of the same struct mcast_rest
 */
struct mcast_mark {
	struct mcast_link link;
	struct mcast_group *group;
	struct port *port;
	uint64_t seq;
	unsigned int takers;
	struct mcast_mark *next;
};

/**
 * struct mcast_group - a group; it exists as long as it has members
 * @mlid: InfiniBand: its LID, else 0
 * @node: in mcast_table.groups
 * @members: struct mcast_link, in the order in which they were attached
 * @num: how many members
 * @late: how many struct mcast_late there are for it
 */
struct mcast_group {
	uint8_t gid[16];
	uint16_t mlid;
	struct hash_node node;
	struct list members;
	uint32_t num;
	uint32_t late;
};

/**
 * struct mcast_late - a copy of a datagram that no turns of its sender are for: it comes to its members in turns of their HCA
 * @mark: where that goes on
 * @src: its sender, or NULL; only compared
 * @local: see link_is_local()
 * @from: what @dg.from points to
 * @data: the payload
 */
struct mcast_late {
	struct sched_job job;
	struct mcast_mark mark;
	const struct qp *src;
	bool local;
	struct ohca_av av;
	struct gid_entry from;
	struct datagram dg;
	uint8_t data[];
};

/**
 * struct mcast_member - a QP in a group
 * @link: in group->members
 * @seq: later members have higher ones
 * @in_qp: in qp->mcast
 * @node: in mcast_table.members
 */
struct mcast_member {
	struct mcast_link link;
	struct mcast_group *group;
	uint64_t seq;
	struct list in_qp;
	struct hash_node node;
};

bool mcast_is_group(const uint8_t gid[16])
{
	static const uint8_t ipv4[12] = {[10] = 0xff, 0xff};

	return gid[0] == 0xff || (!memcmp(gid, ipv4, sizeof(ipv4)) && gid[12] >> 4 == 14);
}

static uint64_t group_hash(const struct mcast_table *table, const uint8_t gid[16], uint16_t mlid)
{
	uint64_t half[2];

	memcpy(half, gid, sizeof(half));
	return hash_of(&table->groups, mlid, half, 2);
}

static struct mcast_group *find(const struct mcast_table *table, const uint8_t gid[16],
				uint16_t mlid)
{
	struct hash_node *node = hash_table_find(&table->groups, group_hash(table, gid, mlid));

	for (; node; node = hash_table_next(node)) {
		struct mcast_group *group = list_entry(node, struct mcast_group, node);

		if (!memcmp(group->gid, gid, 16) && group->mlid == mlid)
			return group;
	}
	return NULL;
}

static uint64_t member_hash(const struct mcast_table *table, const struct mcast_group *group,
			    const struct qp *qp)
{
	const uint64_t word = (uintptr_t)group;

	return hash_of(&table->members, qp->id, &word, 1);
}

static struct mcast_member *member_of(const struct qp *qp, const struct mcast_group *group)
{
	const struct mcast_table *table = qp->hca->mcast;
	struct hash_node *node = hash_table_find(&table->members, member_hash(table, group, qp));

	for (; node; node = hash_table_next(node)) {
		struct mcast_member *member = list_entry(node, struct mcast_member, node);

		if (member->group == group && member->link.qp == qp)
			return member;
	}
	return NULL;
}

static struct mcast_group *new_group(struct hca *hca, const uint8_t gid[16], uint16_t mlid)
{
	struct mcast_table *table = hca->mcast;
	struct mcast_group *group;

	if (table->groups.count == HCA_MAX_MCAST || !hash_table_grow(&table->groups))
		return NULL;
	group = quota_calloc(&hca->quotas[QUOTA_GROUPS], 1, sizeof(*group));
	if (!group)
		return NULL;
	memcpy(group->gid, gid, 16);
	group->mlid = mlid;
	list_init(&group->members);
	hash_table_add(&table->groups, &group->node, group_hash(table, gid, mlid));
	return group;
}

/* It has no members, but marks may be left, which are in no list then. */
static void free_group(struct hca *hca, struct mcast_group *group)
{
	while (!list_empty(&group->members))
		list_del(group->members.next);
	hash_table_del(&hca->mcast->groups, &group->node);
	quota_free(&hca->quotas[QUOTA_GROUPS], 1, group);
}

static void detach(struct mcast_member *member)
{
	struct mcast_group *group = member->group;
	struct hca *hca = member->link.qp->hca;

	list_del(&member->link.node);
	list_del(&member->in_qp);
	hash_table_del(&hca->mcast->members, &member->node);
	quota_free(&hca->quotas[QUOTA_MEMBERS], 1, member);
	if (!--group->num)
		free_group(hca, group);
}

static bool attach(struct mcast_group *group, struct qp *qp)
{
	struct mcast_table *table = qp->hca->mcast;
	struct mcast_member *member;

	if (group->num == HCA_MAX_MCAST_QP || !hash_table_grow(&table->members))
		return false;
	member = quota_calloc(&qp->hca->quotas[QUOTA_MEMBERS], 1, sizeof(*member));
	if (!member)
		return false;
	member->group = group;
	member->link.qp = qp;
	member->seq = ++table->seq;
	list_add_tail(&group->members, &member->link.node);
	list_add_tail(&qp->mcast, &member->in_qp);
	hash_table_add(&table->members, &member->node, member_hash(table, group, qp));
	group->num++;
	return true;
}

bool mcast_detach_all(struct qp *qp, uint64_t end)
{
	unsigned int n = 0;

	while (!list_empty(&qp->mcast)) {
		detach(list_entry(qp->mcast.next, struct mcast_member, in_qp));
		if (!(++n % GROUPS_AT_ONCE) && loop_clock() >= end)
			return list_empty(&qp->mcast);
	}
	return true;
}

static void free_table(struct mcast_table *table)
{
	hash_table_fini(&table->groups);
	hash_table_fini(&table->members);
}

/* The group to which packets by @av from or to a port go; NULL: it has no members in the HCA */
static struct mcast_group *group_of(const struct port *port, const struct ohca_av *av)
{
	return find(port->hca->mcast, av->dgid, port->ib ? le16toh(av->ib.dlid) : 0);
}

bool mcast_has_members(const struct port *port, const struct ohca_av *av)
{
	const struct mcast_group *group = group_of(port, av);
	const struct list *node;

	if (!group)
		return false;
	for (node = group->members.next; node != &group->members; node = node->next) {
		const struct qp *qp = list_entry(node, struct mcast_link, node)->qp;

		if (qp && qp->port == port)
			return true;
	}
	return false;
}

/**
 * struct delivery - a datagram that comes to members of a group
 * @cost: so far
 * @max: it ends when the cost is as high
 * @takers: QPs that it came to
 * @received: bytes, all in all
 */
struct delivery {
	const struct qp *src;
	const struct datagram *dg;
	uint64_t cost, max;
	uint64_t takers;
	uint64_t received;
};

static uint64_t cost_of(const struct datagram *dg)
{
	return max_of(dg->len, SCHED_MESSAGE);
}

static void deliver_to(struct delivery *d, struct qp *qp, struct mcast_mark *mark)
{
	if (qp->port != mark->port || (qp == d->src && qp->flags & OHCA_QP_F_NO_MCAST_LOOPBACK))
		return;
	if (qp_receives(qp)) {
		mark->takers++;
		d->takers++;
		d->cost += cost_of(d->dg);
	}
	if (qp->ops->receive_datagram(qp, d->dg))
		d->received += d->dg->len;
}

/* To the members from @node on.  Returns where it is to go on, NULL if it has come to all. */
static struct list *deliver(struct delivery *d, struct list *node, struct mcast_mark *mark)
{
	for (; node != &mark->group->members; node = node->next) {
		struct mcast_link *link = list_entry(node, struct mcast_link, node);

		if (d->cost >= d->max)
			return node;
		d->cost += LOOK_COST;
		if (!link->qp)
			continue;
		if (list_entry(link, struct mcast_member, link)->seq > mark->seq)
			break;
		deliver_to(d, link->qp, mark);
	}
	return NULL;
}

/* The sender's HCA pays.  Returns the bytes. */
static uint64_t charge(const struct delivery *d)
{
	if (d->src)
		sched_charge(d->src->hca, d->received + d->takers * SCHED_MESSAGE);
	return d->received;
}

/* The rest is for later.  Returns false if there is no memory: then it is lost. */
static bool keep(struct mcast_rest *rest, const struct qp *src, const struct mcast_mark *mark,
		 struct list *node)
{
	struct quota *quota = &src->hca->quotas[QUOTA_MEMORY];
	struct mcast_mark *kept = quota_calloc(quota, sizeof(*kept), sizeof(*kept));

	if (!kept)
		return false;
	*kept = *mark;
	list_add_tail(node, &kept->link.node);
	if (rest->first)
		rest->last->next = kept;
	else
		rest->first = kept;
	rest->last = kept;
	return true;
}

uint64_t mcast_room(const struct qp *src)
{
	return max_of(src->hca->sched->max, SCHED_SHORT);
}

static void free_late(struct sched_job *job)
{
	struct mcast_late *late = list_entry(job, struct mcast_late, job);

	/* The group may be gone. */
	if (!list_empty(&late->mark.link.node))
		late->mark.group->late--;
	list_del(&late->mark.link.node);
	free(late);
}

static uint64_t run_late(struct sched_job *job, uint64_t room, bool *done)
{
	struct mcast_late *late = list_entry(job, struct mcast_late, job);
	struct mcast_mark *mark = &late->mark;
	struct delivery d = {
		.src = late->src, .dg = &late->dg, .cost = LOOK_COST, .max = LOOK_COST + room};
	struct list *node = NULL;

	*done = true;
	if (list_empty(&mark->link.node) || !mark->port->active)
		return d.cost;
	node = deliver(&d, mark->link.node.next, mark);
	if (node) {
		*done = false;
		list_del(&mark->link.node);
		list_add_tail(node, &mark->link.node);
	} else {
		link_count_takers(mark->port, &late->dg, mark->takers, late->local);
	}
	return d.cost;
}

static void copy_datagram(struct mcast_late *late, const struct datagram *dg)
{
	uint32_t len = dg->len - OHCA_GRH_LEN;

	late->dg = *dg;
	late->av = *dg->av;
	late->dg.av = &late->av;
	if (dg->from) {
		late->from = *dg->from;
		late->dg.from = &late->from;
	}
	iov_peek(dg->iov + 1, dg->num - 1, late->data, len);
	late->dg.iov[0].iov_base = late->dg.grh;
	late->dg.iov[1] = (struct iovec){late->data, len};
	late->dg.num = 2;
}

/* It comes to the members from @node on later.  Returns false if there is too much of that: then it is lost. */
static bool defer(const struct qp *src, const struct datagram *dg, const struct mcast_mark *mark,
		  struct list *node)
{
	struct mcast_late *late = malloc(sizeof(*late) + dg->len - OHCA_GRH_LEN);

	if (!late)
		return false;
	memset(late, 0, sizeof(*late));
	late->job.run = run_late;
	late->job.free = free_late;
	late->mark = *mark;
	late->src = src;
	late->local = link_is_local(src, mark->port, dg);
	copy_datagram(late, dg);
	if (!sched_add_job(mark->port->hca, &late->job)) {
		free(late);
		return false;
	}
	list_add_tail(node, &late->mark.link.node);
	mark->group->late++;
	return true;
}

/* As many as a short turn has room for; they come behind those that wait. */
static struct list *deliver_now(struct delivery *d, struct mcast_mark *mark)
{
	struct list *first = mark->group->members.next;

	return mark->group->late ? first : deliver(d, first, mark);
}

uint64_t mcast_receive(struct port *port, const struct qp *src, const struct datagram *dg,
		       struct mcast_rest *rest, struct mcast_done *done)
{
	struct mcast_mark mark = {
		.group = group_of(port, dg->av), .port = port, .seq = port->hca->mcast->seq};
	struct delivery d = {.src = src, .dg = dg, .max = SCHED_SHORT};
	struct list *node = NULL;

	if (rest) {
		d.cost = rest->cost;
		d.max = mcast_room(src);
	}
	if (mark.group)
		node = rest ? deliver(&d, mark.group->members.next, &mark) : deliver_now(&d, &mark);
	if (rest)
		rest->cost = d.cost;
	if (node && (rest ? keep(rest, src, &mark, node) : defer(src, dg, &mark, node)))
		port = NULL;
	*done = (struct mcast_done){.port = port, .takers = mark.takers};
	return charge(&d);
}

static void drop_first(struct mcast_rest *rest, const struct qp *src)
{
	struct mcast_mark *mark = rest->first;

	rest->first = mark->next;
	list_del(&mark->link.node);
	quota_free(&src->hca->quotas[QUOTA_MEMORY], sizeof(*mark), mark);
}

void mcast_rest_drop(struct mcast_rest *rest, const struct qp *src)
{
	while (rest->first)
		drop_first(rest, src);
}

uint64_t mcast_receive_rest(const struct qp *src, const struct datagram *dg,
			    struct mcast_rest *rest, struct mcast_done *done)
{
	struct mcast_mark *mark = rest->first;
	struct delivery d = {
		.src = src, .dg = dg, .cost = rest->cost + LOOK_COST, .max = mcast_room(src)};
	struct list *node = NULL;

	*done = (struct mcast_done){};
	/* The group, and with it perhaps the port, may be gone. */
	if (!list_empty(&mark->link.node) && mark->port->active) {
		node = deliver(&d, mark->link.node.next, mark);
		*done = (struct mcast_done){.port = node ? NULL : mark->port,
					    .takers = mark->takers};
	}
	rest->cost = d.cost;
	if (node) {
		list_del(&mark->link.node);
		list_add_tail(node, &mark->link.node);
	} else {
		drop_first(rest, src);
	}
	return charge(&d);
}

/* A multicast LID, where ports have LIDs.  A QP that names no port yet may be one of any. */
static bool mlid_is_right(const struct qp *qp, uint16_t mlid)
{
	bool good = mlid >= LID_MCAST && mlid != LID_PERMISSIVE;

	if (qp->attr.port)
		return qp->port->ib ? good : !mlid;
	return (good && hca_has_link(qp->hca, OHCA_LINK_INFINIBAND)) ||
	       (!mlid && hca_has_link(qp->hca, OHCA_LINK_ETHERNET));
}

/* Check a command and find its QP. */
static enum ohca_cmd_status check_input(struct hca *hca, struct cmd_ctx *ctx, struct qp **qp)
{
	const struct ohca_mcast_in *in = ctx->in;

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_mcast_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!mcast_is_group(in->gid))
		return CMD_BAD(ctx, struct ohca_mcast_in, gid, OHCA_CMD_BAD_PARAM);
	*qp = qp_get(hca, le32toh(in->qpn));
	if (!*qp)
		return CMD_BAD(ctx, struct ohca_mcast_in, qpn, OHCA_CMD_BAD_HANDLE);
	if ((*qp)->type != OHCA_QPT_UD)
		return CMD_BAD(ctx, struct ohca_mcast_in, qpn, OHCA_CMD_BAD_PARAM);
	if (!mlid_is_right(*qp, le16toh(in->mlid)))
		return CMD_BAD(ctx, struct ohca_mcast_in, mlid, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_attach_mcast(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_mcast_in *in = ctx->in;
	enum ohca_cmd_status status;
	struct mcast_group *group;
	struct qp *qp;

	status = check_input(hca, ctx, &qp);
	if (status)
		return status;
	group = find(hca->mcast, in->gid, le16toh(in->mlid));
	if (group && member_of(qp, group))
		return OHCA_CMD_OK;
	if (!group)
		group = new_group(hca, in->gid, le16toh(in->mlid));
	if (!group)
		return OHCA_CMD_NO_RESOURCE;
	if (attach(group, qp))
		return OHCA_CMD_OK;
	if (!group->num)
		free_group(hca, group);
	return OHCA_CMD_NO_RESOURCE;
}

static enum ohca_cmd_status cmd_detach_mcast(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_mcast_in *in = ctx->in;
	enum ohca_cmd_status status;
	struct mcast_member *member;
	struct mcast_group *group;
	struct qp *qp;

	status = check_input(hca, ctx, &qp);
	if (status)
		return status;
	group = find(hca->mcast, in->gid, le16toh(in->mlid));
	member = group ? member_of(qp, group) : NULL;
	if (!member)
		return CMD_BAD(ctx, struct ohca_mcast_in, gid, OHCA_CMD_BAD_HANDLE);
	detach(member);
	return OHCA_CMD_OK;
}

static int mcast_init(struct hca *hca)
{
	hca->mcast = calloc(1, sizeof(*hca->mcast));
	return hca->mcast ? 0 : -ENOMEM;
}

static void mcast_reset(struct hca *hca)
{
	free_table(hca->mcast);
}

static void mcast_fini(struct hca *hca)
{
	free_table(hca->mcast);
	free(hca->mcast);
}

static const struct cmd_desc mcast_cmds[] = {
	CMD_DESC(ATTACH_MCAST, cmd_attach_mcast, sizeof(struct ohca_mcast_in), 0,
		 .cap = OHCA_CAP_MCAST),
	CMD_DESC(DETACH_MCAST, cmd_detach_mcast, sizeof(struct ohca_mcast_in), 0,
		 .cap = OHCA_CAP_MCAST),
};

const struct object_class mcast_class = {
	.init = mcast_init,
	.fini = mcast_fini,
	.reset = mcast_reset,
	OBJECT_CMDS(mcast_cmds),
};
