/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: operations of verbs and their user data, in releases before 7.2.
 */

#ifndef _OHCA_COMPAT_VERBS_H
#define _OHCA_COMPAT_VERBS_H

#include <linux/dma-mapping.h>
#include <linux/uaccess.h>
#include <net/devlink.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct ib_dmah;

struct ib_mr *ohca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			       struct ib_dmah *dmah, struct ib_udata *udata);

static inline struct ib_mr *ohca_compat_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
						    u64 iova, int access, struct ib_udata *udata)
{
	return ohca_reg_user_mr(ibpd, start, length, iova, access, NULL, udata);
}

struct ib_mr *ohca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				      int access, struct ib_dmah *dmah,
				      struct uverbs_attr_bundle *attrs);

static inline struct ib_mr *ohca_compat_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
							   u64 length, u64 iova, int fd, int access,
							   OHCA_COMPAT_ATTRS *attrs)
{
	return ohca_reg_user_mr_dmabuf(ibpd, offset, length, iova, fd, access, NULL,
				       ohca_compat_bundle(attrs));
}

int ohca_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);

#define resize_user_cq resize_cq /* of struct ib_device_ops */

static inline int ohca_compat_resize_user_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	return udata ? ohca_resize_user_cq(ibcq, cqe, udata) : -EOPNOTSUPP;
}

#define devlink_health_reporter_create(_devlink, _ops, _priv) \
	devlink_health_reporter_create(_devlink, _ops, 0, _priv)

int ohca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int ohca_counter_unbind_qp(struct ib_qp *ibqp, u32 port);

static inline int ohca_compat_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	return ohca_counter_bind_qp(counter, ibqp, counter->port);
}

static inline int ohca_compat_counter_unbind_qp(struct ib_qp *ibqp)
{
	return ohca_counter_unbind_qp(ibqp, ibqp->port);
}

/*
 * In newer releases, ib_core itself refuses memory that the device could access only as a copy
 * (bounce buffers).
 */
static inline struct ib_umem *ib_umem_get_va(struct ib_device *ibdev, unsigned long addr,
					     size_t size, int access)
{
	struct ib_umem *umem = ib_umem_get(ibdev, addr, size, access);
	struct scatterlist *sg;
	int i;

	if (IS_ERR(umem))
		return umem;
	for_each_sgtable_dma_sg(&umem->sgt_append.sgt, sg, i) {
		if (dma_need_sync(ibdev->dma_device, sg_dma_address(sg))) {
			ib_umem_release(umem);
			return ERR_PTR(-EIO);
		}
	}
	return umem;
}

static inline struct ib_umem *ib_umem_get_cq_buf(struct ib_device *ibdev,
						 const struct uverbs_attr_bundle *attrs,
						 size_t size, int access)
{
	return NULL;
}

static inline int ohca_compat_udata_in(struct ib_udata *udata, void *req, size_t size, size_t min)
{
	size_t len = min(size, udata->inlen);

	if (udata->inlen < min)
		return -EINVAL;
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	return len ? ib_copy_from_udata(req, udata, len) : 0; /* @req is zero already */
}

#define ib_copy_validate_udata_in_cm(_udata, _req, _end_member, _valid_cm)               \
	({                                                                               \
		typeof(_req) *_in = &(_req);                                             \
		int _ret = ohca_compat_udata_in(_udata, _in, sizeof(*_in),               \
						offsetofend(typeof(*_in), _end_member)); \
		if (!_ret && (_in->comp_mask & ~(_valid_cm)))                            \
			_ret = -EOPNOTSUPP;                                              \
		_ret;                                                                    \
	})

static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	return udata ? ohca_compat_udata_in(udata, NULL, 0, 0) : 0;
}

static inline int ohca_compat_respond(struct ib_udata *udata, const void *resp, size_t size)
{
	size_t len = min(size, udata->outlen);

	if (len && copy_to_user(udata->outbuf, resp, len))
		return -EFAULT;
	if (len < udata->outlen && clear_user(udata->outbuf + len, udata->outlen - len))
		return -EFAULT;
	return 0;
}

#define ib_respond_udata(_udata, _resp) ohca_compat_respond(_udata, &(_resp), sizeof(_resp))

static inline int ib_respond_empty_udata(struct ib_udata *udata)
{
	return udata ? ohca_compat_respond(udata, NULL, 0) : 0;
}

static inline int ib_no_udata_io(struct ib_udata *udata)
{
	int err = ib_is_udata_in_empty(udata);

	return err ? err : ib_respond_empty_udata(udata);
}

#endif /* _OHCA_COMPAT_VERBS_H */
