/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 packets as they are on an Ethernet (InfiniBand specification volume 1, chapters 5 and 9, and
 * annex A17): Ethernet header, VLAN tag, IPv4 or IPv6, UDP, transport headers, payload, padding, CRC.
 */

#ifndef OHCAD_ROCE_H
#define OHCAD_ROCE_H

#include "base/iov.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "packet/gid.h"
#include "packet/pkt.h"

#define ROCE_UDP_PORT 4791
#define ROCE_UDP_LEN 8
#define ROCE_IPV4_LEN 20
#define ROCE_IPV6_LEN 40
#define ROCE_BTH_LEN 12
#define ROCE_IMM_LEN 4
#define ROCE_DETH_LEN 8
#define ROCE_ICRC_LEN 4

/* All that a packet has beside its payload is shorter than this. */
#define ROCE_MAX_OVERHEAD 160
#define ROCE_MAX_FRAME (PKT_MAX_MTU + ROCE_MAX_OVERHEAD)

#define ROCE_PKEY_DEFAULT 0xffff
#define ROCE_PKEY_FULL 0x8000 /* full member */

#define ROCE_QPN_MASK 0xffffffU
#define ROCE_BTH_SOLICITED 0x80 /* in byte 1, with the pad count */
#define ROCE_BTH_PAD_SHIFT 4
#define ROCE_BTH_ACK_REQ 0x80 /* in byte 8 */

/* The upper three bits of an opcode */
enum roce_service {
	ROCE_RC = 0,
	ROCE_UC = 1,
	ROCE_UD = 3,
	ROCE_CONTROL = 4, /* congestion notification, ROCE_OP_CNP, and nothing else */
	ROCE_XRC = 5,
};

/* The lower five bits */
enum roce_opcode {
	ROCE_OP_SEND_FIRST = 0x00,
	ROCE_OP_SEND_MIDDLE = 0x01,
	ROCE_OP_SEND_LAST = 0x02,
	ROCE_OP_SEND_LAST_IMM = 0x03,
	ROCE_OP_SEND_ONLY = 0x04,
	ROCE_OP_SEND_ONLY_IMM = 0x05,
	ROCE_OP_WRITE_FIRST = 0x06,
	ROCE_OP_WRITE_MIDDLE = 0x07,
	ROCE_OP_WRITE_LAST = 0x08,
	ROCE_OP_WRITE_LAST_IMM = 0x09,
	ROCE_OP_WRITE_ONLY = 0x0a,
	ROCE_OP_WRITE_ONLY_IMM = 0x0b,
	ROCE_OP_READ_REQUEST = 0x0c,
	ROCE_OP_READ_FIRST = 0x0d,
	ROCE_OP_READ_MIDDLE = 0x0e,
	ROCE_OP_READ_LAST = 0x0f,
	ROCE_OP_READ_ONLY = 0x10,
	ROCE_OP_ACK = 0x11,
	ROCE_OP_ATOMIC_ACK = 0x12,
	ROCE_OP_CMP_SWAP = 0x13,
	ROCE_OP_FETCH_ADD = 0x14,
	ROCE_OP_SEND_LAST_INV = 0x16,
	ROCE_OP_SEND_ONLY_INV = 0x17,
	ROCE_OP_FLUSH = 0x1c,
	ROCE_OP_ATOMIC_WRITE = 0x1d,
	ROCE_OP_CNP = 0x01, /* of ROCE_CONTROL */
};

#define ROCE_NUM_OPS 32

/* Extension headers, in the order in which they come */
enum roce_header {
	ROCE_XRCETH = 0x001,
	ROCE_DETH = 0x002,
	ROCE_FETH = 0x004,
	ROCE_RETH = 0x008,
	ROCE_ATOMICETH = 0x010,
	ROCE_AETH = 0x020,
	ROCE_ATOMICACKETH = 0x040,
	ROCE_IMMDT = 0x080,
	ROCE_IETH = 0x100,
	ROCE_PAYLOAD = 0x200, /* no header: it may have payload */
};

/**
 * struct roce_op - what an opcode stands for
 * @valid: it is one
 * @op: PKT_*
 * @flags: PKT_FIRST, PKT_LAST, PKT_IMM, PKT_INV
 * @headers: enum roce_header; ROCE_XRCETH and ROCE_DETH depend on the service
 */
struct roce_op {
	bool valid;
	uint8_t op;
	uint8_t flags;
	uint16_t headers;
};

/* roce_op.c */

