/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: verbs that belong to no other header.
 */

#ifndef _OHCA_VERBS_H
#define _OHCA_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct ohca_dev;
struct ohca_port_attr;

/*
 * verbs.c: queries the port, and sets the attributes that both link layers have; @hw has the others
 */
int ohca_query_port_common(struct ib_device *ibdev, struct ib_port_attr *attr,
			   struct ohca_port_attr *hw);

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

/* link_eth.c, link_ib.c: the verbs that depend on the link layer */
void ohca_eth_set_link_ops(struct ohca_dev *dev, struct ib_device *ibdev);
void ohca_ib_set_link_ops(struct ib_device *ibdev);

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
