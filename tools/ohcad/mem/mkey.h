/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory keys: protection domain, access, bounds, translation.  mkey.c makes keys and checks and
 * resolves what goes through them, mkey_cmd.c has the commands; local_op.c is what work requests
 * do to them.
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
/* Rights that a region may have. */
#define MKEY_ACCESS_REGION \
	(OHCA_ACCESS_LOCAL_WRITE | MKEY_ACCESS_REMOTE | MKEY_ACCESS_FLUSH | OHCA_ACCESS_MW_BIND)

#define MKEY_LOW_MASK 0xffU /* the bits of a key that software may change */

/**
 * struct mkey - a memory region or window; a pointer to one is good until commands or local
 *	operations are executed again
 * @key: whole key
 * @pdn: protection domain
 * @type: enum ohca_mkey_type
 * @special: not simply a region in use: mkey_check() has to look at more
 * @valid: a region that has its pages, or a window that is bound
 * @iova: of the first byte; 0 of OHCA_MKEY_DMA
 * @length: bytes; of OHCA_MKEY_DMA all that there are
 * @xlt: pages; of a window those of its region; of OHCA_MKEY_DMA, _DM and _ODP none
 * @dm: OHCA_MKEY_DM: the device memory in which it is
 * @dm_offset: OHCA_MKEY_DM: where in it
 * @odp: OHCA_MKEY_ODP: pages
 * @windows: region: windows bound to it
 * @qpn: bound window of type 2B: the only QP that may use it
 * @region: bound window: its region
 * @qp_next, @qp_link: bound window of type 2B: in the list of that QP (struct qp.windows)
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
	/* Not touched when host memory is. */
	struct dm *dm;
	uint64_t dm_offset;
	struct odp *odp;
	uint32_t qpn;
	struct mkey *region;
	struct mkey *qp_next, **qp_link;
} __attribute__((aligned(64)));

/**
 * struct mkey_access - who asks for what
 * @pdn: protection domain of the QP
 * @access: OHCA_ACCESS_* that the key must grant, 0: local read
 * @privileged: the QP may use HCA_RESERVED_LKEY (never for remote access)
 * @qpn: remote access: the QP
 */
struct mkey_access {
	uint32_t pdn;
	uint8_t access;
	bool privileged;
	uint32_t qpn;
};

#define MKEY_RECENT 64 /* a power of two */

/**
 * struct mkey_space - a keyed permutation of the words that bits 31:8 of keys are, and its inverse
 * @mul: odd multipliers
 * @inv: their inverses modulo 2^32
 * @seq: makes each use of an index a different key
 * @low: where the low bits come from
 * @recent: objects found last, by some bits of their names
 */
struct mkey_space {
	uint32_t mul[2];
	uint32_t inv[2];
	uint32_t seq;
	uint32_t low;
	struct mkey *recent[MKEY_RECENT];
};

/**
 * struct mkey_missing - the page of a region of type OHCA_MKEY_ODP that an access has missed
 * @mkey: the region
 * @pos: byte that it begins with, from the beginning of the region's first page
 * @len: bytes that are needed from there on
 * @rest: sge_resolve_span(): bytes that the list's element has from there on
 * @write: for writing
 */
struct mkey_missing {
	const struct mkey *mkey;
	uint64_t pos;
	uint64_t len;
	uint64_t rest;
	bool write;
};

/* The object of a whole key, and that of bits 31:8 of one; NULL if there is none. */
struct mkey *mkey_find(struct hca *hca, uint32_t key);
struct mkey *mkey_find_name(struct hca *hca, uint32_t key);

/*
 * Check key, protection domain and access, as mkey_check() does, for the object as a whole.
 */
int mkey_check_whole(struct hca *hca, uint32_t key, const struct mkey_access *who);

/*
 * Check key, protection domain, access and bounds.  Returns 0 and stores the region or window
 * (NULL for the reserved key), or returns OHCA_VENDOR_ERR_KEY, _PD, _KEY_STATE, _ACCESS or
 * _BOUNDS.  @length 0 checks nothing and stores NULL.
 */
int mkey_check(struct hca *hca, uint32_t key, const struct mkey_access *who, uint64_t addr,
	       uint64_t length, struct mkey **mkey);

/*
 * Beside OHCA_VENDOR_ERR_*: a page of a region of type OHCA_MKEY_ODP is missing, which struct
 * mkey_missing tells of.  page_fault_wait() waits for it.
 */
#define MKEY_MISSING 0x100

/*
 * Is what an access checked needs of such a region there: 0 or MKEY_MISSING?
 */
int mkey_check_pages(const struct mkey *mkey, uint64_t addr, uint64_t length, bool write,
		     struct mkey_missing *missing);

/*
 * Resolve [addr, addr + length) of what was checked into pieces of this process's memory.  @mkey
 * NULL: identity (reserved key).  Appends to @iov from *@num on, up to @max pieces; returns the
 * bytes resolved (fewer than @length when the pieces ran out: call again for the rest), or
 * -OHCA_VENDOR_ERR_DMA if there is no memory at an address, or -MKEY_MISSING, for which *@missing is
 * filled.
 */
int64_t mkey_resolve(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
		     bool write, struct iovec *iov, unsigned int *num, unsigned int max,
		     struct mkey_missing *missing);

/* May a region have these rights? */
static inline bool mkey_access_fits(uint8_t access)
{
	return !(access & ~MKEY_ACCESS_REGION) &&
	       (!(access & (OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_ATOMIC)) ||
		access & OHCA_ACCESS_LOCAL_WRITE);
}

/* Is it a range of addresses that a region may have? */
static inline bool mkey_range_fits(uint64_t iova, uint64_t length)
{
	return length && length <= HCA_MAX_MR && iova + (length - 1) >= iova;
}

/* Draw the random numbers of @keys.  Returns 0 or -errno. */
int mkey_space_init(struct mkey_space *keys);

/* Give @mkey an index and a key: OHCA_CMD_OK or NO_RESOURCE. */
enum ohca_cmd_status mkey_add(struct hca *hca, struct mkey *mkey);
void mkey_del(struct hca *hca, struct mkey *mkey);

extern const struct object_class mkey_class;

#endif
