// SPDX-License-Identifier: GPL-2.0
/* An HCA: life cycle, polling, and what ties the PCI function to the objects. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/cmd.h"
#include "device/cmdq.h"
#include "device/cq.h"
#include "device/eq.h"
#include "fabric/fabric.h"
#include "eth/flow.h"
#include "inject/hca_rule.h"
#include "base/log.h"
#include "mem/mkey.h"
#include "mem/pd.h"
#include "qp/qp.h"
#include "hca/qp_types.h"
#include "hca/regs.h"
#include "eth/rss.h"
#include "qp/srq.h"
#include "qp/turn.h"
#include "qp/uar.h"

#define FW_VERSION (1ULL << 32) /* 1.0.0 */
#define BAR_MSIX_SIZE 0x2000
#define GUID_LEN 8
#define LOG_BURST 30
#define LOG_PERIOD_NS 1000000000ULL

/* Bound of a polling round: UARs with work; those without cost next to nothing. */
#define UARS_PER_POLL 16

#define CLOCK_KHZ 1000000 /* of loop_clock() */

static void hca_init_lists(struct hca *hca)
{
	list_init(&hca->active_uars);
	list_init(&hca->run);
	list_init(&hca->more);
	list_init(&hca->cq_check);
	list_init(&hca->eq_check);
}

/*
 * Empty tables; numbers start anew, but not those of QPs: peers may still have connections to the
 * QPs that were there before a reset, and refuse one of the same name.
 */
static int hca_init_tables(struct hca *hca)
{
	if (table_init(&hca->uars, 0, HCA_MAX_UAR) || table_init(&hca->pds, 1, HCA_MAX_PD + 1) ||
	    table_init(&hca->eqs, 1, HCA_MAX_EQ + 1) || table_init(&hca->cqs, 1, HCA_MAX_CQ + 1) ||
	    table_init(&hca->mkeys, 0, HCA_MAX_MKEY) || table_init(&hca->dms, 1, DM_PAGES + 1) ||
	    table_init(&hca->flows, 1, HCA_MAX_FLOW + 1) ||
	    table_init(&hca->ind_tbls, 1, HCA_MAX_IND_TBL + 1) ||
	    table_init(&hca->srqs, 1, HCA_MAX_SRQ + 1) ||
	    table_init(&hca->xrcds, 1, HCA_MAX_XRCD + 1) ||
	    table_init(&hca->counters, 1, HCA_MAX_COUNTERS + 1))
		return -ENOMEM;
	return mkey_space_init(&hca->keys);
}

static void hca_fini_tables(struct hca *hca)
{
	mcast_fini(&hca->mcast);
	table_fini(&hca->counters);
	table_fini(&hca->xrcds);
	table_fini(&hca->srqs);
	table_fini(&hca->ind_tbls);
	table_fini(&hca->flows);
	table_fini(&hca->dms);
	table_fini(&hca->mkeys);
	table_fini(&hca->cqs);
	table_fini(&hca->eqs);
	table_fini(&hca->pds);
	table_fini(&hca->uars);
}

/* Free all objects, users before what they use, without touching host memory. */
static void hca_free_objects(struct hca *hca)
{
	flow_reset_all(hca);
	qp_reset_all(hca);
	ind_tbl_reset_all(hca);
	counters_reset_all(hca);
	srq_reset_all(hca);
	xrcd_reset_all(hca);
	cq_reset_all(hca);
	eq_reset_all(hca);
	mkey_reset_all(hca);
	dm_reset_all(hca);
	pd_reset_all(hca);
	uar_reset_all(hca);
	cmdq_free(hca->cmdq);
	hca->cmdq = NULL;
}

bool hca_may_log(struct hca *hca)
{
	uint64_t now = loop_now(hca->loop);
	uint64_t more = (now - hca->log_time) / LOG_PERIOD_NS;

	if (more) {
		hca->log_time = now;
		hca->log_tokens = more < LOG_BURST - hca->log_tokens ? hca->log_tokens + more
								     : LOG_BURST;
	}
	if (!hca->log_tokens)
		return false;
	if (!--hca->log_tokens)
		log_info(hca->name, "more of this is not logged for a while");
	return true;
}

