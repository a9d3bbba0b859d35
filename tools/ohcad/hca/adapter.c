// SPDX-License-Identifier: GPL-2.0
/* The adapter: creation, enabling, reset and removal of an HCA behind a PCI function. */

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "device/cmdq.h"
#include "device/eq.h"
#include "device/hca_hooks.h"
#include "device/profile.h"
#include "device/strict.h"
#include "fabric/fabric.h"
#include "fabric/ib_port.h"
#include "fabric/ib_uplink.h"
#include "fabric/owner.h"
#include "hca/adapter.h"
#include "hca/cmd_table.h"
#include "hca/qp_types.h"
#include "hca/regs.h"
#include "inject/hca_rule.h"
#include "inject/pkt_fault.h"
#include "mem/dm.h"
#include "qp/pace.h"
#include "qp/sched.h"
#include "qp/uar.h"
#include "transport/op.h"
#include "transport/rc.h"

#define BAR_MSIX_SIZE 0x2000

/* What an InfiniBand port is to be beside its link layer.  0 or -ENOMEM */
static int equip_port(struct port *port)
{
	if (!port->ib)
		return 0;
	if (port->speeds.width)
		ib_port_set_supported(port->ib, &port->speeds);
	return port->pace ? pacer_new(port) : 0;
}

/* The port leaves the fabric as what it was, and comes back as what it is to be.  Its cable is as before. */
static void change_link(struct hca *hca, struct port *port, uint8_t link)
{
	bool cable = port->cable;

	pkt_fault_forget(hca->fabric, port);
	fabric_detach(hca->fabric, port);
	pacer_free(port);
	if (port_set_link(port, link) || equip_port(port))
		log_error(port->capture.name, "no memory for another link layer");
	else if (hca_may_log(hca))
		log_info(port->capture.name, "is an %s port now",
			 link == OHCA_LINK_INFINIBAND ? "InfiniBand" : "Ethernet");
	fabric_attach(hca->fabric, port, cable);
	ib_uplinks_attach(hca->fabric);
}

/* The link layers and the profile that it is to have from a reset on.  There are no objects. */
static void take_settings(struct hca *hca)
{
	unsigned int i;

	for (i = 0; i < hca->num_ports; i++) {
		if (hca->next_links[i] != hca->links[i])
			change_link(hca, hca->ports[i], hca->next_links[i]);
	}
	hca_profile_apply(hca);
	hca->wqe_ops = op_mask(hca_caps(hca));
}

/* The last step of a reset, when there are no objects any more, or as many steps before it as there is time for */
static void reset_until(struct hca *hca, uint64_t end)
{
	if (hca->cmdq && !cmdq_stop(hca->cmdq, end))
		return;
	cmdq_free(hca->cmdq);
	hca->cmdq = NULL;
	if (objects_reset(hca, end))
		take_settings(hca);
}

bool hca_reset_slice(struct hca *hca)
{
	if (!hca->to_reset)
		return false;
	reset_until(hca, loop_clock() + sched_slice(hca));
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
	memset(hca->regs, 0, sizeof(*hca->regs));
	sched_stop(hca);
	objects_reset_start(hca);
	/* Software does not have to wait for a usual one, while no other HCA has messages to send. */
	reset_until(hca, loop_clock() + sched_slice(hca));
	if (hca->to_reset) {
		/* Nothing comes to the QPs that are left, and peers do not keep pointers to them. */
		ports_update(hca);
		fabric_changed(hca->fabric);
	}
	hca->resetting = hca->hooks && hca->hooks->reset(hca);
}

/*
 * The distance of UARs is what software asks for, and there are as many of them as fit into the BAR.
 * Returns whether it can be.
 */
static bool enable_uars(struct hca *hca)
{
	uint32_t shift = OHCA_UAR_SHIFT_MIN, max;

	if (hca->regs->feats & OHCA_FEAT_UAR_SHIFT)
		shift = hca->regs->uar_shift;
	if (shift < OHCA_UAR_SHIFT_MIN || shift > OHCA_UAR_SHIFT_MAX)
		return false;
	max = HCA_MAX_UAR >> (shift - OHCA_UAR_SHIFT_MIN);
	hca->uar_shift = shift;
	hca->uars.max = hca->profile->max_uar < max ? hca->profile->max_uar : max;
	return true;
}

