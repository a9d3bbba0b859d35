/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the commands, one typed function each.  Parameters are in CPU byte order, except for
 * attributes of queue pairs and address vectors, which are in the device's format.
 *
 * All functions sleep and return 0 or a negative errno: -EIO when the device is fenced, -EINVAL for
 * a parameter or handle that it refused (also for an invalid QP transition), -EBUSY for an object
 * in use, -ENOMEM when a limit is reached, -EFAULT for an address that is no memory, -EOPNOTSUPP
 * for a request that it does not support.  Functions that destroy succeed when the device is
 * fenced.  Results are unchanged on error.
 */

#ifndef _OHCA_FW_CMD_H
#define _OHCA_FW_CMD_H

#include <linux/if_ether.h>
#include <linux/types.h>

#include <ohca/ohca_cmd.h>

struct ohca_cmd_batch;
struct ohca_cmd_later;
struct ohca_dev;
struct ohca_xlt_desc;

/**
 * struct ohca_dev_attr - identity and limits; see struct ohca_query_device_out
 */
struct ohca_dev_attr {
	u64 fw_ver;
	__be64 node_guid;
	u64 max_mr_size;
	u64 page_size_cap;
	u32 reserved_lkey;
	u32 max_uar;
	u32 max_pd;
	u32 max_eq;
	u32 max_cq;
	u32 max_cqe;
	u32 max_mkey;
	u32 max_qp;
	u32 max_qp_wr;
	u32 max_msg_size;
	u16 max_send_sge;
	u16 max_recv_sge;
	u16 max_inline;
	u8 max_rd_atomic;
	u8 num_ports;
	u32 hw_ver;
	u32 max_srq;
	u64 caps;
	u32 max_srq_wr;
	u32 max_xrcd;
	u32 max_mcast;
	u32 max_mcast_qp;
	u32 max_counters;
	u32 clock_khz;
	u32 max_fast_reg;
	u32 dm_pages;
	u32 max_ind_tbl;
	u8 log_max_ind_tbl;
	u32 max_tags;
};

/**
 * struct ohca_port_attr - state and attributes of a port; see struct ohca_query_port_out
 */
struct ohca_port_attr {
	u8 link_layer;
	u8 state;
	u8 phys_state;
	u8 max_mtu;
	u8 mac[ETH_ALEN];
	u16 gid_tbl_len;
	u16 pkey_tbl_len;
	u16 active_speed;
	u8 active_width;
	u8 link_layers;
	u8 next_link_layer;
	u32 max_frame;
	u16 lid;
	u16 sm_lid;
	u8 lmc;
	u8 sm_sl;
	u8 subnet_timeout;
	u8 init_type_reply;
	u32 cap_mask;
	u8 max_vl_num;
	u8 active_mtu;
	u16 cap_mask2;
	__be64 subnet_prefix;
	u16 bad_pkeys;
	u16 qkey_viols;
};

/**
 * struct ohca_port_params - what to change of a port; see struct ohca_modify_port_in
 */
struct ohca_port_params {
	u32 attr_mask;
	bool admin_up;
	bool promisc;
	bool large_rx;
	u8 mac[ETH_ALEN];
	u32 set_caps;
	u32 clr_caps;
	u8 init_type;
};

/**
 * struct ohca_gid_params - an entry of the GID table; see struct ohca_set_gid_in
 */
struct ohca_gid_params {
	u8 gid[16];
	u16 index;
	u8 type;
	u8 mac[ETH_ALEN];
	u16 vlan;
};

/**
 * struct ohca_eq_params - an event queue; see struct ohca_create_eq_in
 */
struct ohca_eq_params {
	const struct ohca_xlt_desc *buf;
	u32 rec_offset;
	u16 vector;
	u8 log_size;
	u8 flags;
};

/**
 * struct ohca_cq_params - a completion queue; see struct ohca_create_cq_in
 */
struct ohca_cq_params {
	const struct ohca_xlt_desc *buf;
	u32 rec_offset;
	u32 eqn;
	u8 log_size;
	u8 flags;
};

