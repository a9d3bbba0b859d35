/* SPDX-License-Identifier: GPL-2.0 */
/* Device memory: memory in the device that hosts can allocate, map and register. */

#ifndef OHCAD_DM_H
#define OHCAD_DM_H

#include "device/hca.h"

#define DM_PAGES 4096 /* of the HCA */
#define DM_SIZE ((uint64_t)DM_PAGES << OHCA_DM_PAGE_SHIFT)
#define DM_BASE (HCA_MAX_UAR * (uint64_t)OHCA_UAR_SIZE) /* in the BAR, behind the UARs */

/**
 * struct dm_space - all device memory of an HCA
 * @fd: memory file; the memory begins at DM_BASE in it, as it does in the BAR
 * @mem: mapped here
 * @used: one bit for each page
 */
struct dm_space {
	int fd;
	uint8_t *mem;
	uint64_t *used;
};

/**
 * struct dm - an allocation
 * @page, @npages: its pages
 * @refs: memory regions in it
 */
struct dm {
	uint32_t id;
	uint32_t page, npages;
	uint32_t refs;
};

struct dm *dm_get(struct hca *hca, uint32_t id); /* Returns NULL if there is none. */

/* The address of byte @offset of @dm in this process. */
void *dm_ptr(struct hca *hca, const struct dm *dm, uint64_t offset);

/* Accesses to the BAR by clients that do not map it: 1, 2, 4 or 8 bytes, naturally aligned. */
uint64_t dm_bar_read(const struct dm_space *space, uint64_t off, unsigned int len);
void dm_bar_write(struct dm_space *space, uint64_t off, unsigned int len, uint64_t val);

extern const struct object_class dm_class;

#endif
