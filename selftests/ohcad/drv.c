// SPDX-License-Identifier: GPL-2.0
/* A scripted driver. */

#include <endian.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drv.h"
#include "harness.h"

#define BAR0 VFIO_PCI_BAR0_REGION_INDEX
#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define PAGE 4096ULL
#define FOREVER_S 60

#define DIE(...)                                      \
	do {                                          \
		fprintf(stderr, "drv: " __VA_ARGS__); \
		fputc('\n', stderr);                  \
		abort();                              \
	} while (0)

uint64_t drv_mem_size = DRV_MEM_SIZE;

/* Called in a loop: yields the processor, and ends the program if the loop takes too long. */
static void give_way(time_t *since, const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!*since)
		*since = now.tv_sec;
	if (now.tv_sec - *since > FOREVER_S)
		DIE("%s never happened", what);
	sched_yield();
}

void drv_until8(const uint8_t *byte, uint8_t mask, uint8_t value, const char *what)
{
	time_t since = 0;

	while ((__atomic_load_n(byte, __ATOMIC_ACQUIRE) & mask) != value)
		give_way(&since, what);
}

void drv_until32(const __le32 *word, uint32_t mask, uint32_t value, const char *what)
{
	time_t since = 0;

	while ((le32toh(__atomic_load_n(word, __ATOMIC_ACQUIRE)) & mask) != value)
		give_way(&since, what);
}

uint32_t drv_reg(struct drv *drv, uint64_t off)
{
	return vu_rd32(drv->vu, BAR0, off);
}

void drv_set_reg(struct drv *drv, uint64_t off, uint32_t val)
{
	vu_wr32(drv->vu, BAR0, off, val);
}

void drv_set_reg64(struct drv *drv, uint64_t off, uint64_t val)
{
	drv_set_reg(drv, off, val);
	drv_set_reg(drv, off + 4, val >> 32);
}

uint64_t drv_alloc(struct drv *drv, uint64_t size)
{
	uint64_t addr = drv->next;

	size = (size + PAGE - 1) / PAGE * PAGE;
	if (size > DRV_MEM + drv_mem_size - addr)
		DIE("guest memory is used up");
	drv->next += size;
	memset(drv_ptr(drv, addr), 0, size);
	return addr;
}

void *drv_ptr(struct drv *drv, uint64_t addr)
{
	return vu_mem_ptr(drv->vu, addr, 1);
}

struct drv *drv_open(const char *path)
{
	struct drv *drv = calloc(1, sizeof(*drv));

	if (!drv)
		DIE("no memory");
	drv->vu = vu_open(path);
	if (!drv->vu)
		DIE("can't connect to %s", path);
	vu_mem_new(drv->vu, DRV_MEM, drv_mem_size);
	vu_enable(drv->vu, DRV_VECTORS);
	drv->next = DRV_MEM;
	drv->uar_shift = OHCA_UAR_SHIFT_MIN;
	return drv;
}

static void free_owned(struct drv *drv)
{
	while (drv->num_owned)
		free(drv->owned[--drv->num_owned]);
}

void drv_close(struct drv *drv)
{
	free_owned(drv);
	vu_close(drv->vu);
	free(drv);
}

/* The program's time limit ends a wait that does not end.  All registers of an absent function read as ones. */
void drv_wait_reset(struct drv *drv)
{
	uint32_t status;

	do {
		status = drv_reg(drv, OHCA_REG_STATUS);
		if (status == UINT32_MAX || !(status & OHCA_STATUS_RESETTING))
			return;
	} while (!sched_yield());
}

uint64_t drv_uar(const struct drv *drv, uint32_t uar)
{
	return (uint64_t)uar << (drv->feats & OHCA_FEAT_UAR_SHIFT ? drv->uar_shift
								  : OHCA_UAR_SHIFT_MIN);
}

uint32_t drv_enable(struct drv *drv, uint64_t feats)
{
	drv->sq_addr = drv_alloc(drv, PAGE);
	drv->cq_addr = drv_alloc(drv, PAGE);
	drv->rec_addr = drv_alloc(drv, PAGE);
	drv->sq = drv_ptr(drv, drv->sq_addr);
	drv->cq = drv_ptr(drv, drv->cq_addr);
	drv->rec = drv_ptr(drv, drv->rec_addr);
	drv->pi = 0;
	drv->ci = 0;
	drv->feats = feats;
	drv->shadow = NULL;

	drv_wait_reset(drv);
	drv_set_reg(drv, OHCA_REG_SW_VERSION, DRV_VERSION);
	drv_set_reg64(drv, OHCA_REG_FEATS_LO, feats);
	if (feats & OHCA_FEAT_UAR_SHIFT)
		drv_set_reg(drv, OHCA_REG_UAR_SHIFT, drv->uar_shift);
	drv_set_reg(drv, OHCA_REG_CMDQ_CFG, DRV_LOG_CMDS);
	drv_set_reg64(drv, OHCA_REG_CMDQ_SQ_LO, drv->sq_addr);
	drv_set_reg64(drv, OHCA_REG_CMDQ_CQ_LO, drv->cq_addr);
	drv_set_reg64(drv, OHCA_REG_CMDQ_REC_LO, drv->rec_addr);
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	return drv_reg(drv, OHCA_REG_STATUS);
}

