// SPDX-License-Identifier: GPL-2.0
/* Commands of the control socket for those that watch the device: metrics, log lines, latencies. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/control_cmd.h"
#include "control/metrics.h"
#include "device/hca.h"
#include "qp/qp_latency.h"

/* Families of a reply */
#define FAMILIES 4

/* Append the lines of @text to an array. */
static void put_lines(struct json_object *lines, char *text)
{
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			json_object_array_add(lines, json_object_new_string(line));
	}
}

/* Lines of some families from number @family on, and the end */
static int make_lines(struct control_call *call, unsigned int family)
{
	unsigned int end = family + FAMILIES;
	struct json_object *lines;
	char *text = NULL, next[16];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return control_error(call, ENOMEM, "no memory");
	for (; family < end && family < metrics_families(); family++)
		metrics_write(out, call->env, family);
	if (family == metrics_families())
		fputs(METRICS_END, out);
	if (fclose(out)) {
		free(text);
		return control_error(call, ENOMEM, "no memory");
	}
	lines = control_put_array(call->result, "lines");
	put_lines(lines, text);
	free(text);
	if (family < metrics_families()) {
		snprintf(next, sizeof(next), "%u", family);
		control_put_string(call->result, "next", next);
	}
	return 0;
}

int control_metrics(struct control_call *call)
{
	const char *from = call->value[0].string;
	unsigned int family = 0;
	int end = 0;

	if (from &&
	    (sscanf(from, "%u%n", &family, &end) != 1 || from[end] || family >= metrics_families()))
		return control_error(call, EINVAL, "from is not what a reply had");
	return make_lines(call, family);
}

int control_show_log(struct control_call *call)
{
	struct json_object *lines = control_put_array(call->result, "lines"), *row;
	uint64_t since = call->value[0].number;
	const struct log_line *line;

	while ((line = log_next(&since))) {
		row = control_put_row(lines);
		control_put_number(row, "number", since);
		json_object_object_add(row, "time", json_object_new_double(line->time));
		json_object_object_add(row, "text",
				       json_object_new_string_len(line->text,
								  control_text_len(line->text)));
	}
	control_put_number(call->result, "last", since);
	return 0;
}

int control_latency(struct control_call *call)
{
	qp_latency_measure(call->value[0].hca, call->value[1].boolean);
	return 0;
}
