// SPDX-License-Identifier: GPL-2.0
/* Commands on queue pairs: attributes and states. */

#include <endian.h>

#include "device/object.h"
#include "device/profile.h"
#include "device/strict.h"
#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "fabric/link_layer.h"
#include "qp/qp.h"
#include "qp/qp_mig.h"

static enum ohca_cmd_status cmd_query_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct ohca_query_qp_out *out = ctx->out;
	struct qp *qp = qp_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!qp)
		return OHCA_CMD_BAD_HANDLE;
	out->attr = qp->attr;
	out->attr.state = qp->state;
	out->attr.cur_state = qp->state;
	out->attr.sq_draining = qp->state == OHCA_QPS_SQD && !qp_drained(qp);
	if (qp->ops->query)
		qp->ops->query(qp, &out->attr);
	return OHCA_CMD_OK;
}

#define MIGRATION (OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE)

#define BAD(field) CMD_BAD(ctx, struct ohca_modify_qp_in, attr.field, OHCA_CMD_BAD_PARAM)

/* @at: where it is in the input */
static enum ohca_cmd_status check_av(const struct port *port, const struct ohca_av *av, size_t at,
				     struct cmd_ctx *ctx)
{
	int bad = port->ops->check_av(port, av);

	if (bad < 0)
		return OHCA_CMD_OK;
	ctx->syndrome = at + bad;
	return OHCA_CMD_BAD_PARAM;
}

static enum ohca_cmd_status check_alt_path(struct hca *hca, const struct ohca_qp_attr *attr,
					   struct cmd_ctx *ctx)
{
	const struct port *port = hca_port(hca, attr->alt_port);

	if (!port || !port->ib)
		return BAD(alt_port);
	if (le16toh(attr->alt_pkey_index) >= port_num_pkeys(port))
		return BAD(alt_pkey_index);
	if (attr->alt_timeout > 31)
		return BAD(alt_timeout);
	return check_av(port, &attr->alt_av, offsetof(struct ohca_modify_qp_in, attr.alt_av), ctx);
}

/* The device alone arms a QP, and one that waits for its peer does not migrate. */
static enum ohca_cmd_status check_mig_state(const struct qp *qp, const struct ohca_qp_attr *attr,
					    uint32_t mask, struct cmd_ctx *ctx)
{
	uint8_t from = qp->attr.path_mig_state, to = attr->path_mig_state;

	if (to != OHCA_MIG_MIGRATED && to != OHCA_MIG_REARM)
		return BAD(path_mig_state);
	if (to == OHCA_MIG_MIGRATED && from == OHCA_MIG_REARM)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr.path_mig_state,
			       OHCA_CMD_BAD_STATE);
	if (to == OHCA_MIG_MIGRATED && from == OHCA_MIG_ARMED && !(mask & OHCA_QP_ALT_PATH) &&
	    !qp_mig_is_possible(qp))
		return BAD(path_mig_state);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_migration(const struct qp *qp, const struct ohca_qp_attr *attr,
					    uint32_t mask, struct cmd_ctx *ctx)
{
	enum ohca_cmd_status status = OHCA_CMD_OK;

	if (mask & OHCA_QP_ALT_PATH)
		status = check_alt_path(qp->hca, attr, ctx);
	if (!status && mask & OHCA_QP_PATH_MIG_STATE)
		status = check_mig_state(qp, attr, mask, ctx);
	return status;
}

/* Which port the QP will have, or NULL */
static struct port *port_after(const struct qp *qp, const struct ohca_qp_attr *attr, uint32_t mask)
{
	return mask & OHCA_QP_PORT ? hca_port(qp->hca, attr->port) : qp->port;
}

/* A port, and what depends on it: the other port's P_Keys, addresses and counters are not the QP's. */
static enum ohca_cmd_status check_port(const struct qp *qp, const struct ohca_qp_attr *attr,
				       uint32_t mask, struct cmd_ctx *ctx)
{
	const struct port *port = port_after(qp, attr, mask);
	const struct counters *set = counters_get(qp->hca, le32toh(attr->counters));

	if (!port || (mask & OHCA_QP_PORT && qp->type == OHCA_QPT_ETH && port->ib))
		return BAD(port);
	if (mask & OHCA_QP_COUNTERS && attr->counters && !set)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr.counters, OHCA_CMD_BAD_HANDLE);
	if (mask & OHCA_QP_COUNTERS && attr->counters && set->port != port->num &&
	    qp->state != OHCA_QPS_RESET)
		return BAD(counters);
	if (mask & OHCA_QP_PKEY_INDEX && le16toh(attr->pkey_index) >= port_num_pkeys(port))
		return BAD(pkey_index);
	if (mask & MIGRATION && !port->ib)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr_mask, OHCA_CMD_UNSUPPORTED);
	if (mask & OHCA_QP_AV)
		return check_av(port, &attr->av, offsetof(struct ohca_modify_qp_in, attr.av), ctx);
	return OHCA_CMD_OK;
}

