/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Configuration space of a PCI Express endpoint: type 0 header, power management, PCI Express and
 * MSI-X capabilities, no extended ones.
 */

#ifndef OHCAD_CONFIG_H
#define OHCAD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "vfio/pci.h"

#define CONFIG_SIZE 4096

/**
 * struct config - a function's configuration space
 * @data: as read
 * @initial: after reset
 * @writable: bits that software can change
 */
struct config {
	uint8_t data[CONFIG_SIZE];
	uint8_t initial[CONFIG_SIZE];
	uint8_t writable[CONFIG_SIZE];
};

void config_init(struct config *config, const struct pci_config *desc);
void config_reset(struct config *config);

/* [off, off + len) is inside of CONFIG_SIZE. */
void config_read(const struct config *config, uint64_t off, void *buf, uint32_t len);
/* Returns true if the write initiated a function level reset, which the caller has to do. */
bool config_write(struct config *config, uint64_t off, const void *buf, uint32_t len);

/* Memory enable is set, in D0: the BARs can be accessed. */
bool config_memory(const struct config *config);
/* Bus master enable is set, in D0: the function may access memory and raise interrupts. */
bool config_bus_master(const struct config *config);
bool config_msix_enabled(const struct config *config);
bool config_msix_masked(const struct config *config); /* all vectors are masked */

#endif
