// SPDX-License-Identifier: GPL-2.0
/* Opcodes of RoCEv2 packets. */

#include "packet/roce.h"

#define OP(o, f, h) {.valid = true, .op = (o), .flags = (f), .headers = (h)}
#define ONLY (PKT_FIRST | PKT_LAST)
#define DATA ROCE_PAYLOAD

static const struct roce_op ops[ROCE_NUM_OPS] = {
	[ROCE_OP_SEND_FIRST] = OP(PKT_SEND, PKT_FIRST, DATA),
	[ROCE_OP_SEND_MIDDLE] = OP(PKT_SEND, 0, DATA),
	[ROCE_OP_SEND_LAST] = OP(PKT_SEND, PKT_LAST, DATA),
	[ROCE_OP_SEND_LAST_IMM] = OP(PKT_SEND, PKT_LAST | PKT_IMM, ROCE_IMMDT | DATA),
	[ROCE_OP_SEND_ONLY] = OP(PKT_SEND, ONLY, DATA),
	[ROCE_OP_SEND_ONLY_IMM] = OP(PKT_SEND, ONLY | PKT_IMM, ROCE_IMMDT | DATA),
	[ROCE_OP_WRITE_FIRST] = OP(PKT_WRITE, PKT_FIRST, ROCE_RETH | DATA),
	[ROCE_OP_WRITE_MIDDLE] = OP(PKT_WRITE, 0, DATA),
	[ROCE_OP_WRITE_LAST] = OP(PKT_WRITE, PKT_LAST, DATA),
	[ROCE_OP_WRITE_LAST_IMM] = OP(PKT_WRITE, PKT_LAST | PKT_IMM, ROCE_IMMDT | DATA),
	[ROCE_OP_WRITE_ONLY] = OP(PKT_WRITE, ONLY, ROCE_RETH | DATA),
	[ROCE_OP_WRITE_ONLY_IMM] = OP(PKT_WRITE, ONLY | PKT_IMM, ROCE_RETH | ROCE_IMMDT | DATA),
	[ROCE_OP_READ_REQUEST] = OP(PKT_READ_REQ, ONLY, ROCE_RETH),
	[ROCE_OP_READ_FIRST] = OP(PKT_READ_RESP, PKT_FIRST, ROCE_AETH | DATA),
	[ROCE_OP_READ_MIDDLE] = OP(PKT_READ_RESP, 0, DATA),
	[ROCE_OP_READ_LAST] = OP(PKT_READ_RESP, PKT_LAST, ROCE_AETH | DATA),
	[ROCE_OP_READ_ONLY] = OP(PKT_READ_RESP, ONLY, ROCE_AETH | DATA),
	[ROCE_OP_ACK] = OP(PKT_ACK, 0, ROCE_AETH),
	[ROCE_OP_ATOMIC_ACK] = OP(PKT_ATOMIC_RESP, ONLY, ROCE_AETH | ROCE_ATOMICACKETH),
	[ROCE_OP_CMP_SWAP] = OP(PKT_CMP_SWAP, ONLY, ROCE_ATOMICETH),
	[ROCE_OP_FETCH_ADD] = OP(PKT_FETCH_ADD, ONLY, ROCE_ATOMICETH),
	[ROCE_OP_SEND_LAST_INV] = OP(PKT_SEND, PKT_LAST | PKT_INV, ROCE_IETH | DATA),
	[ROCE_OP_SEND_ONLY_INV] = OP(PKT_SEND, ONLY | PKT_INV, ROCE_IETH | DATA),
	[ROCE_OP_FLUSH] = OP(PKT_FLUSH, ONLY, ROCE_FETH | ROCE_RETH),
	[ROCE_OP_ATOMIC_WRITE] = OP(PKT_ATOMIC_WRITE, ONLY, ROCE_RETH | DATA),
};

