/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MSI-X of a function: table, pending bits, and the eventfds that stand for messages.  The client
 * routes interrupts by its own copy of the table, so the addresses and data here are only stored.
 */

#ifndef OHCAD_MSIX_H
#define OHCAD_MSIX_H

#include <stdbool.h>
#include <stdint.h>

#include "vfio/vfio_user.h"

#define MSIX_MAX_VECTORS 2048

/**
 * struct msix_vector - a vector
 * @entry: table entry, little endian: address, data, vector control
 * @fd: eventfd, -1: none
 * @masked: set by the vector control or by VFIO_IRQ_SET_ACTION_MASK, whichever came last.  It is
 *	not set after a reset, whatever the table entry says: a client that keeps the table to
 *	itself never writes this one.
 * @pending: to be sent when neither the vector nor the function is masked
 */
struct msix_vector {
	uint32_t entry[4];
	int fd;
	bool masked;
	bool pending;
};

/**
 * struct msix - the function's MSI-X
 * @enabled: MSI-X enable; without it interrupts are dropped
 * @open: the function is not masked and may use the bus
 * @refused: an eventfd of a client has blocked this process: no client gets interrupts any more
 */
struct msix {
	struct msix_vector *vectors;
	unsigned int num;
	bool enabled;
	bool open;
	bool refused;
};

int msix_init(struct msix *msix, unsigned int vectors); /* Returns 0 or -errno. */
void msix_fini(struct msix *msix);

/* Back to the state after power-on, except for the eventfds, which belong to the client. */
void msix_reset(struct msix *msix);
/* The client has disconnected: close its eventfds. */
void msix_disconnect(struct msix *msix);

/* Send what is pending if @enabled and @open. */
void msix_gate(struct msix *msix, bool enabled, bool open);
void msix_raise(struct msix *msix, unsigned int vector);

/* VFIO_USER_DEVICE_SET_IRQS of VFIO_PCI_MSIX_IRQ_INDEX. */
int msix_set_irqs(struct msix *msix, struct vfio_user_irqs *irqs);

/* Naturally aligned accesses of 1, 2, 4 or 8 bytes; beyond the vectors reads are 0. */
uint64_t msix_table_read(const struct msix *msix, uint64_t off, unsigned int len);
void msix_table_write(struct msix *msix, uint64_t off, unsigned int len, uint64_t val);
uint64_t msix_pba_read(const struct msix *msix, uint64_t off, unsigned int len);

#endif
