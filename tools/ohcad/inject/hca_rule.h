/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rules for faults of hca_fault.h, and for unplugging the cable.  Documentation/faults.rst
 * describes their text.  A rule begins when the HCA is enabled, or at once if it is enabled
 * already.  It triggers after a time, or at some of the commands, doorbells and completions that
 * follow.  A rule for resets begins at once.
 */

#ifndef OHCAD_HCA_RULE_H
#define OHCAD_HCA_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "inject/rule_text.h"

struct fabric;
struct hca;
struct ohca_cqe;
struct ohca_eqe;

#define HCA_RULE_MAX 64 /* for one HCA */
#define HCA_RULE_NONE UINT32_MAX

enum hca_rule_action {
	HCA_RULE_FAIL_COMMAND,
	HCA_RULE_FAIL_EQ,
	HCA_RULE_FAIL_CQ,
	HCA_RULE_FAIL_HCA,
	HCA_RULE_UNPLUG,
	HCA_RULE_LINK_DOWN,
	HCA_RULE_LINK_ERROR,
	HCA_RULE_SLOW_RESET,
	HCA_RULE_CUT_OUTPUT,
	HCA_RULE_SET_OUTPUT,
	HCA_RULE_SET_CQE,
	HCA_RULE_SET_EQE,
	HCA_RULE_ADD_EVENT,
};

/* Events of an HCA, a bit each */
enum hca_rule_event {
	HCA_RULE_COMMAND = 1, /* a command was taken from the command queue */
	HCA_RULE_DOORBELL = 2, /* a doorbell of a QP was seen */
	HCA_RULE_COMPLETION = 4, /* a completion is about to be written */
	HCA_RULE_RESET = 8, /* it was reset, in whatever way */
	HCA_RULE_EQE = 16, /* an event is about to be written */
};

enum hca_rule_state {
	HCA_RULE_NEW, /* the HCA has not been enabled */
	HCA_RULE_EARLY, /* @after is not over */
	HCA_RULE_WATCHING,
	HCA_RULE_TRIGGERED, /* the timer is armed to inject the fault */
	HCA_RULE_ACTIVE, /* the fault is active until @duration is over */
	HCA_RULE_DONE,
};

/**
 * struct hca_rule - a rule
 * @link: in hca->faults->rules
 * @id: its number
 * @text: its text
 * @name: name of the HCA
 * @hca: the HCA, when the rule was added
 * @action: enum hca_rule_action
 * @value: a status, the number of a queue, a reason, an enum ib_error, a number of bytes, the value
 *	of a byte, the number of an object; or HCA_RULE_NONE
 * @num: LINK_ERROR, ADD_EVENT: so many at once; SET_OUTPUT, SET_CQE, SET_EQE: offset of the byte
 * @event_type: ADD_EVENT: its type, enum ohca_event or another number
 * @left: ADD_EVENT: how many are still to be written
 * @retry_ns: ADD_EVENT: how long the timer waits for room in the event queue
 * @port: LINK_DOWN, LINK_ERROR: the port; 0: all of them
 * @at_switch: LINK_ERROR: not at the HCA's port, but at the other end of its cable
 * @event: enum hca_rule_event that triggers it; 0: at a time
 * @op: of commands only those, or HCA_RULE_NONE
 * @types: of doorbells and completions those of QPs of these types: bit n for OHCA_QPT_n
 * @skip: events that pass at first
 * @count: faults, then it is done
 * @after: it begins so long after the HCA, ns
 * @every: without @event: from one fault to the next, ns
 * @duration: until a fault is undone, ns; 0: it is not.  SLOW_RESET: its value
 * @state: enum hca_rule_state
 * @timer: for @after, @every and @duration
 * @since: loop time of the last fault
 * @cqn: FAIL_CQ without a number: the CQ of the completion
 * @matched: number of events that matched
 * @hits: number of faults
 */
struct hca_rule {
	struct list link;
	uint32_t id;
	char *text;
	char *name;
	struct hca *hca;
	uint8_t action;
	uint32_t value;
	uint32_t num;
	uint8_t event_type;
	uint32_t left;
	uint64_t retry_ns;
	uint8_t port;
	bool at_switch;
	uint8_t event;
	uint32_t op;
	uint32_t types;
	uint64_t skip;
	uint64_t count;
	uint64_t after;
	uint64_t every;
	uint64_t duration;
	uint8_t state;
	struct timer timer;
	uint64_t since;
	uint32_t cqn;
	uint64_t matched;
	uint64_t hits;
};

/* Whether the text begins with an action of such a rule */
bool hca_rule_is(const char *text);
/* Returns NULL if the text is invalid; then @why, of @max bytes, says what is wrong. */
struct hca_rule *hca_rule_parse(const char *text, char *why, size_t max);
void hca_rule_free(struct hca_rule *rule);

/*
 * Add a rule to its HCA, which owns it from then on.  Returns 0, -ENOENT if there is no such HCA,
 * -ENOSPC or -ENOMEM.
 */
int hca_rule_add(struct fabric *fabric, struct hca_rule *rule);
/*
 * Remove a rule, or all (0).  Returns false if there is no such rule.  A fault with a duration ends
 * now.
 */
bool hca_rule_clear(struct fabric *fabric, uint32_t id);
/* The next rule, or the first one for NULL.  Returns NULL at the end. */
const struct hca_rule *hca_rule_next(const struct fabric *fabric, const struct hca_rule *rule);
/* The HCA is being destroyed. */
void hca_rule_fini(struct hca *hca);

/* The HCA was enabled. */
void hca_rule_enabled(struct hca *hca);
/* A command was taken.  Returns its fault, as in struct hca_hooks, or 0. */
int hca_rule_command(struct hca *hca, uint16_t opcode);
/* A command has succeeded: apply the rules for its output, as in struct hca_hooks. */
uint16_t hca_rule_output(struct hca *hca, uint16_t opcode, uint8_t *out, uint16_t len);
/* A doorbell of a QP was seen. */
void hca_rule_doorbell(struct hca *hca, uint32_t qpn);
/* A completion is about to be written to a CQ: apply the rules for it, as in struct hca_hooks. */
void hca_rule_completion(struct hca *hca, struct ohca_cqe *cqe, uint32_t cqn);
/* The same for an event */
void hca_rule_event(struct hca *hca, struct ohca_eqe *eqe);

/* The HCA was reset.  Returns whether the reset goes on, as in struct hca_hooks. */
bool hca_rule_reset(struct hca *hca);

static inline bool hca_rule_done(const struct hca_rule *rule)
{
	return rule->state == HCA_RULE_DONE;
}

#endif
