// SPDX-License-Identifier: GPL-2.0
/* Requests of the control socket: the table of commands, arguments, execution. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/control_cmd.h"
#include "device/hca.h"

#define JSON_DEPTH 8

static int control_help(struct control_call *call);

static const struct control_cmd commands[] = {
	{"help", control_help, {}},
	{"version", control_version, {}},
	{"show-hcas", control_show_hcas, {}},
	{"show-ports",
	 control_show_ports,
	 {{"hca", CONTROL_HCA, false}, {"from", CONTROL_STRING, false}}},
	{"show-qps",
	 control_show_qps,
	 {{"hca", CONTROL_HCA, false}, {"from", CONTROL_STRING, false}}},
	{"show-counters",
	 control_show_counters,
	 {{"hca", CONTROL_HCA, false}, {"from", CONTROL_STRING, false}}},
	{"show-totals",
	 control_show_totals,
	 {{"hca", CONTROL_HCA, false}, {"from", CONTROL_STRING, false}}},
	{"show-quotas",
	 control_show_quotas,
	 {{"hca", CONTROL_HCA, false}, {"from", CONTROL_STRING, false}}},
	{"show-latency",
	 control_show_latency,
	 {{"hca", CONTROL_HCA, false}, {"from", CONTROL_STRING, false}}},
	{"show-log", control_show_log, {{"since", CONTROL_NUMBER, false}}},
	{"show-uplinks", control_show_uplinks, {}},
	{"show-topology", control_show_topology, {{"from", CONTROL_STRING, false}}},
	{"show-cables", control_show_cables, {{"from", CONTROL_STRING, false}}},
	{"show-routes",
	 control_show_routes,
	 {{"sl", CONTROL_NUMBER, false}, {"from", CONTROL_STRING, false}}},
	{"node", control_node, {{"node", CONTROL_STRING, true}, {"state", CONTROL_STRING, true}}},
	{"cable",
	 control_cable,
	 {{"node", CONTROL_STRING, true},
	  {"port", CONTROL_NUMBER, true},
	  {"state", CONTROL_STRING, true}}},
	{"link",
	 control_link,
	 {{"hca", CONTROL_HCA, true},
	  {"state", CONTROL_STRING, true},
	  {"port", CONTROL_NUMBER, false}}},
	{"port",
	 control_port,
	 {{"hca", CONTROL_HCA, true},
	  {"port", CONTROL_NUMBER, true},
	  {"type", CONTROL_STRING, true}}},
	{"fault-add", control_fault_add, {{"rule", CONTROL_STRING, true}}},
	{"fault-show", control_fault_show, {}},
	{"fault-clear", control_fault_clear, {{"id", CONTROL_NUMBER, false}}},
	{"capture-start",
	 control_capture_start,
	 {{"file", CONTROL_STRING, true},
	  {"snaplen", CONTROL_NUMBER, false},
	  {"limit", CONTROL_NUMBER, false}}},
	{"capture-stop", control_capture_stop, {}},
	{"capture-show", control_capture_show, {}},
	{"fail-command",
	 control_fail_command,
	 {{"hca", CONTROL_HCA, true},
	  {"count", CONTROL_NUMBER, false},
	  {"opcode", CONTROL_NUMBER, false},
	  {"status", CONTROL_NUMBER, false}}},
	{"fail-eq",
	 control_fail_eq,
	 {{"hca", CONTROL_HCA, true},
	  {"eq", CONTROL_NUMBER, true},
	  {"overrun", CONTROL_BOOL, false}}},
	{"fail-cq", control_fail_cq, {{"hca", CONTROL_HCA, true}, {"cq", CONTROL_NUMBER, true}}},
	{"fail-hca",
	 control_fail_hca,
	 {{"hca", CONTROL_HCA, true}, {"reason", CONTROL_NUMBER, false}}},
	{"fail-show", control_fail_show, {{"hca", CONTROL_HCA, true}}},
	{"fail-clear", control_fail_clear, {{"hca", CONTROL_HCA, true}}},
	{"unplug", control_unplug, {{"hca", CONTROL_HCA, true}}},
	{"plug", control_plug, {{"hca", CONTROL_HCA, true}}},
	{"latency", control_latency, {{"hca", CONTROL_HCA, true}, {"on", CONTROL_BOOL, true}}},
	{"metrics", control_metrics, {{"from", CONTROL_STRING, false}}},
	{"profile",
	 control_profile,
	 {{"hca", CONTROL_HCA, true}, {"profile", CONTROL_STRING, true}}},
};

static const char *const type_names[] = {
	[CONTROL_STRING] = "string", [CONTROL_NUMBER] = "number", [CONTROL_REAL] = "real",
	[CONTROL_BOOL] = "boolean",  [CONTROL_HCA] = "hca",
};

static int control_help(struct control_call *call)
{
	struct json_object *cmds = control_put_array(call->result, "commands");
	const struct control_arg *arg;
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct json_object *row = control_put_row(cmds), *args;

		control_put_string(row, "name", commands[i].name);
		args = control_put_array(row, "args");
		for (arg = commands[i].args; arg->name; arg++) {
			row = control_put_row(args);
			control_put_string(row, "name", arg->name);
			control_put_string(row, "type", type_names[arg->type]);
			control_put_bool(row, "required", arg->required);
		}
	}
	return 0;
}

/* Arguments */

static struct hca *find_hca(const struct control_env *env, const char *name)
{
	unsigned int i;

	for (i = 0; i < env->num_hcas; i++) {
		if (!strcmp(env->hcas[i]->name, name))
			return env->hcas[i];
	}
	return NULL;
}

