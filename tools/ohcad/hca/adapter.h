/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The adapter: an HCA with all its parts, behind one PCI function.  adapter.c creates and resets
 * it, poll.c has the rounds of polling, regs.c the registers, cmd_table.c the list of its objects.
 */

#ifndef OHCAD_ADAPTER_H
#define OHCAD_ADAPTER_H

#include "device/hca.h"
#include "fabric/ib_speed.h"
#include "base/unix_listen.h"
#include "fabric/owner.h"

/**
 * struct hca_options - the command line's description of an HCA
 * @socket: path of the vfio-user socket
 * @access: who may connect there
 * @mac: MAC address of the first port; the others have those that follow, and GUIDs are derived from it
 * @links: link layers of the ports, OHCA_LINK_*, @num_ports of them
 * @owner: addresses that are its own besides, and those that it may use
 * @speeds: speeds and widths of InfiniBand links; no widths: ib_speeds_default
 * @node: InfiniBand: name of the HCA in the topology that it is, or NULL
 * @pace: InfiniBand ports are no faster than their links
 * @strict: log the rules that software breaks; device/strict.h
 * @profile: what it offers; NULL: everything
 * @quotas: of what its software may use
 * @map: the client may map device memory.  With this, QEMU waits for the answer to each write to a
 *	register, because writes to registers and to mapped memory have to stay in order.
 */
struct hca_options {
	const char *name;
	const char *socket;
	struct unix_access access;
	uint8_t mac[6];
	uint8_t num_ports;
	uint8_t links[HCA_MAX_PORTS];
	struct owner_options owner;
	struct ib_speeds speeds;
	const char *node;
	bool pace;
	const struct hca_profile *profile;
	struct quota_options quotas;
	bool map;
	bool strict;
};

/* Returns NULL and logs on failure.  The fabric is shared, not owned. */
struct hca *hca_new(struct loop *loop, struct fabric *fabric, const struct hca_options *opts);
void hca_free(struct hca *hca);

/* Execute a write to OHCA_REG_CTRL. */
void hca_enable(struct hca *hca);
/*
 * A reset of any kind.  The HCA has stopped when this returns, and a reset of few objects has ended.  Otherwise
 * OHCA_STATUS_RESETTING is set, and rounds of polling free the others, a slice in each.  Another reset meanwhile
 * does not start it again.
 */
void hca_reset(struct hca *hca);
/* A slice of a reset.  Returns false if no reset frees objects. */
bool hca_reset_slice(struct hca *hca);

/*
 * A round of polling: active UARs, command queue and runnable QPs of each of @num HCAs, up to a
 * limit, and then the events that were raised.  HCAs without work of their own raise their events
 * first: they have received messages, and a receiver's interrupt is more urgent than a sender's.
 * An interrupt wakes QEMU, and work of this process that follows it may be delayed.  Returns
 * whether there was any work.
 */
bool hcas_poll(struct hca *const *hcas, unsigned int num);
/* Prepare to sleep: arm all active UARs.  Returns false if there is work after all. */
bool hca_sleep(struct hca *hca);

extern const struct object_class device_class; /* In query_device.c */

#endif
