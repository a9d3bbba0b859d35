// SPDX-License-Identifier: GPL-2.0
/* Families of OpenMetrics. */

#include <inttypes.h>
#include <string.h>

#include "capture/capture.h"
#include "control/control_cmd.h"
#include "control/metrics.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/link_layer.h"
#include "fabric/port.h"
#include "fabric/uplink.h"
#include "ohca/ohca_regs.h"

#define NUM(array) (sizeof(array) / sizeof((array)[0]))
#define PREFIX "ohca_"

/**
 * struct family - metrics of one name
 * @type: as OpenMetrics has it
 * @hca, @port, @uplink: write the samples of each of these, or @all: of everything; the others are NULL
 */
struct family {
	const char *name;
	const char *type;
	const char *help;
	void (*hca)(FILE *out, const struct hca *hca);
	void (*port)(FILE *out, const struct port *port);
	void (*uplink)(FILE *out, const struct uplink *uplink);
	void (*all)(FILE *out, const struct control_env *env);
};

/* A label's value */
static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			putc(*text, out);
	}
}

/* NAME{hca="NAME"; the caller writes more labels and the value. */
static void put_hca(FILE *out, const char *name, const struct hca *hca)
{
	fprintf(out, PREFIX "%s{hca=\"", name);
	put_text(out, hca->name);
	putc('"', out);
}

static void put_port(FILE *out, const char *name, const struct port *port)
{
	put_hca(out, name, port->hca);
	fprintf(out, ",port=\"%u\"", port->num);
}

static void put_uplink(FILE *out, const char *name, const struct uplink *uplink, uint64_t value)
{
	fprintf(out, PREFIX "%s{uplink=\"", name);
	put_text(out, uplink->opts.name);
	fprintf(out, "\"} %" PRIu64 "\n", value);
}

static void put_info(FILE *out, const struct control_env *env)
{
	(void)env;
	fprintf(out, PREFIX "device_info{interface=\"%u.%u\"} 1\n", OHCA_VERSION_MAJOR,
		OHCA_VERSION_MINOR);
}

/* Adapters */

static void put_connected(FILE *out, const struct hca *hca)
{
	put_hca(out, "hca_connected", hca);
	fprintf(out, "} %d\n", pci_connected(hca->fn));
}

static void put_state(FILE *out, const struct hca *hca)
{
	const char *state = control_hca_state(hca);
	unsigned int i;

	for (i = 0; control_hca_states[i]; i++) {
		put_hca(out, "hca_state", hca);
		fprintf(out, "," PREFIX "hca_state=\"%s\"} %d\n", control_hca_states[i],
			!strcmp(state, control_hca_states[i]));
	}
}

static void put_broken_rules(FILE *out, const struct hca *hca)
{
	put_hca(out, "hca_broken_rules_total", hca);
	fprintf(out, "} %" PRIu32 "\n", hca->broken_rules);
}

static void put_qps(FILE *out, const struct hca *hca)
{
	put_hca(out, "hca_qps", hca);
	fprintf(out, "} %" PRIu32 "\n", hca->qps.count);
}

static void put_qps_in_error(FILE *out, const struct hca *hca)
{
	put_hca(out, "hca_qps_in_error", hca);
	fprintf(out, "} %" PRIu32 "\n", hca->in_error);
}

/* The numbers of a quota of each kind; @value: which of them */
static void put_quotas(FILE *out, const char *name, const struct hca *hca,
		       uint64_t (*value)(const struct quota *quota))
{
	unsigned int i;

	for (i = 0; i < QUOTA_NUM; i++) {
		put_hca(out, name, hca);
		fprintf(out, ",quota=\"%s\"} %" PRIu64 "\n", quota_descs[i].name,
			value(&hca->quotas[i]));
	}
}

static uint64_t quota_used(const struct quota *quota)
{
	return quota->used;
}

static uint64_t quota_max(const struct quota *quota)
{
	return quota->max;
}

static uint64_t quota_refused(const struct quota *quota)
{
	return quota->refused;
}

static void put_quota_used(FILE *out, const struct hca *hca)
{
	put_quotas(out, "hca_quota_used", hca, quota_used);
}

static void put_quota_max(FILE *out, const struct hca *hca)
{
	put_quotas(out, "hca_quota_max", hca, quota_max);
}

static void put_quota_refused(FILE *out, const struct hca *hca)
{
	put_quotas(out, "hca_quota_refused_total", hca, quota_refused);
}

/* An adapter whose latencies are not measured has no samples.  Buckets include the shorter times. */
static void put_latency(FILE *out, const struct hca *hca)
{
	uint64_t sum = 0;
	unsigned int i;

	if (!hca->measured_since)
		return;
	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		sum += hca->latency.bucket[i];
		put_hca(out, "hca_send_latency_seconds_bucket", hca);
		fprintf(out, ",le=\"%.9f\"} %" PRIu64 "\n", latency_limit(i) / 1e9, sum);
	}
	put_hca(out, "hca_send_latency_seconds_bucket", hca);
	fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", hca->latency.count);
	put_hca(out, "hca_send_latency_seconds_count", hca);
	fprintf(out, "} %" PRIu64 "\n", hca->latency.count);
	put_hca(out, "hca_send_latency_seconds_sum", hca);
	fprintf(out, "} %.9f\n", hca->latency.sum / 1e9);
}

