// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device and its contexts.
 */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <util/util.h>

#include "ohca.h"
#include "ohca_abi.h"

static void ohca_free_context(struct ibv_context *ibctx);

static const struct verbs_context_ops ohca_context_ops = {
	.advise_mr = ohca_advise_mr,
	.alloc_dm = ohca_alloc_dm,
	.alloc_mw = ohca_alloc_mw,
	.alloc_parent_domain = ohca_alloc_parent_domain,
	.alloc_pd = ohca_alloc_pd,
	.alloc_td = ohca_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = ohca_bind_mw,
	.close_xrcd = ohca_close_xrcd,
	.create_ah = ohca_create_ah,
	.create_cq = ohca_create_cq,
	.create_cq_ex = ohca_create_cq_ex,
	.create_flow = ohca_create_flow,
	.create_qp = ohca_create_qp,
	.create_qp_ex = ohca_create_qp_ex,
	.create_rwq_ind_table = ohca_create_rwq_ind_table,
	.create_srq = ohca_create_srq,
	.create_srq_ex = ohca_create_srq_ex,
	.create_wq = ohca_create_wq,
	.dealloc_mw = ohca_dealloc_mw,
	.dealloc_pd = ohca_dealloc_pd,
	.dealloc_td = ohca_dealloc_td,
	.dereg_mr = ohca_dereg_mr,
	.destroy_ah = ohca_destroy_ah,
	.destroy_cq = ohca_destroy_cq,
	.destroy_flow = ohca_destroy_flow,
	.destroy_qp = ohca_destroy_qp,
	.destroy_rwq_ind_table = ohca_destroy_rwq_ind_table,
	.destroy_srq = ohca_destroy_srq,
	.destroy_wq = ohca_destroy_wq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = ohca_free_context,
	.free_dm = ohca_free_dm,
	.get_srq_num = ohca_get_srq_num,
	.import_dm = ohca_import_dm,
	.import_mr = ohca_import_mr,
	.import_pd = ohca_import_pd,
	.modify_cq = ohca_modify_cq,
	.modify_qp = ohca_modify_qp,
	.modify_srq = ohca_modify_srq,
	.modify_wq = ohca_modify_wq,
	.open_qp = ohca_open_qp,
	.open_xrcd = ohca_open_xrcd,
	.poll_cq = ohca_poll_cq,
	.post_recv = ohca_post_recv,
	.post_send = ohca_post_send,
	.post_srq_ops = ohca_post_srq_ops,
	.post_srq_recv = ohca_post_srq_recv,
	.query_device_ex = ohca_query_device,
	.query_port = ohca_query_port,
	.query_qp = ohca_query_qp,
	.query_rt_values = ohca_query_rt_values,
	.query_srq = ohca_query_srq,
	.reg_dm_mr = ohca_reg_dm_mr,
	.reg_dmabuf_mr = ohca_reg_dmabuf_mr,
	.reg_mr = ohca_reg_mr,
	.req_notify_cq = ohca_req_notify_cq,
	.rereg_mr = ohca_rereg_mr,
	.resize_cq = ohca_resize_cq,
	.unimport_dm = ohca_unimport_dm,
	.unimport_mr = ohca_unimport_mr,
	.unimport_pd = ohca_unimport_pd,
};

/* Map the doorbell page and, if there is one, the shadow page of the context's UAR. */
static int ohca_map_uar(struct ohca_context *ctx, int cmd_fd, const struct ohca_uctx_resp *resp)
{
	int prot = resp->caps & OHCA_CAP_TIMESTAMP ? PROT_READ | PROT_WRITE : PROT_WRITE;
	void *map;
	int ret;

	map = mmap(NULL, OHCA_UAR_SIZE, prot, MAP_SHARED, cmd_fd, resp->uar_offset);
	if (map == MAP_FAILED)
		return errno;
	ctx->uar = map;
	if (!(resp->flags & OHCA_UCTX_SHADOW_DB))
		return 0;
	map = mmap(NULL, OHCA_UAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, cmd_fd,
		   resp->shadow_offset);
	if (map == MAP_FAILED) {
		ret = errno;
		munmap(ctx->uar, OHCA_UAR_SIZE);
		return ret;
	}
	ctx->shadow = map;
	return 0;
}

