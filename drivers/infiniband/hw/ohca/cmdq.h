/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the command queue.
 */

#ifndef _OHCA_CMDQ_H
#define _OHCA_CMDQ_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <ohca/ohca_cmd.h>

struct ohca_dev;

#define OHCA_CMDQ_LOG_SIZE 6
#define OHCA_CMDQ_SIZE BIT(OHCA_CMDQ_LOG_SIZE)
#define OHCA_CMDQ_ATOMIC 4 /* commands that only callers who can't sleep may have outstanding */

/**
 * struct ohca_cmd_batch - commands of a thread that does not wait for each of them
 * @ended: struct ohca_cmd_later of those that have ended
 * @pending: number of those that have not
 * @enough: wakes the thread when no more than these are pending
 * @opcode: of the last one
 * @wait: where it waits
 *
 * The command queue's lock protects it.
 */
struct ohca_cmd_batch {
	struct list_head ended;
	u32 pending;
	u32 enough;
	u16 opcode;
	wait_queue_head_t wait;
};

/**
 * struct ohca_cmd_later - a command of a batch
 * @list: in @batch->ended
 * @batch: batch
 * @status: as of struct ohca_cmd_slot, when it has ended
 * @opcode: enum ohca_cmd_op
 */
struct ohca_cmd_later {
	struct list_head list;
	struct ohca_cmd_batch *batch;
	int status;
	u16 opcode;
};

/**
 * struct ohca_cmd_slot - an outstanding command
 * @in: input buffer, OHCA_CMD_MAX_LEN bytes
 * @out: output buffer, OHCA_CMD_MAX_LEN bytes
 * @dma: DMA address of @in; @out follows it
 * @done: completed when the command has ended
 * @status: enum ohca_cmd_status, or a negative errno if the device did not answer
 * @syndrome: as the device reported it
 * @out_len: bytes of output that the device wrote
 * @later: the command of a batch, or NULL
 * @entry: entry of the command ring
 * @posted: the command is on the ring
 * @sleeps: the caller waits for an interrupt
 * @atomic: the caller can't sleep
 */
struct ohca_cmd_slot {
	void *in;
	void *out;
	dma_addr_t dma;
	struct completion done;
	int status;
	u32 syndrome;
	u16 out_len;
	struct ohca_cmd_later *later;
	u16 entry;
	bool posted;
	bool sleeps;
	bool atomic;
};

/**
 * struct ohca_cmdq - the command queue
 * @lock: protects the queue, except for the buffers of a slot, which belong to its caller; taken in
 *	interrupts
 * @ring: command ring
 * @cq: command completion ring
 * @rec: record
 * @dma: DMA address of @ring; @cq and @rec follow it
 * @pi: commands posted
 * @ci: completions taken
 * @arm: interrupts requested
 * @sleepers: callers that wait for an interrupt
 * @atomics: slots in use by callers that can't sleep
 * @free: bit map of free slots
 * @busy: bit map of ring entries whose command has not completed
 * @slots: the commands; a command's tag is the index of its slot
 * @room: number of slots for callers that can sleep
 * @shadow: UAR 0 exists and has a shadow page: ring there
 */
struct ohca_cmdq {
	spinlock_t lock; /* all except for the slots' buffers */
	struct ohca_cmd *ring;
	struct ohca_cmd_cqe *cq;
	struct ohca_cmdq_rec *rec;
	dma_addr_t dma;
	u32 pi;
	u32 ci;
	u32 arm;
	u32 sleepers;
	u32 atomics;
	DECLARE_BITMAP(free, OHCA_CMDQ_SIZE);
	DECLARE_BITMAP(busy, OHCA_CMDQ_SIZE);
	struct ohca_cmd_slot slots[OHCA_CMDQ_SIZE];
	struct semaphore room;
	bool shadow;
};

int ohca_cmdq_init(struct ohca_dev *dev);
void ohca_cmdq_fini(struct ohca_dev *dev);
void ohca_cmdq_irq(struct ohca_dev *dev);
void ohca_cmdq_abort(struct ohca_dev *dev);

/**
 * ohca_cmd_exec() - execute a command; sleeps
 * @dev: device
 * @opcode: enum ohca_cmd_op
 * @in: input, may be NULL if @in_len is 0
 * @in_len: bytes of input
 * @out: room for the output, may be NULL if @out_len is 0; unchanged on error.  Fields that the
 *	device does not know are zero
 * @out_len: bytes of output
 *
 * Only fw_cmd.c calls this and ohca_cmd_exec_atomic(); other code uses its typed functions.
 *
 * Return: 0, -EIO if the device is fenced, or an errno for the enum ohca_cmd_status.  With -EIO, it
 *	does not access host memory any more
 */
int ohca_cmd_exec(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len, void *out,
		  size_t out_len);

/**
 * ohca_cmd_exec_atomic() - execute a command without sleeping
 * @dev: device
 * @opcode: enum ohca_cmd_op
 * @in: input
 * @in_len: bytes of input
 * @out: room for the output
 * @out_len: bytes of output
 *
 * Return: as ohca_cmd_exec(), or -EBUSY if too many commands are outstanding
 */
int ohca_cmd_exec_atomic(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len, void *out,
			 size_t out_len);

/**
 * ohca_cmd_batch_init() - initialize an empty batch
 * @batch: batch
 */
void ohca_cmd_batch_init(struct ohca_cmd_batch *batch);

/**
 * ohca_cmd_post() - post a command of a batch, without waiting for its end
 * @dev: device
 * @opcode: enum ohca_cmd_op, of a command without output
 * @in: input
 * @in_len: bytes of input
 * @batch: batch
 * @later: owned by the command queue until it is in @batch->ended
 *
 * Commands of different objects take effect in any order.  A device that sleeps may go on doing so
 * until ohca_cmd_batch_wait().
 *
 * Return: 0, -EBUSY if too many commands are outstanding, or -EIO if the device is fenced; then the
 *	command was not posted
 */
int ohca_cmd_post(struct ohca_dev *dev, u16 opcode, const void *in, size_t in_len,
		  struct ohca_cmd_batch *batch, struct ohca_cmd_later *later);

/**
 * ohca_cmd_batch_wait() - wait until no more than @most commands of a batch are pending; sleeps
 * @dev: device
 * @batch: batch
 * @most: number
 */
void ohca_cmd_batch_wait(struct ohca_dev *dev, struct ohca_cmd_batch *batch, u32 most);

/**
 * ohca_cmd_batch_next() - take a command that has ended out of a batch
 * @dev: device
 * @batch: batch
 *
 * Return: the command, or NULL if there is none.  If its status is negative, the device may access
 *	memory until ohca_fence_sync()
 */
struct ohca_cmd_later *ohca_cmd_batch_next(struct ohca_dev *dev, struct ohca_cmd_batch *batch);

#endif /* _OHCA_CMDQ_H */
