/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of the vfio-user protocol (QEMU's docs/interop/vfio-user.rst).  Payloads that the
 * protocol shares with the VFIO ioctls are those of <linux/vfio.h>.
 */

#ifndef OHCAD_VFIO_USER_WIRE_H
#define OHCAD_VFIO_USER_WIRE_H

#include <stdint.h>

enum vfio_user_cmd {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP = 2,
	VFIO_USER_DMA_UNMAP = 3,
	VFIO_USER_DEVICE_GET_INFO = 4,
	VFIO_USER_DEVICE_GET_REGION_INFO = 5,
	VFIO_USER_DEVICE_GET_REGION_IO_FDS = 6,
	VFIO_USER_DEVICE_GET_IRQ_INFO = 7,
	VFIO_USER_DEVICE_SET_IRQS = 8,
	VFIO_USER_REGION_READ = 9,
	VFIO_USER_REGION_WRITE = 10,
	VFIO_USER_DMA_READ = 11,
	VFIO_USER_DMA_WRITE = 12,
	VFIO_USER_DEVICE_RESET = 13,
	VFIO_USER_REGION_WRITE_MULTI = 15,
};

#define VFIO_USER_MAJOR 0
#define VFIO_USER_MINOR 1

#define VFIO_USER_FLAG_TYPE 0xf
#define VFIO_USER_FLAG_REPLY 0x1
#define VFIO_USER_FLAG_NO_REPLY 0x10
#define VFIO_USER_FLAG_ERROR 0x20

/**
 * struct vfio_user_hdr - start of every message
 * @id: chosen by the sender of a request, echoed in the reply
 * @cmd: enum vfio_user_cmd
 * @size: of the whole message
 * @flags: VFIO_USER_FLAG_*
 * @error: errno of a reply with VFIO_USER_FLAG_ERROR
 */
struct vfio_user_hdr {
	uint16_t id;
	uint16_t cmd;
	uint32_t size;
	uint32_t flags;
	uint32_t error;
};

/* Followed by JSON text with its terminating NUL. */
struct vfio_user_version {
	uint16_t major;
	uint16_t minor;
};

#define VFIO_USER_DMA_READABLE 0x1
#define VFIO_USER_DMA_WRITABLE 0x2

struct vfio_user_dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t addr;
	uint64_t size;
};

#define VFIO_USER_DMA_UNMAP_ALL 0x2

struct vfio_user_dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t addr;
	uint64_t size;
};

/* Followed by @count bytes in a write request and in the reply to a read request. */
struct vfio_user_region_rw {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};

/*
 * An element of VFIO_USER_REGION_WRITE_MULTI, whose payload starts with the 64-bit number of
 * elements.
 */
struct vfio_user_region_write1 {
	struct vfio_user_region_rw rw;
	uint8_t data[8];
};

_Static_assert(sizeof(struct vfio_user_hdr) == 16, "size");
_Static_assert(sizeof(struct vfio_user_version) == 4, "size");
_Static_assert(sizeof(struct vfio_user_dma_map) == 32, "size");
_Static_assert(sizeof(struct vfio_user_dma_unmap) == 24, "size");
_Static_assert(sizeof(struct vfio_user_region_rw) == 16, "size");
_Static_assert(sizeof(struct vfio_user_region_write1) == 24, "size");

#endif
