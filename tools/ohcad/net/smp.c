// SPDX-License-Identifier: GPL-2.0
/* Subnet management packets of QP 0. */

#include <endian.h>
#include <string.h>

#include "device/object.h"
#include "fabric/ib_port.h"
#include "fabric/ib_switch.h"
#include "net/datagram.h"
#include "net/smp.h"
#include "qp/qp.h"

void smp_send(struct qp *src, const struct datagram *dg)
{
	const struct ib_port *ib = src->hca->port->ib;
	const struct ohca_av *av = dg->av;
	struct mad_packet p = {
		.slid = ib->lid ? ib->lid | av->ib.path_bits : LID_PERMISSIVE,
		.dlid = le16toh(av->ib.dlid),
		.sl = av->sl,
		.dest_qpn = QPN_SMI,
		.src_qpn = src->id,
	};

	if (dg->dest_qpn != QPN_SMI || dg->qkey != QKEY_SMI ||
	    dg->len != OHCA_GRH_LEN + sizeof(p.mad))
		return;
	iov_peek(dg->iov + 1, dg->num - 1, p.mad, sizeof(p.mad));
	ib_send_smp(src->hca->port, &p);
}

/* To QP 0, if there is one that receives. */
static bool receive_smp(struct port *port, const struct mad_packet *p)
{
	struct qp *qp = qp_get(port->hca, QPN_SMI);
	struct ohca_av av = {.ib.dlid = htole16(p->dlid)};
	struct datagram dg = {
		.av = &av,
		.dest_qpn = p->dest_qpn,
		.qkey = QKEY_SMI,
		.pkey = PKEY_DEFAULT,
		.num = 2,
		.len = OHCA_GRH_LEN + sizeof(p->mad),
	};

	if (!qp || !port->hca->ready || port->hca->stalled)
		return false;
	dg.cqe.src_qpn = htole32(p->src_qpn);
	dg.cqe.ib.slid = htole16(p->slid);
	dg.cqe.sl = p->sl;
	dg.cqe.net_type = OHCA_NET_IB;
	dg.iov[0].iov_base = dg.grh;
	dg.iov[0].iov_len = sizeof(dg.grh);
	dg.iov[1].iov_base = (void *)p->mad;
	dg.iov[1].iov_len = sizeof(p->mad);
	return qp->ops->receive_datagram(qp, &dg);
}

static int smp_init(struct hca *hca)
{
	static const struct ib_client_ops client_ops = {.receive_smp = receive_smp};

	if (hca->port->ib)
		hca->port->ib->client = &client_ops;
	return 0;
}

const struct object_class smp_class = {
	.init = smp_init,
};