/* Initialize a context from the kernel's response. */
static int ohca_init_context(struct ohca_context *ctx, int cmd_fd,
			     const struct ohca_uctx_resp *resp)
{
	int ret;

	/* A newer driver may say more: bits that this library does not know are not used. */
	ret = ohca_map_uar(ctx, cmd_fd, resp);
	if (ret)
		return ret;

	ctx->limits = (struct ohca_limits){
		.max_inline = ohca_min(resp->max_inline, OHCA_MAX_INLINE),
		.max_send_sge = ohca_min(resp->max_send_sge, OHCA_MAX_SGE),
		.max_recv_sge = ohca_min(resp->max_recv_sge, OHCA_MAX_SGE),
		.max_qp_wr = resp->max_qp_wr,
		.max_cqe = resp->max_cqe,
		.max_srq_wr = resp->max_srq_wr,
	};
	ctx->caps = resp->caps;
	ctx->unlocked = check_env("OHCA_SINGLE_THREADED");
	ohca_table_init(&ctx->qps);
	ohca_table_init(&ctx->srqs);
	verbs_set_ops(&ctx->vctx, &ohca_context_ops);
	return 0;
}

/*
 * The context for the kernel's result @ret and response @resp: initialized, or freed with errno
 * set.
 */
static struct verbs_context *ohca_finish_context(struct ohca_context *ctx, int cmd_fd, int ret,
						 const struct ohca_uctx_resp *resp)
{
	if (!ret)
		ret = ohca_init_context(ctx, cmd_fd, resp);
	if (!ret)
		return &ctx->vctx;

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = ret;
	return NULL;
}

static struct verbs_context *ohca_alloc_context(struct ibv_device *device, int cmd_fd,
						void *private_data)
{
	struct ohca_cmd_get_context_resp resp = {};
	struct ohca_cmd_get_context cmd = {};
	struct ohca_context *ctx;
	int ret;

	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;
	ret = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd), &resp.ibv_resp,
				  sizeof(resp));
	return ohca_finish_context(ctx, cmd_fd, ret, &resp.drv_payload);
}

static struct verbs_context *ohca_import_context(struct ibv_device *device, int cmd_fd)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, 1);
	struct ohca_uctx_resp resp = {};
	struct ohca_context *ctx;
	int ret;

	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;
	fill_attr_out(cmd, OHCA_ATTR_QUERY_CONTEXT_RESP, &resp, sizeof(resp));
	ret = ibv_cmd_query_context(&ctx->vctx.context, cmd);
	return ohca_finish_context(ctx, cmd_fd, ret, &resp);
}

static void ohca_free_context(struct ibv_context *ibctx)
{
	struct ohca_context *ctx = to_octx(ibctx);

	ohca_table_free(&ctx->qps);
	ohca_table_free(&ctx->srqs);
	if (ctx->shadow)
		munmap(ctx->shadow, OHCA_UAR_SIZE);
	munmap(ctx->uar, OHCA_UAR_SIZE);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static struct verbs_device *ohca_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void ohca_uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

static const struct verbs_match_ent ohca_match_table[] = {
	VERBS_PCI_MATCH(OHCA_PCI_VENDOR_ID, OHCA_PCI_DEVICE_ID, NULL),
	{},
};

static const struct verbs_device_ops ohca_device_ops = {
	.name = "ohca",
	.match_min_abi_version = OHCA_ABI_VERSION,
	.match_max_abi_version = OHCA_ABI_VERSION,
	.match_table = ohca_match_table,
	.alloc_device = ohca_alloc_device,
	.uninit_device = ohca_uninit_device,
	.alloc_context = ohca_alloc_context,
	.import_context = ohca_import_context,
};
PROVIDER_DRIVER(ohca, ohca_device_ops);
