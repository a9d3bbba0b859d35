// SPDX-License-Identifier: GPL-2.0
/* Path migration of connections (InfiniBand specification, 17.2.8). */

#include <endian.h>

#include "base/log.h"
#include "device/eq.h"
#include "fabric/fabric.h"
#include "fabric/link_layer.h"
#include "qp/qp_mig.h"

static bool is_armed(const struct qp *qp)
{
	return qp->attr.path_mig_state == OHCA_MIG_ARMED;
}

static void set_state(struct qp *qp, enum ohca_path_mig_state state)
{
	qp->attr.path_mig_state = state;
	fabric_changed(qp->hca->fabric);
}

enum path_verdict qp_mig_judge(const struct qp *qp, bool mig_req, bool by_path)
{
	bool rearm = qp->attr.path_mig_state == OHCA_MIG_REARM;

	if (mig_req && is_armed(qp))
		return by_path && qp->attr.alt_port ? PATH_ALTERNATE : PATH_NO_ALTERNATE;
	if (!by_path)
		return mig_req && rearm ? PATH_NO_ALTERNATE : PATH_OTHER;
	return !mig_req && rearm ? PATH_ARMS : PATH_PRIMARY;
}

uint16_t qp_mig_pkey(const struct qp *qp, enum path_verdict verdict)
{
	const struct ohca_qp_attr *attr = &qp->attr;

	if (verdict == PATH_ALTERNATE)
		return port_pkey(hca_port(qp->hca, attr->alt_port), le16toh(attr->alt_pkey_index));
	return qp_pkey(qp);
}

bool qp_mig_is_possible(const struct qp *qp)
{
	const struct ohca_qp_attr *attr = &qp->attr;
	const struct port *port = hca_port(qp->hca, attr->alt_port);

	return port && port->ops->check_av(port, &attr->alt_av) < 0 &&
	       port_pkey(port, le16toh(attr->alt_pkey_index));
}

void qp_migrate(struct qp *qp)
{
	struct ohca_qp_attr *attr = &qp->attr;

	log_debug(qp->hca->name, "QP %u: migrates to port %u and LID %u", qp->id, attr->alt_port,
		  le16toh(attr->alt_av.ib.dlid));
	attr->av = attr->alt_av;
	attr->port = attr->alt_port;
	attr->pkey_index = attr->alt_pkey_index;
	attr->timeout = attr->alt_timeout;
	qp_set_port(qp, hca_port(qp->hca, attr->port));
	set_state(qp, OHCA_MIG_MIGRATED);
	if (qp->ops->migrated)
		qp->ops->migrated(qp);
	eq_async(qp->hca, OHCA_EVENT_PATH_MIG, qp->id);
}

void qp_mig_fail(struct qp *qp)
{
	if (qp->mig_failed)
		return;
	qp->mig_failed = true;
	eq_async(qp->hca, OHCA_EVENT_PATH_MIG_ERR, qp->id);
}

bool qp_mig_path_failed(struct qp *qp)
{
	if (!is_armed(qp))
		return false;
	if (!qp_mig_is_possible(qp)) {
		qp_mig_fail(qp);
		return false;
	}
	qp_migrate(qp);
	return true;
}

void qp_mig_notice(struct qp *qp)
{
	if (is_armed(qp))
		qp_migrate(qp);
	else
		set_state(qp, OHCA_MIG_ARMED);
}

void qp_mig_modify(struct qp *qp, uint32_t mask, uint8_t state)
{
	qp->mig_failed = false;
	if (!(mask & OHCA_QP_PATH_MIG_STATE))
		return;
	if (state == OHCA_MIG_REARM)
		set_state(qp, OHCA_MIG_REARM);
	else if (is_armed(qp))
		qp_migrate(qp);
}
