// SPDX-License-Identifier: GPL-2.0
/* Datagrams of QP 1 for an agent of the switch. */

#include <endian.h>
#include <string.h>

#include "device/hca.h"
#include "fabric/ib_port.h"
#include "fabric/ib_switch.h"
#include "net/datagram.h"
#include "net/gsi.h"
#include "net/link.h"
#include "packet/gid.h"
#include "packet/mad.h"
#include "qp/qp.h"

uint64_t gsi_ask_switch(struct qp *src, const struct datagram *dg)
{
	struct port *port = src->hca->port;
	struct mad_packet p = {
		.slid = le16toh(dg->cqe.ib.slid),
		.dlid = le16toh(dg->av->ib.dlid),
		.sl = dg->cqe.sl,
		.dest_qpn = dg->dest_qpn,
		.src_qpn = src->id,
	};
	struct ohca_av av = {0};
	struct datagram answer = {
		.av = &av,
		.qkey = QKEY_GSI,
		.pkey = dg->pkey,
		.num = 2,
		.len = OHCA_GRH_LEN + sizeof(p.mad),
	};

	if (!port->ib || dg->dest_qpn != QPN_GSI || dg->qkey != QKEY_GSI || dg->len != answer.len)
		return 0;
	iov_peek(dg->iov + 1, dg->num - 1, p.mad, sizeof(p.mad));
	if (!ib_ask_switch(port, &p))
		return 0;
	av.ib.dlid = htole16(p.dlid);
	av.sl = p.sl;
	answer.dest_qpn = p.dest_qpn;
	answer.cqe.src_qpn = htole32(p.src_qpn);
	answer.cqe.ib.slid = htole16(p.slid);
	answer.cqe.sl = p.sl;
	answer.cqe.net_type = OHCA_NET_IB;
	answer.iov[0].iov_base = answer.grh;
	answer.iov[0].iov_len = sizeof(answer.grh);
	answer.iov[1].iov_base = p.mad;
	answer.iov[1].iov_len = sizeof(p.mad);
	return link_receive_datagram(src, port, &answer);
}
