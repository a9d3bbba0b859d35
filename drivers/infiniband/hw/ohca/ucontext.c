// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: user contexts.  A process that opens the device gets a UAR; a process that imports
 * the context of another one shares its UAR.
 */

#include <linux/sched/task.h>
#include <rdma/ohca-abi.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>
#define UVERBS_MODULE_NAME ohca_ucontext
#include <rdma/uverbs_named_ioctl.h>

#include "ohca.h"
#include "ohca_compat.h"
#include "srq.h"
#include "ucontext.h"
#include "verbs.h"

static void ohca_ucontext_resp(struct ohca_ucontext *uc, struct ohca_uctx_resp *resp)
{
	struct ohca_dev *dev = to_odev(uc->ibuc.device);

	resp->uar = uc->uar.index;
	resp->uar_offset = rdma_user_mmap_get_offset(uc->db);
	if (uc->shadow) {
		resp->flags = OHCA_UCTX_SHADOW_DB;
		resp->shadow_offset = rdma_user_mmap_get_offset(uc->shadow);
	}
	resp->max_inline = dev->attr.max_inline;
	resp->max_send_sge = dev->attr.max_send_sge;
	resp->max_recv_sge = dev->attr.max_recv_sge;
	resp->max_qp_wr = dev->attr.max_qp_wr;
	resp->max_cqe = dev->attr.max_cqe;
	resp->caps = dev->attr.caps;
	resp->max_srq_wr = dev->attr.max_srq_wr;
	resp->clock_khz = dev->attr.clock_khz;
}

static int ohca_init_ucontext(struct ohca_ucontext *uc, struct ib_udata *udata)
{
	struct ohca_dev *dev = to_odev(uc->ibuc.device);
	struct ohca_uctx_resp resp = {};
	struct ohca_uctx_req req = {};
	int err;

	err = ib_copy_validate_udata_in_cm(udata, req, rsvd, 0);
	if (err)
		return err;
	if (req.rsvd)
		return -EINVAL;

	ohca_endings_init(&uc->endings);
	ohca_umem_pages_init(&uc->pages);
	err = ohca_uar_alloc(dev, &uc->uar);
	if (err)
		goto err_pages;

	err = ohca_mmap_init(uc);
	if (err)
		goto err_uar;

	ohca_ucontext_resp(uc, &resp);
	err = ib_respond_udata(udata, resp);
	if (err)
		goto err_mmap;

	return 0;

err_mmap:
	ohca_mmap_fini(uc);
err_uar:
	ohca_uar_free(dev, &uc->uar);
err_pages:
	ohca_umem_pages_fini(&uc->pages);
	return err;
}

int ohca_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	int err = ohca_init_ucontext(to_ouctx(ibuc), udata);

	/* On an error, ib_core's GET_CONTEXT frees the context without releasing its task. */
	if (err && ibuc->res.task) {
		put_task_struct(ibuc->res.task);
		ibuc->res.task = NULL;
	}
	return err;
}

void ohca_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	struct ohca_dev *dev = to_odev(ibuc->device);
	struct ohca_ucontext *uc = to_ouctx(ibuc);

	ohca_endings_wait(dev, ibuc);
	ohca_umem_pages_fini(&uc->pages);
	ohca_mmap_fini(uc);
	ohca_uar_free(dev, &uc->uar);
}

int ohca_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	struct ohca_uctx_resp resp = {};

	ohca_ucontext_resp(to_ouctx(ibuc), &resp);
	return uverbs_copy_to_struct_or_zero(attrs, OHCA_ATTR_QUERY_CONTEXT_RESP, &resp,
					     sizeof(resp));
}

/*
 * ib_core removes the doorbell mapping and destroys the context's objects.  It only checks that
 * this operation exists.
 */
void ohca_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

#define OHCA_UCTX_RESP UVERBS_ATTR_STRUCT(struct ohca_uctx_resp, clock_khz)

ADD_UVERBS_ATTRIBUTES_SIMPLE(ohca_query_context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(OHCA_ATTR_QUERY_CONTEXT_RESP, OHCA_UCTX_RESP,
						 UA_MANDATORY));

const struct uapi_definition ohca_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &ohca_query_context),
	UAPI_DEF_CHAIN(ohca_dm_defs),
	UAPI_DEF_CHAIN(ohca_srq_defs),
	{},
};
