/* SPDX-License-Identifier: GPL-2.0 */
/*
 * OHCA driver: the device, and functions that all files use.
 */

#ifndef _OHCA_H
#define _OHCA_H

#include <linux/idr.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include <ohca/ohca_cmd.h>
#include <ohca/ohca_queue.h>
#include <ohca/ohca_regs.h>

#include "fw_cmd.h"
#include "cmdq.h"
#include "eq.h"
#include "fault.h"
#include "port.h"
#include "health.h"
#include "uar.h"

#define OHCA_IB_NAME "ohca_%d" /* names of RDMA devices */

#define OHCA_FENCED 0 /* see ohca_fenced() */
#define OHCA_QUIET 1 /* see ohca_fence_sync() */

struct devlink;
struct ohca_dev;
struct pci_saved_state;

/**
 * struct ohca_ibdev - the RDMA device of ib_core; a new one after each recovery
 * @ibdev: ib_core's part; its parent is the PCI function
 * @dev: device
 */
struct ohca_ibdev {
	struct ib_device ibdev;
	struct ohca_dev *dev;
};

/**
 * struct ohca_fence - why the device was fenced
 * @work: reports fencing and recovery to devlink
 * @flush: completes the requests of the kernel's consumers; see flush.c
 * @reason: for the kernel log and devlink; NULL as long as the device is not fenced.  It is set
 *	last, when the device is quiesced
 * @status: ohca_status()
 * @fatal: OHCA_REG_FATAL with a fatal error, else 0 (U32_MAX: the device is gone)
 */
struct ohca_fence {
	struct work_struct work;
	struct work_struct flush;
	const char *reason;
	u32 status;
	u32 fatal;
};

/**
 * struct ohca_dev - one HCA
 * @ibdev: RDMA device, NULL if none is registered
 * @ib_name: name of the last one, or a pattern for the first one's
 * @node_desc: its NodeDescription, which later ones get as well
 * @pdev: PCI function
 * @pci_state: its configuration, for a device that lost it
 * @up: the members below work, or did until the device was fenced; else only the netdevs exist
 * @reset_stuck: the last reset did not end, which was reported
 * @regs: OHCA_BAR_REGS
 * @uar_phys: physical address of OHCA_BAR_UAR; UAR n is at n << @uar_shift from there
 * @uar_len: its bytes
 * @uar_shift: log2 of the distance of UARs: a process that maps one gets no other with it
 * @uars: numbers of UARs in use
 * @feats: features in use, OHCA_FEAT_*
 * @attr: identity and limits as the device reported them
 * @cmdq: command queue
 * @eqs: event queues: asynchronous one and completion ones
 * @uar: UAR 0, the kernel's
 * @cqs: struct ohca_core_cq by CQN, for events; see rsc.h
 * @qps: struct ohca_core_qp by QPN, for events; see rsc.h
 * @srqs: struct ohca_core_srq by SRQN, for events; see rsc.h
 * @mkeys: struct ohca_core_mkey by key, of regions with on-demand paging; see rsc.h
 * @faults: page faults being handled
 * @ports: ports; those that exist are attr.num_ports
 * @health: heartbeat and recovery
 * @ib_lock: protects @ib_live, for as long as an event is dispatched; taken in interrupts
 * @ib_live: events may be dispatched to @ibdev
 * @fence_bits: OHCA_FENCED, OHCA_QUIET
 * @fence: why the device was fenced
 * @type_work: makes the ports have the types that they are to have; see ohca_type_work()
 * @devlink: devlink instance, NULL without one
 */
struct ohca_dev {
	struct ib_device *ibdev;
	char ib_name[IB_DEVICE_NAME_MAX];
	char node_desc[IB_DEVICE_NODE_DESC_MAX];
	struct pci_dev *pdev;
	struct pci_saved_state *pci_state;
	bool up;
	bool reset_stuck;
	void __iomem *regs;
	phys_addr_t uar_phys;
	resource_size_t uar_len;
	u8 uar_shift;
	struct ida uars;
	u64 feats;
	struct ohca_dev_attr attr;
	struct ohca_cmdq cmdq;
	struct ohca_eqs eqs;
	struct ohca_uar uar;
	struct xarray cqs;
	struct xarray qps;
	struct xarray srqs;
	struct xarray mkeys;
	struct ohca_faults faults;
	struct ohca_port ports[OHCA_MAX_PORTS];
	struct ohca_health health;
	spinlock_t ib_lock; /* @ib_live */
	bool ib_live;
	unsigned long fence_bits;
	struct ohca_fence fence;
	struct work_struct type_work;
	struct devlink *devlink;
};

