// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the command queue.
 *
 * Commands complete in any order, and many callers may wait at once.  Each caller owns a slot
 * (buffers and tag) from before it posts the command until it has read the result.  Any caller that
 * waits takes completions off the ring, also those of others.  All callers first poll the ring for
 * a short time, since most commands take less time than an interrupt.
 */

#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/ktime.h>

#include "buf.h"
#include "doorbell.h"
#include "ohca.h"
#include "trace.h"

#define OHCA_CMD_TIMEOUT_MS (2 * OHCA_CMD_MAX_MS) /* a virtual CPU does not always run */
#define OHCA_CMD_ATOMIC_TIMEOUT_MS OHCA_CMD_MAX_MS /* not longer, because of the lockup detectors */
#define OHCA_CMD_BATCH 16 /* commands of a batch for which a device that sleeps is woken */
#define OHCA_CMD_SPIN_US 40 /* several times a command's latency, a fraction of an interrupt's */

#define OHCA_CMDQ_CQ_OFF PAGE_ALIGN(OHCA_CMDQ_SIZE * sizeof(struct ohca_cmd))
#define OHCA_CMDQ_REC_OFF \
	(OHCA_CMDQ_CQ_OFF + PAGE_ALIGN(OHCA_CMDQ_SIZE * sizeof(struct ohca_cmd_cqe)))
#define OHCA_CMDQ_BYTES (OHCA_CMDQ_REC_OFF + PAGE_SIZE)

static const int ohca_cmd_errno[] = {
	[OHCA_CMD_OK] = 0,
	[OHCA_CMD_BAD_OPCODE] = -EOPNOTSUPP,
	[OHCA_CMD_BAD_LEN] = -EINVAL,
	[OHCA_CMD_BAD_PARAM] = -EINVAL,
	[OHCA_CMD_BAD_HANDLE] = -EINVAL,
	[OHCA_CMD_BAD_STATE] = -EINVAL,
	[OHCA_CMD_BUSY] = -EBUSY,
	[OHCA_CMD_NO_RESOURCE] = -ENOMEM,
	[OHCA_CMD_BAD_ADDR] = -EFAULT,
	[OHCA_CMD_UNSUPPORTED] = -EOPNOTSUPP,
	[OHCA_CMD_INTERNAL] = -EIO,
};

/* A command of a batch: nobody else frees its slot. */
static void ohca_later_end(struct ohca_cmdq *cmdq, struct ohca_cmd_slot *slot)
{
	struct ohca_cmd_later *later = slot->later;
	struct ohca_cmd_batch *batch = later->batch;

	trace_ohca_cmd_done(container_of(cmdq, struct ohca_dev, cmdq), later->opcode,
			    slot - cmdq->slots, slot->status, slot->syndrome);
	slot->later = NULL;
	later->status = slot->status;
	list_add_tail(&later->list, &batch->ended);
	if (slot->status >= 0)
		__set_bit(slot - cmdq->slots, cmdq->free);
	up(&cmdq->room);
	if (--batch->pending <= batch->enough)
		wake_up(&batch->wait);
}

static void ohca_slot_end(struct ohca_cmdq *cmdq, struct ohca_cmd_slot *slot, int status)
{
	slot->posted = false;
	slot->status = status;
	if (slot->sleeps) {
		slot->sleeps = false;
		cmdq->sleepers--;
	}
	if (slot->later)
		ohca_later_end(cmdq, slot);
	else
		complete(&slot->done);
}

