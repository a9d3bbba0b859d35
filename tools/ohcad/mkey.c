// SPDX-License-Identifier: GPL-2.0
/*
 * Memory keys.
 *
 * A key is a permutation, keyed per HCA at random, of a word made of the region's index in the
 * table (low KEY_INDEX_BITS) and a sequence number (the rest): neighbouring regions have
 * unrelated keys, a key does not come back when its index is used again, and looking one up is
 * two multiplications and one table access.
 */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cmd.h"
#include "mkey.h"
#include "pd.h"

#define KEY_INDEX_BITS 20
#define KEY_INDEX_MASK ((1U << KEY_INDEX_BITS) - 1)

#define ACCESS_ALL                                                                      \
	(OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ | \
	 OHCA_ACCESS_REMOTE_ATOMIC)
#define ACCESS_REMOTE (ACCESS_ALL & ~OHCA_ACCESS_LOCAL_WRITE)

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

static uint32_t key_encode(const struct mkey_space *keys, uint32_t word)
{
	word *= keys->mul[0];
	word ^= word >> 16;
	return word * keys->mul[1];
}

static uint32_t key_decode(const struct mkey_space *keys, uint32_t key)
{
	key *= keys->inv[1];
	key ^= key >> 16;
	return key * keys->inv[0];
}

int mkey_space_init(struct mkey_space *keys)
{
	uint32_t random[3];
	int i;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (i = 0; i < 2; i++) {
		keys->mul[i] = random[i] | 1;
		keys->inv[i] = inverse(keys->mul[i]);
	}
	keys->seq = random[2];
	return 0;
}

static struct mkey *mkey_find(struct hca *hca, uint32_t key)
{
	uint32_t index = key_decode(&hca->keys, key) & KEY_INDEX_MASK;
	struct mkey *mkey = table_get(&hca->mkeys, index);

	return mkey && mkey->key == key ? mkey : NULL;
}

int mkey_check(struct hca *hca, uint32_t key, const struct mkey_access *who, uint64_t addr,
	       uint64_t length, struct mkey **mkey)
{
	struct mkey *found;

	*mkey = NULL;
	if (!length)
		return 0;
	if (key == HCA_RESERVED_LKEY) {
		if (!who->privileged || (who->access & ACCESS_REMOTE))
			return OHCA_VENDOR_ERR_KEY;
		return addr + (length - 1) < addr ? OHCA_VENDOR_ERR_BOUNDS : 0;
	}
	found = mkey_find(hca, key);
	if (!found)
		return OHCA_VENDOR_ERR_KEY;
	if (found->pdn != who->pdn)
		return OHCA_VENDOR_ERR_PD;
	if (who->access & ~found->access)
		return OHCA_VENDOR_ERR_ACCESS;
	if (found->dma) {
		if (addr + (length - 1) < addr)
			return OHCA_VENDOR_ERR_BOUNDS;
	} else if (addr - found->iova >= found->length ||
		   length > found->length - (addr - found->iova)) {
		return OHCA_VENDOR_ERR_BOUNDS;
	}
	*mkey = found;
	return 0;
}

static void iov_append(struct iovec *iov, unsigned int *num, void *ptr, uint64_t len)
{
	iov[*num].iov_base = ptr;
	iov[*num].iov_len = len;
	++*num;
}

int64_t mkey_resolve(struct hca *hca, const struct mkey *mkey, uint64_t addr, uint64_t length,
		     bool write, struct iovec *iov, unsigned int *num, unsigned int max)
{
	uint64_t done = 0;

	if (!mkey || mkey->dma) {
		void *ptr;

		if (*num == max)
			return 0;
		ptr = dma_ptr(hca->dma, addr, length, write);
		if (!ptr)
			return -1;
		iov_append(iov, num, ptr, length);
		return length;
	}
	while (done < length && *num < max) {
		uint64_t run;
		void *ptr = xlt_ptr(&mkey->xlt, hca->dma, addr - mkey->iova + done, length - done,
				    &run, write);

		if (!ptr)
			return -1;
		iov_append(iov, num, ptr, run);
		done += run;
	}
	return done;
}

static void mkey_free(struct mkey *mkey)
{
	xlt_free(&mkey->xlt);
	free(mkey);
}

static enum ohca_cmd_status mkey_check_input(struct hca *hca, struct cmd_ctx *ctx)
{
	static const struct ohca_xlt no_xlt;
	const struct ohca_create_mkey_in *in = ctx->in;
	uint64_t length = le64toh(in->length), iova = le64toh(in->iova);
	bool dma = in->type == OHCA_MKEY_DMA;

