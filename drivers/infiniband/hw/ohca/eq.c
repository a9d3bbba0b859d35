// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: event queues, and interrupts.
 *
 * Vector 0 is for the command queue and the asynchronous event queue, each further vector for one
 * completion event queue.  Completion events are handled in the interrupt handler itself: it only
 * schedules what polls the queues.  Asynchronous events are handled in a thread: event handlers of
 * consumers may sleep, or take locks that ib_cm takes with interrupts enabled.  If more events
 * come than a queue has room for, a work item goes on.
 */

#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>

#include "buf.h"
#include "ohca.h"
#include "rsc.h"
#include "trace.h"
#include "xlt.h"

#define OHCA_EQ_BYTES (sizeof(struct ohca_eqe) << OHCA_EQ_LOG_SIZE)
#define OHCA_EQ_BUDGET BIT(OHCA_EQ_LOG_SIZE) /* events in one call of a handler */

/* Events */

static void ohca_event_comp(struct ohca_dev *dev, u32 id, u8 type)
{
	struct ohca_core *core = ohca_core_get(&dev->cqs, id);
	struct ohca_core_cq *cq = container_of(core, struct ohca_core_cq, core);

	if (!core)
		return; /* it was destroyed after the device wrote the event */
	cq->comp(cq);
	ohca_core_put(core);
}

static void ohca_event_cq(struct ohca_dev *dev, u32 id, u8 type)
{
	struct ohca_core *core = ohca_core_get(&dev->cqs, id);
	struct ohca_core_cq *cq = container_of(core, struct ohca_core_cq, core);

	if (!core)
		return;
	cq->event(cq, type);
	ohca_core_put(core);
}

static void ohca_event_qp(struct ohca_dev *dev, u32 id, u8 type)
{
	struct ohca_core *core = ohca_core_get(&dev->qps, id);
	struct ohca_core_qp *qp = container_of(core, struct ohca_core_qp, core);

	if (!core)
		return;
	qp->event(qp, type);
	ohca_core_put(core);
}

static void ohca_event_srq(struct ohca_dev *dev, u32 id, u8 type)
{
	struct ohca_core *core = ohca_core_get(&dev->srqs, id);
	struct ohca_core_srq *srq = container_of(core, struct ohca_core_srq, core);

	if (!core)
		return;
	srq->event(srq, type);
	ohca_core_put(core);
}

static void ohca_event_port(struct ohca_dev *dev, u32 id, u8 type)
{
	struct ohca_port *port = ohca_port(dev, id);

	if (port)
		ohca_port_check_link(port);
}

/* Events that are passed on to ib_core's clients unchanged */
static void ohca_event_port_change(struct ohca_dev *dev, u32 id, u8 type)
{
	static const enum ib_event_type types[] = {
		[OHCA_EVENT_LID_CHANGE - OHCA_EVENT_LID_CHANGE] = IB_EVENT_LID_CHANGE,
		[OHCA_EVENT_SM_CHANGE - OHCA_EVENT_LID_CHANGE] = IB_EVENT_SM_CHANGE,
		[OHCA_EVENT_PKEY_CHANGE - OHCA_EVENT_LID_CHANGE] = IB_EVENT_PKEY_CHANGE,
		[OHCA_EVENT_GID_CHANGE - OHCA_EVENT_LID_CHANGE] = IB_EVENT_GID_CHANGE,
		[OHCA_EVENT_CLIENT_REREGISTER - OHCA_EVENT_LID_CHANGE] = IB_EVENT_CLIENT_REREGISTER,
	};

	if (ohca_port(dev, id))
		ohca_dispatch_event(dev, types[type - OHCA_EVENT_LID_CHANGE], id);
}

/* Another one than the driver has set the port's type. */
static void ohca_event_link_layer(struct ohca_dev *dev, u32 id, u8 type)
{
	ohca_check_types(dev);
}

/* ohca_fault_take() has handled it already. */
static void ohca_event_fault(struct ohca_dev *dev, u32 id, u8 type)
{
}

static void ohca_event_fatal(struct ohca_dev *dev, u32 id, u8 type)
{
	ohca_fence(dev, "fatal event");
}

