/* SPDX-License-Identifier: GPL-2.0 */
/* Gather and scatter lists: checked, and made into pieces of this process's memory. */

#ifndef OHCAD_SGE_H
#define OHCAD_SGE_H

#include "base/iov.h"
#include "mem/mkey.h"
#include "ohca/ohca_queue.h"

/* So many bytes are resolved at once: a page each, and two more pieces for the ends of each element. */
#define SGE_MAX_LEN (256U << 10)
#define SGE_MAX_IOV (SGE_MAX_LEN / 4096 + 2 * OHCA_MAX_SGE + 2)

/* Bytes of regions whose pages come and go that are looked for before an answer is asked for. */
#define SGE_CHECK_BYTES (2048 * ODP_PAGE_SIZE)

/**
 * struct sge_rights - whose list it is
 * @pdn: protection domain
 * @privileged: it may use HCA_RESERVED_LKEY
 */
struct sge_rights {
	uint32_t pdn;
	bool privileged;
};

/**
 * struct sge_span - bytes of a gather or scatter list
 * @sge: the list (a copy)
 * @num_sge: elements
 * @off: first byte in the list
 * @len: bytes, all of them in the list
 * @write: for writing
 * @rights: with which it is used
 * @missing: tells of a page that is missing
 */
struct sge_span {
	const struct ohca_sge *sge;
	uint32_t num_sge;
	uint64_t off;
	uint64_t len;
	bool write;
	struct sge_rights rights;
	struct mkey_missing *missing;
};

/* Sum of the lengths of a list. */
uint64_t sge_len(const struct ohca_sge *sge, uint32_t num_sge);

/*
 * Check keys, bounds and access of the bytes, and whether pages of regions whose pages come and go
 * are there, as far as SGE_CHECK_BYTES.  Returns 0, OHCA_VENDOR_ERR_* or MKEY_MISSING.
 */
int sge_check_span(struct hca *hca, const struct sge_span *span);

/*
 * Check and resolve the bytes to at most SGE_MAX_IOV pieces, *@num of them.  Returns how many
 * bytes were resolved, fewer than asked for if there are more pieces, or a negative
 * OHCA_VENDOR_ERR_* or MKEY_MISSING.
 */
int64_t sge_resolve_span(struct hca *hca, const struct sge_span *span, struct iovec *iov,
			 unsigned int *num);

/*
 * Copy from @src, which moves on, to the bytes; @tail: see iov_copy().  Returns 0, OHCA_VENDOR_ERR_*
 * or MKEY_MISSING, with @span at what was not copied.
 */
static inline int sge_scatter(struct hca *hca, struct sge_span *span, struct iov_pos *src,
			      bool tail)
{
	struct iovec iov[SGE_MAX_IOV];
	unsigned int num;
	int64_t got;

	while (span->len) {
		got = sge_resolve_span(hca, span, iov, &num);
		if (got < 0)
			return -got;
		span->off += got;
		span->len -= got;
		iov_copy(iov, num, src, !span->len && tail);
	}
	return 0;
}

#endif
