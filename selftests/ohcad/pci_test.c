// SPDX-License-Identifier: GPL-2.0
/* The PCI function: configuration space, resets, MSI-X; with the test device. */

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <linux/pci_regs.h>

#include "client.h"
#include "harness.h"
#include "server.h"
#include "testdev.h"

#define BAR0 VFIO_PCI_BAR0_REGION_INDEX
#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define BAR4 VFIO_PCI_BAR4_REGION_INDEX
#define CFG VFIO_PCI_CONFIG_REGION_INDEX
#define MSIX VFIO_PCI_MSIX_IRQ_INDEX
#define PBA (TESTDEV_BAR4_SIZE / 2)

#define TRIGGER VFIO_IRQ_SET_ACTION_TRIGGER
#define MASK VFIO_IRQ_SET_ACTION_MASK
#define UNMASK VFIO_IRQ_SET_ACTION_UNMASK
#define NONE VFIO_IRQ_SET_DATA_NONE
#define BOOL VFIO_IRQ_SET_DATA_BOOL
#define EVENTFD VFIO_IRQ_SET_DATA_EVENTFD

static struct server *server;

static int setup(void **state)
{
	(void)state;
	server = server_start_testdev();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return server_stop(server) ? 0 : -1;
}

static int connect_client(void **state)
{
	struct vu *vu = vu_open(server->sock[0]);

	if (!vu)
		return -1;
	vu_enable(vu, TESTDEV_VECTORS);
	*state = vu;
	return 0;
}

static int disconnect_client(void **state)
{
	vu_close(*state);
	return 0;
}

/* Configuration space */

static void test_header(void **state)
{
	struct vu *vu = *state;
	unsigned int i;

	assert_int_equal(vu_cfg_rd(vu, PCI_VENDOR_ID, 2), TESTDEV_VENDOR);
	assert_int_equal(vu_cfg_rd(vu, PCI_DEVICE_ID, 2), TESTDEV_DEVICE);
	assert_int_equal(vu_cfg_rd(vu, PCI_CLASS_REVISION, 4),
			 TESTDEV_CLASS << 8 | TESTDEV_REVISION);
	assert_int_equal(vu_cfg_rd(vu, PCI_HEADER_TYPE, 1), PCI_HEADER_TYPE_NORMAL);
	assert_int_equal(vu_cfg_rd(vu, PCI_SUBSYSTEM_VENDOR_ID, 2), TESTDEV_VENDOR);
	assert_int_equal(vu_cfg_rd(vu, PCI_SUBSYSTEM_ID, 2), 1);
	assert_int_equal(vu_cfg_rd(vu, PCI_INTERRUPT_PIN, 1), 0);
	assert_int_equal(vu_cfg_rd(vu, PCI_ROM_ADDRESS, 4), 0);
	for (i = 256; i < 4096; i += 4)
		assert_int_equal(vu_cfg_rd(vu, i, 4), 0);
}

static void test_read_only(void **state)
{
	static const unsigned int fields[] = {
		PCI_VENDOR_ID,	 PCI_CLASS_REVISION,  PCI_CARDBUS_CIS, PCI_SUBSYSTEM_VENDOR_ID,
		PCI_ROM_ADDRESS, PCI_CAPABILITY_LIST, 0x100,	       0xffc,
	};
	struct vu *vu = *state;
	uint32_t old;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		old = vu_cfg_rd(vu, fields[i], 4);
		vu_cfg_wr(vu, fields[i], 4, 0xffffffff);
		assert_int_equal(vu_cfg_rd(vu, fields[i], 4), old);
		vu_cfg_wr(vu, fields[i], 4, 0);
		assert_int_equal(vu_cfg_rd(vu, fields[i], 4), old);
	}
	/*
	 * Write ones to all of it (which also resets the function): it is the same after a reset.
	 */
	{
		uint8_t ones[4096], before[4096], after[4096];

		memset(ones, 0xff, sizeof(ones));
		assert_int_equal(vu_reset(vu), 0);
		assert_int_equal(vu_read(vu, CFG, 0, before, sizeof(before)), 0);
		assert_int_equal(vu_write(vu, CFG, 0, ones, sizeof(ones)), 0);
		assert_int_equal(vu_reset(vu), 0);
		assert_int_equal(vu_read(vu, CFG, 0, after, sizeof(after)), 0);
		assert_memory_equal(before, after, sizeof(before));
	}
}