void hca_reset(struct hca *hca)
{
	if ((hca->ready || hca->fatal) && hca_may_log(hca))
		log_info(hca->name, "reset");
	hca->ready = false;
	hca->fatal = false;
	hca->stalled = false;
	hca->feats = 0;
	port_reset(&hca->port);
	hca_free_objects(hca);
	memset(hca->regs, 0, sizeof(*hca->regs));

	hca_fini_tables(hca);
	hca_init_lists(hca);
	if (hca_init_tables(hca))
		hca_fatal(hca, OHCA_FATAL_INTERNAL);
}

void hca_enable(struct hca *hca, uint64_t caps)
{
	struct hca_regs *regs = hca->regs;

	if (regs->feats & ~caps || !pci_bus_master(hca->fn)) {
		hca_fatal(hca, OHCA_FATAL_CONFIG);
		return;
	}
	hca->cmdq = cmdq_new(hca, &regs->cmdq);
	if (!hca->cmdq) {
		hca_fatal(hca, OHCA_FATAL_CONFIG);
		return;
	}
	hca->feats = regs->feats;
	hca->ready = true;
	if (hca_may_log(hca))
		log_info(hca->name, "enabled, features %#llx", (unsigned long long)hca->feats);
	cmdq_kick(hca->cmdq);
	hca_rule_enabled(hca);
}

void hca_fatal(struct hca *hca, enum ohca_fatal why)
{
	static const char *const names[] = {
		[OHCA_FATAL_NONE] = "none",
		[OHCA_FATAL_CONFIG] = "enabled with a bad configuration",
		[OHCA_FATAL_CMDQ] = "command queue",
		[OHCA_FATAL_EQ] = "event queue not accessible",
		[OHCA_FATAL_INTERNAL] = "internal",
	};

	if (hca->fatal)
		return;
	if (hca_may_log(hca))
		log_error(hca->name, "fatal error: %s", names[why]);
	hca->regs->stopped = regs_heartbeat(hca);
	hca->regs->fatal = why;
	hca->fatal = true;

	if (hca->ready) {
		eq_async(hca, OHCA_EVENT_DEVICE_FATAL, why);
		eq_flush(hca);
	}
	hca->ready = false;
	cq_stop_all(hca);
	port_update(&hca->port);
}

/* Follow the bus master enable bit.  Returns whether the HCA may do anything. */
static bool hca_may_run(struct hca *hca)
{
	bool stalled;

	if (!hca->ready)
		return false;
	stalled = !pci_bus_master(hca->fn);
	if (stalled != hca->stalled) {
		hca->stalled = stalled;
		port_update(&hca->port);
	}
	return !stalled;
}

/* One look at each active UAR; those that have been idle for long enough are put to sleep. */
static bool hca_poll_uars(struct hca *hca)
{
	uint64_t now = loop_now(hca->loop);
	struct list *node, *next;
	unsigned int busy = 0;

	for (node = hca->active_uars.next; node != &hca->active_uars; node = next) {
		struct uar *uar = list_entry(node, struct uar, active);

		next = node->next;
		if (!uar_poll(uar) && (!uar_idle(uar, now) || uar_sleep(uar)))
			continue;
		uar->last_work = now;
		if (++busy < UARS_PER_POLL || next == &hca->active_uars)
			continue;
		/* The next round starts where this one ends. */
		list_del(&hca->active_uars);
		list_add_tail(next, &hca->active_uars);
		break;
	}
	return busy;
}

/* A bounded round over active UARs, command queue and runnable QPs.  Returns whether there was work. */
static bool hca_poll(struct hca *hca)
{
	bool work;

	if (!hca_may_run(hca))
		return false;
	work = hca_poll_uars(hca);
	work |= cmdq_poll(hca->cmdq);
	if (hca->ready)
		work |= turn_round(hca);
	return work;
}

/* The events that came of a round, wherever in the process, and their interrupts. */
static void hca_tell(struct hca *hca)
{
	if (hca->stalled)
		return;
	cq_flush(hca);
	eq_flush(hca);
}

