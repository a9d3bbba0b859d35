// SPDX-License-Identifier: GPL-2.0
/*
 * Rules for faults of an HCA: the events that they wait for, and how they trigger.
 *
 * A command fails at once.  All other faults are injected by a timer, in the next round of the
 * loop, because the code that reports the event may be in the middle of an operation.
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device/eq.h"
#include "fabric/fabric.h"
#include "fabric/ib_error.h"
#include "inject/hca_fault.h"
#include "inject/hca_rule.h"
#include "inject/pkt_fault.h"
#include "qp/qp.h"

/* The rule whose member @link is @node */
static struct hca_rule *rule_of(struct list *node)
{
	return list_entry(node, struct hca_rule, link);
}

/* Update the events for which the functions of rules have to be called. */
static void watch(struct hca *hca)
{
	struct hca_faults *faults = hca->faults;
	struct list *node;

	faults->watched = 0;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		const struct hca_rule *rule = rule_of(node);

		/* The next reset ends one that is slow. */
		if (rule->state == HCA_RULE_WATCHING ||
		    (rule->state == HCA_RULE_ACTIVE && rule->event == HCA_RULE_RESET))
			faults->watched |= rule->event;
	}
	hca_fault_hook(hca);
}

static void set_state(struct hca_rule *rule, enum hca_rule_state state)
{
	rule->state = state;
	watch(rule->hca);
}

static void arm(struct hca_rule *rule, enum hca_rule_state state, uint64_t deadline)
{
	set_state(rule, state);
	loop_timer_arm(rule->hca->loop, &rule->timer, deadline);
}

/* Is the rule about this port of its HCA? */
static bool concerns(const struct hca_rule *rule, const struct port *port)
{
	return !rule->port || rule->port == port->num;
}

static int link_error(const struct hca_rule *rule)
{
	int err = -ENOENT;
	unsigned int i;

	for (i = 0; i < rule->hca->num_ports; i++) {
		const struct port *port = rule->hca->ports[i];
		struct ib_port *ib = concerns(rule, port) ? port->ib : NULL;

		if (ib && rule->at_switch)
			ib = ib->peer;
		if (!ib)
			continue;
		log_info(port->capture.name, "fault: %u link errors", rule->num);
		ib_port_error(ib, rule->value, rule->num);
		err = 0;
	}
	return err;
}

static int plug(const struct hca_rule *rule, bool in)
{
	int err = -ENOENT;
	unsigned int i;

	for (i = 0; i < rule->hca->num_ports; i++) {
		struct port *port = rule->hca->ports[i];

		if (!concerns(rule, port))
			continue;
		log_info(port->capture.name, "fault: cable %s", in ? "plugged in" : "unplugged");
		port_plug(port, in);
		err = 0;
	}
	return err;
}

/*
 * Write as many of the events as there is room for.  Returns whether all have been written; if not, the timer tries again, and
 * waits longer each time that there is no room.
 */
static bool flood(struct hca_rule *rule)
{
	uint32_t left = rule->left;

	rule->left = eq_flood(rule->hca, rule->event_type, rule->value, left);
	if (!rule->left)
		return true;
	if (rule->left < left)
		rule->retry_ns = EQ_RETRY_MIN_NS;
	else
		rule->retry_ns = eq_retry_later(rule->retry_ns);
	arm(rule, HCA_RULE_ACTIVE, loop_now(rule->hca->loop) + rule->retry_ns);
	return false;
}

