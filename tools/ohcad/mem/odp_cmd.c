// SPDX-License-Identifier: GPL-2.0
/* OHCA_CMD_MODIFY_PAGES. */

#include <endian.h>

#include "device/object.h"
#include "mem/page_fault.h"
#include "mem/mkey.h"

#define BAD(field) CMD_BAD(ctx, struct ohca_modify_pages_in, field, OHCA_CMD_BAD_PARAM)
#define ENTRY_BITS (OHCA_PAGE_PRESENT | OHCA_PAGE_WRITE)

static uint16_t cmd_modify_pages_more(const void *input)
{
	const struct ohca_modify_pages_in *in = input;
	uint64_t num = le64toh(in->num);

	return in->op == OHCA_PAGES_MAP && num <= OHCA_MODIFY_PAGES_MAX ? num * sizeof(in->page[0])
									: 0;
}

static bool entry_fits(const struct odp *odp, uint64_t entry)
{
	return entry & OHCA_PAGE_PRESENT ? !(entry & (odp_page_size(odp) - 1) & ~ENTRY_BITS)
					 : !entry;
}

static enum ohca_cmd_status check(const struct ohca_modify_pages_in *in, const struct mkey *mkey,
				  struct cmd_ctx *ctx)
{
	uint64_t first = le64toh(in->first), num = le64toh(in->num), i;

	if (mkey->type != OHCA_MKEY_ODP)
		return BAD(key);
	if (in->op > OHCA_PAGES_FAIL)
		return BAD(op);
	if (!cmd_all_zero(in->rsvd, sizeof(in->rsvd)))
		return BAD(rsvd);
	if (first >= mkey->odp->num_pages)
		return BAD(first);
	if (!num || num > mkey->odp->num_pages - first)
		return BAD(num);
	if (in->op != OHCA_PAGES_MAP)
		return OHCA_CMD_OK;
	if (num > OHCA_MODIFY_PAGES_MAX)
		return BAD(num);
	for (i = 0; i < num; i++) {
		if (!entry_fits(mkey->odp, le64toh(in->page[i])))
			return BAD(page[i]);
	}
	return OHCA_CMD_OK;
}

/* Unmap the pages, or try the accesses again that wait for them. */
static enum ohca_cmd_status modify_more(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_pages_in *in = ctx->in;
	struct odp *odp = ctx->object;
	const struct page_answer answer = {
		.first = le64toh(in->first),
		.num = le64toh(in->num),
		.fail = in->op == OHCA_PAGES_FAIL,
		.drop = !hca->ready,
	};
	bool done = in->op == OHCA_PAGES_UNMAP
			    ? !hca->ready || odp_unmap(odp, answer.first, answer.num, ctx->end)
			    : page_fault_answer(odp, &answer, ctx->end);

	return done ? OHCA_CMD_OK : CMD_MORE;
}

static enum ohca_cmd_status cmd_modify_pages(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_modify_pages_in *in = ctx->in;
	struct mkey *mkey = mkey_find_name(hca, le32toh(in->key));
	uint64_t first = le64toh(in->first), num = le64toh(in->num);
	enum ohca_cmd_status status;

	if (!mkey)
		return OHCA_CMD_BAD_HANDLE;
	status = check(in, mkey, ctx);
	if (status)
		return status;
	if (in->op == OHCA_PAGES_MAP && !odp_map(mkey->odp, first, num, in->page))
		return OHCA_CMD_NO_RESOURCE;
	ctx->object = mkey->odp;
	if (in->op != OHCA_PAGES_UNMAP)
		page_fault_ask(mkey->odp);
	return CMD_CONTINUE(hca, ctx, modify_more);
}

static const struct cmd_desc odp_cmds[] = {
	CMD_DESC(MODIFY_PAGES, cmd_modify_pages, offsetof(struct ohca_modify_pages_in, page), 0,
		 .more = cmd_modify_pages_more, .cap = OHCA_CAP_ODP),
};

const struct object_class odp_class = {
	OBJECT_CMDS(odp_cmds),
};
