// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: multicast groups that queue pairs are attached to.
 */

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "mcast.h"
#include "ohca.h"
#include "qp.h"

/**
 * struct ohca_mcast - attachment of a queue pair to a group that has no LID
 * @entry: of the QP's list
 * @gid: the group
 * @lids: LIDs for which the consumer has attached it; the device has one attachment
 */
struct ohca_mcast {
	struct list_head entry;
	union ib_gid gid;
	u32 lids;
};

/*
 * Whether multicast groups have LIDs; on RoCE, a group has only a GID.  A QP that has no port yet
 * is taken for one of an InfiniBand port if the device has one.
 */
static bool ohca_mcast_has_lid(const struct ib_qp *ibqp)
{
	struct ohca_dev *dev = to_odev(ibqp->device);
	const struct ohca_port *port = ohca_port(dev, ibqp->port);

	return port ? ohca_port_is_ib(port) : ohca_has_link(dev, OHCA_LINK_INFINIBAND);
}

/* The attachment to a group without LIDs, or NULL; @qp is locked. */
static struct ohca_mcast *ohca_mcast_find(struct ohca_qp *qp, const union ib_gid *gid)
{
	struct ohca_mcast *mcast;

	list_for_each_entry(mcast, &qp->mcasts, entry)
		if (!memcmp(&mcast->gid, gid, sizeof(*gid)))
			return mcast;
	return NULL;
}

/* ib_core attaches a QP once for each LID of a group, the device once for all if there are none. */
static int ohca_mcast_get(struct ohca_qp *qp, const union ib_gid *gid)
{
	struct ohca_mcast *mcast;
	int err;

	mcast = ohca_mcast_find(qp, gid);
	if (mcast) {
		mcast->lids++;
		return 0;
	}
	mcast = kzalloc(sizeof(*mcast), GFP_KERNEL);
	if (!mcast)
		return -ENOMEM;
	err = ohca_cmd_attach_mcast(to_odev(qp->ibqp.device), qp->ibqp.qp_num, gid->raw, 0);
	if (err) {
		kfree(mcast);
		return err;
	}
	mcast->gid = *gid;
	mcast->lids = 1;
	list_add(&mcast->entry, &qp->mcasts);
	return 0;
}

static int ohca_mcast_put(struct ohca_qp *qp, struct ohca_mcast *mcast)
{
	int err = 0;

	if (mcast->lids == 1)
		err = ohca_cmd_detach_mcast(to_odev(qp->ibqp.device), qp->ibqp.qp_num,
					    mcast->gid.raw, 0);
	if (err || --mcast->lids)
		return err;
	list_del(&mcast->entry);
	kfree(mcast);
	return 0;
}

int ohca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ohca_qp *qp = to_oqp(ibqp);
	int err;

	if (ohca_mcast_has_lid(ibqp))
		return ohca_cmd_attach_mcast(to_odev(ibqp->device), ibqp->qp_num, gid->raw, lid);

	mutex_lock(&qp->mutex);
	err = ohca_mcast_get(qp, gid);
	mutex_unlock(&qp->mutex);
	return err;
}

int ohca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ohca_qp *qp = to_oqp(ibqp);
	struct ohca_mcast *mcast;
	int err;

	mutex_lock(&qp->mutex);
	mcast = ohca_mcast_find(qp, gid);
	err = mcast ? ohca_mcast_put(qp, mcast)
		    : ohca_cmd_detach_mcast(to_odev(ibqp->device), ibqp->qp_num, gid->raw,
					    ohca_mcast_has_lid(ibqp) ? lid : 0);
	mutex_unlock(&qp->mutex);
	return err;
}
