// SPDX-License-Identifier: GPL-2.0
/* Receive-side scaling: tables of receive queues, and the hash that chooses among them. */

#include <endian.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port.h"
#include "device/object.h"
#include "qp/qp.h"
#include "eth/netdev.h"
#include "eth/rss.h"
#include "eth/toeplitz.h"

/**
 * struct ind_tbl - an indirection table
 * @refs: QPs of type OHCA_QPT_RSS that use it
 * @wqs: 2^log_size receive work queues, or QPs of the netdev
 */
struct ind_tbl {
	uint32_t id;
	uint32_t refs;
	uint8_t log_size;
	struct qp *wqs[];
};

/**
 * struct rss_qp - a QP of type OHCA_QPT_RSS, which spreads frames over others
 * @tbl: those
 * @fields: OHCA_RSS_*
 */
struct rss_qp {
	struct qp qp;
	struct ind_tbl *tbl;
	uint16_t fields;
	uint8_t key[OHCA_RSS_KEY_LEN];
};

static struct rss_qp *rss_qp(const struct qp *qp)
{
	return list_entry(qp, struct rss_qp, qp);
}

/* What is hashed of a frame, to @input of TOEPLITZ_MAX_LEN bytes; returns how much it is. */
static size_t gather(uint16_t fields, const struct frame *frame, uint8_t *input)
{
	const struct ohca_flow_match *m = &frame->match.fields;
	bool ipv4 = m->ip_version == 4, ipv6 = m->ip_version == 6;
	bool tcp = frame->ports && m->ip_proto == IPPROTO_TCP;
	bool udp = frame->ports && m->ip_proto == IPPROTO_UDP;
	const struct {
		bool there;
		uint16_t field;
		const void *bytes;
		size_t len;
	} parts[] = {
		{ipv4, OHCA_RSS_SRC_IPV4, m->src_ip, 4},
		{ipv4, OHCA_RSS_DST_IPV4, m->dst_ip, 4},
		{ipv6, OHCA_RSS_SRC_IPV6, m->src_ip, 16},
		{ipv6, OHCA_RSS_DST_IPV6, m->dst_ip, 16},
		{tcp, OHCA_RSS_SRC_PORT_TCP, &m->src_port, 2},
		{tcp, OHCA_RSS_DST_PORT_TCP, &m->dst_port, 2},
		{udp, OHCA_RSS_SRC_PORT_UDP, &m->src_port, 2},
		{udp, OHCA_RSS_DST_PORT_UDP, &m->dst_port, 2},
	};
	size_t i, len = 0;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].there || !(fields & parts[i].field))
			continue;
		memcpy(input + len, parts[i].bytes, parts[i].len);
		len += parts[i].len;
	}
	return len;
}

struct qp *rss_queue(const struct qp *qp, const struct frame *frame)
{
	const struct rss_qp *rss = rss_qp(qp);
	uint8_t input[TOEPLITZ_MAX_LEN];
	size_t len = gather(rss->fields, frame, input);

	return rss->tbl->wqs[toeplitz(rss->key, input, len) & ((1U << rss->tbl->log_size) - 1)];
}

#define TBL_BAD(field, status) CMD_BAD(ctx, struct ohca_create_ind_tbl_in, field, status)

static enum ohca_cmd_status check_tbl(struct hca *hca, const struct ohca_create_ind_tbl_in *in,
				      struct cmd_ctx *ctx)
{
	const struct qp *first;
	uint32_t i, size;

	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return TBL_BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (in->log_size > HCA_LOG_MAX_IND_TBL)
		return TBL_BAD(log_size, OHCA_CMD_BAD_PARAM);
	size = 1U << in->log_size;
	if (!cmd_all_zero(in->wqn + size, sizeof(in->wqn) - size * sizeof(in->wqn[0])))
		return TBL_BAD(wqn, OHCA_CMD_BAD_PARAM);
	first = qp_get(hca, le32toh(in->wqn[0]));
	for (i = 0; i < size; i++) {
		const struct qp *wq = qp_get(hca, le32toh(in->wqn[i]));

		if (!wq)
			return TBL_BAD(wqn[i], OHCA_CMD_BAD_HANDLE);
		if ((wq->type != OHCA_QPT_RWQ && !qp_is_netdev(wq)) || wq->type != first->type)
			return TBL_BAD(wqn[i], OHCA_CMD_BAD_PARAM);
	}
	return OHCA_CMD_OK;
}

static size_t tbl_memory(uint8_t log_size)
{
	return sizeof(struct ind_tbl) + (sizeof(struct qp *) << log_size);
}

static void tbl_free(struct hca *hca, struct ind_tbl *tbl)
{
	quota_free(&hca->quotas[QUOTA_MEMORY], tbl_memory(tbl->log_size), tbl);
}