static void test_bars(void **state)
{
	static const uint64_t sizes[6] = {TESTDEV_BAR0_SIZE, 0, TESTDEV_BAR2_SIZE, 0,
					  TESTDEV_BAR4_SIZE};
	struct vu *vu = *state;
	unsigned int i, reg;
	uint64_t bar;

	for (i = 0; i < 6; i += 2) {
		reg = PCI_BASE_ADDRESS_0 + 4 * i;
		vu_cfg_wr(vu, reg, 4, 0xffffffff);
		vu_cfg_wr(vu, reg + 4, 4, 0xffffffff);
		bar = vu_cfg_rd(vu, reg, 4) | (uint64_t)vu_cfg_rd(vu, reg + 4, 4) << 32;
		assert_int_equal(bar & ~PCI_BASE_ADDRESS_MEM_MASK,
				 PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
		assert_int_equal(~(bar & PCI_BASE_ADDRESS_MEM_MASK) + 1, sizes[i]);
		vu_cfg_wr(vu, reg, 4, 0xfebf0000);
		vu_cfg_wr(vu, reg + 4, 4, 0x12);
		bar = vu_cfg_rd(vu, reg, 4) | (uint64_t)vu_cfg_rd(vu, reg + 4, 4) << 32;
		assert_int_equal(bar & PCI_BASE_ADDRESS_MEM_MASK, 0x12febf0000);
	}
}

static void test_command(void **state)
{
	struct vu *vu = *state;

	vu_wr32(vu, BAR2, 0, 0x12345678);
	vu_cfg_wr(vu, PCI_COMMAND, 2, 0xffff);
	assert_int_equal(vu_cfg_rd(vu, PCI_COMMAND, 2),
			 PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
				 PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MASTER);
	assert_int_equal(vu_rd32(vu, BAR2, 0), 0xffffffff);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_LEN), 0xffffffff);
	assert_int_equal(vu_rd32(vu, BAR4, 0), 0xffffffff);
	vu_wr32(vu, BAR2, 0, 0x87654321);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
	assert_int_equal(vu_rd32(vu, BAR2, 0), 0x12345678);
}

static void assert_master(struct vu *vu, uint32_t masters, bool on)
{
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_MASTERS), masters);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_MASTER), on);
}

/* The device is told of each change of bus mastering, also by the power state, and of nothing else. */
static void test_bus_master(void **state)
{
	struct vu *vu = *state;
	unsigned int ctrl = vu->pm_cap + PCI_PM_CTRL;
	uint32_t masters;

	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	masters = vu_rd32(vu, BAR0, TESTDEV_MASTERS);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_SERR);
	assert_master(vu, masters, true);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	assert_master(vu, masters + 1, false);
	vu_cfg_wr(vu, PCI_COMMAND, 1, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_master(vu, masters + 2, true);
	vu_cfg_wr(vu, ctrl, 2, 3);
	vu_cfg_wr(vu, ctrl, 2, 0);
	assert_master(vu, masters + 4, true);
	/* The reset is enough. */
	assert_int_equal(vu_reset(vu), 0);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	assert_master(vu, masters + 4, true);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_master(vu, masters + 5, true);
}

