/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the attributes of queue pairs, as ib_core and as the device has them.
 */

#ifndef _OHCA_QP_ATTR_H
#define _OHCA_QP_ATTR_H

#include <rdma/ib_verbs.h>

struct ohca_dev;
struct ohca_qp_attr;

/**
 * ohca_qp_attr_from_ib() - convert ib_core's attributes to the device's
 * @dev: device
 * @hw: filled in; the caller's
 * @attr: attributes of ib_core
 * @mask: IB_QP_* of those that are set
 *
 * Return: 0; -EOPNOTSUPP for an attribute or a right that the device does not have; what
 * ohca_av_from_ah() returns for a path that it cannot take
 */
int ohca_qp_attr_from_ib(struct ohca_dev *dev, struct ohca_qp_attr *hw,
			 const struct ib_qp_attr *attr, int mask);

/**
 * ohca_qp_attr_to_ib() - convert the device's attributes to ib_core's
 * @attr: filled in, but for the sizes of the queues; the caller's
 * @hw: attributes that the device answered
 * @ibqp: their QP
 */
void ohca_qp_attr_to_ib(struct ib_qp_attr *attr, const struct ohca_qp_attr *hw, struct ib_qp *ibqp);

#endif /* _OHCA_QP_ATTR_H */
