/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The adapter: an HCA with all that belongs to it, behind one PCI function.  adapter.c has its life,
 * poll.c its rounds of work, regs.c its registers, cmd_table.c the list of its objects.
 */

#ifndef OHCAD_ADAPTER_H
#define OHCAD_ADAPTER_H

#include "device/hca.h"
#include "fabric/ib_speed.h"

/**
 * struct hca_options - what the command line says of an HCA
 * @socket: path of the vfio-user socket
 * @mac: MAC address; the node GUID is made of it
 * @infiniband: the link is InfiniBand
 * @speeds: what that may be; no widths: ib_speeds_default
 * @pace: the port is no faster than its link
 * @map: the client may map device memory.  A QEMU that is offered that waits for the answer to each
 *	of its writes to registers, as it could no longer tell their order.
 */
struct hca_options {
	const char *name;
	const char *socket;
	uint8_t mac[6];
	bool infiniband;
	struct ib_speeds speeds;
	bool pace;
	bool map;
};

/* Returns NULL and logs on failure.  The fabric is shared, not owned. */
struct hca *hca_new(struct loop *loop, struct fabric *fabric, const struct hca_options *opts);
void hca_free(struct hca *hca);

/* What a write of OHCA_REG_CTRL does.  @caps: features offered. */
void hca_enable(struct hca *hca, uint64_t caps);
void hca_reset(struct hca *hca);

/*
 * The loop's poller: a bounded round over active UARs, command queue and runnable QPs of each of
 * @num HCAs, then the events that came of it.  Those HCAs come first that had no work of their own,
 * as who gets a message is waited for, and who sent one is not: the interrupt wakes QEMU, and what
 * is done after it may have to wait for that.  Returns whether there was any work.
 */
bool hcas_poll(struct hca *const *hcas, unsigned int num);
/* The poller's way to sleep: arm all active UARs; false if there is work after all. */
bool hca_sleep(struct hca *hca);

extern const struct object_class device_class; /* query_device.c */

#endif
