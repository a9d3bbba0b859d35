// SPDX-License-Identifier: GPL-2.0
/* Opcodes of packets. */

#include "packet/bth.h"

#define OP(o, f, h) {.valid = true, .op = (o), .flags = (f), .headers = (h)}
#define ONLY (PKT_FIRST | PKT_LAST)
#define DATA HDR_PAYLOAD

static const struct bth_op ops[BTH_NUM_OPS] = {
	[BTH_OP_SEND_FIRST] = OP(PKT_SEND, PKT_FIRST, DATA),
	[BTH_OP_SEND_MIDDLE] = OP(PKT_SEND, 0, DATA),
	[BTH_OP_SEND_LAST] = OP(PKT_SEND, PKT_LAST, DATA),
	[BTH_OP_SEND_LAST_IMM] = OP(PKT_SEND, PKT_LAST | PKT_IMM, HDR_IMMDT | DATA),
	[BTH_OP_SEND_ONLY] = OP(PKT_SEND, ONLY, DATA),
	[BTH_OP_SEND_ONLY_IMM] = OP(PKT_SEND, ONLY | PKT_IMM, HDR_IMMDT | DATA),
	[BTH_OP_WRITE_FIRST] = OP(PKT_WRITE, PKT_FIRST, HDR_RETH | DATA),
	[BTH_OP_WRITE_MIDDLE] = OP(PKT_WRITE, 0, DATA),
	[BTH_OP_WRITE_LAST] = OP(PKT_WRITE, PKT_LAST, DATA),
	[BTH_OP_WRITE_LAST_IMM] = OP(PKT_WRITE, PKT_LAST | PKT_IMM, HDR_IMMDT | DATA),
	[BTH_OP_WRITE_ONLY] = OP(PKT_WRITE, ONLY, HDR_RETH | DATA),
	[BTH_OP_WRITE_ONLY_IMM] = OP(PKT_WRITE, ONLY | PKT_IMM, HDR_RETH | HDR_IMMDT | DATA),
	[BTH_OP_READ_REQUEST] = OP(PKT_READ_REQ, ONLY, HDR_RETH),
	[BTH_OP_READ_FIRST] = OP(PKT_READ_RESP, PKT_FIRST, HDR_AETH | DATA),
	[BTH_OP_READ_MIDDLE] = OP(PKT_READ_RESP, 0, DATA),
	[BTH_OP_READ_LAST] = OP(PKT_READ_RESP, PKT_LAST, HDR_AETH | DATA),
	[BTH_OP_READ_ONLY] = OP(PKT_READ_RESP, ONLY, HDR_AETH | DATA),
	[BTH_OP_ACK] = OP(PKT_ACK, 0, HDR_AETH),
	[BTH_OP_ATOMIC_ACK] = OP(PKT_ATOMIC_RESP, ONLY, HDR_AETH | HDR_ATOMICACKETH),
	[BTH_OP_CMP_SWAP] = OP(PKT_CMP_SWAP, ONLY, HDR_ATOMICETH),
	[BTH_OP_FETCH_ADD] = OP(PKT_FETCH_ADD, ONLY, HDR_ATOMICETH),
	[BTH_OP_SEND_LAST_INV] = OP(PKT_SEND, PKT_LAST | PKT_INV, HDR_IETH | DATA),
	[BTH_OP_SEND_ONLY_INV] = OP(PKT_SEND, ONLY | PKT_INV, HDR_IETH | DATA),
	[BTH_OP_FLUSH] = OP(PKT_FLUSH, ONLY, HDR_FETH | HDR_RETH),
	[BTH_OP_ATOMIC_WRITE] = OP(PKT_ATOMIC_WRITE, ONLY, HDR_RETH | DATA),
};