bool hcas_poll(struct hca *const *hcas, unsigned int num)
{
	bool work = false;
	unsigned int i;

	for (i = 0; i < num; i++) {
		hcas[i]->worked = hca_poll(hcas[i]);
		work |= hcas[i]->worked;
	}
	for (i = 0; i < num; i++) {
		if (!hcas[i]->worked)
			hca_tell(hcas[i]);
	}
	for (i = 0; work && i < num; i++) {
		if (hcas[i]->worked)
			hca_tell(hcas[i]);
	}
	return work;
}

bool hca_sleep(struct hca *hca)
{
	struct list *node, *next;

	if (!hca_may_run(hca))
		return true;
	if (cmdq_pending(hca->cmdq) || !list_empty(&hca->run) || !list_empty(&hca->more) ||
	    !list_empty(&hca->cq_check) || !list_empty(&hca->eq_check))
		return false;
	for (node = hca->active_uars.next; node != &hca->active_uars; node = next) {
		next = node->next;
		if (!uar_sleep(list_entry(node, struct uar, active)))
			return false;
	}
	return !cmdq_pending(hca->cmdq);
}

static uint64_t hca_bar_read(void *dev, unsigned int bar, uint64_t off, unsigned int len)
{
	struct hca *hca = dev;

	if (bar == OHCA_BAR_REGS)
		return regs_read(hca, off, len);
	if (bar != OHCA_BAR_UAR)
		return 0;
	return off < hca->dm.base ? uar_bar_read(hca, off, len) : dm_bar_read(&hca->dm, off, len);
}

static void hca_bar_write(void *dev, unsigned int bar, uint64_t off, unsigned int len, uint64_t val)
{
	struct hca *hca = dev;

	if (bar == OHCA_BAR_REGS)
		regs_write(hca, off, len, val);
	else if (bar == OHCA_BAR_UAR && off >= hca->dm.base)
		dm_bar_write(&hca->dm, off, len, val);
	else if (bar == OHCA_BAR_UAR)
		uar_bar_write(dev, off, len, val);
}

static void hca_pci_reset(void *dev)
{
	hca_reset(dev);
}

/* Whoever holds a pointer into host memory compares dma_map.gen before each use. */
static void hca_dma_changed(void *dev)
{
	struct hca *hca = dev;

	log_debug(hca->name, "%u DMA regions", hca->dma->num);
}

static const struct pci_ops hca_pci_ops = {
	.bar_read = hca_bar_read,
	.bar_write = hca_bar_write,
	.reset = hca_pci_reset,
	.dma_changed = hca_dma_changed,
};

static const struct pci_config hca_pci_config = {
	.vendor = OHCA_PCI_VENDOR_ID,
	.device = OHCA_PCI_DEVICE_ID,
	.subvendor = OHCA_PCI_VENDOR_ID,
	.subdevice = OHCA_PCI_SUBSYSTEM_ID,
	.revision = OHCA_PCI_REVISION,
	.class_code = OHCA_PCI_CLASS,
	.bar_size =
		{
			[OHCA_BAR_REGS] = OHCA_BAR_REGS_SIZE,
			[OHCA_BAR_UAR] = HCA_MAX_UAR * OHCA_UAR_SIZE + DM_SIZE,
			[OHCA_BAR_MSIX] = BAR_MSIX_SIZE,
		},
	.msix_bar = OHCA_BAR_MSIX,
	.msix_vectors = HCA_MSIX_VECTORS,
	.mem_bar = OHCA_BAR_UAR,
	.mem_offset = HCA_MAX_UAR * OHCA_UAR_SIZE,
	.mem_size = DM_SIZE,
};

_Static_assert(HCA_MAX_UAR *OHCA_UAR_SIZE == DM_SIZE, "the BAR's size is a power of two");

struct hca *hca_new(struct loop *loop, struct fabric *fabric, const struct hca_options *opts)
{
	struct hca *hca = calloc(1, sizeof(*hca));
	struct pci_config config = hca_pci_config;
	char *name = strdup(opts->name);

