// SPDX-License-Identifier: GPL-2.0
/*
 * Memory keys: creation, and the checks of an access.
 *
 * A key names its object by bits 31:8, which are random: a key cannot be guessed from others.
 * The low 8 bits are random at first; software may change them.  They have to match as well.  A
 * lookup costs one memory access if the key was used recently, else one in a hash table of names.
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/minmax.h"
#include "mem/dm.h"
#include "mem/mkey.h"

#define KEY_LOW_BITS 8

int mkey_space_init(struct mkey_space *keys)
{
	if (getrandom(keys->random, sizeof(keys->random), 0) != sizeof(keys->random))
		return -EIO;
	keys->num_random = MKEY_RANDOM;
	return 0;
}

/* The first object of the list of those that have the same hash; names are random, so their top bits are one. */
static struct mkey **head(struct mkey_space *keys, uint32_t key)
{
	return &keys->heads[key >> (32 - MKEY_HASH_BITS)];
}

struct mkey *mkey_find_name(struct hca *hca, uint32_t key)
{
	struct mkey *mkey = *head(hca->keys, key);

	while (mkey && (mkey->key ^ key) & ~MKEY_LOW_MASK)
		mkey = mkey->next;
	return mkey;
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
	uint64_t entry = odp_page(odp, pos >> odp->page_shift);

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
		pos = (pos | (odp_page_size(mkey->odp) - 1)) + 1;
	}
	return 0;
}

/* mkey_resolve() for OHCA_MKEY_ODP. */
static int64_t resolve_odp(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
			   bool write, struct iovec *iov, unsigned int *num, unsigned int max,
			   struct mkey_missing *missing)
{
	uint64_t start = mkey->odp->offset + (addr - mkey->iova);
	uint64_t pos = start, end = start + length, in_page = odp_page_size(mkey->odp) - 1;

	while (pos < end && *num < max) {
		uint64_t entry = odp_entry(mkey->odp, pos, write);
		uint64_t run = (pos | in_page) + 1 - pos;
		void *ptr;

		if (!entry)
			return -page_missing(missing, mkey, pos, end - pos, write);
		if (run > end - pos)
			run = end - pos;
		ptr = dma_ptr(hca->dma, (entry & ~in_page) + (pos & in_page), run, write);
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

/* mkey_resolve() for DMA addresses: mostly they are in one region of the host's memory, and else in some that are adjacent. */
static int64_t resolve_dma(struct hca *hca, uint64_t addr, uint64_t length, bool write,
			   struct iovec *iov, unsigned int *num, unsigned int max)
{
	struct dma_map *map = hca->dma;
	const struct dma_region *region;
	uint64_t sum = 0, run;
	void *ptr;

	if (*num == max)
		return 0;
	ptr = dma_ptr(map, addr, length, write);
	if (ptr) {
		iov_append(iov, num, ptr, length);
		return length;
	}
	while (sum < length && *num < max) {
		ptr = dma_ptr(map, addr + sum, 1, write);
		if (!ptr)
			return -OHCA_VENDOR_ERR_DMA;
		region = &map->regions[map->last];
		run = min_of(region->size - (addr + sum - region->addr), length - sum);
		iov_append(iov, num, ptr, run);
		sum += run;
	}
	return sum;
}

int64_t mkey_resolve(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
		     bool write, struct iovec *iov, unsigned int *num, unsigned int max,
		     struct mkey_missing *missing)
{
	uint64_t off;
	int64_t got;
	void *ptr;

	if (!mkey || mkey->type == OHCA_MKEY_DMA)
		return resolve_dma(hca, addr, length, write, iov, num, max);
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

/* A key that no object has.  0 and the reserved lkey are never given out, whatever low bits software chooses. */
static bool make_key(struct hca *hca, uint32_t *key)
{
	struct mkey_space *keys = hca->keys;

	do {
		if (!keys->num_random && mkey_space_init(keys))
			return false;
		*key = keys->random[--keys->num_random];
	} while (!(*key & ~MKEY_LOW_MASK) || !((*key ^ HCA_RESERVED_LKEY) & ~MKEY_LOW_MASK) ||
		 mkey_find_name(hca, *key));
	return true;
}

enum ohca_cmd_status mkey_add(struct hca *hca, struct mkey *mkey)
{
	struct mkey **first;

	if (!make_key(hca, &mkey->key) || table_add(&hca->mkeys, mkey, &mkey->index))
		return OHCA_CMD_NO_RESOURCE;
	first = head(hca->keys, mkey->key);
	mkey->next = *first;
	*first = mkey;
	return OHCA_CMD_OK;
}

void mkey_del(struct hca *hca, struct mkey *mkey)
{
	struct mkey **slot = recent(hca, mkey->key), **at = head(hca->keys, mkey->key);

	if (*slot == mkey)
		*slot = NULL;
	while (*at != mkey)
		at = &(*at)->next;
	*at = mkey->next;
	table_del(&hca->mkeys, mkey->index);
}
