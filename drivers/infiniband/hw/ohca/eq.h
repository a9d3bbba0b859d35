/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: event queues, and interrupts.
 */

#ifndef _OHCA_EQ_H
#define _OHCA_EQ_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "buf.h"

struct ohca_dev;
struct ohca_eq_rec;
struct ohca_eqe;

#define OHCA_EQ_LOG_SIZE 10
#define OHCA_MAX_COMP_EQS 32

/**
 * struct ohca_eq - an event queue
 * @dev: device
 * @buf: ring and record
 * @rec: record, in @buf
 * @eqn: number
 * @vector: MSI-X vector of this queue (the command queue shares vector 0)
 * @ci: events taken; changed while @live by the interrupt handler, or @work in its place; for
 *      asynchronous events with &ohca_eqs.async_lock
 * @arm: interrupts requested
 * @work: goes on with events that are too many for one call of a handler
 * @live: the interrupt handler uses the queue
 * @name: of the interrupt
 */
struct ohca_eq {
	struct ohca_dev *dev;
	struct ohca_buf buf;
	struct ohca_eq_rec *rec;
	u32 eqn;
	u16 vector;
	u32 ci;
	atomic_t arm;
	struct work_struct work;
	bool live;
	char name[32];
};

/**
 * struct ohca_eqs - the event queues
 * @async: on vector 0, for all events but completions; they are handled in process context
 * @comp: on vectors 1 and up, for completions; a verbs completion vector is an index here
 * @ncomp: number of those, at least 1
 * @nvec: number of vectors for them, at least @ncomp
 * @async_lock: of the thread that handles asynchronous events, one at a time
 */
struct ohca_eqs {
	struct ohca_eq async;
	struct ohca_eq comp[OHCA_MAX_COMP_EQS];
	u32 ncomp;
	u32 nvec;
	struct mutex async_lock; /* handling of asynchronous events */
};

int ohca_irq_init(struct ohca_dev *dev);
void ohca_irq_fini(struct ohca_dev *dev);
int ohca_eqs_init(struct ohca_dev *dev);
void ohca_eqs_fini(struct ohca_dev *dev);
void ohca_eqs_kick(struct ohca_dev *dev);

#endif /* _OHCA_EQ_H */
