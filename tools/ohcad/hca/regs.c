// SPDX-License-Identifier: GPL-2.0
/* Registers of BAR 0. */

#include "device/strict.h"
#include "hca/adapter.h"
#include "hca/regs.h"

/*
 * OHCA_REG_HEARTBEAT: loop time in ms.  The thread that answers this read also serves the queues,
 * so the time alone shows that the queues are served.
 */
static uint32_t heartbeat(const struct hca *hca)
{
	return loop_now(hca->loop) / 1000000;
}

void regs_stop(struct hca *hca, enum ohca_fatal why)
{
	hca->regs->stopped = heartbeat(hca);
	hca->regs->fatal = why;
}

static uint32_t regs_status(const struct hca *hca)
{
	return (hca->ready ? OHCA_STATUS_READY : 0) | (hca->fatal ? OHCA_STATUS_FATAL : 0);
}

/* Returns the 64-bit register whose _LO or _HI half is at @off, or NULL. */
static uint64_t *regs_pair(struct hca_regs *regs, uint64_t off)
{
	switch (off & ~4ULL) {
	case OHCA_REG_FEATS_LO:
		return &regs->feats;
	case OHCA_REG_CMDQ_SQ_LO:
		return &regs->cmdq.sq;
	case OHCA_REG_CMDQ_CQ_LO:
		return &regs->cmdq.cq;
	case OHCA_REG_CMDQ_REC_LO:
		return &regs->cmdq.rec;
	default:
		return NULL;
	}
}

/* Returns the 32-bit register at @off that software writes while the HCA is disabled, or NULL. */
static uint32_t *regs_word(struct hca_regs *regs, uint64_t off)
{
	switch (off) {
	case OHCA_REG_CMDQ_CFG:
		return &regs->cmdq.log_size;
	case OHCA_REG_SW_VERSION:
		return &regs->sw_version;
	case OHCA_REG_UAR_SHIFT:
		return &regs->uar_shift;
	default:
		return NULL;
	}
}

/* Is that an access that registers know? */
static bool regs_access(struct hca *hca, uint64_t off, unsigned int len)
{
	if (len == 4 && !(off % 4))
		return true;
	strict_broken(hca, "S-102", "an access to registers is not one of 32 bits, or not aligned");
	return false;
}

/*
 * A register during a reset.  What is undefined then is such that software that relies on it goes
 * wrong.
 */
static uint64_t resetting_read(uint64_t off)
{
	switch (off) {
	case OHCA_REG_MAGIC:
		return OHCA_MAGIC;
	case OHCA_REG_VERSION:
		return OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR;
	case OHCA_REG_STATUS:
		return OHCA_STATUS_RESETTING | OHCA_STATUS_READY | OHCA_STATUS_FATAL;
	default:
		return 0xa5a5a5a5;
	}
}

uint64_t regs_read(struct hca *hca, uint64_t off, unsigned int len)
{
	struct hca_regs *regs = hca->regs;
	uint32_t *word;
	uint64_t *pair;

	if (!regs_access(hca, off, len))
		return 0;
	if (hca_is_resetting(hca))
		return resetting_read(off);
	switch (off) {
	case OHCA_REG_MAGIC:
		return OHCA_MAGIC;
	case OHCA_REG_VERSION:
		return OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR;
	case OHCA_REG_CAPS_LO:
		return (uint32_t)hca->offered;
	case OHCA_REG_CAPS_HI:
		return hca->offered >> 32;
	case OHCA_REG_STATUS:
		return regs_status(hca);
	case OHCA_REG_FATAL:
		return regs->fatal;
	case OHCA_REG_HEARTBEAT:
		return hca->fatal ? regs->stopped : heartbeat(hca);
	default:
		word = regs_word(regs, off);
		if (word)
			return *word;
		pair = regs_pair(regs, off);
		if (!pair)
			return 0;
		return off & 4 ? *pair >> 32 : (uint32_t)*pair;
	}
}

/*
 * A write during a reset has no effect.  A doorbell may have been under way when the reset began,
 * and software may ask for the reset again.
 */
static void resetting_write(struct hca *hca, uint64_t off, uint64_t val)
{
	if (off != OHCA_REG_CMDQ_DB && (off != OHCA_REG_CTRL || !(val & OHCA_CTRL_RESET)))
		strict_broken(hca, "S-106", "it writes to a register during a reset");
}

static void regs_ctrl(struct hca *hca, uint32_t val)
{
	if (val & OHCA_CTRL_RESET) {
		hca_reset(hca);
		return;
	}
	if (!(val & OHCA_CTRL_ENABLE) || hca->ready || hca->fatal)
		return;
	hca_enable(hca);
}

void regs_write(struct hca *hca, uint64_t off, unsigned int len, uint64_t val)
{
	struct hca_regs *regs = hca->regs;
	uint32_t *word;
	uint64_t *pair;

	if (!regs_access(hca, off, len))
		return;
	if (hca_is_resetting(hca)) {
		resetting_write(hca, off, val);
		return;
	}
	if (off == OHCA_REG_CTRL) {
		regs_ctrl(hca, val);
		return;
	}
	if (off == OHCA_REG_CMDQ_DB) {
		if (hca->ready)
			cmdq_doorbell(hca->cmdq, val);
		return;
	}

	/* The configuration can't be changed from ENABLE to RESET. */
	if (hca->ready || hca->fatal)
		return;
	word = regs_word(regs, off);
	if (word) {
		*word = val;
		return;
	}
	pair = regs_pair(regs, off);
	if (!pair)
		return;
	if (off & 4)
		*pair = (uint32_t)*pair | val << 32;
	else
		*pair = (*pair & ~0xffffffffULL) | (uint32_t)val;
}
