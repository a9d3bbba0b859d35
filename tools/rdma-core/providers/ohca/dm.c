// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device memory: the program maps it, and copies to and from it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/cmd_ioctl.h>
#include <util/mmio.h>
#include <util/udma_barrier.h>
#include <util/util.h>

#include "doorbell.h"
#include "ohca.h"
#include "ohca_abi.h"

/* required by the verb: ibv_alloc_dm(3) */
#define OHCA_DM_ALIGN 4

/**
 * struct ohca_dm - device memory
 * @map: its mapping
 * @length: bytes
 */
struct ohca_dm {
	struct verbs_dm vdm;
	void *map;
	size_t length;
};

static inline struct ohca_dm *to_odm(struct ibv_dm *dm)
{
	return container_of(dm, struct ohca_dm, vdm.dm);
}

static int ohca_dm_check(const struct ohca_dm *dm, uint64_t offset, size_t length)
{
	if (offset % OHCA_DM_ALIGN || length % OHCA_DM_ALIGN)
		return EINVAL;
	return offset > dm->length || length > dm->length - offset ? EFAULT : 0;
}

static int ohca_memcpy_to_dm(struct ibv_dm *ibdm, uint64_t offset, const void *src, size_t length)
{
	struct ohca_dm *dm = to_odm(ibdm);
	int ret = ohca_dm_check(dm, offset, length);

	if (ret || !length)
		return ohca_errno(ret);
	/* Who sees the data in the device sees what was stored before, too. */
	udma_to_device_barrier();
	memcpy(dm->map + offset, src, length);

	/*
	 * The stores are posted, and requests take another path, through host memory.  A read
	 * returns only after earlier writes have arrived.
	 */
	mmio_flush_writes();
	ohca_full_barrier();
	mmio_read32_le(dm->map + offset + length - OHCA_DM_ALIGN);
	udma_from_device_barrier();
	return 0;
}

static int ohca_memcpy_from_dm(void *dst, struct ibv_dm *ibdm, uint64_t offset, size_t length)
{
	struct ohca_dm *dm = to_odm(ibdm);
	int ret = ohca_dm_check(dm, offset, length);

	if (ret)
		return ohca_errno(ret);
	/*
	 * The mapping is write-combining, whose loads the processor does not order: neither after
	 * that of a completion, nor before those of what the data announces.
	 */
	udma_from_device_barrier();
	memcpy(dst, dm->map + offset, length);
	udma_from_device_barrier();
	return 0;
}

static int ohca_map_dm(struct ibv_context *ctx, struct ohca_dm *dm, uint64_t offset, size_t length)
{
	void *map;

	map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->cmd_fd, offset);
	if (map == MAP_FAILED)
		return errno;
	dm->map = map;
	dm->length = length;
	dm->vdm.dm.memcpy_to_dm = ohca_memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = ohca_memcpy_from_dm;
	dm->vdm.dm.context = ctx;
	return 0;
}

struct ibv_dm *ohca_alloc_dm(struct ibv_context *ctx, struct ibv_alloc_dm_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, 1);
	struct ohca_dm *dm;
	uint64_t offset;
	int ret;

	if (!ohca_has(ctx, OHCA_CAP_DM)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!check_comp_mask(attr->comp_mask, 0)) {
		errno = EINVAL;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_out(cmd, OHCA_ATTR_ALLOC_DM_RESP_OFFSET, &offset, sizeof(offset));
	ret = ibv_cmd_alloc_dm(ctx, attr, &dm->vdm, cmd);
	if (ret)
		goto err_free;
	ret = ohca_map_dm(ctx, dm, offset, attr->length);
	if (ret)
		goto err_dm;
	return &dm->vdm.dm;

err_dm:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	errno = ret;
	return NULL;
}

int ohca_free_dm(struct ibv_dm *ibdm)
{
	struct ohca_dm *dm = to_odm(ibdm);
	int ret;

	ret = ibv_cmd_free_dm(&dm->vdm);
	if (ret)
		return ret;
	munmap(dm->map, dm->length);
	free(dm);
	return 0;
}

struct ibv_dm *ohca_import_dm(struct ibv_context *ctx, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, OHCA_METHOD_DM_QUERY, 3);
	uint64_t offset, length;
	struct ohca_dm *dm;
	int ret;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_in_obj(cmd, OHCA_ATTR_QUERY_DM_HANDLE, handle);
	fill_attr_out(cmd, OHCA_ATTR_QUERY_DM_RESP_OFFSET, &offset, sizeof(offset));
	fill_attr_out(cmd, OHCA_ATTR_QUERY_DM_RESP_LENGTH, &length, sizeof(length));
	ret = execute_ioctl(ctx, cmd);
	if (!ret)
		ret = ohca_map_dm(ctx, dm, offset, length);
	if (ret) {
		free(dm);
		errno = ret;
		return NULL;
	}
	dm->vdm.handle = handle;
	dm->vdm.dm.handle = handle;
	return &dm->vdm.dm;
}

void ohca_unimport_dm(struct ibv_dm *ibdm)
{
	struct ohca_dm *dm = to_odm(ibdm);

	munmap(dm->map, dm->length);
	free(dm);
}

struct ibv_mr *ohca_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm, uint64_t offset,
			      size_t length, unsigned int access)
{
	struct ohca_dm *dm = to_odm(ibdm);
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;
	ret = ibv_cmd_reg_dm_mr(pd, &dm->vdm, offset, length, access, vmr, NULL);
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	return &vmr->ibv_mr;
}
