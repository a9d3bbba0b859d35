/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * OHCA hardware interface: PCI identity, BARs, registers, user access regions.
 *
 * This header and its siblings (ohca_cmd.h, ohca_queue.h) are the whole interface between the
 * device and its software; Documentation/hardware.rst is the specification.  All fields are little
 * endian unless typed __be.
 */

#ifndef _OHCA_REGS_H
#define _OHCA_REGS_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#else
#include <assert.h>
#endif
#include <linux/types.h>

/*
 * Every structure of the interface asserts its size, so that a change of layout is a build error.
 */
#define OHCA_ASSERT_SIZE(type, size) static_assert(sizeof(type) == (size), "size of " #type)

/* PCI identity */
#define OHCA_PCI_VENDOR_ID 0x1234
#define OHCA_PCI_DEVICE_ID 0x0ca0
#define OHCA_PCI_SUBSYSTEM_ID 0x0001
#define OHCA_PCI_REVISION 0x01
#define OHCA_PCI_CLASS 0x020700 /* network controller, InfiniBand */

/* Base address registers, all of them 64-bit memory */
#define OHCA_BAR_REGS 0 /* device registers */
#define OHCA_BAR_UAR 2 /* user access regions, one page each; device memory behind them */
#define OHCA_BAR_MSIX 4 /* MSI-X table and pending bits */

#define OHCA_BAR_REGS_SIZE 0x4000

/*
 * Device registers: offsets in OHCA_BAR_REGS.  They are 32 bits wide, and accessed by 32 bits.  A
 * pair _LO/_HI has a 64-bit value.  A read of all ones from OHCA_REG_MAGIC means that the device
 * was removed.
 */
#define OHCA_REG_MAGIC 0x000 /* RO: OHCA_MAGIC */
#define OHCA_REG_VERSION 0x004 /* RO: interface version, OHCA_VERSION_* */
#define OHCA_REG_CAPS_LO 0x008 /* RO: features offered, OHCA_FEAT_* */
#define OHCA_REG_CAPS_HI 0x00c
#define OHCA_REG_FEATS_LO 0x010 /* RW while disabled: features accepted, a subset of CAPS */
#define OHCA_REG_FEATS_HI 0x014
#define OHCA_REG_CTRL 0x018 /* WO: OHCA_CTRL_* */
#define OHCA_REG_STATUS 0x01c /* RO: OHCA_STATUS_* */
#define OHCA_REG_FATAL 0x020 /* RO: enum ohca_fatal, reason of OHCA_STATUS_FATAL */
#define OHCA_REG_HEARTBEAT 0x024 /* RO: advances as long as the device serves its queues */
#define OHCA_REG_CMDQ_CFG 0x028 /* RW while disabled: log2 of the number of command slots */
#define OHCA_REG_CMDQ_DB 0x02c /* WO: the command queue's producer index */
/* RW while disabled: DMA address of the ring of struct ohca_cmd, 4 KiB aligned */
#define OHCA_REG_CMDQ_SQ_LO 0x030
#define OHCA_REG_CMDQ_SQ_HI 0x034
/* RW while disabled: DMA address of the ring of struct ohca_cmd_cqe, 4 KiB aligned */
#define OHCA_REG_CMDQ_CQ_LO 0x038
#define OHCA_REG_CMDQ_CQ_HI 0x03c
/* RW while disabled: DMA address of struct ohca_cmdq_rec, 64 byte aligned */
#define OHCA_REG_CMDQ_REC_LO 0x040
#define OHCA_REG_CMDQ_REC_HI 0x044
#define OHCA_REG_SW_VERSION 0x048 /* RW while disabled: version of software, OHCA_VERSION_* */
/* RW while disabled: log2 of the distance of UARs in bytes (OHCA_FEAT_UAR_SHIFT) */
#define OHCA_REG_UAR_SHIFT 0x04c

#define OHCA_MAGIC 0x4143484f /* "OHCA" */

/*
 * A device and software with equal major numbers work together, and each refuses another major
 * number.  The minor number shows which commands and fields exist.
 */
#define OHCA_VERSION_MAJOR_MASK 0xffff0000
#define OHCA_VERSION_MINOR_MASK 0x0000ffff
#define OHCA_VERSION_MAJOR 2
#define OHCA_VERSION_MINOR 1

/* Features.  Software writes the subset it wants to FEATS before it enables the device. */
/* struct ohca_shadow replaces doorbell writes while the device is awake */
#define OHCA_FEAT_SHADOW_DB 0x1ULL
#define OHCA_FEAT_ETH 0x2ULL /* OHCA_QPT_ETH: the port carries Ethernet frames */
#define OHCA_FEAT_UAR_SHIFT 0x4ULL /* the distance of UARs is that of OHCA_REG_UAR_SHIFT */

