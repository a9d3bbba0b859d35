/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets of the connected transport, between QPs of this process or with others on the wire.
 *
 * A struct pkt holds the fields of the InfiniBand transport headers (specification volume 1,
 * chapter 9) and a reference to the payload in the sender's memory.  It is a burst: packets with
 * consecutive PSNs of one message, so that a link within the process does not pay for each MTU.
 * A link that leaves the process cuts it up as follows.
 *
 * Packet i of the burst (0 <= i < npsn) has PSN psn + i and the MTU bytes of payload from i * MTU
 * on; the last one has what is left.  With F for "i is 0 and PKT_FIRST is set" and L for "i is
 * npsn - 1 and PKT_LAST is set" its BTH opcode is
 *
 *	op		F and L		F only		neither		L only
 *	PKT_SEND	SEND Only	SEND First	SEND Middle	SEND Last
 *	PKT_WRITE	WRITE Only	WRITE First	WRITE Middle	WRITE Last
 *	PKT_READ_RESP	RESP Only	RESP First	RESP Middle	RESP Last
 *
 * with the variants "with Immediate" of Only and Last for PKT_IMM, "with Invalidate" for PKT_INV.
 * PKT_WRITE has a RETH where F,
 * PKT_READ_RESP an AETH where F or L.  All others are one packet each, whatever @npsn says (a READ
 * request consumes as many PSNs as it has responses).  PKT_CMP_SWAP and PKT_FETCH_ADD have an
 * AtomicETH; one with masks that are not those of the plain operation has no opcode there, and is not
 * sent (link_has_opcode()).
 * PKT_ATOMIC_WRITE has a RETH and 8 bytes of payload, PKT_FLUSH a FETH and a RETH; a
 * PKT_READ_RESP without payload answers both.  The 8 bytes of payload of PKT_ATOMIC_RESP, as they
 * were in memory, are what the AtomicAckETH holds.  Requests of an XRC initiator have an XRCETH
 * each.  The solicited event bit and the ACK request bit belong to the last packet.  The destination
 * QP, the partition, the path and MigReq are those of the sender's connection.
 *
 * A receiver takes a burst whole or not at all (but for a front part that it has seen before),
 * and one of any length.
 */

#ifndef OHCAD_PKT_H
#define OHCAD_PKT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/types.h>

enum pkt_op {
	PKT_SEND,
	PKT_WRITE,
	PKT_READ_REQ,
	PKT_CMP_SWAP,
	PKT_FETCH_ADD,
	PKT_ATOMIC_WRITE,
	PKT_FLUSH,
	PKT_READ_RESP,
	PKT_ATOMIC_RESP,
	PKT_ACK,
};

/* A request that a response answers, rather than an acknowledgment. */
static inline bool pkt_is_read_atomic(uint8_t op)
{
	return op >= PKT_READ_REQ && op < PKT_READ_RESP;
}

/* An answer. */
static inline bool pkt_is_response(uint8_t op)
{
	return op >= PKT_READ_RESP;
}

#define PKT_FIRST 0x01 /* starts a message */
#define PKT_LAST 0x02 /* ends a message */
#define PKT_IMM 0x04 /* with immediate data */
#define PKT_SOLICITED 0x08 /* solicited event */
#define PKT_ACK_REQ 0x10 /* acknowledge request */
#define PKT_INV 0x20 /* with a key to invalidate */

/**
 * struct pkt_atomic - operands; @mask is all ones for PKT_CMP_SWAP, 0 for PKT_FETCH_ADD if the
 *	operation is a plain one
 * @compare_add: value to compare with, or to add
 * @swap: PKT_CMP_SWAP: value to store
 * @mask: PKT_CMP_SWAP: bits to compare; PKT_FETCH_ADD: most significant bit of each field
 * @swap_mask: PKT_CMP_SWAP: bits to store
 */
struct pkt_atomic {
	uint64_t compare_add;
	uint64_t swap;
	uint64_t mask;
	uint64_t swap_mask;
};

#define PKT_FLUSH_MR 0x10 /* all of the region, whatever the RETH says */

