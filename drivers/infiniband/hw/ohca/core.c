// SPDX-License-Identifier: GPL-2.0
/*
 * OHCA driver: bring-up of the device until it is registered with ib_core, and the reverse.
 */

#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/pci.h>

#include "devlink.h"
#include "en.h"
#include "ohca.h"
#include "verbs.h"

#define OHCA_RESET_TIMEOUT_MS 5000
#define OHCA_ENABLE_TIMEOUT_MS 5000

/* Wait until the bits of the status register in @mask are @want. */
static int ohca_wait_status(struct ohca_dev *dev, u32 mask, u32 want, unsigned int timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	bool last;
	u32 status;

	do {
		last = time_after(jiffies, end);
		status = ohca_status(dev);
		if (status == U32_MAX)
			return -ENODEV;
		if ((status & mask) == want)
			return 0;
		if (status & mask & OHCA_STATUS_FATAL)
			return -EIO;
		usleep_range(500, 1000);
	} while (!last);
	return -ETIMEDOUT;
}

/*
 * A reset that is under way already, such as that of ohca_fence(), goes on.  One that does not end
 * is reported once, although recovery waits for it again and again.
 */
static int ohca_reset(struct ohca_dev *dev)
{
	int err;

	writel(OHCA_CTRL_RESET, dev->regs + OHCA_REG_CTRL);
	err = ohca_wait_status(dev, OHCA_STATUS_RESETTING, 0, OHCA_RESET_TIMEOUT_MS);
	if (err == -ETIMEDOUT && !dev->reset_stuck)
		dev_err(ohca_dmadev(dev), "reset failed: %pe\n", ERR_PTR(err));
	dev->reset_stuck = err == -ETIMEDOUT;
	return err;
}

/* After this, the device does not access memory, even if it does not answer. */
static void ohca_stop(struct ohca_dev *dev)
{
	ohca_reset(dev);
	pci_clear_master(dev->pdev);
}

static int ohca_check_identity(struct ohca_dev *dev)
{
	u32 magic = readl(dev->regs + OHCA_REG_MAGIC);
	u32 version = readl(dev->regs + OHCA_REG_VERSION);
	u32 major = FIELD_GET(OHCA_VERSION_MAJOR_MASK, version);

	if (magic != OHCA_MAGIC) {
		dev_err(ohca_dmadev(dev), "not an OHCA: magic 0x%08x\n", magic);
		return -ENODEV;
	}
	if (major != OHCA_VERSION_MAJOR) {
		dev_err(ohca_dmadev(dev), "interface version %u.%u, this driver needs %u.x\n",
			major, (u32)FIELD_GET(OHCA_VERSION_MINOR_MASK, version),
			OHCA_VERSION_MAJOR);
		return -EOPNOTSUPP;
	}
	return 0;
}

/* The distance of UARs is a page, as a process maps one.  Without the feature it is 4 KiB. */
static int ohca_negotiate_uars(struct ohca_dev *dev, u64 caps)
{
	dev->uar_shift = PAGE_SHIFT;
	if (dev->uar_shift == OHCA_UAR_SHIFT_MIN)
		return 0;
	if (dev->uar_shift > OHCA_UAR_SHIFT_MAX || !(caps & OHCA_FEAT_UAR_SHIFT)) {
		dev_err(ohca_dmadev(dev), "pages of %lu KiB, which the device does not support\n",
			PAGE_SIZE >> 10);
		return -EOPNOTSUPP;
	}
	dev->feats |= OHCA_FEAT_UAR_SHIFT;
	writel(dev->uar_shift, dev->regs + OHCA_REG_UAR_SHIFT);
	return 0;
}

static int ohca_negotiate(struct ohca_dev *dev)
{
	u64 caps = readl(dev->regs + OHCA_REG_CAPS_LO);
	int err;

	writel(OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR, dev->regs + OHCA_REG_SW_VERSION);
	caps |= (u64)readl(dev->regs + OHCA_REG_CAPS_HI) << 32;
	dev->feats = caps & (OHCA_FEAT_SHADOW_DB | OHCA_FEAT_ETH);
	err = ohca_negotiate_uars(dev, caps);
	if (err)
		return err;
	writel(lower_32_bits(dev->feats), dev->regs + OHCA_REG_FEATS_LO);
	writel(upper_32_bits(dev->feats), dev->regs + OHCA_REG_FEATS_HI);
	return 0;
}

static int ohca_enable(struct ohca_dev *dev)
{
	u32 fatal;
	int err;

	writel(OHCA_CTRL_ENABLE, dev->regs + OHCA_REG_CTRL);
	err = ohca_wait_status(dev, OHCA_STATUS_READY | OHCA_STATUS_FATAL, OHCA_STATUS_READY,
			       OHCA_ENABLE_TIMEOUT_MS);
	if (err) {
		fatal = readl(dev->regs + OHCA_REG_FATAL);
		dev_err(ohca_dmadev(dev), "not enabled: %pe, fatal error %u (%s)\n", ERR_PTR(err),
			fatal, ohca_fatal_name(fatal));
	}
	return err;
}

