/* SPDX-License-Identifier: GPL-2.0 */
/* Memory keys: protection domain, access, bounds, translation. */

#ifndef OHCAD_MKEY_H
#define OHCAD_MKEY_H

#include <sys/uio.h>

#include "hca.h"
#include "xlt.h"

/**
 * struct mkey - a memory region; a pointer to one is good until commands are executed again
 * @key: whole key
 * @pdn: protection domain
 * @dma: all host memory, identity mapped (xlt is empty)
 */
struct mkey {
	struct hca *hca;
	uint32_t key;
	uint32_t pdn;
	uint8_t access;
	bool dma;
	uint64_t iova;
	uint64_t length;
	struct xlt xlt;
};

/**
 * struct mkey_access - who asks for what
 * @pdn: protection domain of the QP
 * @access: OHCA_ACCESS_* that the region must grant, 0: local read
 * @privileged: the QP may use HCA_RESERVED_LKEY (never for remote access)
 */
struct mkey_access {
	uint32_t pdn;
	uint8_t access;
	bool privileged;
};

/*
 * Check key, protection domain, access and bounds.  Returns 0 and stores the region (NULL for the
 * reserved key), or returns OHCA_VENDOR_ERR_KEY, _PD, _ACCESS or _BOUNDS.  @length 0 checks
 * nothing and stores NULL.
 */
int mkey_check(struct hca *hca, uint32_t key, const struct mkey_access *who, uint64_t addr,
	       uint64_t length, struct mkey **mkey);

/*
 * Resolve [addr, addr + length) of a region that was checked into pieces of this process's
 * memory.  @mkey NULL: identity (reserved key).  Appends to @iov from *@num on, up to @max
 * pieces; returns the bytes resolved (fewer than @length when the pieces ran out: call again for
 * the rest), or -1 if there is no memory at an address (OHCA_VENDOR_ERR_DMA).
 */
int64_t mkey_resolve(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
		     bool write, struct iovec *iov, unsigned int *num, unsigned int max);

/* Draw the random numbers of @keys.  Returns 0 or -errno. */
int mkey_space_init(struct mkey_space *keys);

/* Free all: reset. */
void mkey_reset_all(struct hca *hca);

#endif
