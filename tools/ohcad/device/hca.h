/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An HCA: registers, command queue, resource tables and a port, behind one PCI function.
 */

#ifndef OHCAD_HCA_H
#define OHCAD_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/dm.h"
#include "vfio/dma.h"
#include "inject/hca_fault.h"
#include "base/list.h"
#include "base/loop.h"
#include "net/mcast.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "vfio/pci.h"
#include "fabric/port.h"
#include "base/table.h"

struct fabric;
struct qp_type;
struct mkey;
struct eq;

/* Limits that the device publishes.  Tables grow with use. */
#define HCA_MAX_UAR 4096
#define HCA_MAX_PD (1U << 16)
#define HCA_MAX_EQ 64
#define HCA_MAX_CQ (1U << 17)
#define HCA_MAX_CQE (1U << 20)
#define HCA_MAX_MKEY (1U << 20)
#define HCA_RECENT_MKEYS 64 /* a power of two */
#define HCA_MAX_FAST_REG (1U << 16)
#define HCA_MAX_QP (1U << 17)
#define HCA_MAX_QP_WR (1U << 15)
#define HCA_MAX_SRQ (1U << 17)
#define HCA_MAX_SRQ_WR HCA_MAX_QP_WR
#define HCA_MAX_XRCD (1U << 16)
#define HCA_MAX_TAGS 4096 /* of an SRQ */
#define HCA_MAX_COUNTERS (1U << 16)
#define HCA_MAX_MSG (1U << 30)
#define HCA_MAX_MR (1ULL << 46)
#define HCA_MAX_RD_ATOMIC 64
#define HCA_MAX_MCAST 8192
#define HCA_MAX_MCAST_QP 1024
#define HCA_MAX_FLOW (1U << 16)
#define HCA_MAX_IND_TBL (1U << 14)
#define HCA_LOG_MAX_IND_TBL 7 /* OHCA_MAX_IND_TBL */
#define HCA_MSIX_VECTORS 32
#define HCA_RESERVED_LKEY 0x100
#define HCA_FIRST_QPN 16 /* 0 and 1 are special */

/* What it can do besides reliable connections: a bit for each part that is there */
#define HCA_CAPS_ETH \
	(OHCA_CAP_RAW | OHCA_CAP_RSS | OHCA_CAP_TSO | OHCA_CAP_LARGE_RX | OHCA_CAP_ETH_QUEUES)
#define HCA_CAPS_QP (OHCA_CAP_UC | OHCA_CAP_UD | OHCA_CAP_MCAST | HCA_CAPS_ETH)
#define HCA_CAPS_CQ (OHCA_CAP_CQ_RESIZE | OHCA_CAP_CQ_MODER | OHCA_CAP_TIMESTAMP)
#define HCA_CAPS_ATOMIC (OHCA_CAP_ATOMIC | OHCA_CAP_ATOMIC_WRITE | OHCA_CAP_FLUSH)
#define HCA_CAPS_MEM                                                                             \
	(HCA_CAPS_ATOMIC | OHCA_CAP_MEM_MGT | OHCA_CAP_MW | OHCA_CAP_MODIFY_MKEY | OHCA_CAP_DM | \
	 OHCA_CAP_ODP)
#define HCA_CAPS_SRQ (OHCA_CAP_SRQ | OHCA_CAP_XRC | OHCA_CAP_TM)
#define HCA_CAPS (HCA_CAPS_QP | HCA_CAPS_MEM | HCA_CAPS_CQ | HCA_CAPS_SRQ | OHCA_CAP_COUNTERS)

/**
 * struct mkey_space - a keyed permutation of the words that bits 31:8 of keys are, and its inverse
 * @mul: odd multipliers
 * @inv: their inverses modulo 2^32
 * @seq: makes each use of an index a different key
 * @low: where the low bits come from
 * @recent: objects found last, by some bits of their names
 */
struct mkey_space {
	uint32_t mul[2];
	uint32_t inv[2];
	uint32_t seq;
	uint32_t low;
	struct mkey *recent[HCA_RECENT_MKEYS];
};

