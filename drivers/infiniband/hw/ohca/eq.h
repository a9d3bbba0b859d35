/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: event queues, interrupts, and the way from an event to the object that it is for.
 */

#ifndef _OHCA_EQ_H
#define _OHCA_EQ_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "buf.h"

struct ohca_dev;
struct ohca_eq_rec;
struct ohca_eqe;

#define OHCA_EQ_LOG_SIZE 10
#define OHCA_MAX_COMP_EQS 32

/**
 * struct ohca_core - what lets events find an object, and destroying it wait for them
 * @ref: handlers at work, and one for being published
 * @done: @ref fell to 0
 */
struct ohca_core {
	refcount_t ref;
	struct completion done;
};

/**
 * struct ohca_core_cq - the part of a CQ that events need; embedded in the verbs' CQ and in the
 * netdev's
 * @core: see there
 * @cqn: number, from ohca_cmd_create_cq()
 * @comp: an armed CQ has a completion; called in hard interrupt context
 * @event: asynchronous event, enum ohca_event; called in hard interrupt context
 */
struct ohca_core_cq {
	struct ohca_core core;
	u32 cqn;
	void (*comp)(struct ohca_core_cq *cq);
	void (*event)(struct ohca_core_cq *cq, u8 type);
};

/**
 * struct ohca_core_qp - the part of a QP that events need; embedded in the verbs' QP and in the
 * netdev's
 * @core: see there
 * @qpn: number, from ohca_cmd_create_qp()
 * @event: asynchronous event, enum ohca_event; called in hard interrupt context
 */
struct ohca_core_qp {
	struct ohca_core core;
	u32 qpn;
	void (*event)(struct ohca_core_qp *qp, u8 type);
};

/**
 * struct ohca_core_srq - the part of an SRQ that events need
 * @core: see there
 * @srqn: number, from ohca_cmd_create_srq()
 * @event: asynchronous event, enum ohca_event; called in hard interrupt context
 */
struct ohca_core_srq {
	struct ohca_core core;
	u32 srqn;
	void (*event)(struct ohca_core_srq *srq, u8 type);
};

/**
 * struct ohca_core_mkey - the part of a region that page faults need
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
 * @cq: CQ; @cqn, @comp and @event are set, and all that its handlers use: they may run at once
 *
 * Return: 0, -ENOMEM, or -EIO if the device gave the number of a CQ that exists
 */
int ohca_core_cq_publish(struct ohca_dev *dev, struct ohca_core_cq *cq);

/**
 * ohca_core_cq_withdraw() - hide a CQ from events and wait for its handlers; the first step of
 * destroying it
 * @dev: device
 * @cq: published CQ; when this returns, no handler runs and none will be called
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

/* The same for a region; whoever holds it counts as a handler */
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
 * ohca_core_qp_find() - find a QP that is known to live on
 * @dev: device
 * @qpn: number
 *
 * Return: the QP, or NULL; it may be used as long as the caller keeps it from being destroyed
 */
struct ohca_core_qp *ohca_core_qp_find(struct ohca_dev *dev, u32 qpn);

/**
 * struct ohca_eq - an event queue
 * @dev: device
 * @buf: ring and record
 * @rec: record, in @buf
 * @eqn: number
 * @vector: MSI-X vector, of this queue alone (vector 0: and of the command queue)
 * @ci: events taken; only the interrupt handler uses it while @live
 * @arm: interrupts asked for; only the interrupt handler uses it while @live
 * @live: the queue is the interrupt handler's
 * @name: of the interrupt
 */
struct ohca_eq {
	struct ohca_dev *dev;
	struct ohca_buf buf;
	struct ohca_eq_rec *rec;
	u32 eqn;
	u16 vector;
	u32 ci;
	u32 arm;
	bool live;
	char name[32];
};

/**
 * struct ohca_eqs - the event queues
 * @async: on vector 0, for everything but completions
 * @comp: on vectors 1 and up, for completions; a verbs completion vector is an index here
 * @ncomp: number of those, at least 1
 * @nvec: vectors for them, at least as many
 * @kick_lock: one ohca_eqs_kick() at a time
 */
struct ohca_eqs {
	struct ohca_eq async;
	struct ohca_eq comp[OHCA_MAX_COMP_EQS];
	u32 ncomp;
	u32 nvec;
	struct mutex kick_lock; /* one ohca_eqs_kick() at a time */
};

int ohca_irq_init(struct ohca_dev *dev);
void ohca_irq_fini(struct ohca_dev *dev);
int ohca_eqs_init(struct ohca_dev *dev);
void ohca_eqs_fini(struct ohca_dev *dev);
void ohca_eqs_kick(struct ohca_dev *dev);

#endif /* _OHCA_EQ_H */
