// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration space.  A write changes only the bits that software may change.  What a register
 * means is read from the bytes when it is needed, so there is no second copy of it.
 */

#include <string.h>
#include <linux/pci_regs.h>

#include "vfio/config.h"

/* Offsets of the capabilities, in the order of the list */
#define PM_CAP 0x40
#define EXP_CAP 0x48
#define MSIX_CAP 0x88

#define EXP_LINK_SPEED 4 /* 16 GT/s */
#define EXP_LINK_WIDTH 16
#define EXP_DEVCTL_WRITABLE 0x7fff /* all but Initiate Function Level Reset */
#define EXP_READRQ_512B (2 << 12)
#define POWER_D0 0
#define POWER_D3HOT 3
#define EXP_LNKCTL_WRITABLE \
	(PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES)

static void put16(uint8_t *p, uint16_t val)
{
	p[0] = val;
	p[1] = val >> 8;
}

static void put32(uint8_t *p, uint32_t val)
{
	put16(p, val);
	put16(p + 2, val >> 16);
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static void init_header(struct config *config, const struct pci_config *desc)
{
	uint8_t *data = config->initial;
	uint64_t mask;
	unsigned int i;

	put16(data + PCI_VENDOR_ID, desc->vendor);
	put16(data + PCI_DEVICE_ID, desc->device);
	put16(config->writable + PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
						      PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
						      PCI_COMMAND_INTX_DISABLE);
	put16(data + PCI_STATUS, PCI_STATUS_CAP_LIST);
	data[PCI_REVISION_ID] = desc->revision;
	data[PCI_CLASS_PROG] = desc->class_code;
	put16(data + PCI_CLASS_DEVICE, desc->class_code >> 8);
	config->writable[PCI_CACHE_LINE_SIZE] = 0xff;
	data[PCI_HEADER_TYPE] = PCI_HEADER_TYPE_NORMAL;
	put16(data + PCI_SUBSYSTEM_VENDOR_ID, desc->subvendor);
	put16(data + PCI_SUBSYSTEM_ID, desc->subdevice);
	data[PCI_CAPABILITY_LIST] = PM_CAP;
	config->writable[PCI_INTERRUPT_LINE] = 0xff;
	/*
	 * Reads have no side effects and writes are never merged on the way, so all BARs can live
	 * in the prefetchable window of a bridge, the only one that reaches beyond 4 GiB.
	 */
	for (i = 0; i < 6; i += 2) {
		if (!desc->bar_size[i])
			continue;
		put32(data + PCI_BASE_ADDRESS_0 + 4 * i,
		      PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
		mask = ~(desc->bar_size[i] - 1) & PCI_BASE_ADDRESS_MEM_MASK;
		put32(config->writable + PCI_BASE_ADDRESS_0 + 4 * i, mask);
		put32(config->writable + PCI_BASE_ADDRESS_0 + 4 * i + 4, mask >> 32);
	}
}

/* The power states D0 and D3hot; the function keeps its state in D3hot (no soft reset). */
static void init_pm(struct config *config)
{
	uint8_t *cap = config->initial + PM_CAP;

	cap[0] = PCI_CAP_ID_PM;
	cap[PCI_CAP_LIST_NEXT] = EXP_CAP;
	put16(cap + PCI_PM_PMC, 3);
	put16(cap + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	put16(config->writable + PM_CAP + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
}

static void init_express(struct config *config)
{
	uint8_t *cap = config->initial + EXP_CAP, *writable = config->writable + EXP_CAP;

	cap[0] = PCI_CAP_ID_EXP;
	cap[PCI_CAP_LIST_NEXT] = MSIX_CAP;
	put16(cap + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	/* Maximum payload 512 bytes, extended tags. */
	put32(cap + PCI_EXP_DEVCAP,
	      PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_EXT_TAG | 2);
	put16(cap + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN | EXP_READRQ_512B);
	put16(writable + PCI_EXP_DEVCTL, EXP_DEVCTL_WRITABLE);
	put32(cap + PCI_EXP_LNKCAP, EXP_LINK_SPEED | EXP_LINK_WIDTH << 4);
	put16(writable + PCI_EXP_LNKCTL, EXP_LNKCTL_WRITABLE);
	put16(cap + PCI_EXP_LNKSTA, EXP_LINK_SPEED | EXP_LINK_WIDTH << PCI_EXP_LNKSTA_NLW_SHIFT);
	put32(cap + PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
	put16(writable + PCI_EXP_DEVCTL2, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	put32(cap + PCI_EXP_LNKCAP2, ((1 << EXP_LINK_SPEED) - 1) << 1);
	put16(cap + PCI_EXP_LNKCTL2, EXP_LINK_SPEED);
	put16(writable + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS);
}

static void init_msix(struct config *config, const struct pci_config *desc)
{
	uint8_t *cap = config->initial + MSIX_CAP;

	cap[0] = PCI_CAP_ID_MSIX;
	put16(cap + PCI_MSIX_FLAGS, desc->msix_vectors - 1);
	put16(config->writable + MSIX_CAP + PCI_MSIX_FLAGS,
	      PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	put32(cap + PCI_MSIX_TABLE, desc->msix_bar);
	put32(cap + PCI_MSIX_PBA, desc->bar_size[desc->msix_bar] / 2 | desc->msix_bar);
}

void config_init(struct config *config, const struct pci_config *desc)
{
	memset(config, 0, sizeof(*config));
	init_header(config, desc);
	init_pm(config);
	init_express(config);
	init_msix(config, desc);
	config_reset(config);
}

void config_reset(struct config *config)
{
	memcpy(config->data, config->initial, sizeof(config->data));
}

void config_read(const struct config *config, uint64_t off, void *buf, uint32_t len)
{
	memcpy(buf, config->data + off, len);
}

bool config_write(struct config *config, uint64_t off, const void *buf, uint32_t len)
{
	/* Initiate FLR is in the register's high byte; it always reads as 0. */
	const uint64_t flr = EXP_CAP + PCI_EXP_DEVCTL + 1;
	uint8_t *power = &config->data[PM_CAP + PCI_PM_CTRL];
	uint8_t old_power = *power & PCI_PM_CTRL_STATE_MASK, new_power;
	const uint8_t *bytes = buf;
	uint32_t i;
	uint8_t mask;

	for (i = 0; i < len; i++) {
		mask = config->writable[off + i];
		config->data[off + i] = (config->data[off + i] & ~mask) | (bytes[i] & mask);
	}
	/* A power state that the function does not have is not entered. */
	new_power = *power & PCI_PM_CTRL_STATE_MASK;
	if (new_power != POWER_D0 && new_power != POWER_D3HOT)
		*power = (*power & ~PCI_PM_CTRL_STATE_MASK) | old_power;
	return off <= flr && flr - off < len && bytes[flr - off] & (PCI_EXP_DEVCTL_BCR_FLR >> 8);
}

static bool in_d0(const struct config *config)
{
	return !(config->data[PM_CAP + PCI_PM_CTRL] & PCI_PM_CTRL_STATE_MASK);
}

bool config_memory(const struct config *config)
{
	return config->data[PCI_COMMAND] & PCI_COMMAND_MEMORY && in_d0(config);
}

bool config_bus_master(const struct config *config)
{
	return config->data[PCI_COMMAND] & PCI_COMMAND_MASTER && in_d0(config);
}

bool config_msix_enabled(const struct config *config)
{
	return get16(config->data + MSIX_CAP + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_ENABLE;
}

bool config_msix_masked(const struct config *config)
{
	return get16(config->data + MSIX_CAP + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_MASKALL;
}
