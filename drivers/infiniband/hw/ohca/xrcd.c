// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: XRC domains.  For user space only: kernel work requests have no place for the number
 * of a shared receive queue.
 */

#include "verbs.h"

int ohca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibxrcd->device);
	struct ohca_xrcd *xrcd = to_oxrcd(ibxrcd);
	int err;

	if (!udata)
		return -EOPNOTSUPP;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	return ohca_cmd_alloc_xrcd(dev, &xrcd->xrcdn);
}

int ohca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibxrcd->device);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (ohca_cmd_free_xrcd(dev, to_oxrcd(ibxrcd)->xrcdn))
		ohca_fence(dev, "XRC domain not freed");
	return 0;
}