static void test_express(void **state)
{
	struct vu *vu = *state;
	unsigned int cap = vu->pcie_cap;

	assert_int_not_equal(cap, 0);
	assert_int_equal(vu_cfg_rd(vu, cap + PCI_EXP_FLAGS, 2), 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	assert_true(vu_cfg_rd(vu, cap + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	assert_true(vu_cfg_rd(vu, cap + PCI_EXP_LNKSTA, 2) & PCI_EXP_LNKSTA_NLW);
	vu_cfg_wr(vu, cap + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_READRQ_4096B);
	assert_int_equal(vu_cfg_rd(vu, cap + PCI_EXP_DEVCTL, 2), PCI_EXP_DEVCTL_READRQ_4096B);
	vu_cfg_wr(vu, cap + PCI_EXP_DEVSTA, 2, 0xffff);
	assert_int_equal(vu_cfg_rd(vu, cap + PCI_EXP_DEVSTA, 2), 0);
}

static void check_reset(struct vu *vu, uint32_t resets)
{
	assert_int_equal(vu_cfg_rd(vu, PCI_COMMAND, 2), 0);
	assert_int_equal(vu_cfg_rd(vu, vu->msix_cap + PCI_MSIX_FLAGS, 2), TESTDEV_VECTORS - 1);
	assert_int_equal(vu_cfg_rd(vu, PCI_BASE_ADDRESS_1, 4), 0);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), 0xffffffff);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), resets);
}

static void test_resets(void **state)
{
	struct vu *vu = *state;
	unsigned int devctl = vu->pcie_cap + PCI_EXP_DEVCTL;
	uint32_t resets = vu_rd32(vu, BAR0, TESTDEV_RESETS);

	vu_cfg_wr(vu, PCI_BASE_ADDRESS_1, 4, 1);
	assert_int_equal(vu_reset(vu), 0);
	check_reset(vu, ++resets);
	vu_cfg_wr(vu, PCI_BASE_ADDRESS_1, 4, 1);
	vu_cfg_wr(vu, devctl, 2, vu_cfg_rd(vu, devctl, 2) | PCI_EXP_DEVCTL_BCR_FLR);
	assert_int_equal(vu_cfg_rd(vu, devctl, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
	check_reset(vu, ++resets);
	/*
	 * Writes of one byte of the register and of four reset it too; a write of the next byte
	 * does not.
	 */
	vu_cfg_wr(vu, devctl + 1, 1, PCI_EXP_DEVCTL_BCR_FLR >> 8);
	check_reset(vu, ++resets);
	vu_cfg_wr(vu, devctl, 4, PCI_EXP_DEVCTL_BCR_FLR);
	check_reset(vu, ++resets);
	vu_cfg_wr(vu, devctl, 1, 0xff);
	vu_cfg_wr(vu, devctl + 2, 2, 0xffff);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), resets);
}

/* The eventfds are set by the client: they stay after a reset of the function. */
static void test_irqs_after_flr(void **state)
{
	struct vu *vu = *state;
	unsigned int flags = vu->msix_cap + PCI_MSIX_FLAGS;

	vu_cfg_wr(vu, vu->pcie_cap + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
	vu_wr32(vu, BAR0, TESTDEV_RAISE, 3);
	assert_int_equal(vu_irq_count(vu, 3), 0);
	vu_cfg_wr(vu, flags, 2, PCI_MSIX_FLAGS_ENABLE);
	assert_int_equal(vu_irq_count(vu, 3), 0);
	vu_wr32(vu, BAR0, TESTDEV_RAISE, 3);
	assert_int_equal(vu_irq_count(vu, 3), 1);
}

/* All of configuration space and BARs reads as ones. */
static bool all_ones(struct vu *vu)
{
	uint8_t bytes[4096];
	unsigned int i, j;
	static const unsigned int regions[] = {CFG, BAR0, BAR2, BAR4};

	for (i = 0; i < ARRAY_SIZE(regions); i++) {
		assert_int_equal(vu_read(vu, regions[i], 0, bytes, sizeof(bytes)), 0);
		for (j = 0; j < sizeof(bytes); j++)
			if (bytes[j] != 0xff)
				return false;
	}
	return true;
}

static void test_gone_and_back(void **state)
{
	uint32_t resets = vu_rd32(*state, BAR0, TESTDEV_RESETS), gone;
	struct vu *vu = *state;

	vu_wr32(vu, BAR2, 0, 2);
	vu_wr32(vu, BAR0, TESTDEV_LEN, 77);
	kill(server->pid, SIGUSR1);
	while (!all_ones(vu))
		;
	/* No access reaches the device, and resets change nothing. */
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	vu_wr32(vu, BAR2, 0, 1);
	vu_wr32(vu, BAR0, TESTDEV_RAISE, 1);
	assert_int_equal(vu_reset(vu), 0);
	assert_true(all_ones(vu));
	assert_int_equal(vu_irq_count(vu, 1), 0);

	kill(server->pid, SIGUSR2);
	while (vu_cfg_rd(vu, PCI_VENDOR_ID, 2) != TESTDEV_VENDOR)
		;
	/* As after power-on, with the same eventfds */
	assert_int_equal(vu_cfg_rd(vu, PCI_COMMAND, 2), 0);
	assert_int_equal(vu_cfg_rd(vu, vu->msix_cap + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_ENABLE,
			 0);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), UINT32_MAX);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	gone = vu_rd32(vu, BAR0, TESTDEV_RESETS) - resets;
	assert_int_equal(gone, 3); /* when it was removed, by the client, when it came back */
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_LEN), 0);
	assert_int_equal(vu_rd32(vu, BAR2, 0), 2);
	vu_cfg_wr(vu, vu->msix_cap + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE);
	vu_wr32(vu, BAR0, TESTDEV_RAISE, 1);
	assert_int_equal(vu_irq_wait(vu, 1), 1);
}

