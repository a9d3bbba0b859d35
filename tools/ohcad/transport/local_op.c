// SPDX-License-Identifier: GPL-2.0
/*
 * Local operations: invalidate, bind, fast registration (InfiniBand specification, 10.6.5,
 * 10.6.7.2 and 10.7.3).
 */

#include <endian.h>

#include "device/cmd.h"
#include "transport/local_op.h"
#include "transport/rc.h"
#include "mem/window.h"
#include "qp/sched.h"

/* Find the object of a key of @pdn that @qp may invalidate.  Returns 0 or OHCA_VENDOR_ERR_*. */
static int find_to_inv(struct qp *qp, uint32_t pdn, uint32_t key, struct mkey **mkey)
{
	struct mkey *found = mkey_find(qp->hca, key);

	if (!found)
		return OHCA_VENDOR_ERR_KEY;
	if (found->pdn != pdn)
		return OHCA_VENDOR_ERR_PD;
	if ((found->type != OHCA_MKEY_FAST_REG && found->type != OHCA_MKEY_MW_2) || found->windows)
		return OHCA_VENDOR_ERR_KEY_STATE;
	if (found->type == OHCA_MKEY_MW_2 && found->valid && found->qpn != qp->id)
		return OHCA_VENDOR_ERR_ACCESS;
	*mkey = found;
	return 0;
}

static void invalidate(struct mkey *mkey)
{
	window_unbind(mkey);
	mkey->valid = false;
	mkey->special = true;
}

/* A region that is invalid already may be invalidated again, because software can't always know. */
static int local_inv(struct qp *qp)
{
	struct mkey *mkey;
	int err = find_to_inv(qp, qp->pdn, le32toh(qp->sq.wqe->inv_key), &mkey);

	if (err)
		return err;
	if (mkey->type == OHCA_MKEY_MW_2 && !mkey->valid)
		return OHCA_VENDOR_ERR_KEY_STATE;
	invalidate(mkey);
	return 0;
}

int local_op_remote_inv(struct qp *qp, uint32_t key)
{
	struct mkey *mkey;
	int err = find_to_inv(qp, rc_resp(qp)->pdn, key, &mkey);

	if (err)
		return err;
	if (!mkey->valid)
		return OHCA_VENDOR_ERR_KEY_STATE;
	if (!(mkey->access & MKEY_ACCESS_REMOTE))
		return OHCA_VENDOR_ERR_ACCESS;
	invalidate(mkey);
	return 0;
}

static int bind_mw(struct qp *qp)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	struct window_bind bind = {
		.addr = le64toh(wqe->bind.addr),
		.length = le64toh(wqe->bind.length),
		.lkey = le32toh(wqe->bind.lkey),
		.rkey = le32toh(wqe->bind.rkey),
		.new_rkey = le32toh(wqe->bind.new_rkey),
		.access = wqe->bind.access,
	};

	const struct mw_owner owner = {.qpn = qp->id, .pdn = qp->pdn, .windows = &qp->windows};

	return window_bind(qp->hca, &owner, &bind);
}

/*
 * The pages are read one table after the other, in turns of the QP.  A region that another QP has begun to register meanwhile
 * is that one's: of two registrations at a time one fails.
 */
static int reg_mr(struct qp *qp, bool first)
{
	const struct ohca_sq_wqe *wqe = qp->sq.wqe;
	uint64_t iova = le64toh(wqe->reg.iova), length = le64toh(wqe->reg.length);
	uint32_t key = le32toh(wqe->reg.key), had;
	struct mkey *mkey = mkey_find_name(qp->hca, key);
	enum ohca_cmd_status status;

	if (!mkey)
		return OHCA_VENDOR_ERR_KEY;
	if (mkey->pdn != qp->pdn)
		return OHCA_VENDOR_ERR_PD;
	if (mkey->type != OHCA_MKEY_FAST_REG || mkey->valid || !(first || mkey->qpn == qp->id))
		return OHCA_VENDOR_ERR_KEY_STATE;
	if (!mkey_access_fits(wqe->reg.access))
		return OHCA_VENDOR_ERR_ACCESS;
	if (!mkey_range_fits(iova, length))
		return OHCA_VENDOR_ERR_BOUNDS;
	had = first ? 0 : mkey->xlt.npages;
	status = xlt_reload(&mkey->xlt, qp->hca->dma, &sq_wqe_ext(wqe)->xlt, length, first);
	if (status && status != CMD_MORE)
		return status == OHCA_CMD_BAD_ADDR ? OHCA_VENDOR_ERR_DMA : OHCA_VENDOR_ERR_BOUNDS;
	sched_charge(qp->hca, (mkey->xlt.npages - had) * sizeof(*mkey->xlt.pages));
	mkey->qpn = qp->id;
	if (status == CMD_MORE)
		return LOCAL_OP_MORE;
	mkey->key = key;
	mkey->access = wqe->reg.access;
	mkey->iova = iova;
	mkey->length = length;
	mkey->valid = true;
	mkey->special = false;
	return 0;
}

int local_op(struct qp *qp, bool first)
{
	switch (qp->sq.wqe->opcode) {
	case OHCA_OP_LOCAL_INV:
		return local_inv(qp);
	case OHCA_OP_BIND_MW:
		return bind_mw(qp);
	default:
		return reg_mr(qp, first);
	}
}