static void fire(struct hca_rule *rule)
{
	struct hca *hca = rule->hca;
	int err = 0;

	switch (rule->action) {
	case HCA_RULE_FAIL_EQ:
		err = hca_fault_eq(hca, rule->value, true);
		break;
	case HCA_RULE_FAIL_CQ:
		err = hca_fault_cq(hca, rule->value == HCA_RULE_NONE ? rule->cqn : rule->value);
		break;
	case HCA_RULE_FAIL_HCA:
		err = hca_fault_fatal(hca, rule->value);
		break;
	case HCA_RULE_UNPLUG:
		hca_fault_silent(hca, true);
		break;
	case HCA_RULE_LINK_ERROR:
		err = link_error(rule);
		break;
	case HCA_RULE_ADD_EVENT:
		log_info(hca->name, "fault: %u events 0x%x of object 0x%x", rule->num,
			 rule->event_type, rule->value);
		rule->left = rule->num;
		rule->retry_ns = EQ_RETRY_MIN_NS;
		break;
	default:
		err = plug(rule, false);
	}
	if (err)
		log_info(hca->name, "fault %u had no effect: %s", rule->id, strerror(-err));
}

static void undo(struct hca_rule *rule)
{
	struct hca *hca = rule->hca;

	switch (rule->action) {
	case HCA_RULE_FAIL_EQ:
		/* The EQ may have been destroyed. */
		hca_fault_eq(hca, rule->value, false);
		break;
	case HCA_RULE_UNPLUG:
		hca_fault_silent(hca, false);
		break;
	case HCA_RULE_ADD_EVENT:
		rule->left = 0;
		break;
	case HCA_RULE_SLOW_RESET:
		log_info(hca->name, "fault: the reset ends");
		hca->resetting = false;
		break;
	default:
		plug(rule, true);
	}
}

/* The fault of a rule has ended. */
static void rearm(struct hca_rule *rule)
{
	if (rule->hits == rule->count)
		set_state(rule, HCA_RULE_DONE);
	else if (rule->event)
		set_state(rule, HCA_RULE_WATCHING);
	else
		arm(rule, HCA_RULE_TRIGGERED, rule->since + rule->every);
}

/* The time @after is over. */
static void begin(struct hca_rule *rule)
{
	if (rule->event)
		set_state(rule, HCA_RULE_WATCHING);
	else
		arm(rule, HCA_RULE_TRIGGERED, loop_now(rule->hca->loop));
}

static void on_timer(struct timer *timer)
{
	struct hca_rule *rule = list_entry(timer, struct hca_rule, timer);
	uint64_t now = loop_now(rule->hca->loop);

	switch (rule->state) {
	case HCA_RULE_EARLY:
		begin(rule);
		break;
	case HCA_RULE_TRIGGERED:
		rule->hits++;
		rule->since = now;
		fire(rule);
		if (rule->action == HCA_RULE_ADD_EVENT && !flood(rule))
			break;
		if (rule->duration)
			arm(rule, HCA_RULE_ACTIVE, now + rule->duration);
		else
			rearm(rule);
		break;
	default:
		if (rule->action == HCA_RULE_ADD_EVENT && !flood(rule))
			break;
		undo(rule);
		rearm(rule);
	}
}

/* Whether this event triggers the rule; counts it. */
static bool hits(struct hca_rule *rule, enum hca_rule_event event)
{
	return rule->state == HCA_RULE_WATCHING && rule->event == event &&
	       ++rule->matched > rule->skip;
}

/* Is the rule about outputs of commands, and not about the commands themselves? */
static bool is_output(const struct hca_rule *rule)
{
	return rule->action == HCA_RULE_CUT_OUTPUT || rule->action == HCA_RULE_SET_OUTPUT;
}

static bool is_about(const struct hca_rule *rule, uint16_t opcode)
{
	return rule->op == HCA_RULE_NONE || rule->op == opcode;
}

int hca_rule_command(struct hca *hca, uint16_t opcode)
{
	struct hca_faults *faults = hca->faults;
	struct list *node;
	int status = 0;

	if (!(faults->watched & HCA_RULE_COMMAND))
		return 0;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (is_output(rule) || !is_about(rule, opcode))
			continue;
		/* A command has only one fault: further rules neither match nor count it. */
		if (status && rule->action == HCA_RULE_FAIL_COMMAND)
			continue;
		if (!hits(rule, HCA_RULE_COMMAND))
			continue;
		if (rule->action != HCA_RULE_FAIL_COMMAND) {
			arm(rule, HCA_RULE_TRIGGERED, loop_now(hca->loop));
			continue;
		}
		status = rule->value == HCA_RULE_NONE ? HCA_FAULT_TIMEOUT : (int)rule->value;
		rule->hits++;
		rearm(rule);
	}
	return status;
}