/* clang-format off */
static void (*const ohca_event_handlers[])(struct ohca_dev *dev, u32 id, u8 type) = {
	[OHCA_EVENT_COMP] = ohca_event_comp,
	[OHCA_EVENT_CQ_ERR] = ohca_event_cq,
	[OHCA_EVENT_QP_FATAL] = ohca_event_qp,
	[OHCA_EVENT_QP_REQ_ERR] = ohca_event_qp,
	[OHCA_EVENT_QP_ACCESS_ERR] = ohca_event_qp,
	[OHCA_EVENT_COMM_EST] = ohca_event_qp,
	[OHCA_EVENT_SQ_DRAINED] = ohca_event_qp,
	[OHCA_EVENT_LAST_WQE] = ohca_event_qp,
	[OHCA_EVENT_PATH_MIG] = ohca_event_qp,
	[OHCA_EVENT_PATH_MIG_ERR] = ohca_event_qp,
	[OHCA_EVENT_SRQ_LIMIT] = ohca_event_srq,
	[OHCA_EVENT_SRQ_ERR] = ohca_event_srq,
	[OHCA_EVENT_PORT_ACTIVE] = ohca_event_port,
	[OHCA_EVENT_PORT_ERR] = ohca_event_port,
	[OHCA_EVENT_LID_CHANGE] = ohca_event_port_change,
	[OHCA_EVENT_SM_CHANGE] = ohca_event_port_change,
	[OHCA_EVENT_PKEY_CHANGE] = ohca_event_port_change,
	[OHCA_EVENT_GID_CHANGE] = ohca_event_port_change,
	[OHCA_EVENT_CLIENT_REREGISTER] = ohca_event_port_change,
	[OHCA_EVENT_LINK_LAYER] = ohca_event_link_layer,
	[OHCA_EVENT_DEVICE_FATAL] = ohca_event_fatal,
	[OHCA_EVENT_PAGE_FAULT] = ohca_event_fault,
};

/* clang-format on */

static void ohca_event(struct ohca_dev *dev, u32 id, u8 type)
{
	trace_ohca_event(dev, type, id);
	if (type < ARRAY_SIZE(ohca_event_handlers) && ohca_event_handlers[type])
		ohca_event_handlers[type](dev, id, type);
	else
		dev_warn_ratelimited(ohca_dmadev(dev), "unknown event 0x%x for object 0x%x\n", type,
				     id);
}

/* Event queues */

static struct ohca_eqe *ohca_eq_next(struct ohca_eq *eq)
{
	u32 ci = READ_ONCE(eq->ci);
	size_t off = ohca_ring_off(ci, OHCA_EQ_LOG_SIZE, ilog2(sizeof(struct ohca_eqe)));
	struct ohca_eqe *eqe = eq->buf.va + off;

	if (!ohca_ring_valid(READ_ONCE(eqe->owner), ci, OHCA_EQ_LOG_SIZE))
		return NULL;
	dma_rmb(); /* the owner before the rest of the entry */
	return eqe;
}

static u64 ohca_eqe_fault(const struct ohca_eqe *eqe)
{
	return (u64)le32_to_cpu(eqe->fault_hi) << 32 | le32_to_cpu(eqe->fault_lo);
}

/* Handle up to @budget events.  Returns what is left of the budget; 0: there may be more events. */
static u32 ohca_eq_drain(struct ohca_eq *eq, u32 budget)
{
	struct ohca_eqe *eqe;
	bool is_comp;
	u32 id;
	u8 type;

	while (budget && (eqe = ohca_eq_next(eq))) {
		id = le32_to_cpu(READ_ONCE(eqe->id));
		type = READ_ONCE(eqe->type);
		is_comp = type == OHCA_EVENT_COMP;
		if (unlikely(is_comp != !!eq->vector)) {
			ohca_fence(eq->dev, "event in a queue of another kind");
			break;
		}
		if (type == OHCA_EVENT_PAGE_FAULT &&
		    !ohca_fault_take(eq->dev, id, ohca_eqe_fault(eqe)))
			break; /* the event stays in the queue until ohca_eqs_kick() */
		budget--;
		WRITE_ONCE(eq->ci, eq->ci + 1);
		/*
		 * All reads of the entry are before the store that allows the device to overwrite
		 * it.
		 */
		smp_store_release(&eq->rec->ci, cpu_to_le32(eq->ci));
		ohca_event(eq->dev, id, type);
	}
	return budget;
}

/*
 * Ask for one interrupt.  If the thread and the interrupt handler do so at the same time, it does
 * not matter which number is stored last: each is new to the device.
 */
static void ohca_eq_arm(struct ohca_eq *eq)
{
	WRITE_ONCE(eq->rec->arm, cpu_to_le32(atomic_inc_return(&eq->arm)));
	mb(); /* the device: event, then arm; here: arm, then event */
}

