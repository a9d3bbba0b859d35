// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: device memory.
 *
 * The mmap entry owns the memory: it is not freed as long as a process has it mapped.
 */

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ohca-abi.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>
#define UVERBS_MODULE_NAME ohca_dm
#include <rdma/uverbs_named_ioctl.h>

#include "mr.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "pd.h"
#include "ucontext.h"
#include "verbs.h"

/**
 * struct ohca_dm - device memory
 * @ibdm: ib_core's part
 * @entry: mmap entry
 */
struct ohca_dm {
	struct ib_dm ibdm;
	struct ohca_mmap_entry *entry;
};

static struct ohca_dm *to_odm(struct ib_dm *ibdm)
{
	return container_of(ibdm, struct ohca_dm, ibdm);
}

struct ib_dm *ohca_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			    struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct ohca_dev *dev = to_odev(ibdev);
	struct ohca_mmap_entry *entry;
	struct ohca_dm *dm;
	u64 offset;
	int err;

	if (!attr->length || attr->alignment > U8_MAX) /* log2 of the alignment */
		return ERR_PTR(-EINVAL);

	dm = kzalloc_obj(*dm);
	if (!dm)
		return ERR_PTR(-ENOMEM);

	entry = ohca_mmap_alloc_dm(to_ouctx(ibuc), attr->length, attr->alignment);
	if (IS_ERR(entry)) {
		err = PTR_ERR(entry);
		goto err_free;
	}
	dm->entry = entry;

	offset = rdma_user_mmap_get_offset(&entry->rdma);
	err = uverbs_copy_to(attrs, OHCA_ATTR_ALLOC_DM_RESP_OFFSET, &offset, sizeof(offset));
	if (err)
		goto err_entry;

	ibdev_dbg(dev->ibdev, "%llu bytes of device memory\n", attr->length);
	return &dm->ibdm;

err_entry:
	rdma_user_mmap_entry_remove(&entry->rdma);
err_free:
	kfree(dm);
	return ERR_PTR(err);
}

int ohca_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct ohca_dm *dm = to_odm(ibdm);

	rdma_user_mmap_entry_remove(&dm->entry->rdma);
	kfree(dm);
	return 0;
}

struct ib_mr *ohca_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct ohca_dev *dev = to_odev(ibpd->device);
	struct ohca_mkey_params params = {
		.length = attr->length,
		.pdn = to_opd(ibpd)->pdn,
		.access = ohca_access(attr->access_flags),
		.type = OHCA_MKEY_DM,
		.dm = to_odm(ibdm)->entry->dm,
		.dm_offset = attr->offset,
	};
	struct ohca_mr *mr;
	u64 end;

	if (attr->access_flags & ~(OHCA_ACCESS_FLAGS | IB_ZERO_BASED | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	if (check_add_overflow(attr->offset, attr->length, &end) || end > ibdm->length)
		return ERR_PTR(-EINVAL);

	mr = ohca_mr_create(dev, &params);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	mr->ibmr.length = attr->length;
	return &mr->ibmr;
}

static int UVERBS_HANDLER(OHCA_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs, OHCA_ATTR_QUERY_DM_HANDLE);
	u64 offset = rdma_user_mmap_get_offset(&to_odm(ibdm)->entry->rdma);
	u64 length = ibdm->length;
	int err;

	err = uverbs_copy_to(attrs, OHCA_ATTR_QUERY_DM_RESP_OFFSET, &offset, sizeof(offset));
	if (err)
		return err;

	return uverbs_copy_to(attrs, OHCA_ATTR_QUERY_DM_RESP_LENGTH, &length, sizeof(length));
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(ohca_dm, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(OHCA_ATTR_ALLOC_DM_RESP_OFFSET,
						 UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(OHCA_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(OHCA_ATTR_QUERY_DM_HANDLE, UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(OHCA_ATTR_QUERY_DM_RESP_OFFSET,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(OHCA_ATTR_QUERY_DM_RESP_LENGTH,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(UVERBS_OBJECT_DM, &UVERBS_METHOD(OHCA_METHOD_DM_QUERY));

const struct uapi_definition ohca_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &ohca_dm),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UVERBS_OBJECT_DM),
	{},
};
