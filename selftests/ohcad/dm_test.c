// SPDX-License-Identifier: GPL-2.0
/* Device memory: its commands, the BAR, the mapping, regions in it. */

#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "hcas.h"
#include "refuse.h"

#define BAR2 VFIO_PCI_BAR2_REGION_INDEX

static struct drv *drv;
static uint64_t dm_pages;

static int up_at(const char *sock)
{
	struct ohca_query_device_out out;

	drv = drv_start(sock, DRV_ALL_FEATS);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	dm_pages = le32toh(out.dm_pages);
	assert_true(dm_pages >= 256);
	return 0;
}

static int up(void **state)
{
	(void)state;
	return up_at(server->sock[0]);
}

static int down(void **state)
{
	(void)state;
	drv_close(drv);
	return 0;
}

/* An HCA in another process, whose memory may be mapped */
static struct server *mapping;

static int up_mapping(void **state)
{
	(void)state;
	mapping = server_start_mapping();
	return up_at(mapping->sock[0]);
}

static int down_mapping(void **state)
{
	down(state);
	assert_true(server_stop(mapping));
	return 0;
}

/* Allocate; returns the status. */
static int alloc(uint64_t length, uint8_t log_align, uint32_t *id, uint64_t *offset)
{
	struct ohca_alloc_dm_in in = {.length = htole64(length), .log_align = log_align};
	struct ohca_alloc_dm_out out;
	int status = drv_cmd(drv, OHCA_CMD_ALLOC_DM, &in, sizeof(in), &out, sizeof(out));

	if (!status) {
		*id = le32toh(out.id);
		*offset = le64toh(out.offset);
	}
	return status;
}

static void test_bad_input(void **state)
{
	struct ohca_alloc_dm_in in = {.length = htole64(1), .rsvd = {[6] = 1}};
	struct ohca_alloc_dm_out out;
	uint64_t offset;
	uint32_t id;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_ALLOC_DM, &in, sizeof(in), &out, sizeof(out)),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(alloc(0, 0, &id, &offset), OHCA_CMD_BAD_PARAM);
	assert_int_equal(alloc(1, 25, &id, &offset), OHCA_CMD_BAD_PARAM);
	assert_int_equal(alloc((dm_pages << 12) + 1, 0, &id, &offset), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(alloc(UINT64_MAX, 0, &id, &offset), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, 1), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, 0), OHCA_CMD_BAD_HANDLE);
}

/*
 * All of the memory can be allocated, in pieces of any size, aligned as requested, and none of it
 * twice.
 */
static void test_all_of_it(void **state)
{
	uint64_t offset, first = 0, i;
	uint32_t id[4096], all, n = 0;

	(void)state;
	assert_int_equal(alloc(dm_pages << 12, 0, &all, &first), 0);
	assert_int_equal(alloc(1, 0, &id[0], &offset), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, all), 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, all), OHCA_CMD_BAD_HANDLE);

	for (i = 0; i < dm_pages / 4 && n + 2 < ARRAY_SIZE(id); i++) {
		assert_int_equal(alloc(4097, 14, &id[n++], &offset), 0);
		assert_int_equal(offset, first + i * 16384);
	}
	assert_int_equal(alloc(1, 14, &id[n], &offset), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(alloc(8192, 0, &id[n++], &offset), 0);
	assert_int_equal(offset, first + 8192);
	while (n)
		assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, id[--n]), 0);
	assert_int_equal(alloc(dm_pages << 12, 0, &all, &offset), 0);
}

/* The contents left by one host are not readable by the next one. */
static void test_zero(void **state)
{
	uint64_t offset;
	uint32_t id;

	(void)state;
	assert_int_equal(alloc(8192, 0, &id, &offset), 0);
	assert_int_equal(vu_rd64(drv->vu, BAR2, offset + 4096), 0);
	vu_wr64(drv->vu, BAR2, offset + 4096, 0x1122334455667788);
	assert_int_equal(vu_rd32(drv->vu, BAR2, offset + 4100), 0x11223344);
	assert_int_equal(vu_rd64(drv->vu, BAR2, offset), 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, id), 0);
	assert_int_equal(alloc(8192, 0, &id, &offset), 0);
	assert_int_equal(vu_rd64(drv->vu, BAR2, offset + 4096), 0);
	vu_wr32(drv->vu, BAR2, offset, 42);
	drv_close(drv);
	drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	assert_int_equal(alloc(8192, 0, &id, &offset), 0);
	assert_int_equal(vu_rd64(drv->vu, BAR2, offset), 0);
}

/*
 * Without the option, the memory can't be mapped: QEMU then writes without waiting for the device.
 */
static void test_unmapped(void **state)
{
	struct vfio_region_info info;

	(void)state;
	assert_int_equal(vu_get_region_info(drv->vu, BAR2, &info), 0);
	assert_int_equal(info.argsz, sizeof(info));
	assert_int_equal(info.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE);
}

