// SPDX-License-Identifier: GPL-2.0
/* Looks at a device. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "field.h"
#include "sample.h"
#include "talk.h"
#include "usage.h"

enum reply {
	VERSION,
	HCAS,
	PORTS,
	TOTALS,
	QPS,
};

static_assert(QPS + 1 == SAMPLE_REPLIES, "replies");

double sample_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static const char *get_string(struct json_object *obj, const char *name)
{
	return field_string(obj, name) ?: "";
}

/* The array of a reply, and an array of as many structures of @size bytes */
static void *take_rows(struct json_object *reply, const char *name, size_t size, unsigned int *num,
		       struct json_object **rows)
{
	*num = field_rows(reply, name, rows);
	return calloc(*num + 1, size);
}

/* Adapters: all of them, or the one that is asked for */
static bool take_hcas(struct sample *sample, const char *only)
{
	struct json_object *rows, *row;
	unsigned int i, num;

	sample->hcas = take_rows(sample->replies[HCAS], "hcas", sizeof(*sample->hcas), &num, &rows);
	for (i = 0; sample->hcas && i < num; i++) {
		row = json_object_array_get_idx(rows, i);
		if (only && strcmp(get_string(row, "name"), only) != 0)
			continue;
		sample->hcas[sample->num_hcas++] = (struct sample_hca){
			.name = get_string(row, "name"),
			.state = get_string(row, "state"),
			.connected = field_bool(row, "connected"),
			.latency = field_bool(row, "latency"),
			.broken_rules = field_number(row, "broken_rules"),
		};
	}
	return sample->num_hcas;
}

/* Which counters are summed up */
static const struct {
	enum port_value value;
	const char *name;
} port_counters[] = {
	{PORT_TX_BYTES, "tx_bytes"},
	{PORT_RX_BYTES, "rx_bytes"},
	{PORT_TX_PACKETS, "tx_packets"},
	{PORT_RX_PACKETS, "rx_packets"},
	{PORT_RETRIES, "packet_seq_err"},
	{PORT_RETRIES, "rnr_nak_received"},
	{PORT_RETRIES, "local_ack_timeout_err"},
	{PORT_ERRORS, "req_cqe_error"},
	{PORT_ERRORS, "resp_cqe_error"},
	{PORT_ERRORS, "resp_remote_access_errors"},
	{PORT_ERRORS, "resp_remote_invalid_request"},
	{PORT_DROPS, "out_of_buffer"},
	{PORT_DROPS, "rx_dropped_datagrams"},
	{PORT_DROPS, "rx_no_buffer"},
};

/* Both lists are of all ports in the same order.  A port that was added between two replies is left out. */
static void take_ports(struct sample *sample)
{
	struct json_object *rows, *totals, *row;
	unsigned int num = field_rows(sample->replies[TOTALS], "totals", &totals), i, j;

	sample->ports = take_rows(sample->replies[PORTS], "ports", sizeof(*sample->ports),
				  &sample->num_ports, &rows);
	if (sample->num_ports > num)
		sample->num_ports = num;
	for (i = 0; sample->ports && i < sample->num_ports; i++) {
		struct sample_port *port = &sample->ports[i];

		row = json_object_array_get_idx(rows, i);
		port->name = get_string(row, "hca");
		port->number = field_number(row, "port");
		port->link = get_string(row, "link");
		port->state = get_string(row, "state");
		json_object_object_get_ex(json_object_array_get_idx(totals, i), "values",
					  &port->counters);
		for (j = 0; j < sizeof(port_counters) / sizeof(port_counters[0]); j++)
			port->value[port_counters[j].value] +=
				field_number(port->counters, port_counters[j].name);
	}
}

static uint32_t completed(struct json_object *row, const char *queue)
{
	struct json_object *obj;

	return json_object_object_get_ex(row, queue, &obj) ? field_number(obj, "completed") : 0;
}

static void take_qp(struct sample_qp *qp, struct json_object *row)
{
	struct json_object *latency;

	qp->name = get_string(row, "hca");
	qp->number = field_number(row, "qpn");
	qp->type = get_string(row, "type");
	qp->state = get_string(row, "state");
	qp->sq = completed(row, "send_queue");
	qp->rq = completed(row, "receive_queue");
	qp->value[QP_SENT] = field_number(row, "sent");
	qp->value[QP_RECEIVED] = field_number(row, "received");
	qp->value[QP_RETRIES] = field_number(row, "retries");
	qp->value[QP_ERRORS] = field_number(row, "errors");
	if (!json_object_object_get_ex(row, "latency", &latency))
		return;
	qp->measured = field_number(latency, "count");
	qp->mean = field_number(latency, "mean_ns");
	qp->p99 = field_number(latency, "p99_ns");
}

static void take_qps(struct sample *sample)
{
	unsigned int i, hca = 0;
	struct json_object *rows;

	sample->qps = take_rows(sample->replies[QPS], "qps", sizeof(*sample->qps), &sample->num_qps,
				&rows);
	for (i = 0; sample->qps && i < sample->num_qps; i++) {
		struct sample_qp *qp = &sample->qps[i];

		take_qp(qp, json_object_array_get_idx(rows, i));
		while (hca + 1 < sample->num_hcas && strcmp(sample->hcas[hca].name, qp->name) != 0)
			hca++;
		qp->hca = hca;
		sample->hcas[hca].qps++;
		sample->hcas[hca].in_error += !strcmp(qp->state, "ERR");
	}
}

uint64_t sample_since(uint64_t now, uint64_t before)
{
	return now < before ? now : now - before;
}

static void rate_ports(struct sample *sample, const struct sample *before)
{
	unsigned int i, j;

	for (i = 0; i < sample->num_ports && i < before->num_ports; i++) {
		struct sample_port *port = &sample->ports[i];

		for (j = 0; j < PORT_VALUES; j++)
			port->rate[j] = sample_since(port->value[j], before->ports[i].value[j]) /
					sample->seconds;
	}
}

