/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scripted driver: initializes an HCA over a vfio-user client, executes commands, owns queues.
 * Guest memory is one region; addresses in it are allocated and never freed.
 */

#ifndef SELFTESTS_OHCAD_DRV_H
#define SELFTESTS_OHCAD_DRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"

#define DRV_MEM 0x100000000ULL /* DMA address of guest memory */
#define DRV_MEM_SIZE (64ULL << 20)
#define DRV_VECTORS 4
#define DRV_LOG_CMDS 4
#define DRV_MAX_OWNED 65536
#define DRV_NOWHERE 0x7f0000000000ULL /* a DMA address without memory */

#define DRV_VERSION (OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR)
#define DRV_ALL_FEATS (OHCA_FEAT_SHADOW_DB | OHCA_FEAT_ETH)

/**
 * struct drv - an initialized HCA
 * @vu: the client
 * @next: first unused byte of guest memory
 * @feats: features accepted
 * @uar_shift: log2 of the distance of UARs, with OHCA_FEAT_UAR_SHIFT; at first the least one
 * @sq, @cq, @rec: the command queue
 * @pi, @ci: commands posted and completed
 * @syndrome: of the last command
 * @out_len: bytes of output of the last command
 * @shadow: shadow page of UAR 0, once drv_first_uar() was called
 * @owned: queues created by drv_eq_new() and drv_cq_new(), freed by drv_close()
 */
struct drv {
	struct vu *vu;
	uint64_t next;
	uint64_t feats;
	uint32_t uar_shift;
	uint64_t sq_addr, cq_addr, rec_addr;
	struct ohca_cmd *sq;
	struct ohca_cmd_cqe *cq;
	struct ohca_cmdq_rec *rec;
	uint32_t pi, ci;
	uint32_t syndrome;
	uint16_t out_len;
	struct ohca_shadow *shadow;
	void *owned[DRV_MAX_OWNED];
	unsigned int num_owned;
};

/*
 * Bytes of guest memory that drv_open() maps; DRV_MEM_SIZE, until a program sets it. A program that
 * connects often and was built with ASan needs little: ASan clears its own memory for all of it.
 */
extern uint64_t drv_mem_size;

/* Connect, map guest memory and enable interrupts; no register is written yet. */
struct drv *drv_open(const char *path);
/* Write the configuration with @feats and enable; returns OHCA_REG_STATUS. */
uint32_t drv_enable(struct drv *drv, uint64_t feats);
/* Both, and UAR 0; ends the program if the device is not ready afterwards. */
struct drv *drv_start(const char *path, uint64_t feats);
/* The offset of a UAR in OHCA_BAR_UAR */
uint64_t drv_uar(const struct drv *drv, uint32_t uar);
/* Disconnect. */
void drv_close(struct drv *drv);

/* Wait until no reset is under way: one of another kind than drv_reset(), as after the end of a connection, may take a while. */
void drv_wait_reset(struct drv *drv);
/* OHCA_CTRL_RESET; the object is as after drv_open(). */
void drv_reset(struct drv *drv);
/*
 * The same, and initialize it again: the state is as after drv_start(), without the earlier queues.
 */
void drv_restart(struct drv *drv);

uint32_t drv_reg(struct drv *drv, uint64_t off);
void drv_set_reg(struct drv *drv, uint64_t off, uint32_t val);
void drv_set_reg64(struct drv *drv, uint64_t off, uint64_t val);

/* Memory of this program that is freed with the connection. */
void *drv_own(struct drv *drv, size_t size);
/* Zeroed guest memory, page aligned; returns its DMA address.  drv_ptr(): its bytes here. */
uint64_t drv_alloc(struct drv *drv, uint64_t size);
void *drv_ptr(struct drv *drv, uint64_t addr);

/*
 * A translation of [addr, addr + size), contiguous and page aligned, to pages of 2^page_shift
 * bytes, with a table as deep as needed.
 */
struct ohca_xlt drv_xlt(struct drv *drv, uint64_t addr, uint64_t size, uint8_t page_shift);

/*
 * Commands. drv_post() only writes one to the ring, drv_kick() rings the doorbell, drv_wait() takes
 * a completion.
 */
