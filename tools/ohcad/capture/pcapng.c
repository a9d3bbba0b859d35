// SPDX-License-Identifier: GPL-2.0
/* The capture file format pcapng. */

#include <endian.h>
#include <string.h>

#include "capture/pcapng.h"

#define BLOCK_SECTION 0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_STATISTICS 5
#define BLOCK_PACKET 6

#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define RESOLUTION_NS 9 /* a power of ten */

/* Options: of each block its own */
#define OPT_END 0
#define SHB_HARDWARE 2
#define SHB_OS 3
#define SHB_USERAPPL 4
#define IF_NAME 2
#define IF_MACADDR 6
#define IF_TSRESOL 9
#define EPB_FLAGS 2
#define EPB_DROPCOUNT 4
#define ISB_IFRECV 4
#define ISB_IFDROP 5

/* EPB_FLAGS has the direction, and from bit 2 on how a packet was addressed. */
#define TO_SHIFT 2
#define TO_ONE 1
#define TO_GROUP 2
#define TO_ALL 3

#define MAX_TEXT 255

#define ERF_INFINIBAND 21
#define ERF_VARYING_LEN 0x04

static uint8_t *put16(uint8_t *at, uint16_t val)
{
	memcpy(at, &val, sizeof(val));
	return at + sizeof(val);
}

static uint8_t *put32(uint8_t *at, uint32_t val)
{
	memcpy(at, &val, sizeof(val));
	return at + sizeof(val);
}

/* The upper half comes first. */
static uint8_t *put_time(uint8_t *at, uint64_t ns)
{
	return put32(put32(at, ns >> 32), ns);
}

static uint8_t *pad(uint8_t *at, size_t len)
{
	size_t more = -len & 3;

	memset(at, 0, more);
	return at + more;
}

static uint8_t *put_option(uint8_t *at, uint16_t code, const void *value, size_t len)
{
	at = put16(put16(at, code), len);
	memcpy(at, value, len);
	return pad(at + len, len);
}

static uint8_t *put_text(uint8_t *at, uint16_t code, const char *text)
{
	return put_option(at, code, text, strnlen(text, MAX_TEXT));
}

/* A block begins and ends with its length. */
static size_t end_block(uint8_t *block, uint32_t type, uint8_t *at)
{
	uint32_t len;

	at = put16(put16(at, OPT_END), 0);
	len = at + sizeof(len) - block;
	put32(at, len);
	put32(put32(block, type), len);
	return len;
}

size_t pcapng_section(uint8_t *at, const char *hardware, const char *os, const char *program)
{
	uint8_t *pos = put32(at + 8, BYTE_ORDER_MAGIC);

	/* Version 1.0; a section of unknown length */
	pos = put16(put16(pos, 1), 0);
	pos = put32(put32(pos, ~0U), ~0U);
	pos = put_text(pos, SHB_HARDWARE, hardware);
	pos = put_text(pos, SHB_OS, os);
	pos = put_text(pos, SHB_USERAPPL, program);
	return end_block(at, BLOCK_SECTION, pos);
}

void pcapng_erf(uint8_t at[PCAPNG_ERF_LEN], uint32_t caplen, uint32_t len)
{
	uint16_t rlen = htobe16(PCAPNG_ERF_LEN + caplen), wlen = htobe16(len);

	/* The time stamp is the block's. */
	memset(at, 0, PCAPNG_ERF_LEN);
	at[8] = ERF_INFINIBAND;
	at[9] = ERF_VARYING_LEN;
	memcpy(at + 10, &rlen, sizeof(rlen));
	memcpy(at + 14, &wlen, sizeof(wlen));
}

size_t pcapng_interface(uint8_t *at, enum pcapng_link link, const char *name, const uint8_t *mac,
			uint32_t snaplen)
{
	uint8_t *pos = put16(put16(at + 8, link), 0);

	pos = put32(pos, snaplen);
	pos = put_text(pos, IF_NAME, name);
	if (mac)
		pos = put_option(pos, IF_MACADDR, mac, 6);
	pos = put_option(pos, IF_TSRESOL, &(uint8_t){RESOLUTION_NS}, 1);
	return end_block(at, BLOCK_INTERFACE, pos);
}

static uint32_t addressed_to(const uint8_t *frame)
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (!(frame[0] & 1))
		return TO_ONE;
	return memcmp(frame, all, sizeof(all)) ? TO_GROUP : TO_ALL;
}

size_t pcapng_packet(uint8_t *at, const struct pcapng_packet *packet)
{
	uint32_t flags = packet->dir;
	uint8_t *pos = put32(at + 8, packet->iface);

	pos = put_time(pos, packet->time);
	pos = put32(put32(pos, packet->caplen), packet->len);
	if (packet->link == PCAPNG_ETHERNET && packet->caplen >= 6)
		flags |= addressed_to(pos) << TO_SHIFT;
	pos = pad(pos + packet->caplen, packet->caplen);
	pos = put_option(pos, EPB_FLAGS, &flags, sizeof(flags));
	if (packet->dropped)
		pos = put_option(pos, EPB_DROPCOUNT, &packet->dropped, sizeof(packet->dropped));
	return end_block(at, BLOCK_PACKET, pos);
}

size_t pcapng_statistics(uint8_t *at, uint32_t iface, uint64_t time, uint64_t seen,
			 uint64_t dropped)
{
	uint8_t *pos = put_time(put32(at + 8, iface), time);

	pos = put_option(pos, ISB_IFRECV, &seen, sizeof(seen));
	pos = put_option(pos, ISB_IFDROP, &dropped, sizeof(dropped));
	return end_block(at, BLOCK_STATISTICS, pos);
}

size_t pcapng_whole(const uint8_t *at, size_t len)
{
	size_t whole = 0;
	uint32_t block;

	while (len - whole >= 8) {
		memcpy(&block, at + whole + 4, sizeof(block));
		if (block > len - whole)
			break;
		whole += block;
	}
	return whole;
}
