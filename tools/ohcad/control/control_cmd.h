/* SPDX-License-Identifier: GPL-2.0 */
/* Commands of the control socket: each has an entry in the table in control_exec.c. */

#ifndef OHCAD_CONTROL_CMD_H
#define OHCAD_CONTROL_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/control.h"
#include "base/json.h"
#include "ohca/ohca_cmd.h"

struct ib_port;

enum control_type {
	CONTROL_STRING,
	CONTROL_NUMBER, /* an integer that is not negative */
	CONTROL_REAL,
	CONTROL_BOOL,
	CONTROL_HCA, /* the name of an HCA */
};

/**
 * struct control_arg - an argument of a command
 */
struct control_arg {
	const char *name;
	enum control_type type;
	bool required;
};

#define CONTROL_MAX_ARGS 12

/**
 * struct control_value - an argument's value
 * @given: it was in the request; all else is zero if not
 */
struct control_value {
	bool given;
	const char *string;
	uint64_t number;
	double real;
	bool boolean;
	struct hca *hca;
};

/**
 * struct control_call - a command in execution
 * @value: of each argument, in the order of the table
 * @fd: a descriptor that came with the request, -1: none; a command that takes it sets it to -1
 * @result: an empty object, for the command to fill
 * @usage: the command was not executed, because its arguments are wrong
 * @error: what was wrong, for people; control_error() writes it
 */
struct control_call {
	const struct control_env *env;
	struct control_value value[CONTROL_MAX_ARGS];
	int *fd;
	struct json_object *result;
	bool usage;
	char error[320];
};

/**
 * struct control_cmd - a command
 * @fn: does a bounded amount of work and never blocks; returns 0 or control_error()
 * @args: up to the one without a name; checked before @fn is called
 */
struct control_cmd {
	const char *name;
	int (*fn)(struct control_call *call);
	struct control_arg args[CONTROL_MAX_ARGS + 1];
};

/* Set @call->error; returns -@err. */
__attribute__((format(printf, 3, 4))) int control_error(struct control_call *call, int err,
							const char *fmt, ...);

/*
 * Execute the request in @line, with which *@fd came; see struct control_call.  Returns its reply, which the caller frees;
 * NULL: no memory.
 */
struct json_object *control_execute(const struct control_env *env, const char *line, size_t len,
				    int *fd);
/* Returns the reply to a line that is no request. */
struct json_object *control_refusal(int err, const char *text);

/* Argument number @arg: "up" or "down".  0 or control_error() */
int control_take_state(struct control_call *call, unsigned int arg, bool *up);

/* The length of a text without the character of UTF-8 at its end of which a part had no room */
int control_text_len(const char *text);

/* Fields of @obj */
void control_put_string(struct json_object *obj, const char *name, const char *value);
void control_put_number(struct json_object *obj, const char *name, uint64_t value);
void control_put_bool(struct json_object *obj, const char *name, bool value);
/* Add an empty array of this name to @obj, or an empty object to the end of @array; returns it. */
struct json_object *control_put_array(struct json_object *obj, const char *name);
struct json_object *control_put_row(struct json_object *array);

void control_put_mac(struct json_object *obj, const char *name, const uint8_t mac[6]);
/* PortState, as ibstat has it */
const char *control_ib_state(const struct ib_port *ib);
void control_put_gid(struct json_object *obj, const char *name, const uint8_t gid[16]);

/* States of an adapter, NULL ends them; and which of them it has */
extern const char *const control_hca_states[];
const char *control_hca_state(const struct hca *hca);
/* OHCA_LINK_* */
const char *control_link_name(uint8_t link);
/* A counter of a set, as rdma statistic and ethtool have it; NULL: it is none that is shown */
const char *control_counter_name(enum ohca_counter counter);

/* control_hca.c */
int control_fail_command(struct control_call *call);
int control_fail_eq(struct control_call *call);
int control_fail_cq(struct control_call *call);
int control_fail_hca(struct control_call *call);
int control_fail_show(struct control_call *call);
int control_fail_clear(struct control_call *call);
int control_unplug(struct control_call *call);
int control_plug(struct control_call *call);
int control_profile(struct control_call *call);

/* control_capture.c */
int control_capture_start(struct control_call *call);
int control_capture_stop(struct control_call *call);
int control_capture_show(struct control_call *call);

/* control_watch.c */
int control_metrics(struct control_call *call);
int control_show_log(struct control_call *call);
int control_latency(struct control_call *call);

/* control_show.c */
int control_version(struct control_call *call);
int control_show_hcas(struct control_call *call);
int control_show_uplinks(struct control_call *call);

/* control_objects.c */
int control_show_ports(struct control_call *call);
int control_show_qps(struct control_call *call);
int control_show_counters(struct control_call *call);
int control_show_totals(struct control_call *call);
int control_show_quotas(struct control_call *call);
int control_show_latency(struct control_call *call);

/* control_link.c */
int control_link(struct control_call *call);
int control_port(struct control_call *call);

/* control_topology.c */
int control_show_topology(struct control_call *call);
int control_show_cables(struct control_call *call);
int control_show_routes(struct control_call *call);
int control_node(struct control_call *call);
int control_cable(struct control_call *call);

/* control_fault.c */
int control_fault_add(struct control_call *call);
int control_fault_show(struct control_call *call);
int control_fault_clear(struct control_call *call);

#endif
