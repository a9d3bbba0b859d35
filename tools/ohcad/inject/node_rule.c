// SPDX-License-Identifier: GPL-2.0
/* Rules for faults of InfiniBand nodes and their cables: when they begin and end. */

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "fabric/fabric.h"
#include "fabric/ib_error.h"
#include "fabric/ib_node.h"
#include "fabric/ib_power.h"
#include "inject/node_rule.h"
#include "inject/pkt_fault.h"

static struct node_rule *rule_of(struct list *link)
{
	return list_entry(link, struct node_rule, link);
}

/* The port of a node's rule, which has a cable; or NULL */
static struct ib_port *port_of(const struct node_rule *rule, const struct ib_node *node)
{
	struct ib_port *ib = rule->port <= node->num_ports ? node->ports[rule->port] : NULL;

	return ib && ib->peer ? ib : NULL;
}

/* The fault begins, or it ends.  Returns 0 or -ENOENT. */
static int set_fault(const struct node_rule *rule, bool begins)
{
	struct ib_node *node = ib_node_find(rule->fabric, rule->name);
	struct ib_port *ib;

	if (!node)
		return -ENOENT;
	if (rule->action == NODE_RULE_NODE_DOWN) {
		ib_node_power(node, !begins);
		return 0;
	}
	ib = port_of(rule, node);
	if (!ib)
		return -ENOENT;
	if (rule->action == NODE_RULE_CABLE_DOWN)
		ib_port_plug(ib, !begins);
	else
		ib_port_error(ib, rule->kind, rule->num);
	return 0;
}

static void fire(const struct node_rule *rule, bool begins)
{
	log_info(rule->name, "fault %u %s: %s", rule->id, begins ? "begins" : "ends", rule->text);
	if (set_fault(rule, begins))
		log_info(rule->name, "fault %u had no effect: there is no such node or cable",
			 rule->id);
}

static void arm(struct node_rule *rule, enum node_rule_state state, uint64_t deadline)
{
	rule->state = state;
	loop_timer_arm(rule->loop, &rule->timer, deadline);
}

static void rearm(struct node_rule *rule)
{
	if (rule->hits == rule->count)
		rule->state = NODE_RULE_DONE;
	else
		arm(rule, NODE_RULE_WAITING, rule->since + rule->every);
}

static void on_timer(struct timer *timer)
{
	struct node_rule *rule = list_entry(timer, struct node_rule, timer);

	if (rule->state == NODE_RULE_ACTIVE) {
		fire(rule, false);
		rearm(rule);
		return;
	}
	rule->hits++;
	rule->since = loop_now(rule->loop);
	fire(rule, true);
	if (rule->duration)
		arm(rule, NODE_RULE_ACTIVE, rule->since + rule->duration);
	else
		rearm(rule);
}

int node_rule_add(struct fabric *fabric, struct loop *loop, struct node_rule *rule)
{
	const struct ib_node *node = ib_node_find(fabric, rule->name);
	struct pkt_faults *faults;

	if (!node || (rule->action != NODE_RULE_NODE_DOWN && !port_of(rule, node)))
		return -ENOENT;
	faults = pkt_faults_get(fabric, loop);
	if (!faults)
		return -ENOMEM;
	if (faults->num_node_rules == NODE_RULE_MAX)
		return -ENOSPC;
	rule->fabric = fabric;
	rule->loop = loop;
	rule->id = ++faults->last_id;
	rule->timer.fn = on_timer;
	faults->num_node_rules++;
	list_add_tail(&faults->node_rules, &rule->link);
	log_info(NULL, "fault %u added: %s", rule->id, rule->text);
	arm(rule, NODE_RULE_WAITING, loop_now(loop) + rule->after);
	return 0;
}

static void remove_rule(struct node_rule *rule)
{
	log_info(NULL, "fault %u: %llu hit: %s", rule->id, (unsigned long long)rule->hits,
		 rule->text);
	loop_timer_cancel(rule->loop, &rule->timer);
	if (rule->state == NODE_RULE_ACTIVE)
		fire(rule, false);
	list_del(&rule->link);
	rule->fabric->faults->num_node_rules--;
	node_rule_free(rule);
}

bool node_rule_clear(struct fabric *fabric, uint32_t id)
{
	const struct node_rule *rule, *next;
	bool found = !id;

	for (rule = node_rule_next(fabric, NULL); rule; rule = next) {
		next = node_rule_next(fabric, rule);
		if (id && rule->id != id)
			continue;
		found = true;
		remove_rule((struct node_rule *)rule);
	}
	return found;
}

const struct node_rule *node_rule_next(const struct fabric *fabric, const struct node_rule *rule)
{
	const struct pkt_faults *faults = fabric->faults;
	struct list *link;

	if (!faults)
		return NULL;
	link = rule ? rule->link.next : faults->node_rules.next;
	return link == &faults->node_rules ? NULL : rule_of(link);
}

void node_rule_free(struct node_rule *rule)
{
	if (!rule)
		return;
	free(rule->text);
	free(rule->name);
	free(rule);
}
