// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI function: requests of the vfio-user client, and accesses and interrupts of the device
 * behind it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/vfio.h>

#include "vfio/config.h"
#include "base/le.h"
#include "base/list.h"
#include "base/log.h"
#include "vfio/msix.h"
#include "vfio/pci.h"
#include "vfio/vfio_user.h"

/**
 * struct pci_fn - a PCI function
 * @path: path of the socket
 * @absent: see pci_set_present()
 */
struct pci_fn {
	const struct pci_ops *ops;
	void *dev;
	char *path;
	struct pci_config desc;
	struct config config;
	struct msix msix;
	struct dma_map dma;
	struct loop *loop;
	struct timer unmap; /* goes on with dma_unmap_some() */
	struct vfio_user *vu;
	bool absent;
};

static void update_msix(struct pci_fn *fn)
{
	msix_gate(&fn->msix, config_msix_enabled(&fn->config),
		  !config_msix_masked(&fn->config) && config_bus_master(&fn->config));
}

static void function_reset(struct pci_fn *fn, const char *why)
{
	log_debug(fn->path, "reset: %s", why);
	fn->ops->reset(fn->dev);
	config_reset(&fn->config);
	msix_reset(&fn->msix);
}

/* Regions */

static uint64_t region_size(void *dev, unsigned int region)
{
	const struct pci_fn *fn = dev;

	if (region <= VFIO_PCI_BAR5_REGION_INDEX)
		return fn->desc.bar_size[region - VFIO_PCI_BAR0_REGION_INDEX];
	return region == VFIO_PCI_CONFIG_REGION_INDEX ? CONFIG_SIZE : 0;
}

static bool region_mem(void *dev, unsigned int region, struct vfio_user_mem *mem)
{
	const struct pci_fn *fn = dev;

	if (!fn->desc.mem_size || region != VFIO_PCI_BAR0_REGION_INDEX + fn->desc.mem_bar)
		return false;
	mem->fd = fn->desc.mem_fd;
	mem->offset = fn->desc.mem_offset;
	mem->size = fn->desc.mem_size;
	return true;
}

/* The size of the largest naturally aligned access at @off that is not longer than @len */
static unsigned int access_size(uint64_t off, uint32_t len)
{
	unsigned int size = 8;

	while (off % size || size > len)
		size /= 2;
	return size;
}

static uint64_t bar_read(struct pci_fn *fn, unsigned int bar, uint64_t off, unsigned int len)
{
	uint64_t pba = fn->desc.bar_size[bar] / 2;

	if (bar != fn->desc.msix_bar)
		return fn->ops->bar_read(fn->dev, bar, off, len);
	if (off < pba)
		return msix_table_read(&fn->msix, off, len);
	return msix_pba_read(&fn->msix, off - pba, len);
}

static void bar_write(struct pci_fn *fn, unsigned int bar, uint64_t off, unsigned int len,
		      uint64_t val)
{
	if (bar != fn->desc.msix_bar)
		fn->ops->bar_write(fn->dev, bar, off, len, val);
	else if (off < fn->desc.bar_size[bar] / 2)
		msix_table_write(&fn->msix, off, len, val);
}

/* What the write says takes effect before it is answered. */
static void config_space_write(struct pci_fn *fn, uint64_t off, const void *buf, uint32_t len)
{
	bool master = config_bus_master(&fn->config);

	if (config_write(&fn->config, off, buf, len))
		function_reset(fn, "FLR");
	else if (config_bus_master(&fn->config) != master && fn->ops->bus_master)
		fn->ops->bus_master(fn->dev, !master);
	update_msix(fn);
}

/* In messages, the contents of regions are little endian. */
static int region_read(void *dev, unsigned int region, uint64_t off, void *buf, uint32_t len)
{
	struct pci_fn *fn = dev;
	unsigned int size;

	if (fn->absent) {
		memset(buf, 0xff, len);
		return 0;
	}
	if (region == VFIO_PCI_CONFIG_REGION_INDEX) {
		config_read(&fn->config, off, buf, len);
		return 0;
	}
	if (!config_memory(&fn->config)) {
		memset(buf, 0xff, len);
		return 0;
	}
	for (; len; off += size, buf = (char *)buf + size, len -= size) {
		size = access_size(off, len);
		le_store(buf, size, bar_read(fn, region, off, size));
	}
	return 0;
}

static int region_write(void *dev, unsigned int region, uint64_t off, const void *buf, uint32_t len)
{
	struct pci_fn *fn = dev;
	unsigned int size;

	if (fn->absent)
		return 0;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX) {
		config_space_write(fn, off, buf, len);
		return 0;
	}
	for (; len && config_memory(&fn->config); off += size, len -= size) {
		size = access_size(off, len);
		bar_write(fn, region, off, size, le_load(buf, size));
		buf = (const char *)buf + size;
	}
	return 0;
}

/* Interrupts */

static unsigned int irq_count(void *dev, unsigned int irq, uint32_t *flags)
{
	const struct pci_fn *fn = dev;

	switch (irq) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		*flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE;
		return fn->msix.num;
	case VFIO_PCI_ERR_IRQ_INDEX:
		/* QEMU expects this interrupt of a PCI Express device.  It is never raised. */
		*flags = VFIO_IRQ_INFO_EVENTFD;
		return 1;
	default:
		*flags = 0;
		return 0;
	}
}

static int set_irqs(void *dev, struct vfio_user_irqs *irqs)
{
	struct pci_fn *fn = dev;

	if (irqs->index == VFIO_PCI_MSIX_IRQ_INDEX)
		return msix_set_irqs(&fn->msix, irqs);
	return 0;
}

/* Guest memory */

#define UNMAP_NS 2000 /* of a round */
#define UNMAP_LATER 1000000 /* ns: while that can't be done */