/**
 * struct ohca_mkey_params - a memory region or window; see struct ohca_create_mkey_in
 * @xlt: NULL for what has no pages (yet)
 * @dm: OHCA_MKEY_DM: the device memory
 * @dm_offset: OHCA_MKEY_DM: where in it the region begins
 */
struct ohca_mkey_params {
	const struct ohca_xlt_desc *xlt;
	u64 iova;
	u64 length;
	u32 pdn;
	u8 access;
	u8 type;
	u32 max_pages;
	u32 dm;
	u64 dm_offset;
};

/**
 * struct ohca_qp_params - a queue pair; see struct ohca_create_qp_in
 * @buf: NULL for one without queues
 */
struct ohca_qp_params {
	const struct ohca_xlt_desc *buf;
	u32 sq_offset;
	u32 rq_offset;
	u32 sq_rec_offset;
	u32 rq_rec_offset;
	u32 pdn;
	u32 uar;
	u32 send_cqn;
	u32 recv_cqn;
	u16 slot;
	u16 max_send_sge;
	u16 max_recv_sge;
	u16 max_inline;
	u8 type;
	u8 flags;
	u8 sq_log_size;
	u8 sq_log_stride;
	u8 rq_log_size;
	u8 rq_log_stride;
	u8 port;
	u32 srqn;
	u32 xrcdn;
};

/**
 * struct ohca_srq_params - a shared receive queue; see struct ohca_create_srq_in
 */
struct ohca_srq_params {
	const struct ohca_xlt_desc *buf;
	u32 ring_offset;
	u32 rec_offset;
	u32 pdn;
	u32 cqn;
	u32 xrcdn;
	u16 max_sge;
	u8 type;
	u8 log_size;
	u8 log_stride;
	u8 flags;
	u16 max_tags;
};

/**
 * struct ohca_srq_mod - what to change of a shared receive queue; see struct ohca_modify_srq_in
 * @buf: with OHCA_SRQ_ATTR_SIZE
 */
struct ohca_srq_mod {
	const struct ohca_xlt_desc *buf;
	u32 attr_mask;
	u32 limit;
	u32 ring_offset;
	u32 rec_offset;
	u8 log_size;
};

/**
 * struct ohca_srq_state - state of a shared receive queue; see struct ohca_query_srq_out
 */
struct ohca_srq_state {
	u32 limit;
	u32 taken;
};

int ohca_cmd_query_device(struct ohca_dev *dev, struct ohca_dev_attr *attr);
int ohca_cmd_query_port(struct ohca_dev *dev, u8 port, struct ohca_port_attr *attr);
int ohca_cmd_modify_port(struct ohca_dev *dev, u8 port, const struct ohca_port_params *params);
int ohca_cmd_set_gid(struct ohca_dev *dev, u8 port, const struct ohca_gid_params *params);
int ohca_cmd_query_gid(struct ohca_dev *dev, u8 port, u16 index, u8 gid[16]);
int ohca_cmd_query_pkey(struct ohca_dev *dev, u8 port, u16 index, u16 *pkey);
int ohca_cmd_mad(struct ohca_dev *dev, const struct ohca_mad_in *in, struct ohca_mad_out *out);
int ohca_cmd_set_node_desc(struct ohca_dev *dev, const char desc[64]);
int ohca_cmd_set_link_layer(struct ohca_dev *dev, u8 port, u8 link_layer);

int ohca_cmd_alloc_counters(struct ohca_dev *dev, u8 port, u32 *counters);
int ohca_cmd_free_counters(struct ohca_dev *dev, u32 counters);
int ohca_cmd_query_counters(struct ohca_dev *dev, u32 counters, u8 port,
			    u64 value[OHCA_NUM_COUNTERS]);

