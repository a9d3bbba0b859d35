/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 packets as they are on an Ethernet (InfiniBand specification volume 1, chapters 5 and 9, and
 * annex A17): Ethernet header, VLAN tag, IPv4 or IPv6, UDP, transport headers, payload, padding, CRC.
 */

#ifndef OHCAD_ROCE_H
#define OHCAD_ROCE_H

#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "packet/bth.h"
#include "packet/gid.h"

#define ROCE_UDP_PORT 4791
#define ROCE_UDP_LEN 8
#define ROCE_IPV4_LEN 20
#define ROCE_IPV6_LEN 40

/* All that a packet has beside its payload is shorter than this. */
#define ROCE_MAX_OVERHEAD 160
#define ROCE_MAX_FRAME (PKT_MAX_MTU + ROCE_MAX_OVERHEAD)

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
 * @sport: UDP source port
 */
struct roce_path {
	const struct ohca_av *av;
	const struct gid_entry *from;
	uint16_t sport;
	struct bth_path bth;
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

/**
 * struct roce_packet - a packet that arrived
 * @vlan: or OHCA_VLAN_NONE
 * @sl: priority of the VLAN tag, or 0
 * @ip: network header, of @ip_len bytes
 */
struct roce_packet {
	const uint8_t *dmac, *smac;
	uint8_t sgid[16], dgid[16];
	uint16_t vlan;
	uint8_t sl;
	uint8_t tclass;
	const uint8_t *ip;
	size_t ip_len;
	struct bth_packet bth;
};

/* roce_decode.c */

/* Look at the network headers only: fills the fields before @bth, and of it data and len. */
enum packet_verdict roce_peek(struct roce_packet *p, const uint8_t *frame, size_t len);
/* The rest of what roce_peek() found good; @p refers to the frame. */
enum packet_verdict roce_decode(struct roce_packet *p);

#endif
