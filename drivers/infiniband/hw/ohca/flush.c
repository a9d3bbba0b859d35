// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: completions of the kernel's QPs after the device was fenced.
 *
 * Consumers tear down as with a device that works: they move a QP to ERR, post a last request and
 * wait for its completion.  So polling a CQ first returns the completions that the device wrote
 * before it was quiesced.  Then all requests that are still posted complete as flushed, whatever
 * state the QP is in.
 *
 * Datagrams of SMI and GSI complete with another error.  The connection manager would take a
 * flushed datagram as one that it has cancelled itself, and would not notify its consumer, which
 * then waits for the end of its connection for ever.  The ib_mad of newer kernels ignores an error
 * of a datagram that expects an answer, and repeats it for more than a minute in all (xprtrdma
 * delays the removal of the device for so long).  A repetition that can't be posted ends that.
 * Posting the first one must succeed, because its failure would not be reported either.
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
 * ohca_flush_join() - flush a QP's requests when the device is fenced
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
 * ohca_flush_leave() - undo ohca_flush_join(), before a QP is destroyed
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
	const struct ohca_sq_wqe *wqe;
	int n;

	spin_lock(&sq->lock);
	for (n = 0; n < num && sq->ci != sq->pi; n++) {
		wqe = ohca_wq_entry(sq, sq->ci);
		ohca_flush_wc(&wc[n], qp, ohca_wq_wr(sq, sq->ci)->id, wqe->opcode, status);
		WRITE_ONCE(sq->ci, sq->ci + 1);
	}
	spin_unlock(&sq->lock);
	return n;
}

/* Requests of an SRQ belong to no QP; @qp->rq is empty then. */
static int ohca_flush_rq(struct ohca_qp *qp, int num, struct ib_wc *wc)
{
	struct ohca_wq *rq = &qp->rq;
	int n;

	if (qp->ibqp.srq)
		return 0;

	spin_lock(&rq->lock);
	for (n = 0; n < num && rq->ci != rq->pi; n++) {
		ohca_flush_wc(&wc[n], qp, ohca_wq_wr(rq, rq->ci)->id, OHCA_CQE_RECV,
			      IB_WC_WR_FLUSH_ERR);
		WRITE_ONCE(rq->ci, rq->ci + 1);
	}
	spin_unlock(&rq->lock);
	return n;
}

/**
 * ohca_flush_poll() - complete requests in place of a quiesced device
 * @cq: CQ, locked, without completions of the device
 * @num: maximum number of completions
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
 * ohca_flush_pending() - whether ohca_flush_poll() would return a completion
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

/* A consumer that never requested an event polls by itself; @cq is locked. */
static bool ohca_flush_armed(const struct ohca_cq *cq)
{
	return cq->arm_next || cq->arm_solicited;
}

/*
 * The consumer's handler expects to run in an interrupt.  Without a completion it is not called: a
 * CQ that is being created, or freed, need not be able to handle an event, and has none.
 */
static void ohca_flush_notify(struct ohca_core_cq *core, void *arg)
{
	struct ohca_cq *cq = core->kernel;
	unsigned long flags;
	bool notify;

	if (!cq)
		return;

	spin_lock_irqsave(&cq->lock, flags);
	notify = ohca_flush_armed(cq) && (ohca_cq_peek(cq, cq->ci) || ohca_flush_pending(cq));
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!notify)
		return;

	local_irq_save(flags);
	core->comp(core);
	local_irq_restore(flags);
}

/**
 * ohca_flush_work() - notify the consumers of all CQs of the kernel
 * @work: of struct ohca_fence
 *
 * Scheduled when the device has been quiesced, and after each request that is posted later.
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
 * ohca_flush_wait() - wait until the consumers have taken the flushed completions; sleeps
 * @dev: device, quiesced
 *
 * By these completions, consumers notice that their connections are lost.  A consumer whose device
 * is removed before that may send a disconnect, and wait for the answer of a peer (nvme-rdma: for
 * minutes).
 */
void ohca_flush_wait(struct ohca_dev *dev)
{
	unsigned long end = jiffies + msecs_to_jiffies(OHCA_FLUSH_WAIT_MS);

	flush_work(&dev->fence.flush);
	while (ohca_flush_any_pending(dev) && time_before(jiffies, end))
		usleep_range(500, 1000);
	synchronize_rcu(); /* a consumer that took them in a softirq has handled them now, too */
}