/* Take all completions off the ring.  Returns false if the device wrote an invalid one. */
static bool ohca_cmdq_reap(struct ohca_cmdq *cmdq)
{
	struct ohca_cmd_slot *slot;
	struct ohca_cmd_cqe *cqe;
	u16 tag;

	lockdep_assert_held(&cmdq->lock);

	for (;;) {
		cqe = &cmdq->cq[cmdq->ci % OHCA_CMDQ_SIZE];
		if (!ohca_ring_valid(READ_ONCE(cqe->owner), cmdq->ci, OHCA_CMDQ_LOG_SIZE))
			return true;
		dma_rmb();

		tag = le16_to_cpu(READ_ONCE(cqe->tag));
		if (tag >= OHCA_CMDQ_SIZE || !cmdq->slots[tag].posted)
			return false;
		slot = &cmdq->slots[tag];
		slot->syndrome = le32_to_cpu(cqe->syndrome);
		slot->out_len = min_t(u16, le16_to_cpu(READ_ONCE(cqe->out_len)), OHCA_CMD_MAX_LEN);
		cmdq->ci++;
		__clear_bit(slot->entry, cmdq->busy);
		ohca_slot_end(cmdq, slot, READ_ONCE(cqe->status));
	}
}

/*
 * Ask for an interrupt at the next completion, and take those that came before the device could see
 * the request.  This is done for each sleeper: one interrupt may be for a completion that another
 * caller takes while others still sleep.
 */
static bool ohca_cmdq_arm(struct ohca_cmdq *cmdq)
{
	lockdep_assert_held(&cmdq->lock);

	WRITE_ONCE(cmdq->rec->arm, cpu_to_le32(++cmdq->arm));
	mb(); /* the device: completion, then arm; here: arm, then completion */
	return ohca_cmdq_reap(cmdq);
}

/**
 * ohca_cmdq_irq() - interrupt handler's part of the command queue
 * @dev: device
 */
void ohca_cmdq_irq(struct ohca_dev *dev)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&cmdq->lock, flags);
	ok = ohca_cmdq_reap(cmdq);
	if (ok && cmdq->sleepers)
		ok = ohca_cmdq_arm(cmdq);
	spin_unlock_irqrestore(&cmdq->lock, flags);

	if (!ok)
		ohca_fence(dev, "bad command completion");
}

/**
 * ohca_cmdq_abort() - release all callers that wait, with -EIO
 * @dev: device, just fenced
 *
 * Their slots are never used again: the device may have kept their addresses.
 */
void ohca_cmdq_abort(struct ohca_dev *dev)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cmdq->lock, flags);
	for (i = 0; i < OHCA_CMDQ_SIZE; i++)
		if (cmdq->slots[i].posted)
			ohca_slot_end(cmdq, &cmdq->slots[i], -EIO);
	spin_unlock_irqrestore(&cmdq->lock, flags);
}

static void ohca_cmdq_look(struct ohca_dev *dev)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	unsigned long flags;
	bool ok;

	spin_lock_irqsave(&cmdq->lock, flags);
	ok = ohca_fenced(dev) || ohca_cmdq_reap(cmdq);
	spin_unlock_irqrestore(&cmdq->lock, flags);

	if (!ok)
		ohca_fence(dev, "bad command completion");
}

static bool ohca_cmdq_poll(struct ohca_dev *dev, struct ohca_cmd_slot *slot)
{
	if (!completion_done(&slot->done))
		ohca_cmdq_look(dev);
	return completion_done(&slot->done);
}

static struct ohca_cmd_slot *ohca_slot_get(struct ohca_cmdq *cmdq, bool atomic)
{
	struct ohca_cmd_slot *slot = NULL;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&cmdq->lock, flags);
	i = find_first_bit(cmdq->free, OHCA_CMDQ_SIZE);
	if (i < OHCA_CMDQ_SIZE && (!atomic || cmdq->atomics < OHCA_CMDQ_ATOMIC)) {
		__clear_bit(i, cmdq->free);
		slot = &cmdq->slots[i];
		slot->atomic = atomic;
		cmdq->atomics += atomic;
		reinit_completion(&slot->done);
	}
	spin_unlock_irqrestore(&cmdq->lock, flags);
	return slot;
}

static void ohca_slot_put(struct ohca_cmdq *cmdq, struct ohca_cmd_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&cmdq->lock, flags);
	__set_bit(slot - cmdq->slots, cmdq->free);
	cmdq->atomics -= slot->atomic;
	spin_unlock_irqrestore(&cmdq->lock, flags);
}

