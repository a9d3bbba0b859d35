/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An HCA: registers, command queue, resource tables and a port, behind one PCI function.
 */

#ifndef OHCAD_HCA_H
#define OHCAD_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "dma.h"
#include "list.h"
#include "loop.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "pci.h"
#include "port.h"
#include "table.h"

struct fabric;
struct eq;

/* Limits that the device publishes.  Tables grow with use. */
#define HCA_MAX_UAR 4096
#define HCA_MAX_PD (1U << 16)
#define HCA_MAX_EQ 64
#define HCA_MAX_CQ (1U << 17)
#define HCA_MAX_CQE (1U << 20)
#define HCA_MAX_MKEY (1U << 20)
#define HCA_MAX_QP (1U << 17)
#define HCA_MAX_QP_WR (1U << 15)
#define HCA_MAX_MSG (1U << 30)
#define HCA_MAX_RD_ATOMIC 64
#define HCA_MSIX_VECTORS 32
#define HCA_RESERVED_LKEY 0x100

/**
 * struct hca - one HCA
 * @name: for log lines
 * @dma: guest memory; pci_dma(fn)
 * @state: HCA_DISABLED until OHCA_CTRL_ENABLE succeeds
 * @feats: features in use
 * @uars, @pds, @eqs, @cqs, @mkeys, @qps: objects by number (mkeys: by index, the key without its low byte)
 * @async_eq: the EQ of asynchronous events, or NULL
 * @active_uars: UARs whose shadow pages are polled
 * @run: QPs (struct qp.run) that have something to do
 */
struct hca {
	const char *name;
	struct loop *loop;
	struct pci_fn *fn;
	struct dma_map *dma;
	struct fabric *fabric;
	struct hca_regs *regs;
	struct cmdq *cmdq;
	uint64_t feats;
	bool ready;
	bool fatal;
	struct table uars, pds, eqs, cqs, mkeys, qps;
	struct eq *async_eq;
	struct list active_uars;
	struct list run;
	struct port port;
};

/**
 * struct hca_options - what the command line says of an HCA
 * @socket: path of the vfio-user socket
 * @mac: MAC address; the node GUID is made of it
 */
struct hca_options {
	const char *name;
	const char *socket;
	uint8_t mac[6];
};

/* Returns NULL and logs on failure.  The fabric is shared, not owned. */
struct hca *hca_new(struct loop *loop, struct fabric *fabric, const struct hca_options *opts);
void hca_free(struct hca *hca);

/* Stop until reset: OHCA_STATUS_FATAL, and OHCA_EVENT_DEVICE_FATAL if an event can still be written. */
void hca_fatal(struct hca *hca, enum ohca_fatal why);

/* The loop's poller: a bounded round over the active UARs and runnable QPs of all HCAs of the fabric. */
bool hca_poll(struct hca *hca);
/* Arm all active UARs; false if one turned out to have work. */
bool hca_sleep(struct hca *hca);

#endif
