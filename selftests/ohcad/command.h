/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every command of the device with a valid input, for tests that use these inputs or make them
 * invalid.
 */

#ifndef SELFTESTS_OHCAD_COMMAND_H
#define SELFTESTS_OHCAD_COMMAND_H

#include "drv.h"

/**
 * struct objects - the objects that the inputs refer to
 */
struct objects {
	struct drv *drv;
	struct drv_eq *eq;
	struct drv_cq *cq;
	uint32_t pdn;
};

/* Create them, on an HCA with UAR 0. */
void objects_init(struct objects *obj, struct drv *drv);

union input {
	struct ohca_handle handle;
	struct ohca_query_port_in query_port;
	struct ohca_modify_port_in modify_port;
	struct ohca_set_link_layer_in set_link_layer;
	struct ohca_set_gid_in set_gid;
	struct ohca_query_gid_in query_gid;
	struct ohca_query_pkey_in query_pkey;
	struct ohca_alloc_counters_in alloc_counters;
	struct ohca_alloc_uar_in alloc_uar;
	struct ohca_create_eq_in create_eq;
	struct ohca_create_cq_in create_cq;
	struct ohca_modify_cq_in modify_cq;
	struct ohca_resize_cq_in resize_cq;
	struct ohca_create_mkey_in create_mkey;
	struct ohca_modify_mkey_in modify_mkey;
	struct ohca_modify_pages_in modify_pages;
	struct ohca_alloc_dm_in alloc_dm;
	struct ohca_create_qp_in create_qp;
	struct ohca_modify_qp_in modify_qp;
	struct ohca_mcast_in mcast;
	struct ohca_create_srq_in create_srq;
	struct ohca_modify_srq_in modify_srq;
	struct ohca_create_flow_in create_flow;
	struct ohca_create_ind_tbl_in create_ind_tbl;
	struct ohca_create_rss_in create_rss;
	uint8_t bytes[OHCA_CMD_MAX_LEN];
};

/**
 * struct command - a command
 * @in_len, @out_len: bytes of its input and its result
 * @build: fills in a valid input, @in is zeroed before.  For a command that takes a handle it
 *	creates a new object
 * @destroy: command that destroys what this one creates, 0: none
 */
struct command {
	uint16_t opcode;
	uint16_t in_len, out_len;
	void (*build)(const struct objects *obj, union input *in);
	uint16_t destroy;
};

extern const struct command commands[];
extern const unsigned int num_commands;

/* Does its @build make an object, which must not fail? */
bool command_makes(const struct command *command);

#endif