static const char *const names[BTH_NUM_OPS] = {
	[BTH_OP_SEND_FIRST] = "send-first",
	[BTH_OP_SEND_MIDDLE] = "send-middle",
	[BTH_OP_SEND_LAST] = "send-last",
	[BTH_OP_SEND_LAST_IMM] = "send-last-with-immediate",
	[BTH_OP_SEND_ONLY] = "send-only",
	[BTH_OP_SEND_ONLY_IMM] = "send-only-with-immediate",
	[BTH_OP_WRITE_FIRST] = "rdma-write-first",
	[BTH_OP_WRITE_MIDDLE] = "rdma-write-middle",
	[BTH_OP_WRITE_LAST] = "rdma-write-last",
	[BTH_OP_WRITE_LAST_IMM] = "rdma-write-last-with-immediate",
	[BTH_OP_WRITE_ONLY] = "rdma-write-only",
	[BTH_OP_WRITE_ONLY_IMM] = "rdma-write-only-with-immediate",
	[BTH_OP_READ_REQUEST] = "rdma-read-request",
	[BTH_OP_READ_FIRST] = "rdma-read-response-first",
	[BTH_OP_READ_MIDDLE] = "rdma-read-response-middle",
	[BTH_OP_READ_LAST] = "rdma-read-response-last",
	[BTH_OP_READ_ONLY] = "rdma-read-response-only",
	[BTH_OP_ACK] = "acknowledge",
	[BTH_OP_ATOMIC_ACK] = "atomic-acknowledge",
	[BTH_OP_CMP_SWAP] = "cmp-swap",
	[BTH_OP_FETCH_ADD] = "fetch-add",
	[BTH_OP_SEND_LAST_INV] = "send-last-with-invalidate",
	[BTH_OP_SEND_ONLY_INV] = "send-only-with-invalidate",
	[BTH_OP_FLUSH] = "flush",
	[BTH_OP_ATOMIC_WRITE] = "atomic-write",
};

/* Opcodes of a message's packets, by PKT_FIRST and PKT_LAST. */
static const uint8_t sends[4] = {BTH_OP_SEND_MIDDLE, BTH_OP_SEND_FIRST, BTH_OP_SEND_LAST,
				 BTH_OP_SEND_ONLY};
static const uint8_t writes[4] = {BTH_OP_WRITE_MIDDLE, BTH_OP_WRITE_FIRST, BTH_OP_WRITE_LAST,
				  BTH_OP_WRITE_ONLY};
static const uint8_t reads[4] = {BTH_OP_READ_MIDDLE, BTH_OP_READ_FIRST, BTH_OP_READ_LAST,
				 BTH_OP_READ_ONLY};

enum bth_opcode bth_opcode(const struct pkt *pkt)
{
	static const uint8_t others[] = {
		[PKT_READ_REQ] = BTH_OP_READ_REQUEST,
		[PKT_CMP_SWAP] = BTH_OP_CMP_SWAP,
		[PKT_FETCH_ADD] = BTH_OP_FETCH_ADD,
		[PKT_ATOMIC_WRITE] = BTH_OP_ATOMIC_WRITE,
		[PKT_FLUSH] = BTH_OP_FLUSH,
		[PKT_ATOMIC_RESP] = BTH_OP_ATOMIC_ACK,
		[PKT_ACK] = BTH_OP_ACK,
	};
	unsigned int place = pkt->flags & ONLY;

	switch (pkt->op) {
	case PKT_SEND:
		if (pkt->flags & PKT_INV)
			return pkt->flags & PKT_FIRST ? BTH_OP_SEND_ONLY_INV : BTH_OP_SEND_LAST_INV;
		return sends[place] + (pkt->flags & PKT_IMM ? 1 : 0);
	case PKT_WRITE:
		return writes[place] + (pkt->flags & PKT_IMM ? 1 : 0);
	case PKT_READ_RESP:
		return reads[place];
	default:
		return others[pkt->op];
	}
}

const struct bth_op *bth_op(enum bth_service service, uint8_t opcode)
{
	const struct bth_op *op = &ops[opcode % BTH_NUM_OPS];

	if (!op->valid)
		return NULL;
	switch (service) {
	case BTH_RC:
		return op;
	case BTH_XRC:
		return op->op == PKT_FLUSH ? NULL : op;
	case BTH_UC:
		return op->op <= PKT_WRITE && !(op->flags & PKT_INV) ? op : NULL;
	case BTH_UD:
		return op->op == PKT_SEND && (op->flags & ONLY) == ONLY && !(op->flags & PKT_INV)
			       ? op
			       : NULL;
	default:
		return NULL;
	}
}

const char *bth_op_name(uint8_t opcode)
{
	return names[opcode % BTH_NUM_OPS];
}

uint16_t bth_headers(enum bth_service service, const struct bth_op *op)
{
	uint16_t headers = op->headers;

	if (service == BTH_UD)
		headers |= HDR_DETH;
	if (service == BTH_XRC && !pkt_is_response(op->op))
		headers |= HDR_XRCETH;
	return headers;
}

bool bth_atomic_is_plain(const struct pkt *pkt)
{
	const struct pkt_atomic *atomic = pkt->atomic;

	if (pkt->op == PKT_CMP_SWAP)
		return !~atomic->mask && !~atomic->swap_mask;
	/* A carry out of bit 63 goes nowhere in any case. */
	return pkt->op != PKT_FETCH_ADD || !(atomic->mask << 1);
}
