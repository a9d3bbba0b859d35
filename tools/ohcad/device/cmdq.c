// SPDX-License-Identifier: GPL-2.0
/* The command queue. */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "device/cmd.h"
#include "device/cmdq.h"
#include "device/hca_hooks.h"
#include "device/strict.h"
#include "base/log.h"

/* Bounds of a round, as other queues and HCAs wait meanwhile */
#define NS_PER_POLL 50000

/**
 * struct cmdq - the command queue
 * @gen: hca->dma->gen at which the pointers were resolved
 * @taken: commands taken from the ring
 * @done: completions written; fewer if some were to be lost
 * @arm: the record's arm counter at the last interrupt
 * @kicked: look at the record
 * @in, @out: the command's input, read once, and its output
 */
struct cmdq {
	struct hca *hca;
	struct cmdq_config config;
	uint64_t gen;
	const struct ohca_cmd *sq;
	struct ohca_cmd_cqe *cq;
	struct ohca_cmdq_rec *rec;
	uint32_t taken;
	uint32_t done;
	uint32_t arm;
	bool kicked;
	uint8_t in[OHCA_CMD_MAX_LEN] __attribute__((aligned(8)));
	uint8_t out[OHCA_CMD_MAX_LEN] __attribute__((aligned(8)));
};

static uint32_t cmdq_size(const struct cmdq *cmdq)
{
	return 1U << cmdq->config.log_size;
}

/* Look up the rings' memory; false if some is not there. */
static bool cmdq_resolve(struct cmdq *cmdq)
{
	const struct cmdq_config *config = &cmdq->config;
	struct dma_map *dma = cmdq->hca->dma;
	uint64_t size = cmdq_size(cmdq);

	if (cmdq->gen == dma->gen)
		return true;
	cmdq->sq = dma_ptr(dma, config->sq, size * sizeof(*cmdq->sq), false);
	cmdq->cq = dma_ptr(dma, config->cq, size * sizeof(*cmdq->cq), true);
	cmdq->rec = dma_ptr(dma, config->rec, sizeof(*cmdq->rec), false);
	if (!cmdq->sq || !cmdq->cq || !cmdq->rec)
		return false;
	cmdq->gen = dma->gen;
	return true;
}

struct cmdq *cmdq_new(struct hca *hca, const struct cmdq_config *config)
{
	struct cmdq *cmdq;

	if (config->log_size < OHCA_CMDQ_MIN_LOG_SIZE ||
	    config->log_size > OHCA_CMDQ_MAX_LOG_SIZE || config->sq % 4096 || config->cq % 4096 ||
	    config->rec % sizeof(struct ohca_cmdq_rec))
		return NULL;
	cmdq = calloc(1, sizeof(*cmdq));
	if (!cmdq)
		return NULL;
	cmdq->hca = hca;
	cmdq->config = *config;
	cmdq->gen = ~hca->dma->gen;
	if (!cmdq_resolve(cmdq)) {
		free(cmdq);
		return NULL;
	}
	strict_record(hca, cmdq->rec, sizeof(*cmdq->rec));
	return cmdq;
}

void cmdq_free(struct cmdq *cmdq)
{
	free(cmdq);
}

void cmdq_kick(struct cmdq *cmdq)
{
	cmdq->kicked = true;
}

void cmdq_doorbell(struct cmdq *cmdq, uint32_t pi)
{
	uint32_t ahead = pi - cmdq->taken;

	/* An index from the past is no error: the record may have advanced since. */
	if (ahead > cmdq_size(cmdq) && ahead <= INT32_MAX) {
		if (hca_may_log(cmdq->hca))
			log_error(cmdq->hca->name, "command doorbell jumped from %u to %u",
				  cmdq->taken, pi);
		hca_fatal(cmdq->hca, OHCA_FATAL_CMDQ);
		return;
	}
	cmdq_kick(cmdq);
}

bool cmdq_pending(const struct cmdq *cmdq)
{
	return cmdq->kicked;
}

