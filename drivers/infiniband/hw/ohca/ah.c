// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: address handles, and paths.
 *
 * The device knows no address handles: what it needs stands in each work request.
 */

#include <linux/etherdevice.h>
#include <rdma/ohca-abi.h>

#include "ah.h"
#include "ohca.h"
#include "ohca_compat.h"

/**
 * ohca_path_from_ah() - a path as the device is told of it
 * @path: result
 * @ah: RoCE address with a GRH
 *
 * Return: 0, or -EINVAL for an address of another kind
 */
int ohca_path_from_ah(struct ohca_path *path, const struct rdma_ah_attr *ah)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(ah) & IB_AH_GRH))
		return -EINVAL;

	memcpy(path->dgid, grh->dgid.raw, sizeof(path->dgid));
	ether_addr_copy(path->dmac, ah->roce.dmac);
	path->sgid_index = grh->sgid_index;
	path->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	path->hop_limit = grh->hop_limit;
	path->tclass = grh->traffic_class;
	path->sl = rdma_ah_get_sl(ah);
	path->port = rdma_ah_get_port_num(ah);
	return 0;
}

/**
 * ohca_path_to_ah() - a path as ib_core is told of it
 * @ah: result
 * @path: path
 * @ibdev: its device
 */
void ohca_path_to_ah(struct rdma_ah_attr *ah, const struct ohca_path *path, struct ib_device *ibdev)
{
	union ib_gid dgid;

	memset(ah, 0, sizeof(*ah));
	memcpy(dgid.raw, path->dgid, sizeof(dgid.raw));
	ah->type = rdma_ah_find_type(ibdev, OHCA_PORT);
	rdma_ah_set_grh(ah, &dgid, path->flow_label, path->sgid_index, path->hop_limit,
			path->tclass);
	ether_addr_copy(ah->roce.dmac, path->dmac);
	rdma_ah_set_sl(ah, path->sl);
	rdma_ah_set_port_num(ah, path->port);
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

	err = ohca_path_from_ah(&ah->path, init->ah_attr);
	if (err)
		return err;

	ohca_path_to_av(&ah->path, &ah->av);
	if (!udata)
		return 0;

	memcpy(resp.av, &ah->av, sizeof(resp.av));
	return ib_respond_udata(udata, resp);
}

int ohca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	ohca_path_to_ah(attr, &to_oah(ibah)->path, ibah->device);
	return 0;
}

int ohca_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
