/* SPDX-License-Identifier: GPL-2.0 */
/* An SRQ with tags, a queue of tag operations, and connections that send messages with tags. */

#ifndef SELFTESTS_OHCAD_TM_BED_H
#define SELFTESTS_OHCAD_TM_BED_H

#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "pair.h"
#include "rig_srq.h"

#define TM_NUM 2 /* connections */
#define TM_TAGS 64 /* number of tags of the SRQ */
#define TM_EXACT (~0ULL)

/* Addresses of outgoing messages, of receives and of tags; each area has 1 MiB. */
#define TM_SRC PAIR_IOVA
#define TM_DATA (PAIR_IOVA + (1ULL << 20))
#define TM_FIN (PAIR_IOVA + (1ULL << 19)) /* for the message at the end of a rendezvous */
#define TM_RECV PAIR_IOVA
#define TM_ROOM (PAIR_IOVA + (1ULL << 20))

/**
 * struct tm_bed - all of it
 * @a: a[i] sends to b[i], which has the SRQ
 * @ops: posts operations
 * @cq: of the SRQ
 * @unexpected: messages that software has dealt with
 * @num_fins: receives that were posted for the end of a rendezvous
 */
struct tm_bed {
	struct rig *rig;
	struct rig_hca *ha, *hb;
	struct rig_mr *ma, *mb;
	struct drv_cq *cq;
	struct rig_srq *srq;
	struct rig_qp *ops;
	struct rig_qp *a[TM_NUM], *b[TM_NUM];
	uint32_t unexpected;
	unsigned int num_fins;
};

extern struct tm_bed bed;

/* Setup and teardown of a test. */
int tm_up(void **state);
int tm_down(void **state);

/* A QP that sends, and one of @pdn (0: the HCA's) that receives from the SRQ, not connected yet. */
void tm_new_pair(unsigned int i, uint32_t pdn);

/**
 * struct tm_tag - a tag to add
 * @wr_id: recv_wr_id; the operation's own is the handle
 * @sge: NULL: @len bytes at TM_ROOM, @place times 64 KiB from its start
 * @sync: with bed.unexpected
 */
struct tm_tag {
	uint32_t handle;
	uint64_t tag, mask;
	uint64_t wr_id;
	uint32_t len;
	const struct ohca_sge *sge;
	uint16_t num_sge;
	bool sync;
};

#define TM_PLACE(handle) (TM_ROOM + ((handle) & 7) * (64ULL << 10))

/* Post an operation and wait for its completion with this status; returns the completion. */
struct ohca_cqe tm_add(const struct tm_tag *tag, enum ohca_wc_status status);
struct ohca_cqe tm_del(uint32_t handle, bool sync, enum ohca_wc_status status);
struct ohca_cqe tm_sync(uint32_t unexpected);
/* The default: handle and wr_id are @n, the mask has all bits, 64 KiB at TM_PLACE(n). */
void tm_add_simple(uint32_t n, uint64_t tag);

/* Post a receive for a message of @len bytes that matches no tag. */
void tm_post_recv(uint64_t wr_id, uint32_t len);

/*
 * Send a header and @len bytes that depend on @seed; the send completes when the message was
 * received.
 */
void tm_send(unsigned int i, uint8_t opcode, uint64_t tag, uint32_t len, uint32_t seed);
void tm_send_eager(unsigned int i, uint64_t tag, uint32_t len, uint32_t seed);
/* Send a rendezvous for @len bytes at TM_DATA + @off, which depend on @seed. */
void tm_send_rndv(unsigned int i, uint64_t tag, uint32_t off, uint32_t len, uint32_t seed);
/* Send @len bytes that are in TM_SRC already. */
void tm_send_raw(unsigned int i, uint32_t len);
void tm_sent(unsigned int i, enum ohca_wc_status status);

/* The next completion of the SRQ. */
struct ohca_cqe tm_expect(uint8_t opcode, uint64_t wr_id, enum ohca_wc_status status);
/* The completion of a message that matched a tag. */
struct ohca_cqe tm_expect_match(uint8_t opcode, uint64_t wr_id, uint64_t tag);
void tm_expect_nothing(void);
/* Post a receive at the peer of b[i] for the message that ends a rendezvous, and wait for it. */
void tm_post_fin(unsigned int i);
void tm_expect_fin(unsigned int i, uint64_t tag);

#endif
