/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An HCA as its objects see it: tables of objects by number, and pointers to what the folders above
 * own.
 */

#ifndef OHCAD_HCA_H
#define OHCAD_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/table.h"
#include "device/counters.h"
#include "device/latency.h"
#include "device/quota.h"
#include "ohca/ohca_cmd.h"
#include "ohca/ohca_queue.h"
#include "ohca/ohca_regs.h"
#include "vfio/dma.h"
#include "vfio/pci.h"

struct cmd_desc;
struct cmdq;
struct dm_space;
struct eq;
struct fabric;
struct hca;
struct hca_faults;
struct hca_profile;
struct hca_regs;
struct mcast_table;
struct mkey;
struct mkey_space;
struct object_class;
struct owner;
struct port;
struct qp_type;
struct sched;

/* Limits that the device publishes.  Tables grow with use. */
#define HCA_MAX_UAR 4096
#define HCA_MAX_PD (1U << 17)
#define HCA_MAX_EQ 64
#define HCA_MAX_CQ (1U << 17)
#define HCA_MAX_CQE (1U << 20)
#define HCA_MAX_MKEY (1U << 20)
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
#define HCA_MAX_RD_ATOMIC 128
#define HCA_MAX_MCAST 8192
#define HCA_MAX_MCAST_QP 1024
#define HCA_MAX_FLOW (1U << 16)
#define HCA_MAX_GIDS 128 /* of an Ethernet port */
#define HCA_MAX_FRAME 9234 /* MTU 9216, Ethernet header, VLAN tag */
#define HCA_MAX_IND_TBL (1U << 14)
#define HCA_LOG_MAX_IND_TBL 7 /* OHCA_MAX_IND_TBL */
#define HCA_MSIX_VECTORS 32
#define HCA_RESERVED_LKEY 0x100
#define HCA_FIRST_QPN 16 /* OHCA_SPECIAL_QPN() of OHCA_MAX_PORTS ports are below */
#define HCA_MAX_PORTS 2
#define HCA_NUM_OPCODES (OHCA_CMD_DESTROY_FLOW + 1)

/* Capabilities besides reliable connections, a bit each */
#define HCA_CAPS_ETH \
	(OHCA_CAP_RAW | OHCA_CAP_RSS | OHCA_CAP_TSO | OHCA_CAP_LARGE_RX | OHCA_CAP_ETH_QUEUES)
#define HCA_CAPS_IB (OHCA_CAP_PATH_MIG | OHCA_CAP_UD_CSUM | OHCA_CAP_UD_LSO)
#define HCA_CAPS_QP (OHCA_CAP_UC | OHCA_CAP_UD | OHCA_CAP_MCAST)
#define HCA_CAPS_CQ (OHCA_CAP_CQ_RESIZE | OHCA_CAP_CQ_MODER | OHCA_CAP_TIMESTAMP)
#define HCA_CAPS_ATOMIC (OHCA_CAP_ATOMIC | OHCA_CAP_ATOMIC_WRITE | OHCA_CAP_FLUSH)
#define HCA_CAPS_MEM                                                                             \
	(HCA_CAPS_ATOMIC | OHCA_CAP_MEM_MGT | OHCA_CAP_MW | OHCA_CAP_MODIFY_MKEY | OHCA_CAP_DM | \
	 OHCA_CAP_ODP)
#define HCA_CAPS_SRQ (OHCA_CAP_SRQ | OHCA_CAP_XRC | OHCA_CAP_TM)
/* Of all link layers */
#define HCA_CAPS_ALL                                                                   \
	(HCA_CAPS_QP | HCA_CAPS_MEM | HCA_CAPS_CQ | HCA_CAPS_SRQ | OHCA_CAP_COUNTERS | \
	 OHCA_CAP_LINK_LAYER)

/**
 * struct hca_ops - what the objects ask of the adapter that they are part of
 * @fatal: the HCA has just become fatal: raise the event, and stop
 * @link_wanted: a port is to have another link layer from the next reset on: that may be at once if no software
 *	uses the HCA
 */
struct hca_ops {
	void (*fatal)(struct hca *hca, enum ohca_fatal why);
	void (*link_wanted)(struct hca *hca);
};