static int ohca_check_attr(struct ohca_dev *dev)
{
	struct ohca_dev_attr *attr = &dev->attr;
	u8 num_ports = attr->num_ports;
	int err;

	err = ohca_cmd_query_device(dev, attr);
	if (err)
		return err;
	if (num_ports && attr->num_ports != num_ports) {
		dev_err(ohca_dmadev(dev), "device has %u ports, and had %u\n", attr->num_ports,
			num_ports);
		attr->num_ports = num_ports;
		return -EIO;
	}
	if (!attr->num_ports || !attr->max_uar || !attr->max_send_sge || !attr->max_recv_sge ||
	    !(attr->page_size_cap & PAGE_SIZE) || attr->max_eq < 2 ||
	    attr->max_uar > dev->uar_len >> dev->uar_shift) {
		dev_err(ohca_dmadev(dev), "device limits are unusable\n");
		return -EIO;
	}
	if (!IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING))
		attr->caps &= ~OHCA_CAP_ODP;
	dev->eqs.ncomp = min(dev->eqs.ncomp, attr->max_eq - 1);
	dev_dbg(ohca_dmadev(dev), "device version %u.%u.%u, features 0x%llx\n",
		upper_32_bits(attr->fw_ver), lower_32_bits(attr->fw_ver) >> 16,
		lower_32_bits(attr->fw_ver) & 0xffff, dev->feats);
	return 0;
}

static int ohca_check_port(struct ohca_port *port)
{
	struct ohca_port_attr *attr = &port->attr;
	int err;

	err = ohca_cmd_query_port(port->dev, port->num, attr);
	if (err)
		return err;
	if (attr->link_layer != OHCA_LINK_ETHERNET && attr->link_layer != OHCA_LINK_INFINIBAND) {
		dev_err(ohca_dmadev(port->dev),
			"port %u has link layer %u, which this driver does not know\n", port->num,
			attr->link_layer);
		return -EOPNOTSUPP;
	}
	port->link = ohca_port_is_ib(port) ? &ohca_ib_link_ops : &ohca_eth_link_ops;
	return 0;
}

static int ohca_check_ports(struct ohca_dev *dev)
{
	struct ohca_port *port;
	int err;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port)) {
		err = ohca_check_port(port);
		if (err)
			return err;
	}
	return 0;
}

/* Start watching the links. */
static void ohca_ports_init(struct ohca_dev *dev)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(dev->ports); i++)
		ohca_port_init(&dev->ports[i]);
}

static void ohca_ports_fini(struct ohca_dev *dev)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(dev->ports); i++)
		ohca_port_fini(&dev->ports[i]);
}

/* Commands ring through UAR 0's shadow page while it exists. */
static void ohca_cmdq_use_shadow(struct ohca_dev *dev, bool use)
{
	spin_lock_irq(&dev->cmdq.lock);
	dev->cmdq.shadow = use;
	spin_unlock_irq(&dev->cmdq.lock);
}

static int ohca_uar0_init(struct ohca_dev *dev)
{
	int err;

	err = ohca_uar_alloc(dev, &dev->uar);
	if (err)
		return err;
	ohca_cmdq_use_shadow(dev, dev->uar.shadow);
	return 0;
}

static void ohca_uar0_fini(struct ohca_dev *dev)
{
	ohca_cmdq_use_shadow(dev, false);
	ohca_uar_free(dev, &dev->uar);
}

/* Bring the device up until commands and events work. */
static int ohca_hw_init(struct ohca_dev *dev)
{
	int err;

	err = ohca_check_identity(dev);
	if (err)
		return err;
	err = ohca_reset(dev);
	if (err)
		return err;
	pci_set_master(dev->pdev);
	err = ohca_negotiate(dev);
	if (err)
		return err;
	err = ohca_cmdq_init(dev);
	if (err)
		return err;
	err = ohca_irq_init(dev);
	if (err)
		goto err_cmdq;
	err = ohca_enable(dev);
	if (err)
		goto err_reset;
	err = ohca_check_attr(dev);
	if (err)
		goto err_reset;
	err = ohca_uar0_init(dev);
	if (err)
		goto err_reset;
	err = ohca_check_ports(dev);
	if (err)
		goto err_uar0;
	ohca_ports_init(dev);
	err = ohca_faults_init(dev);
	if (err)
		goto err_ports;
	err = ohca_eqs_init(dev);
	if (err)
		goto err_faults;
	ohca_health_start(&dev->health);
	return 0;

err_faults:
	ohca_faults_fini(dev);
err_ports:
	ohca_ports_fini(dev);
err_uar0:
	ohca_uar0_fini(dev);
err_reset:
	ohca_stop(dev);
	ohca_irq_fini(dev);
err_cmdq:
	ohca_cmdq_fini(dev);
	return err;
}

