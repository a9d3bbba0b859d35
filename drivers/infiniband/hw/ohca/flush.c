// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: what a fenced device leaves behind in the queues of the kernel's QPs.
 *
 * Their consumers tear down as they do with a device that works: they move a QP to ERR, post a
 * last request and wait for it.  So whoever polls a CQ gets what the device completed before it
 * was quiesced, then all that is still posted, flushed, whatever state the QP is in.
 *
 * Only the datagrams of SMI and GSI fail otherwise: the connection manager takes one that is
 * flushed as one that it cancelled itself, tells nobody, and the consumer waits for ever for the
 * end of its connection.  Newer kernels' ib_mad ignores that a datagram failed if it is to be
 * answered, and sends it again, and again, for more than a minute in all (xprtrdma holds up the
 * removal of the device so long).  That a repetition is not taken is what it takes as an answer.
 * The first time must go well: nobody is told otherwise, either.
 */

#include <linux/delay.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "cq.h"
#include "flush.h"
#include "ohca.h"
#include "qp.h"
#include "wq.h"
#include "wr.h"

#define OHCA_FLUSH_WAIT_MS 1000

/**
 * ohca_flush_join() - have a QP's requests flushed when the device is fenced
 * @qp: kernel QP
 */
void ohca_flush_join(struct ohca_qp *qp)
{
	struct ohca_cq *scq = to_ocq(qp->ibqp.send_cq);
	struct ohca_cq *rcq = to_ocq(qp->ibqp.recv_cq);

	spin_lock_irq(&scq->lock);
	list_add_tail(&qp->sq_entry, &scq->sqs);
	spin_unlock_irq(&scq->lock);
	spin_lock_irq(&rcq->lock);
	list_add_tail(&qp->rq_entry, &rcq->rqs);
	spin_unlock_irq(&rcq->lock);
}

/**
 * ohca_flush_leave() - before a QP goes away
 * @qp: kernel QP that joined
 */
void ohca_flush_leave(struct ohca_qp *qp)
{
	struct ohca_cq *scq = to_ocq(qp->ibqp.send_cq);
	struct ohca_cq *rcq = to_ocq(qp->ibqp.recv_cq);

	spin_lock_irq(&scq->lock);
	list_del(&qp->sq_entry);
	spin_unlock_irq(&scq->lock);
	spin_lock_irq(&rcq->lock);
	list_del(&qp->rq_entry);
	spin_unlock_irq(&rcq->lock);
}

static void ohca_flush_wc(struct ib_wc *wc, struct ohca_qp *qp, u64 wr_id, u8 opcode,
			  enum ib_wc_status status)
{
	*wc = (struct ib_wc){
		.wr_id = wr_id,
		.status = status,
		.opcode = ohca_wc_opcode(opcode),
		.qp = &qp->ibqp,
		.port_num = qp->ibqp.port,
	};
}

static int ohca_flush_sq(struct ohca_qp *qp, int num, struct ib_wc *wc)
{
	enum ib_wc_status status = ohca_qp_is_mad(qp) ? IB_WC_FATAL_ERR : IB_WC_WR_FLUSH_ERR;
	struct ohca_wq *sq = &qp->sq;
	struct ohca_sq_wqe *wqe;
	int n;

	spin_lock(&sq->lock);
	for (n = 0; n < num && sq->ci != sq->pi; n++) {
		wqe = ohca_wq_entry(sq, sq->ci);
		ohca_flush_wc(&wc[n], qp, le64_to_cpu(wqe->wr_id), wqe->opcode, status);
		WRITE_ONCE(sq->ci, sq->ci + 1);
	}
	spin_unlock(&sq->lock);
	return n;
}

/* Requests of an SRQ are no QP's; nothing is in @qp->rq then. */
static int ohca_flush_rq(struct ohca_qp *qp, int num, struct ib_wc *wc)
{
	struct ohca_wq *rq = &qp->rq;
	struct ohca_rq_wqe *wqe;
	int n;

	if (qp->ibqp.srq)
		return 0;

	spin_lock(&rq->lock);
	for (n = 0; n < num && rq->ci != rq->pi; n++) {
		wqe = ohca_wq_entry(rq, rq->ci);
		ohca_flush_wc(&wc[n], qp, le64_to_cpu(wqe->wr_id), OHCA_CQE_RECV,
			      IB_WC_WR_FLUSH_ERR);
		WRITE_ONCE(rq->ci, rq->ci + 1);
	}
	spin_unlock(&rq->lock);
	return n;
}

