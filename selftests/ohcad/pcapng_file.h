/* SPDX-License-Identifier: GPL-2.0 */
/* Reads capture files strictly: any violation of the format fails the test. */

#ifndef SELFTESTS_OHCAD_PCAPNG_FILE_H
#define SELFTESTS_OHCAD_PCAPNG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PF_MAX_IFS 16
#define PF_ETHERNET 1
#define PF_ERF 197
#define PF_ERF_LEN 16
#define PF_IN 1
#define PF_OUT 2

/**
 * struct pf_if - an interface
 * @link: Ethernet frames, or InfiniBand packets with an ERF header
 * @stats: it has statistics: @seen and @dropped
 */
struct pf_if {
	uint32_t link;
	char name[256];
	bool has_mac;
	uint8_t mac[6];
	uint32_t snaplen;
	unsigned int packets;
	bool stats;
	uint64_t seen, dropped;
};

/**
 * struct pf_packet - a packet; @data are bytes of the file
 */
struct pf_packet {
	uint32_t iface;
	uint64_t time;
	const uint8_t *data;
	uint32_t caplen, len;
	unsigned int dir;
	unsigned int to; /* 1: one node, 2: a multicast group, 3: broadcast */
	uint64_t dropped;
};

/**
 * struct pf - a file
 */
struct pf {
	uint8_t *bytes;
	size_t size;
	char hardware[256], os[256], program[256];
	struct pf_if ifs[PF_MAX_IFS];
	unsigned int num_ifs;
	struct pf_packet *packets;
	unsigned int num;
};

struct pf *pf_read(const char *path);
void pf_free(struct pf *pf);
/* The interface of that name. */
unsigned int pf_find(const struct pf *pf, const char *name);

#endif
