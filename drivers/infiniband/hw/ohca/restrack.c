// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: details of the driver's objects for "rdma resource", and raw dumps, which are
 * structures of the hardware interface.
 */

#include <net/netlink.h>
#include <rdma/ib_umem.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>

#include "cq.h"
#include "mr.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "qp.h"
#include "srq.h"
#include "verbs.h"
#include "wq.h"

/* End the table of details, or cancel it if it did not fit. */
static int ohca_res_end(struct sk_buff *msg, struct nlattr *table, bool complete)
{
	if (!complete) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

/*
 * Put a structure of the device, unless @err.  Kernels before 7.2 dump objects until their
 * destruction has ended.  If the device does not have the object any more, ib_core leaves it out
 * for -EAGAIN, and shows the others.
 */
static int ohca_res_raw(struct sk_buff *msg, int err, const void *data, int size)
{
	if (err)
		return err == -EINVAL ? -EAGAIN : err;
	return nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, size, data);
}

static const char *ohca_mr_kind(const struct ohca_mr *mr)
{
	if (mr->ibmr.dm)
		return "device";
	if (mr->odp)
		return "on-demand";
	if (mr->umem)
		return mr->dmabuf ? "dma-buf" : "user";
	return mr->list.buf.va ? "fast-reg" : "dma";
}

static int ohca_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct ohca_mr *mr = to_omr(ibmr);
	bool ok;

	if (!table)
		return -EMSGSIZE;

	ok = !rdma_nl_put_driver_string(msg, "kind", ohca_mr_kind(mr));
	if (mr->umem)
		ok = ok && !rdma_nl_put_driver_u32_hex(msg, "access", mr->access);
	if (mr->list.buf.va)
		ok = ok && !rdma_nl_put_driver_u32(msg, "max_pages", mr->list.max) &&
		     !rdma_nl_put_driver_u32(msg, "pages", mr->list.npages);
	return ohca_res_end(msg, table, ok);
}

static int ohca_fill_res_mr_entry_raw(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct ohca_query_mkey_out out;
	int err;

	err = ohca_cmd_dump_mkey(to_odev(ibmr->device), to_omr(ibmr)->key, &out);
	return ohca_res_raw(msg, err, &out, sizeof(out));
}

static int ohca_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct ohca_cq *cq = to_ocq(ibcq);
	bool ok;

	if (!table)
		return -EMSGSIZE;

	ok = !rdma_nl_put_driver_u32(msg, "hw_cqn", cq->core.cqn) &&
	     !rdma_nl_put_driver_u32(msg, "log_size", cq->log_size);
	if (!cq->umem.ib)
		ok = ok && !rdma_nl_put_driver_u32(msg, "ci", READ_ONCE(cq->ci)) &&
		     !rdma_nl_put_driver_u32(msg, "arm_next", READ_ONCE(cq->arm_next)) &&
		     !rdma_nl_put_driver_u32(msg, "arm_solicited", READ_ONCE(cq->arm_solicited));
	return ohca_res_end(msg, table, ok);
}

/* Read a CQ's record, from user memory or the kernel's.  That in a dma-buf can't be read. */
static int ohca_cq_read_rec(struct ohca_cq *cq, struct ohca_cq_rec *rec)
{
	int err = 0;

	mutex_lock(&cq->buf_lock);
	if (cq->gone || (cq->umem.ib && cq->umem.ib->is_dmabuf))
		err = -EAGAIN;
	else if (cq->umem.ib)
		err = ib_umem_copy_from(rec, cq->umem.ib, cq->umem.offset + cq->rec_offset,
					sizeof(*rec));
	else
		*rec = *cq->rec;
	mutex_unlock(&cq->buf_lock);
	return err;
}

static int ohca_fill_res_cq_entry_raw(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct ohca_cq_rec rec;
	int err;

	err = ohca_cq_read_rec(to_ocq(ibcq), &rec);
	return ohca_res_raw(msg, err, &rec, sizeof(rec));
}

/* Indices of a kernel queue */
static bool ohca_res_wq(struct sk_buff *msg, const struct ohca_wq *wq, const char *pi,
			const char *ci)
{
	return !rdma_nl_put_driver_u32(msg, pi, READ_ONCE(wq->pi)) &&
	       !rdma_nl_put_driver_u32(msg, ci, READ_ONCE(wq->ci));
}

static int ohca_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct ohca_qp *qp = to_oqp(ibqp);
	bool ok;

	if (!table)
		return -EMSGSIZE;

	ok = !rdma_nl_put_driver_u32(msg, "sq_size", qp->cap.max_send_wr) &&
	     !rdma_nl_put_driver_u32(msg, "sq_max_sge", qp->cap.max_send_sge) &&
	     !rdma_nl_put_driver_u32(msg, "rq_size", qp->cap.max_recv_wr) &&
	     !rdma_nl_put_driver_u32(msg, "rq_max_sge", qp->cap.max_recv_sge) &&
	     !rdma_nl_put_driver_u32(msg, "max_inline", qp->cap.max_inline_data);
	if (qp->sq.rec)
		ok = ok && ohca_res_wq(msg, &qp->sq, "sq_pi", "sq_ci");
	if (qp->rq.rec)
		ok = ok && ohca_res_wq(msg, &qp->rq, "rq_pi", "rq_ci");
	return ohca_res_end(msg, table, ok);
}

static int ohca_fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct ohca_qp_attr attr;
	int err;

	err = ohca_cmd_query_qp(to_odev(ibqp->device), to_oqp(ibqp)->core.qpn, &attr);
	return ohca_res_raw(msg, err, &attr, sizeof(attr));
}

#if OHCA_COMPAT_SRQ_DETAILS

static int ohca_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct ohca_srq *srq = to_osrq(ibsrq);
	bool ok;

	if (!table)
		return -EMSGSIZE;

	ok = !rdma_nl_put_driver_u32(msg, "hw_srqn", srq->core.srqn) &&
	     !rdma_nl_put_driver_u32(msg, "log_size", srq->log_size) &&
	     !rdma_nl_put_driver_u32(msg, "max_sge", srq->max_sge);
	if (srq->wq.rec)
		ok = ok && ohca_res_wq(msg, &srq->wq, "pi", "ci");
	return ohca_res_end(msg, table, ok);
}

static int ohca_fill_res_srq_entry_raw(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct ohca_query_srq_out out;
	int err;

	err = ohca_cmd_dump_srq(to_odev(ibsrq->device), to_osrq(ibsrq)->core.srqn, &out);
	return ohca_res_raw(msg, err, &out, sizeof(out));
}

#endif

const struct ib_device_ops ohca_restrack_ops = {
	.fill_res_cq_entry = ohca_fill_res_cq_entry,
	.fill_res_cq_entry_raw = ohca_fill_res_cq_entry_raw,
	.fill_res_mr_entry = ohca_fill_res_mr_entry,
	.fill_res_mr_entry_raw = ohca_fill_res_mr_entry_raw,
	.fill_res_qp_entry = ohca_fill_res_qp_entry,
	.fill_res_qp_entry_raw = ohca_fill_res_qp_entry_raw,
#if OHCA_COMPAT_SRQ_DETAILS
	.fill_res_srq_entry = ohca_fill_res_srq_entry,
	.fill_res_srq_entry_raw = ohca_fill_res_srq_entry_raw,
#endif
};