static void must_enable(struct drv *drv, uint64_t feats)
{
	if (drv_enable(drv, feats) != OHCA_STATUS_READY)
		DIE("device not ready: fatal error %u", drv_reg(drv, OHCA_REG_FATAL));
	drv_first_uar(drv);
}

struct drv *drv_start(const char *path, uint64_t feats)
{
	struct drv *drv = drv_open(path);

	must_enable(drv, feats);
	return drv;
}

void drv_restart(struct drv *drv)
{
	drv_reset(drv);
	free_owned(drv);
	drv->next = DRV_MEM;
	must_enable(drv, drv->feats);
}

void drv_reset(struct drv *drv)
{
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
	drv->shadow = NULL;
}

/* Build the tables, leaves first. */
struct ohca_xlt drv_xlt(struct drv *drv, uint64_t addr, uint64_t size, uint8_t page_shift)
{
	uint64_t page = 1ULL << page_shift, npages = (size + page - 1) >> page_shift;
	struct ohca_xlt xlt = {
		.npages = htole32(npages),
		.page_shift = page_shift,
	};
	uint64_t entries = npages, first = addr, step = page, i;

	while (entries > 1 || (xlt.levels == 0 && npages > 1)) {
		uint64_t table = drv_alloc(drv, (entries + 511) / 512 * PAGE);
		__le64 *to = drv_ptr(drv, table);

		for (i = 0; i < entries; i++)
			to[i] = htole64(first + i * step);
		first = table;
		step = PAGE;
		entries = (entries + 511) / 512;
		xlt.levels++;
	}
	xlt.addr = htole64(first);
	return xlt;
}

void drv_post(struct drv *drv, const struct ohca_cmd *cmd)
{
	drv->sq[drv->pi & ((1U << DRV_LOG_CMDS) - 1)] = *cmd;
	drv->pi++;
}

bool drv_ring(struct drv *drv, uint32_t uar, struct ohca_shadow *shadow, unsigned int slot)
{
	unsigned int word = slot / 64, bit = slot % 64;

	if (slot < OHCA_SHADOW_DIRECT_SLOTS) {
		__atomic_fetch_or(&shadow->direct[word], htole64(1ULL << bit), __ATOMIC_SEQ_CST);
	} else {
		word -= OHCA_SHADOW_DIRECT_SLOTS / 64;
		__atomic_fetch_or(&shadow->indirect[word], htole64(1ULL << bit), __ATOMIC_SEQ_CST);
		__atomic_fetch_or(&shadow->summary, htole64(1ULL << word), __ATOMIC_SEQ_CST);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&shadow->asleep, __ATOMIC_RELAXED))
		return false;
	vu_wr32(drv->vu, BAR2, drv_uar(drv, uar) + OHCA_UAR_WAKE, 1);
	return true;
}

void drv_ring_all(struct ohca_shadow *shadow)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shadow->direct); i++)
		__atomic_store_n(&shadow->direct[i], UINT64_MAX, __ATOMIC_SEQ_CST);
	for (i = 0; i < ARRAY_SIZE(shadow->indirect); i++)
		__atomic_store_n(&shadow->indirect[i], UINT64_MAX, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shadow->summary, UINT64_MAX, __ATOMIC_SEQ_CST);
}

void drv_kick(struct drv *drv)
{
	__atomic_store_n(&drv->rec->pi, htole32(drv->pi), __ATOMIC_RELEASE);
	if (drv->shadow)
		drv_ring(drv, 0, drv->shadow, 0);
	else
		drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi);
}

struct ohca_cmd_cqe drv_wait(struct drv *drv)
{
	struct ohca_cmd_cqe *cqe = &drv->cq[drv->ci & ((1U << DRV_LOG_CMDS) - 1)];