/* Ports */

static void put_active(FILE *out, const struct port *port)
{
	put_port(out, "port_active", port);
	fprintf(out, ",link=\"%s\"} %d\n", control_link_name(port->ops->type), port->active);
}

static void put_cable(FILE *out, const struct port *port)
{
	put_port(out, "port_cable", port);
	fprintf(out, "} %d\n", port->cable);
}

/* Uplinks */

static void put_up(FILE *out, const struct uplink *uplink)
{
	put_uplink(out, "uplink_up", uplink, uplink->up);
}

static void put_queued(FILE *out, const struct uplink *uplink)
{
	put_uplink(out, "uplink_queued_bytes", uplink, uplink->tx_end - uplink->tx_start);
}

static void put_in(FILE *out, const struct uplink *uplink)
{
	put_uplink(out, "uplink_in_total", uplink, uplink->in);
}

static void put_out(FILE *out, const struct uplink *uplink)
{
	put_uplink(out, "uplink_out_total", uplink, uplink->out);
}

static void put_dropped(FILE *out, const struct uplink *uplink)
{
	put_uplink(out, "uplink_dropped_total", uplink, uplink->dropped);
}

static const struct family families[] = {
	{"device", "info", "The version of the hardware interface", .all = put_info},
	{"hca_connected", "gauge", "Whether a machine is connected", .hca = put_connected},
	{"hca_state", "stateset", "State of the adapter", .hca = put_state},
	{"hca_broken_rules", "counter", "How often software has broken a rule of the specification",
	 .hca = put_broken_rules},
	{"hca_qps", "gauge", "Queue pairs", .hca = put_qps},
	{"hca_qps_in_error", "gauge", "Queue pairs in the error state", .hca = put_qps_in_error},
	{"hca_quota_used", "gauge", "What the machine uses of the process", .hca = put_quota_used},
	{"hca_quota_max", "gauge", "What it may use", .hca = put_quota_max},
	{"hca_quota_refused", "counter", "How often more was asked for", .hca = put_quota_refused},
	{"hca_send_latency_seconds", "histogram",
	 "Time from a send work request to its completion, while it is measured",
	 .hca = put_latency},
	{"port_active", "gauge", "Whether the port is active", .port = put_active},
	{"port_cable", "gauge", "Whether the cable is plugged in", .port = put_cable},
	{"uplink_up", "gauge", "Whether frames can be sent", .uplink = put_up},
	{"uplink_queued_bytes", "gauge", "Bytes that the socket has not accepted yet",
	 .uplink = put_queued},
	{"uplink_in", "counter", "Frames or packets received", .uplink = put_in},
	{"uplink_out", "counter", "Frames or packets sent", .uplink = put_out},
	{"uplink_dropped", "counter", "Frames lost here", .uplink = put_dropped},
};

/* After these come the counters of ports, a family each. */
unsigned int metrics_families(void)
{
	return NUM(families) + OHCA_NUM_COUNTERS;
}

static void for_each_port(FILE *out, const struct hca *hca, const struct family *family)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++)
		family->port(out, hca->ports[i]);
}

static void for_each_uplink(FILE *out, const struct control_env *env, const struct family *family)
{
	const struct uplinks *uplinks = env->fabric->uplinks;
	const struct list *node;

	for (node = uplinks ? uplinks->list.next : NULL; node && node != &uplinks->list;
	     node = node->next)
		family->uplink(out, list_entry(node, struct uplink, link));
}

/* The sums of all sets of a counter, those that are gone included */
static void put_counter(FILE *out, const struct control_env *env, enum ohca_counter what)
{
	const char *name = control_counter_name(what);
	struct counters total;
	unsigned int i, port;
	char sample[64];

	if (!name)
		return;
	snprintf(sample, sizeof(sample), "port_%s_total", name);
	fprintf(out, "# TYPE " PREFIX "port_%s counter\n", name);
	fprintf(out, "# HELP " PREFIX "port_%s The counter %s of all queue pairs of the port\n",
		name, name);
	for (i = 0; i < env->num_hcas; i++) {
		for (port = 0; port < env->hcas[i]->num_ports; port++) {
			counters_total(env->hcas[i], port + 1, &total);
			put_port(out, sample, env->hcas[i]->ports[port]);
			fprintf(out, "} %" PRIu64 "\n", total.value[what]);
		}
	}
}

static void put_family(FILE *out, const struct control_env *env, const struct family *family)
{
	unsigned int i;

	fprintf(out, "# TYPE " PREFIX "%s %s\n", family->name, family->type);
	fprintf(out, "# HELP " PREFIX "%s %s\n", family->name, family->help);
	for (i = 0; (family->hca || family->port) && i < env->num_hcas; i++) {
		if (family->hca)
			family->hca(out, env->hcas[i]);
		else
			for_each_port(out, env->hcas[i], family);
	}
	if (family->uplink)
		for_each_uplink(out, env, family);
	if (family->all)
		family->all(out, env);
}

void metrics_write(FILE *out, const struct control_env *env, unsigned int family)
{
	if (family < NUM(families))
		put_family(out, env, &families[family]);
	else
		put_counter(out, env, family - NUM(families));
}
