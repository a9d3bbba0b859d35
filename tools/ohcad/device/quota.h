/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quotas: what the software of one HCA may take of the memory of this process, so that it takes nothing from the
 * software of others.
 */

#ifndef OHCAD_QUOTA_H
#define OHCAD_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum quota_kind - what is limited
 * @QUOTA_PAGES: entries of lists of pages, of 8 bytes each: those of memory regions, of on-demand paging, and of queues
 * @QUOTA_MEMORY: bytes of objects: QPs, SRQs and CQs with what they have for each entry, UARs, memory keys, counters, tables
 *	of receive queues
 * @QUOTA_FLOWS: flows
 * @QUOTA_GROUPS: multicast groups
 * @QUOTA_MEMBERS: memberships of QPs in them
 * @QUOTA_LOG: log lines about what the software does; they are given back one per second
 */
enum quota_kind {
	QUOTA_PAGES,
	QUOTA_MEMORY,
	QUOTA_FLOWS,
	QUOTA_GROUPS,
	QUOTA_MEMBERS,
	QUOTA_LOG,
	QUOTA_NUM
};

/**
 * struct quota_desc - a kind of quota
 * @name: in options and in the output of the control socket
 * @normal: if no option says otherwise
 */
struct quota_desc {
	const char *name;
	uint64_t normal;
};

extern const struct quota_desc quota_descs[QUOTA_NUM];

/**
 * struct quota - a quota of an HCA
 * @kind: enum quota_kind
 * @max: so much may be used
 * @used: so much is
 * @refused: times that more was wanted
 */
struct quota {
	uint8_t kind;
	uint64_t max;
	uint64_t used;
	uint64_t refused;
};

/**
 * struct quota_options - the command line's quotas of an HCA
 * @given: bit n: @max of kind n was given; the others have their normal one
 */
struct quota_options {
	uint32_t given;
	uint64_t max[QUOTA_NUM];
};

void quotas_init(struct quota quotas[QUOTA_NUM], const struct quota_options *opts);

/* Take @num of it, which quota_release() gives back.  Returns false if there is not so much. */
bool quota_charge(struct quota *quota, uint64_t num);
void quota_release(struct quota *quota, uint64_t num);

/*
 * Allocate an object of @size bytes, all zero, for which @num of the quota are taken.  Returns NULL if there is not so
 * much, or no memory.  quota_free() frees it, and gives them back.
 */
void *quota_calloc(struct quota *quota, uint64_t num, size_t size);
void quota_free(struct quota *quota, uint64_t num, void *object);

#endif
