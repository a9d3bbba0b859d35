/* SPDX-License-Identifier: GPL-2.0 */
/* Two HCAs: one has long work, and messages of the other one are sent and received beside it. */

#ifndef SELFTESTS_OHCAD_SLICE_BED_H
#define SELFTESTS_OHCAD_SLICE_BED_H

#include "device/quota.h"
#include "rig.h"

/* The HCAs */
#define BUSY 0
#define OTHER 1

extern struct rig *slice_rig;

/* Of each test */
int slice_open(void **state);
int slice_close(void **state);

/* The driver and the quotas of the busy HCA */
struct drv *slice_drv(void);
const struct quota *slice_quota(enum quota_kind kind);

/* A step of the device, in which a message of the other HCA arrives */
void slice_round(void);

/*
 * A round, after which @take takes what has arrived and returns how many that are: at most @most.  And rounds until nothing
 * arrives any more; returns the sum.
 */
unsigned int slice_part(unsigned int (*take)(void), unsigned int most);
unsigned int slice_parts(unsigned int (*take)(void), unsigned int most);

/* The fewest rounds that a long command takes in the tests */
#define SLICE_ROUNDS 8

/**
 * struct slice_command - a command of the busy HCA under way
 * @out: address of its output
 */
struct slice_command {
	uint64_t out;
};

struct slice_command slice_begin(uint16_t opcode, const void *in, size_t len);
void slice_begin_destroy(uint16_t opcode, uint32_t id);
bool slice_is_done(void);
/* Rounds until it has completed, with this status; none of them is without a message of the other HCA. */
void slice_end(int status);
/* What a command that has succeeded has created */
uint32_t slice_id_of(const struct slice_command *command);
/* A reset while a command is under way: it is over some rounds later, and nothing is left. */
void slice_reset_in_the_middle(void);

#endif
