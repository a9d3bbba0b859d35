// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the verbs of an InfiniBand port.
 *
 * The subnet manager configures the port in the device.  The driver queries its attributes.
 *
 * A device without datagrams has neither QP0 nor QP1.  Its port then has no capability of MADs, so
 * that ib_mad and all its users do not use it.
 */

#include <linux/log2.h>

#include "ohca.h"
#include "verbs.h"

static int ohca_ib_query_port(struct ohca_port *port, struct ib_port_attr *attr)
{
	struct ohca_port_attr hw;
	int err;

	err = ohca_port_query_ib(port, attr, &hw);
	if (err)
		return err;

	attr->subnet_prefix = be64_to_cpu(hw.subnet_prefix);
	attr->active_mtu = hw.active_mtu;
	attr->port_cap_flags = hw.cap_mask;
	attr->port_cap_flags2 = hw.cap_mask2;
	attr->bad_pkey_cntr = hw.bad_pkeys;
	attr->qkey_viol_cntr = hw.qkey_viols;
	attr->lid = hw.lid;
	attr->lmc = hw.lmc;
	attr->sm_lid = hw.sm_lid;
	attr->sm_sl = hw.sm_sl;
	attr->subnet_timeout = hw.subnet_timeout;
	attr->init_type_reply = hw.init_type_reply;
	attr->max_vl_num = order_base_2(hw.max_vl_num) + 1; /* PortInfo's VLCap */
	return 0;
}

static int ohca_ib_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	return ohca_cmd_query_gid(to_odev(ibdev), port, index, gid->raw);
}

static int ohca_ib_query_pkey(struct ohca_port *port, u16 index, u16 *pkey)
{
	return ohca_cmd_query_pkey(port->dev, port->num, index, pkey);
}

/* Only the subnet manager can take the link down. */
static int ohca_ib_modify_port(struct ohca_port *port, int mask, struct ib_port_modify *attr)
{
	struct ohca_port_params params = {
		.set_caps = attr->set_port_cap_mask,
		.clr_caps = attr->clr_port_cap_mask,
		.init_type = attr->init_type,
	};

	if (mask & ~(IB_PORT_INIT_TYPE | IB_PORT_RESET_QKEY_CNTR))
		return -EOPNOTSUPP;
	if ((params.set_caps | params.clr_caps) & ~OHCA_PORT_CAPS_SW)
		return -EOPNOTSUPP;

	if (params.set_caps | params.clr_caps)
		params.attr_mask |= OHCA_PORT_ATTR_CAPS;
	if (mask & IB_PORT_INIT_TYPE)
		params.attr_mask |= OHCA_PORT_ATTR_INIT_TYPE;
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		params.attr_mask |= OHCA_PORT_ATTR_QKEY_VIOLS;
	return ohca_cmd_modify_port(port->dev, port->num, &params);
}

const struct ib_device_ops ohca_ib_ops = {
	.query_gid = ohca_ib_query_gid,
};

const struct ohca_link_ops ohca_ib_link_ops = {
	.layer = IB_LINK_LAYER_INFINIBAND,
	.core_caps = RDMA_CORE_CAP_PROT_IB,
	.core_caps_mad = RDMA_CORE_PORT_IBA_IB,
	.modify_port = ohca_ib_modify_port,
	.process_mad = ohca_ib_process_mad,
	.query_pkey = ohca_ib_query_pkey,
	.query_port = ohca_ib_query_port,
};
