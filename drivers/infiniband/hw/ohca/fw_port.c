// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the commands of ports and their agents, one typed function each.
 */

#include <linux/etherdevice.h>

#include "ohca.h"

/**
 * ohca_cmd_query_port() - state and attributes of a port
 * @dev: device
 * @port: from 1
 * @attr: result
 */
int ohca_cmd_query_port(struct ohca_dev *dev, u8 port, struct ohca_port_attr *attr)
{
	struct ohca_query_port_in in = {.port = port};
	struct ohca_query_port_out out;
	int err;

	err = ohca_cmd_exec(dev, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out));
	if (err)
		return err;

	attr->link_layer = out.link_layer;
	attr->state = out.state;
	attr->phys_state = out.phys_state;
	attr->max_mtu = out.max_mtu;
	ether_addr_copy(attr->mac, out.mac);
	attr->gid_tbl_len = le16_to_cpu(out.gid_tbl_len);
	attr->pkey_tbl_len = le16_to_cpu(out.pkey_tbl_len);
	attr->active_speed = le16_to_cpu(out.active_speed);
	attr->active_width = out.active_width;
	attr->link_layers = out.link_layers;
	attr->next_link_layer = out.next_link_layer;
	attr->max_frame = le32_to_cpu(out.max_frame);
	attr->lid = le16_to_cpu(out.lid);
	attr->sm_lid = le16_to_cpu(out.sm_lid);
	attr->lmc = out.lmc;
	attr->sm_sl = out.sm_sl;
	attr->subnet_timeout = out.subnet_timeout;
	attr->init_type_reply = out.init_type_reply;
	attr->cap_mask = le32_to_cpu(out.cap_mask);
	attr->max_vl_num = out.max_vl_num;
	attr->active_mtu = out.active_mtu;
	attr->cap_mask2 = le16_to_cpu(out.cap_mask2);
	attr->subnet_prefix = out.subnet_prefix;
	attr->bad_pkeys = le16_to_cpu(out.bad_pkeys);
	attr->qkey_viols = le16_to_cpu(out.qkey_viols);
	return 0;
}

/**
 * ohca_cmd_modify_port() - change attributes of a port
 * @dev: device
 * @port: from 1
 * @params: what to change
 */
int ohca_cmd_modify_port(struct ohca_dev *dev, u8 port, const struct ohca_port_params *params)
{
	struct ohca_modify_port_in in = {
		.attr_mask = cpu_to_le32(params->attr_mask),
		.port = port,
	};

	if (params->attr_mask & OHCA_PORT_ATTR_ADMIN)
		in.admin_up = params->admin_up;
	if (params->attr_mask & OHCA_PORT_ATTR_PROMISC)
		in.promisc = params->promisc;
	if (params->attr_mask & OHCA_PORT_ATTR_LARGE_RX)
		in.large_rx = params->large_rx;
	if (params->attr_mask & OHCA_PORT_ATTR_MAC)
		memcpy(in.mac, params->mac, sizeof(in.mac));
	if (params->attr_mask & OHCA_PORT_ATTR_CAPS) {
		in.set_caps = cpu_to_le32(params->set_caps);
		in.clr_caps = cpu_to_le32(params->clr_caps);
	}
	if (params->attr_mask & OHCA_PORT_ATTR_INIT_TYPE)
		in.init_type = params->init_type;
	return ohca_cmd_exec(dev, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_set_gid() - write an entry of a port's GID table
 * @dev: device
 * @port: from 1
 * @params: the entry; emptied with OHCA_GID_NONE, which succeeds on a fenced device
 */
int ohca_cmd_set_gid(struct ohca_dev *dev, u8 port, const struct ohca_gid_params *params)
{
	struct ohca_set_gid_in in = {
		.index = cpu_to_le16(params->index),
		.port = port,
		.type = params->type,
	};
	int err;

	if (params->type != OHCA_GID_NONE) {
		memcpy(in.gid, params->gid, sizeof(in.gid));
		memcpy(in.mac, params->mac, sizeof(in.mac));
		in.vlan = cpu_to_le16(params->vlan);
	} else {
		in.vlan = cpu_to_le16(OHCA_VLAN_NONE);
	}

	err = ohca_cmd_exec(dev, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0);
	if (params->type == OHCA_GID_NONE && ohca_fenced(dev))
		return 0;
	return err;
}

/**
 * ohca_cmd_query_gid() - read an entry of the GID table
 * @dev: device
 * @port: from 1
 * @index: entry
 * @gid: result; zero for an empty one
 */
int ohca_cmd_query_gid(struct ohca_dev *dev, u8 port, u16 index, u8 gid[16])
{
	struct ohca_query_gid_in in = {
		.index = cpu_to_le16(index),
		.port = port,
	};
	struct ohca_query_gid_out out;
	int err;

	err = ohca_cmd_exec(dev, OHCA_CMD_QUERY_GID, &in, sizeof(in), &out, sizeof(out));
	if (!err)
		memcpy(gid, out.gid, sizeof(out.gid));
	return err;
}

/**
 * ohca_cmd_query_pkey() - read an entry of the P_Key table
 * @dev: device
 * @port: from 1
 * @index: entry
 * @pkey: result; zero for an invalid one
 */
int ohca_cmd_query_pkey(struct ohca_dev *dev, u8 port, u16 index, u16 *pkey)
{
	struct ohca_query_pkey_in in = {
		.first = cpu_to_le16(index),
		.num = 1,
		.port = port,
	};
	struct ohca_query_pkey_out out;
	int err;

	err = ohca_cmd_exec(dev, OHCA_CMD_QUERY_PKEY, &in, sizeof(in), &out, sizeof(out));
	if (!err)
		*pkey = le16_to_cpu(out.pkey[0]);
	return err;
}

/**
 * ohca_cmd_mad() - pass a management datagram to the agents of the device
 * @dev: device
 * @in: the datagram, in the device's format
 * @out: result
 */
int ohca_cmd_mad(struct ohca_dev *dev, const struct ohca_mad_in *in, struct ohca_mad_out *out)
{
	return ohca_cmd_exec(dev, OHCA_CMD_MAD, in, sizeof(*in), out, sizeof(*out));
}

/**
 * ohca_cmd_set_node_desc() - set NodeDescription, until the next reset
 * @dev: device
 * @desc: UTF-8, padded with zeroes
 */
int ohca_cmd_set_node_desc(struct ohca_dev *dev, const char desc[64])
{
	struct ohca_set_node_desc_in in;

	memcpy(in.desc, desc, sizeof(in.desc));
	return ohca_cmd_exec(dev, OHCA_CMD_SET_NODE_DESC, &in, sizeof(in), NULL, 0);
}

/**
 * ohca_cmd_set_link_layer() - set the link layer that a port has from the next reset on
 * @dev: device with OHCA_CAP_LINK_LAYER
 * @port: from 1
 * @link_layer: OHCA_LINK_*
 */
int ohca_cmd_set_link_layer(struct ohca_dev *dev, u8 port, u8 link_layer)
{
	struct ohca_set_link_layer_in in = {.port = port, .link_layer = link_layer};

	return ohca_cmd_exec(dev, OHCA_CMD_SET_LINK_LAYER, &in, sizeof(in), NULL, 0);
}