static void unmap_some(struct timer *timer)
{
	struct pci_fn *fn = list_entry(timer, struct pci_fn, unmap);

	if (dma_unmap_some(UNMAP_NS))
		loop_timer_arm(fn->loop, timer,
			       loop_now(fn->loop) + (dma_sync_works() ? UNMAP_LATER : 0));
}

static void dma_changed(struct pci_fn *fn)
{
	unmap_some(&fn->unmap);
	if (fn->ops->dma_changed)
		fn->ops->dma_changed(fn->dev);
}

static int dma_map(void *dev, uint64_t addr, uint64_t size, int fd, uint64_t offset, bool readable,
		   bool writable)
{
	struct pci_fn *fn = dev;
	int err = dma_map_add(&fn->dma, addr, size, fd, offset, readable, writable);

	log_debug(fn->path, "map %#jx bytes at %#jx%s%s", (uintmax_t)size, (uintmax_t)addr,
		  fd < 0 ? " without a descriptor" : "", err ? ": refused" : "");
	if (!err)
		dma_changed(fn);
	return err;
}

static int dma_unmap(void *dev, uint64_t addr, uint64_t size)
{
	struct pci_fn *fn = dev;
	int err = dma_map_del(&fn->dma, addr, size);

	log_debug(fn->path, "unmap %#jx bytes at %#jx%s", (uintmax_t)size, (uintmax_t)addr,
		  err ? ": refused" : "");
	if (!err)
		dma_changed(fn);
	return err;
}

static void dma_unmap_all(void *dev)
{
	struct pci_fn *fn = dev;

	dma_map_clear(&fn->dma);
	dma_changed(fn);
}

/* The client's connection */

static void connected(void *dev)
{
	struct pci_fn *fn = dev;

	log_debug(fn->path, "version negotiated");
}

static void disconnected(void *dev)
{
	struct pci_fn *fn = dev;

	function_reset(fn, "the client has disconnected");
	msix_disconnect(&fn->msix);
	dma_unmap_all(fn);
}

static bool may_log(void *dev)
{
	struct pci_fn *fn = dev;

	return !fn->ops->may_log || fn->ops->may_log(fn->dev);
}

static void device_reset(void *dev)
{
	function_reset(dev, "by the client");
}

static const struct vfio_user_ops vfio_user_ops = {
	.connected = connected,
	.disconnected = disconnected,
	.region_size = region_size,
	.region_mem = region_mem,
	.region_read = region_read,
	.region_write = region_write,
	.irq_count = irq_count,
	.set_irqs = set_irqs,
	.reset = device_reset,
	.dma_map = dma_map,
	.dma_unmap = dma_unmap,
	.dma_unmap_all = dma_unmap_all,
	.may_log = may_log,
};

/* Functions for the device */

static bool good_desc(const struct pci_config *desc)
{
	uint64_t size;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		size = desc->bar_size[i];
		if (size && (i % 2 || size & (size - 1) || size < 16))
			return false;
	}
	if (desc->mem_size &&
	    (desc->mem_bar > 5 || desc->mem_offset >= desc->bar_size[desc->mem_bar] ||
	     desc->mem_size > desc->bar_size[desc->mem_bar] - desc->mem_offset))
		return false;
	return desc->msix_vectors && desc->msix_vectors <= MSIX_MAX_VECTORS && desc->msix_bar < 6 &&
	       16ULL * desc->msix_vectors <= desc->bar_size[desc->msix_bar] / 2;
}

struct pci_fn *pci_fn_new(struct loop *loop, const char *path, const struct pci_config *config,
			  const struct pci_ops *ops, void *dev)
{
	struct pci_fn *fn = NULL;
	int err = EINVAL;

	if (!good_desc(config))
		goto out;
	fn = calloc(1, sizeof(*fn));
	if (!fn)
		goto nomem;
	fn->ops = ops;
	fn->dev = dev;
	fn->loop = loop;
	fn->unmap.fn = unmap_some;
	fn->desc = *config;
	config_init(&fn->config, config);
	dma_map_init(&fn->dma);
	fn->path = strdup(path);
	if (!fn->path || msix_init(&fn->msix, config->msix_vectors))
		goto nomem;
	fn->vu = vfio_user_new(loop, path, &config->access, &vfio_user_ops, fn);
	if (fn->vu)
		return fn;
	err = errno;
	goto free;
nomem:
	err = ENOMEM;
out:
	log_error(path, "can't make a PCI function: %s", strerror(err));
free:
	pci_fn_free(fn);
	errno = err;
	return NULL;
}

void pci_fn_free(struct pci_fn *fn)
{
	if (!fn)
		return;
	vfio_user_free(fn->vu);
	msix_fini(&fn->msix);
	dma_map_fini(&fn->dma);
	if (fn->loop)
		loop_timer_cancel(fn->loop, &fn->unmap);
	free(fn->path);
	free(fn);
}

const char *pci_path(const struct pci_fn *fn)
{
	return fn->path;
}

bool pci_connected(const struct pci_fn *fn)
{
	return vfio_user_connected(fn->vu);
}

struct dma_map *pci_dma(struct pci_fn *fn)
{
	return &fn->dma;
}

bool pci_bus_master(struct pci_fn *fn)
{
	return config_bus_master(&fn->config);
}

void pci_set_present(struct pci_fn *fn, bool present)
{
	if (present == !fn->absent)
		return;
	fn->absent = !present;
	function_reset(fn, present ? "put back" : "pulled out");
}

bool pci_present(struct pci_fn *fn)
{
	return !fn->absent;
}

void pci_msix_raise(struct pci_fn *fn, unsigned int vector)
{
	msix_raise(&fn->msix, vector);
}
