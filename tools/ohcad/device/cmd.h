/* SPDX-License-Identifier: GPL-2.0 */
/* Commands: what the command queue calls.  Each class of objects (object.h) describes its own. */

#ifndef OHCAD_CMD_H
#define OHCAD_CMD_H

#include "device/hca.h"
#include "device/xlt.h"

struct cmd_ctx;
struct cmd_desc;

typedef enum ohca_cmd_status cmd_fn(struct hca *hca, struct cmd_ctx *ctx);

/* In place of a status: the command has more to do, in the next round, as other HCAs have work too.  Then ctx->more does it. */
#define CMD_MORE ((enum ohca_cmd_status)0x10000)

/**
 * struct cmd_ctx - a command under execution
 * @in: input, already copied, at least the length that its description asks for; excess bytes were
 *	checked to be zero
 * @out: output of the description's length, zeroed, copied to the host when the command succeeds
 * @syndrome: of the completion, if the command fails
 * @desc: its description
 * @end: loop_clock() at which it has had enough time for this round
 * @more: set by a command that takes more than one round: called in each of them until it returns a status.  If hca->ready
 *	is false, a reset has begun: it frees what belongs to the command, and does not access host memory
 * @object, @xlt, @pos, @failed: for @more
 */
struct cmd_ctx {
	const void *in;
	void *out;
	uint32_t syndrome;
	const struct cmd_desc *desc;
	uint64_t end;
	cmd_fn *more;
	void *object;
	struct xlt xlt;
	uint64_t pos[2];
	enum ohca_cmd_status failed;
};

/* Return from a command whose function @fn does the rest, now and in further rounds. */
#define CMD_CONTINUE(hca, ctx, fn) ((ctx)->more = (fn), (fn)(hca, ctx))

/*
 * The buffer of a queue: cmd_begin_buf() allocates ctx->xlt, and cmd_load_buf() reads its pages, until all are there, or the
 * time of this round is over: then it returns CMD_MORE.  @size: bytes that the object needs.  With one that fails, and when a
 * reset has begun, it frees what there is.
 */
enum ohca_cmd_status cmd_begin_buf(struct hca *hca, struct cmd_ctx *ctx,
				   const struct ohca_xlt *desc, uint64_t size);
enum ohca_cmd_status cmd_load_buf(struct hca *hca, struct cmd_ctx *ctx,
				  const struct ohca_xlt *desc);
/*
 * Then: is there memory for the ring of @bytes at @offset in it?  Likewise OHCA_CMD_OK, BAD_ADDR or CMD_MORE.  @num: 0 or 1,
 * the first or the second ring of a command
 */
enum ohca_cmd_status cmd_check_ring(struct hca *hca, struct cmd_ctx *ctx, unsigned int num,
				    uint64_t offset, uint64_t bytes);

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
 * Execute one command: lengths, dispatch by hca->cmds.  @in_len bytes at @in, which has room for OHCA_CMD_MAX_LEN as
 * ctx->out has; the rest of a short input is made zero there.  @ctx has @out and @end, and is zero otherwise.  If it
 * returns CMD_MORE, the command goes on with ctx->more().
 */
enum ohca_cmd_status cmd_execute(struct hca *hca, struct cmd_ctx *ctx, uint16_t opcode, void *in,
				 uint16_t in_len, uint16_t out_room);

/* How much of the output of a command that has succeeded the device knows, and has room */
uint16_t cmd_output_len(const struct hca *hca, const struct cmd_ctx *ctx, uint16_t room);

#endif