	if (in->rsvd[0] || in->rsvd[1] || in->rsvd1)
		return CMD_BAD(ctx, struct ohca_create_mkey_in, rsvd, OHCA_CMD_BAD_PARAM);
	if (in->type > OHCA_MKEY_MW_2)
		return CMD_BAD(ctx, struct ohca_create_mkey_in, type, OHCA_CMD_BAD_PARAM);
	if (in->type > OHCA_MKEY_DMA)
		return CMD_BAD(ctx, struct ohca_create_mkey_in, type, OHCA_CMD_UNSUPPORTED);
	if (in->max_pages)
		return CMD_BAD(ctx, struct ohca_create_mkey_in, max_pages, OHCA_CMD_BAD_PARAM);
	if ((in->access & ~ACCESS_ALL) ||
	    ((in->access & (OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_ATOMIC)) &&
	     !(in->access & OHCA_ACCESS_LOCAL_WRITE)))
		return CMD_BAD(ctx, struct ohca_create_mkey_in, access, OHCA_CMD_BAD_PARAM);
	if (dma ? length != 0 : !length || length > HCA_MAX_MR || iova + (length - 1) < iova)
		return CMD_BAD(ctx, struct ohca_create_mkey_in, length, OHCA_CMD_BAD_PARAM);
	if (dma && memcmp(&in->xlt, &no_xlt, sizeof(no_xlt)))
		return CMD_BAD(ctx, struct ohca_create_mkey_in, xlt, OHCA_CMD_BAD_PARAM);
	if (dma ? iova != 0
		: ((iova ^ le32toh(in->xlt.offset)) & ((1ULL << (in->xlt.page_shift & 63)) - 1)))
		return CMD_BAD(ctx, struct ohca_create_mkey_in, iova, OHCA_CMD_BAD_PARAM);
	if (!pd_get(hca, le32toh(in->pdn)))
		return CMD_BAD(ctx, struct ohca_create_mkey_in, pdn, OHCA_CMD_BAD_HANDLE);
	return OHCA_CMD_OK;
}

/* Give the region an index and a key that is neither 0 nor the reserved one. */
static enum ohca_cmd_status mkey_add(struct hca *hca, struct mkey *mkey)
{
	uint32_t index;

	if (table_add(&hca->mkeys, mkey, &index))
		return OHCA_CMD_NO_RESOURCE;
	do
		mkey->key = key_encode(&hca->keys, hca->keys.seq++ << KEY_INDEX_BITS | index);
	while (!mkey->key || mkey->key == HCA_RESERVED_LKEY);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_create_mkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_mkey_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	enum ohca_cmd_status status;
	struct mkey *mkey;

	status = mkey_check_input(hca, ctx);
	if (status)
		return status;
	mkey = calloc(1, sizeof(*mkey));
	if (!mkey)
		return OHCA_CMD_NO_RESOURCE;
	mkey->hca = hca;
	mkey->pdn = le32toh(in->pdn);
	mkey->access = in->access;
	mkey->dma = in->type == OHCA_MKEY_DMA;
	mkey->iova = le64toh(in->iova);
	mkey->length = le64toh(in->length);

	if (!mkey->dma) {
		status = xlt_load(&mkey->xlt, hca->dma, &in->xlt, mkey->length);
		ctx->syndrome = offsetof(struct ohca_create_mkey_in, xlt);
	}
	if (!status)
		status = mkey_add(hca, mkey);
	if (status) {
		mkey_free(mkey);
		return status;
	}
	pd_get(hca, mkey->pdn)->refs++;
	out->id = htole32(mkey->key);
	return OHCA_CMD_OK;
}

enum ohca_cmd_status cmd_destroy_mkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct mkey *mkey = mkey_find(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!mkey)
		return OHCA_CMD_BAD_HANDLE;
	table_del(&hca->mkeys, key_decode(&hca->keys, mkey->key) & KEY_INDEX_MASK);
	pd_get(hca, mkey->pdn)->refs--;
	mkey_free(mkey);
	return OHCA_CMD_OK;
}

void mkey_reset_all(struct hca *hca)
{
	struct mkey *mkey;
	uint32_t id = 0;

	for (; (mkey = table_next(&hca->mkeys, &id)); id++) {
		table_del(&hca->mkeys, id);
		mkey_free(mkey);
	}
}
