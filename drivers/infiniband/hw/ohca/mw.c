// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: memory windows.  They are bound by work requests, which only processes can post.
 */

#include "verbs.h"

int ohca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct ohca_mkey_params params = {
		.pdn = to_opd(ibmw->pd)->pdn,
		.type = ibmw->type == IB_MW_TYPE_1 ? OHCA_MKEY_MW_1 : OHCA_MKEY_MW_2,
	};
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	return ohca_cmd_create_mkey(to_odev(ibmw->device), &params, &ibmw->rkey);
}

int ohca_dealloc_mw(struct ib_mw *ibmw)
{
	struct ohca_dev *dev = to_odev(ibmw->device);

	if (ohca_cmd_destroy_mkey(dev, ibmw->rkey))
		ohca_fence(dev, "memory window not destroyed");
	return 0;
}