/* The values of the attributes that the mask names. */
static enum ohca_cmd_status check_attr(const struct qp *qp, const struct ohca_qp_attr *attr,
				       uint32_t mask, struct cmd_ctx *ctx)
{
	if (attr->sq_draining)
		return BAD(sq_draining);
	if (mask & OHCA_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify > 1)
		return BAD(en_sqd_async_notify);
	if (mask & OHCA_QP_ACCESS_FLAGS &&
	    attr->access & ~(OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ |
			     OHCA_ACCESS_REMOTE_ATOMIC))
		return BAD(access);
	if (mask & OHCA_QP_QKEY && qp->type == OHCA_QPT_GSI && le32toh(attr->qkey) != QKEY_GSI)
		return BAD(qkey);
	if (mask & OHCA_QP_QKEY && qp->type == OHCA_QPT_SMI && le32toh(attr->qkey) != QKEY_SMI)
		return BAD(qkey);
	if (mask & OHCA_QP_PATH_MTU && (attr->path_mtu < 1 || attr->path_mtu > 5))
		return BAD(path_mtu);
	if (mask & OHCA_QP_TIMEOUT && attr->timeout > 31)
		return BAD(timeout);
	if (mask & OHCA_QP_RETRY_CNT && attr->retry_cnt > 7)
		return BAD(retry_cnt);
	if (mask & OHCA_QP_RNR_RETRY && attr->rnr_retry > 7)
		return BAD(rnr_retry);
	if (mask & OHCA_QP_RQ_PSN && le32toh(attr->rq_psn) > PSN_MASK)
		return BAD(rq_psn);
	if (mask & OHCA_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > qp->hca->profile->max_rd_atomic)
		return BAD(max_rd_atomic);
	if (mask & OHCA_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return BAD(min_rnr_timer);
	if (mask & OHCA_QP_SQ_PSN && le32toh(attr->sq_psn) > PSN_MASK)
		return BAD(sq_psn);
	if (mask & OHCA_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > qp->hca->profile->max_rd_atomic)
		return BAD(max_dest_rd_atomic);
	if (mask & OHCA_QP_DEST_QPN && le32toh(attr->dest_qpn) > 0xffffff)
		return BAD(dest_qpn);
	return check_port(qp, attr, mask, ctx);
}

/* Set the attributes that the mask names. */
static void set_attr(struct qp *qp, const struct ohca_qp_attr *attr, uint32_t mask)
{
	struct ohca_qp_attr *to = &qp->attr;

#define SET(bit, field)                          \
	do {                                     \
		if (mask & (bit))                \
			to->field = attr->field; \
	} while (0)
	SET(OHCA_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	SET(OHCA_QP_ACCESS_FLAGS, access);
	SET(OHCA_QP_PKEY_INDEX, pkey_index);
	SET(OHCA_QP_PORT, port);
	SET(OHCA_QP_QKEY, qkey);
	SET(OHCA_QP_AV, av);
	SET(OHCA_QP_PATH_MTU, path_mtu);
	SET(OHCA_QP_TIMEOUT, timeout);
	SET(OHCA_QP_RETRY_CNT, retry_cnt);
	SET(OHCA_QP_RNR_RETRY, rnr_retry);
	SET(OHCA_QP_RQ_PSN, rq_psn);
	SET(OHCA_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	SET(OHCA_QP_MIN_RNR_TIMER, min_rnr_timer);
	SET(OHCA_QP_SQ_PSN, sq_psn);
	SET(OHCA_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	SET(OHCA_QP_DEST_QPN, dest_qpn);
	SET(OHCA_QP_ALT_PATH, alt_av);
	SET(OHCA_QP_ALT_PATH, alt_port);
	SET(OHCA_QP_ALT_PATH, alt_pkey_index);
	SET(OHCA_QP_ALT_PATH, alt_timeout);
#undef SET
	if (mask & OHCA_QP_PORT)
		qp_set_port(qp, port_after(qp, attr, mask));
	qp->access = to->access;
	qp->dest_qpn = le32toh(to->dest_qpn);
	qp->mtu_shift = to->path_mtu + 7;
}

/* Enter the state, with the new attributes. */
static void enter_state(struct qp *qp, enum ohca_qp_state from, enum ohca_qp_state to)
{
	fabric_changed(qp->hca->fabric);
	qp_enter_state(qp, to);
	if (to == OHCA_QPS_RTS)
		qp_schedule(qp);
	if (to == OHCA_QPS_SQD && from == OHCA_QPS_RTS)
		qp->sq.drained = false;
	qp_check_drained(qp);
}

/* S-042, S-043: rules for software that connects a QP of an InfiniBand port */
static void check_rules(const struct qp *qp, const struct ohca_qp_attr *attr, uint32_t mask)
{
	struct hca *hca = qp->hca;
	const struct port *port = qp->port;

	if (!hca->strict || !port->ib)
		return;
	if (mask & OHCA_QP_AV && hca->async_eq && !(hca->ports_read >> port->num & 1))
		strict_broken(hca, "S-042",
			      "it connects, but has not read the port since the asynchronous EQ "
			      "exists");
	if (mask & OHCA_QP_PATH_MTU && port->active && attr->path_mtu > port->ib->mtu)
		strict_broken(hca, "S-043", "a path MTU is larger than that of the link");
}

/* The QP was reset. */
static enum ohca_cmd_status reset_more(struct hca *hca, struct cmd_ctx *ctx)
{
	return !hca->ready || qp_unbind(ctx->object, false, ctx->end) ? OHCA_CMD_OK : CMD_MORE;
}

static enum ohca_cmd_status cmd_modify_qp(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_qp_in *in = ctx->in;
	const struct ohca_qp_attr *attr = &in->attr;
	uint32_t mask = le32toh(in->attr_mask);
	struct qp *qp = qp_get(hca, le32toh(in->qpn));
	enum ohca_qp_state from, to;
	enum ohca_cmd_status status;

	if (!qp)
		return OHCA_CMD_BAD_HANDLE;
	from = qp->state;
	to = mask & OHCA_QP_STATE ? attr->state : from;
	if (to > OHCA_QPS_ERR)
		return BAD(state);
	if (mask & OHCA_QP_CUR_STATE && attr->cur_state != from)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr.cur_state, OHCA_CMD_BAD_STATE);
	if (mask & MIGRATION && !(hca_caps(hca) & OHCA_CAP_PATH_MIG))
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr_mask, OHCA_CMD_UNSUPPORTED);
	status = qp_check_transition(qp->type, from, to, mask);
	if (status)
		return CMD_BAD(ctx, struct ohca_modify_qp_in, attr_mask, status);
	status = check_attr(qp, attr, mask, ctx);
	if (!status)
		status = check_migration(qp, attr, mask, ctx);
	if (status)
		return status;
	check_rules(qp, attr, mask);

	if (mask & OHCA_QP_COUNTERS)
		qp_set_counters(qp, counters_get(hca, le32toh(attr->counters)));
	if (to == OHCA_QPS_RESET) {
		qp_reset(qp);
		ctx->object = qp;
		return CMD_CONTINUE(hca, ctx, reset_more);
	} else if (to == OHCA_QPS_ERR) {
		qp_error(qp);
	} else {
		set_attr(qp, attr, mask);
		if (mask & MIGRATION)
			qp_mig_modify(qp, mask, attr->path_mig_state);
		enter_state(qp, from, to);
	}
	return OHCA_CMD_OK;
}

static const struct cmd_desc qp_attr_cmds[] = {
	CMD_DESC(MODIFY_QP, cmd_modify_qp, sizeof(struct ohca_modify_qp_in), 0,
		 .in_min = OHCA_MODIFY_QP_IN_MIN),
	CMD_DESC(QUERY_QP, cmd_query_qp, CMD_HANDLE_LEN, sizeof(struct ohca_query_qp_out),
		 .out_min = OHCA_QUERY_QP_OUT_MIN),
};

const struct object_class qp_attr_class = {
	OBJECT_CMDS(qp_attr_cmds),
};
