/* SPDX-License-Identifier: GPL-2.0 */
/* The command queue: rings, completions, interrupt.  cmd.c executes the commands. */

#ifndef OHCAD_CMDQ_H
#define OHCAD_CMDQ_H

#include "device/hca.h"

struct cmdq;

/**
 * struct cmdq_config - what the registers say of the command queue
 * @sq, @cq, @rec: DMA addresses
 * @log_size: log2 of the number of slots
 */
struct cmdq_config {
	uint64_t sq, cq, rec;
	uint32_t log_size;
};

/* NULL if the configuration can't be accepted. */
struct cmdq *cmdq_new(struct hca *hca, const struct cmdq_config *config);
void cmdq_free(struct cmdq *cmdq);

/*
 * A reset has begun: no more commands, and the one that is not done yet frees what it has.  Returns whether it has, or
 * false if there was not enough time for that until @end (loop_clock()).
 */
bool cmdq_stop(struct cmdq *cmdq, uint64_t end);

/* There may be commands: cmdq_poll() looks. */
void cmdq_kick(struct cmdq *cmdq);
/* Software wrote OHCA_REG_CMDQ_DB: the same, but an index that jumped is fatal. */
void cmdq_doorbell(struct cmdq *cmdq, uint32_t pi);

/* Is there something for cmdq_poll() to do? */
bool cmdq_pending(const struct cmdq *cmdq);
/*
 * Execute commands for @ns, as other queues and HCAs wait meanwhile.  Returns whether there were any.  May end in
 * hca_fatal().
 */
bool cmdq_poll(struct cmdq *cmdq, uint64_t ns);

#endif
