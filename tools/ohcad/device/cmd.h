/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands: what the command queue calls.  Each object's file implements its commands and the
 * table in cmd.c names them.
 */

#ifndef OHCAD_CMD_H
#define OHCAD_CMD_H

#include "device/hca.h"

/**
 * struct cmd_ctx - a command under execution
 * @in: input, already copied, at least the length the table asks for; excess bytes were checked
 *	to be zero
 * @out: output of the table's length, zeroed, copied to the host when the command succeeds
 * @syndrome: what to tell about a failure
 */
struct cmd_ctx {
	const void *in;
	void *out;
	uint32_t syndrome;
};

typedef enum ohca_cmd_status cmd_fn(struct hca *hca, struct cmd_ctx *ctx);

/* Refuse a field: sets the syndrome to its offset in the input structure. */
#define CMD_BAD(ctx, type, field, status) ((ctx)->syndrome = offsetof(type, field), (status))

/* Reserved bytes are to be zero. */
bool cmd_all_zero(const void *bytes, unsigned int len);

cmd_fn cmd_alloc_uar, cmd_free_uar; /* uar.c */
cmd_fn cmd_alloc_pd, cmd_free_pd; /* pd.c */
cmd_fn cmd_create_eq, cmd_destroy_eq; /* eq.c */
cmd_fn cmd_create_cq, cmd_destroy_cq, cmd_modify_cq, cmd_resize_cq; /* cq_cmd.c */
cmd_fn cmd_create_mkey, cmd_modify_mkey, cmd_query_mkey, cmd_destroy_mkey; /* mkey_cmd.c */
cmd_fn cmd_modify_pages; /* odp_cmd.c */
/* Bytes of its input after the fields of fixed size. */
uint16_t cmd_modify_pages_more(const void *in);
cmd_fn cmd_alloc_dm, cmd_free_dm; /* dm.c */
cmd_fn cmd_create_qp, cmd_destroy_qp; /* qp_create.c */
cmd_fn cmd_modify_qp, cmd_query_qp; /* qp_modify.c */
cmd_fn cmd_attach_mcast, cmd_detach_mcast; /* mcast.c */
cmd_fn cmd_create_srq, cmd_modify_srq, cmd_query_srq, cmd_destroy_srq; /* srq.c */
cmd_fn cmd_alloc_xrcd, cmd_free_xrcd; /* xrcd.c */
cmd_fn cmd_alloc_counters, cmd_free_counters, cmd_query_counters; /* counters.c */
cmd_fn cmd_create_flow, cmd_destroy_flow; /* flow.c */
cmd_fn cmd_create_ind_tbl, cmd_destroy_ind_tbl, cmd_create_rss; /* rss.c */
cmd_fn cmd_query_device; /* hca.c */
cmd_fn cmd_query_port, cmd_modify_port, cmd_set_gid; /* port.c */

/*
 * Execute one command: lengths, dispatch, output.  @in_len bytes at @in; @out has room for
 * OHCA_CMD_MAX_LEN.
 */
enum ohca_cmd_status cmd_execute(struct hca *hca, uint16_t opcode, const void *in, uint16_t in_len,
				 void *out, uint16_t out_room, uint16_t *out_len,
				 uint32_t *syndrome);

#endif
