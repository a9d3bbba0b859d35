/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inputs of the target "commands": what a machine does to its HCA, which is a scene whose QPs are
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
	COMMANDS_MEM, /* memory changes: 4 bytes are an offset */
	COMMANDS_RECORD, /* a word of a record changes */
	COMMANDS_REG, /* a register is written */
	COMMANDS_BAR, /* the doorbells' BAR: 4 bytes are an offset, 8 a value */
	COMMANDS_TIME, /* time goes by */
	COMMANDS_BUS, /* of enum commands_bus */
	COMMANDS_KINDS = 10,
};

enum commands_bus {
	COMMANDS_UNMAP, /* the machine takes its memory away */
	COMMANDS_MAP,
	COMMANDS_MASTER_OFF,
	COMMANDS_MASTER_ON,
	COMMANDS_ENABLE, /* the device is reset and comes up with nothing */
	COMMANDS_ABSENT, /* the device falls silent */
	COMMANDS_PRESENT,
	COMMANDS_BUS_KINDS,
};

/* With the kind: nobody rings, the device finds out later */
#define COMMANDS_QUIET 0x80

/**
 * struct commands_record - what happens
 * @kind: enum commands_kind
 * @arg: the command's opcode, enum scene_qp, offset of a register in words ...
 * @len: bytes that follow
 */
struct commands_record {
	__u8 kind;
	__u8 arg;
	__le16 len;
} __attribute__((packed));

/* A word of an input with this in its upper bits stands for a key that there is, by number. */
#define COMMANDS_KEY 0xfe5eed00U

#define COMMANDS_OPS SCENE_NUM_QPS /* as a QP: that of the tags */

#endif
