/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: verbs that belong to no other header.
 */

#ifndef _OHCA_VERBS_H
#define _OHCA_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct ohca_dev;
struct ohca_port;
struct ohca_port_attr;

/* dm.c */
struct ib_dm *ohca_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			    struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs);
int ohca_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
struct ib_mr *ohca_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm, struct ib_dm_mr_attr *attr,
			     struct uverbs_attr_bundle *attrs);
extern const struct uapi_definition ohca_dm_defs[];

/* flow.c */
struct ib_flow *ohca_create_flow(struct ib_qp *ibqp, struct ib_flow_attr *attr,
				 struct ib_udata *udata);
int ohca_destroy_flow(struct ib_flow *ibflow);

/**
 * struct ohca_link_ops - the verbs that depend on the link layer of a port
 * @layer: for ib_core
 * @core_caps: core_cap_flags of a device without UD QPs, which has no management datagrams
 * @core_caps_mad: those of a device that has them
 * @modify_port, @process_mad, @query_pkey, @query_port: as ib_core's operations
 */
struct ohca_link_ops {
	enum rdma_link_layer layer;
	u32 core_caps;
	u32 core_caps_mad;
	int (*modify_port)(struct ohca_port *port, int mask, struct ib_port_modify *attr);
	int (*process_mad)(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			   const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			   size_t *out_len, u16 *out_pkey_index);
	int (*query_pkey)(struct ohca_port *port, u16 index, u16 *pkey);
	int (*query_port)(struct ohca_port *port, struct ib_port_attr *attr);
};

/* link_eth.c, link_ib.c */
extern const struct ohca_link_ops ohca_eth_link_ops;
extern const struct ohca_link_ops ohca_ib_link_ops;
/* Operations of a device that has a port of this kind */
extern const struct ib_device_ops ohca_eth_ops;
extern const struct ib_device_ops ohca_ib_ops;

/* mad.c */
int ohca_eth_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			 const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			 size_t *out_len, u16 *out_pkey_index);
int ohca_ib_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			size_t *out_len, u16 *out_pkey_index);

/* stats.c */
int ohca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int ohca_counter_unbind_qp(struct ib_qp *ibqp, u32 port);
extern const struct ib_device_ops ohca_stats_ops;

/* restrack.c */
extern const struct ib_device_ops ohca_restrack_ops;

#endif /* _OHCA_VERBS_H */