/*
 * Returns -EAGAIN if the next entry of the ring has a command that has not completed, while later
 * ones have; 1 if the device was asleep.  Without @wake a device that sleeps goes on doing so.
 */
static int ohca_cmdq_post(struct ohca_dev *dev, struct ohca_cmd_slot *slot, u16 opcode,
			  size_t in_len, size_t out_len, bool wake)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	unsigned long flags;
	struct ohca_cmd *cmd;
	bool shadow;
	u16 entry;

	spin_lock_irqsave(&cmdq->lock, flags);
	if (ohca_fenced(dev)) {
		spin_unlock_irqrestore(&cmdq->lock, flags);
		return -EIO;
	}
	entry = cmdq->pi % OHCA_CMDQ_SIZE;
	if (__test_and_set_bit(entry, cmdq->busy)) {
		spin_unlock_irqrestore(&cmdq->lock, flags);
		return -EAGAIN;
	}

	slot->entry = entry;
	slot->posted = true;
	cmd = &cmdq->ring[entry];
	memset(cmd, 0, sizeof(*cmd));
	cmd->opcode = cpu_to_le16(opcode);
	cmd->tag = cpu_to_le16(slot - cmdq->slots);
	cmd->in_len = cpu_to_le16(in_len);
	cmd->out_len = cpu_to_le16(out_len);
	cmd->in_addr = cpu_to_le64(slot->dma);
	cmd->out_addr = cpu_to_le64(slot->dma + OHCA_CMD_MAX_LEN);
	trace_ohca_cmd_post(dev, opcode, slot - cmdq->slots);
	dma_wmb(); /* command before index */
	WRITE_ONCE(cmdq->rec->pi, cpu_to_le32(++cmdq->pi));

	shadow = cmdq->shadow;
	if (!shadow)
		writel(cmdq->pi, dev->regs + OHCA_REG_CMDQ_DB);
	spin_unlock_irqrestore(&cmdq->lock, flags);

	if (!shadow)
		return 0;
	if (wake)
		return ohca_db_ring_shadow(&dev->uar, OHCA_SLOT_CMDQ);
	ohca_db_mark_shadow(&dev->uar, OHCA_SLOT_CMDQ);
	return 0;
}

/*
 * The caller of a command now polls for a short time without an interrupt.  A device that slept
 * takes longer to wake up; this read returns only when it is awake.  It is in vain if the device
 * has run in place of this processor, and has completed the command by now.
 */
static void ohca_cmdq_wake(struct ohca_dev *dev, struct ohca_cmd_slot *slot)
{
	if (!ohca_cmdq_poll(dev, slot))
		readl(dev->regs + OHCA_REG_STATUS);
}

static void ohca_cmd_timed_out(struct ohca_dev *dev, u16 opcode)
{
	dev_err(ohca_dmadev(dev), "command 0x%x timed out\n", opcode);
	ohca_fence(dev, "command time-out");
	ohca_cmdq_abort(dev); /* another thread may be about to do this; the device is quiet */
}

/* Wait until the slot's command has ended; after a time-out it is ended here. */
static void ohca_cmd_wait(struct ohca_dev *dev, struct ohca_cmd_slot *slot, u16 opcode)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	ktime_t spin_end = ktime_add_us(ktime_get(), OHCA_CMD_SPIN_US);
	bool ok = true;

	do {
		if (ohca_cmdq_poll(dev, slot))
			return;
		cpu_relax();
	} while (ktime_before(ktime_get(), spin_end));

	spin_lock_irq(&cmdq->lock);
	if (slot->posted) {
		slot->sleeps = true;
		cmdq->sleepers++;
		ok = ohca_cmdq_arm(cmdq);
	}
	spin_unlock_irq(&cmdq->lock);
	if (!ok)
		ohca_fence(dev, "bad command completion");

	if (wait_for_completion_timeout(&slot->done, msecs_to_jiffies(OHCA_CMD_TIMEOUT_MS)))
		return;
	if (ohca_cmdq_poll(dev, slot)) {
		dev_warn_ratelimited(ohca_dmadev(dev), "command 0x%x completed, no interrupt\n",
				     opcode);
		return;
	}
	ohca_cmd_timed_out(dev, opcode);
}

