/* SPDX-License-Identifier: GPL-2.0 */
/* Device memory: pages of the device's own that hosts can have and map. */

#ifndef OHCAD_DM_H
#define OHCAD_DM_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

#define DM_PAGE_SHIFT 12
#define DM_PAGES 4096 /* in all */
#define DM_SIZE ((uint64_t)DM_PAGES << DM_PAGE_SHIFT)

/**
 * struct dm_space - all device memory of an HCA
 * @fd: memory file; the memory begins at @base in it, as it does in the BAR
 * @base: offset in the BAR
 * @mem: mapped here
 * @used: one bit for each page
 */
struct dm_space {
	int fd;
	uint64_t base;
	uint8_t *mem;
	uint64_t *used;
};

/**
 * struct dm - an allocation
 * @page, @npages: where it is
 * @refs: memory regions in it
 */
struct dm {
	uint32_t id;
	uint32_t page, npages;
	uint32_t refs;
};

/* Memory that begins at @base in the BAR.  Returns 0 or -errno. */
int dm_space_init(struct dm_space *space, uint64_t base);
void dm_space_fini(struct dm_space *space);

struct dm *dm_get(struct hca *hca, uint32_t id); /* NULL if there is none */

/* Where byte @offset of @dm is. */
void *dm_ptr(struct hca *hca, const struct dm *dm, uint64_t offset);

/* Accesses to the BAR by clients that do not map it: 1, 2, 4 or 8 bytes, naturally aligned. */
uint64_t dm_bar_read(const struct dm_space *space, uint64_t off, unsigned int len);
void dm_bar_write(struct dm_space *space, uint64_t off, unsigned int len, uint64_t val);

/* Free all: reset. */
void dm_reset_all(struct hca *hca);

#endif
