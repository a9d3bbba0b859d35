// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: flows, which lead frames to raw packet QPs.
 */

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/slab.h>

#include "ohca.h"
#include "ohca_compat.h"
#include "qp.h"
#include "verbs.h"

/**
 * struct ohca_flow - a flow
 * @ibflow: ib_core's part
 * @id: number
 */
struct ohca_flow {
	struct ib_flow ibflow;
	u32 id;
};

/* Lower than all flows that match fields */
#define OHCA_FLOW_PRIO_DEFAULT U16_MAX

static void ohca_flow_eth(struct ohca_flow_match *m, const struct ib_flow_eth_filter *f)
{
	memcpy(m->dmac, f->dst_mac, sizeof(m->dmac));
	memcpy(m->smac, f->src_mac, sizeof(m->smac));
	m->ether_type = f->ether_type;
	m->vlan = f->vlan_tag;
}

static void ohca_flow_ipv4(struct ohca_flow_match *m, const struct ib_flow_ipv4_filter *f)
{
	memcpy(m->src_ip, &f->src_ip, sizeof(f->src_ip));
	memcpy(m->dst_ip, &f->dst_ip, sizeof(f->dst_ip));
	m->ip_proto = f->proto;
	m->ip_tos = f->tos;
	m->ip_ttl = f->ttl;
}

static void ohca_flow_ipv6(struct ohca_flow_match *m, const struct ib_flow_ipv6_filter *f)
{
	memcpy(m->src_ip, f->src_ip, sizeof(m->src_ip));
	memcpy(m->dst_ip, f->dst_ip, sizeof(m->dst_ip));
	m->ip_proto = f->next_hdr;
	m->ip_tos = f->traffic_class;
	m->ip_ttl = f->hop_limit;
}

/* The header has to be present, even if no field of it is compared. */
static void ohca_flow_ip_version(struct ohca_create_flow_in *in, u8 version)
{
	in->value.ip_version = version;
	in->mask.ip_version = U8_MAX;
}

static void ohca_flow_l4(struct ohca_create_flow_in *in, const struct ib_flow_spec_tcp_udp *spec)
{
	in->value.ip_proto = spec->type == IB_FLOW_SPEC_TCP ? IPPROTO_TCP : IPPROTO_UDP;
	in->mask.ip_proto = U8_MAX;
	in->value.src_port = spec->val.src_port;
	in->value.dst_port = spec->val.dst_port;
	in->mask.src_port = spec->mask.src_port;
	in->mask.dst_port = spec->mask.dst_port;
}

static int ohca_flow_spec(struct ohca_create_flow_in *in, const union ib_flow_spec *spec)
{
	switch (spec->type) {
	case IB_FLOW_SPEC_ETH:
		ohca_flow_eth(&in->value, &spec->eth.val);
		ohca_flow_eth(&in->mask, &spec->eth.mask);
		return 0;
	case IB_FLOW_SPEC_IPV4:
		if (spec->ipv4.mask.flags)
			return -EOPNOTSUPP;
		ohca_flow_ipv4(&in->value, &spec->ipv4.val);
		ohca_flow_ipv4(&in->mask, &spec->ipv4.mask);
		ohca_flow_ip_version(in, 4);
		return 0;
	case IB_FLOW_SPEC_IPV6:
		if (spec->ipv6.mask.flow_label)
			return -EOPNOTSUPP;
		ohca_flow_ipv6(&in->value, &spec->ipv6.val);
		ohca_flow_ipv6(&in->mask, &spec->ipv6.mask);
		ohca_flow_ip_version(in, 6);
		return 0;
	case IB_FLOW_SPEC_TCP:
	case IB_FLOW_SPEC_UDP:
		ohca_flow_l4(in, &spec->tcp_udp);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Clear the bits of the value that are not in the mask. */
static void ohca_flow_trim(struct ohca_create_flow_in *in)
{
	const u8 *mask = (const u8 *)&in->mask;
	u8 *value = (u8 *)&in->value;
	size_t i;

	for (i = 0; i < sizeof(in->value); i++)
		value[i] &= mask[i];
}

static int ohca_flow_fill(struct ohca_create_flow_in *in, const struct ib_flow_attr *attr)
{
	const union ib_flow_spec *spec = attr->flows;
	int i, err;

	switch (attr->type) {
	case IB_FLOW_ATTR_NORMAL:
		in->priority = cpu_to_le16(attr->priority);
		break;
	case IB_FLOW_ATTR_MC_DEFAULT:
		in->value.dmac[0] = 1;
		in->mask.dmac[0] = 1;
		fallthrough;
	case IB_FLOW_ATTR_ALL_DEFAULT:
		in->priority = cpu_to_le16(OHCA_FLOW_PRIO_DEFAULT);
		break;
	default:
		return -EOPNOTSUPP;
	}

	for (i = 0; i < attr->num_of_specs; i++) {
		err = ohca_flow_spec(in, spec);
		if (err)
			return err;
		spec = (const void *)spec + spec->size;
	}
	ohca_flow_trim(in);
	return 0;
}

struct ib_flow *ohca_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				 struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	struct ohca_create_flow_in in = {
		.qpn = cpu_to_le32(to_oqp(ibqp)->core.qpn),
		.port = attr->port,
	};
	struct ohca_port *port;
	struct ohca_flow *flow;
	int err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);
	port = ohca_port(dev, attr->port);
	if (ibqp->qp_type != IB_QPT_RAW_PACKET || !port || ohca_port_is_ib(port))
		return ERR_PTR(-EINVAL);
	if (attr->flags)
		return ERR_PTR(-EOPNOTSUPP);

	err = ohca_flow_fill(&in, attr);
	if (err)
		return ERR_PTR(err);

	flow = kzalloc_obj(*flow);
	if (!flow)
		return ERR_PTR(-ENOMEM);

	err = ohca_cmd_create_flow(dev, &in, &flow->id);
	if (err) {
		kfree(flow);
		return ERR_PTR(err);
	}
	return &flow->ibflow;
}

int ohca_destroy_flow(struct ib_flow *ibflow)
{
	struct ohca_flow *flow = container_of(ibflow, struct ohca_flow, ibflow);
	struct ohca_dev *dev = to_odev(ibflow->device);

	if (ohca_cmd_destroy_flow(dev, flow->id))
		ohca_fence(dev, "flow not destroyed");
	kfree(flow);
	return 0;
}