static void test_power(void **state)
{
	struct vu *vu = *state;
	unsigned int ctrl = vu->pm_cap + PCI_PM_CTRL;
	uint32_t resets = vu_rd32(vu, BAR0, TESTDEV_RESETS);

	assert_int_not_equal(vu->pm_cap, 0);
	assert_int_equal(vu_cfg_rd(vu, vu->pm_cap + PCI_PM_PMC, 2), 3);
	assert_int_equal(vu_cfg_rd(vu, ctrl, 2), PCI_PM_CTRL_NO_SOFT_RESET);
	vu_wr64(vu, BAR0, TESTDEV_SRC, 0x1234);
	vu_cfg_wr(vu, ctrl, 2, 3);
	assert_int_equal(vu_cfg_rd(vu, ctrl, 2), PCI_PM_CTRL_NO_SOFT_RESET | 3);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), 0xffffffff);
	/* D1 and D2 are not supported: nothing changes. */
	vu_cfg_wr(vu, ctrl, 2, 1);
	assert_int_equal(vu_cfg_rd(vu, ctrl, 2) & PCI_PM_CTRL_STATE_MASK, 3);
	vu_cfg_wr(vu, ctrl, 2, 0);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_RESETS), resets);
	assert_int_equal(vu_rd64(vu, BAR0, TESTDEV_SRC), 0x1234);
	vu_cfg_wr(vu, ctrl, 2, 2);
	assert_int_equal(vu_cfg_rd(vu, ctrl, 2) & PCI_PM_CTRL_STATE_MASK, 0);
}

/* MSI-X */

static void raise_irq(struct vu *vu, unsigned int vector)
{
	vu_wr32(vu, BAR0, TESTDEV_RAISE, vector);
}

static uint32_t pending(struct vu *vu)
{
	return vu_rd32(vu, BAR4, PBA);
}