	drv_until8(&cqe->owner, 1, !(drv->ci >> DRV_LOG_CMDS & 1), "a command's completion");
	drv->ci++;
	drv->syndrome = le32toh(cqe->syndrome);
	drv->out_len = le16toh(cqe->out_len);
	return *cqe;
}

int drv_raw(struct drv *drv, const struct ohca_cmd *cmd)
{
	struct ohca_cmd_cqe cqe;

	drv_post(drv, cmd);
	drv_kick(drv);
	cqe = drv_wait(drv);
	if (cqe.tag != cmd->tag)
		DIE("completion of another command");
	return cqe.status;
}

int drv_cmd(struct drv *drv, uint16_t opcode, const void *in, size_t in_len, void *out,
	    size_t out_len)
{
	uint64_t next = drv->next;
	struct ohca_cmd cmd = {
		.opcode = htole16(opcode),
		.tag = htole16(drv->pi),
		.in_len = htole16(in_len),
		.out_len = htole16(out_len),
	};
	int status;

	if (in_len) {
		cmd.in_addr = htole64(drv_alloc(drv, in_len));
		memcpy(drv_ptr(drv, le64toh(cmd.in_addr)), in, in_len);
	}
	if (out_len)
		cmd.out_addr = htole64(drv_alloc(drv, out_len));
	status = drv_raw(drv, &cmd);
	if (out_len)
		memcpy(out, drv_ptr(drv, le64toh(cmd.out_addr)), out_len);
	drv->next = next;
	return status;
}

int drv_destroy(struct drv *drv, uint16_t opcode, uint32_t id)
{
	struct ohca_handle in = {.id = htole32(id)};

	return drv_cmd(drv, opcode, &in, sizeof(in), NULL, 0);
}

uint32_t drv_create(struct drv *drv, uint16_t opcode, const void *in, size_t in_len)
{
	struct ohca_handle out;
	int status = drv_cmd(drv, opcode, in, in_len, &out, sizeof(out));

	if (status)
		DIE("command %#x: status %d, syndrome %u", opcode, status, drv->syndrome);
	return le32toh(out.id);
}

uint32_t drv_alloc_counters(struct drv *drv, uint8_t port)
{
	const struct ohca_alloc_counters_in in = {.port = port};

	return drv_create(drv, OHCA_CMD_ALLOC_COUNTERS, &in, sizeof(in));
}

void drv_first_uar(struct drv *drv)
{
	struct ohca_alloc_uar_in in = {0};
	uint64_t page = 0;

	if (drv->feats & OHCA_FEAT_SHADOW_DB)
		page = drv_alloc(drv, PAGE);
	in.shadow_addr = htole64(page);
	if (drv_create(drv, OHCA_CMD_ALLOC_UAR, &in, sizeof(in)))
		DIE("the first UAR is not number 0");
	if (page)
		drv->shadow = drv_ptr(drv, page);
}

struct ohca_create_eq_in drv_eq_in(struct drv *drv, uint8_t log_size, uint16_t vector,
				   uint8_t flags, struct drv_eq *eq)
{
	uint32_t rec = sizeof(struct ohca_eqe) << log_size;
	struct ohca_create_eq_in in = {
		.rec_offset = htole32(rec),
		.vector = htole16(vector),
		.log_size = log_size,
		.flags = flags,
	};
	uint64_t size = rec + sizeof(struct ohca_eq_rec);

	memset(eq, 0, sizeof(*eq));
	eq->drv = drv;
	eq->log_size = log_size;
	eq->addr = drv_alloc(drv, size);
	eq->ring = drv_ptr(drv, eq->addr);
	eq->rec = drv_ptr(drv, eq->addr + rec);
	in.buf = drv_xlt(drv, eq->addr, size, 12);
	return in;
}

void *drv_own(struct drv *drv, size_t size)
{
	void *p = calloc(1, size);

	if (!p || drv->num_owned == DRV_MAX_OWNED)
		DIE("no memory for a queue");
	drv->owned[drv->num_owned++] = p;
	return p;
}

struct drv_eq *drv_eq_new(struct drv *drv, uint8_t log_size, uint16_t vector, uint8_t flags)
{
	struct drv_eq *eq = drv_own(drv, sizeof(*eq));
	struct ohca_create_eq_in in;

	in = drv_eq_in(drv, log_size, vector, flags, eq);
	eq->eqn = drv_create(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	return eq;
}

bool drv_eq_poll(struct drv_eq *eq, struct ohca_eqe *eqe)
{
	struct ohca_eqe *slot = &eq->ring[eq->ci & ((1U << eq->log_size) - 1)];

	if ((__atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE) & 1) != !(eq->ci >> eq->log_size & 1))
		return false;
	*eqe = *slot;
	eq->ci++;
	return true;
}

