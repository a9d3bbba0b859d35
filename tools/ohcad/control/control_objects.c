// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the control socket that show an HCA's ports and its objects.  If there are many, a
 * reply has some of them, and "next"; the next request continues there with "from".
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "fabric/ib_port.h"
#include "fabric/link_layer.h"
#include "fabric/owner.h"
#include "fabric/port.h"
#include "control/control_cmd.h"
#include "device/counters.h"
#include "device/hca.h"
#include "eth/netdev.h"
#include "qp/qp.h"
#include "qp/qp_latency.h"
#include "transport/rc.h"

/* Less than a hundred microseconds to make */
#define OBJECTS_PER_REPLY 16
#define PORTS_PER_REPLY 4 /* with up to PORT_GIDS rows each */

enum {
	ARG_HCA,
	ARG_FROM
};

/**
 * struct kind - a kind of objects
 * @max: so many in a reply
 * @next: the next one with a number of at least *@id, which is set to its number, or NULL
 * @put: add what is shown of one to an object
 */
struct kind {
	const char *name;
	unsigned int max;
	const void *(*next)(const struct hca *hca, uint32_t *id);
	void (*put)(struct json_object *row, const void *object);
};

/* Show the objects of one HCA or of all, from where the last reply ended. */
static int show(struct control_call *call, const struct kind *kind)
{
	struct json_object *rows = control_put_array(call->result, kind->name), *row;
	const struct control_env *env = call->env;
	const char *from = call->value[ARG_FROM].string;
	unsigned int left = kind->max;
	uint32_t i = 0, id = 0;
	const void *object;
	char next[32];
	int end = 0;

	if (from && (sscanf(from, "%" SCNu32 ":%" SCNu32 "%n", &i, &id, &end) != 2 || from[end]))
		return control_error(call, EINVAL, "from is not what a reply had");
	for (; i < env->num_hcas; i++, id = 0) {
		if (call->value[ARG_HCA].given && call->value[ARG_HCA].hca != env->hcas[i])
			continue;
		for (; (object = kind->next(env->hcas[i], &id)); id++) {
			if (!left--) {
				snprintf(next, sizeof(next), "%" PRIu32 ":%" PRIu32, i, id);
				control_put_string(call->result, "next", next);
				return 0;
			}
			row = control_put_row(rows);
			control_put_string(row, "hca", env->hcas[i]->name);
			kind->put(row, object);
		}
	}
	return 0;
}

/* Ports */

static const void *next_port(const struct hca *hca, uint32_t *id)
{
	return *id < hca->num_ports ? hca->ports[*id] : NULL;
}

static void put_gids(struct json_object *row, const struct port *port)
{
	struct json_object *gids = control_put_array(row, "gids");
	unsigned int i;

	for (i = 0; i < PORT_GIDS; i++) {
		const struct gid_entry *entry = &port->gids[i];

		if (entry->type == OHCA_GID_NONE)
			continue;
		row = control_put_row(gids);
		control_put_number(row, "index", i);
		control_put_gid(row, "gid", entry->gid);
		control_put_mac(row, "mac", entry->mac);
		if (entry->vlan != OHCA_VLAN_NONE)
			control_put_number(row, "vlan", entry->vlan);
	}
}

const char *control_ib_state(const struct ib_port *ib)
{
	static const char *const names[] = {
		[IB_PORT_DOWN] = "Down",
		[IB_PORT_INIT] = "Initialize",
		[IB_PORT_ARMED] = "Armed",
		[IB_PORT_ACTIVE] = "Active",
	};

	return names[ib->state];
}

static void put_tables(struct json_object *port, const struct ib_port *ib)
{
	struct json_object *gids = control_put_array(port, "gids"), *row;
	struct json_object *pkeys = control_put_array(port, "pkeys");
	unsigned int i;

	for (i = 0; i < IB_PORT_GUIDS; i++) {
		if (!ib->guids[i])
			continue;
		row = control_put_row(gids);
		control_put_number(row, "index", i);
		control_put_gid(row, "gid", ib->gids[i]);
	}
	for (i = 0; i < IB_PORT_PKEYS; i++) {
		if (!ib->pkeys[i])
			continue;
		row = control_put_row(pkeys);
		control_put_number(row, "index", i);
		control_put_number(row, "pkey", ib->pkeys[i]);
	}
}