static void ohca_hw_fini(struct ohca_dev *dev)
{
	ohca_health_stop(&dev->health);
	ohca_faults_fini(dev);
	ohca_eqs_fini(dev);
	ohca_ports_fini(dev);
	ohca_uar0_fini(dev);
	ohca_stop(dev);
	ohca_irq_fini(dev);
	ohca_cmdq_fini(dev);
}

/* Set the attributes of an InfiniBand port for the subnet manager, which last until a reset. */
static int ohca_port_introduce(struct ohca_port *port)
{
	const struct ohca_port_params params = {
		.attr_mask = OHCA_PORT_ATTR_CAPS,
		.set_caps = IB_UVERBS_PCF_CLIENT_REG_SUP, /* the event is passed on */
	};

	return ohca_port_is_ib(port) ? ohca_cmd_modify_port(port->dev, port->num, &params) : 0;
}

/* devlink shows the RDMA device at InfiniBand ports; netdevs it finds by itself. */
static void ohca_ib_show(struct ohca_dev *dev, bool live)
{
	struct ohca_port *port;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		if (ohca_port_is_ib(port))
			ohca_devlink_port_set_ib(port, live ? dev->ibdev : NULL);
}

static int ohca_ib_up(struct ohca_dev *dev)
{
	struct ohca_port *port;
	int err;

	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port)) {
		err = ohca_port_introduce(port);
		if (err)
			return err;
	}
	if (ohca_has_link(dev, OHCA_LINK_INFINIBAND)) {
		err = ohca_cmd_set_node_desc(dev, dev->node_desc);
		if (err)
			return err;
	}
	err = ohca_ib_register(dev);
	if (err)
		return err;
	ohca_ib_set_live(dev, true);
	ohca_ib_show(dev, true);
	for (port = ohca_port(dev, 1); port; port = ohca_next_port(port))
		ohca_port_announce(port);
	return 0;
}

static void ohca_ib_down(struct ohca_dev *dev)
{
	ohca_ib_show(dev, false);
	ohca_ib_set_live(dev, false);
	ohca_ib_unregister(dev);
}

/* Register a device whose commands and events work: the netdevs first. */
static int ohca_consumers_up(struct ohca_dev *dev)
{
	int err;

	err = ohca_en_start(dev);
	if (err)
		return err;
	err = ohca_ib_up(dev);
	if (err) {
		ohca_en_suspend(dev);
		return err;
	}
	dev->up = true;
	ohca_check_types(dev); /* an event may have come before there was a queue for it */
	return 0;
}

/**
 * ohca_dev_start() - undo ohca_dev_stop()
 * @dev: device, not fenced
 *
 * Return: 0, or a negative errno, and it is still stopped
 */
int ohca_dev_start(struct ohca_dev *dev)
{
	int err;

	err = ohca_hw_init(dev);
	if (err)
		return err;
	err = ohca_consumers_up(dev);
	if (err)
		ohca_hw_fini(dev);
	return err;
}

/**
 * ohca_dev_init() - bring a new device up
 * @dev: device, whose PCI function works
 *
 * Return: 0 or a negative errno
 */
int ohca_dev_init(struct ohca_dev *dev)
{
	int err;

	err = ohca_hw_init(dev);
	if (err)
		return err;
	err = ohca_devlink_ports_init(dev);
	if (err)
		goto err_hw;
	err = ohca_consumers_up(dev);
	if (err)
		goto err_en;
	return 0;

err_en:
	ohca_en_fini(dev); /* some of the netdevs may exist */
	ohca_devlink_ports_fini(dev);
err_hw:
	ohca_hw_fini(dev);
	return err;
}

/**
 * ohca_dev_fini() - undo ohca_dev_init()
 * @dev: device; it may be stopped
 */
void ohca_dev_fini(struct ohca_dev *dev)
{
	if (dev->up)
		ohca_ib_down(dev);
	ohca_en_fini(dev);
	ohca_devlink_ports_fini(dev);
	if (dev->up)
		ohca_hw_fini(dev);
}

/**
 * ohca_dev_stop() - remove everything but the netdevs, which are detached
 * @dev: device, bound; nothing is done if it is stopped already
 */
void ohca_dev_stop(struct ohca_dev *dev)
{
	if (!dev->up)
		return;
	dev->up = false;
	ohca_ib_down(dev);
	ohca_en_suspend(dev);
	ohca_hw_fini(dev);
}
