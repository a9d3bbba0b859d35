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

/**
 * struct cmdq - the command queue
 * @gen: hca->dma->gen at which the pointers were resolved
 * @taken: commands taken from the ring
 * @done: completions written; fewer if some were to be lost
 * @arm: the record's arm counter at the last interrupt
 * @kicked: look at the record
 * @cmd: the command that is being executed
 * @ctx: its state; ctx.more is NULL while there is none
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
	struct ohca_cmd cmd;
	struct cmd_ctx ctx;
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

/* Fetch the input, execute. */
static enum ohca_cmd_status cmdq_execute(struct cmdq *cmdq)
{
	struct dma_map *dma = cmdq->hca->dma;
	const struct ohca_cmd *cmd = &cmdq->cmd;
	uint16_t in_len = le16toh(cmd->in_len), out_len = le16toh(cmd->out_len);
	const void *in = NULL, *out = NULL;

	if (cmd->rsvd) {
		cmdq->ctx.syndrome = offsetof(struct ohca_cmd, rsvd);
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
	return cmd_execute(cmdq->hca, &cmdq->ctx, le16toh(cmd->opcode), cmdq->in, in_len, out_len);
}

/* The command has succeeded: hand over the output.  Returns how many bytes it has; -1: its memory is gone meanwhile. */
static int cmdq_output(struct cmdq *cmdq)
{
	struct hca *hca = cmdq->hca;
	uint16_t len = cmd_output_len(hca, &cmdq->ctx, le16toh(cmdq->cmd.out_len));
	void *out;

	if (hca->hooks)
		len = hca->hooks->output(hca, le16toh(cmdq->cmd.opcode), cmdq->out, len);
	if (!len)
		return 0;
	out = dma_ptr(hca->dma, le64toh(cmdq->cmd.out_addr), len, true);
	if (!out)
		return -1;
	memcpy(out, cmdq->out, len);
	return len;
}

static void cmdq_complete(struct cmdq *cmdq, enum ohca_cmd_status status)
{
	struct ohca_cmd_cqe *cqe = &cmdq->cq[cmdq->done & (cmdq_size(cmdq) - 1)];
	union {
		struct ohca_cmd_cqe cqe;
		uint64_t word[2];
	} u = {.cqe = {.tag = cmdq->cmd.tag}};
	uint64_t *to = (uint64_t *)cqe;
	int len = status ? 0 : cmdq_output(cmdq);

	if (len < 0)
		status = OHCA_CMD_BAD_ADDR;
	u.cqe.status = status;
	if (status)
		u.cqe.syndrome = htole32(cmdq->ctx.syndrome);
	else
		u.cqe.out_len = htole16(len);
	u.cqe.owner = !(cmdq->done >> cmdq->config.log_size & 1);
	__atomic_store_n(&to[0], u.word[0], __ATOMIC_RELAXED);
	__atomic_store_n(&to[1], u.word[1], __ATOMIC_RELEASE);
	cmdq->done++;
}

/* Take a command, and execute it. */
static enum ohca_cmd_status cmdq_begin(struct cmdq *cmdq, uint64_t end)
{
	struct hca *hca = cmdq->hca;
	int fault;

	memcpy(&cmdq->cmd, &cmdq->sq[cmdq->taken++ & (cmdq_size(cmdq) - 1)], sizeof(cmdq->cmd));
	cmdq->ctx = (struct cmd_ctx){.out = cmdq->out, .end = end};
	fault = hca->hooks ? hca->hooks->command(hca, le16toh(cmdq->cmd.opcode)) : 0;
	return fault ? (enum ohca_cmd_status)fault : cmdq_execute(cmdq);
}

/* Go on with the command that is not done yet, or with the next one, and complete it if it is done.  Returns whether it is. */
static bool cmdq_next(struct cmdq *cmdq, uint64_t end)
{
	struct hca *hca = cmdq->hca;
	enum ohca_cmd_status status;

	if (cmdq->ctx.more) {
		cmdq->ctx.end = end;
		status = cmdq->ctx.more(hca, &cmdq->ctx);
	} else {
		status = cmdq_begin(cmdq, end);
	}
	if (status == CMD_MORE)
		return false;
	cmdq->ctx.more = NULL;
	if (!hca->ready || status == (enum ohca_cmd_status)HCA_HOOK_LOST)
		return true;
	if (status)
		log_debug(hca->name, "command %#x: status %u, syndrome %u",
			  le16toh(cmdq->cmd.opcode), status, cmdq->ctx.syndrome);
	cmdq_complete(cmdq, status);
	return true;
}

bool cmdq_stop(struct cmdq *cmdq, uint64_t end)
{
	cmdq->ctx.end = end;
	if (cmdq->ctx.more && cmdq->ctx.more(cmdq->hca, &cmdq->ctx) == CMD_MORE)
		return false;
	cmdq->ctx.more = NULL;
	return true;
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

bool cmdq_poll(struct cmdq *cmdq, uint64_t ns)
{
	struct hca *hca = cmdq->hca;
	uint64_t end;
	uint32_t pi;
	bool done, any = false;

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
	if (pi == cmdq->taken && !cmdq->ctx.more)
		return false;

	/* An object takes several commands, and objects are made in series. */
	loop_expect_more(hca->loop);
	end = loop_clock() + ns;
	do {
		done = cmdq_next(cmdq, end);
		any |= done;
		if (!hca->ready)
			return true;
	} while (done && cmdq->taken != pi && loop_clock() < end);
	cmdq->kicked |= !done || cmdq->taken != pi;
	if (any)
		cmdq_interrupt(cmdq);
	return true;
}