/* The opcode (five bits) of a packet; the burst of @pkt is one. */
enum roce_opcode roce_opcode(const struct pkt *pkt);
/* NULL if the service has no such operation. */
const struct roce_op *roce_op(enum roce_service service, uint8_t opcode);
/* As the specification calls it, in small letters with dashes; NULL if there is no such opcode. */
const char *roce_op_name(uint8_t opcode);
/* The headers that it has with the service. */
uint16_t roce_headers(enum roce_service service, const struct roce_op *op);
/* Has the atomic operation of @pkt an opcode?  Those whose masks are not the plain ones have none. */
bool roce_atomic_is_plain(const struct pkt *pkt);

/* roce_ip.c: network headers of a packet by @av from the GID @from */

bool roce_is_ipv4(const uint8_t gid[16]);
void roce_make_ipv4(uint8_t ip[ROCE_IPV4_LEN], const struct gid_entry *from,
		    const struct ohca_av *av, uint16_t udp_len);
void roce_make_ipv6(uint8_t ip[ROCE_IPV6_LEN], const struct gid_entry *from,
		    const struct ohca_av *av, uint16_t udp_len);

/* roce_icrc.c */

/*
 * The CRC of a packet (A17.3.3) whose @len bytes at @ip begin with a network header of @ip_len bytes
 * and end with the last byte of payload or padding; as the number that is stored little endian.
 */
uint32_t roce_icrc(const uint8_t *ip, size_t ip_len, size_t len);

/**
 * struct roce_path - how a packet gets to its QP
 * @av: where it goes
 * @from: the GID that it comes from
 * @service: enum roce_service
 * @sport: UDP source port
 * @qkey, @src_qpn: ROCE_UD
 */
struct roce_path {
	const struct ohca_av *av;
	const struct gid_entry *from;
	uint8_t service;
	uint16_t sport;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t src_qpn;
};

/* roce_encode.c */

/* The UDP source port of packets from @src_qpn to @dest_qpn: the same for all of them. */
uint16_t roce_sport(const struct ohca_av *av, uint32_t src_qpn, uint32_t dest_qpn);
/*
 * Make a frame of ROCE_MAX_FRAME bytes at most of a burst of one packet, whose payload is at @payload,
 * which moves on.  Returns its length.
 */
uint32_t roce_encode(uint8_t *frame, const struct roce_path *path, const struct pkt *pkt,
		     struct iov_pos *payload);

enum roce_verdict {
	ROCE_OTHER, /* not a RoCEv2 packet: a frame like others */
	ROCE_GOOD,
	ROCE_MALFORMED,
	ROCE_BAD_ICRC,
	ROCE_CNP, /* a congestion notification */
};

/**
 * struct roce_packet - a packet that arrived
 * @vlan: or OHCA_VLAN_NONE
 * @sl: priority of the VLAN tag, or 0
 * @ip: network header, of @ip_len bytes
 * @bth: transport headers and all that follows, of @len bytes
 * @service: enum roce_service
 * @pkt: a burst of one packet; it points to @atomic, @payload and @word
 * @qkey, @src_qpn: ROCE_UD
 */
struct roce_packet {
	const uint8_t *dmac, *smac;
	uint8_t sgid[16], dgid[16];
	uint16_t vlan;
	uint8_t sl;
	uint8_t tclass;
	const uint8_t *ip;
	size_t ip_len;
	const uint8_t *bth;
	size_t len;
	uint8_t service;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t qkey;
	uint32_t src_qpn;
	struct pkt pkt;
	struct pkt_atomic atomic;
	struct iovec payload;
	uint64_t word;
};

/* roce_decode.c */

/* Look at the network headers only: fills the fields before @service. */
enum roce_verdict roce_peek(struct roce_packet *p, const uint8_t *frame, size_t len);
/* The rest of what roce_peek() found good; @p refers to the frame. */
enum roce_verdict roce_decode(struct roce_packet *p);

static inline void roce_put16(uint8_t *to, uint16_t val)
{
	to[0] = val >> 8;
	to[1] = val;
}

static inline void roce_put32(uint8_t *to, uint32_t val)
{
	roce_put16(to, val >> 16);
	roce_put16(to + 2, val);
}

static inline void roce_put64(uint8_t *to, uint64_t val)
{
	roce_put32(to, val >> 32);
	roce_put32(to + 4, val);
}

static inline uint16_t roce_get16(const uint8_t *from)
{
	return from[0] << 8 | from[1];
}

static inline uint32_t roce_get32(const uint8_t *from)
{
	return (uint32_t)roce_get16(from) << 16 | roce_get16(from + 2);
}

static inline uint64_t roce_get64(const uint8_t *from)
{
	return (uint64_t)roce_get32(from) << 32 | roce_get32(from + 4);
}

#endif