static void test_msix_cap(void **state)
{
	struct vu *vu = *state;
	unsigned int cap = vu->msix_cap;

	assert_int_equal(vu_cfg_rd(vu, cap + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE,
			 TESTDEV_VECTORS - 1);
	assert_int_equal(vu_cfg_rd(vu, cap + PCI_MSIX_TABLE, 4), 4);
	assert_int_equal(vu_cfg_rd(vu, cap + PCI_MSIX_PBA, 4), PBA | 4);
}

static void test_msix_raise(void **state)
{
	struct vu *vu = *state;
	unsigned int i, j;

	for (i = 0; i < TESTDEV_VECTORS; i++) {
		raise_irq(vu, i);
		for (j = 0; j < TESTDEV_VECTORS; j++)
			assert_int_equal(vu_irq_count(vu, j), i == j);
		raise_irq(vu, i);
		raise_irq(vu, i);
		assert_int_equal(vu_irq_wait(vu, i), 2);
	}
	raise_irq(vu, TESTDEV_VECTORS);
	raise_irq(vu, UINT32_MAX);
	assert_int_equal(pending(vu), 0);
}

static void test_msix_function(void **state)
{
	struct vu *vu = *state;
	unsigned int flags = vu->msix_cap + PCI_MSIX_FLAGS;

	/* Masked: pending until it is unmasked. */
	vu_cfg_wr(vu, flags, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	raise_irq(vu, 1);
	raise_irq(vu, 31);
	raise_irq(vu, 31);
	assert_int_equal(pending(vu), 1U << 31 | 1 << 1);
	assert_int_equal(vu_irq_count(vu, 1), 0);
	vu_cfg_wr(vu, flags, 2, PCI_MSIX_FLAGS_ENABLE);
	assert_int_equal(pending(vu), 0);
	assert_int_equal(vu_irq_count(vu, 1), 1);
	assert_int_equal(vu_irq_count(vu, 31), 1);
	/* Disabled: lost. */
	vu_cfg_wr(vu, flags, 2, 0);
	raise_irq(vu, 1);
	assert_int_equal(pending(vu), 0);
	vu_cfg_wr(vu, flags, 2, PCI_MSIX_FLAGS_ENABLE);
	assert_int_equal(vu_irq_count(vu, 1), 0);
	/* No bus master: like masked. */
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	raise_irq(vu, 2);
	assert_int_equal(vu_irq_count(vu, 2), 0);
	assert_int_equal(pending(vu), 1 << 2);
	vu_cfg_wr(vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_int_equal(vu_irq_count(vu, 2), 1);
}

static void test_msix_table(void **state)
{
	struct vu *vu = *state;
	unsigned int i;

	for (i = 0; i < TESTDEV_VECTORS; i++) {
		assert_int_equal(vu_rd64(vu, BAR4, 16 * i), 0);
		assert_int_equal(vu_rd64(vu, BAR4, 16 * i + 8), 1ULL << 32);
	}
	/* By 32 and 64 bits; reserved bits stay zero. */
	vu_wr32(vu, BAR4, 0x20, 0xfee00003);
	vu_wr32(vu, BAR4, 0x24, 1);
	vu_wr32(vu, BAR4, 0x28, 0x4041);
	vu_wr32(vu, BAR4, 0x2c, 0xffffffff);
	assert_int_equal(vu_rd64(vu, BAR4, 0x20), 0x1fee00000);
	assert_int_equal(vu_rd64(vu, BAR4, 0x28), 0x100004041);
	vu_wr64(vu, BAR4, 0x30, 0x2fee01000);
	vu_wr64(vu, BAR4, 0x38, 0x4042);
	assert_int_equal(vu_rd32(vu, BAR4, 0x34), 2);
	assert_int_equal(vu_rd32(vu, BAR4, 0x38), 0x4042);
	/* Vector 2 is masked by its entry, 3 is not. */
	raise_irq(vu, 2);
	raise_irq(vu, 3);
	assert_int_equal(vu_irq_count(vu, 2), 0);
	assert_int_equal(vu_irq_count(vu, 3), 1);
	assert_int_equal(pending(vu), 1 << 2);
	vu_wr32(vu, BAR4, 0x2c, 0);
	assert_int_equal(vu_irq_count(vu, 2), 1);
	assert_int_equal(pending(vu), 0);
	/* The pending bits are read-only; there is nothing after the table. */
	vu_wr64(vu, BAR4, PBA, UINT64_MAX);
	assert_int_equal(vu_rd64(vu, BAR4, PBA), 0);
	vu_wr64(vu, BAR4, 16 * TESTDEV_VECTORS, UINT64_MAX);
	assert_int_equal(vu_rd64(vu, BAR4, 16 * TESTDEV_VECTORS), 0);
	assert_int_equal(vu_rd64(vu, BAR4, TESTDEV_BAR4_SIZE - 8), 0);
}

static void test_set_irqs_mask(void **state)
{
	struct vu *vu = *state;
	uint8_t bools[4] = {1, 0, 1, 0};
	unsigned int i;

	assert_int_equal(vu_set_irqs(vu, BOOL | MASK, MSIX, 4, 4, bools, NULL, 0), 0);
	for (i = 4; i < 8; i++)
		raise_irq(vu, i);
	assert_int_equal(pending(vu), 1 << 4 | 1 << 6);
	for (i = 4; i < 8; i++)
		assert_int_equal(vu_irq_count(vu, i), i % 2);
	assert_int_equal(vu_set_irqs(vu, NONE | UNMASK, MSIX, 4, 1, NULL, NULL, 0), 0);
	assert_int_equal(vu_irq_count(vu, 4), 1);
	assert_int_equal(pending(vu), 1 << 6);
	bools[0] = 0;
	assert_int_equal(vu_set_irqs(vu, BOOL | UNMASK, MSIX, 4, 4, bools, NULL, 0), 0);
	assert_int_equal(vu_irq_count(vu, 6), 1);
	assert_int_equal(pending(vu), 0);
}

static void test_set_irqs_trigger(void **state)
{
	struct vu *vu = *state;
	const uint8_t bools[3] = {0, 1, 0};
	int fds[2];

	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 30, 2, NULL, NULL, 0), 0);
	assert_int_equal(vu_irq_count(vu, 29), 0);
	assert_int_equal(vu_irq_count(vu, 30), 1);
	assert_int_equal(vu_irq_count(vu, 31), 1);
	assert_int_equal(vu_set_irqs(vu, BOOL | TRIGGER, MSIX, 0, 3, bools, NULL, 0), 0);
	assert_int_equal(vu_irq_count(vu, 0), 0);
	assert_int_equal(vu_irq_count(vu, 1), 1);
	/* Exchange the eventfds of two vectors. */
	fds[0] = vu->irq[1];
	fds[1] = vu->irq[0];
	assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 0, 2, NULL, fds, 2), 0);
	raise_irq(vu, 0);
	assert_int_equal(vu_irq_count(vu, 0), 0);
	assert_int_equal(vu_irq_count(vu, 1), 1);
	/* Without descriptors the old ones are removed. */
	assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 0, 1, NULL, NULL, 0), 0);
	raise_irq(vu, 0);
	raise_irq(vu, 1);
	assert_int_equal(vu_irq_count(vu, 1), 0);
	assert_int_equal(vu_irq_count(vu, 0), 1);
	/* Remove all. */
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 0, 0, NULL, NULL, 0), 0);
	raise_irq(vu, 1);
	raise_irq(vu, 9);
	assert_int_equal(vu_irq_count(vu, 0), 0);
	assert_int_equal(vu_irq_count(vu, 9), 0);
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 0, 4, NULL, NULL, 0), 0);
}

