/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: published objects, which are found by their numbers.
 */

#ifndef _OHCA_RSC_H
#define _OHCA_RSC_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct ohca_cq;
struct ohca_dev;
struct ohca_qp;
struct xarray;

/**
 * struct ohca_core - the part of an object by which events find it, and destroying waits for them
 * @ref: running handlers, and one reference while the object is published
 * @done: @ref fell to 0
 */
struct ohca_core {
	refcount_t ref;
	struct completion done;
};

/**
 * struct ohca_core_cq - the part of a CQ for events; embedded in the CQs of verbs and of the netdev
 * @core: see there
 * @cqn: number, from ohca_cmd_create_cq()
 * @kernel: the CQ if it is one of the verbs, for the kernel; else NULL
 * @comp: an armed CQ has a completion; called in hard interrupt context
 * @event: asynchronous event, enum ohca_event; called in process context
 */
struct ohca_core_cq {
	struct ohca_core core;
	u32 cqn;
	struct ohca_cq *kernel;
	void (*comp)(struct ohca_core_cq *cq);
	void (*event)(struct ohca_core_cq *cq, u8 type);
};

/**
 * struct ohca_core_qp - the part of a QP for events; embedded in the QPs of verbs and of the netdev
 * @core: see there
 * @qpn: number, from ohca_cmd_create_qp()
 * @kernel: the QP if it is one of the verbs, for the kernel, and completes work; else NULL
 * @event: asynchronous event, enum ohca_event; called in process context
 */
struct ohca_core_qp {
	struct ohca_core core;
	u32 qpn;
	struct ohca_qp *kernel;
	void (*event)(struct ohca_core_qp *qp, u8 type);
};

/**
 * struct ohca_core_srq - the part of an SRQ for events
 * @core: see there
 * @srqn: number, from ohca_cmd_create_srq()
 * @event: asynchronous event, enum ohca_event; called in process context
 */
struct ohca_core_srq {
	struct ohca_core core;
	u32 srqn;
	void (*event)(struct ohca_core_srq *srq, u8 type);
};

/**
 * struct ohca_core_mkey - the part of a region for page faults
 * @core: see there
 * @key: from ohca_cmd_create_mkey()
 */
struct ohca_core_mkey {
	struct ohca_core core;
	u32 key;
};

/**
 * ohca_core_cq_publish() - let events find a CQ
 * @dev: device
 * @cq: CQ; @cqn, @comp and @event are set, and everything that its handlers use: they may run at
 *	once
 *
 * Return: 0, -ENOMEM, or -EIO if the device chose the number of a CQ that exists: it is fenced
 */
int ohca_core_cq_publish(struct ohca_dev *dev, struct ohca_core_cq *cq);

/**
 * ohca_core_cq_withdraw() - hide a CQ from events and wait for its handlers; the first step of
 * destroying it
 * @dev: device
 * @cq: published CQ; when this returns, no handler runs or will be called
 */
void ohca_core_cq_withdraw(struct ohca_dev *dev, struct ohca_core_cq *cq);

/**
 * ohca_core_cq_each() - call a function for each published CQ
 * @dev: device
 * @fn: function; the CQ is not withdrawn until it returns
 * @arg: for that function
 */
void ohca_core_cq_each(struct ohca_dev *dev, void (*fn)(struct ohca_core_cq *cq, void *arg),
		       void *arg);

/* Publish and withdraw a QP */
int ohca_core_qp_publish(struct ohca_dev *dev, struct ohca_core_qp *qp);
void ohca_core_qp_withdraw(struct ohca_dev *dev, struct ohca_core_qp *qp);

/* Publish and withdraw an SRQ */
int ohca_core_srq_publish(struct ohca_dev *dev, struct ohca_core_srq *srq);
void ohca_core_srq_withdraw(struct ohca_dev *dev, struct ohca_core_srq *srq);

/* The same for a region; a reference from ohca_core_mkey_get() counts as a handler */
int ohca_core_mkey_publish(struct ohca_dev *dev, struct ohca_core_mkey *mkey);
void ohca_core_mkey_withdraw(struct ohca_dev *dev, struct ohca_core_mkey *mkey);

/**
 * ohca_core_mkey_get() - find a published region and hold it
 * @dev: device
 * @key: its key, as it was created
 *
 * Return: the region, for ohca_core_mkey_put(), or NULL
 */
struct ohca_core_mkey *ohca_core_mkey_get(struct ohca_dev *dev, u32 key);
void ohca_core_mkey_put(struct ohca_core_mkey *mkey);

/**
 * ohca_core_qp_find() - find a published QP that its user can keep from being freed
 * @dev: device
 * @qpn: number, as the device reported it
 * @fn: whether the QP is one that is not freed while the caller uses it; it can't be withdrawn
 *	until this returns
 * @arg: for that function
 *
 * Return: the QP; NULL if there is none; -EINVAL if there is another one
 */
struct ohca_core_qp *ohca_core_qp_find(struct ohca_dev *dev, u32 qpn,
				       bool (*fn)(const struct ohca_core_qp *qp, const void *arg),
				       const void *arg);

/* For all kinds: hold an object in a handler, and release it */
struct ohca_core *ohca_core_get(struct xarray *xa, u32 num);
void ohca_core_put(struct ohca_core *core);

#endif /* _OHCA_RSC_H */