static void put_ib_port(struct json_object *row, const struct ib_port *ib)
{
	control_put_string(row, "port_state", control_ib_state(ib));
	control_put_string(row, "speed", ib_speed_name(&ib->active));
	control_put_number(row, "width", ib_width_lanes(&ib->active));
	control_put_number(row, "lid", ib->lid);
	control_put_number(row, "lmc", ib->lmc);
	control_put_number(row, "sm_lid", ib->sm_lid);
	control_put_number(row, "sm_sl", ib->sm_sl);
	control_put_number(row, "max_mtu", PKT_MAX_MTU);
	control_put_number(row, "refused_lids", ib->port->refused.lids);
	put_tables(row, ib);
}

/* The addresses that were learned, of those in @list */
static void put_learned(struct json_object *rows, const struct list *list, const struct port *port)
{
	const struct list *node;

	for (node = list->next; node != list; node = node->next) {
		const struct owned_mac *entry = list_entry(node, struct owned_mac, by_owner);
		struct json_object *row;

		if (entry->at != port)
			continue;
		row = control_put_row(rows);
		control_put_mac(row, "mac", entry->mac);
		control_put_bool(row, "in_use", entry->uses);
	}
}

/* Whose addresses the port may use, and what it was refused */
static void put_security(struct json_object *row, const struct port *port)
{
	const struct owner *owner = port->hca->owner;
	const struct port_refused *refused = &port->refused;
	struct json_object *learned;

	control_put_string(row, "trust", owner->trust_all ? "all" : "own");
	control_put_bool(row, "mirror", owner->mirror);
	control_put_number(row, "refused_frames", refused->frames);
	control_put_number(row, "refused_packets", refused->packets);
	control_put_number(row, "refused_addresses", refused->addresses);
	learned = control_put_array(row, "learned");
	put_learned(learned, &owner->held, port);
	put_learned(learned, &owner->idle, port);
}

const char *control_link_name(uint8_t link)
{
	return link == OHCA_LINK_INFINIBAND ? "infiniband" : "ethernet";
}

static void put_port(struct json_object *row, const void *object)
{
	const struct port *port = object;
	uint8_t next = port->hca->next_links[port->num - 1];

	control_put_number(row, "port", port->num);
	control_put_string(row, "state", port->active ? "active" : "down");
	control_put_string(row, "cable", port->cable ? "in" : "out");
	control_put_string(row, "link", control_link_name(port->ops->type));
	if (next != port->ops->type)
		control_put_string(row, "next_link", control_link_name(next));
	if (port->ib) {
		put_ib_port(row, port->ib);
		return;
	}
	control_put_bool(row, "admin_up", port->admin_up);
	control_put_mac(row, "mac", port->mac);
	control_put_bool(row, "promisc", port->promisc);
	control_put_bool(row, "large_rx", port->large_rx);
	control_put_bool(row, "netdev", port->netdev->qp);
	control_put_number(row, "max_mtu", PKT_MAX_MTU);
	control_put_number(row, "max_frame", PORT_MAX_FRAME);
	put_security(row, port);
	put_gids(row, port);
}

int control_show_ports(struct control_call *call)
{
	static const struct kind kind = {"ports", PORTS_PER_REPLY, next_port, put_port};

	return show(call, &kind);
}

/* Queue pairs */

static const char *const qp_types[] = {
	[OHCA_QPT_SMI] = "SMI",		[OHCA_QPT_GSI] = "GSI",		[OHCA_QPT_RC] = "RC",
	[OHCA_QPT_UC] = "UC",		[OHCA_QPT_UD] = "UD",		[OHCA_QPT_ETH] = "ETH",
	[OHCA_QPT_XRC_INI] = "XRC_INI", [OHCA_QPT_XRC_TGT] = "XRC_TGT", [OHCA_QPT_RWQ] = "RWQ",
	[OHCA_QPT_RSS] = "RSS",		[OHCA_QPT_TM] = "TM",
};

static const char *const qp_states[] = {
	[OHCA_QPS_RESET] = "RESET", [OHCA_QPS_INIT] = "INIT", [OHCA_QPS_RTR] = "RTR",
	[OHCA_QPS_RTS] = "RTS",	    [OHCA_QPS_SQD] = "SQD",   [OHCA_QPS_SQE] = "SQE",
	[OHCA_QPS_ERR] = "ERR",
};

static const void *next_qp(const struct hca *hca, uint32_t *id)
{
	return table_next(&hca->qps, id);
}

static struct json_object *add_object(struct json_object *row, const char *name)
{
	struct json_object *obj = json_object_new_object();

	json_object_object_add(row, name, obj);
	return obj;
}