/**
 * struct mkey_missing - the page of a region of type OHCA_MKEY_ODP that an access has missed
 * @mkey: the region
 * @pos: byte that it begins with, from the beginning of the region's first page
 * @len: bytes that are needed from there on
 * @rest: wq_resolve_span(): bytes that the list's element has from there on
 * @write: for writing
 */
struct mkey_missing {
	const struct mkey *mkey;
	uint64_t pos;
	uint64_t len;
	uint64_t rest;
	bool write;
};

/**
 * struct hca - one HCA
 * @name: for log lines; owned
 * @dma: guest memory; pci_dma(fn)
 * @regs: registers of BAR 0
 * @cmdq: command queue while @ready, else NULL
 * @feats: features in use
 * @ready: OHCA_STATUS_READY: host memory may be used
 * @fatal: OHCA_STATUS_FATAL
 * @stalled: ready, but bus mastering is off: nothing is done until it is back
 * @worked: in this round
 * @uars, @pds, @eqs, @cqs, @mkeys, @qps, @dms, @flows, @srqs, @xrcds, @counters, @ind_tbls: objects
 *	by number (mkeys: by index, see mkey.c)
 * @qp_types: by OHCA_QPT_*, QP_NUM_TYPES of them
 * @mcast: multicast groups
 * @async_eq: the EQ of asynchronous events, or NULL
 * @active_uars: UARs whose shadow pages are polled
 * @run: QPs (struct qp.run) that may have something to do
 * @more: those that have more to do since their turn was over
 * @cq_check: CQs (struct cq.check) with CQEs since their arm counters were looked at
 * @eq_check: EQs (struct eq.check) with EQEs since their arm counter was looked at
 * @log_tokens: lines that may be logged at once, at @log_time
 * @dm: device memory
 * @faults: what is to fail
 * @missing: why mkey_resolve() returned -MKEY_MISSING
 * @keys: how memory keys are made of indexes; the mkey table's own
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
	bool stalled;
	bool worked;
	struct table uars, pds, eqs, cqs, mkeys, qps, dms, flows, srqs, xrcds, counters, ind_tbls;
	const struct qp_type *const *qp_types;
	struct mcast_table mcast;
	struct eq *async_eq;
	struct list active_uars;
	struct list run;
	struct list more;
	struct list cq_check;
	struct list eq_check;
	unsigned int log_tokens;
	uint64_t log_time;
	struct hca_faults faults;
	struct mkey_missing missing;
	struct mkey_space keys;
	struct dm_space dm;
	struct port port;
};

/**
 * struct hca_options - what the command line says of an HCA
 * @socket: path of the vfio-user socket
 * @mac: MAC address; the node GUID is made of it
 * @map: the client may map device memory.  A QEMU that is offered that waits for the answer to each
 *	of its writes to registers, as it could no longer tell their order.
 */
struct hca_options {
	const char *name;
	const char *socket;
	uint8_t mac[6];
	bool map;
};

/* Returns NULL and logs on failure.  The fabric is shared, not owned. */
struct hca *hca_new(struct loop *loop, struct fabric *fabric, const struct hca_options *opts);
void hca_free(struct hca *hca);

/*
 * Stop until reset: OHCA_STATUS_FATAL, and OHCA_EVENT_DEVICE_FATAL if an event can still be
 * written.
 */
void hca_fatal(struct hca *hca, enum ohca_fatal why);

/*
 * The loop's poller: a bounded round over active UARs, command queue and runnable QPs of each of
 * @num HCAs, then the events that came of it.  Those HCAs come first that had no work of their own,
 * as who gets a message is waited for, and who sent one is not: the interrupt wakes QEMU, and what
 * is done after it may have to wait for that.  Returns whether there was any work.
 */
bool hcas_poll(struct hca *const *hcas, unsigned int num);
/* The poller's way to sleep: arm all active UARs; false if there is work after all. */
bool hca_sleep(struct hca *hca);

/*
 * May a line be logged of what the host has done?  Some at once, then one per second, so that no
 * host fills the log.
 */
bool hca_may_log(struct hca *hca);

#endif
