// SPDX-License-Identifier: GPL-2.0
/* Regions of a rig with on-demand paging. */

#include <endian.h>

#include "rig_odp.h"

#define HEAD offsetof(struct ohca_modify_pages_in, page)

void rig_odp(struct rig_mr *mr, uint8_t access)
{
	struct ohca_create_mkey_in in = {
		.xlt = {.offset = mr->xlt.offset, .page_shift = 12},
		.iova = htole64(mr->iova),
		.length = htole64(mr->length),
		.pdn = htole32(mr->hca->pdn),
		.access = access,
		.type = OHCA_MKEY_ODP,
	};

	mr->key = drv_create(mr->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

static int change(struct rig_mr *mr, uint8_t op, uint64_t first, uint64_t num, uint64_t bits)
{
	uint64_t list = op == OHCA_PAGES_MAP ? num : 0, i;
	struct ohca_modify_pages_in in = {
		.key = htole32(mr->key),
		.op = op,
		.first = htole64(first),
		.num = htole64(num),
	};

	for (i = 0; i < list; i++)
		in.page[i] = htole64(mr->pages[first + i] | bits);
	return drv_cmd(mr->hca->drv, OHCA_CMD_MODIFY_PAGES, &in, HEAD + 8 * list, NULL, 0);
}

/* The first page is mapped last: an access that waits for it then finds the others. */
int rig_odp_map(struct rig_mr *mr, uint64_t first, uint64_t num, bool write)
{
	uint64_t bits = OHCA_PAGE_PRESENT | (write ? OHCA_PAGE_WRITE : 0);
	int status = OHCA_CMD_OK;

	while (num && !status) {
		uint64_t n = num % OHCA_MODIFY_PAGES_MAX ?: OHCA_MODIFY_PAGES_MAX;

		num -= n;
		status = change(mr, OHCA_PAGES_MAP, first + num, n, bits);
	}
	return status;
}

int rig_odp_unmap(struct rig_mr *mr, uint64_t first, uint64_t num)
{
	return change(mr, OHCA_PAGES_UNMAP, first, num, 0);
}

int rig_odp_fail(struct rig_mr *mr, uint64_t first, uint64_t num)
{
	return change(mr, OHCA_PAGES_FAIL, first, num, 0);
}

struct rig_fault rig_fault_of(const struct ohca_eqe *eqe)
{
	uint64_t value = (uint64_t)le32toh(eqe->fault_hi) << 32 | le32toh(eqe->fault_lo);
	struct rig_fault fault = {
		.key = le32toh(eqe->id),
		.first = value >> OHCA_FAULT_FIRST_SHIFT,
		.num = ((value & OHCA_FAULT_NUM_MASK) >> OHCA_FAULT_NUM_SHIFT) + 1,
		.write = value & OHCA_FAULT_WRITE,
	};

	return fault;
}

bool rig_fault_poll(struct rig_hca *hca, struct rig_fault *fault)
{
	struct ohca_eqe eqe;

	while (drv_eq_poll(hca->async, &eqe)) {
		drv_eq_ack(hca->async);
		if (eqe.type != OHCA_EVENT_PAGE_FAULT)
			continue;
		*fault = rig_fault_of(&eqe);
		return true;
	}
	return false;
}