static void put_wq(struct json_object *row, const char *name, const struct wq *wq)
{
	struct json_object *obj;

	if (!wq_exists(wq))
		return;
	obj = add_object(row, name);
	control_put_number(obj, "posted", wq->pi);
	control_put_number(obj, "begun", wq->next);
	control_put_number(obj, "completed", wq->done);
}

static void put_peer(struct json_object *row, const struct qp *qp)
{
	control_put_number(row, "peer_qpn", qp->dest_qpn);
	control_put_gid(row, "peer_gid", qp->attr.av.dgid);
	control_put_bool(row, "wire", qp->egress);
	if (qp_is(qp, QPT_REQUESTER) && qp->state >= OHCA_QPS_RTS) {
		control_put_number(row, "psn", requester_next_psn(qp));
		control_put_number(row, "unacked_psn", rc_req(qp)->una);
		control_put_number(row, "retry_left", rc_req(qp)->retry_left);
	}
	if (!qp_is(qp, QPT(OHCA_QPT_XRC_INI)))
		control_put_number(row, "expected_psn", rc_resp(qp)->epsn);
}

/* The longest time of the bucket that has the time which @percent of all do not exceed; 0: it has no limit */
static uint64_t percentile(const struct latency *latency, unsigned int percent)
{
	uint64_t sum = 0, want = (latency->count * percent + 99) / 100;
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS - 1; i++) {
		sum += latency->bucket[i];
		if (sum >= want)
			break;
	}
	return latency_limit(i);
}

static void put_percentile(struct json_object *row, const char *name, const struct latency *latency,
			   unsigned int percent)
{
	uint64_t limit = percentile(latency, percent);

	if (limit)
		control_put_number(row, name, limit);
}

static void put_summary(struct json_object *row, const struct latency *latency)
{
	control_put_number(row, "count", latency->count);
	control_put_number(row, "mean_ns", latency->sum / latency->count);
	put_percentile(row, "p50_ns", latency, 50);
	put_percentile(row, "p99_ns", latency, 99);
	put_percentile(row, "max_ns", latency, 100);
}

static void put_qp(struct json_object *row, const void *object)
{
	const struct qp *qp = object;
	const struct latency *latency = qp_latency_of(qp);

	control_put_number(row, "qpn", qp->id);
	control_put_string(row, "type", qp_types[qp->type]);
	control_put_string(row, "state", qp_states[qp->state]);
	control_put_number(row, "counters", qp->counters->id);
	control_put_number(row, "port", qp->port->num);
	control_put_number(row, "sent", qp->sent);
	control_put_number(row, "received", qp->received);
	control_put_number(row, "retries", qp->retries);
	control_put_number(row, "errors", qp->errors);
	if (qp->state >= OHCA_QPS_RTR && qp_is(qp, QPT_CONNECTED))
		put_peer(row, qp);
	put_wq(row, "send_queue", &qp->sq.wq);
	put_wq(row, "receive_queue", &qp->rq.wq);
	if (latency && latency->count)
		put_summary(add_object(row, "latency"), latency);
}

int control_show_qps(struct control_call *call)
{
	static const struct kind kind = {"qps", OBJECTS_PER_REPLY, next_qp, put_qp};

	return show(call, &kind);
}

/* Latencies */

static void put_buckets(struct json_object *row, const struct latency *latency)
{
	struct json_object *rows = control_put_array(row, "buckets"), *bucket;
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS; i++) {
		if (!latency->bucket[i])
			continue;
		bucket = control_put_row(rows);
		if (latency_limit(i))
			control_put_number(bucket, "up_to_ns", latency_limit(i));
		control_put_number(bucket, "count", latency->bucket[i]);
	}
}

static void put_latency(struct json_object *row, const void *object)
{
	static const struct latency none;
	const struct qp *qp = object;
	const struct latency *latency = qp_latency_of(qp) ?: &none;

	control_put_number(row, "qpn", qp->id);
	control_put_string(row, "type", qp_types[qp->type]);
	if (latency->count)
		put_summary(row, latency);
	else
		control_put_number(row, "count", 0);
	put_buckets(row, latency);
}

int control_show_latency(struct control_call *call)
{
	static const struct kind kind = {"latency", OBJECTS_PER_REPLY, next_qp, put_latency};

	return show(call, &kind);
}

/* Sets of counters */