uint16_t hca_rule_output(struct hca *hca, uint16_t opcode, uint8_t *out, uint16_t len)
{
	struct hca_faults *faults = hca->faults;
	struct list *node;

	if (!(faults->watched & HCA_RULE_COMMAND))
		return len;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (!is_output(rule) || !is_about(rule, opcode) || !hits(rule, HCA_RULE_COMMAND))
			continue;
		rule->hits++;
		if (rule->action == HCA_RULE_CUT_OUTPUT && rule->value < len)
			len = rule->value;
		else if (rule->action == HCA_RULE_SET_OUTPUT && rule->num < len)
			out[rule->num] = rule->value;
		rearm(rule);
	}
	return len;
}

/* A rule for bytes of what the device writes: set this one. */
static void set_byte(struct hca_rule *rule, void *to)
{
	((uint8_t *)to)[rule->num] = rule->value;
	rule->hits++;
	rearm(rule);
}

void hca_rule_doorbell(struct hca *hca, uint32_t qpn)
{
	struct hca_faults *faults = hca->faults;
	const struct qp *qp = faults->watched & HCA_RULE_DOORBELL ? qp_get(hca, qpn) : NULL;
	struct list *node;

	if (!qp)
		return;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (rule->types >> qp->type & 1 && hits(rule, HCA_RULE_DOORBELL))
			arm(rule, HCA_RULE_TRIGGERED, loop_now(hca->loop));
	}
}

void hca_rule_completion(struct hca *hca, struct ohca_cqe *cqe, uint32_t cqn)
{
	struct hca_faults *faults = hca->faults;
	const struct qp *qp = faults->watched & HCA_RULE_COMPLETION ? qp_get(hca, le32toh(cqe->qpn))
								    : NULL;
	struct list *node;

	if (!qp)
		return;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (!(rule->types >> qp->type & 1) || !hits(rule, HCA_RULE_COMPLETION))
			continue;
		if (rule->action == HCA_RULE_SET_CQE) {
			set_byte(rule, cqe);
			continue;
		}
		rule->cqn = cqn;
		arm(rule, HCA_RULE_TRIGGERED, loop_now(hca->loop));
	}
}

void hca_rule_event(struct hca *hca, struct ohca_eqe *eqe)
{
	struct hca_faults *faults = hca->faults;
	struct list *node;

	if (!(faults->watched & HCA_RULE_EQE))
		return;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (hits(rule, HCA_RULE_EQE))
			set_byte(rule, eqe);
	}
}

/* The reset that this rule made slow is over, because another one follows. */
static void stop_reset(struct hca_rule *rule)
{
	loop_timer_cancel(rule->hca->loop, &rule->timer);
	rearm(rule);
}

static void slow_reset(struct hca_rule *rule)
{
	struct hca *hca = rule->hca;

	rule->hits++;
	if (rule->duration) {
		log_info(hca->name, "fault: the reset takes %llu us",
			 (unsigned long long)rule->duration / 1000);
		arm(rule, HCA_RULE_ACTIVE, loop_now(hca->loop) + rule->duration);
	} else {
		log_info(hca->name, "fault: the reset does not end");
		set_state(rule, HCA_RULE_ACTIVE);
	}
}

bool hca_rule_reset(struct hca *hca)
{
	struct hca_faults *faults = hca->faults;
	bool slow = false;
	struct list *node;

	if (!(faults->watched & HCA_RULE_RESET))
		return false;
	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (rule->event != HCA_RULE_RESET)
			continue;
		if (rule->state == HCA_RULE_ACTIVE)
			stop_reset(rule);
		/* Only the first rule that makes a reset slow counts it. */
		if (slow || !hits(rule, HCA_RULE_RESET))
			continue;
		slow_reset(rule);
		slow = true;
	}
	return slow;
}

