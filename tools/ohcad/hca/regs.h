/* SPDX-License-Identifier: GPL-2.0 */
/* Registers of BAR 0. */

#ifndef OHCAD_REGS_H
#define OHCAD_REGS_H

#include "device/cmdq.h"
#include "device/hca.h"

/**
 * struct hca_regs - registers of BAR 0
 * @feats: features accepted
 * @sw_version: version of the interface that software uses
 * @uar_shift: log2 of the distance of UARs
 * @cmdq: configuration of the command queue
 * @fatal: OHCA_REG_FATAL
 * @stopped: value of OHCA_REG_HEARTBEAT when the HCA entered the fatal state
 */
struct hca_regs {
	uint64_t feats;
	uint32_t sw_version;
	uint32_t uar_shift;
	struct cmdq_config cmdq;
	enum ohca_fatal fatal;
	uint32_t stopped;
};

uint64_t regs_read(struct hca *hca, uint64_t off, unsigned int len);
void regs_write(struct hca *hca, uint64_t off, unsigned int len, uint64_t val);

/* The HCA has entered the fatal state: set OHCA_REG_FATAL and OHCA_REG_HEARTBEAT. */
void regs_stop(struct hca *hca, enum ohca_fatal why);

#endif