/* The driver has the same names. */
static const char *const counter_names[OHCA_NUM_COUNTERS] = {
	[OHCA_CNT_TX_PKTS] = "tx_packets",
	[OHCA_CNT_TX_BYTES] = "tx_bytes",
	[OHCA_CNT_RX_PKTS] = "rx_packets",
	[OHCA_CNT_RX_BYTES] = "rx_bytes",
	[OHCA_CNT_TX_MCAST] = "tx_multicast_packets",
	[OHCA_CNT_RX_MCAST] = "rx_multicast_packets",
	[OHCA_CNT_RX_WRITES] = "rx_write_requests",
	[OHCA_CNT_RX_READS] = "rx_read_requests",
	[OHCA_CNT_RX_ATOMICS] = "rx_atomic_requests",
	[OHCA_CNT_OUT_OF_BUFFER] = "out_of_buffer",
	[OHCA_CNT_OUT_OF_SEQUENCE] = "out_of_sequence",
	[OHCA_CNT_DUPLICATES] = "duplicate_request",
	[OHCA_CNT_PKT_SEQ_ERR] = "packet_seq_err",
	[OHCA_CNT_RNR_NAKS] = "rnr_nak_received",
	[OHCA_CNT_TIMEOUTS] = "local_ack_timeout_err",
	[OHCA_CNT_REQ_ERRORS] = "req_cqe_error",
	[OHCA_CNT_REQ_FLUSHED] = "req_cqe_flush_error",
	[OHCA_CNT_RESP_ERRORS] = "resp_cqe_error",
	[OHCA_CNT_RESP_FLUSHED] = "resp_cqe_flush_error",
	[OHCA_CNT_RESP_ACCESS_ERRORS] = "resp_remote_access_errors",
	[OHCA_CNT_RESP_INVALID] = "resp_remote_invalid_request",
	[OHCA_CNT_RX_DROPPED] = "rx_dropped_datagrams",
	[OHCA_CNT_RX_MARKED] = "cc_rx_ce_pkts",
	[OHCA_CNT_RX_CNPS] = "cc_rx_cnp_pkts",
	[OHCA_CNT_PAGE_FAULTS] = "page_faults",
	[OHCA_CNT_ETH_NO_BUFFER] = "rx_no_buffer",
	[OHCA_CNT_ETH_WAITED] = "tx_waited",
	[OHCA_CNT_ETH_REFUSED] = "tx_refused",
};

const char *control_counter_name(enum ohca_counter counter)
{
	return counter_names[counter];
}

/* Those of the ports come first. */
static const void *next_counters(const struct hca *hca, uint32_t *id)
{
	uint32_t set = *id - hca->num_ports + 1;
	const struct counters *counters;

	if (*id < hca->num_ports)
		return &hca->port_counters[*id];
	counters = table_next(&hca->counters, &set);
	*id = set + hca->num_ports - 1;
	return counters;
}

static void put_values(struct json_object *row, const struct counters *counters)
{
	struct json_object *values = add_object(row, "values");
	unsigned int i;

	for (i = 0; i < OHCA_NUM_COUNTERS; i++) {
		if (counter_names[i])
			control_put_number(values, counter_names[i], counters->value[i]);
	}
}

static void put_counters(struct json_object *row, const void *object)
{
	const struct counters *counters = object;

	control_put_number(row, "port", counters->port);
	control_put_number(row, "set", counters->id);
	if (counters->id)
		control_put_number(row, "qps", counters->refs);
	put_values(row, counters);
}

int control_show_counters(struct control_call *call)
{
	static const struct kind kind = {"counters", OBJECTS_PER_REPLY, next_counters,
					 put_counters};

	return show(call, &kind);
}

/* The sums of all sets of a port, those that are gone included */
static void put_totals(struct json_object *row, const void *object)
{
	const struct port *port = object;
	struct counters total;

	counters_total(port->hca, port->num, &total);
	control_put_number(row, "port", port->num);
	put_values(row, &total);
}

int control_show_totals(struct control_call *call)
{
	static const struct kind kind = {"totals", PORTS_PER_REPLY, next_port, put_totals};

	return show(call, &kind);
}

/* Quotas */

static const void *next_quota(const struct hca *hca, uint32_t *id)
{
	return *id < QUOTA_NUM ? &hca->quotas[*id] : NULL;
}

static void put_quota(struct json_object *row, const void *object)
{
	const struct quota *quota = object;

	control_put_string(row, "quota", quota_descs[quota->kind].name);
	control_put_number(row, "used", quota->used);
	control_put_number(row, "max", quota->max);
	control_put_number(row, "refused", quota->refused);
}

int control_show_quotas(struct control_call *call)
{
	static const struct kind kind = {"quotas", OBJECTS_PER_REPLY, next_quota, put_quota};

	return show(call, &kind);
}