static void ohca_cmd_wait_atomic(struct ohca_dev *dev, struct ohca_cmd_slot *slot, u16 opcode)
{
	ktime_t end = ktime_add_ms(ktime_get(), OHCA_CMD_ATOMIC_TIMEOUT_MS);
	bool late;

	do {
		late = ktime_after(ktime_get(), end);
		if (ohca_cmdq_poll(dev, slot))
			return;
		udelay(1);
	} while (!late);
	ohca_cmd_timed_out(dev, opcode);
}

/* Read the result and free the slot, unless the device may still write to its buffers. */
static int ohca_cmd_finish(struct ohca_dev *dev, struct ohca_cmd_slot *slot, u16 opcode, void *out,
			   size_t out_len)
{
	int status = slot->status;
	u32 syndrome = slot->syndrome;
	int err;

	trace_ohca_cmd_done(dev, opcode, slot - dev->cmdq.slots, status, syndrome);
	if (status < 0) {
		ohca_fence_sync(dev);
		return status;
	}

	if (status == OHCA_CMD_OK && out_len) {
		memset(out, 0, out_len);
		memcpy(out, slot->out, min_t(size_t, slot->out_len, out_len));
	}
	ohca_slot_put(&dev->cmdq, slot);

	err = status < ARRAY_SIZE(ohca_cmd_errno) ? ohca_cmd_errno[status] : -EIO;
	if (err)
		dev_dbg(ohca_dmadev(dev), "command 0x%x: status %d, syndrome 0x%x: %pe\n", opcode,
			status, syndrome, ERR_PTR(err));
	return err;
}

int ohca_cmd_exec(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len, void *out,
		  size_t out_len)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	struct ohca_cmd_slot *slot;
	ktime_t end;
	int err;

	might_sleep();
	if (WARN_ON_ONCE(in_len > OHCA_CMD_MAX_LEN || out_len > OHCA_CMD_MAX_LEN))
		return -EINVAL;

	down(&cmdq->room);
	slot = ohca_fenced(dev) ? NULL : ohca_slot_get(cmdq, false);
	if (!slot) { /* slots lack only after fencing, when they are not freed */
		ohca_fence_sync(dev);
		err = -EIO;
		goto out_up;
	}

	if (in_len)
		memcpy(slot->in, in, in_len);
	end = ktime_add_ms(ktime_get(), OHCA_CMD_TIMEOUT_MS);
	while ((err = ohca_cmdq_post(dev, slot, opcode, in_len, out_len, true)) == -EAGAIN) {
		if (ktime_after(ktime_get(), end))
			ohca_cmd_timed_out(dev, opcode);
		usleep_range(50, 100);
	}
	if (err < 0) {
		ohca_fence_sync(dev);
		ohca_slot_put(cmdq, slot);
		goto out_up;
	}
	if (err)
		ohca_cmdq_wake(dev, slot);
	ohca_cmd_wait(dev, slot, opcode);
	err = ohca_cmd_finish(dev, slot, opcode, out, out_len);

out_up:
	up(&cmdq->room);
	return err;
}

int ohca_cmd_exec_atomic(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len, void *out,
			 size_t out_len)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	struct ohca_cmd_slot *slot;
	int err;

	if (WARN_ON_ONCE(in_len > OHCA_CMD_MAX_LEN || out_len > OHCA_CMD_MAX_LEN))
		return -EINVAL;
	if (ohca_fenced(dev)) {
		ohca_fence_sync(dev);
		return -EIO;
	}

	slot = ohca_slot_get(cmdq, true);
	if (!slot)
		return -EBUSY;

	if (in_len)
		memcpy(slot->in, in, in_len);
	err = ohca_cmdq_post(dev, slot, opcode, in_len, out_len, true);
	if (err < 0) {
		ohca_slot_put(cmdq, slot);
		if (err == -EAGAIN)
			return -EBUSY;
		ohca_fence_sync(dev);
		return err;
	}
	if (err)
		ohca_cmdq_wake(dev, slot);
	ohca_cmd_wait_atomic(dev, slot, opcode);
	return ohca_cmd_finish(dev, slot, opcode, out, out_len);
}

