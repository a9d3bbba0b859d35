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
DECLARE_DRV_CMD(ohca_cmd_create_qp, IB_USER_VERBS_CMD_CREATE_QP, ohca_create_qp_req,
		ohca_create_qp_resp);

#endif /* OHCA_PROVIDER_ABI_H */
