/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory keys: protection domain, access, bounds, translation.  mkey.c creates keys, checks
 * accesses and resolves their addresses.  mkey_cmd.c has the commands, transport/local_op.c the
 * work requests on keys.
 */

#ifndef OHCAD_MKEY_H
#define OHCAD_MKEY_H

#include <sys/uio.h>

#include "device/hca.h"
#include "mem/odp.h"
#include "device/xlt.h"

#define MKEY_ACCESS_REMOTE \
	(OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ | OHCA_ACCESS_REMOTE_ATOMIC)
#define MKEY_ACCESS_FLUSH (OHCA_ACCESS_FLUSH_GLOBAL | OHCA_ACCESS_FLUSH_PERSISTENT)
/* Rights that a region may have */
#define MKEY_ACCESS_REGION \
	(OHCA_ACCESS_LOCAL_WRITE | MKEY_ACCESS_REMOTE | MKEY_ACCESS_FLUSH | OHCA_ACCESS_MW_BIND)

#define MKEY_LOW_MASK 0xffU /* the bits of a key that software may change */

/**
 * struct mkey - a memory region or window
 * @key: the whole key
 * @pdn: protection domain
 * @access: OHCA_ACCESS_*
 * @type: enum ohca_mkey_type
 * @special: not simply a region in use: mkey_check() has to check more
 * @valid: a region that has its pages, or a window that is bound
 * @windows: region: number of windows bound to it
 * @iova: address of the first byte; 0 for OHCA_MKEY_DMA
 * @length: in bytes; for OHCA_MKEY_DMA the whole address space
 * @xlt: pages; for a window, a part of those of its region; for OHCA_MKEY_DMA, _DM and _ODP none
 * @next: of the same hash
 * @index: in hca.mkeys
 * @dm: OHCA_MKEY_DM: the device memory that the region is in
 * @dm_offset: OHCA_MKEY_DM: offset of the region in it
 * @odp: OHCA_MKEY_ODP: pages
 * @qpn: bound window of type 2B: the only QP that may use it; OHCA_MKEY_FAST_REG, not valid: the QP that has begun last to
 *	register its pages
 * @region: bound window: its region
 * @qp_next, @qp_link: bound window of type 2B: links of its QP's list (struct qp.windows)
 *
 * A pointer to one is valid until commands or local operations are executed again.
 */
struct mkey {
	uint32_t key;
	uint32_t pdn;
	uint8_t access;
	uint8_t type;
	bool special;
	bool valid;
	uint32_t windows;
	uint64_t iova;
	uint64_t length;
	struct xlt xlt;
	/* The members from here on are not used by most accesses to host memory. */
	struct mkey *next;
	uint32_t index;
	struct dm *dm;
	uint64_t dm_offset;
	struct odp *odp;
	uint32_t qpn;
	struct mkey *region;
	struct mkey *qp_next, **qp_link;
} __attribute__((aligned(64)));

/**
 * struct mkey_access - a QP, and the access that it asks for
 * @pdn: protection domain of the QP
 * @access: OHCA_ACCESS_* that the key must grant; 0: local read
 * @privileged: the QP may use HCA_RESERVED_LKEY (never for remote access)
 * @qpn: remote access: number of the QP
 */
struct mkey_access {
	uint32_t pdn;
	uint8_t access;
	bool privileged;
	uint32_t qpn;
};

#define MKEY_RECENT 64 /* a power of two */
#define MKEY_RANDOM 64
#define MKEY_HASH_BITS 16

/**
 * struct mkey_space - the keys of an HCA
 * @recent: recently used objects, by some bits of their keys
 * @random, @num_random: random numbers for the next keys; each is used once
 * @heads: all objects, by a hash of bits 31:8 of their keys
 */
struct mkey_space {
	struct mkey *recent[MKEY_RECENT];
	uint32_t random[MKEY_RANDOM];
	unsigned int num_random;
	struct mkey *heads[1 << MKEY_HASH_BITS];
};

/**
 * struct mkey_missing - a page of a region of type OHCA_MKEY_ODP that an access needs and that is
 *	missing
 * @mkey: the region
 * @pos: offset of the first missing byte from the beginning of the region's first page
 * @len: bytes that the access needs from there on
 * @rest: sge_resolve_span(): bytes that the list's element has from there on
 * @write: the access is a write
 */
struct mkey_missing {
	const struct mkey *mkey;
	uint64_t pos;
	uint64_t len;
	uint64_t rest;
	bool write;
};

/* The object of a whole key, or of bits 31:8 of one; NULL if there is none. */
struct mkey *mkey_find(struct hca *hca, uint32_t key);
struct mkey *mkey_find_name(struct hca *hca, uint32_t key);

/* Check key, protection domain and access as mkey_check() does, without bounds. */
int mkey_check_whole(struct hca *hca, uint32_t key, const struct mkey_access *who);

/*
 * Check key, protection domain, access and bounds.  Returns 0 and stores the region or window
 * (NULL for the reserved key), or returns OHCA_VENDOR_ERR_KEY, _PD, _KEY_STATE, _ACCESS or
 * _BOUNDS.  @length 0 checks nothing and stores NULL.
 */
int mkey_check(struct hca *hca, uint32_t key, const struct mkey_access *who, uint64_t addr,
	       uint64_t length, struct mkey **mkey);

/*
 * A result beside OHCA_VENDOR_ERR_*: a page of a region of type OHCA_MKEY_ODP is missing.  struct
 * mkey_missing describes it, and page_fault_wait() waits for it.
 */
#define MKEY_MISSING 0x100

/*
 * Check whether the pages that a checked access to such a region needs are present.  Returns 0 or
 * MKEY_MISSING.
 */
int mkey_check_pages(const struct mkey *mkey, uint64_t addr, uint64_t length, bool write,
		     struct mkey_missing *missing);

/*
 * Resolve [addr, addr + length), which was checked before, into pieces of this process's memory.
 * @mkey NULL: the reserved key; addresses are used as they are.  Appends to @iov from *@num on, up
 * to @max pieces.  Returns the number of bytes resolved, which is less than @length if there are
 * more pieces: call again for the rest.  Returns -OHCA_VENDOR_ERR_DMA if there is no memory at an
 * address, or -MKEY_MISSING and fills *@missing.
 */
int64_t mkey_resolve(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
		     bool write, struct iovec *iov, unsigned int *num, unsigned int max,
		     struct mkey_missing *missing);

/* Whether a region may have these rights */
static inline bool mkey_access_fits(uint8_t access)
{
	return !(access & ~MKEY_ACCESS_REGION) &&
	       (!(access & (OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_ATOMIC)) ||
		access & OHCA_ACCESS_LOCAL_WRITE);
}

/* Whether a region may have this range of addresses */
static inline bool mkey_range_fits(uint64_t iova, uint64_t length)
{
	return length && length <= HCA_MAX_MR && iova + (length - 1) >= iova;
}

/* Draw random numbers for the next keys.  Returns 0 or -errno. */
int mkey_space_init(struct mkey_space *keys);

/* Allocate an index and a key for @mkey.  Returns OHCA_CMD_OK or OHCA_CMD_NO_RESOURCE. */
enum ohca_cmd_status mkey_add(struct hca *hca, struct mkey *mkey);
void mkey_del(struct hca *hca, struct mkey *mkey);

extern const struct object_class mkey_class;

#endif