	if (!hca || !name)
		goto err_free;
	hca->regs = calloc(1, sizeof(*hca->regs));
	if (!hca->regs)
		goto err_free;
	hca->name = name;
	hca->loop = loop;
	hca->fabric = fabric;
	hca->qp_types = hca_qp_types;
	list_init(&hca->faults.rules);
	hca_init_lists(hca);
	if (table_init(&hca->qps, HCA_FIRST_QPN, HCA_FIRST_QPN + HCA_MAX_QP) ||
	    hca_init_tables(hca) || dm_space_init(&hca->dm, config.mem_offset))
		goto err_tables;
	config.mem_fd = hca->dm.fd;
	if (!opts->map)
		config.mem_size = 0;
	port_init(&hca->port, hca, opts->mac);

	hca->fn = pci_fn_new(loop, opts->socket, &config, &hca_pci_ops, hca);
	if (!hca->fn)
		goto err_tables;
	hca->dma = pci_dma(hca->fn);
	fabric_attach(fabric, &hca->port);
	return hca;

err_tables:
	dm_space_fini(&hca->dm);
	hca_fini_tables(hca);
	table_fini(&hca->qps);
err_free:
	if (hca)
		free(hca->regs);
	free(hca);
	free(name);
	return NULL;
}

void hca_free(struct hca *hca)
{
	char *name = (char *)hca->name;

	hca_rule_fini(hca);
	fabric_detach(hca->fabric, &hca->port);
	hca_reset(hca);
	pci_fn_free(hca->fn);
	dm_space_fini(&hca->dm);
	hca_fini_tables(hca);
	table_fini(&hca->qps);
	free(hca->regs);
	free(hca);
	free(name);
}

/* EUI-64 of the MAC address, as IPv6's modified one. */
static void node_guid(__be64 *guid, const uint8_t mac[6])
{
	uint8_t bytes[GUID_LEN] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	memcpy(guid, bytes, GUID_LEN);
}

enum ohca_cmd_status cmd_query_device(struct hca *hca, struct cmd_ctx *ctx)
{
	struct ohca_query_device_out *out = ctx->out;

	out->fw_ver = htole64(FW_VERSION);
	node_guid(&out->node_guid, hca->port.perm_mac);
	out->max_mr_size = htole64(HCA_MAX_MR);
	out->page_size_cap = htole64((1ULL << 41) - (1ULL << OHCA_XLT_PAGE_SHIFT));
	out->reserved_lkey = htole32(HCA_RESERVED_LKEY);
	out->max_uar = htole32(HCA_MAX_UAR);
	out->max_pd = htole32(HCA_MAX_PD);
	out->max_eq = htole32(HCA_MAX_EQ);
	out->max_cq = htole32(HCA_MAX_CQ);
	out->max_cqe = htole32(HCA_MAX_CQE);
	out->max_mkey = htole32(HCA_MAX_MKEY);
	out->max_qp = htole32(HCA_MAX_QP);
	out->max_qp_wr = htole32(HCA_MAX_QP_WR);
	out->max_msg_size = htole32(HCA_MAX_MSG);
	out->max_send_sge = htole16(OHCA_MAX_SGE);
	out->max_recv_sge = htole16(OHCA_MAX_SGE);
	out->max_inline = htole16(OHCA_MAX_INLINE);
	out->max_rd_atomic = HCA_MAX_RD_ATOMIC;
	out->num_ports = 1;
	out->hw_ver = htole32(OHCA_PCI_REVISION);
	out->caps = htole64(HCA_CAPS);
	out->max_mcast = htole32(HCA_MAX_MCAST);
	out->max_mcast_qp = htole32(HCA_MAX_MCAST_QP);
	out->max_fast_reg = htole32(HCA_MAX_FAST_REG);
	out->max_srq = htole32(HCA_MAX_SRQ);
	out->max_counters = htole32(HCA_MAX_COUNTERS);
	out->max_xrcd = htole32(HCA_MAX_XRCD);
	out->max_srq_wr = htole32(HCA_MAX_SRQ_WR);
	out->max_tags = htole32(HCA_MAX_TAGS);
	out->clock_khz = htole32(CLOCK_KHZ);
	out->dm_pages = htole32(DM_PAGES);
	out->max_ind_tbl = htole32(HCA_MAX_IND_TBL);
	out->log_max_ind_tbl = HCA_LOG_MAX_IND_TBL;
	return OHCA_CMD_OK;
}