static inline struct ohca_dev *to_odev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct ohca_ibdev, ibdev)->dev;
}

/**
 * ohca_port() - port by its number
 * @dev: device
 * @num: number, from 1 on
 *
 * Return: port, or NULL if there is none
 */
static inline struct ohca_port *ohca_port(struct ohca_dev *dev, u32 num)
{
	return num && num <= dev->attr.num_ports ? &dev->ports[num - 1] : NULL;
}

/**
 * ohca_next_port() - next port of the same device
 * @port: port
 *
 * Return: port, or NULL if @port is the last one
 */
static inline struct ohca_port *ohca_next_port(struct ohca_port *port)
{
	return ohca_port(port->dev, port->num + 1);
}

/**
 * ohca_has_link() - whether a port of the device has a link layer
 * @dev: device
 * @link_layer: OHCA_LINK_*
 *
 * Return: true if so
 */
static inline bool ohca_has_link(struct ohca_dev *dev, u8 link_layer)
{
	struct ohca_port *port;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		if (port->attr.link_layer == link_layer)
			return true;
	return false;
}

static inline struct device *ohca_dmadev(struct ohca_dev *dev)
{
	return &dev->pdev->dev;
}

/**
 * ohca_fenced() - whether the device is broken or was removed
 * @dev: device
 *
 * When the device is fenced, no command is sent, creating fails with -EIO (but see
 * ohca_kernel_err()), destroying succeeds, and the device neither reads nor writes memory.  That
 * ends when all objects that were created through it are destroyed; see health.c.
 *
 * The thread that fences the device may not have come so far yet: before the device's memory is
 * freed for that reason, call ohca_fence_sync().  Functions that execute commands have done so when
 * they fail with -EIO, and when they succeed because the device is fenced.
 *
 * Return: true if so
 */
static inline bool ohca_fenced(struct ohca_dev *dev)
{
	return test_bit(OHCA_FENCED, &dev->fence_bits);
}

/**
 * ohca_quiesced() - whether a fenced device has stopped writing to memory
 * @dev: device
 *
 * After this, all data that the device has written are visible.
 *
 * Return: true if so
 */
static inline bool ohca_quiesced(struct ohca_dev *dev)
{
	return smp_load_acquire(&dev->fence.reason); /* pairs with ohca_fence() */
}

/**
 * ohca_kernel_err() - convert an error for a consumer in the kernel
 * @dev: device
 * @err: 0 or negative errno
 *
 * Some consumers try to connect again until the device is unregistered.  sunrpc would pass -EIO on
 * to every process that has a file open on a hard mount.
 *
 * Return: @err, or -ENETDOWN if the cause of the error is a fenced device
 */
static inline int ohca_kernel_err(struct ohca_dev *dev, int err)
{
	return err == -EIO && ohca_fenced(dev) ? -ENETDOWN : err;
}

/* Fencing, and events: dev.c */
const char *ohca_fatal_name(u32 fatal);
u32 ohca_status(struct ohca_dev *dev);
void ohca_check_types(struct ohca_dev *dev);
void ohca_fence(struct ohca_dev *dev, const char *reason);
void ohca_fence_quietly(struct ohca_dev *dev);
void ohca_fence_sync(struct ohca_dev *dev);
void ohca_refence(struct ohca_dev *dev, const char *reason);
void ohca_unfence(struct ohca_dev *dev);
void ohca_dispatch_event(struct ohca_dev *dev, enum ib_event_type type, u32 port);
void ohca_ib_set_live(struct ohca_dev *dev, bool live);

/* Bring-up: core.c */
int ohca_dev_init(struct ohca_dev *dev);
void ohca_dev_fini(struct ohca_dev *dev);
int ohca_dev_start(struct ohca_dev *dev);
void ohca_dev_stop(struct ohca_dev *dev);

#define OHCA_PORT_COUNTERS 0 /* a port's set, of all its QPs that are not bound to another set */

/* The counters after them are for the network interface. */
#define OHCA_NUM_RDMA_COUNTERS OHCA_CNT_ETH_NO_BUFFER

/* stats.c: names of the counters, by enum ohca_counter */
extern const struct rdma_stat_desc ohca_stat_descs[OHCA_NUM_COUNTERS];

/* The ib_device side: verbs.c */
int ohca_ib_register(struct ohca_dev *dev);
void ohca_ib_unregister(struct ohca_dev *dev);

#endif /* _OHCA_H */