/* Commands that nobody waits for one by one */

void ohca_cmd_batch_init(struct ohca_cmd_batch *batch)
{
	INIT_LIST_HEAD(&batch->ended);
	batch->pending = 0;
	batch->enough = 0;
	init_waitqueue_head(&batch->wait);
}

int ohca_cmd_post(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len,
		  struct ohca_cmd_batch *batch, struct ohca_cmd_later *later)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	struct ohca_cmd_slot *slot;
	bool wake;
	int err;

	if (WARN_ON_ONCE(in_len > OHCA_CMD_MAX_LEN))
		return -EINVAL;
	if (down_trylock(&cmdq->room))
		return -EBUSY;
	slot = ohca_fenced(dev) ? NULL : ohca_slot_get(cmdq, false);
	if (!slot) {
		up(&cmdq->room);
		return -EIO;
	}

	memcpy(slot->in, in, in_len);
	later->batch = batch;
	later->opcode = opcode;
	slot->later = later;
	spin_lock_irq(&cmdq->lock);
	batch->opcode = opcode;
	wake = ++batch->pending % OHCA_CMD_BATCH == 0;
	spin_unlock_irq(&cmdq->lock);
	err = ohca_cmdq_post(dev, slot, opcode, in_len, 0, wake);
	if (err >= 0)
		return 0;

	spin_lock_irq(&cmdq->lock);
	batch->pending--;
	spin_unlock_irq(&cmdq->lock);
	slot->later = NULL;
	ohca_slot_put(cmdq, slot);
	up(&cmdq->room);
	return err == -EAGAIN ? -EBUSY : err;
}

/* Wait for interrupts. */
static void ohca_cmd_batch_sleep(struct ohca_dev *dev, struct ohca_cmd_batch *batch, u32 most)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	bool ok;

	spin_lock_irq(&cmdq->lock);
	batch->enough = most;
	cmdq->sleepers++;
	ok = ohca_fenced(dev) || ohca_cmdq_arm(cmdq);
	spin_unlock_irq(&cmdq->lock);
	if (!ok)
		ohca_fence(dev, "bad command completion");

	wait_event_timeout(batch->wait, READ_ONCE(batch->pending) <= most,
			   msecs_to_jiffies(OHCA_CMD_TIMEOUT_MS));
	spin_lock_irq(&cmdq->lock);
	batch->enough = 0;
	cmdq->sleepers--;
	spin_unlock_irq(&cmdq->lock);
}

void ohca_cmd_batch_wait(struct ohca_dev *dev, struct ohca_cmd_batch *batch, u32 most)
{
	ktime_t spin_end;

	if (READ_ONCE(batch->pending) <= most)
		return;
	if (READ_ONCE(dev->cmdq.shadow))
		ohca_db_ring_shadow(&dev->uar, OHCA_SLOT_CMDQ);
	spin_end = ktime_add_us(ktime_get(), OHCA_CMD_SPIN_US);
	while (READ_ONCE(batch->pending) > most && ktime_before(ktime_get(), spin_end)) {
		ohca_cmdq_look(dev);
		cpu_relax();
	}
	if (READ_ONCE(batch->pending) <= most)
		return;
	ohca_cmd_batch_sleep(dev, batch, most);
	if (READ_ONCE(batch->pending) <= most)
		return;
	ohca_cmdq_look(dev);
	if (READ_ONCE(batch->pending) > most)
		ohca_cmd_timed_out(dev, batch->opcode);
}

struct ohca_cmd_later *ohca_cmd_batch_next(struct ohca_dev *dev, struct ohca_cmd_batch *batch)
{
	struct ohca_cmd_later *later;