/*
 * Numbers and switches may be strings too: decimal, or hexadecimal with 0x; "true", "on" and so on.
 */
static bool read_number(struct control_value *value, struct json_object *json)
{
	char *end;

	if (json_object_is_type(json, json_type_int)) {
		value->number = json_object_get_uint64(json);
		return json_object_get_int64(json) >= 0;
	}
	if (!value->string || *value->string < '0' || *value->string > '9')
		return false;
	errno = 0;
	value->number =
		strtoull(value->string, &end, !strncasecmp(value->string, "0x", 2) ? 16 : 10);
	return !errno && !*end;
}

static bool read_real(struct control_value *value, struct json_object *json)
{
	char *end;

	if (json_object_is_type(json, json_type_int) ||
	    json_object_is_type(json, json_type_double)) {
		value->real = json_object_get_double(json);
		return true;
	}
	if (!value->string || !strchr("-.0123456789", *value->string))
		return false;
	value->real = strtod(value->string, &end);
	return !*end;
}

static bool read_bool(struct control_value *value, struct json_object *json)
{
	static const char *const words[][2] = {{"false", "true"}, {"off", "on"}, {"no", "yes"}};
	unsigned int i;

	if (json_object_is_type(json, json_type_boolean)) {
		value->boolean = json_object_get_boolean(json);
		return true;
	}
	for (i = 0; value->string && i < 2 * sizeof(words) / sizeof(words[0]); i++) {
		value->boolean = i & 1;
		if (!strcmp(value->string, words[i / 2][i & 1]))
			return true;
	}
	return false;
}

static int read_value(struct control_call *call, const struct control_arg *arg,
		      struct control_value *value, struct json_object *json)
{
	bool good = false;

	value->given = true;
	if (json_object_is_type(json, json_type_string))
		value->string = json_object_get_string(json);
	switch (arg->type) {
	case CONTROL_STRING:
		good = value->string;
		break;
	case CONTROL_NUMBER:
		good = read_number(value, json);
		break;
	case CONTROL_REAL:
		good = read_real(value, json);
		break;
	case CONTROL_BOOL:
		good = read_bool(value, json);
		break;
	case CONTROL_HCA:
		value->hca = value->string ? find_hca(call->env, value->string) : NULL;
		if (value->string && !value->hca)
			return control_error(call, ENODEV, "there is no HCA %s", value->string);
		good = value->hca;
		break;
	}
	return good ? 0
		    : control_error(call, EINVAL, "%s is no %s", arg->name, type_names[arg->type]);
}

static int read_args(struct control_call *call, const struct control_cmd *cmd,
		     struct json_object *args)
{
	unsigned int i;
	int err;

	if (args) {
		json_object_object_foreach(args, key, json)
		{
			for (i = 0; cmd->args[i].name && strcmp(cmd->args[i].name, key); i++)
				;
			if (!cmd->args[i].name)
				return control_error(call, EINVAL, "%s has no argument %s",
						     cmd->name, key);
			err = read_value(call, &cmd->args[i], &call->value[i], json);
			if (err)
				return err;
		}
	}
	for (i = 0; cmd->args[i].name; i++) {
		if (cmd->args[i].required && !call->value[i].given)
			return control_error(call, EINVAL, "%s needs the argument %s", cmd->name,
					     cmd->args[i].name);
	}
	return 0;
}

/* Requests */

/**
 * struct request - the fields of a request, or NULL
 */
struct request {
	struct json_object *id, *cmd, *args;
};

static int read_request(struct control_call *call, struct request *req, struct json_object *root)
{
	if (!root)
		return control_error(call, EINVAL, "the line is no JSON object");
	json_object_object_get_ex(root, "id", &req->id);
	if (req->id && !json_object_is_type(req->id, json_type_int) &&
	    !json_object_is_type(req->id, json_type_string)) {
		req->id = NULL;
		return control_error(call, EINVAL, "id is neither a string nor an integer");
	}
	json_object_object_foreach(root, key, value)
	{
		if (!strcmp(key, "cmd"))
			req->cmd = value;
		else if (!strcmp(key, "args"))
			req->args = value;
		else if (strcmp(key, "id"))
			return control_error(call, EINVAL, "a request has no %s", key);
	}
	if (!json_object_is_type(req->cmd, json_type_string))
		return control_error(call, EINVAL, "cmd is no string");
	if (req->args && !json_object_is_type(req->args, json_type_object))
		return control_error(call, EINVAL, "args is no object");
	return 0;
}

static int run(struct control_call *call, const struct request *req)
{
	const char *name = json_object_get_string(req->cmd);
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, name))
			continue;
		err = read_args(call, &commands[i], req->args);
		call->usage = err;
		return err ? err : commands[i].fn(call);
	}
	return control_error(call, ENOENT, "there is no command %s", name);
}

struct json_object *control_execute(const struct control_env *env, const char *line, size_t len,
				    int *fd)
{
	struct control_call call = {.env = env, .fd = fd, .result = json_object_new_object()};
	struct json_object *root = json_parse_object(line, len, JSON_DEPTH), *reply;
	struct request req = {};
	int err;

	err = read_request(&call, &req, root);
	if (!err)
		err = run(&call, &req);
	if (err) {
		reply = control_refusal(-err, call.error);
		if (call.usage)
			control_put_bool(reply, "usage", true);
		json_object_put(call.result);
	} else {
		reply = json_object_new_object();
		control_put_bool(reply, "ok", true);
		json_object_object_add(reply, "result", call.result);
	}
	if (req.id)
		json_object_object_add(reply, "id", json_object_get(req.id));
	json_object_put(root);
	return reply;
}
