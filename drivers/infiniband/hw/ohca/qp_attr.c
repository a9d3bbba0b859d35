// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the attributes of queue pairs, as ib_core and as the device has them.
 */

#include "ah.h"
#include "fw_cmd.h"
#include "mr.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "qp.h"
#include "qp_attr.h"

#define OHCA_QP_ATTRS                                                                             \
	(OHCA_QP_STATE | OHCA_QP_CUR_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY | OHCA_QP_ACCESS_FLAGS | \
	 OHCA_QP_PKEY_INDEX | OHCA_QP_PORT | OHCA_QP_QKEY | OHCA_QP_AV | OHCA_QP_PATH_MTU |       \
	 OHCA_QP_TIMEOUT | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY | OHCA_QP_RQ_PSN |               \
	 OHCA_QP_MAX_QP_RD_ATOMIC | OHCA_QP_MIN_RNR_TIMER | OHCA_QP_SQ_PSN |                      \
	 OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_DEST_QPN)

/* With OHCA_CAP_PATH_MIG */
#define OHCA_QP_MIG_ATTRS (OHCA_QP_ALT_PATH | OHCA_QP_PATH_MIG_STATE)

/* Rights that a QP can have; for flushes those of the memory region are enough. */
#define OHCA_QP_ACCESS_SUPPORTED \
	(OHCA_ACCESS_FLAGS | IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)
/* Flags of regions that programs pass on, and that have no meaning for a QP */
#define OHCA_QP_ACCESS_IGNORED (IB_ACCESS_OPTIONAL | IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)
#define OHCA_ACCESS_REMOTE \
	(OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ | OHCA_ACCESS_REMOTE_ATOMIC)

/* The numbers of attributes are those of ib_core. */
static_assert(OHCA_QP_ATTRS ==
	      (IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY | IB_QP_ACCESS_FLAGS |
	       IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY | IB_QP_AV | IB_QP_PATH_MTU |
	       IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_RQ_PSN |
	       IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MIN_RNR_TIMER | IB_QP_SQ_PSN |
	       IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_DEST_QPN));
static_assert(OHCA_QP_MIG_ATTRS == (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE));
static_assert((int)OHCA_MIG_MIGRATED == IB_MIG_MIGRATED);
static_assert((int)OHCA_MIG_REARM == IB_MIG_REARM);
static_assert((int)OHCA_MIG_ARMED == IB_MIG_ARMED);

/* The alternate path; ib_core sees to it that all ports are InfiniBand's. */
static int ohca_qp_alt_path_from_ib(struct ohca_qp_attr *hw, const struct ib_qp_attr *attr)
{
	hw->alt_port = attr->alt_port_num;
	hw->alt_pkey_index = cpu_to_le16(attr->alt_pkey_index);
	hw->alt_timeout = attr->alt_timeout;
	return ohca_av_from_ah(&hw->alt_av, &attr->alt_ah_attr);
}

int ohca_qp_attr_from_ib(struct ohca_dev *dev, struct ohca_qp_attr *hw,
			 const struct ib_qp_attr *attr, int mask)
{
	int supported = OHCA_QP_ATTRS, err = 0;

	if (dev->attr.caps & OHCA_CAP_PATH_MIG)
		supported |= OHCA_QP_MIG_ATTRS;
	if (mask & ~supported)
		return -EOPNOTSUPP;

	if (mask & IB_QP_ACCESS_FLAGS &&
	    attr->qp_access_flags & ~(OHCA_QP_ACCESS_SUPPORTED | OHCA_QP_ACCESS_IGNORED))
		return -EOPNOTSUPP;

	*hw = (struct ohca_qp_attr){
		.state = attr->qp_state,
		.cur_state = attr->cur_qp_state,
		.path_mtu = attr->path_mtu,
		.access = ohca_access(attr->qp_access_flags) & OHCA_ACCESS_REMOTE,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.min_rnr_timer = attr->min_rnr_timer,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.port = attr->port_num,
		.en_sqd_async_notify = !!attr->en_sqd_async_notify,
		.pkey_index = cpu_to_le16(attr->pkey_index),
		.dest_qpn = cpu_to_le32(attr->dest_qp_num),
		.sq_psn = cpu_to_le32(attr->sq_psn),
		.rq_psn = cpu_to_le32(attr->rq_psn),
		.qkey = cpu_to_le32(attr->qkey),
		.path_mig_state = attr->path_mig_state,
	};
	if (mask & IB_QP_AV)
		err = ohca_av_from_ah(&hw->av, &attr->ah_attr);
	if (!err && mask & IB_QP_ALT_PATH)
		err = ohca_qp_alt_path_from_ib(hw, attr);
	return err;
}

static int ohca_qp_access(u8 access)
{
	int res = 0;

	if (access & OHCA_ACCESS_REMOTE_WRITE)
		res |= IB_ACCESS_REMOTE_WRITE;
	if (access & OHCA_ACCESS_REMOTE_READ)
		res |= IB_ACCESS_REMOTE_READ;
	if (access & OHCA_ACCESS_REMOTE_ATOMIC)
		res |= IB_ACCESS_REMOTE_ATOMIC;
	return res;
}

void ohca_qp_attr_to_ib(struct ib_qp_attr *attr, const struct ohca_qp_attr *hw, struct ib_qp *ibqp)
{
	*attr = (struct ib_qp_attr){
		.qp_state = hw->state,
		.cur_qp_state = hw->state,
		.path_mtu = hw->path_mtu,
		.path_mig_state = hw->path_mig_state,
		.qkey = le32_to_cpu(hw->qkey),
		.rq_psn = le32_to_cpu(hw->rq_psn),
		.sq_psn = le32_to_cpu(hw->sq_psn),
		.dest_qp_num = le32_to_cpu(hw->dest_qpn),
		.qp_access_flags = ohca_qp_access(hw->access),
		.pkey_index = le16_to_cpu(hw->pkey_index),
		.en_sqd_async_notify = hw->en_sqd_async_notify,
		.sq_draining = hw->sq_draining,
		.max_rd_atomic = hw->max_rd_atomic,
		.max_dest_rd_atomic = hw->max_dest_rd_atomic,
		.min_rnr_timer = hw->min_rnr_timer,
		.port_num = hw->port,
		.timeout = hw->timeout,
		.retry_cnt = hw->retry_cnt,
		.rnr_retry = hw->rnr_retry,
		.alt_pkey_index = le16_to_cpu(hw->alt_pkey_index),
		.alt_port_num = hw->alt_port,
		.alt_timeout = hw->alt_timeout,
	};
	if (!ohca_qp_is_ud(to_oqp(ibqp)))
		ohca_av_to_ah(&attr->ah_attr, &hw->av, ibqp->device);
	if (hw->alt_port)
		ohca_av_to_ah(&attr->alt_ah_attr, &hw->alt_av, ibqp->device);
}