static const char *const names[ROCE_NUM_OPS] = {
	[ROCE_OP_SEND_FIRST] = "send-first",
	[ROCE_OP_SEND_MIDDLE] = "send-middle",
	[ROCE_OP_SEND_LAST] = "send-last",
	[ROCE_OP_SEND_LAST_IMM] = "send-last-with-immediate",
	[ROCE_OP_SEND_ONLY] = "send-only",
	[ROCE_OP_SEND_ONLY_IMM] = "send-only-with-immediate",
	[ROCE_OP_WRITE_FIRST] = "rdma-write-first",
	[ROCE_OP_WRITE_MIDDLE] = "rdma-write-middle",
	[ROCE_OP_WRITE_LAST] = "rdma-write-last",
	[ROCE_OP_WRITE_LAST_IMM] = "rdma-write-last-with-immediate",
	[ROCE_OP_WRITE_ONLY] = "rdma-write-only",
	[ROCE_OP_WRITE_ONLY_IMM] = "rdma-write-only-with-immediate",
	[ROCE_OP_READ_REQUEST] = "rdma-read-request",
	[ROCE_OP_READ_FIRST] = "rdma-read-response-first",
	[ROCE_OP_READ_MIDDLE] = "rdma-read-response-middle",
	[ROCE_OP_READ_LAST] = "rdma-read-response-last",
	[ROCE_OP_READ_ONLY] = "rdma-read-response-only",
	[ROCE_OP_ACK] = "acknowledge",
	[ROCE_OP_ATOMIC_ACK] = "atomic-acknowledge",
	[ROCE_OP_CMP_SWAP] = "cmp-swap",
	[ROCE_OP_FETCH_ADD] = "fetch-add",
	[ROCE_OP_SEND_LAST_INV] = "send-last-with-invalidate",
	[ROCE_OP_SEND_ONLY_INV] = "send-only-with-invalidate",
	[ROCE_OP_FLUSH] = "flush",
	[ROCE_OP_ATOMIC_WRITE] = "atomic-write",
};

/* Opcodes of a message's packets, by PKT_FIRST and PKT_LAST. */
static const uint8_t sends[4] = {ROCE_OP_SEND_MIDDLE, ROCE_OP_SEND_FIRST, ROCE_OP_SEND_LAST,
				 ROCE_OP_SEND_ONLY};
static const uint8_t writes[4] = {ROCE_OP_WRITE_MIDDLE, ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_LAST,
				  ROCE_OP_WRITE_ONLY};
static const uint8_t reads[4] = {ROCE_OP_READ_MIDDLE, ROCE_OP_READ_FIRST, ROCE_OP_READ_LAST,
				 ROCE_OP_READ_ONLY};

enum roce_opcode roce_opcode(const struct pkt *pkt)
{
	static const uint8_t others[] = {
		[PKT_READ_REQ] = ROCE_OP_READ_REQUEST,
		[PKT_CMP_SWAP] = ROCE_OP_CMP_SWAP,
		[PKT_FETCH_ADD] = ROCE_OP_FETCH_ADD,
		[PKT_ATOMIC_WRITE] = ROCE_OP_ATOMIC_WRITE,
		[PKT_FLUSH] = ROCE_OP_FLUSH,
		[PKT_ATOMIC_RESP] = ROCE_OP_ATOMIC_ACK,
		[PKT_ACK] = ROCE_OP_ACK,
	};
	unsigned int place = pkt->flags & ONLY;

	switch (pkt->op) {
	case PKT_SEND:
		if (pkt->flags & PKT_INV)
			return pkt->flags & PKT_FIRST ? ROCE_OP_SEND_ONLY_INV
						      : ROCE_OP_SEND_LAST_INV;
		return sends[place] + (pkt->flags & PKT_IMM ? 1 : 0);
	case PKT_WRITE:
		return writes[place] + (pkt->flags & PKT_IMM ? 1 : 0);
	case PKT_READ_RESP:
		return reads[place];
	default:
		return others[pkt->op];
	}
}

const struct roce_op *roce_op(enum roce_service service, uint8_t opcode)
{
	const struct roce_op *op = &ops[opcode % ROCE_NUM_OPS];

	if (!op->valid)
		return NULL;
	switch (service) {
	case ROCE_RC:
		return op;
	case ROCE_XRC:
		return op->op == PKT_FLUSH ? NULL : op;
	case ROCE_UC:
		return op->op <= PKT_WRITE && !(op->flags & PKT_INV) ? op : NULL;
	case ROCE_UD:
		return op->op == PKT_SEND && (op->flags & ONLY) == ONLY && !(op->flags & PKT_INV)
			       ? op
			       : NULL;
	default:
		return NULL;
	}
}

const char *roce_op_name(uint8_t opcode)
{
	return names[opcode % ROCE_NUM_OPS];
}

uint16_t roce_headers(enum roce_service service, const struct roce_op *op)
{
	uint16_t headers = op->headers;

	if (service == ROCE_UD)
		headers |= ROCE_DETH;
	if (service == ROCE_XRC && !pkt_is_response(op->op))
		headers |= ROCE_XRCETH;
	return headers;
}

bool roce_atomic_is_plain(const struct pkt *pkt)
{
	const struct pkt_atomic *atomic = pkt->atomic;

	if (pkt->op == PKT_CMP_SWAP)
		return !~atomic->mask && !~atomic->swap_mask;
	/* A carry out of bit 63 goes nowhere in any case. */
	return pkt->op != PKT_FETCH_ADD || !(atomic->mask << 1);
}
