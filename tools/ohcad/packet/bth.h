/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets from the base transport header on (InfiniBand specification volume 1, chapter 9): BTH, extension
 * headers, payload and padding, up to the invariant CRC.  They are the same on every link layer.
 */

#ifndef OHCAD_BTH_H
#define OHCAD_BTH_H

#include <stddef.h>

#include "base/iov.h"
#include "packet/bytes.h"
#include "packet/gid.h"
#include "packet/pkt.h"

#define BTH_LEN 12
#define IMM_LEN 4
#define DETH_LEN 8
#define ICRC_LEN 4

/* BTH and all extension headers that a packet may have are shorter than this. */
#define BTH_MAX_HEADERS 64

#define QPN_MASK 0xffffffU
#define BTH_SOLICITED 0x80 /* in byte 1, with the pad count */
#define BTH_MIG_REQ 0x40 /* likewise */
#define BTH_PAD_SHIFT 4
#define BTH_ACK_REQ 0x80 /* in byte 8 */

/* The upper three bits of an opcode */
enum bth_service {
	BTH_RC = 0,
	BTH_UC = 1,
	BTH_UD = 3,
	BTH_CONTROL = 4, /* congestion notification, BTH_OP_CNP, and nothing else */
	BTH_XRC = 5,
};

/* The lower five bits */
enum bth_opcode {
	BTH_OP_SEND_FIRST = 0x00,
	BTH_OP_SEND_MIDDLE = 0x01,
	BTH_OP_SEND_LAST = 0x02,
	BTH_OP_SEND_LAST_IMM = 0x03,
	BTH_OP_SEND_ONLY = 0x04,
	BTH_OP_SEND_ONLY_IMM = 0x05,
	BTH_OP_WRITE_FIRST = 0x06,
	BTH_OP_WRITE_MIDDLE = 0x07,
	BTH_OP_WRITE_LAST = 0x08,
	BTH_OP_WRITE_LAST_IMM = 0x09,
	BTH_OP_WRITE_ONLY = 0x0a,
	BTH_OP_WRITE_ONLY_IMM = 0x0b,
	BTH_OP_READ_REQUEST = 0x0c,
	BTH_OP_READ_FIRST = 0x0d,
	BTH_OP_READ_MIDDLE = 0x0e,
	BTH_OP_READ_LAST = 0x0f,
	BTH_OP_READ_ONLY = 0x10,
	BTH_OP_ACK = 0x11,
	BTH_OP_ATOMIC_ACK = 0x12,
	BTH_OP_CMP_SWAP = 0x13,
	BTH_OP_FETCH_ADD = 0x14,
	BTH_OP_SEND_LAST_INV = 0x16,
	BTH_OP_SEND_ONLY_INV = 0x17,
	BTH_OP_FLUSH = 0x1c,
	BTH_OP_ATOMIC_WRITE = 0x1d,
	BTH_OP_CNP = 0x01, /* of BTH_CONTROL */
};

#define BTH_NUM_OPS 32

/* Extension headers, in the order in which they come */
enum bth_header {
	HDR_XRCETH = 0x001,
	HDR_DETH = 0x002,
	HDR_FETH = 0x004,
	HDR_RETH = 0x008,
	HDR_ATOMICETH = 0x010,
	HDR_AETH = 0x020,
	HDR_ATOMICACKETH = 0x040,
	HDR_IMMDT = 0x080,
	HDR_IETH = 0x100,
	HDR_PAYLOAD = 0x200, /* no header: it may have payload */
};

/**
 * struct bth_op - what an opcode stands for
 * @valid: it is one
 * @op: PKT_*
 * @flags: PKT_FIRST, PKT_LAST, PKT_IMM, PKT_INV
 * @headers: enum bth_header; HDR_XRCETH and HDR_DETH depend on the service
 */
struct bth_op {
	bool valid;
	uint8_t op;
	uint8_t flags;
	uint16_t headers;
};

/* bth_op.c */

/* The opcode (five bits) of a packet; the burst of @pkt is one. */
enum bth_opcode bth_opcode(const struct pkt *pkt);
/* NULL if the service has no such operation. */
const struct bth_op *bth_op(enum bth_service service, uint8_t opcode);
/* As the specification calls it, in small letters with dashes; NULL if there is no such opcode. */
const char *bth_op_name(uint8_t opcode);
/* The headers that it has with the service. */
uint16_t bth_headers(enum bth_service service, const struct bth_op *op);
/* Has the atomic operation of @pkt an opcode?  Those whose masks are not the plain ones have none. */
bool bth_atomic_is_plain(const struct pkt *pkt);

/**
 * struct bth_path - the fields of the headers that name a packet's path
 * @service: enum bth_service
 * @mig_req: MigReq: the sender has migrated to its path
 * @qkey, @src_qpn: BTH_UD
 */
struct bth_path {
	uint8_t service;
	bool mig_req;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t src_qpn;
};

/* bth_encode.c */

/*
 * Make a packet of a burst of one at @at, from the BTH to the end of the padding: BTH_MAX_HEADERS + PKT_MAX_MTU
 * bytes at most.  Its payload is at @payload, which moves on.  Returns the end.
 */
uint8_t *bth_encode(uint8_t *at, const struct bth_path *path, const struct pkt *pkt,
		    struct iov_pos *payload);

/* What a packet that arrived turns out to be */
enum packet_verdict {
	PACKET_OTHER, /* not one of the link layer's RDMA packets: a frame like others */
	PACKET_GOOD,
	PACKET_MALFORMED,
	PACKET_BAD_CRC,
	PACKET_CNP, /* a congestion notification */
};

/**
 * struct bth_packet - a packet that arrived
 * @data: transport headers and all that follows, of @len bytes with the invariant CRC
 * @service: enum bth_service
 * @mig_req: MigReq
 * @pkt: a burst of one packet; it points to @atomic, @payload and @word
 * @qkey, @src_qpn: BTH_UD
 */
struct bth_packet {
	const uint8_t *data;
	size_t len;
	uint8_t service;
	bool mig_req;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t src_qpn;
	struct pkt pkt;
	struct pkt_atomic atomic;
	struct iovec payload;
	uint64_t word;
};

/* bth_decode.c */

/* Fill what follows @len, of a packet of at least BTH_LEN + ICRC_LEN bytes whose CRC is good. */
enum packet_verdict bth_decode(struct bth_packet *p);

#endif