/* Fetch the input, execute, hand over the output: @len bytes. */
static enum ohca_cmd_status cmdq_execute(struct cmdq *cmdq, const struct ohca_cmd *cmd,
					 uint16_t *len, uint32_t *syndrome)
{
	struct dma_map *dma = cmdq->hca->dma;
	uint16_t in_len = le16toh(cmd->in_len), out_len = le16toh(cmd->out_len);
	enum ohca_cmd_status status;
	const void *in = NULL;
	void *out = NULL;

	if (cmd->rsvd) {
		*syndrome = offsetof(struct ohca_cmd, rsvd);
		return OHCA_CMD_BAD_PARAM;
	}
	if (in_len > OHCA_CMD_MAX_LEN || out_len > OHCA_CMD_MAX_LEN)
		return OHCA_CMD_BAD_LEN;
	if (in_len)
		in = dma_ptr(dma, le64toh(cmd->in_addr), in_len, false);
	if (out_len)
		out = dma_ptr(dma, le64toh(cmd->out_addr), out_len, true);
	if ((in_len && !in) || (out_len && !out))
		return OHCA_CMD_BAD_ADDR;

	if (in_len)
		memcpy(cmdq->in, in, in_len);
	status = cmd_execute(cmdq->hca, le16toh(cmd->opcode), cmdq->in, in_len, cmdq->out, out_len,
			     len, syndrome);
	if (!status && cmdq->hca->hooks)
		*len = cmdq->hca->hooks->output(cmdq->hca, le16toh(cmd->opcode), cmdq->out, *len);
	if (!status && *len)
		memcpy(out, cmdq->out, *len);
	return status;
}

static void cmdq_complete(struct cmdq *cmdq, uint16_t tag, enum ohca_cmd_status status,
			  uint16_t out_len, uint32_t syndrome)
{
	struct ohca_cmd_cqe *cqe = &cmdq->cq[cmdq->done & (cmdq_size(cmdq) - 1)];
	union {
		struct ohca_cmd_cqe cqe;
		uint64_t word[2];
	} u = {.cqe = {.tag = tag, .status = status}};
	uint64_t *to = (uint64_t *)cqe;

	if (status)
		u.cqe.syndrome = htole32(syndrome);
	else
		u.cqe.out_len = htole16(out_len);
	u.cqe.owner = !(cmdq->done >> cmdq->config.log_size & 1);
	__atomic_store_n(&to[0], u.word[0], __ATOMIC_RELAXED);
	__atomic_store_n(&to[1], u.word[1], __ATOMIC_RELEASE);
	cmdq->done++;
}

/* Take a command, execute it, complete it. */
static void cmdq_next(struct cmdq *cmdq)
{
	struct hca *hca = cmdq->hca;
	enum ohca_cmd_status status;
	uint32_t syndrome = 0;
	uint16_t len = 0;
	struct ohca_cmd cmd;
	int fault;

	memcpy(&cmd, &cmdq->sq[cmdq->taken++ & (cmdq_size(cmdq) - 1)], sizeof(cmd));
	fault = hca->hooks ? hca->hooks->command(hca, le16toh(cmd.opcode)) : 0;
	if (fault == HCA_HOOK_LOST)
		return;
	status = fault ? (enum ohca_cmd_status)fault : cmdq_execute(cmdq, &cmd, &len, &syndrome);
	if (!hca->ready)
		return;
	if (status)
		log_debug(hca->name, "command %#x: status %u, syndrome %u", le16toh(cmd.opcode),
			  status, syndrome);
	cmdq_complete(cmdq, cmd.tag, status, len, syndrome);
}

static void cmdq_interrupt(struct cmdq *cmdq)
{
	uint32_t arm;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	arm = le32toh(__atomic_load_n(&cmdq->rec->arm, __ATOMIC_RELAXED));
	if (arm == cmdq->arm)
		return;
	cmdq->arm = arm;
	pci_msix_raise(cmdq->hca->fn, 0);
}

bool cmdq_poll(struct cmdq *cmdq)
{
	struct hca *hca = cmdq->hca;
	uint64_t end;
	uint32_t pi;

	if (!cmdq->kicked)
		return false;
	cmdq->kicked = false;
	if (!cmdq_resolve(cmdq)) {
		if (hca_may_log(hca))
			log_error(hca->name, "command queue is not accessible");
		hca_fatal(hca, OHCA_FATAL_CMDQ);
		return true;
	}
	pi = le32toh(__atomic_load_n(&cmdq->rec->pi, __ATOMIC_ACQUIRE));
	if (pi - cmdq->taken > cmdq_size(cmdq)) {
		if (hca_may_log(hca))
			log_error(hca->name, "command index jumped from %u to %u", cmdq->taken, pi);
		hca_fatal(hca, OHCA_FATAL_CMDQ);
		return true;
	}
	if (pi == cmdq->taken)
		return false;

	/* An object takes several commands, and objects are made in series. */
	loop_expect_more(hca->loop);
	end = loop_clock() + NS_PER_POLL;
	do {
		cmdq_next(cmdq);
		if (!hca->ready)
			return true;
	} while (cmdq->taken != pi && loop_clock() < end);
	cmdq->kicked |= cmdq->taken != pi;
	cmdq_interrupt(cmdq);
	return true;
}