void drv_eq_ack(struct drv_eq *eq)
{
	__atomic_store_n(&eq->rec->ci, htole32(eq->ci), __ATOMIC_RELEASE);
}

struct ohca_eqe drv_eq_wait(struct drv_eq *eq)
{
	struct ohca_eqe eqe;
	time_t since = 0;

	while (!drv_eq_poll(eq, &eqe))
		give_way(&since, "an event");
	drv_eq_ack(eq);
	return eqe;
}

void drv_eq_arm(struct drv_eq *eq)
{
	__atomic_fetch_add(&eq->rec->arm, 1, __ATOMIC_SEQ_CST);
}

struct ohca_create_cq_in drv_cq_in(struct drv *drv, uint8_t log_size, uint32_t eqn,
				   struct drv_cq *cq)
{
	uint32_t rec = sizeof(struct ohca_cqe) << log_size;
	struct ohca_create_cq_in in = {
		.rec_offset = htole32(rec),
		.eqn = htole32(eqn),
		.log_size = log_size,
	};
	uint64_t size = rec + sizeof(struct ohca_cq_rec);

	memset(cq, 0, sizeof(*cq));
	cq->drv = drv;
	cq->log_size = log_size;
	cq->addr = drv_alloc(drv, size);
	cq->ring = drv_ptr(drv, cq->addr);
	cq->rec = drv_ptr(drv, cq->addr + rec);
	in.buf = drv_xlt(drv, cq->addr, size, 12);
	return in;
}

struct drv_cq *drv_cq_new(struct drv *drv, uint8_t log_size, uint32_t eqn)
{
	return drv_cq_new_flags(drv, log_size, eqn, 0);
}

struct drv_cq *drv_cq_new_flags(struct drv *drv, uint8_t log_size, uint32_t eqn, uint8_t flags)
{
	struct drv_cq *cq = drv_own(drv, sizeof(*cq));
	struct ohca_create_cq_in in;

	in = drv_cq_in(drv, log_size, eqn, cq);
	in.flags = flags;
	cq->cqn = drv_create(drv, OHCA_CMD_CREATE_CQ, &in, sizeof(in));
	return cq;
}

struct ohca_resize_cq_in drv_cq_resize_in(const struct drv_cq *cq, uint8_t log_size,
					  struct drv_cq *to)
{
	struct ohca_create_cq_in create = drv_cq_in(cq->drv, log_size, 0, to);
	struct ohca_resize_cq_in in = {
		.buf = create.buf,
		.rec_offset = create.rec_offset,
		.cqn = htole32(cq->cqn),
		.log_size = log_size,
	};

	*to->rec = *cq->rec;
	to->rec->ci = htole32(cq->ci);
	cq->rec->ci = to->rec->ci;
	to->cqn = cq->cqn;
	to->ci = cq->ci;
	return in;
}

int drv_cq_resize(struct drv_cq *cq, uint8_t log_size)
{
	struct drv_cq to;
	struct ohca_resize_cq_in in = drv_cq_resize_in(cq, log_size, &to);
	int status = drv_cmd(cq->drv, OHCA_CMD_RESIZE_CQ, &in, sizeof(in), NULL, 0);

	if (!status) {
		/*
		 * The device no longer uses the old ring: overwrite it, so that a read of it is
		 * noticed.
		 */
		memset(cq->ring, 0xff, sizeof(*cq->ring) << cq->log_size);
		*cq = to;
	}
	return status;
}

void drv_cq_arm(struct drv_cq *cq, bool solicited)
{
	__atomic_fetch_add(solicited ? &cq->rec->arm_solicited : &cq->rec->arm_next, 1,
			   __ATOMIC_SEQ_CST);
}

bool drv_cq_poll(struct drv_cq *cq, struct ohca_cqe *cqe)
{
	struct ohca_cqe *slot = &cq->ring[cq->ci & ((1U << cq->log_size) - 1)];

	if ((__atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE) & 1) != !(cq->ci >> cq->log_size & 1))
		return false;
	*cqe = *slot;
	cq->ci++;
	return true;
}

void drv_cq_ack(struct drv_cq *cq)
{
	__atomic_store_n(&cq->rec->ci, htole32(cq->ci), __ATOMIC_RELEASE);
}

struct ohca_cqe drv_cq_wait(struct drv_cq *cq)
{
	struct ohca_cqe cqe;
	time_t since = 0;

	while (!drv_cq_poll(cq, &cqe))
		give_way(&since, "a completion");
	drv_cq_ack(cq);
	return cqe;
}