/* A client that maps the memory sees what the BAR shows. */
static void test_mapped(void **state)
{
	struct {
		struct vfio_region_info info;
		struct vfio_region_info_cap_sparse_mmap cap;
		struct vfio_region_sparse_mmap_area area;
	} reg = {.info = {.argsz = sizeof(reg), .index = BAR2}};
	struct vfio_region_info info;
	uint64_t offset;
	uint32_t id;
	uint8_t *map;

	(void)state;
	assert_int_equal(vu_get_region_info(drv->vu, BAR2, &info), 0);
	assert_int_equal(info.argsz, sizeof(reg));
	assert_int_equal(info.cap_offset, offsetof(typeof(reg), cap));
	assert_true(info.flags & VFIO_REGION_INFO_FLAG_MMAP);
	assert_int_equal(drv->vu->reply_fd, -1);

	assert_int_equal(vu_call(drv->vu, VFIO_USER_DEVICE_GET_REGION_INFO, &reg, sizeof(reg), NULL,
				 0, &reg, sizeof(reg), NULL),
			 0);
	assert_int_equal(reg.info.cap_offset, offsetof(typeof(reg), cap));
	assert_int_equal(reg.cap.header.id, VFIO_REGION_INFO_CAP_SPARSE_MMAP);
	assert_int_equal(reg.cap.nr_areas, 1);
	assert_int_equal(reg.area.size, dm_pages << 12);
	assert_int_equal(reg.area.offset + reg.area.size, reg.info.size);
	assert_true(drv->vu->reply_fd >= 0);
	map = mmap(NULL, reg.area.size, PROT_READ | PROT_WRITE, MAP_SHARED, drv->vu->reply_fd,
		   reg.area.offset);
	assert_true(map != MAP_FAILED);
	/* It can't make the memory of the device shorter. */
	assert_int_equal(ftruncate(drv->vu->reply_fd, 0), -1);
	assert_int_equal(errno, EPERM);

	assert_int_equal(alloc(4096, 0, &id, &offset), 0);
	vu_wr32(drv->vu, BAR2, offset + 8, 0xcafe);
	assert_int_equal(map[offset - reg.area.offset + 8], 0xfe);
	map[offset - reg.area.offset + 9] = 0xbe;
	assert_int_equal(vu_rd32(drv->vu, BAR2, offset + 8), 0xbefe);
	munmap(map, reg.area.size);
}

/* Regions in device memory: invalid ones are refused, and a region holds the memory. */
static void test_region(void **state)
{
	uint32_t pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0), id, key;
	struct ohca_create_mkey_in in = {
		.xlt = {.addr = htole64(4096)},
		.length = htole64(4096),
		.pdn = htole32(pdn),
		.access = OHCA_ACCESS_LOCAL_WRITE,
		.type = OHCA_MKEY_DM,
	};
	uint64_t offset;

	(void)state;
	assert_int_equal(alloc(8192, 0, &id, &offset), 0);
	in.dm = htole32(id);
#define REGION(field, val, status, at)                                                           \
	REFUSE_AT(drv, OHCA_CMD_CREATE_MKEY, struct ohca_create_mkey_in, in, field, val, status, \
		  offsetof(struct ohca_create_mkey_in, at))
	REGION(dm, htole32(id + 1), OHCA_CMD_BAD_HANDLE, dm);
	REGION(xlt.addr, htole64(8193), OHCA_CMD_BAD_PARAM, xlt);
	REGION(xlt.addr, htole64(8192), OHCA_CMD_BAD_PARAM, length);
	REGION(xlt.addr, htole64(4097), OHCA_CMD_BAD_PARAM, length);
	REGION(xlt.npages, htole32(1), OHCA_CMD_BAD_PARAM, xlt);
	REGION(length, htole64(4097), OHCA_CMD_BAD_PARAM, length);
	REGION(length, htole64(UINT64_MAX), OHCA_CMD_BAD_PARAM, length);
	REGION(access, OHCA_ACCESS_MW_BIND, OHCA_CMD_BAD_PARAM, access);
	REGION(type, OHCA_MKEY_DMA, OHCA_CMD_BAD_PARAM, dm);

	key = drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, id), OHCA_CMD_BUSY);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_DESTROY_MKEY, key), 0);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_DM, id), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bad_input, up, down),
		cmocka_unit_test_setup_teardown(test_all_of_it, up, down),
		cmocka_unit_test_setup_teardown(test_zero, up, down),
		cmocka_unit_test_setup_teardown(test_unmapped, up, down),
		cmocka_unit_test_setup_teardown(test_mapped, up_mapping, down_mapping),
		cmocka_unit_test_setup_teardown(test_region, up, down),
	};

	return RUN_TESTS(tests, start_one_hca, stop_hcas);
}
