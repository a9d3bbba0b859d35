/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A PCI function behind a vfio-user socket: configuration space, BARs, MSI-X, resets.  It knows
 * nothing of RDMA; the device behind it is a struct pci_ops.
 */

#ifndef OHCAD_PCI_H
#define OHCAD_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "vfio/dma.h"
#include "base/loop.h"

struct pci_fn;

/**
 * struct pci_ops - the device behind the function
 * @bar_read: read @len (1, 2, 4 or 8, naturally aligned, inside the BAR) bytes; what is not there
 *	reads as 0
 * @bar_write: likewise
 * @reset: VFIO_USER_DEVICE_RESET, FLR, or the client is gone: stop at once, forget everything the
 *	host configured
 * @dma_changed: regions were added or removed (also when @reset follows); no pointer from dma_ptr()
 *	may be used any more
 */
struct pci_ops {
	uint64_t (*bar_read)(void *dev, unsigned int bar, uint64_t off, unsigned int len);
	void (*bar_write)(void *dev, unsigned int bar, uint64_t off, unsigned int len,
			  uint64_t val);
	void (*reset)(void *dev);
	void (*dma_changed)(void *dev);
};

/**
 * struct pci_config - what the function looks like
 */
struct pci_config {
	uint16_t vendor, device, subvendor, subdevice;
	uint8_t revision;
	uint32_t class_code;
	uint64_t bar_size[6]; /* power of two, 0: none; 64-bit memory BARs: odd ones stay 0 */
	unsigned int msix_bar; /* table at offset 0, PBA at half of the BAR */
	unsigned int msix_vectors;
	/*
	 * Part of a BAR that is memory and may be accessed without @bar_read and @bar_write: @mem_fd
	 * (not owned) has it at the same offset.  @mem_size 0: there is none.
	 */
	unsigned int mem_bar;
	int mem_fd;
	uint64_t mem_offset, mem_size;
};

/*
 * Listen on the unix socket @path (an old socket file nobody listens on is replaced).  One client
 * at a time; when it is gone the next one may connect.  Returns NULL and logs on failure; errno is
 * set.
 */
struct pci_fn *pci_fn_new(struct loop *loop, const char *path, const struct pci_config *config,
			  const struct pci_ops *ops, void *dev);
/* Closes, removes the socket file.  Calls @reset if a client is connected. */
void pci_fn_free(struct pci_fn *fn);

const char *pci_path(const struct pci_fn *fn);
bool pci_connected(const struct pci_fn *fn); /* to a machine */
struct dma_map *pci_dma(struct pci_fn *fn);
/* Bus master enable: without it the device neither reads nor writes host memory nor interrupts. */
bool pci_bus_master(struct pci_fn *fn);
/*
 * Take the function away, or bring it back.  While it is away all reads yield ones, writes do
 * nothing, and it neither uses host memory nor interrupts; the client stays connected.  It comes
 * back as after power-on.  Either way @reset is called.
 */
void pci_set_present(struct pci_fn *fn, bool present);
bool pci_present(struct pci_fn *fn);
/*
 * Raise an MSI-X vector; kept pending while it is masked, dropped if it has no eventfd.  One
 * eventfd write at most.
 */
void pci_msix_raise(struct pci_fn *fn, unsigned int vector);

#endif