int sample_order(const struct sample_qp *a, const struct sample_qp *b)
{
	if (a->hca != b->hca)
		return a->hca < b->hca ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void rate_qps(struct sample *sample, const struct sample *before)
{
	static const struct sample_qp none;
	const struct sample_qp *old;
	unsigned int i, j, at = 0;

	for (i = 0; i < sample->num_qps; i++) {
		struct sample_qp *qp = &sample->qps[i];

		while (at < before->num_qps && sample_order(&before->qps[at], qp) < 0)
			at++;
		qp->is_new = at == before->num_qps || sample_order(&before->qps[at], qp) != 0;
		old = qp->is_new ? &none : &before->qps[at];
		for (j = 0; j < QP_VALUES; j++)
			qp->rate[j] = sample_since(qp->value[j], old->value[j]) / sample->seconds;
		qp->rate[QP_MESSAGES] =
			((uint32_t)(qp->sq - old->sq) + (double)(uint32_t)(qp->rq - old->rq)) /
			sample->seconds;
		/* Its queues have begun again. */
		if (qp->sq < old->sq && !qp->sq)
			qp->rate[QP_MESSAGES] = 0;
	}
}

static struct json_object *ask(int fd, const char *command, const char *hca)
{
	struct json_object *args = json_object_new_object();

	if (hca)
		json_object_object_add(args, "hca", json_object_new_string(hca));
	return talk_all(fd, command, args);
}

struct sample *sample_take(int fd, const char *hca, const struct sample *before, int *status)
{
	static const char *const commands[SAMPLE_REPLIES] = {"version", "show-hcas", "show-ports",
							     "show-totals", "show-qps"};
	struct sample *sample = calloc(1, sizeof(*sample));
	unsigned int i;

	*status = EXIT_FAILURE;
	for (i = 0; sample && i < SAMPLE_REPLIES; i++) {
		sample->replies[i] = ask(fd, commands[i], i < PORTS ? NULL : hca);
		if (!sample->replies[i])
			break;
		if (i == HCAS && !take_hcas(sample, hca)) {
			*status = usage_bad("there is no HCA ", hca ?: "");
			break;
		}
	}
	if (!sample || i < SAMPLE_REPLIES) {
		sample_free(sample);
		return NULL;
	}
	*status = EXIT_SUCCESS;
	sample->time = sample_clock(CLOCK_REALTIME);
	sample->clock = sample_clock(CLOCK_MONOTONIC);
	sample->interface = get_string(sample->replies[VERSION], "interface");
	sample->pid = field_number(sample->replies[VERSION], "pid");
	take_ports(sample);
	take_qps(sample);
	if (before) {
		sample->seconds = sample->clock - before->clock;
		rate_ports(sample, before);
		rate_qps(sample, before);
	}
	return sample;
}

struct sample *sample_next(int fd, const char *hca, double seconds, const struct sample *before,
			   int *status)
{
	struct timespec ts = {seconds, (seconds - (time_t)seconds) * 1e9};

	nanosleep(&ts, NULL);
	return sample_take(fd, hca, before, status);
}

void sample_free(struct sample *sample)
{
	unsigned int i;

	if (!sample)
		return;
	for (i = 0; i < SAMPLE_REPLIES; i++)
		json_object_put(sample->replies[i]);
	free(sample->hcas);
	free(sample->ports);
	free(sample->qps);
	free(sample);
}

/* Order */

static const struct sample_qp *at(const void *p)
{
	return *(const struct sample_qp *const *)p;
}

/* The greater value comes first; of equal ones the first queue pair. */
static int compare(const void *a, const void *b, double x, double y)
{
	if (x != y)
		return x > y ? -1 : 1;
	return sample_order(at(a), at(b));
}

static double traffic(const struct sample_qp *qp)
{
	return qp->rate[QP_SENT] + qp->rate[QP_RECEIVED];
}

static int by_traffic(const void *a, const void *b)
{
	return compare(a, b, traffic(at(a)), traffic(at(b)));
}

static int by_messages(const void *a, const void *b)
{
	return compare(a, b, at(a)->rate[QP_MESSAGES], at(b)->rate[QP_MESSAGES]);
}

static int by_retries(const void *a, const void *b)
{
	return compare(a, b, at(a)->value[QP_RETRIES], at(b)->value[QP_RETRIES]);
}

static int by_errors(const void *a, const void *b)
{
	return compare(a, b, at(a)->value[QP_ERRORS], at(b)->value[QP_ERRORS]);
}

static int by_latency(const void *a, const void *b)
{
	return compare(a, b, at(a)->mean, at(b)->mean);
}

static int by_number(const void *a, const void *b)
{
	return sample_order(at(a), at(b));
}

const struct sample_key sample_keys[] = {
	{"traffic", by_traffic},
	{"messages", by_messages},
	{"retries", by_retries},
	{"errors", by_errors},
	{"latency", by_latency},
	{"number", by_number},
	{NULL, NULL},
};

const struct sample_key *sample_key(const char *name)
{
	const struct sample_key *key;

	for (key = sample_keys; key->name; key++) {
		if (!strcmp(key->name, name))
			return key;
	}
	return NULL;
}

const struct sample_qp **sample_sort(const struct sample *sample, const struct sample_key *key)
{
	const struct sample_qp **list = calloc(sample->num_qps + 1, sizeof(*list));
	unsigned int i;

	for (i = 0; list && i < sample->num_qps; i++)
		list[i] = &sample->qps[i];
	if (list)
		qsort(list, sample->num_qps, sizeof(*list), key->compare);
	return list;
}