/* latch the configuration and start; STATUS.READY or STATUS.FATAL is set when done */
#define OHCA_CTRL_ENABLE 0x1
#define OHCA_CTRL_RESET 0x2 /* stop and reset everything; STATUS.RESETTING is set until done */

#define OHCA_STATUS_READY 0x1 /* enabled: commands are served */
/* stopped until reset: the device does not access host memory any more */
#define OHCA_STATUS_FATAL 0x2
#define OHCA_STATUS_RESETTING 0x4 /* a reset is under way; READY and FATAL are undefined */

/**
 * enum ohca_fatal - reasons for OHCA_STATUS_FATAL
 * @OHCA_FATAL_NONE: no fatal error
 * @OHCA_FATAL_CONFIG: OHCA_CTRL_ENABLE with a configuration that the device cannot accept
 * @OHCA_FATAL_CMDQ: the command queue is unreadable or its producer index jumped
 * @OHCA_FATAL_EQ: an event queue is not writable
 * @OHCA_FATAL_INTERNAL: the device failed by itself
 * @OHCA_FATAL_VERSION: OHCA_CTRL_ENABLE by software of another major version
 */
enum ohca_fatal {
	OHCA_FATAL_NONE = 0,
	OHCA_FATAL_CONFIG = 1,
	OHCA_FATAL_CMDQ = 2,
	OHCA_FATAL_EQ = 3,
	OHCA_FATAL_INTERNAL = 4,
	OHCA_FATAL_VERSION = 5,
};

/*
 * User access regions (UARs).  UAR n is the 4 KiB at n times their distance in OHCA_BAR_UAR.  The
 * distance is 4 KiB, or with OHCA_FEAT_UAR_SHIFT a page of software, which is mapped to exactly one
 * user context or to the kernel.  A queue belongs to the UAR it was created with; a doorbell for
 * it in any other UAR is ignored.
 */
#define OHCA_UAR_SIZE 4096
#define OHCA_UAR_SHIFT_MIN 12
#define OHCA_UAR_SHIFT_MAX 16
#define OHCA_UAR_SQ_DB 0x00 /* WO, 64 bits: OHCA_SQ_DB_*; there is new work in this send queue */
/* WO, 32 bits, any value: read this UAR's shadow page (OHCA_FEAT_SHADOW_DB) */
#define OHCA_UAR_WAKE 0x08
/* RO, 64 bits or twice 32, low half first: clock of time stamps (OHCA_CAP_TIMESTAMP) */
#define OHCA_UAR_CLOCK 0x10

#define OHCA_SQ_DB_PI_MASK 0x00000000ffffffffULL /* the send queue's producer index */
#define OHCA_SQ_DB_QPN_SHIFT 32
#define OHCA_SQ_DB_QPN_MASK 0x00ffffff00000000ULL

/**
 * struct ohca_shadow - the shadow page of a UAR, in host memory (one 4 KiB page, the rest of it
 *	reserved, zero at first)
 * @direct: dirty bits of slots 0 to 447, set by software, cleared by the device
 * @summary: bit n: some bit of @indirect[n] may be set; set by software after that bit, cleared by
 *	the device before it reads @indirect[n]
 * @asleep: written by the device: non-zero means that it does not poll this page until
 *	OHCA_UAR_WAKE is written
 * @indirect: dirty bits of slots 448 to 4543
 *
 * Software that has new work in a queue stores the queue's producer record, sets the dirty bit of
 * the queue's slot (and then its @summary bit) with atomic operations, executes a full memory
 * barrier, loads @asleep, and writes OHCA_UAR_WAKE only if it is non-zero.  Before the device
 * sleeps, it stores @asleep, executes a full memory barrier, and reads the dirty bits once more.
 * So at least one of the two sees the other's store.
 *
 * Any number of queues may share a slot.  The command queue has slot 0 of UAR 0.
 */
struct ohca_shadow {
	__le64 direct[7];
	__le64 summary;
	__le32 asleep;
	__le32 rsvd[15];
	__le64 indirect[64];
};

OHCA_ASSERT_SIZE(struct ohca_shadow, 640);

#define OHCA_SHADOW_DIRECT_SLOTS (7 * 64)
#define OHCA_SHADOW_SLOTS (7 * 64 + 64 * 64)

#endif /* _OHCA_REGS_H */
