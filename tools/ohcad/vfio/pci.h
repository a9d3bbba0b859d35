/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PCI function behind a vfio-user socket: configuration space, BARs, MSI-X, resets.  It does not
 * depend on RDMA; the device behind it is a struct pci_ops.
 */

#ifndef OHCAD_PCI_H
#define OHCAD_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "vfio/dma.h"
#include "base/loop.h"
#include "base/unix_listen.h"

struct pci_fn;

/**
 * struct pci_ops - the device behind the function
 * @bar_read: read @len bytes (1, 2, 4 or 8, naturally aligned, inside of the BAR); an address
 *	without a register reads as 0
 * @bar_write: likewise
 * @reset: VFIO_USER_DEVICE_RESET, FLR, or the client has disconnected: stop at once, and return to
 *	the state after power-on
 * @bus_master: what pci_bus_master() returns has changed.  The client is answered afterwards, so the device must have
 *	stopped to use host memory when this returns.  It is not called for what @reset changes.  NULL: not needed
 * @dma_changed: regions were added or removed (also called when @reset follows); pointers from
 *	dma_ptr() are invalid from now on
 * @may_log: a line about what the client does is to be logged; returns whether it may be.  NULL: each one may
 */
struct pci_ops {
	uint64_t (*bar_read)(void *dev, unsigned int bar, uint64_t off, unsigned int len);
	void (*bar_write)(void *dev, unsigned int bar, uint64_t off, unsigned int len,
			  uint64_t val);
	void (*reset)(void *dev);
	void (*bus_master)(void *dev, bool on);
	void (*dma_changed)(void *dev);
	bool (*may_log)(void *dev);
};

/**
 * struct pci_config - the function's configuration
 */
struct pci_config {
	uint16_t vendor, device, subvendor, subdevice;
	uint8_t revision;
	uint32_t class_code;
	uint64_t bar_size[6]; /* powers of two, 0: none; 64-bit memory BARs: odd ones are 0 */
	unsigned int msix_bar; /* its MSI-X table is at offset 0, its PBA at half of the BAR */
	unsigned int msix_vectors;
	/*
	 * A part of a BAR that is memory, and may be accessed without @bar_read and @bar_write.  It
	 * is at the same offset in the file @mem_fd (not owned).  @mem_size 0: there is none.
	 */
	unsigned int mem_bar;
	int mem_fd;
	uint64_t mem_offset, mem_size;
	struct unix_access access; /* who may connect */
};

/*
 * Listen on the unix socket @path; an old socket file on which no process listens is replaced.
 * There can be one client at a time; the next one may connect when it has disconnected.  Returns
 * NULL and logs on failure; errno is set.
 */
struct pci_fn *pci_fn_new(struct loop *loop, const char *path, const struct pci_config *config,
			  const struct pci_ops *ops, void *dev);
/* Close the socket and remove its file.  Calls @reset if a client is connected. */
void pci_fn_free(struct pci_fn *fn);

const char *pci_path(const struct pci_fn *fn);
bool pci_connected(const struct pci_fn *fn); /* a machine is connected */
struct dma_map *pci_dma(struct pci_fn *fn);
/* Bus master enable: without it the device neither accesses host memory nor raises interrupts. */
bool pci_bus_master(struct pci_fn *fn);
/*
 * Take the function away, or bring it back.  While it is away, all reads return ones, writes do
 * nothing, and the function neither accesses host memory nor raises interrupts.  The client stays
 * connected.  When it comes back it is in the state after power-on.  @reset is called in both
 * cases.
 */
void pci_set_present(struct pci_fn *fn, bool present);
bool pci_present(struct pci_fn *fn);
/*
 * Raise an MSI-X vector.  It stays pending while it is masked, and is dropped if it has no eventfd.
 * This takes one write to an eventfd at most.
 */
void pci_msix_raise(struct pci_fn *fn, unsigned int vector);

#endif
