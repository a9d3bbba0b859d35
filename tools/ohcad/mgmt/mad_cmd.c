// SPDX-License-Identifier: GPL-2.0
/* Commands by which the host uses the management agents. */

#include <endian.h>
#include <string.h>

#include "device/object.h"
#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "mgmt/mad_cmd.h"
#include "mgmt/pma.h"
#include "mgmt/sma.h"
#include "mgmt/smi.h"
#include "mgmt/trap.h"

#define MAX_SL 15

static enum ohca_cmd_status mad_check(const struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_mad_in *in = ctx->in;
	const struct port *port = hca_port(hca, in->port);

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_mad_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (!port || !port->ib)
		return CMD_BAD(ctx, struct ohca_mad_in, port, OHCA_CMD_BAD_PARAM);
	if (in->flags & ~OHCA_MAD_IGNORE_MKEY)
		return CMD_BAD(ctx, struct ohca_mad_in, flags, OHCA_CMD_BAD_PARAM);
	if (le32toh(in->src_qpn) > QPN_MCAST)
		return CMD_BAD(ctx, struct ohca_mad_in, src_qpn, OHCA_CMD_BAD_PARAM);
	if (le16toh(in->pkey_index) >= IB_PORT_PKEYS)
		return CMD_BAD(ctx, struct ohca_mad_in, pkey_index, OHCA_CMD_BAD_PARAM);
	if (in->sl > MAX_SL)
		return CMD_BAD(ctx, struct ohca_mad_in, sl, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

static enum ohca_mad_result process(struct ib_port *ib, struct mad_packet *p, bool ignore_mkey)
{
	if (p->hdr.base_version != MAD_BASE_VERSION)
		return OHCA_MAD_PASS;
	switch (p->hdr.mgmt_class) {
	case MAD_CLASS_SM_LID:
	case MAD_CLASS_SM_DR:
		return sma_process(ib, p, ignore_mkey);
	case MAD_CLASS_PM:
		return pma_process(ib, p);
	default:
		return OHCA_MAD_PASS;
	}
}

static enum ohca_cmd_status cmd_mad(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_mad_in *in = ctx->in;
	enum ohca_cmd_status status = mad_check(hca, ctx);
	struct ohca_mad_out *out = ctx->out;
	struct mad_packet p = {
		.slid = le16toh(in->slid),
		.sl = in->sl,
		.src_qpn = le32toh(in->src_qpn),
	};
	struct ib_port *ib;

	if (status)
		return status;
	ib = hca_port(hca, in->port)->ib;
	p.dlid = ib->lid | in->path_bits;
	memcpy(p.mad, in->mad, sizeof(p.mad));
	out->result = process(ib, &p, in->flags & OHCA_MAD_IGNORE_MKEY);
	if (out->result == OHCA_MAD_REPLY)
		memcpy(out->mad, p.mad, sizeof(p.mad));
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_set_node_desc(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_set_node_desc_in *in = ctx->in;
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->ports[i]->ib)
			ib_port_set_node_desc(hca->ports[i]->ib, in->desc);
	}
	return OHCA_CMD_OK;
}

/* Besides the subnet management agent, nodes without a host have a performance management agent only. */
static bool ask(struct ib_port *at, struct mad_packet *p)
{
	return p->hdr.mgmt_class == MAD_CLASS_PM && process(at, p, false) == OHCA_MAD_REPLY;
}

static int mad_init(struct hca *hca)
{
	static const struct ib_agent_ops agent_ops = {
		.receive = smi_receive,
		.ask = ask,
		.trap = traps_raise,
		.forget = traps_forget,
	};

	hca->fabric->ib_agent = &agent_ops;
	return 0;
}

static const struct cmd_desc mad_cmds[] = {
	CMD_DESC(MAD, cmd_mad, sizeof(struct ohca_mad_in), sizeof(struct ohca_mad_out)),
	CMD_DESC(SET_NODE_DESC, cmd_set_node_desc, sizeof(struct ohca_set_node_desc_in), 0),
};

const struct object_class mad_class = {
	.init = mad_init,
	OBJECT_CMDS(mad_cmds),
};
