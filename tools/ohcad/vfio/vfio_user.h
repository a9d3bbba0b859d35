/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A vfio-user server: one socket, one client at a time.  It implements the protocol; the device
 * behind it is a struct vfio_user_ops.
 */

#ifndef OHCAD_VFIO_USER_H
#define OHCAD_VFIO_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "base/unix_listen.h"

struct vfio_user;

#define VFIO_USER_MAX_FDS 16 /* descriptors in one message */
#define VFIO_USER_MAX_DATA 1048576 /* bytes in one region access; the protocol's default */
#define VFIO_USER_MAX_DMA_MAPS 4096
#define VFIO_USER_MAX_WRITES 256 /* in one VFIO_USER_REGION_WRITE_MULTI; QEMU sends 200 at most */

/**
 * struct vfio_user_irqs - parameters of VFIO_USER_DEVICE_SET_IRQS; the range is checked
 * @index: interrupt type, VFIO_PCI_*_IRQ_INDEX
 * @action: VFIO_IRQ_SET_ACTION_*
 * @data: VFIO_IRQ_SET_DATA_*
 * @start, @count: interrupts; @count 0 with VFIO_IRQ_SET_DATA_NONE: disable all
 * @bools: @count bytes with VFIO_IRQ_SET_DATA_BOOL
 * @fds: @count eventfds with VFIO_IRQ_SET_DATA_EVENTFD, or NULL to remove the present ones.  The
 *	device keeps one by setting its entry to -1; the others are closed.
 */
struct vfio_user_irqs {
	uint32_t index;
	uint32_t action, data;
	uint32_t start, count;
	const uint8_t *bools;
	int *fds;
};

/**
 * struct vfio_user_mem - a part of a region that is memory, which the client may map
 * @fd: its descriptor, owned by the device; offsets in it are offsets in the region
 * @offset, @size: the part, whole pages
 */
struct vfio_user_mem {
	int fd;
	uint64_t offset, size;
};

/**
 * struct vfio_user_ops - the device; functions that return int return 0 or -errno
 * @connected: a client has connected and negotiated the version
 * @disconnected: the client has disconnected: drop its memory and its eventfds
 * @region_size: bytes of a region, VFIO_PCI_*_REGION_INDEX; 0: there is none
 * @region_mem: the memory in a region; false: there is none
 * @region_read, @region_write: [off, off + len) is inside of the region
 * @irq_count: number of interrupts of a type; stores VFIO_IRQ_INFO_* in @flags
 * @set_irqs: see struct vfio_user_irqs
 * @reset: VFIO_USER_DEVICE_RESET
 * @dma_map: @fd (not kept) or -1
 * @dma_unmap: unmap a range that was mapped
 * @dma_unmap_all: unmap all ranges
 * @may_log: a line about what the client does is to be logged; returns whether it may be
 */
struct vfio_user_ops {
	void (*connected)(void *dev);
	void (*disconnected)(void *dev);
	uint64_t (*region_size)(void *dev, unsigned int region);
	bool (*region_mem)(void *dev, unsigned int region, struct vfio_user_mem *mem);
	int (*region_read)(void *dev, unsigned int region, uint64_t off, void *buf, uint32_t len);
	int (*region_write)(void *dev, unsigned int region, uint64_t off, const void *buf,
			    uint32_t len);
	unsigned int (*irq_count)(void *dev, unsigned int irq, uint32_t *flags);
	int (*set_irqs)(void *dev, struct vfio_user_irqs *irqs);
	void (*reset)(void *dev);
	int (*dma_map)(void *dev, uint64_t addr, uint64_t size, int fd, uint64_t offset,
		       bool readable, bool writable);
	int (*dma_unmap)(void *dev, uint64_t addr, uint64_t size);
	void (*dma_unmap_all)(void *dev);
	bool (*may_log)(void *dev);
};

/* Listen on @path, for clients that have @access.  Returns NULL and logs on failure; errno is set. */
struct vfio_user *vfio_user_new(struct loop *loop, const char *path,
				const struct unix_access *access, const struct vfio_user_ops *ops,
				void *dev);
/* Disconnect (@disconnected is called if there is a client), and remove the socket file. */
void vfio_user_free(struct vfio_user *vu);

/* A client is connected and has negotiated the version. */
bool vfio_user_connected(const struct vfio_user *vu);

#endif
