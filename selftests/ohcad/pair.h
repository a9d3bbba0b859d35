/* SPDX-License-Identifier: GPL-2.0 */
/* Two connected QPs, and messages between them whose every byte is checked. */

#ifndef SELFTESTS_OHCAD_PAIR_H
#define SELFTESTS_OHCAD_PAIR_H

#include "rig.h"

#define PAIR_IOVA 0x7f0000000100ULL /* not on a page boundary */
#define PAIR_LEN (3ULL << 20)

/**
 * struct pair - two connected QPs of two HCAs, and a region on each side
 */
struct pair {
	struct rig *rig;
	struct rig_qp *a, *b;
	struct rig_mr *ma, *mb;
};

struct pair pair_open(const struct server *server, const struct rig_qp_opts *opts);
/* The same, not connected yet. */
struct pair pair_new(const struct server *server, const struct rig_qp_opts *opts);
/* The same in a rig that is open */
struct pair pair_new_in(struct rig *rig, const struct rig_qp_opts *opts);

/**
 * struct pair_layout - placement of a message in memory on both sides
 */
struct pair_layout {
	uint32_t len;
	uint16_t src_off, dst_off;
	uint16_t src_sge, dst_sge;
};

#define PAIR_OPS 5
extern const uint8_t pair_all_ops[PAIR_OPS];

bool op_writes(uint8_t op);
bool op_receives(uint8_t op); /* Does the operation consume a receive? */
bool op_has_imm(uint8_t op);

/*
 * Send one message from @a's side: it arrived as it should, and the bytes around it are unchanged.
 */
void pair_check_message(struct pair *p, uint8_t op, const struct pair_layout *l, uint32_t seed);
/* The next completion of the send queue is this one, with success. */
void pair_assert_send_done(struct rig_qp *qp, uint64_t wr_id, uint8_t opcode);

#endif