/**
 * struct hca - one HCA
 * @name: for log lines; owned
 * @ops: the adapter's
 * @hooks: set while there are rules for faults, else NULL
 * @mac: burnt-in address of its first port; GUIDs are made of it
 * @num_ports: of @ports and @links
 * @links: link layers of its ports, OHCA_LINK_*
 * @next_links: those that they have from the next reset on
 * @made_links: those that the HCA was made with
 * @links_fixed: they do not change
 * @node: InfiniBand, with a topology: name of the HCA in it
 * @strict: log the rules that software breaks, and count them in @broken_rules; see strict.h
 * @ports_read: bit n: OHCA_CMD_QUERY_PORT of port n was executed since the asynchronous EQ was created
 * @dma: guest memory; pci_dma(fn)
 * @regs: registers of BAR 0; hca/regs.c's
 * @cmds: its commands by opcode, NULL: there is none
 * @cmdq: command queue while @ready, else NULL
 * @profile: what it offers, until the next reset; device/profile.h
 * @next_profile: what it offers from the next reset on
 * @offered, @caps, @max_msg: of @profile: features and capabilities for its link layers, and the
 *	largest message
 * @wqe_ops: operations of send queues that @caps allow, a bit for each OHCA_OP_*
 * @feats: features in use
 * @ready: OHCA_STATUS_READY: host memory may be used
 * @fatal: OHCA_STATUS_FATAL
 * @resetting: OHCA_STATUS_RESETTING, made by a fault; see struct hca_hooks
 * @to_reset: a reset frees the objects: so many classes are left to do; 0: it does not.  Then @ready is
 *	false, so nothing uses them, and host memory is not accessed
 * @stalled: ready, but bus mastering is off: nothing is done until it is back
 * @worked: in this round
 * @measures: latencies of work requests are measured; qp/qp_latency.c's, with the next two
 * @measured_since: counts how often that was begun
 * @latency: of all its QPs
 * @uars, @pds, @eqs, @cqs, @mkeys, @qps, @dms, @flows, @srqs, @xrcds, @counters, @ind_tbls: objects
 *	by number (mkeys: by index, see mkey.c)
 * @qp_types: by OHCA_QPT_*, QP_NUM_TYPES of them
 * @port_counters: by port, of all QPs that are bound to no other set
 * @old_counters: by port, sums of the sets that were freed
 * @async_eq: the EQ of asynchronous events, or NULL
 * @uar_shift: log2 of the distance of UARs
 * @active_uars: UARs whose shadow pages are polled
 * @doorbells: so many may be handled yet in this round; qp/uar.c's
 * @run: QPs (struct qp.run) that may have something to do
 * @more: QPs that had more to do when their quantum was used up
 * @jobs: work that no QP does, @num_jobs of them; qp/sched.c's
 * @busy: it counts in sched->busy
 * @passed_over: a QP of @more is to be the first one in the next round
 * @owed: cost of its QPs beyond its share in earlier rounds; qp/sched.c's
 * @spent: their cost since the HCA had nothing to do
 * @turn: sched->turns after its last turn
 * @in_error: QPs in OHCA_QPS_ERR
 * @syncing: QPs (struct resp_lists.syncing) that wait until memory is written back
 * @cq_check: CQs (struct cq.check) with CQEs since their arm counters were looked at
 * @eq_check: EQs (struct eq.check) with EQEs since their arm counter was looked at
 * @log_time: second from which on a line of QUOTA_LOG that was logged is given back
 * @ports: by number, less one; fabric/port.c's
 * @owner: of addresses; fabric/owner.c's
 * @dm: device memory; mem/dm.c's
 * @keys: how memory keys are made of indexes; mem/mkey.c's
 * @mcast: multicast groups; net/mcast.c's
 * @faults: what is to fail; inject/hca_fault.c's
 * @sched: what the schedulers of the fabric's HCAs share; qp/sched.c's
 * @quotas: by enum quota_kind
 */
struct hca {
	const char *name;
	const struct hca_ops *ops;
	const struct hca_hooks *hooks;
	struct loop *loop;
	struct pci_fn *fn;
	struct dma_map *dma;
	struct fabric *fabric;
	struct hca_regs *regs;
	struct cmdq *cmdq;
	const struct cmd_desc *cmds[HCA_NUM_OPCODES];
	uint8_t mac[6];
	uint8_t num_ports;
	uint8_t links[HCA_MAX_PORTS];
	uint8_t next_links[HCA_MAX_PORTS];
	uint8_t made_links[HCA_MAX_PORTS];
	bool links_fixed;
	const char *node;
	bool strict;
	uint32_t broken_rules;
	uint16_t ports_read;
	const struct hca_profile *profile;
	const struct hca_profile *next_profile;
	uint64_t offered;
	uint64_t caps;
	uint32_t max_msg;
	uint32_t wqe_ops;
	uint64_t feats;
	bool ready;
	bool fatal;
	bool resetting;
	uint8_t to_reset;
	bool stalled;
	bool worked;
	bool measures;
	uint64_t measured_since;
	struct table uars, pds, eqs, cqs, mkeys, qps, dms, flows, srqs, xrcds, counters, ind_tbls;
	const struct qp_type *const *qp_types;
	struct counters port_counters[HCA_MAX_PORTS];
	struct counters old_counters[HCA_MAX_PORTS];
	struct eq *async_eq;
	uint32_t uar_shift;
	struct list active_uars;
	uint32_t doorbells;
	struct list run;
	struct list more;
	struct list jobs;
	uint32_t num_jobs;
	bool busy;
	bool passed_over;
	uint32_t owed;
	uint64_t spent;
	uint64_t turn;
	uint32_t in_error;
	struct list syncing;
	struct list cq_check;
	struct list eq_check;
	uint64_t log_time;
	struct port *ports[HCA_MAX_PORTS];
	struct owner *owner;
	struct dm_space *dm;
	struct mkey_space *keys;
	struct mcast_table *mcast;
	struct hca_faults *faults;
	struct sched *sched;
	struct quota quotas[QUOTA_NUM];
	struct latency latency;
};

/* What it offers: OHCA_CAP_* */
static inline uint64_t hca_caps(const struct hca *hca)
{
	return hca->caps;
}

/* OHCA_STATUS_RESETTING */
static inline bool hca_is_resetting(const struct hca *hca)
{
	return hca->resetting || hca->to_reset;
}

/* Has one of its ports this link layer, OHCA_LINK_*? */
bool hca_has_link(const struct hca *hca, uint8_t link);

/* Stop until reset: OHCA_STATUS_FATAL.  Nothing happens if the HCA is fatal already. */
void hca_fatal(struct hca *hca, enum ohca_fatal why);

/*
 * Rate limit of log lines about what the host does: QUOTA_LOG at once, then one per second.  Returns
 * whether a line may be logged.
 */
bool hca_may_log(struct hca *hca);

#endif
