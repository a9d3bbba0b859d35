/* SPDX-License-Identifier: GPL-2.0 */
/* User access regions: doorbells and shadow pages. */

#ifndef OHCAD_UAR_H
#define OHCAD_UAR_H

#include "device/hca.h"

struct qp;

/**
 * struct uar - a UAR
 * @active: in hca->active_uars while its shadow page is polled
 * @shadow_addr: DMA address of the shadow page, 0: none
 * @gen: hca->dma->gen at which @shadow was resolved
 * @last_work: loop time at which something was dirty
 * @idle_ns: how long to poll after that
 * @slots: QPs by slot (struct qp.slot_next), allocated when the first QP comes
 * @taken: doorbells of slots that were taken from a word of the shadow page and are not handled yet, those of @first to
 *	@first + 63
 * @summary: words of the shadow page that are to be looked at
 * @next: next QP of the slot that is handled, or NULL
 * @clock_high: second half of the clock, since its first half was read
 * @num_qps: QPs that refer to this UAR
 * @memory: charged to QUOTA_MEMORY
 */
struct uar {
	struct hca *hca;
	uint32_t id;
	struct list active;
	uint64_t shadow_addr;
	struct ohca_shadow *shadow;
	uint64_t gen;
	uint64_t last_work;
	uint64_t idle_ns;
	struct qp **slots;
	uint64_t taken;
	uint64_t summary;
	struct qp *next;
	uint32_t first;
	uint32_t clock_high;
	uint32_t num_qps;
	size_t memory;
};

/* Add and remove a QP; @slot is less than OHCA_SHADOW_SLOTS. */
enum ohca_cmd_status uar_attach(struct uar *uar, struct qp *qp, uint16_t slot);
void uar_detach(struct uar *uar, struct qp *qp);

/* A write to OHCA_BAR_UAR: wakes the UAR, or schedules the QP if it is one of this UAR's. */
void uar_bar_write(struct hca *hca, uint64_t off, unsigned int len, uint64_t val);

/* A read of OHCA_BAR_UAR: the clock. */
uint64_t uar_bar_read(struct hca *hca, uint64_t off, unsigned int len);

/* Doorbells of a UAR's slots and QPs that are handled in a round of an HCA */
#define UAR_DOORBELLS 256

/*
 * Poll the shadow page: schedules the QPs (qp_schedule()) and the command queue that are dirty, as long as the HCA has
 * doorbells left in this round (struct hca.doorbells), and the others in later rounds.  Returns whether any was.
 */
bool uar_poll(struct uar *uar);
/* Whether the UAR has been idle for long enough to be put to sleep */
bool uar_idle(struct uar *uar, uint64_t now);
/*
 * Set asleep, and remove the UAR from hca->active_uars.  Returns false if a dirty bit was set after
 * all.
 */
bool uar_sleep(struct uar *uar);

struct uar *uar_get(struct hca *hca, uint32_t id); /* Returns NULL if there is none. */

extern const struct object_class uar_class;

#endif