	spin_lock_irq(&dev->cmdq.lock);
	later = list_first_entry_or_null(&batch->ended, struct ohca_cmd_later, list);
	if (later)
		list_del(&later->list);
	spin_unlock_irq(&dev->cmdq.lock);
	return later;
}

static void ohca_slots_free(struct ohca_dev *dev)
{
	struct ohca_cmd_slot *slot;
	int i;

	for (i = 0; i < OHCA_CMDQ_SIZE; i++) {
		slot = &dev->cmdq.slots[i];
		if (slot->in)
			dma_free_coherent(ohca_dmadev(dev), 2 * OHCA_CMD_MAX_LEN, slot->in,
					  slot->dma);
		slot->in = NULL;
	}
}

static int ohca_slots_alloc(struct ohca_dev *dev)
{
	struct ohca_cmd_slot *slot;
	int i;

	for (i = 0; i < OHCA_CMDQ_SIZE; i++) {
		slot = &dev->cmdq.slots[i];
		init_completion(&slot->done);
		slot->in = dma_alloc_coherent(ohca_dmadev(dev), 2 * OHCA_CMD_MAX_LEN, &slot->dma,
					      GFP_KERNEL);
		if (!slot->in) {
			ohca_slots_free(dev);
			return -ENOMEM;
		}
		slot->out = slot->in + OHCA_CMD_MAX_LEN;
	}
	return 0;
}

static void ohca_reg_write64(struct ohca_dev *dev, u32 reg, u64 val)
{
	writel(lower_32_bits(val), dev->regs + reg);
	writel(upper_32_bits(val), dev->regs + reg + 4);
}

/**
 * ohca_cmdq_init() - allocate the command queue and configure the device, which is not enabled yet
 * @dev: device
 *
 * Return: 0 or -ENOMEM
 */
int ohca_cmdq_init(struct ohca_dev *dev)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;
	int err;

	BUILD_BUG_ON(OHCA_CMDQ_LOG_SIZE > OHCA_CMDQ_MAX_LOG_SIZE);
	memset(cmdq, 0, sizeof(*cmdq));
	spin_lock_init(&cmdq->lock);
	sema_init(&cmdq->room, OHCA_CMDQ_SIZE - OHCA_CMDQ_ATOMIC);
	bitmap_fill(cmdq->free, OHCA_CMDQ_SIZE);

	cmdq->ring = dma_alloc_coherent(ohca_dmadev(dev), OHCA_CMDQ_BYTES, &cmdq->dma, GFP_KERNEL);
	if (!cmdq->ring)
		return -ENOMEM;
	cmdq->cq = (void *)cmdq->ring + OHCA_CMDQ_CQ_OFF;
	cmdq->rec = (void *)cmdq->ring + OHCA_CMDQ_REC_OFF;

	err = ohca_slots_alloc(dev);
	if (err) {
		dma_free_coherent(ohca_dmadev(dev), OHCA_CMDQ_BYTES, cmdq->ring, cmdq->dma);
		return err;
	}

	writel(OHCA_CMDQ_LOG_SIZE, dev->regs + OHCA_REG_CMDQ_CFG);
	ohca_reg_write64(dev, OHCA_REG_CMDQ_SQ_LO, cmdq->dma);
	ohca_reg_write64(dev, OHCA_REG_CMDQ_CQ_LO, cmdq->dma + OHCA_CMDQ_CQ_OFF);
	ohca_reg_write64(dev, OHCA_REG_CMDQ_REC_LO, cmdq->dma + OHCA_CMDQ_REC_OFF);
	return 0;
}

/**
 * ohca_cmdq_fini() - free the command queue
 * @dev: device, which has been reset
 */
void ohca_cmdq_fini(struct ohca_dev *dev)
{
	struct ohca_cmdq *cmdq = &dev->cmdq;

	ohca_slots_free(dev);
	dma_free_coherent(ohca_dmadev(dev), OHCA_CMDQ_BYTES, cmdq->ring, cmdq->dma);
}