void hca_rule_enabled(struct hca *hca)
{
	struct hca_faults *faults = hca->faults;
	struct list *node;

	for (node = faults->rules.next; node != &faults->rules; node = node->next) {
		struct hca_rule *rule = rule_of(node);

		if (rule->state != HCA_RULE_NEW)
			continue;
		if (rule->after)
			arm(rule, HCA_RULE_EARLY, loop_now(hca->loop) + rule->after);
		else
			begin(rule);
	}
}

static struct hca *find_hca(const struct fabric *fabric, const char *name)
{
	const struct list *node;

	for (node = fabric->ports.next; node != &fabric->ports; node = node->next) {
		struct hca *hca = list_entry(node, struct port, link)->hca;

		if (!strcmp(hca->name, name))
			return hca;
	}
	return NULL;
}

int hca_rule_add(struct fabric *fabric, struct hca_rule *rule)
{
	struct hca *hca = find_hca(fabric, rule->name);
	struct pkt_faults *faults;

	if (!hca)
		return -ENOENT;
	if (hca->faults->num_rules == HCA_RULE_MAX)
		return -ENOSPC;
	faults = pkt_faults_get(fabric, hca->loop);
	if (!faults)
		return -ENOMEM;
	rule->hca = hca;
	rule->id = ++faults->last_id;
	rule->timer.fn = on_timer;
	hca->faults->num_rules++;
	list_add_tail(&hca->faults->rules, &rule->link);
	log_info(NULL, "fault %u added: %s", rule->id, rule->text);
	if (rule->event == HCA_RULE_RESET)
		begin(rule);
	else if (hca->ready)
		hca_rule_enabled(hca);
	return 0;
}

static void remove_rule(struct hca_rule *rule)
{
	struct hca *hca = rule->hca;

	log_info(NULL, "fault %u: %llu matched, %llu hit: %s", rule->id,
		 (unsigned long long)rule->matched, (unsigned long long)rule->hits, rule->text);
	loop_timer_cancel(hca->loop, &rule->timer);
	if (rule->state == HCA_RULE_ACTIVE)
		undo(rule);
	list_del(&rule->link);
	hca->faults->num_rules--;
	watch(hca);
	hca_rule_free(rule);
}

bool hca_rule_clear(struct fabric *fabric, uint32_t id)
{
	const struct hca_rule *rule, *next;
	bool found = !id;

	for (rule = hca_rule_next(fabric, NULL); rule; rule = next) {
		next = hca_rule_next(fabric, rule);
		if (id && rule->id != id)
			continue;
		found = true;
		remove_rule((struct hca_rule *)rule);
	}
	return found;
}

/* The ports of an HCA are anywhere in the list: its first one stands for it. */
const struct hca_rule *hca_rule_next(const struct fabric *fabric, const struct hca_rule *rule)
{
	const struct list *node = fabric->ports.next;

	if (rule && rule->link.next != &rule->hca->faults->rules)
		return rule_of(rule->link.next);
	if (rule)
		node = rule->hca->ports[0]->link.next;
	for (; node != &fabric->ports; node = node->next) {
		const struct port *port = list_entry(node, struct port, link);
		const struct hca_faults *faults = port->hca->faults;

		if (port == port->hca->ports[0] && !list_empty(&faults->rules))
			return rule_of(faults->rules.next);
	}
	return NULL;
}

void hca_rule_fini(struct hca *hca)
{
	while (!list_empty(&hca->faults->rules))
		remove_rule(rule_of(hca->faults->rules.next));
}

void hca_rule_free(struct hca_rule *rule)
{
	if (!rule)
		return;
	free(rule->text);
	free(rule->name);
	free(rule);
}
