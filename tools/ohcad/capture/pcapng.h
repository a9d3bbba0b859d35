/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The capture file format pcapng (IETF draft-ietf-opsawg-pcapng), as far as it is written here: one
 * section, in this machine's byte order, of interfaces with time stamps in nanoseconds.
 *
 * No library is used: libpcap writes only the older format, which has neither interfaces nor
 * directions. Wireshark's library needs all of Wireshark, and DPDK's needs DPDK.
 */

#ifndef OHCAD_PCAPNG_H
#define OHCAD_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

/* A block that is not a packet's is shorter than this. */
#define PCAPNG_MAX_BLOCK 1024
/* What a packet's block has before the packet, and at most after it. */
#define PCAPNG_PACKET_HEAD 28
#define PCAPNG_PACKET_TAIL 32
/* A block of statistics has this length. */
#define PCAPNG_STATISTICS_LEN 52

/*
 * What the packets of an interface begin with: the numbers of link types.  Wireshark does not read the type that
 * was meant for InfiniBand, but packets of it in ERF records: PCAPNG_ERF_LEN bytes before the packet.
 */
enum pcapng_link {
	PCAPNG_ETHERNET = 1,
	PCAPNG_ERF = 197,
};

#define PCAPNG_ERF_LEN 16
/* The longest packet that a record's length, which includes those, has room for */
#define PCAPNG_ERF_MAX (UINT16_MAX - PCAPNG_ERF_LEN)

enum pcapng_dir {
	PCAPNG_IN = 1,
	PCAPNG_OUT = 2,
};

/**
 * struct pcapng_packet - what a packet's block says of it
 * @iface: number of the interface
 * @time: ns since 1970
 * @caplen: bytes that are in the file
 * @len: bytes that it had
 * @link: of the interface
 * @dropped: packets that are missing before it, at this interface
 */
struct pcapng_packet {
	uint32_t iface;
	uint64_t time;
	uint32_t caplen;
	uint32_t len;
	enum pcapng_dir dir;
	enum pcapng_link link;
	uint64_t dropped;
};

/* Each of these writes a block at @at, aligned to four bytes, and returns its length. */

/* The section header at the beginning of the file: captured on @hardware under @os, by @program. */
size_t pcapng_section(uint8_t *at, const char *hardware, const char *os, const char *program);
/*
 * An interface: the first one has number 0, the next one 1.  @mac may be NULL; @snaplen: how much
 * of a packet is in the file at most, 0: all.
 */
size_t pcapng_interface(uint8_t *at, enum pcapng_link link, const char *name, const uint8_t *mac,
			uint32_t snaplen);
/* The head of a record of an InfiniBand packet of @len bytes, @caplen of which are in the file. */
void pcapng_erf(uint8_t at[PCAPNG_ERF_LEN], uint32_t caplen, uint32_t len);
/* A packet, whose @caplen bytes are there already, PCAPNG_PACKET_HEAD after @at. */
size_t pcapng_packet(uint8_t *at, const struct pcapng_packet *packet);
/* Statistics of an interface: packets that passed, and packets that are not in the file. */
size_t pcapng_statistics(uint8_t *at, uint32_t iface, uint64_t time, uint64_t seen,
			 uint64_t dropped);

/* How many of the @len bytes at @at are whole blocks. */
size_t pcapng_whole(const uint8_t *at, size_t len);

#endif