void hca_enable(struct hca *hca)
{
	struct hca_regs *regs = hca->regs;

	if (regs->sw_version >> 16 != OHCA_VERSION_MAJOR) {
		hca_fatal(hca, OHCA_FATAL_VERSION);
		return;
	}
	if (regs->feats & ~hca->offered)
		strict_broken(hca, "S-105", "it accepts a feature that is not offered");
	if (regs->feats & ~hca->offered || !pci_bus_master(hca->fn) || !enable_uars(hca)) {
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
	ports_update(hca); /* a subnet manager may have activated ports before */
	cmdq_kick(hca->cmdq);
	hca_rule_enabled(hca);
}

static void adapter_fatal(struct hca *hca, enum ohca_fatal why)
{
	regs_stop(hca, why);
	if (hca->ready) {
		eq_async(hca, OHCA_EVENT_DEVICE_FATAL, why);
		eq_flush(hca);
	}
	hca->ready = false;
	sched_stop(hca);
	objects_stop(hca);
}

/* Software makes itself known by bus mastering, which it has before it reads what the HCA offers. */
static void adapter_link_wanted(struct hca *hca)
{
	if (hca->ready || hca->fatal || hca_is_resetting(hca) || pci_bus_master(hca->fn))
		return;
	take_settings(hca);
}

static const struct hca_ops adapter_ops = {
	.fatal = adapter_fatal,
	.link_wanted = adapter_link_wanted,
};

static uint64_t hca_bar_read(void *dev, unsigned int bar, uint64_t off, unsigned int len)
{
	struct hca *hca = dev;

	if (bar == OHCA_BAR_REGS)
		return regs_read(hca, off, len);
	if (bar != OHCA_BAR_UAR)
		return 0;
	return off < DM_BASE ? uar_bar_read(hca, off, len) : dm_bar_read(hca->dm, off, len);
}

static void hca_bar_write(void *dev, unsigned int bar, uint64_t off, unsigned int len, uint64_t val)
{
	struct hca *hca = dev;

	if (bar == OHCA_BAR_REGS)
		regs_write(hca, off, len, val);
	else if (bar == OHCA_BAR_UAR && off >= DM_BASE)
		dm_bar_write(hca->dm, off, len, val);
	else if (bar == OHCA_BAR_UAR)
		uar_bar_write(dev, off, len, val);
}

static void hca_pci_reset(void *dev)
{
	hca_reset(dev);
}

/* Nothing accesses host memory while the HCA is stalled. */
static void hca_pci_bus_master(void *dev, bool on)
{
	struct hca *hca = dev;

	if (!hca->ready || hca->stalled == !on)
		return;
	hca->stalled = !on;
	ports_update(hca);
}

/* Users of pointers into host memory compare dma_map.gen before each use. */
static void hca_dma_changed(void *dev)
{
	struct hca *hca = dev;

	log_debug(hca->name, "%u DMA regions", hca->dma->num);
}

static bool hca_pci_may_log(void *dev)
{
	return hca_may_log(dev);
}

static const struct pci_ops hca_pci_ops = {
	.bar_read = hca_bar_read,
	.bar_write = hca_bar_write,
	.reset = hca_pci_reset,
	.bus_master = hca_pci_bus_master,
	.dma_changed = hca_dma_changed,
	.may_log = hca_pci_may_log,
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
	.mem_offset = DM_BASE,
	.mem_size = DM_SIZE,
};

_Static_assert(HCA_MAX_UAR *OHCA_UAR_SIZE == DM_SIZE, "the BAR's size is a power of two");

static void hca_synced(void *arg)
{
	responder_synced(arg);
}

/* What its InfiniBand ports are to be.  0 or -ENOMEM */
static int ports_init(struct hca *hca, const struct hca_options *opts)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < hca->num_ports && !err; i++) {
		hca->ports[i]->speeds = opts->speeds;
		hca->ports[i]->pace = opts->pace;
		err = equip_port(hca->ports[i]);
	}
	return err;
}

struct hca *hca_new(struct loop *loop, struct fabric *fabric, const struct hca_options *opts)
{
	struct hca *hca = calloc(1, sizeof(*hca));
	struct pci_config config = hca_pci_config;
	char *name = strdup(opts->name), *node = strdup(opts->node ?: "");
	unsigned int i;

	if (!hca || !name || !node)
		goto err_free;
	hca->regs = calloc(1, sizeof(*hca->regs));
	if (!hca->regs)
		goto err_free;
	hca->name = name;
	hca->node = node;
	hca->ops = &adapter_ops;
	hca->loop = loop;
	hca->fabric = fabric;
	hca->qp_types = hca_qp_types;
	memcpy(hca->mac, opts->mac, sizeof(hca->mac));
	hca->num_ports = opts->num_ports;
	memcpy(hca->links, opts->links, sizeof(hca->links));
	memcpy(hca->next_links, opts->links, sizeof(hca->links));
	memcpy(hca->made_links, opts->links, sizeof(hca->links));
	hca->links_fixed = fabric->ib_subnet; /* a cable of a topology is InfiniBand */
	hca->strict = opts->strict;
	quotas_init(hca->quotas, &opts->quotas);
	list_init(&hca->syncing);
	hca->next_profile = opts->profile ?: hca_profile_all;
	if (objects_init(hca))
		goto err_free;
	if (owner_new(hca, &opts->owner))
		goto err_objects;
	take_settings(hca);
	if (ports_init(hca, opts))
		goto err_objects;
	config.access = opts->access;
	config.mem_fd = hca->dm->fd;
	if (!opts->map)
		config.mem_size = 0;

	hca->fn = pci_fn_new(loop, opts->socket, &config, &hca_pci_ops, hca);
	if (!hca->fn)
		goto err_objects;
	hca->dma = pci_dma(hca->fn);
	hca->dma->sync.ended = hca_synced;
	hca->dma->sync.arg = hca;
	for (i = 0; i < hca->num_ports; i++)
		fabric_attach(fabric, hca->ports[i], true);
	return hca;

err_objects:
	owner_free(hca);
	objects_fini(hca);
err_free:
	if (hca)
		free(hca->regs);
	free(hca);
	free(name);
	free(node);
	return NULL;
}

void hca_free(struct hca *hca)
{
	char *name = (char *)hca->name, *node = (char *)hca->node;
	unsigned int i;

	hca_rule_fini(hca);
	for (i = 0; i < hca->num_ports; i++)
		fabric_detach(hca->fabric, hca->ports[i]);
	memcpy(hca->next_links, hca->links, sizeof(hca->links)); /* nothing changes any more */
	hca_reset(hca);
	if (hca->to_reset)
		reset_until(hca, UINT64_MAX);
	pci_fn_free(hca->fn);
	owner_free(hca);
	objects_fini(hca);
	free(hca->regs);
	free(hca);
	free(name);
	free(node);
}
