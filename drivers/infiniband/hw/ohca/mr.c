// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: memory regions and windows.
 */

#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/uverbs_ioctl.h>

#include "mr.h"
#include "odp.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "ucontext.h"

/**
 * ohca_access() - convert access rights for the device
 * @access: enum ib_access_flags; flags that the device does not have are left out
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
	if (access & IB_ACCESS_MW_BIND)
		res |= OHCA_ACCESS_MW_BIND;
	if (access & IB_ACCESS_FLUSH_GLOBAL)
		res |= OHCA_ACCESS_FLUSH_GLOBAL;
	return res;
}

static int ohca_check_access(struct ohca_dev *dev, int access)
{
	/* huge pages are found without the hint */
	int known = OHCA_ACCESS_FLAGS | IB_ZERO_BASED | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL;

	if (dev->attr.caps & OHCA_CAP_MW)
		known |= IB_ACCESS_MW_BIND;
	if (dev->attr.caps & OHCA_CAP_FLUSH)
		known |= IB_ACCESS_FLUSH_GLOBAL;
	if (access & ~known) {
		ibdev_dbg(dev->ibdev, "unsupported access flags %#x\n", access);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Check additional flags for user memory. */
static int ohca_check_user_access(struct ohca_dev *dev, int access)
{
	if (access & IB_ACCESS_ON_DEMAND) {
		if (!(dev->attr.caps & OHCA_CAP_ODP) || access & IB_ACCESS_MW_BIND)
			return -EOPNOTSUPP;
		access &= ~IB_ACCESS_ON_DEMAND;
	}
	return ohca_check_access(dev, access);
}

static int ohca_check_range(struct ohca_dev *dev, u64 length, u64 iova)
{
	u64 last;

	if (!length || length > dev->attr.max_mr_size ||
	    check_add_overflow(iova, length - 1, &last)) {
		ibdev_dbg(dev->ibdev, "memory region of %llu bytes at %#llx\n", length, iova);
		return -EINVAL;
	}
	return 0;
}

struct ohca_mr *ohca_mr_create(struct ohca_dev *dev, const struct ohca_mkey_params *params)
{
	struct ohca_mr *mr;
	int err;

	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	err = ohca_cmd_create_mkey(dev, params, &mr->key);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}

	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	return mr;
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

	err = ohca_check_access(dev, access);
	if (err)
		return ERR_PTR(err);

	/* For a key with local access only, ib_alloc_pd() requests remote access only. */
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC))
		access |= IB_ACCESS_LOCAL_WRITE;
	params.access = ohca_access(access);

	mr = ohca_mr_create(dev, &params);
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ibmr;
}

/* User memory */

/* Describe user memory for a command; the caller releases @xlt. */
static int ohca_mkey_set_umem(struct ohca_mkey_params *params, struct ohca_dev *dev,
			      struct ib_umem *umem, u64 iova, int access, struct ohca_xlt_desc *xlt)
{
	bool zero_based = access & IB_ZERO_BASED;

	params->xlt = xlt;
	params->iova = zero_based ? 0 : iova;
	params->length = umem->length;
	return ohca_xlt_from_umem(dev, umem, zero_based ? umem->address : iova, xlt);
}

/* Owns @umem, also on failure. */
static struct ib_mr *ohca_mr_create_user(struct ib_pd *ibpd, struct ib_umem *umem, u64 iova,
					 int access)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_mkey_params params = {
		.pdn = to_opd(ibpd)->pdn,
		.access = ohca_access(access),
	};
	struct ohca_xlt_desc xlt;
	struct ohca_mr *mr;
	int err;

	err = ohca_mkey_set_umem(&params, dev, umem, iova, access, &xlt);
	if (err)
		goto err_umem;

	mr = ohca_mr_create(dev, &params);
	ohca_xlt_release(dev, &xlt);
	if (IS_ERR(mr)) {
		err = PTR_ERR(mr);
		goto err_umem;
	}

	mr->access = access;
	mr->dmabuf = umem->is_dmabuf;
	mr->umem = umem;
	return &mr->ibmr;

err_umem:
	ib_umem_release(umem);
	return ERR_PTR(err);
}

struct ib_mr *ohca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ib_umem *umem;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);

	err = ohca_check_user_access(dev, access);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND && !start && length == U64_MAX)
		return ohca_odp_reg_all(ibpd, iova, access);

	err = ohca_check_range(dev, length, iova);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND)
		return ohca_odp_reg(ibpd, start, length, iova, access);

	umem = ib_umem_get_va(dev->ibdev, start, length, access);
	if (IS_ERR(umem)) {
		ibdev_dbg(dev->ibdev, "cannot pin %llu bytes: %pe\n", length, umem);
		return ERR_CAST(umem);
	}
	return ohca_mr_create_user(ibpd, umem, iova, access);
}

struct ib_mr *ohca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				      int access, struct ib_dmah *dmah,
				      struct uverbs_attr_bundle *attrs)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ib_umem_dmabuf *dmabuf;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);

	err = ohca_check_access(dev, access);
	if (err)
		return ERR_PTR(err);

	err = ohca_check_range(dev, length, iova);
	if (err)
		return ERR_PTR(err);

	/* The device can't follow memory that moves. */
	dmabuf = ib_umem_dmabuf_get_pinned(dev->ibdev, offset, length, fd, access);
	if (IS_ERR(dmabuf)) {
		ibdev_dbg(dev->ibdev, "cannot pin %llu bytes of a dma-buf: %pe\n", length, dmabuf);
		return ERR_CAST(dmabuf);
	}
	return ohca_mr_create_user(ibpd, &dmabuf->umem, iova, access);
}