/**
 * ohca_flush_poll() - complete what the device does not do any more
 * @cq: CQ, locked, with nothing from the device in it
 * @num: completions, at most
 * @wc: result
 *
 * The device is quiesced: see ohca_quiesced().
 *
 * Return: number of completions
 */
int ohca_flush_poll(struct ohca_cq *cq, int num, struct ib_wc *wc)
{
	struct ohca_qp *qp;
	int n = 0;

	list_for_each_entry(qp, &cq->sqs, sq_entry)
		n += ohca_flush_sq(qp, num - n, wc + n);
	list_for_each_entry(qp, &cq->rqs, rq_entry)
		n += ohca_flush_rq(qp, num - n, wc + n);
	return n;
}

static bool ohca_flush_queued(struct ohca_wq *wq)
{
	bool res;

	spin_lock(&wq->lock);
	res = wq->ci != wq->pi;
	spin_unlock(&wq->lock);
	return res;
}

/**
 * ohca_flush_pending() - would ohca_flush_poll() return anything?
 * @cq: CQ, locked
 *
 * Return: true if so
 */
bool ohca_flush_pending(struct ohca_cq *cq)
{
	struct ohca_qp *qp;

	list_for_each_entry(qp, &cq->sqs, sq_entry)
		if (ohca_flush_queued(&qp->sq))
			return true;
	list_for_each_entry(qp, &cq->rqs, rq_entry)
		if (!qp->ibqp.srq && ohca_flush_queued(&qp->rq))
			return true;
	return false;
}

/* A consumer that never asked for an event looks when it likes; @cq is locked. */
static bool ohca_flush_armed(const struct ohca_cq *cq)
{
	return cq->arm_next || cq->arm_solicited;
}

/* The consumer's handler expects to be in an interrupt. */
static void ohca_flush_notify(struct ohca_core_cq *core, void *arg)
{
	struct ohca_cq *cq = core->kernel;
	unsigned long flags;
	bool armed;

	if (!cq)
		return;

	spin_lock_irqsave(&cq->lock, flags);
	armed = ohca_flush_armed(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!armed)
		return;

	local_irq_save(flags);
	core->comp(core);
	local_irq_restore(flags);
}

/**
 * ohca_flush_work() - wake the consumers of all CQs of the kernel
 * @work: of struct ohca_fence
 *
 * Scheduled when the device has been quiesced, and after each request that is posted since.
 */
void ohca_flush_work(struct work_struct *work)
{
	struct ohca_dev *dev = container_of(work, struct ohca_dev, fence.flush);

	ohca_core_cq_each(dev, ohca_flush_notify, NULL);
}

static void ohca_flush_check(struct ohca_core_cq *core, void *arg)
{
	struct ohca_cq *cq = core->kernel;
	unsigned long flags;
	bool *pending = arg;

	if (!cq)
		return;

	spin_lock_irqsave(&cq->lock, flags);
	*pending |= ohca_flush_armed(cq) && ohca_flush_pending(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
}

static bool ohca_flush_any_pending(struct ohca_dev *dev)
{
	bool pending = false;

	ohca_core_cq_each(dev, ohca_flush_check, &pending);
	return pending;
}

/**
 * ohca_flush_wait() - wait until the consumers have taken what was flushed; sleeps
 * @dev: device, quiesced
 *
 * From their requests they learn that their connections are gone.  One from which the device is
 * taken before that may send a disconnect, and wait for the answer of a peer (nvme-rdma: for
 * minutes).
 */
void ohca_flush_wait(struct ohca_dev *dev)
{
	unsigned long end = jiffies + msecs_to_jiffies(OHCA_FLUSH_WAIT_MS);

	flush_work(&dev->fence.flush);
	while (ohca_flush_any_pending(dev) && time_before(jiffies, end))
		usleep_range(500, 1000);
	synchronize_rcu(); /* who took them in a softirq has dealt with them, too */
}
