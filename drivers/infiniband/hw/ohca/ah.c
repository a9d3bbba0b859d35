// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: address handles and address vectors.
 *
 * The device has no address handles: each work request contains the address vector.
 */

#include <rdma/ohca-abi.h>

#include "ah.h"
#include "ohca.h"
#include "ohca_compat.h"

static void ohca_av_set_grh(struct ohca_av *av, const struct ib_global_route *grh)
{
	memcpy(av->dgid, grh->dgid.raw, sizeof(av->dgid));
	av->sgid_index = cpu_to_le16(grh->sgid_index);
	av->flow_label = cpu_to_le32(grh->flow_label & IB_GRH_FLOWLABEL_MASK);
	av->hop_limit = grh->hop_limit;
	av->tclass = grh->traffic_class;
}

/* A multicast packet has a GRH.  The device checks which QPs may use the permissive LID. */
static int ohca_av_set_lid(struct ohca_av *av, const struct rdma_ah_attr *ah, bool grh)
{
	u16 dlid = ah->ib.dlid;

	if (dlid >= be16_to_cpu(IB_MULTICAST_LID_BASE) && dlid != be16_to_cpu(IB_LID_PERMISSIVE) &&
	    !grh)
		return -EINVAL;

	av->ib.dlid = cpu_to_le16(dlid);
	av->ib.path_bits = ah->ib.src_path_bits;
	av->ib.static_rate = ah->static_rate;
	av->ib.flags = grh ? OHCA_AV_GRH : 0;
	return 0;
}

/**
 * ohca_av_from_ah() - convert an ib_core address to an address vector of the device
 * @av: result
 * @ah: address of a port of the same link layer; on Ethernet it has a GRH
 *
 * Return: 0, or -EINVAL for an address of another kind
 */
int ohca_av_from_ah(struct ohca_av *av, const struct rdma_ah_attr *ah)
{
	bool grh = rdma_ah_get_ah_flags(ah) & IB_AH_GRH;
	int err;

	*av = (struct ohca_av){
		.sl = rdma_ah_get_sl(ah),
		.port = rdma_ah_get_port_num(ah),
	};
	if (grh)
		ohca_av_set_grh(av, rdma_ah_read_grh(ah));

	switch (ah->type) {
	case RDMA_AH_ATTR_TYPE_ROCE:
		err = grh ? 0 : -EINVAL;
		memcpy(av->dmac, ah->roce.dmac, sizeof(av->dmac));
		break;
	case RDMA_AH_ATTR_TYPE_IB:
		err = ohca_av_set_lid(av, ah, grh);
		break;
	default:
		err = -EINVAL;
		break;
	}
	return err;
}

/**
 * ohca_av_to_ah() - convert an address vector of the device to an ib_core address
 * @ah: result
 * @av: address vector
 * @ibdev: its device
 */
void ohca_av_to_ah(struct rdma_ah_attr *ah, const struct ohca_av *av, struct ib_device *ibdev)
{
	u8 port = rdma_is_port_valid(ibdev, av->port) ? av->port : 0;
	union ib_gid dgid;
	bool grh = true;

	memset(ah, 0, sizeof(*ah));
	ah->type = rdma_ah_find_type(ibdev, port ?: 1);
	if (ah->type == RDMA_AH_ATTR_TYPE_IB) {
		grh = av->ib.flags & OHCA_AV_GRH;
		rdma_ah_set_dlid(ah, le16_to_cpu(av->ib.dlid));
		rdma_ah_set_path_bits(ah, av->ib.path_bits);
		rdma_ah_set_static_rate(ah, av->ib.static_rate);
	} else {
		memcpy(ah->roce.dmac, av->dmac, sizeof(ah->roce.dmac));
	}
	if (grh) {
		memcpy(dgid.raw, av->dgid, sizeof(dgid.raw));
		rdma_ah_set_grh(ah, &dgid, le32_to_cpu(av->flow_label), le16_to_cpu(av->sgid_index),
				av->hop_limit, av->tclass);
	}
	rdma_ah_set_sl(ah, av->sl);
	rdma_ah_set_port_num(ah, port);
}

/* Does not sleep. */
int ohca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct ohca_create_ah_resp resp = {};
	struct ohca_ah *ah = to_oah(ibah);
	int err;

	static_assert(sizeof(resp.av) == sizeof(ah->av));

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	err = ohca_av_from_ah(&ah->av, init->ah_attr);
	if (err || !udata)
		return err;

	memcpy(resp.av, &ah->av, sizeof(resp.av));
	return ib_respond_udata(udata, resp);
}

int ohca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	ohca_av_to_ah(attr, &to_oah(ibah)->av, ibah->device);
	return 0;
}

int ohca_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
