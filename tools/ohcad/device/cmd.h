/* SPDX-License-Identifier: GPL-2.0 */
/* Commands: what the command queue calls.  Each class of objects (object.h) describes its own. */

#ifndef OHCAD_CMD_H
#define OHCAD_CMD_H

#include "device/hca.h"

/**
 * struct cmd_ctx - a command under execution
 * @in: input, already copied, at least the length that its description asks for; excess bytes were
 *	checked to be zero
 * @out: output of the description's length, zeroed, copied to the host when the command succeeds
 * @syndrome: of the completion, if the command fails
 */
struct cmd_ctx {
	const void *in;
	void *out;
	uint32_t syndrome;
};

typedef enum ohca_cmd_status cmd_fn(struct hca *hca, struct cmd_ctx *ctx);

/**
 * struct cmd_desc - a command
 * @in_len: bytes of its input structure
 * @out_len: bytes of its output structure
 * @in_min, @out_min: the shortest that software may give, 0: all
 * @cap: OHCA_CAP_* that it needs, 0: none
 * @more: returns how many bytes follow @in_len, by what the input says; NULL: none
 */
struct cmd_desc {
	enum ohca_cmd_op opcode;
	cmd_fn *fn;
	uint16_t in_len;
	uint16_t out_len;
	uint16_t in_min;
	uint16_t out_min;
	uint64_t cap;
	uint16_t (*more)(const void *in);
};

/* One of OHCA_CMD_@op; fields of struct cmd_desc may follow. */
#define CMD_DESC(op, func, in, out, ...) \
	{.opcode = OHCA_CMD_##op, .fn = (func), .in_len = (in), .out_len = (out), ##__VA_ARGS__}

#define CMD_HANDLE_LEN sizeof(struct ohca_handle)

/* Refuse a field: sets the syndrome to its offset in the input structure. */
#define CMD_BAD(ctx, type, field, status) ((ctx)->syndrome = offsetof(type, field), (status))

/* Reserved bytes are to be zero. */
bool cmd_all_zero(const void *bytes, unsigned int len);

/*
 * Execute one command: lengths, dispatch by hca->cmds, output.  @in_len bytes at @in, which has
 * room for OHCA_CMD_MAX_LEN as @out has; the rest of a short input is made zero there.
 */
enum ohca_cmd_status cmd_execute(struct hca *hca, uint16_t opcode, void *in, uint16_t in_len,
				 void *out, uint16_t out_room, uint16_t *out_len,
				 uint32_t *syndrome);

#endif