struct ib_mr *ohca_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				 int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibmr->device);
	struct ohca_mkey_params params = {};
	struct ohca_mr *mr = to_omr(ibmr);
	struct ib_umem *umem = NULL;
	struct ohca_xlt_desc xlt;
	u32 mask = 0;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);

	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	err = ohca_check_user_access(dev, access);
	if (err)
		return ERR_PTR(err);
	/*
	 * A region with on-demand paging can be changed neither to pinned memory nor to other
	 * addresses, and the reverse.
	 */
	if ((access ^ mr->access) & IB_ACCESS_ON_DEMAND || (mr->odp && flags & IB_MR_REREG_TRANS))
		return ERR_PTR(-EOPNOTSUPP);
	/* Zero-based addresses can only be changed together with the translation. */
	if (!(flags & IB_MR_REREG_TRANS) && (access ^ mr->access) & IB_ZERO_BASED)
		return ERR_PTR(-EOPNOTSUPP);
	err = ib_umem_check_rereg(mr->umem, flags, access);
	if (err)
		return ERR_PTR(err);

	if (flags & IB_MR_REREG_PD) {
		mask |= OHCA_MKEY_ATTR_PD;
		params.pdn = to_opd(ibpd)->pdn;
	}
	if (flags & IB_MR_REREG_ACCESS) {
		mask |= OHCA_MKEY_ATTR_ACCESS;
		params.access = ohca_access(access);
	}
	if (flags & IB_MR_REREG_TRANS) {
		mask |= OHCA_MKEY_ATTR_XLT;
		err = ohca_check_range(dev, length, iova);
		if (err)
			return ERR_PTR(err);
		umem = ib_umem_get_va(dev->ibdev, start, length, access);
		if (IS_ERR(umem))
			return ERR_CAST(umem);
		err = ohca_mkey_set_umem(&params, dev, umem, iova, access, &xlt);
		if (err)
			goto err_umem;
	}

	if (mask)
		err = ohca_cmd_modify_mkey(dev, mr->key, mask, &params);
	if (umem)
		ohca_xlt_release(dev, &xlt);
	if (err)
		goto err_umem;

	mr->access = access;
	if (umem) {
		ib_umem_release(mr->umem);
		mr->umem = umem;
		mr->dmabuf = false;
	}
	return NULL; /* the same region, with the same keys */

err_umem:
	ib_umem_release(umem);
	return ERR_PTR(err);
}

/* Fast registration */

struct ib_mr *ohca_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_mkey_params params = {
		.pdn = to_opd(ibpd)->pdn,
		.type = OHCA_MKEY_FAST_REG,
		.max_pages = max_num_sg,
	};
	struct ohca_xlt_list list;
	struct ohca_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > ohca_max_fast_reg(dev))
		return ERR_PTR(-EINVAL);

	err = ohca_xlt_list_alloc(dev, &list, max_num_sg);
	if (err)
		return ERR_PTR(err);

	mr = ohca_mr_create(dev, &params);
	if (IS_ERR(mr)) {
		ohca_xlt_list_free(dev, &list);
		return ERR_CAST(mr);
	}
	mr->list = list;
	return &mr->ibmr;
}

static int ohca_mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	return ohca_xlt_list_add(&to_omr(ibmr)->list, addr);
}

int ohca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct ohca_dev *dev = to_odev(ibmr->device);

	if (!is_power_of_2(ibmr->page_size) || !(dev->attr.page_size_cap & ibmr->page_size))
		return -EINVAL;

	to_omr(ibmr)->list.npages = 0;
	return ib_sg_to_pages(ibmr, sg, nents, offset, ohca_mr_set_page);
}

/* A region with windows may be busy. */
static bool ohca_mr_end_later(struct ohca_dev *dev, struct ohca_mr *mr, struct ib_ucontext *ibuc)
{
	const struct ohca_umem umem = {.ib = mr->umem};

	if (mr->umem && !mr->odp && !(mr->access & IB_ACCESS_MW_BIND))
		return ohca_end_later(dev, ibuc, OHCA_END_MR, mr->key, &umem);
	ohca_endings_wait(dev, ibuc);
	return false;
}

int ohca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(ibmr->device);
	struct ohca_mr *mr = to_omr(ibmr);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	if (ohca_mr_end_later(dev, mr, ohca_udata_context(udata))) {
		kfree(mr);
		return 0;
	}
	if (mr->odp)
		ohca_odp_stop(mr->odp);
	err = ohca_cmd_destroy_mkey(dev, mr->key);
	if (err == -EBUSY && ibmr->uobject && mr->access & IB_ACCESS_MW_BIND)
		return err; /* windows are bound to it, and must be destroyed first */
	if (err)
		ohca_fence(dev, "memory region not destroyed");

	if (mr->odp)
		ohca_odp_free(mr->odp);
	ib_umem_release(mr->umem);
	ohca_xlt_list_free(dev, &mr->list);
	kfree(mr);
	return 0;
}

/* Windows are bound by work requests, which only processes can post. */

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

	if (ohca_end_later(dev, ibmw->uobject->context, OHCA_END_MW, ibmw->rkey, NULL))
		return 0;
	if (ohca_cmd_destroy_mkey(dev, ibmw->rkey))
		ohca_fence(dev, "memory window not destroyed");
	return 0;
}