static enum ohca_cmd_status cmd_create_ind_tbl(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_ind_tbl_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct ind_tbl *tbl;
	uint32_t i;

	status = check_tbl(hca, in, ctx);
	if (status)
		return status;
	tbl = quota_calloc(&hca->quotas[QUOTA_MEMORY], tbl_memory(in->log_size),
			   tbl_memory(in->log_size));
	if (!tbl)
		return OHCA_CMD_NO_RESOURCE;
	tbl->log_size = in->log_size;
	if (table_add(&hca->ind_tbls, tbl, &tbl->id)) {
		tbl_free(hca, tbl);
		return OHCA_CMD_NO_RESOURCE;
	}
	for (i = 0; i < 1U << tbl->log_size; i++) {
		tbl->wqs[i] = qp_get(hca, le32toh(in->wqn[i]));
		tbl->wqs[i]->refs++;
	}
	out->id = htole32(tbl->id);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_destroy_ind_tbl(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct ind_tbl *tbl = table_get(&hca->ind_tbls, le32toh(in->id));
	uint32_t i;

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!tbl)
		return OHCA_CMD_BAD_HANDLE;
	if (tbl->refs)
		return OHCA_CMD_BUSY;
	for (i = 0; i < 1U << tbl->log_size; i++)
		tbl->wqs[i]->refs--;
	table_del(&hca->ind_tbls, tbl->id);
	tbl_free(hca, tbl);
	return OHCA_CMD_OK;
}

static void ind_tbl_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->ind_tbls, id);
	tbl_free(hca, object);
}

#define RSS_BAD(field, status) CMD_BAD(ctx, struct ohca_create_rss_in, field, status)

static enum ohca_cmd_status check_rss(struct hca *hca, const struct ohca_create_rss_in *in,
				      struct cmd_ctx *ctx)
{
	const struct ind_tbl *tbl = table_get(&hca->ind_tbls, le32toh(in->ind_tbl));
	const struct port *port = hca_port(hca, in->port);

	if (le16toh(in->fields) & ~OHCA_RSS_FIELDS)
		return RSS_BAD(fields, OHCA_CMD_BAD_PARAM);
	if (in->function != OHCA_RSS_TOEPLITZ)
		return RSS_BAD(function, OHCA_CMD_BAD_PARAM);
	if (!tbl)
		return RSS_BAD(ind_tbl, OHCA_CMD_BAD_HANDLE);
	if (qp_is_netdev(tbl->wqs[0]) ? !port || port->ib : in->port)
		return RSS_BAD(port, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

bool rss_is_netdev(const struct qp *qp)
{
	return qp_is_netdev(rss_qp(qp)->tbl->wqs[0]);
}

/* Neither receive work queues nor RSS QPs have a send queue to run. */
static bool no_run(struct qp *qp, uint32_t budget)
{
	(void)qp;
	(void)budget;
	return false;
}

static void rss_fini(struct qp *qp)
{
	struct netdev *netdev = qp->port->netdev;

	if (netdev->rss == qp)
		netdev->rss = NULL;
	rss_qp(qp)->tbl->refs--;
}

static const struct qp_ops rwq_ops = {.run = no_run};

const struct qp_type rwq_type = {
	.ops = &rwq_ops,
	.size = sizeof(struct qp),
	.type = OHCA_QPT_RWQ,
	.cap = OHCA_CAP_RSS,
	.feat = OHCA_FEAT_ETH,
	.recv = true,
};

static const struct qp_ops rss_ops = {.fini = rss_fini, .run = no_run};

static const struct qp_type rss_type = {
	.ops = &rss_ops, .size = sizeof(struct rss_qp), .type = OHCA_QPT_RSS};

static enum ohca_cmd_status cmd_create_rss(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_rss_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct rss_qp *rss;
	struct qp *qp;

	status = check_rss(hca, in, ctx);
	if (status)
		return status;
	qp = qp_new(hca, &rss_type, 0);
	if (!qp)
		return OHCA_CMD_NO_RESOURCE;
	rss = rss_qp(qp);
	rss->tbl = table_get(&hca->ind_tbls, le32toh(in->ind_tbl));
	rss->tbl->refs++;
	rss->fields = le16toh(in->fields);
	memcpy(rss->key, in->key, sizeof(rss->key));
	if (table_add(&hca->qps, qp, &qp->id)) {
		qp_free(qp);
		return OHCA_CMD_NO_RESOURCE;
	}
	if (in->port)
		qp->port = hca_port(hca, in->port);
	if (in->port)
		qp->port->netdev->rss = qp;
	out->id = htole32(qp->id);
	return OHCA_CMD_OK;
}

static int ind_tbl_init(struct hca *hca)
{
	return table_init(&hca->ind_tbls, 1, HCA_MAX_IND_TBL + 1);
}

static void ind_tbl_fini(struct hca *hca)
{
	table_fini(&hca->ind_tbls);
}

static const struct cmd_desc ind_tbl_cmds[] = {
	CMD_DESC(CREATE_IND_TBL, cmd_create_ind_tbl, sizeof(struct ohca_create_ind_tbl_in),
		 CMD_HANDLE_LEN, .cap = OHCA_CAP_RSS),
	CMD_DESC(DESTROY_IND_TBL, cmd_destroy_ind_tbl, CMD_HANDLE_LEN, 0, .cap = OHCA_CAP_RSS),
	CMD_DESC(CREATE_RSS, cmd_create_rss, sizeof(struct ohca_create_rss_in), CMD_HANDLE_LEN,
		 .cap = OHCA_CAP_RSS),
};

const struct object_class ind_tbl_class = {
	.init = ind_tbl_init,
	.fini = ind_tbl_fini,
	OBJECT_TABLE(ind_tbls, ind_tbl_drop),
	OBJECT_CMDS(ind_tbl_cmds),
};
