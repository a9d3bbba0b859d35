// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: published objects, which are found by their numbers.
 */

#include <linux/xarray.h>

#include "ohca.h"
#include "rsc.h"

/*
 * If the device gives the number of another object, destroying either would destroy the wrong one,
 * and leave the memory of the other one in use.
 */
static int ohca_core_publish(struct ohca_dev *dev, struct xarray *xa, u32 num,
			     struct ohca_core *core)
{
	int err;

	refcount_set(&core->ref, 1);
	init_completion(&core->done);
	err = xa_insert_irq(xa, num, core, GFP_KERNEL);
	if (err != -EBUSY)
		return err;
	ohca_fence(dev, "number of another object");
	return -EIO;
}

/**
 * ohca_core_put() - release an object
 * @core: object, from ohca_core_get()
 */
void ohca_core_put(struct ohca_core *core)
{
	if (refcount_dec_and_test(&core->ref))
		complete(&core->done);
}

static void ohca_core_withdraw(struct xarray *xa, u32 num, struct ohca_core *core)
{
	xa_erase_irq(xa, num);
	ohca_core_put(core);
	wait_for_completion(&core->done);
}

/**
 * ohca_core_get() - find a published object and hold it
 * @xa: objects of its kind
 * @num: its number
 *
 * Under the lock, the object can't be withdrawn between finding and holding it.  Callable in any
 * context.
 *
 * Return: the object, for ohca_core_put(), or NULL
 */
struct ohca_core *ohca_core_get(struct xarray *xa, u32 num)
{
	struct ohca_core *core;
	unsigned long flags;

	xa_lock_irqsave(xa, flags);
	core = xa_load(xa, num);
	if (core)
		refcount_inc(&core->ref);
	xa_unlock_irqrestore(xa, flags);
	return core;
}

int ohca_core_cq_publish(struct ohca_dev *dev, struct ohca_core_cq *cq)
{
	return ohca_core_publish(dev, &dev->cqs, cq->cqn, &cq->core);
}

void ohca_core_cq_withdraw(struct ohca_dev *dev, struct ohca_core_cq *cq)
{
	ohca_core_withdraw(&dev->cqs, cq->cqn, &cq->core);
}

int ohca_core_qp_publish(struct ohca_dev *dev, struct ohca_core_qp *qp)
{
	return ohca_core_publish(dev, &dev->qps, qp->qpn, &qp->core);
}

void ohca_core_qp_withdraw(struct ohca_dev *dev, struct ohca_core_qp *qp)
{
	ohca_core_withdraw(&dev->qps, qp->qpn, &qp->core);
}

int ohca_core_srq_publish(struct ohca_dev *dev, struct ohca_core_srq *srq)
{
	return ohca_core_publish(dev, &dev->srqs, srq->srqn, &srq->core);
}

void ohca_core_srq_withdraw(struct ohca_dev *dev, struct ohca_core_srq *srq)
{
	ohca_core_withdraw(&dev->srqs, srq->srqn, &srq->core);
}

int ohca_core_mkey_publish(struct ohca_dev *dev, struct ohca_core_mkey *mkey)
{
	return ohca_core_publish(dev, &dev->mkeys, mkey->key, &mkey->core);
}

void ohca_core_mkey_withdraw(struct ohca_dev *dev, struct ohca_core_mkey *mkey)
{
	ohca_core_withdraw(&dev->mkeys, mkey->key, &mkey->core);
}

struct ohca_core_mkey *ohca_core_mkey_get(struct ohca_dev *dev, u32 key)
{
	struct ohca_core *core = ohca_core_get(&dev->mkeys, key);

	return core ? container_of(core, struct ohca_core_mkey, core) : NULL;
}

void ohca_core_mkey_put(struct ohca_core_mkey *mkey)
{
	ohca_core_put(&mkey->core);
}

struct ohca_core_qp *ohca_core_qp_find(struct ohca_dev *dev, u32 qpn,
				       bool (*fn)(const struct ohca_core_qp *qp, const void *arg),
				       const void *arg)
{
	struct ohca_core_qp *qp = NULL;
	struct ohca_core *core;
	unsigned long flags;

	xa_lock_irqsave(&dev->qps, flags);
	core = xa_load(&dev->qps, qpn);
	if (core) {
		qp = container_of(core, struct ohca_core_qp, core);
		if (!fn(qp, arg))
			qp = ERR_PTR(-EINVAL);
	}
	xa_unlock_irqrestore(&dev->qps, flags);
	return qp;
}

void ohca_core_cq_each(struct ohca_dev *dev, void (*fn)(struct ohca_core_cq *cq, void *arg),
		       void *arg)
{
	struct ohca_core *core;
	unsigned long cqn;

	xa_for_each(&dev->cqs, cqn, core) {
		core = ohca_core_get(&dev->cqs, cqn);
		if (!core)
			continue;
		fn(container_of(core, struct ohca_core_cq, core), arg);
		ohca_core_put(core);
	}
}