/**
 * struct pkt - a burst of packets
 * @op: enum pkt_op
 * @flags: PKT_*
 * @syndrome: AETH
 * @flush: FETH: OHCA_FLUSH_GLOBAL, OHCA_FLUSH_PERSISTENT, PKT_FLUSH_MR
 * @psn: of the first packet
 * @npsn: number of packets
 * @msn: AETH, 24 bits
 * @imm: immediate data, as the sender's software wrote it
 * @inv_key: IETH
 * @va: RETH
 * @rkey: RETH
 * @dma_len: RETH
 * @atomic: AtomicETH; valid until the receiver returns
 * @srqn: XRCETH
 * @iov: payload; valid until the receiver returns
 * @num: pieces of @iov
 * @len: bytes of payload
 */
struct pkt {
	uint8_t op;
	uint8_t flags;
	uint8_t syndrome;
	uint8_t flush;
	uint32_t psn;
	uint32_t npsn;
	uint32_t msn;
	union {
		__be32 imm;
		uint32_t inv_key;
	};
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_len;
	const struct pkt_atomic *atomic;
	uint32_t srqn;
	const struct iovec *iov;
	unsigned int num;
	uint32_t len;
};

#define PKT_MAX_MTU 4096

/* Packet sequence numbers: 24 bits. */
#define PSN_MASK 0xffffffU
#define PSN_WINDOW (1U << 23) /* more can't be outstanding (specification, 9.7.2) */

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

/* How far @a is after @b; negative: before. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* Is @a after @b?  For two that differ by up to PSN_WINDOW, and @a is not before @b if it is the whole PSN_WINDOW. */
static inline bool psn_after(uint32_t a, uint32_t b)
{
	return ((a - b - 1) & PSN_MASK) < PSN_WINDOW;
}

/* Of how many packets is it on a link that cuts it up? */
static inline uint32_t pkt_num_parts(const struct pkt *burst)
{
	bool cut = burst->op == PKT_SEND || burst->op == PKT_WRITE || burst->op == PKT_READ_RESP;

	return cut ? burst->npsn : 1;
}

/* Packet @i of them, with no payload yet, but its length. */
static inline struct pkt pkt_part(const struct pkt *burst, uint32_t i, uint8_t mtu_shift)
{
	uint32_t num = pkt_num_parts(burst), off = i << mtu_shift;
	struct pkt part = *burst;

	if (num == 1)
		return part;
	part.psn = psn_add(burst->psn, i);
	part.npsn = 1;
	part.len = burst->len - off < 1U << mtu_shift ? burst->len - off : 1U << mtu_shift;
	if (i)
		part.flags &= ~PKT_FIRST;
	if (i < num - 1)
		part.flags &= ~(PKT_LAST | PKT_IMM | PKT_INV | PKT_SOLICITED | PKT_ACK_REQ);
	return part;
}

/* Largest payload of a burst */
#define PKT_MAX_LEN (256U << 10)

/* AETH syndrome (specification, 9.7.5.1): two bits of kind, five of value. */
#define AETH_KIND_MASK 0xe0
#define AETH_VALUE_MASK 0x1f
#define AETH_ACK 0x00
#define AETH_RNR_NAK 0x20
#define AETH_NAK 0x60

#define AETH_ACK_NO_CREDITS (AETH_ACK | 0x1f) /* ACK without end to end credits */
#define AETH_MAX_CREDITS 32768
#define AETH_NAK_PSN_SEQ (AETH_NAK | 0)
#define AETH_NAK_INV_REQ (AETH_NAK | 1)
#define AETH_NAK_REM_ACCESS (AETH_NAK | 2)
#define AETH_NAK_REM_OP (AETH_NAK | 3)

/* The code of so many credits, or of the next lower number that has one (table 46 of 9.7.7.2) */
static inline uint8_t aeth_credit_code(uint32_t credits)
{
	unsigned int log;

	if (credits < 2)
		return credits;
	if (credits > AETH_MAX_CREDITS)
		credits = AETH_MAX_CREDITS;
	log = 31 - __builtin_clz(credits);
	return 2 * log + (credits >> (log - 1) & 1);
}

/* The credits of a code, which is not that of AETH_ACK_NO_CREDITS */
static inline uint32_t aeth_credits(uint8_t code)
{
	return code < 2 ? code : (2U | (code & 1)) << (code / 2 - 1);
}

#endif
