// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of JSON, a line each: one for each interval, with counters and rates, and one for each event.  Events are changes from
 * one look to the next, and lines of the device's log.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "talk.h"
#include "watch.h"

static void put_number(struct json_object *obj, const char *name, uint64_t value)
{
	json_object_object_add(obj, name, json_object_new_uint64(value));
}

static void put_real(struct json_object *obj, const char *name, double value)
{
	char text[32];

	/* Three digits after the point suffice, and are shorter. */
	snprintf(text, sizeof(text), "%.3f", value);
	json_object_object_add(obj, name, json_object_new_double_s(value, text));
}

static void put_string(struct json_object *obj, const char *name, const char *value)
{
	json_object_object_add(obj, name, json_object_new_string(value));
}

static struct json_object *put_object(struct json_object *obj, const char *name)
{
	struct json_object *value = json_object_new_object();

	json_object_object_add(obj, name, value);
	return value;
}

static struct json_object *put_row(struct json_object *array)
{
	struct json_object *row = json_object_new_object();

	json_object_array_add(array, row);
	return row;
}

/* Print the object as a line, and free it.  Returns whether that worked. */
static bool print(struct json_object *obj)
{
	puts(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
	return !fflush(stdout) && !ferror(stdout);
}

/* Intervals */

static struct json_object *make_hcas(const struct sample *sample)
{
	struct json_object *array = json_object_new_array(), *row;
	unsigned int i;

	for (i = 0; i < sample->num_hcas; i++) {
		const struct sample_hca *hca = &sample->hcas[i];

		row = put_row(array);
		put_string(row, "hca", hca->name);
		put_string(row, "state", hca->state);
		json_object_object_add(row, "connected", json_object_new_boolean(hca->connected));
		put_number(row, "qps", hca->qps);
		put_number(row, "qps_in_error", hca->in_error);
		put_number(row, "broken_rules", hca->broken_rules);
	}
	return array;
}

/* The rates of all counters of a port */
static void put_rates(struct json_object *row, const struct sample_port *port,
		      const struct sample_port *old, double seconds)
{
	struct json_object *rates = put_object(row, "rates");
	uint64_t then;

	if (!port->counters)
		return;
	json_object_object_foreach(port->counters, key, value)
	{
		then = field_number(old->counters, key);
		put_real(rates, key, sample_since(json_object_get_uint64(value), then) / seconds);
	}
}

static struct json_object *make_ports(const struct sample *sample, const struct sample *before)
{
	struct json_object *array = json_object_new_array(), *row;
	unsigned int i;

	for (i = 0; i < sample->num_ports && i < before->num_ports; i++) {
		const struct sample_port *port = &sample->ports[i];

		row = put_row(array);
		put_string(row, "hca", port->name);
		put_number(row, "port", port->number);
		put_string(row, "link", port->link);
		put_string(row, "state", port->state);
		json_object_object_add(row, "counters", json_object_get(port->counters));
		put_rates(row, port, &before->ports[i], sample->seconds);
	}
	return array;
}

static bool is_busy(const struct sample_qp *qp)
{
	unsigned int i;

	for (i = 0; i < QP_VALUES; i++) {
		if (qp->rate[i])
			return true;
	}
	return false;
}

static void put_qp(struct json_object *row, const struct sample_qp *qp)
{
	struct json_object *rates;

	put_string(row, "hca", qp->name);
	put_number(row, "qpn", qp->number);
	put_string(row, "type", qp->type);
	put_string(row, "state", qp->state);
	put_number(row, "sent", qp->value[QP_SENT]);
	put_number(row, "received", qp->value[QP_RECEIVED]);
	put_number(row, "retries", qp->value[QP_RETRIES]);
	put_number(row, "errors", qp->value[QP_ERRORS]);
	if (qp->measured) {
		put_number(row, "latency_mean_ns", qp->mean);
		if (qp->p99)
			put_number(row, "latency_p99_ns", qp->p99);
	}
	rates = put_object(row, "rates");
	put_real(rates, "sent", qp->rate[QP_SENT]);
	put_real(rates, "received", qp->rate[QP_RECEIVED]);
	put_real(rates, "messages", qp->rate[QP_MESSAGES]);
	put_real(rates, "retries", qp->rate[QP_RETRIES]);
	put_real(rates, "errors", qp->rate[QP_ERRORS]);
}

/* Queue pairs that did something */
static struct json_object *make_qps(const struct sample *sample)
{
	struct json_object *array = json_object_new_array();
	unsigned int i;

	for (i = 0; i < sample->num_qps; i++) {
		if (is_busy(&sample->qps[i]))
			put_qp(put_row(array), &sample->qps[i]);
	}
	return array;
}

static bool print_interval(const struct sample *sample, const struct sample *before)
{
	struct json_object *obj = json_object_new_object();

	put_string(obj, "kind", "interval");
	put_real(obj, "time", sample->time);
	put_real(obj, "seconds", sample->seconds);
	json_object_object_add(obj, "hcas", make_hcas(sample));
	json_object_object_add(obj, "ports", make_ports(sample, before));
	json_object_object_add(obj, "qps", make_qps(sample));
	return print(obj);
}

/* Events */

static struct json_object *new_event(const struct sample *sample, const char *what, const char *hca)
{
	struct json_object *obj = json_object_new_object();

	put_string(obj, "kind", "event");
	put_real(obj, "time", sample->time);
	put_string(obj, "event", what);
	put_string(obj, "hca", hca);
	return obj;
}

static void put_change(struct json_object *obj, const char *from, const char *to)
{
	put_string(obj, "from", from);
	put_string(obj, "to", to);
}

static bool print_hca_events(const struct sample *sample, const struct sample *before)
{
	struct json_object *event;
	bool good = true;
	unsigned int i;

	for (i = 0; good && i < sample->num_hcas && i < before->num_hcas; i++) {
		const struct sample_hca *hca = &sample->hcas[i], *old = &before->hcas[i];

		if (hca->connected != old->connected)
			good = print(new_event(
				sample, hca->connected ? "connected" : "disconnected", hca->name));
		if (!good || !strcmp(hca->state, old->state))
			continue;
		event = new_event(sample, "hca-state", hca->name);
		put_change(event, old->state, hca->state);
		good = print(event);
	}
	return good;
}

static bool print_port_events(const struct sample *sample, const struct sample *before)
{
	struct json_object *event;
	bool good = true;
	unsigned int i;

	for (i = 0; good && i < sample->num_ports && i < before->num_ports; i++) {
		const struct sample_port *port = &sample->ports[i];

		if (!strcmp(port->state, before->ports[i].state))
			continue;
		event = new_event(sample, "port-state", port->name);
		put_number(event, "port", port->number);
		put_change(event, before->ports[i].state, port->state);
		good = print(event);
	}
	return good;
}

static bool print_qp_event(const struct sample *sample, const struct sample_qp *qp,
			   const char *what, const char *from)
{
	struct json_object *event = new_event(sample, what, qp->name);

	put_number(event, "qpn", qp->number);
	put_string(event, "type", qp->type);
	if (from)
		put_change(event, from, qp->state);
	return print(event);
}

/* Both are in the same order. */
static bool print_qp_events(const struct sample *sample, const struct sample *before)
{
	unsigned int i = 0, j = 0;
	bool good = true;

	while (good && (i < sample->num_qps || j < before->num_qps)) {
		const struct sample_qp *qp = &sample->qps[i], *old = &before->qps[j];
		int which = i == sample->num_qps   ? 1
			    : j == before->num_qps ? -1
						   : sample_order(qp, old);

		if (which < 0)
			good = print_qp_event(sample, qp, "qp-created", NULL);
		else if (which > 0)
			good = print_qp_event(sample, old, "qp-destroyed", NULL);
		else if (strcmp(qp->state, old->state) != 0)
			good = print_qp_event(sample, qp, "qp-state", old->state);
		i += which <= 0;
		j += which >= 0;
	}
	return good;
}

/* Print the lines of the log since number *@since, or with @quiet only take notice of them. */
static int print_log(int fd, uint64_t *since, bool quiet)
{
	struct json_object *args = json_object_new_object(), *result, *lines, *value, *event;
	bool good = true;
	size_t i;

	put_number(args, "since", *since);
	result = talk(fd, "show-log", args);
	if (!result)
		return -1;
	*since = field_number(result, "last");
	json_object_object_get_ex(result, "lines", &lines);
	for (i = 0; good && !quiet && i < json_object_array_length(lines); i++) {
		struct json_object *line = json_object_array_get_idx(lines, i);

		event = json_object_new_object();
		put_string(event, "kind", "event");
		if (json_object_object_get_ex(line, "time", &value))
			put_real(event, "time", json_object_get_double(value));
		put_string(event, "event", "log");
		if (json_object_object_get_ex(line, "text", &value))
			json_object_object_add(event, "text", json_object_get(value));
		good = print(event);
	}
	json_object_put(result);
	return good ? 0 : -1;
}

static bool print_all(const struct sample *sample, const struct sample *before)
{
	return print_hca_events(sample, before) && print_port_events(sample, before) &&
	       print_qp_events(sample, before) && print_interval(sample, before);
}

int watch_run(int fd, const struct top_options *opts)
{
	struct sample *before, *sample;
	uint64_t since = 0;
	unsigned long i;
	int status;

	before = sample_take(fd, opts->hca, NULL, &status);
	if (!before)
		return status;
	status = print_log(fd, &since, true) ? EXIT_FAILURE : EXIT_SUCCESS;
	for (i = 0; !status && (!opts->count || i < opts->count); i++) {
		sample = sample_next(fd, opts->hca, opts->interval, before, &status);
		if (!sample)
			break;
		if (print_log(fd, &since, false) || !print_all(sample, before))
			status = EXIT_FAILURE;
		sample_free(before);
		before = sample;
	}
	sample_free(before);
	return status;
}
