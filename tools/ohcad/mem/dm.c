// SPDX-License-Identifier: GPL-2.0
/*
 * Device memory.
 *
 * The pages are in a memory file that the client may map.  An access of the host through that
 * mapping does not involve the device.  Pages that are freed become a hole in the file: they use no
 * memory until they are allocated again, and then read as zeroes.  The file is sealed: a client
 * can't change its size.
 */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/le.h"
#include "base/loop.h"
#include "device/object.h"
#include "mem/dm.h"

#define DM_MAX_LOG_ALIGN 24
#define WORD_BITS 64
#define RELEASE_PAGES 2U /* that are freed between two looks at the clock */

static void space_fini(struct dm_space *space)
{
	if (space->mem != MAP_FAILED)
		munmap(space->mem, DM_SIZE);
	if (space->fd >= 0)
		close(space->fd);
	free(space->used);
	free(space);
}

/* Returns NULL on failure; errno is set. */
static struct dm_space *space_new(void)
{
	struct dm_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->mem = MAP_FAILED;
	space->used = calloc(DM_PAGES / WORD_BITS, sizeof(*space->used));
	space->fd = memfd_create("ohca-dm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (space->used && space->fd >= 0 && !ftruncate(space->fd, DM_BASE + DM_SIZE) &&
	    !fcntl(space->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		space->mem =
			mmap(NULL, DM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, space->fd, DM_BASE);
	if (space->mem != MAP_FAILED) {
		madvise(space->mem, DM_SIZE, MADV_DONTDUMP); /* as guest memory */
		return space;
	}
	space_fini(space);
	return NULL;
}

struct dm *dm_get(struct hca *hca, uint32_t id)
{
	return table_get(&hca->dms, id);
}

void *dm_ptr(struct hca *hca, const struct dm *dm, uint64_t offset)
{
	return hca->dm->mem + ((uint64_t)dm->page << OHCA_DM_PAGE_SHIFT) + offset;
}

static bool page_used(const struct dm_space *space, uint32_t page)
{
	return space->used[page / WORD_BITS] >> page % WORD_BITS & 1;
}

static void mark(struct dm_space *space, const struct dm *dm, bool used)
{
	uint32_t page;

	for (page = dm->page; page < dm->page + dm->npages; page++) {
		uint64_t bit = 1ULL << page % WORD_BITS;

		if (used)
			space->used[page / WORD_BITS] |= bit;
		else
			space->used[page / WORD_BITS] &= ~bit;
	}
}

/*
 * Find the first free range of @npages whose offset is a multiple of @align pages.  Returns false
 * if there is none.
 */
static bool find(const struct dm_space *space, uint32_t npages, uint32_t align, uint32_t *at)
{
	uint32_t page = 0, n;

	while (page + npages <= DM_PAGES) {
		for (n = 0; n < npages && !page_used(space, page + n); n++)
			;
		if (n == npages) {
			*at = page;
			return true;
		}
		page = (page + n + align) & ~(align - 1);
	}
	return false;
}

/* Free its pages from @first of them on. */
static void release(struct dm_space *space, struct dm *dm, uint32_t first)
{
	const struct dm part = {.page = dm->page + first, .npages = dm->npages - first};
	uint64_t offset = (uint64_t)part.page << OHCA_DM_PAGE_SHIFT;
	uint64_t len = (uint64_t)part.npages << OHCA_DM_PAGE_SHIFT;

	/* A file system without holes: write zeroes instead. */
	if (fallocate(space->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, DM_BASE + offset, len))
		memset(space->mem + offset, 0, len);
	mark(space, &part, false);
	dm->npages = first;
}

/* Free most of its pages, until @end (loop_clock()), some in any case.  Returns whether few are left. */
static bool dm_shrink(struct hca *hca, void *object, uint64_t end)
{
	struct dm *dm = object;

	while (dm->npages > RELEASE_PAGES) {
		release(hca->dm, dm, (dm->npages - 1) / RELEASE_PAGES * RELEASE_PAGES);
		if (loop_clock() >= end)
			return false;
	}
	return true;
}

static void dm_free(struct hca *hca, struct dm *dm)
{
	release(hca->dm, dm, 0);
	free(dm);
}

static void dm_drop(struct hca *hca, void *object, uint32_t id)
{
	table_del(&hca->dms, id);
	dm_free(hca, object);
}

#define BAD(field) CMD_BAD(ctx, struct ohca_alloc_dm_in, field, OHCA_CMD_BAD_PARAM)

static enum ohca_cmd_status cmd_alloc_dm(struct hca *hca, struct cmd_ctx *ctx)
{
	static const uint8_t zero[sizeof(((struct ohca_alloc_dm_in *)0)->rsvd)];
	const struct ohca_alloc_dm_in *in = ctx->in;
	struct ohca_alloc_dm_out *out = ctx->out;
	uint64_t length = le64toh(in->length);
	uint32_t align = 1;
	struct dm *dm;

	if (memcmp(in->rsvd, zero, sizeof(zero)))
		return BAD(rsvd);
	if (!length)
		return BAD(length);
	if (in->log_align > DM_MAX_LOG_ALIGN)
		return BAD(log_align);
	if (length > DM_SIZE)
		return OHCA_CMD_NO_RESOURCE;
	if (in->log_align > OHCA_DM_PAGE_SHIFT)
		align <<= in->log_align - OHCA_DM_PAGE_SHIFT;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return OHCA_CMD_NO_RESOURCE;
	dm->npages = (length + (1U << OHCA_DM_PAGE_SHIFT) - 1) >> OHCA_DM_PAGE_SHIFT;
	if (!find(hca->dm, dm->npages, align, &dm->page) || table_add(&hca->dms, dm, &dm->id)) {
		free(dm);
		return OHCA_CMD_NO_RESOURCE;
	}
	mark(hca->dm, dm, true);
	out->id = htole32(dm->id);
	out->offset = htole64(DM_BASE + ((uint64_t)dm->page << OHCA_DM_PAGE_SHIFT));
	return OHCA_CMD_OK;
}

/* It has no number any more. */
static enum ohca_cmd_status free_more(struct hca *hca, struct cmd_ctx *ctx)
{
	if (!dm_shrink(hca, ctx->object, ctx->end))
		return CMD_MORE;
	dm_free(hca, ctx->object);
	return OHCA_CMD_OK;
}

static enum ohca_cmd_status cmd_free_dm(struct hca *hca, struct cmd_ctx *ctx)
{
	const struct ohca_handle *in = ctx->in;
	struct dm *dm = dm_get(hca, le32toh(in->id));

	if (in->rsvd)
		return CMD_BAD(ctx, struct ohca_handle, rsvd, OHCA_CMD_BAD_PARAM);
	if (!dm)
		return OHCA_CMD_BAD_HANDLE;
	if (dm->refs)
		return OHCA_CMD_BUSY;
	table_del(&hca->dms, dm->id);
	ctx->object = dm;
	return CMD_CONTINUE(hca, ctx, free_more);
}

uint64_t dm_bar_read(const struct dm_space *space, uint64_t off, unsigned int len)
{
	return le_load(space->mem + (off - DM_BASE), len);
}

void dm_bar_write(struct dm_space *space, uint64_t off, unsigned int len, uint64_t val)
{
	le_store(space->mem + (off - DM_BASE), len, val);
}

static int dm_init(struct hca *hca)
{
	int err = table_init(&hca->dms, 1, DM_PAGES + 1);

	if (err)
		return err;
	hca->dm = space_new();
	if (hca->dm)
		return 0;
	err = -errno;
	table_fini(&hca->dms);
	return err;
}

static void dm_fini(struct hca *hca)
{
	space_fini(hca->dm);
	table_fini(&hca->dms);
}

static const struct cmd_desc dm_cmds[] = {
	CMD_DESC(ALLOC_DM, cmd_alloc_dm, sizeof(struct ohca_alloc_dm_in),
		 sizeof(struct ohca_alloc_dm_out), .cap = OHCA_CAP_DM),
	CMD_DESC(FREE_DM, cmd_free_dm, CMD_HANDLE_LEN, 0, .cap = OHCA_CAP_DM),
};

const struct object_class dm_class = {
	.init = dm_init,
	.fini = dm_fini,
	OBJECT_TABLE(dms, dm_drop),
	.shrink = dm_shrink,
	OBJECT_CMDS(dm_cmds),
};
