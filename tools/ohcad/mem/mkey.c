// SPDX-License-Identifier: GPL-2.0
/*
 * Memory keys: creation, and the checks of an access.
 *
 * A key names its object by bits 31:8.  They are a permutation, keyed per HCA at random, of a word
 * with the object's index in the table (low KEY_INDEX_BITS) and a sequence number (the other bits).
 * So neighbouring objects have unrelated keys, and a key is not used again when its index is.  A
 * lookup costs one memory access if the key was used recently, else two multiplications and a table
 * access.  The low 8 bits are random at first; software may change them.  They have to match as
 * well.
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "mem/dm.h"
#include "mem/mkey.h"

#define KEY_INDEX_BITS 20
#define KEY_INDEX_MASK ((1U << KEY_INDEX_BITS) - 1)
#define KEY_LOW_BITS 8

_Static_assert(HCA_MAX_MKEY <= KEY_INDEX_MASK + 1, "indexes fit in a key");

/* Inverse of an odd number modulo 2^32: each Newton step doubles the number of good bits. */
static uint32_t inverse(uint32_t odd)
{
	uint32_t inv = odd;
	int i;

	for (i = 0; i < 5; i++)
		inv *= 2 - odd * inv;
	return inv;
}

/*
 * Convert a word of 24 bits to bits 31:8 of a key, and back.  Both use the upper bits of 32, so
 * that the multiplications are modulo 2^24.
 */
static uint32_t key_encode(const struct mkey_space *keys, uint32_t word)
{
	uint32_t key = (word << KEY_LOW_BITS) * keys->mul[0];

	key ^= (key >> 12) & ~MKEY_LOW_MASK;
	return key * keys->mul[1];
}

static inline uint32_t key_decode(const struct mkey_space *keys, uint32_t key)
{
	key = (key & ~MKEY_LOW_MASK) * keys->inv[1];
	key ^= (key >> 12) & ~MKEY_LOW_MASK;
	return key * keys->inv[0] >> KEY_LOW_BITS;
}

int mkey_space_init(struct mkey_space *keys)
{
	uint32_t random[4];
	int i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (i = 0; i < 2; i++) {
		keys->mul[i] = random[i] | 1;
		keys->inv[i] = inverse(keys->mul[i]);
	}
	keys->seq = random[2];
	keys->low = random[3] | 1;
	return 0;
}

/* The next random value for the low bits of a key. */
static uint32_t key_low(struct mkey_space *keys)
{
	keys->low ^= keys->low << 13;
	keys->low ^= keys->low >> 17;
	keys->low ^= keys->low << 5;
	return keys->low & MKEY_LOW_MASK;
}

struct mkey *mkey_find_name(struct hca *hca, uint32_t key)
{
	uint32_t index = key_decode(hca->keys, key) & KEY_INDEX_MASK;
	struct mkey *mkey = table_get(&hca->mkeys, index);

	return mkey && !((mkey->key ^ key) & ~MKEY_LOW_MASK) ? mkey : NULL;
}

static inline struct mkey **recent(struct hca *hca, uint32_t key)
{
	return &hca->keys->recent[(key >> KEY_LOW_BITS) % MKEY_RECENT];
}

static __attribute__((noinline)) struct mkey *find_slow(struct hca *hca, uint32_t key)
{
	struct mkey *mkey = mkey_find_name(hca, key);

	if (!mkey || mkey->key != key)
		return NULL;
	*recent(hca, key) = mkey;
	return mkey;
}

/* mkey_find(), inlined for a key that was used recently: most programs use few keys. */
static inline struct mkey *find(struct hca *hca, uint32_t key)
{
	struct mkey *mkey = *recent(hca, key);

	return mkey && mkey->key == key ? mkey : find_slow(hca, key);
}

struct mkey *mkey_find(struct hca *hca, uint32_t key)
{
	return find(hca, key);
}

/* Check whether @who may use a key whose object is not simply a region in use. */
static int check_special(const struct mkey *mkey, const struct mkey_access *who)
{
	bool window = mkey->type == OHCA_MKEY_MW_1 || mkey->type == OHCA_MKEY_MW_2;

	/* A window's key is an rkey only. */
	if (!mkey->valid || (window && !(who->access & ~OHCA_ACCESS_LOCAL_WRITE)))
		return OHCA_VENDOR_ERR_KEY_STATE;
	if (mkey->type == OHCA_MKEY_MW_2 && mkey->qpn != who->qpn)
		return OHCA_VENDOR_ERR_ACCESS;
	return 0;
}

/* Check everything but the bounds, for a key that is not the reserved one. */
static inline __attribute__((always_inline)) int
check_key(struct hca *hca, uint32_t key, const struct mkey_access *who, struct mkey **mkey)
{
	struct mkey *found = find(hca, key);
	int err;

	if (!found)
		return OHCA_VENDOR_ERR_KEY;
	if (found->pdn != who->pdn)
		return OHCA_VENDOR_ERR_PD;
	if (found->special) {
		err = check_special(found, who);
		if (err)
			return err;
	}
	if (who->access & ~found->access)
		return OHCA_VENDOR_ERR_ACCESS;
	*mkey = found;
	return 0;
}

int mkey_check_whole(struct hca *hca, uint32_t key, const struct mkey_access *who)
{
	struct mkey *mkey;

	return check_key(hca, key, who, &mkey);
}

