/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scripted vfio-user client: acts as QEMU and the driver for a device on a socket.  Calls are
 * synchronous.  Unless stated otherwise a function that can fail returns 0 or the -errno that the
 * device replied; -EPIPE when it closed the connection.  An error that only a broken test or device
 * can cause (no memory, no descriptors, a reply that violates the protocol) ends the program with a
 * message.
 */

#ifndef SELFTESTS_OHCAD_CLIENT_H
#define SELFTESTS_OHCAD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/vfio.h>

#include "vfio/vfio_user_wire.h"

#define VU_MAX_VECTORS 64
#define VU_MAX_MEMS 64
#define VU_MAX_DATA 65536 /* most bytes in one region access */

/**
 * struct vu_mem - guest memory made by vu_mem_new()
 * @fd: memfd, stays open
 */
struct vu_mem {
	uint64_t iova;
	uint64_t size;
	uint8_t *va;
	int fd;
};

/**
 * struct vu - a connection
 * @fd: the socket
 * @reply_fd: descriptor that came with the last reply, -1: none; closed with the next one
 * @irq: eventfd of each MSI-X vector after vu_enable(), else -1
 * @msix_cap, @pcie_cap, @pm_cap: offsets in configuration space, found by vu_enable() or
 *	vu_find_caps(); 0: none
 */
struct vu {
	int fd;
	int reply_fd;
	uint16_t next_id;
	int irq[VU_MAX_VECTORS];
	unsigned int num_irqs;
	struct vu_mem mems[VU_MAX_MEMS];
	unsigned int num_mems;
	unsigned int msix_cap, pcie_cap, pm_cap;
};

/* Connect and negotiate; NULL if no device listens or the device closes the connection. */
struct vu *vu_open(const char *path);
/* Hang up and free all that vu_open(), vu_mem_new() and vu_enable() made. */
void vu_close(struct vu *vu);

/* A bare connection without negotiation, -errno on failure. */
int vu_socket(const char *path);

/* Send @len bytes, with descriptors.  0, or -EPIPE. */
int vu_send(int fd, const void *buf, size_t len, const int *fds, unsigned int num_fds);
/* Receive exactly @len bytes.  0, or -EPIPE at the end of the stream. */
int vu_recv(int fd, void *buf, size_t len);

/*
 * One request and its reply.  @out_len: room in @out, which takes the payload of the reply; the
 * payload's length is stored if @got is not NULL.
 */
int vu_call(struct vu *vu, uint16_t cmd, const void *in, size_t in_len, const int *fds,
	    unsigned int num_fds, void *out, size_t out_len, size_t *got);
/* As vu_call() without a reply (VFIO_USER_FLAG_NO_REPLY). */
int vu_post(struct vu *vu, uint16_t cmd, const void *in, size_t in_len, const int *fds,
	    unsigned int num_fds);

int vu_get_info(struct vu *vu, struct vfio_device_info *info);
int vu_get_region_info(struct vu *vu, unsigned int region, struct vfio_region_info *info);
int vu_get_irq_info(struct vu *vu, unsigned int irq, struct vfio_irq_info *info);
int vu_reset(struct vu *vu);

/* Guest memory.  @fd -1: announce without a descriptor. */
int vu_dma_map(struct vu *vu, uint64_t iova, uint64_t size, int fd, uint64_t offset,
	       uint32_t flags);
int vu_dma_unmap(struct vu *vu, uint64_t iova, uint64_t size);
/*
 * New zeroed memory of @size bytes at @iova, readable and writable for the device; lives until
 * vu_close().
 */
struct vu_mem *vu_mem_new(struct vu *vu, uint64_t iova, uint64_t size);
/* The bytes at a DMA address of vu_mem_new()'s memory; NULL if there is none. */
void *vu_mem_ptr(struct vu *vu, uint64_t iova, uint64_t len);

/* Regions: VFIO_PCI_BAR0_REGION_INDEX + n, VFIO_PCI_CONFIG_REGION_INDEX. */
int vu_read(struct vu *vu, unsigned int region, uint64_t off, void *buf, uint32_t len);
int vu_write(struct vu *vu, unsigned int region, uint64_t off, const void *buf, uint32_t len);

/* As above; an error reply ends the program. */
uint32_t vu_rd32(struct vu *vu, unsigned int region, uint64_t off);
uint64_t vu_rd64(struct vu *vu, unsigned int region, uint64_t off);
void vu_wr32(struct vu *vu, unsigned int region, uint64_t off, uint32_t val);
void vu_wr64(struct vu *vu, unsigned int region, uint64_t off, uint64_t val);
uint32_t vu_cfg_rd(struct vu *vu, unsigned int off, unsigned int len);
void vu_cfg_wr(struct vu *vu, unsigned int off, unsigned int len, uint32_t val);

/* Walk the capability list. */
void vu_find_caps(struct vu *vu);

/*
 * VFIO_USER_DEVICE_SET_IRQS.  @flags: VFIO_IRQ_SET_*; @data: @count bytes with
 * VFIO_IRQ_SET_DATA_BOOL; @fds: @num_fds eventfds with VFIO_IRQ_SET_DATA_EVENTFD.
 */
int vu_set_irqs(struct vu *vu, uint32_t flags, unsigned int irq, uint32_t start, uint32_t count,
		const uint8_t *data, const int *fds, unsigned int num_fds);

/*
 * What firmware and a driver's probe function do: memory enable, bus master, an eventfd for each of
 * @vectors, MSI-X enable.
 */
void vu_enable(struct vu *vu, unsigned int vectors);
/* Interrupts of a vector since the last call, without waiting. */
uint64_t vu_irq_count(struct vu *vu, unsigned int vector);
/* Wait for at least one interrupt; returns their number. */
uint64_t vu_irq_wait(struct vu *vu, unsigned int vector);

#endif