int ohca_cmd_alloc_uar(struct ohca_dev *dev, dma_addr_t shadow, u32 *uar);
int ohca_cmd_free_uar(struct ohca_dev *dev, u32 uar);
int ohca_cmd_alloc_pd(struct ohca_dev *dev, u32 *pdn);
int ohca_cmd_free_pd(struct ohca_dev *dev, u32 pdn);
int ohca_cmd_alloc_xrcd(struct ohca_dev *dev, u32 *xrcdn);
int ohca_cmd_free_xrcd(struct ohca_dev *dev, u32 xrcdn);

int ohca_cmd_create_eq(struct ohca_dev *dev, const struct ohca_eq_params *params, u32 *eqn);
int ohca_cmd_destroy_eq(struct ohca_dev *dev, u32 eqn);
int ohca_cmd_create_cq(struct ohca_dev *dev, const struct ohca_cq_params *params, u32 *cqn);
int ohca_cmd_destroy_cq(struct ohca_dev *dev, u32 cqn);
int ohca_cmd_modify_cq(struct ohca_dev *dev, u32 cqn, u16 count, u16 period);
int ohca_cmd_resize_cq(struct ohca_dev *dev, u32 cqn, const struct ohca_cq_params *params);

int ohca_cmd_create_mkey(struct ohca_dev *dev, const struct ohca_mkey_params *params, u32 *key);
int ohca_cmd_modify_mkey(struct ohca_dev *dev, u32 key, u32 attr_mask,
			 const struct ohca_mkey_params *params);
int ohca_cmd_modify_pages(struct ohca_dev *dev, u32 key, enum ohca_pages_op op, u64 first, u64 num,
			  struct ohca_modify_pages_in *in);
int ohca_cmd_alloc_dm(struct ohca_dev *dev, u64 length, u8 log_align, u32 *id, u64 *offset);
int ohca_cmd_free_dm(struct ohca_dev *dev, u32 id);
int ohca_cmd_dump_mkey(struct ohca_dev *dev, u32 key, struct ohca_query_mkey_out *out);
int ohca_cmd_destroy_mkey(struct ohca_dev *dev, u32 key);

int ohca_cmd_create_qp(struct ohca_dev *dev, const struct ohca_qp_params *params, u32 *qpn);
int ohca_cmd_modify_qp(struct ohca_dev *dev, u32 qpn, u32 attr_mask,
		       const struct ohca_qp_attr *attr);
int ohca_cmd_query_qp(struct ohca_dev *dev, u32 qpn, struct ohca_qp_attr *attr);
int ohca_cmd_destroy_qp(struct ohca_dev *dev, u32 qpn);
int ohca_cmd_attach_mcast(struct ohca_dev *dev, u32 qpn, const u8 *gid, u16 mlid);
int ohca_cmd_detach_mcast(struct ohca_dev *dev, u32 qpn, const u8 *gid, u16 mlid);

int ohca_cmd_create_flow(struct ohca_dev *dev, const struct ohca_create_flow_in *in, u32 *id);
int ohca_cmd_destroy_flow(struct ohca_dev *dev, u32 id);

int ohca_cmd_create_ind_tbl(struct ohca_dev *dev, const struct ohca_create_ind_tbl_in *in, u32 *id);
int ohca_cmd_destroy_ind_tbl(struct ohca_dev *dev, u32 id);
int ohca_cmd_create_rss(struct ohca_dev *dev, const struct ohca_create_rss_in *in, u32 *qpn);

int ohca_cmd_create_srq(struct ohca_dev *dev, const struct ohca_srq_params *params, u32 *srqn);
int ohca_cmd_modify_srq(struct ohca_dev *dev, u32 srqn, const struct ohca_srq_mod *mod);
int ohca_cmd_dump_srq(struct ohca_dev *dev, u32 srqn, struct ohca_query_srq_out *out);
int ohca_cmd_query_srq(struct ohca_dev *dev, u32 srqn, struct ohca_srq_state *state);
int ohca_cmd_destroy_srq(struct ohca_dev *dev, u32 srqn);

int ohca_cmd_post_destroy(struct ohca_dev *dev, u16 opcode, u32 id, struct ohca_cmd_batch *batch,
			  struct ohca_cmd_later *later);

#endif /* _OHCA_FW_CMD_H */