void drv_post(struct drv *drv, const struct ohca_cmd *cmd);
void drv_kick(struct drv *drv);
struct ohca_cmd_cqe drv_wait(struct drv *drv);
/* Execute one command as it is, addresses included; returns its status. */
int drv_raw(struct drv *drv, const struct ohca_cmd *cmd);
/* Execute one command, with input and output copied through guest memory; returns its status. */
int drv_cmd(struct drv *drv, uint16_t opcode, const void *in, size_t in_len, void *out,
	    size_t out_len);
/*
 * Commands that take or return a handle; one that returns a handle ends the program when it fails.
 */
int drv_destroy(struct drv *drv, uint16_t opcode, uint32_t id);
uint32_t drv_create(struct drv *drv, uint16_t opcode, const void *in, size_t in_len);
/* A new set of counters of a port */
uint32_t drv_alloc_counters(struct drv *drv, uint8_t port);

/*
 * Allocate UAR 0 with its shadow page (if that feature is on).  Commands then use it for the
 * doorbell.
 */
void drv_first_uar(struct drv *drv);
/*
 * Set the dirty bit of a slot in a shadow page like software does; returns whether the device was
 * asleep and was woken.
 */
bool drv_ring(struct drv *drv, uint32_t uar, struct ohca_shadow *shadow, unsigned int slot);
/* Set the dirty bits of all slots in a shadow page, used or not.  It does not wake the device. */
void drv_ring_all(struct ohca_shadow *shadow);

/**
 * struct drv_eq - an event queue
 */
struct drv_eq {
	struct drv *drv;
	uint32_t eqn;
	uint8_t log_size;
	uint64_t addr;
	struct ohca_eqe *ring;
	struct ohca_eq_rec *rec;
	uint32_t ci;
};

/*
 * The input of a command that creates an EQ, for tests that change it, and a created EQ.  Queues
 * exist as long as the connection.
 */
struct ohca_create_eq_in drv_eq_in(struct drv *drv, uint8_t log_size, uint16_t vector,
				   uint8_t flags, struct drv_eq *eq);
struct drv_eq *drv_eq_new(struct drv *drv, uint8_t log_size, uint16_t vector, uint8_t flags);
/* Take an event, if there is one; the consumer index is not updated: drv_eq_ack() does that. */
bool drv_eq_poll(struct drv_eq *eq, struct ohca_eqe *eqe);
void drv_eq_ack(struct drv_eq *eq);
/* Wait for an event, take and acknowledge it. */
struct ohca_eqe drv_eq_wait(struct drv_eq *eq);
void drv_eq_arm(struct drv_eq *eq);

/**
 * struct drv_cq - a completion queue
 */
struct drv_cq {
	struct drv *drv;
	uint32_t cqn;
	uint8_t log_size;
	uint64_t addr;
	struct ohca_cqe *ring;
	struct ohca_cq_rec *rec;
	uint32_t ci;
};

struct ohca_create_cq_in drv_cq_in(struct drv *drv, uint8_t log_size, uint32_t eqn,
				   struct drv_cq *cq);
struct drv_cq *drv_cq_new(struct drv *drv, uint8_t log_size, uint32_t eqn);
/* The same with OHCA_CQ_* flags. */
struct drv_cq *drv_cq_new_flags(struct drv *drv, uint8_t log_size, uint32_t eqn, uint8_t flags);
/*
 * The input of a command that gives @cq another ring, and the CQ afterwards; the record is copied.
 */
struct ohca_resize_cq_in drv_cq_resize_in(const struct drv_cq *cq, uint8_t log_size,
					  struct drv_cq *to);
/* Resize; returns the command's status. */
int drv_cq_resize(struct drv_cq *cq, uint8_t log_size);
void drv_cq_arm(struct drv_cq *cq, bool solicited);
bool drv_cq_poll(struct drv_cq *cq, struct ohca_cqe *cqe);
void drv_cq_ack(struct drv_cq *cq);
struct ohca_cqe drv_cq_wait(struct drv_cq *cq);

/* Poll until *@word & @mask is @value; ends the program when that takes too long. */
void drv_until8(const uint8_t *byte, uint8_t mask, uint8_t value, const char *what);
void drv_until32(const __le32 *word, uint32_t mask, uint32_t value, const char *what);

#endif
