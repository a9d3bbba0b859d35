/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands to the kernel driver, with its private parts.
 */

#ifndef OHCA_PROVIDER_ABI_H
#define OHCA_PROVIDER_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/ohca-abi.h>
#include <kernel-abi/ohca-abi.h>

DECLARE_DRV_CMD(ohca_cmd_get_context, IB_USER_VERBS_CMD_GET_CONTEXT, ohca_uctx_req, ohca_uctx_resp);
DECLARE_DRV_CMD(ohca_cmd_alloc_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty, ohca_alloc_pd_resp);
DECLARE_DRV_CMD(ohca_cmd_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ, ohca_create_cq_req,
		ohca_create_cq_resp);
DECLARE_DRV_CMD(ohca_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ, ohca_resize_cq_req, empty);
DECLARE_DRV_CMD(ohca_cmd_create_ah, IB_USER_VERBS_CMD_CREATE_AH, empty, ohca_create_ah_resp);
DECLARE_DRV_CMD(ohca_cmd_create_qp, IB_USER_VERBS_EX_CMD_CREATE_QP, ohca_create_qp_req,
		ohca_create_qp_resp);
DECLARE_DRV_CMD(ohca_cmd_create_rss, IB_USER_VERBS_EX_CMD_CREATE_QP, ohca_create_rss_req,
		ohca_create_qp_resp);
DECLARE_DRV_CMD(ohca_cmd_create_wq, IB_USER_VERBS_EX_CMD_CREATE_WQ, ohca_create_wq_req, empty);
DECLARE_DRV_CMD(ohca_cmd_create_srq, IB_USER_VERBS_CMD_CREATE_XSRQ, ohca_create_srq_req,
		ohca_create_srq_resp);
DECLARE_DRV_CMD(ohca_cmd_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ, ohca_modify_srq_req, empty);

#endif /* OHCA_PROVIDER_ABI_H */
