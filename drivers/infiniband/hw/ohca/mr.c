// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: memory regions.
 */

#include <linux/overflow.h>
#include <linux/slab.h>

#include "verbs.h"
#include "xlt.h"

/**
 * ohca_access() - access rights as the device knows them
 * @access: enum ib_access_flags; those that it has no notion of are left out
 *
 * Return: OHCA_ACCESS_*
 */
u8 ohca_access(int access)
{
	u8 res = 0;

	if (access & IB_ACCESS_LOCAL_WRITE)
		res |= OHCA_ACCESS_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		res |= OHCA_ACCESS_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		res |= OHCA_ACCESS_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		res |= OHCA_ACCESS_REMOTE_ATOMIC;
	return res;
}

static int ohca_check_access(struct ib_device *ibdev, int access)
{
	/* huge pages are found without the hint */
	if (access & ~(OHCA_ACCESS_FLAGS | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)) {
		ibdev_dbg(ibdev, "unsupported access flags %#x\n", access);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int ohca_mr_create(struct ohca_mr *mr, struct ohca_dev *dev,
			  const struct ohca_mkey_params *params)
{
	u32 key;
	int err;

	err = ohca_cmd_create_mkey(dev, params, &key);
	if (err)
		return err;

	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return 0;
}

struct ib_mr *ohca_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_mkey_params params = {
		.pdn = to_opd(ibpd)->pdn,
		.type = OHCA_MKEY_DMA,
	};
	struct ohca_mr *mr;
	int err;

	err = ohca_check_access(&dev->ibdev, access);
	if (err)
		return ERR_PTR(err);

	/* With a key for local access, ib_alloc_pd() asks for remote access alone. */
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC))
		access |= IB_ACCESS_LOCAL_WRITE;
	params.access = ohca_access(access);

	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	err = ohca_mr_create(mr, dev, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

static int ohca_mr_create_user(struct ohca_mr *mr, struct ib_pd *ibpd, u64 length, u64 iova,
			       int access)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_mkey_params params = {
		.iova = iova,
		.length = length,
		.pdn = to_opd(ibpd)->pdn,
		.access = ohca_access(access),
	};
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_xlt_from_umem(dev, mr->umem, iova, &xlt);
	if (err)
		return err;

	params.xlt = &xlt;
	err = ohca_mr_create(mr, dev, &params);
	ohca_xlt_release(dev, &xlt);
	return err;
}

struct ib_mr *ohca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_mr *mr;
	u64 last;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);

	err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);

	err = ohca_check_access(&dev->ibdev, access);
	if (err)
		return ERR_PTR(err);

	if (!length || length > dev->attr.max_mr_size ||
	    check_add_overflow(iova, length - 1, &last)) {
		ibdev_dbg(&dev->ibdev, "memory region of %llu bytes at %#llx\n", length, iova);
		return ERR_PTR(-EINVAL);
	}

	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->umem = ib_umem_get_va(&dev->ibdev, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		ibdev_dbg(&dev->ibdev, "cannot pin %llu bytes: %pe\n", length, mr->umem);
		goto err_mr;
	}

	err = ohca_mr_create_user(mr, ibpd, length, iova, access);
	if (err)
		goto err_umem;

	err = ib_respond_empty_udata(udata);
	if (err)
		goto err_mkey;

	return &mr->ibmr;

err_mkey:
	ohca_cmd_destroy_mkey(dev, mr->ibmr.lkey);
err_umem:
	ib_umem_release(mr->umem);
err_mr:
	kfree(mr);
	return ERR_PTR(err);
}

int ohca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibmr->device);
	struct ohca_mr *mr = to_omr(ibmr);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (ohca_cmd_destroy_mkey(dev, ibmr->lkey))
		ohca_fence(dev, "memory region not destroyed");

	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