int mkey_check(struct hca *hca, uint32_t key, const struct mkey_access *who, uint64_t addr,
	       uint64_t length, struct mkey **mkey)
{
	struct mkey *found;
	int err;

	*mkey = NULL;
	if (!length)
		return 0;
	if (key == HCA_RESERVED_LKEY) {
		if (!who->privileged || (who->access & ~OHCA_ACCESS_LOCAL_WRITE))
			return OHCA_VENDOR_ERR_KEY;
		return addr + (length - 1) < addr ? OHCA_VENDOR_ERR_BOUNDS : 0;
	}
	err = check_key(hca, key, who, &found);
	if (err)
		return err;
	if (addr - found->iova >= found->length || length > found->length - (addr - found->iova))
		return OHCA_VENDOR_ERR_BOUNDS;
	*mkey = found;
	return 0;
}

static void iov_append(struct iovec *iov, unsigned int *num, void *ptr, uint64_t len)
{
	iov[*num].iov_base = ptr;
	iov[*num].iov_len = len;
	++*num;
}

/* Returns the entry of the page at @pos if it is mapped and permits the access; else 0. */
static inline uint64_t odp_entry(struct odp *odp, uint64_t pos, bool write)
{
	uint64_t entry = odp_page(odp, pos >> ODP_PAGE_SHIFT);

	return write && !(entry & OHCA_PAGE_WRITE) ? 0 : entry;
}

static int page_missing(struct mkey_missing *missing, const struct mkey *mkey, uint64_t pos,
			uint64_t len, bool write)
{
	missing->mkey = mkey;
	missing->pos = pos;
	missing->len = len;
	missing->write = write;
	return MKEY_MISSING;
}

int mkey_check_pages(const struct mkey *mkey, uint64_t addr, uint64_t length, bool write,
		     struct mkey_missing *missing)
{
	uint64_t pos = mkey->odp->offset + (addr - mkey->iova);
	uint64_t end = pos + length;

	while (pos < end) {
		if (!odp_entry(mkey->odp, pos, write))
			return page_missing(missing, mkey, pos, end - pos, write);
		pos = (pos | (ODP_PAGE_SIZE - 1)) + 1;
	}
	return 0;
}

/* mkey_resolve() for OHCA_MKEY_ODP. */
static int64_t resolve_odp(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
			   bool write, struct iovec *iov, unsigned int *num, unsigned int max,
			   struct mkey_missing *missing)
{
	uint64_t start = mkey->odp->offset + (addr - mkey->iova);
	uint64_t pos = start, end = start + length;

	while (pos < end && *num < max) {
		uint64_t entry = odp_entry(mkey->odp, pos, write);
		uint64_t run = ODP_PAGE_SIZE - pos % ODP_PAGE_SIZE;
		void *ptr;

		if (!entry)
			return -page_missing(missing, mkey, pos, end - pos, write);
		if (run > end - pos)
			run = end - pos;
		ptr = dma_ptr(hca->dma, (entry & ~(ODP_PAGE_SIZE - 1)) + pos % ODP_PAGE_SIZE, run,
			      write);
		if (!ptr)
			return -OHCA_VENDOR_ERR_DMA;
		if (pos > start && (uint8_t *)iov[*num - 1].iov_base + iov[*num - 1].iov_len == ptr)
			iov[*num - 1].iov_len += run;
		else
			iov_append(iov, num, ptr, run);
		pos += run;
	}
	return pos - start;
}

int64_t mkey_resolve(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
		     bool write, struct iovec *iov, unsigned int *num, unsigned int max,
		     struct mkey_missing *missing)
{
	uint64_t off;
	int64_t got;
	void *ptr;

	if (!mkey || mkey->type == OHCA_MKEY_DMA) {
		if (*num == max)
			return 0;
		ptr = dma_ptr(hca->dma, addr, length, write);
		if (!ptr)
			return -OHCA_VENDOR_ERR_DMA;
		iov_append(iov, num, ptr, length);
		return length;
	}
	if (mkey->type >= OHCA_MKEY_DM) {
		if (mkey->type == OHCA_MKEY_ODP)
			return resolve_odp(hca, mkey, addr, length, write, iov, num, max, missing);
		if (*num == max)
			return 0;
		iov_append(iov, num, dm_ptr(hca, mkey->dm, mkey->dm_offset + addr - mkey->iova),
			   length);
		return length;
	}
	off = addr - mkey->iova;
	ptr = *num < max ? xlt_ptr_in_page(&mkey->xlt, hca->dma, off, length, write) : NULL;
	if (ptr) {
		iov_append(iov, num, ptr, length);
		return length;
	}
	got = xlt_gather(&mkey->xlt, hca->dma, off, length, write, iov, num, max);
	return got < 0 ? -OHCA_VENDOR_ERR_DMA : got;
}

enum ohca_cmd_status mkey_add(struct hca *hca, struct mkey *mkey)
{
	uint32_t index;

	if (table_add(&hca->mkeys, mkey, &index))
		return OHCA_CMD_NO_RESOURCE;
	/* 0 and the reserved lkey are never given out, whatever low bits software chooses. */
	do
		mkey->key = key_encode(hca->keys, hca->keys->seq++ << KEY_INDEX_BITS | index);
	while (!mkey->key || !((mkey->key ^ HCA_RESERVED_LKEY) & ~MKEY_LOW_MASK));
	mkey->key |= key_low(hca->keys);
	return OHCA_CMD_OK;
}

void mkey_del(struct hca *hca, struct mkey *mkey)
{
	struct mkey **slot = recent(hca, mkey->key);

	if (*slot == mkey)
		*slot = NULL;
	table_del(&hca->mkeys, key_decode(hca->keys, mkey->key) & KEY_INDEX_MASK);
}
