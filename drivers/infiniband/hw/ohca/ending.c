// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: the ends of a process's objects, many at a time.
 *
 * When a process ends, ib_core destroys what it has left, one object after the other.  Each of
 * these is a command, and the wait for its end takes most of the time: a device that is busy, or
 * that has to wait for a processor of its host, takes longer than the command itself.  Nobody uses
 * these objects any more, so the driver goes on while commands are pending.  Memory that the device
 * may write to is released when the command has ended, and all commands have when the context is
 * freed.
 *
 * Commands of different objects take effect in any order, and the device does not destroy an object
 * to which another one refers.  So an object is destroyed when those that may refer to it are gone.
 */

#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "ending.h"
#include "ohca.h"
#include "ohca_compat.h"
#include "ucontext.h"
#include "umem.h"

/*
 * With the most pending, wait for fewer; the device always has a next command.  Others may still
 * post some.
 */
#define OHCA_END_MOST 48
#define OHCA_END_FEWER 16

/**
 * struct ohca_ending - an object that is being destroyed
 * @later: the command
 * @umem: memory of the process that the device uses until then, or none
 */
struct ohca_ending {
	struct ohca_cmd_later later;
	struct ohca_umem umem;
};

/**
 * ohca_endings_init() - nothing is being destroyed
 * @endings: of a new context
 */
void ohca_endings_init(struct ohca_endings *endings)
{
	ohca_cmd_batch_init(&endings->batch);
	endings->kinds = 0;
}

/* Release the memory of what the device has destroyed. */
static void ohca_endings_release(struct ohca_dev *dev, struct ohca_endings *endings)
{
	struct ohca_cmd_later *later;
	struct ohca_ending *ending;

	while ((later = ohca_cmd_batch_next(dev, &endings->batch))) {
		if (later->status)
			ohca_fence(dev, "object of a process not destroyed");
		ending = container_of(later, struct ohca_ending, later);
		ohca_umem_release(&ending->umem);
		kfree(ending);
	}
}

/**
 * ohca_endings_wait() - wait until all that ohca_end_later() has taken is destroyed
 * @dev: device
 * @ibuc: context, or NULL
 */
void ohca_endings_wait(struct ohca_dev *dev, struct ib_ucontext *ibuc)
{
	struct ohca_endings *endings;

	if (!ibuc)
		return;
	endings = &to_ouctx(ibuc)->endings;
	if (!endings->kinds)
		return;
	ohca_cmd_batch_wait(dev, &endings->batch, 0);
	ohca_endings_release(dev, endings);
	endings->kinds = 0;
}

static const u16 ohca_end_opcodes[] = {
	[OHCA_END_MW] = OHCA_CMD_DESTROY_MKEY, [OHCA_END_QP] = OHCA_CMD_DESTROY_QP,
	[OHCA_END_SRQ] = OHCA_CMD_DESTROY_SRQ, [OHCA_END_MR] = OHCA_CMD_DESTROY_MKEY,
	[OHCA_END_CQ] = OHCA_CMD_DESTROY_CQ,   [OHCA_END_PD] = OHCA_CMD_FREE_PD,
};

/* Post the command, when there is room for it. */
static int ohca_end_post(struct ohca_dev *dev, struct ohca_endings *endings, enum ohca_end kind,
			 u32 id, const struct ohca_umem *umem)
{
	struct ohca_ending *ending;
	int err;

	ending = kzalloc_obj(*ending);
	if (!ending)
		return -ENOMEM;
	if (umem)
		ending->umem = *umem;
	if (READ_ONCE(endings->batch.pending) >= OHCA_END_MOST)
		ohca_cmd_batch_wait(dev, &endings->batch, OHCA_END_FEWER);
	err = ohca_cmd_post_destroy(dev, ohca_end_opcodes[kind], id, &endings->batch,
				    &ending->later);
	if (err)
		kfree(ending);
	return err;
}

/**
 * ohca_end_later() - destroy an object of a process that ends, without waiting for it
 * @dev: device
 * @ibuc: context of the object, NULL if it is the kernel's
 * @kind: what it is
 * @id: its number; events do not find it any more
 * @umem: memory to release after that, or NULL; copied
 *
 * Return: whether it is done; if not, all that was to be destroyed before is gone, and the caller
 *	destroys the object
 */
bool ohca_end_later(struct ohca_dev *dev, struct ib_ucontext *ibuc, enum ohca_end kind, u32 id,
		    const struct ohca_umem *umem)
{
	struct ohca_endings *endings;

	if (!ibuc || !(current->flags & PF_EXITING))
		return false;
	endings = &to_ouctx(ibuc)->endings;
	if (endings->kinds & (BIT(kind) - 1))
		ohca_endings_wait(dev, ibuc);
	if (ohca_end_post(dev, endings, kind, id, umem)) {
		ohca_endings_wait(dev, ibuc);
		return false;
	}
	endings->kinds |= BIT(kind);
	ohca_endings_release(dev, endings);
	return true;
}
