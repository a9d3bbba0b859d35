// SPDX-License-Identifier: GPL-2.0
/* The table of commands. */

#include <string.h>

#include "device/cmd.h"

/**
 * struct cmd_desc - a command
 * @in_len: bytes of its input structure
 * @out_len: bytes of its output structure
 * @out_min: of them so many are asked for at least, 0: all
 * @more: bytes of the input beyond @in_len, as that says; NULL: none
 */
struct cmd_desc {
	cmd_fn *fn;
	uint16_t in_len;
	uint16_t out_len;
	uint16_t out_min;
	uint16_t (*more)(const void *in);
};

#define H sizeof(struct ohca_handle)

static const struct cmd_desc cmds[] = {
	[OHCA_CMD_QUERY_DEVICE] = {cmd_query_device, 0, sizeof(struct ohca_query_device_out),
				   OHCA_QUERY_DEVICE_OUT_1_1},
	[OHCA_CMD_QUERY_PORT] = {cmd_query_port, sizeof(struct ohca_query_port_in),
				 sizeof(struct ohca_query_port_out)},
	[OHCA_CMD_MODIFY_PORT] = {cmd_modify_port, sizeof(struct ohca_modify_port_in), 0},
	[OHCA_CMD_SET_GID] = {cmd_set_gid, sizeof(struct ohca_set_gid_in), 0},
	[OHCA_CMD_ALLOC_UAR] = {cmd_alloc_uar, sizeof(struct ohca_alloc_uar_in), H},
	[OHCA_CMD_FREE_UAR] = {cmd_free_uar, H, 0},
	[OHCA_CMD_ALLOC_PD] = {cmd_alloc_pd, 0, H},
	[OHCA_CMD_FREE_PD] = {cmd_free_pd, H, 0},
	[OHCA_CMD_ALLOC_XRCD] = {cmd_alloc_xrcd, 0, H},
	[OHCA_CMD_FREE_XRCD] = {cmd_free_xrcd, H, 0},
	[OHCA_CMD_QUERY_COUNTERS] = {cmd_query_counters, H, sizeof(struct ohca_query_counters_out),
				     OHCA_QUERY_COUNTERS_OUT_1_2},
	[OHCA_CMD_ALLOC_COUNTERS] = {cmd_alloc_counters, 0, H},
	[OHCA_CMD_FREE_COUNTERS] = {cmd_free_counters, H, 0},
	[OHCA_CMD_CREATE_EQ] = {cmd_create_eq, sizeof(struct ohca_create_eq_in), H},
	[OHCA_CMD_DESTROY_EQ] = {cmd_destroy_eq, H, 0},
	[OHCA_CMD_CREATE_CQ] = {cmd_create_cq, sizeof(struct ohca_create_cq_in), H},
	[OHCA_CMD_DESTROY_CQ] = {cmd_destroy_cq, H, 0},
	[OHCA_CMD_MODIFY_CQ] = {cmd_modify_cq, sizeof(struct ohca_modify_cq_in), 0},
	[OHCA_CMD_RESIZE_CQ] = {cmd_resize_cq, sizeof(struct ohca_resize_cq_in), 0},
	[OHCA_CMD_CREATE_MKEY] = {cmd_create_mkey, sizeof(struct ohca_create_mkey_in), H},
	[OHCA_CMD_DESTROY_MKEY] = {cmd_destroy_mkey, H, 0},
	[OHCA_CMD_MODIFY_MKEY] = {cmd_modify_mkey, sizeof(struct ohca_modify_mkey_in), 0},
	[OHCA_CMD_QUERY_MKEY] = {cmd_query_mkey, H, sizeof(struct ohca_query_mkey_out)},
	[OHCA_CMD_MODIFY_PAGES] = {cmd_modify_pages, offsetof(struct ohca_modify_pages_in, page),
				   .more = cmd_modify_pages_more},
	[OHCA_CMD_ALLOC_DM] = {cmd_alloc_dm, sizeof(struct ohca_alloc_dm_in),
			       sizeof(struct ohca_alloc_dm_out)},
	[OHCA_CMD_FREE_DM] = {cmd_free_dm, H, 0},
	[OHCA_CMD_CREATE_QP] = {cmd_create_qp, sizeof(struct ohca_create_qp_in), H},
	[OHCA_CMD_MODIFY_QP] = {cmd_modify_qp, sizeof(struct ohca_modify_qp_in), 0},
	[OHCA_CMD_QUERY_QP] = {cmd_query_qp, H, sizeof(struct ohca_query_qp_out)},
	[OHCA_CMD_DESTROY_QP] = {cmd_destroy_qp, H, 0},
	[OHCA_CMD_ATTACH_MCAST] = {cmd_attach_mcast, sizeof(struct ohca_mcast_in), 0},
	[OHCA_CMD_DETACH_MCAST] = {cmd_detach_mcast, sizeof(struct ohca_mcast_in), 0},
	[OHCA_CMD_CREATE_IND_TBL] = {cmd_create_ind_tbl, sizeof(struct ohca_create_ind_tbl_in), H},
	[OHCA_CMD_DESTROY_IND_TBL] = {cmd_destroy_ind_tbl, H, 0},
	[OHCA_CMD_CREATE_RSS] = {cmd_create_rss, sizeof(struct ohca_create_rss_in), H},
	[OHCA_CMD_CREATE_SRQ] = {cmd_create_srq, sizeof(struct ohca_create_srq_in), H},
	[OHCA_CMD_MODIFY_SRQ] = {cmd_modify_srq, sizeof(struct ohca_modify_srq_in), 0},
	[OHCA_CMD_QUERY_SRQ] = {cmd_query_srq, H, sizeof(struct ohca_query_srq_out)},
	[OHCA_CMD_DESTROY_SRQ] = {cmd_destroy_srq, H, 0},
	[OHCA_CMD_CREATE_FLOW] = {cmd_create_flow, sizeof(struct ohca_create_flow_in), H},
	[OHCA_CMD_DESTROY_FLOW] = {cmd_destroy_flow, H, 0},
};

bool cmd_all_zero(const void *bytes, unsigned int len)
{
	const uint8_t *p = bytes;

	while (len--) {
		if (*p++)
			return false;
	}
	return true;
}

enum ohca_cmd_status cmd_execute(struct hca *hca, uint16_t opcode, const void *in, uint16_t in_len,
				 void *out, uint16_t out_room, uint16_t *out_len,
				 uint32_t *syndrome)
{
	struct cmd_ctx ctx = {.in = in, .out = out};
	const struct cmd_desc *desc;
	enum ohca_cmd_status status;
	uint16_t known;

	*out_len = 0;
	if (opcode >= sizeof(cmds) / sizeof(cmds[0]) || !cmds[opcode].fn)
		return OHCA_CMD_BAD_OPCODE;
	desc = &cmds[opcode];
	if (in_len < desc->in_len || out_room < (desc->out_min ?: desc->out_len))
		return OHCA_CMD_BAD_LEN;
	known = desc->in_len + (desc->more ? desc->more(in) : 0);
	if (in_len < known)
		return OHCA_CMD_BAD_LEN;
	if (!cmd_all_zero((const uint8_t *)in + known, in_len - known)) {
		*syndrome = known;
		return OHCA_CMD_BAD_PARAM;
	}

	memset(out, 0, desc->out_len);
	status = desc->fn(hca, &ctx);
	if (status)
		*syndrome = ctx.syndrome;
	else
		*out_len = out_room < desc->out_len ? out_room : desc->out_len;
	return status;
}
