/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules for faults of InfiniBand nodes and their cables, those of switches and of HCAs without a host too.
 * Documentation/faults.rst describes their text.  A rule depends on the time only: it begins when it is added.
 */

#ifndef OHCAD_NODE_RULE_H
#define OHCAD_NODE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "inject/rule_text.h"

struct fabric;

#define NODE_RULE_MAX 256 /* of a fabric */

enum node_rule_action {
	NODE_RULE_NODE_DOWN, /* the node has no power */
	NODE_RULE_CABLE_DOWN, /* the cable of a port is unplugged */
	NODE_RULE_CABLE_ERROR, /* errors happen at a port */
};

enum node_rule_state {
	NODE_RULE_WAITING, /* the timer is armed to inject the fault */
	NODE_RULE_ACTIVE, /* the fault is active until @duration is over */
	NODE_RULE_DONE,
};

/**
 * struct node_rule - a rule
 * @link: in the fabric's faults
 * @id: its number
 * @text: its text
 * @name: name of the node, which may be gone when a fault begins or ends
 * @action: enum node_rule_action
 * @port: CABLE_DOWN, CABLE_ERROR: number of the node's port
 * @kind: CABLE_ERROR: enum ib_error
 * @num: CABLE_ERROR: so many at once
 * @count: faults, then it is done
 * @after: from its beginning to the first fault, ns
 * @every: from one fault to the next, ns
 * @duration: until a fault ends, ns; 0: it does not
 * @state: enum node_rule_state
 * @timer: for @after, @every and @duration
 * @since: loop time of the last fault
 * @hits: number of faults
 * @fabric, @loop: where it was added
 */
struct node_rule {
	struct list link;
	uint32_t id;
	char *text;
	char *name;
	uint8_t action;
	uint8_t port;
	uint8_t kind;
	uint32_t num;
	uint64_t count;
	uint64_t after;
	uint64_t every;
	uint64_t duration;
	uint8_t state;
	struct timer timer;
	uint64_t since;
	uint64_t hits;
	struct fabric *fabric;
	struct loop *loop;
};

/* Whether the text begins with an action of such a rule */
bool node_rule_is(const char *text);
/* Returns NULL if the text is invalid; then @why, of @max bytes, says what is wrong. */
struct node_rule *node_rule_parse(const char *text, char *why, size_t max);
void node_rule_free(struct node_rule *rule);

/*
 * Add a rule; the fabric owns it from then on.  Returns 0, -ENOENT if there is no such node, or no cable at its port,
 * -ENOSPC or -ENOMEM.
 */
int node_rule_add(struct fabric *fabric, struct loop *loop, struct node_rule *rule);
/* Remove a rule, or all (0).  Returns false if there is no such rule.  A fault with a duration ends now. */
bool node_rule_clear(struct fabric *fabric, uint32_t id);
/* The next rule, or the first one for NULL.  Returns NULL at the end. */
const struct node_rule *node_rule_next(const struct fabric *fabric, const struct node_rule *rule);

static inline bool node_rule_done(const struct node_rule *rule)
{
	return rule->state == NODE_RULE_DONE;
}

#endif