/* However many events the device writes, the processor is soon free for others. */
static void ohca_eq_handle(struct ohca_eq *eq)
{
	u32 budget = ohca_eq_drain(eq, OHCA_EQ_BUDGET);

	ohca_eq_arm(eq);
	if (!ohca_eq_drain(eq, budget))
		queue_work(ohca_workqueue, &eq->work);
}

static irqreturn_t ohca_comp_irq(int irq, void *data)
{
	struct ohca_eq *eq = data;

	if (smp_load_acquire(&eq->live)) /* pairs with ohca_eq_create() */
		ohca_eq_handle(eq);
	return IRQ_HANDLED;
}

/*
 * An interrupt for a command alone does not wake the thread.  One for an event may find that the
 * thread has taken it, and the queue is no longer armed: the device looks for that after it has
 * written the event, and the thread may be faster.
 */
static irqreturn_t ohca_async_irq(int irq, void *data)
{
	struct ohca_eq *eq = data;

	ohca_cmdq_irq(eq->dev);
	if (!smp_load_acquire(&eq->live)) /* pairs with ohca_eq_create() */
		return IRQ_HANDLED;
	if (!ohca_eq_next(eq))
		ohca_eq_arm(eq);
	return ohca_eq_next(eq) ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static void ohca_async_run(struct ohca_eq *eq)
{
	mutex_lock(&eq->dev->eqs.async_lock);
	ohca_eq_handle(eq);
	mutex_unlock(&eq->dev->eqs.async_lock);
}

static irqreturn_t ohca_async_thread(int irq, void *data)
{
	ohca_async_run(data);
	return IRQ_HANDLED;
}

/*
 * In place of the interrupt handler, which is kept from running.  What the events schedule, such as
 * NAPI, runs when bottom halves are enabled; older releases do not wake ksoftirqd for it.
 */
static void ohca_comp_run(struct ohca_eq *eq)
{
	int irq = pci_irq_vector(eq->dev->pdev, eq->vector);
	unsigned long flags;

	disable_irq(irq);
	local_bh_disable();
	local_irq_save(flags);
	ohca_eq_handle(eq);
	local_irq_restore(flags);
	local_bh_enable();
	enable_irq(irq);
}

static void ohca_eq_run(struct ohca_eq *eq)
{
	if (eq->vector)
		ohca_comp_run(eq);
	else
		ohca_async_run(eq);
}

static void ohca_eq_work(struct work_struct *work)
{
	ohca_eq_run(container_of(work, struct ohca_eq, work));
}

static int ohca_eq_create(struct ohca_eq *eq, u8 flags)
{
	struct ohca_eq_params params = {
		.rec_offset = OHCA_EQ_BYTES,
		.vector = eq->vector,
		.log_size = OHCA_EQ_LOG_SIZE,
		.flags = flags,
	};
	struct ohca_dev *dev = eq->dev;
	struct ohca_xlt_desc xlt;
	int err;

	err = ohca_buf_alloc(dev, OHCA_EQ_BYTES + sizeof(*eq->rec), &eq->buf);
	if (err)
		return err;
	eq->rec = eq->buf.va + OHCA_EQ_BYTES;
	eq->ci = 0;
	atomic_set(&eq->arm, 0);

	err = ohca_xlt_from_buf(dev, &eq->buf, &xlt);
	if (err)
		goto err_buf;
	params.buf = &xlt;
	err = ohca_cmd_create_eq(dev, &params, &eq->eqn);
	ohca_xlt_release(dev, &xlt);
	if (err)
		goto err_buf;

	/* Let the interrupt handler use it, and arm it. */
	smp_store_release(&eq->live, true);
	ohca_eq_run(eq);
	return 0;

err_buf:
	ohca_buf_free(dev, &eq->buf);
	return err;
}

static void ohca_eq_destroy(struct ohca_eq *eq)
{
	struct ohca_dev *dev = eq->dev;

	if (ohca_cmd_destroy_eq(dev, eq->eqn))
		ohca_fence(dev, "event queue not destroyed");
	WRITE_ONCE(eq->live, false);
	synchronize_irq(pci_irq_vector(dev->pdev, eq->vector));
	cancel_work_sync(&eq->work);
	ohca_buf_free(dev, &eq->buf);
}

/**
 * ohca_eqs_init() - create the event queues, as many as there are interrupts
 * @dev: device, enabled
 *
 * Return: 0 or a negative errno
 */
int ohca_eqs_init(struct ohca_dev *dev)
{
	struct ohca_eqs *eqs = &dev->eqs;
	u32 i;
	int err;

	err = ohca_eq_create(&eqs->async, OHCA_EQ_ASYNC);
	if (err)
		return err;

	for (i = 0; i < eqs->ncomp; i++) {
		err = ohca_eq_create(&eqs->comp[i], 0);
		if (err)
			goto err_comp;
	}
	return 0;

err_comp:
	while (i--)
		ohca_eq_destroy(&eqs->comp[i]);
	ohca_eq_destroy(&eqs->async);
	return err;
}

/**
 * ohca_eqs_fini() - destroy the event queues
 * @dev: device; all CQs are destroyed
 */
void ohca_eqs_fini(struct ohca_dev *dev)
{
	u32 i = dev->eqs.ncomp;

	while (i--)
		ohca_eq_destroy(&dev->eqs.comp[i]);
	ohca_eq_destroy(&dev->eqs.async);
}

/**
 * ohca_eqs_kick() - handle asynchronous events that were left in the queue
 * @dev: device; its event queues exist
 */
void ohca_eqs_kick(struct ohca_dev *dev)
{
	ohca_async_run(&dev->eqs.async);
}

/* Interrupts */

static int ohca_eq_request_irq(struct ohca_dev *dev, struct ohca_eq *eq, u16 vector,
			       irq_handler_t handler, irq_handler_t thread)
{
	eq->dev = dev;
	eq->vector = vector;
	INIT_WORK(&eq->work, ohca_eq_work);
	if (vector)
		snprintf(eq->name, sizeof(eq->name), "ohca-comp%u@%s", vector - 1,
			 pci_name(dev->pdev));
	else
		snprintf(eq->name, sizeof(eq->name), "ohca-async@%s", pci_name(dev->pdev));
	return request_threaded_irq(pci_irq_vector(dev->pdev, vector), handler, thread, 0, eq->name,
				    eq);
}

static void ohca_eq_free_irq(struct ohca_eq *eq)
{
	int irq = pci_irq_vector(eq->dev->pdev, eq->vector);

	irq_update_affinity_hint(irq, NULL);
	free_irq(irq, eq);
}

/*
 * Completion vector n is assigned to the nth processor, nearest to the device first; the user may
 * change that.
 */
static void ohca_eq_spread_irq(struct ohca_dev *dev, u16 vector)
{
	u32 cpu = cpumask_local_spread(vector - 1, dev_to_node(&dev->pdev->dev));

	irq_set_affinity_and_hint(pci_irq_vector(dev->pdev, vector), cpumask_of(cpu));
}

/**
 * ohca_irq_init() - allocate the interrupts and install their handlers
 * @dev: device, not enabled yet; its command queue exists
 *
 * Return: 0 or a negative errno
 */
int ohca_irq_init(struct ohca_dev *dev)
{
	struct ohca_eqs *eqs = &dev->eqs;
	u32 i, want = 1 + min_t(u32, num_online_cpus(), OHCA_MAX_COMP_EQS);
	int nvec, err;

	nvec = pci_alloc_irq_vectors(dev->pdev, 2, want, PCI_IRQ_MSIX);
	if (nvec < 0)
		return nvec;
	eqs->nvec = nvec - 1;
	eqs->ncomp = eqs->nvec;

	err = ohca_eq_request_irq(dev, &eqs->async, 0, ohca_async_irq, ohca_async_thread);
	if (err)
		goto err_vectors;
	for (i = 0; i < eqs->nvec; i++) {
		err = ohca_eq_request_irq(dev, &eqs->comp[i], i + 1, ohca_comp_irq, NULL);
		if (err)
			goto err_comp;
		ohca_eq_spread_irq(dev, i + 1);
	}
	return 0;

err_comp:
	while (i--)
		ohca_eq_free_irq(&eqs->comp[i]);
	ohca_eq_free_irq(&eqs->async);
err_vectors:
	pci_free_irq_vectors(dev->pdev);
	return err;
}

/**
 * ohca_irq_fini() - remove the handlers and free the interrupts
 * @dev: device, which has been reset
 */
void ohca_irq_fini(struct ohca_dev *dev)
{
	u32 i = dev->eqs.nvec;

	while (i--)
		ohca_eq_free_irq(&dev->eqs.comp[i]);
	ohca_eq_free_irq(&dev->eqs.async);
	pci_free_irq_vectors(dev->pdev);
}
