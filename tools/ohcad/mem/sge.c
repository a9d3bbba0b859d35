// SPDX-License-Identifier: GPL-2.0
/* Gather and scatter lists. */

#include <endian.h>

#include "mem/sge.h"

uint64_t sge_len(const struct ohca_sge *sge, uint32_t num_sge)
{
	uint64_t sum = 0;

	for (; num_sge; num_sge--, sge++)
		sum += le32toh(sge->length);
	return sum;
}

/**
 * struct span_iter - iterates over a span, one part for each element of the list
 * @addr, @len: the part in the element's region
 * @mkey: the region, NULL for the reserved key
 */
struct span_iter {
	struct hca *hca;
	const struct ohca_sge *sge;
	uint64_t skip, left;
	uint64_t addr, len;
	struct mkey *mkey;
	struct mkey_access who;
};

static void span_start(struct span_iter *it, struct hca *hca, const struct sge_span *span)
{
	it->hca = hca;
	it->sge = span->sge;
	it->skip = span->off;
	it->left = span->len;
	it->who.pdn = span->rights.pdn;
	it->who.access = span->write ? OHCA_ACCESS_LOCAL_WRITE : 0;
	it->who.privileged = span->rights.privileged;
}

/* Go to the next part and check it.  Returns 0 or OHCA_VENDOR_ERR_*.  @left must not be 0. */
static int span_next(struct span_iter *it)
{
	uint64_t len = le32toh(it->sge->length);

	while (it->skip >= len) {
		it->skip -= len;
		it->sge++;
		len = le32toh(it->sge->length);
	}
	it->addr = le64toh(it->sge->addr) + it->skip;
	it->len = len - it->skip;
	if (it->len > it->left)
		it->len = it->left;
	it->left -= it->len;
	it->skip = 0;
	return mkey_check(it->hca, le32toh(it->sge++->lkey), &it->who, it->addr, it->len,
			  &it->mkey);
}

/* A page of the present part is missing: store what the list's element has from there on. */
static int span_missing(const struct span_iter *it, struct mkey_missing *missing)
{
	const struct ohca_sge *sge = it->sge - 1;
	uint64_t at = missing->pos - missing->mkey->odp->offset + missing->mkey->iova;

	missing->rest = le32toh(sge->length) - (at - le64toh(sge->addr));
	return MKEY_MISSING;
}

int sge_check_span(struct hca *hca, const struct sge_span *span)
{
	uint64_t len, look = SGE_CHECK_BYTES;
	struct span_iter it;
	int err = 0;

	span_start(&it, hca, span);
	while (it.left && !err) {
		err = span_next(&it);
		if (err || !it.mkey || it.mkey->type != OHCA_MKEY_ODP)
			continue;
		len = it.len < look ? it.len : look;
		look -= len;
		if (mkey_check_pages(it.mkey, it.addr, len, span->write, span->missing))
			err = span_missing(&it, span->missing);
	}
	return err;
}

int64_t sge_resolve_span(struct hca *hca, const struct sge_span *span, struct iovec *iov,
			 unsigned int *num)
{
	struct span_iter it;
	int64_t sum = 0;
	int64_t got;
	int err;

	*num = 0;
	span_start(&it, hca, span);
	while (it.left && *num < SGE_MAX_IOV) {
		err = span_next(&it);
		if (err)
			return -err;
		got = mkey_resolve(hca, it.mkey, it.addr, it.len, span->write, iov, num,
				   SGE_MAX_IOV, span->missing);
		if (got < 0)
			return got == -MKEY_MISSING ? -span_missing(&it, span->missing) : got;
		sum += got;
		if ((uint64_t)got < it.len)
			break;
	}
	return sum;
}