static void test_set_irqs_bad(void **state)
{
	struct vu *vu = *state;
	struct vfio_irq_set set = {sizeof(set), EVENTFD | TRIGGER, MSIX, 0, 2};
	unsigned int fds = server_count_fds(server), i;
	uint8_t bools[40] = {0};
	int many[3] = {vu->irq[0], vu->irq[1], vu->irq[2]}, pipes[2];

	for (i = 0; i < 20; i++) {
		assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 0, 2, NULL, many, 3),
				 -EINVAL);
		assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 0, 3, NULL, many, 2),
				 -EINVAL);
		assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 31, 2, NULL, many, 2),
				 -EINVAL);
		assert_int_equal(vu_set_irqs(vu, EVENTFD | MASK, MSIX, 0, 1, NULL, many, 1),
				 -ENOTSUP);
		assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 1, 1, NULL, many, 3), 0);
	}
	assert_int_equal(vu_irq_count(vu, 1), 20);
	/* A descriptor that could block the device, or is not an eventfd. */
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 0, 1, NULL, &pipes[1], 1),
			 -EINVAL);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(server_count_fds(server), fds);
	/* Flags. */
	assert_int_equal(vu_set_irqs(vu, TRIGGER, MSIX, 0, 1, NULL, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE, MSIX, 0, 1, NULL, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | BOOL | TRIGGER, MSIX, 0, 1, NULL, NULL, 0),
			 -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | MASK | UNMASK, MSIX, 0, 1, NULL, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER | 1 << 6, MSIX, 0, 1, NULL, NULL, 0),
			 -EINVAL);
	/* Ranges. */
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 32, 1, NULL, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 1, 0, NULL, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | MASK, MSIX, 0, 0, NULL, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, 1, UINT32_MAX, NULL, NULL, 0),
			 -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, MSIX, UINT32_MAX, 2, NULL, NULL, 0),
			 -EINVAL);
	assert_int_equal(vu_set_irqs(vu, BOOL | MASK, MSIX, 0, 33, bools, NULL, 0), -EINVAL);
	assert_int_equal(vu_set_irqs(vu, BOOL | MASK, MSIX, 0, 32, NULL, NULL, 0), -EINVAL);
	/* A wrong length. */
	set.argsz = sizeof(set) + 100;
	assert_int_equal(vu_call(vu, VFIO_USER_DEVICE_SET_IRQS, &set, sizeof(set), NULL, 0, NULL, 0,
				 NULL),
			 -EINVAL);
	/* Interrupts that do not exist. */
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, VFIO_PCI_INTX_IRQ_INDEX, 0, 1, NULL, NULL,
				     0),
			 -EINVAL);
	assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, VFIO_PCI_NUM_IRQS, 0, 0, NULL, NULL, 0),
			 -EINVAL);
	/* Disabling nothing is allowed; and so is QEMU's request for the error interrupt. */
	for (i = 0; i < VFIO_PCI_NUM_IRQS; i++) {
		if (i != MSIX)
			assert_int_equal(vu_set_irqs(vu, NONE | TRIGGER, i, 0, 0, NULL, NULL, 0),
					 0);
	}
	assert_int_equal(
		vu_set_irqs(vu, EVENTFD | TRIGGER, VFIO_PCI_ERR_IRQ_INDEX, 0, 1, NULL, many, 1), 0);
	assert_int_equal(server_count_fds(server), fds);
	raise_irq(vu, 0);
	assert_int_equal(vu_irq_count(vu, 0), 1);
}

