/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "commands": a guest's accesses to its HCA, which has a scene whose QPs are
 * connected with each other.
 */

#ifndef SELFTESTS_OHCAD_FUZZ_COMMANDS_INPUT_H
#define SELFTESTS_OHCAD_FUZZ_COMMANDS_INPUT_H

#include <linux/types.h>

enum commands_kind {
	COMMANDS_CMD, /* a command: the bytes are its input */
	COMMANDS_RAW_CMD, /* the bytes are struct ohca_cmd */
	COMMANDS_SEND, /* an entry of a send queue */
	COMMANDS_RECV, /* an entry of a receive queue */
	COMMANDS_MEM, /* change memory: 4 bytes are an offset */
	COMMANDS_RECORD, /* change a word of a record */
	COMMANDS_REG, /* write a register */
	COMMANDS_BAR, /* access the doorbells' BAR: 4 bytes are an offset, 8 a value */
	COMMANDS_TIME, /* let time pass */
	COMMANDS_BUS, /* of enum commands_bus */
	COMMANDS_KINDS = 10,
};

enum commands_bus {
	COMMANDS_UNMAP, /* unmap guest memory */
	COMMANDS_MAP,
	COMMANDS_MASTER_OFF,
	COMMANDS_MASTER_ON,
	COMMANDS_ENABLE, /* reset the device and enable it without objects */
	COMMANDS_ABSENT, /* make the device silent */
	COMMANDS_PRESENT,
	COMMANDS_BUS_KINDS,
};

/* With the kind: no doorbell is rung, the device finds the work later */
#define COMMANDS_QUIET 0x80

/**
 * struct commands_record - one action
 * @kind: enum commands_kind
 * @arg: the command's opcode, enum scene_qp, offset of a register in words ...
 * @len: bytes that follow
 */
struct commands_record {
	__u8 kind;
	__u8 arg;
	__le16 len;
} __attribute__((packed));

/* A word of an input with this in its upper bits stands for an existing key, by number. */
#define COMMANDS_KEY 0xfe5eed00U

#define COMMANDS_OPS SCENE_NUM_QPS /* as a QP: the queue of tag operations */

#endif
