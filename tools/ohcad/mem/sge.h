/* SPDX-License-Identifier: GPL-2.0 */
/* Gather and scatter lists: they are checked, and resolved into pieces of this process's memory. */

#ifndef OHCAD_SGE_H
#define OHCAD_SGE_H

#include "base/iov.h"
#include "mem/mkey.h"
#include "ohca/ohca_queue.h"

/*
 * The largest number of bytes that are resolved at once: one piece for each page, and two more for
 * the ends of each element
 */
#define SGE_MAX_LEN (256U << 10)
#define SGE_MAX_IOV (SGE_MAX_LEN / 4096 + 2 * OHCA_MAX_SGE + 2)

/* Bytes of ODP regions whose pages are checked before an operation begins */
#define SGE_CHECK_BYTES (8ULL << 20)

/**
 * struct sge_rights - rights of the list's owner
 * @pdn: its protection domain
 * @privileged: it may use HCA_RESERVED_LKEY
 */
struct sge_rights {
	uint32_t pdn;
	bool privileged;
};

/**
 * struct sge_span - bytes of a gather or scatter list
 * @sge: the list (a copy)
 * @num_sge: its elements
 * @off: offset of the first byte in the list
 * @len: bytes, all of them in the list
 * @write: the bytes are written
 * @rights: rights of the list's owner
 * @missing: describes a page that is missing
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

/* Sum of the lengths of a list */
uint64_t sge_len(const struct ohca_sge *sge, uint32_t num_sge);

/*
 * Check keys, bounds and access of the bytes.  Check also that pages of ODP regions are mapped, for
 * the first SGE_CHECK_BYTES.  Returns 0, OHCA_VENDOR_ERR_* or MKEY_MISSING.
 */
int sge_check_span(struct hca *hca, const struct sge_span *span);

/*
 * Check the bytes and resolve them into at most SGE_MAX_IOV pieces, *@num of them.  Returns how
 * many bytes were resolved (fewer than asked for if there are more pieces), or a negative
 * OHCA_VENDOR_ERR_* or MKEY_MISSING.
 */
int64_t sge_resolve_span(struct hca *hca, const struct sge_span *span, struct iovec *iov,
			 unsigned int *num);

/*
 * Copy from @src, which advances, to the bytes; for @tail see iov_copy().  Returns 0,
 * OHCA_VENDOR_ERR_* or MKEY_MISSING; @span is then what was not copied.
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