/* An eventfd that blocks when it is full must not block the device. */
static void test_full_eventfd(void **state)
{
	struct vu *vu = *state;
	uint64_t most = UINT64_MAX - 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	assert_int_equal(write(fd, &most, sizeof(most)), sizeof(most));
	assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 7, 1, NULL, &fd, 1), 0);
	raise_irq(vu, 7);
	raise_irq(vu, 7);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_LEN), 0);
	close(fd);
}

/*
 * A client makes an eventfd block again after the device has taken it.  The device goes on, and gives
 * this function no further interrupts, so this is the last test.
 */
static void test_blocking_eventfd(void **state)
{
	struct vu *vu = *state;
	uint64_t most = UINT64_MAX - 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 7, 1, NULL, &fd, 1), 0);
	assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
	assert_int_equal(write(fd, &most, sizeof(most)), sizeof(most));
	raise_irq(vu, 7);
	assert_int_equal(vu_rd32(vu, BAR0, TESTDEV_LEN), 0);
	raise_irq(vu, 1);
	assert_int_equal(vu_irq_count(vu, 1), 0);
	assert_int_equal(vu_set_irqs(vu, EVENTFD | TRIGGER, MSIX, 1, 1, NULL, vu->irq + 1, 1),
			 -EPERM);
	close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_client, disconnect_client)
	const struct CMUnitTest tests[] = {
		TEST(test_header),
		TEST(test_read_only),
		TEST(test_bars),
		TEST(test_command),
		TEST(test_bus_master),
		TEST(test_express),
		TEST(test_resets),
		TEST(test_irqs_after_flr),
		TEST(test_gone_and_back),
		TEST(test_power),
		TEST(test_msix_cap),
		TEST(test_msix_raise),
		TEST(test_msix_function),
		TEST(test_msix_table),
		TEST(test_set_irqs_mask),
		TEST(test_set_irqs_trigger),
		TEST(test_set_irqs_bad),
		TEST(test_full_eventfd),
		TEST(test_blocking_eventfd),
	};

	return RUN_TESTS(tests, setup, teardown);
}
