// SPDX-License-Identifier: GPL-2.0
/* Commands on memory keys. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/dm.h"
#include "device/object.h"
#include "device/profile.h"
#include "device/strict.h"
#include "mem/page_fault.h"
#include "mem/mkey.h"
#include "mem/pd.h"
#include "mem/window.h"

/* @field of struct ohca_create_mkey_in, which begins at @base of the input, is invalid. */
#define BAD_AT(base, field, status) \
	((ctx)->syndrome = (base) + offsetof(struct ohca_create_mkey_in, field), (status))
#define BAD(field, status) BAD_AT(base, field, status)

static bool have_xlt(const struct ohca_create_mkey_in *in)
{
	static const struct ohca_xlt none;

	return memcmp(&in->xlt, &none, sizeof(none));
}

/* Check that attributes of a region which the mask (OHCA_MKEY_ATTR_*) does not name are zero. */
static enum ohca_cmd_status check_unused(const struct ohca_create_mkey_in *in, uint32_t mask,
					 uint32_t base, struct cmd_ctx *ctx)
{
	if (in->rsvd[0] || in->rsvd[1])
		return BAD(rsvd, OHCA_CMD_BAD_PARAM);
	if (in->dm && in->type != OHCA_MKEY_DM)
		return BAD(dm, OHCA_CMD_BAD_PARAM);
	if (in->max_pages && in->type != OHCA_MKEY_FAST_REG)
		return BAD(max_pages, OHCA_CMD_BAD_PARAM);
	if (!(mask & OHCA_MKEY_ATTR_XLT)) {
		if (have_xlt(in))
			return BAD(xlt, OHCA_CMD_BAD_PARAM);
		if (in->iova)
			return BAD(iova, OHCA_CMD_BAD_PARAM);
		if (in->length)
			return BAD(length, OHCA_CMD_BAD_PARAM);
	}
	if (!(mask & OHCA_MKEY_ATTR_PD) && in->pdn)
		return BAD(pdn, OHCA_CMD_BAD_PARAM);
	if (!(mask & OHCA_MKEY_ATTR_ACCESS) && in->access)
		return BAD(access, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Check the attributes that the mask names, except for the pages. */
static enum ohca_cmd_status check_values(struct hca *hca, const struct ohca_create_mkey_in *in,
					 uint32_t mask, uint32_t base, struct cmd_ctx *ctx)
{
	if (mask & OHCA_MKEY_ATTR_ACCESS && !mkey_access_fits(in->access))
		return BAD(access, OHCA_CMD_BAD_PARAM);
	/*
	 * Programs register zero bytes of device memory to get a key.  check_odp() checks ODP
	 * lengths.
	 */
	if (in->type == OHCA_MKEY_ODP || (in->type == OHCA_MKEY_DM && !in->length))
		mask &= ~OHCA_MKEY_ATTR_XLT;
	if (mask & OHCA_MKEY_ATTR_XLT && !mkey_range_fits(le64toh(in->iova), le64toh(in->length)))
		return BAD(length, OHCA_CMD_BAD_PARAM);
	if (mask & OHCA_MKEY_ATTR_PD && !pd_get(hca, le32toh(in->pdn)))
		return BAD(pdn, OHCA_CMD_BAD_HANDLE);
	return OHCA_CMD_OK;
}

/*
 * Check a region of device memory: it is within the allocation, and no window can be bound to it.
 */
static enum ohca_cmd_status check_dm(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_mkey_in *in = ctx->in;
	const struct ohca_xlt xlt = {.addr = in->xlt.addr};
	const struct dm *dm = dm_get(hca, le32toh(in->dm));
	uint64_t length = le64toh(in->length), offset = le64toh(in->xlt.addr);
	const uint32_t base = 0;
	uint64_t size;

	if (!dm)
		return BAD(dm, OHCA_CMD_BAD_HANDLE);
	size = (uint64_t)dm->npages << OHCA_DM_PAGE_SHIFT;
	if (memcmp(&in->xlt, &xlt, sizeof(xlt)) || offset > size)
		return BAD(xlt, OHCA_CMD_BAD_PARAM);
	if (length > size - offset)
		return BAD(length, OHCA_CMD_BAD_PARAM);
	if (in->access & OHCA_ACCESS_MW_BIND)
		return BAD(access, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

/* Check an ODP region. */
static enum ohca_cmd_status check_odp(struct cmd_ctx *ctx)
{
	const struct ohca_create_mkey_in *in = ctx->in;
	const uint8_t shift = in->xlt.page_shift;
	const struct ohca_xlt xlt = {.offset = in->xlt.offset, .page_shift = shift};
	uint64_t offset = le32toh(in->xlt.offset), length = le64toh(in->length);
	const uint32_t base = 0;

	if (memcmp(&in->xlt, &xlt, sizeof(xlt)) || shift < OHCA_XLT_PAGE_SHIFT ||
	    shift > OHCA_ODP_MAX_PAGE_SHIFT || offset >= 1ULL << shift)
		return BAD(xlt, OHCA_CMD_BAD_PARAM);
	if (!length || length > (1ULL << OHCA_ODP_MAX_LOG_SIZE) - offset ||
	    le64toh(in->iova) + (length - 1) < le64toh(in->iova))
		return BAD(length, OHCA_CMD_BAD_PARAM);
	if (in->access & OHCA_ACCESS_MW_BIND)
		return BAD(access, OHCA_CMD_BAD_PARAM);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status check_create(struct hca *hca, struct cmd_ctx *ctx)
{
	static const uint32_t fields[] = {
		[OHCA_MKEY_MR] = OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS,
		[OHCA_MKEY_DMA] = OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS,
		[OHCA_MKEY_FAST_REG] = OHCA_MKEY_ATTR_PD,
		[OHCA_MKEY_MW_1] = OHCA_MKEY_ATTR_PD,
		[OHCA_MKEY_MW_2] = OHCA_MKEY_ATTR_PD,
		[OHCA_MKEY_DM] = OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS,
		[OHCA_MKEY_ODP] = OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS,
	};
	const struct ohca_create_mkey_in *in = ctx->in;
	uint32_t max_pages = le32toh(in->max_pages);
	static const uint64_t caps[] = {
		[OHCA_MKEY_FAST_REG] = OHCA_CAP_MEM_MGT, [OHCA_MKEY_MW_1] = OHCA_CAP_MW,
		[OHCA_MKEY_MW_2] = OHCA_CAP_MW,		 [OHCA_MKEY_DM] = OHCA_CAP_DM,
		[OHCA_MKEY_ODP] = OHCA_CAP_ODP,
	};
	const uint32_t base = 0;
	enum ohca_cmd_status status;

	if (in->type > OHCA_MKEY_ODP)
		return BAD(type, OHCA_CMD_BAD_PARAM);
	if (caps[in->type] & ~hca_caps(hca))
		return BAD(type, OHCA_CMD_UNSUPPORTED);
	status = check_unused(in, fields[in->type], base, ctx);
	if (status)
		return status;
	if (in->type == OHCA_MKEY_FAST_REG &&
	    (!max_pages || max_pages > hca->profile->max_fast_reg))
		return BAD(max_pages, OHCA_CMD_BAD_PARAM);
	status = check_values(hca, in, fields[in->type], base, ctx);
	if (!status && in->type == OHCA_MKEY_DM)
		status = check_dm(hca, ctx);
	if (!status && in->type == OHCA_MKEY_ODP)
		status = check_odp(ctx);
	if (!status && in->type == OHCA_MKEY_ODP && !hca->async_eq)
		strict_broken(hca, "S-303", "an ODP region without an asynchronous EQ");
	return status;
}

/* Charged to QUOTA_MEMORY for each, with what an ODP region has besides */
#define MKEY_MEMORY (sizeof(struct mkey) + sizeof(struct odp))

static struct mkey *mkey_new(struct hca *hca, const struct ohca_create_mkey_in *in)
{
	struct mkey *mkey;

	if (!quota_charge(&hca->quotas[QUOTA_MEMORY], MKEY_MEMORY))
		return NULL;
	mkey = aligned_alloc(_Alignof(struct mkey), sizeof(*mkey));
	if (!mkey) {
		quota_release(&hca->quotas[QUOTA_MEMORY], MKEY_MEMORY);
		return NULL;
	}
	memset(mkey, 0, sizeof(*mkey));
	mkey->pdn = le32toh(in->pdn);
	mkey->type = in->type;
	mkey->access = in->access;
	mkey->iova = le64toh(in->iova);
	mkey->length = in->type == OHCA_MKEY_DMA ? ~0ULL : le64toh(in->length);
	mkey->valid = in->type <= OHCA_MKEY_DMA || in->type >= OHCA_MKEY_DM;
	mkey->special = !mkey->valid;
	return mkey;
}

static void mkey_free(struct hca *hca, struct mkey *mkey)
{
	if (mkey->dm)
		mkey->dm->refs--;
	odp_free(mkey->odp);
	xlt_free(&mkey->xlt, &hca->quotas[QUOTA_PAGES]);
	quota_release(&hca->quotas[QUOTA_MEMORY], MKEY_MEMORY);
	free(mkey);
}

/* Free most of its memory, until @end.  Returns whether little is left for mkey_free(). */
static bool mkey_shrink(struct hca *hca, void *object, uint64_t end)
{
	struct mkey *mkey = object;

	if (mkey->odp && !odp_unmap(mkey->odp, 0, mkey->odp->num_pages, end))
		return false;
	return xlt_shrink(&mkey->xlt, &hca->quotas[QUOTA_PAGES], end);
}

/* Read the pages; the region gets its key when all are there.  If that fails, free what was read. */
static enum ohca_cmd_status create_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_mkey_in *in = ctx->in;
	struct ohca_handle *out = ctx->out;
	struct mkey *mkey = ctx->object;
	enum ohca_cmd_status status = ctx->failed;

	if (!status && !hca->ready)
		status = OHCA_CMD_NO_RESOURCE;
	if (!status && in->type == OHCA_MKEY_MR)
		status = xlt_load_part(&mkey->xlt, hca->dma, &in->xlt, ctx->end);
	if (status == CMD_MORE)
		return CMD_MORE;
	if (!status)
		status = mkey_add(hca, mkey);
	if (status) {
		ctx->failed = status;
		if (!mkey_shrink(hca, mkey, ctx->end))
			return CMD_MORE;
		mkey_free(hca, mkey);
		return status;
	}
	pd_get(hca, mkey->pdn)->refs++;
	out->id = htole32(mkey->key);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_create_mkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_create_mkey_in *in = ctx->in;
	enum ohca_cmd_status status = check_create(hca, ctx);
	struct mkey *mkey;

	if (status)
		return status;
	mkey = mkey_new(hca, in);
	if (!mkey)
		return OHCA_CMD_NO_RESOURCE;
	if (in->type == OHCA_MKEY_MR) {
		status = xlt_begin(&mkey->xlt, &hca->quotas[QUOTA_PAGES], &in->xlt, mkey->length);
		ctx->syndrome = offsetof(struct ohca_create_mkey_in, xlt);
	} else if (in->type == OHCA_MKEY_FAST_REG) {
		status = xlt_reserve(&mkey->xlt, &hca->quotas[QUOTA_PAGES], le32toh(in->max_pages));
	} else if (in->type == OHCA_MKEY_DM) {
		mkey->dm = dm_get(hca, le32toh(in->dm));
		mkey->dm->refs++;
		mkey->dm_offset = le64toh(in->xlt.addr);
	} else if (in->type == OHCA_MKEY_ODP) {
		mkey->odp = odp_new(&hca->quotas[QUOTA_PAGES], in->xlt.page_shift,
				    le32toh(in->xlt.offset), mkey->length);
		if (!mkey->odp)
			status = OHCA_CMD_NO_RESOURCE;
	}
	ctx->object = mkey;
	ctx->failed = status;
	return CMD_CONTINUE(hca, ctx, create_more);
}

/* Set what the mask names, except for the pages. */
static void set_attrs(struct hca *hca, struct mkey *mkey, const struct ohca_create_mkey_in *attr,
		      uint32_t mask)
{
	if (mask & OHCA_MKEY_ATTR_PD) {
		pd_get(hca, mkey->pdn)->refs--;
		mkey->pdn = le32toh(attr->pdn);
		pd_get(hca, mkey->pdn)->refs++;
	}
	if (mask & OHCA_MKEY_ATTR_ACCESS)
		mkey->access = attr->access;
}

/* Free the pages that the region does not have any more, or does not get. */
static enum ohca_cmd_status modify_free(struct hca *hca, struct cmd_ctx *ctx)
{
	if (!xlt_shrink(&ctx->xlt, &hca->quotas[QUOTA_PAGES], ctx->end))
		return CMD_MORE;
	xlt_free(&ctx->xlt, &hca->quotas[QUOTA_PAGES]);
	return ctx->failed;
}

/* Read the new pages of a region, which has its old ones until all are there. */
static enum ohca_cmd_status modify_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const uint32_t base = offsetof(struct ohca_modify_mkey_in, attr);
	const struct ohca_modify_mkey_in *in = ctx->in;
	const struct ohca_create_mkey_in *attr = &in->attr;
	struct mkey *mkey = ctx->object;
	enum ohca_cmd_status status = OHCA_CMD_NO_RESOURCE;
	struct xlt old;

	if (hca->ready)
		status = xlt_load_part(&ctx->xlt, hca->dma, &attr->xlt, ctx->end);
	if (status == CMD_MORE)
		return CMD_MORE;
	if (status) {
		ctx->failed = BAD(xlt, status);
	} else if (mkey->windows) {
		ctx->failed = OHCA_CMD_BUSY;
	} else {
		xlt_move(&old, &mkey->xlt);
		xlt_move(&mkey->xlt, &ctx->xlt);
		xlt_move(&ctx->xlt, &old);
		mkey->iova = le64toh(attr->iova);
		mkey->length = le64toh(attr->length);
		set_attrs(hca, mkey, attr, le32toh(in->attr_mask));
	}
	return CMD_CONTINUE(hca, ctx, modify_free);
}

static enum ohca_cmd_status cmd_modify_mkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const uint32_t base = offsetof(struct ohca_modify_mkey_in, attr);
	const struct ohca_modify_mkey_in *in = ctx->in;
	const struct ohca_create_mkey_in *attr = &in->attr;
	uint32_t mask = le32toh(in->attr_mask);
	struct mkey *mkey = mkey_find_name(hca, le32toh(in->key));
	enum ohca_cmd_status status;

	if (!mkey)
		return OHCA_CMD_BAD_HANDLE;
	if (mkey->type != OHCA_MKEY_MR && mkey->type != OHCA_MKEY_ODP)
		return CMD_BAD(ctx, struct ohca_modify_mkey_in, key, OHCA_CMD_BAD_PARAM);
	if (!mask || mask & ~(OHCA_MKEY_ATTR_XLT | OHCA_MKEY_ATTR_PD | OHCA_MKEY_ATTR_ACCESS) ||
	    (mask & OHCA_MKEY_ATTR_XLT && mkey->type == OHCA_MKEY_ODP))
		return CMD_BAD(ctx, struct ohca_modify_mkey_in, attr_mask, OHCA_CMD_BAD_PARAM);
	if (attr->type)
		return BAD(type, OHCA_CMD_BAD_PARAM);
	status = check_unused(attr, mask, base, ctx);
	if (!status)
		status = check_values(hca, attr, mask, base, ctx);
	if (status)
		return status;
	if (mkey->type == OHCA_MKEY_ODP && attr->access & OHCA_ACCESS_MW_BIND)
		return BAD(access, OHCA_CMD_BAD_PARAM);
	if (mkey->windows)
		return OHCA_CMD_BUSY;
	if (mask & OHCA_MKEY_ATTR_XLT) {
		status = xlt_begin(&ctx->xlt, &hca->quotas[QUOTA_PAGES], &attr->xlt,
				   le64toh(attr->length));
		if (status)
			return BAD(xlt, status);
		ctx->object = mkey;
		return CMD_CONTINUE(hca, ctx, modify_more);
	}
	set_attrs(hca, mkey, attr, mask);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_query_mkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	const struct mkey *mkey = mkey_find_name(hca, le32toh(in->id));
	struct ohca_query_mkey_out *out = ctx->out;

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!mkey)
		return OHCA_CMD_BAD_HANDLE;

	*out = (struct ohca_query_mkey_out){
		.iova = htole64(mkey->iova),
		.length = mkey->type == OHCA_MKEY_DMA ? 0 : htole64(mkey->length),
		.key = htole32(mkey->key),
		.pdn = htole32(mkey->pdn),
		.access = mkey->access,
		.type = mkey->type,
		.valid = mkey->valid,
		.windows = htole32(mkey->windows),
	};
	return OHCA_CMD_OK;
}

/* It has no key any more.  Accesses that wait for its pages find that out; then it is freed. */
static enum ohca_cmd_status destroy_more(struct hca *hca, struct cmd_ctx *ctx)
{
	struct mkey *mkey = ctx->object;
	const struct page_answer gone = {.num = UINT64_MAX, .drop = !hca->ready};

	if (mkey->odp && !page_fault_answer(mkey->odp, &gone, ctx->end))
		return CMD_MORE;
	if (!mkey_shrink(hca, mkey, ctx->end))
		return CMD_MORE;
	mkey_free(hca, mkey);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_destroy_mkey(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct mkey *mkey = mkey_find_name(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!mkey)
		return OHCA_CMD_BAD_HANDLE;
	if (mkey->windows)
		return OHCA_CMD_BUSY;
	window_unbind(mkey);
	mkey_del(hca, mkey);
	if (mkey->odp)
		page_fault_ask(mkey->odp);
	pd_get(hca, mkey->pdn)->refs--;
	ctx->object = mkey;
	return CMD_CONTINUE(hca, ctx, destroy_more);
}

static void mkey_drop(struct hca *hca, void *object, uint32_t id)
{
	struct mkey *mkey = object;

	(void)id;
	mkey_del(hca, mkey);
	odp_free(mkey->odp);
	xlt_free(&mkey->xlt, &hca->quotas[QUOTA_PAGES]);
	quota_release(&hca->quotas[QUOTA_MEMORY], MKEY_MEMORY);
	free(mkey);
}

/* Keys get new random numbers as well. */
static void mkey_reset(struct hca *hca)
{
	if (mkey_space_init(hca->keys))
		hca_fatal(hca, OHCA_FATAL_INTERNAL);
}

static void mkey_fini(struct hca *hca)
{
	free(hca->keys);
	table_fini(&hca->mkeys);
}

static int mkey_init(struct hca *hca)
{
	int err = table_init(&hca->mkeys, 0, HCA_MAX_MKEY);

	if (err)
		return err;
	hca->keys = calloc(1, sizeof(*hca->keys));
	err = hca->keys ? mkey_space_init(hca->keys) : -ENOMEM;
	if (err)
		mkey_fini(hca);
	return err;
}

static const struct cmd_desc mkey_cmds[] = {
	CMD_DESC(CREATE_MKEY, cmd_create_mkey, sizeof(struct ohca_create_mkey_in), CMD_HANDLE_LEN,
		 .in_min = OHCA_CREATE_MKEY_IN_MIN),
	CMD_DESC(DESTROY_MKEY, cmd_destroy_mkey, CMD_HANDLE_LEN, 0),
	CMD_DESC(MODIFY_MKEY, cmd_modify_mkey, sizeof(struct ohca_modify_mkey_in), 0,
		 .in_min = OHCA_MODIFY_MKEY_IN_MIN, .cap = OHCA_CAP_MODIFY_MKEY),
	CMD_DESC(QUERY_MKEY, cmd_query_mkey, CMD_HANDLE_LEN, sizeof(struct ohca_query_mkey_out)),
};

const struct object_class mkey_class = {
	.init = mkey_init,
	.fini = mkey_fini,
	OBJECT_TABLE(mkeys, mkey_drop),
	.shrink = mkey_shrink,
	.reset = mkey_reset,
	OBJECT_CMDS(mkey_cmds),
};
