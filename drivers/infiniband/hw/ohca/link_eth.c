// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the verbs of an Ethernet port: RoCE.
 *
 * A device without datagrams has no QP1.  Its port then has the capabilities of neither MADs nor a
 * connection manager, so that ib_mad and ib_cm do not use it.
 */

#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "en.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "verbs.h"

/* Without datagrams */
#define OHCA_ETH_CORE_CAPS (RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP | RDMA_CORE_CAP_ETH_AH)

static int ohca_eth_query_port(struct ohca_port *port, struct ib_port_attr *attr)
{
	struct ohca_port_attr hw;
	int err;

	err = ohca_port_query_ib(port, attr, &hw);
	if (err)
		return err;

	attr->active_mtu = ohca_en_active_mtu(port, hw.max_mtu);
	attr->ip_gids = true;
	if (port->dev->attr.caps & OHCA_CAP_UD)
		attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_vl_num = 1;
	return 0;
}

/* The connection manager sets its bit, which is always set; there are no others. */
static int ohca_eth_modify_port(struct ohca_port *port, int mask, struct ib_port_modify *attr)
{
	if (mask || (attr->set_port_cap_mask | attr->clr_port_cap_mask) & ~IB_PORT_CM_SUP)
		return -EOPNOTSUPP;

	return 0;
}

static int ohca_eth_query_pkey(struct ohca_port *port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;

	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int ohca_eth_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct ohca_gid_params params = {
		.index = attr->index,
		.type = OHCA_GID_ROCE_V2,
		.vlan = OHCA_VLAN_NONE,
	};
	int err;

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EOPNOTSUPP;

	memcpy(params.gid, attr->gid.raw, sizeof(params.gid));
	err = rdma_read_gid_l2_fields(attr, &params.vlan, params.mac);
	if (err)
		return err;

	return ohca_cmd_set_gid(to_odev(attr->device), attr->port_num, &params);
}

static int ohca_eth_del_gid(const struct ib_gid_attr *attr, void **context)
{
	const struct ohca_gid_params params = {
		.index = attr->index,
		.type = OHCA_GID_NONE,
		.vlan = OHCA_VLAN_NONE,
	};

	return ohca_cmd_set_gid(to_odev(attr->device), attr->port_num, &params);
}

#if OHCA_COMPAT_GET_NETDEV
/* The netdev is removed only after the device is unregistered from ib_core. */
static struct net_device *ohca_eth_get_netdev(struct ib_device *ibdev, u32 port_num)
{
	struct net_device *netdev = ohca_port(to_odev(ibdev), port_num)->netdev;

	dev_hold(netdev);
	return netdev;
}
#endif

const struct ib_device_ops ohca_eth_ops = {
	.add_gid = ohca_eth_add_gid,
	.del_gid = ohca_eth_del_gid,
#if OHCA_COMPAT_GET_NETDEV
	.get_netdev = ohca_eth_get_netdev,
#endif
};

const struct ohca_link_ops ohca_eth_link_ops = {
	.layer = IB_LINK_LAYER_ETHERNET,
	.core_caps = OHCA_ETH_CORE_CAPS,
	.core_caps_mad = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP,
	.modify_port = ohca_eth_modify_port,
	.process_mad = ohca_eth_process_mad,
	.query_pkey = ohca_eth_query_pkey,
	.query_port = ohca_eth_query_port,
};
