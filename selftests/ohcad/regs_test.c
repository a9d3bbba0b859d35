// SPDX-License-Identifier: GPL-2.0
/* Registers: initialization in the right and in the wrong order, reset, fatal errors. */

#include <endian.h>
#include <linux/pci_regs.h>

#include "harness.h"
#include "drv.h"
#include "hcas.h"

static struct drv *open_drv(void)
{
	return drv_open(server->sock[0]);
}

static void assert_fatal(struct drv *drv, uint32_t why)
{
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_FATAL);
	assert_int_equal(drv_reg(drv, OHCA_REG_FATAL), why);
}

/* A reset ends, and nothing is ready after it. */
static void assert_reset(struct drv *drv)
{
	drv_wait_reset(drv);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), 0);
}

static void test_identity(void **state)
{
	struct drv *drv = open_drv();

	(void)state;
	assert_int_equal(drv_reg(drv, OHCA_REG_MAGIC), OHCA_MAGIC);
	assert_int_equal(drv_reg(drv, OHCA_REG_VERSION),
			 OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR);
	assert_int_equal(drv_reg(drv, OHCA_REG_CAPS_LO), DRV_ALL_FEATS | OHCA_FEAT_UAR_SHIFT);
	assert_int_equal(drv_reg(drv, OHCA_REG_CAPS_HI), 0);
	assert_reset(drv);
	assert_int_equal(drv_reg(drv, OHCA_REG_FATAL), OHCA_FATAL_NONE);
	drv_close(drv);
}

static void test_configuration_reads_back(void **state)
{
	static const uint16_t pairs[] = {OHCA_REG_FEATS_LO, OHCA_REG_CMDQ_SQ_LO,
					 OHCA_REG_CMDQ_CQ_LO, OHCA_REG_CMDQ_REC_LO};
	struct drv *drv = open_drv();
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		drv_set_reg64(drv, pairs[i], 0x1122334455667788ULL + i);
		assert_int_equal(drv_reg(drv, pairs[i]), 0x55667788 + i);
		assert_int_equal(drv_reg(drv, pairs[i] + 4), 0x11223344);
	}
	drv_set_reg(drv, OHCA_REG_CMDQ_CFG, 6);
	assert_int_equal(drv_reg(drv, OHCA_REG_CMDQ_CFG), 6);
	drv_set_reg(drv, OHCA_REG_SW_VERSION, 0x12345678);
	assert_int_equal(drv_reg(drv, OHCA_REG_SW_VERSION), 0x12345678);
	drv_reset(drv);
	assert_int_equal(drv_reg(drv, OHCA_REG_CMDQ_CFG), 0);
	assert_int_equal(drv_reg(drv, OHCA_REG_SW_VERSION), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(drv_reg(drv, pairs[i]), 0);
	drv_close(drv);
}

static void test_reset_values(void **state)
{
	static const struct {
		uint16_t off;
		uint32_t value;
	} regs[] = {
		{OHCA_REG_MAGIC, 0x4143484f}, {OHCA_REG_VERSION, 0x00020001},
		{OHCA_REG_FEATS_LO, 0},	      {OHCA_REG_FEATS_HI, 0},
		{OHCA_REG_CTRL, 0},	      {OHCA_REG_STATUS, 0},
		{OHCA_REG_FATAL, 0},	      {OHCA_REG_CMDQ_CFG, 0},
		{OHCA_REG_CMDQ_DB, 0},	      {OHCA_REG_CMDQ_SQ_LO, 0},
		{OHCA_REG_CMDQ_SQ_HI, 0},     {OHCA_REG_CMDQ_CQ_LO, 0},
		{OHCA_REG_CMDQ_CQ_HI, 0},     {OHCA_REG_CMDQ_REC_LO, 0},
		{OHCA_REG_CMDQ_REC_HI, 0},    {OHCA_REG_SW_VERSION, 0},
		{OHCA_REG_UAR_SHIFT, 0},
	};
	struct drv *drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	unsigned int i, round;

	(void)state;
	for (round = 0; round < 2; round++) {
		drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
		drv_wait_reset(drv);
		for (i = 0; i < ARRAY_SIZE(regs); i++)
			assert_int_equal(drv_reg(drv, regs[i].off), regs[i].value);
		/* Values written before ENABLE, and an invalid configuration */
		for (i = 0; i < ARRAY_SIZE(regs); i++)
			drv_set_reg(drv, regs[i].off,
				    regs[i].off == OHCA_REG_CTRL ? OHCA_CTRL_ENABLE : ~0U);
	}
	drv_close(drv);
}

static void test_registers_are_32_bits_wide(void **state)
{
	struct drv *drv = open_drv();
	uint64_t wide = UINT64_MAX;
	uint16_t half = 0xffff;

	(void)state;
	assert_int_equal(vu_read(drv->vu, OHCA_BAR_REGS, OHCA_REG_MAGIC, &half, 2), 0);
	assert_int_equal(half, 0);
	assert_int_equal(vu_read(drv->vu, OHCA_BAR_REGS, OHCA_REG_MAGIC, &wide, 8), 0);
	assert_int_equal(wide, 0);
	half = 0xffff;
	assert_int_equal(vu_write(drv->vu, OHCA_BAR_REGS, OHCA_REG_FEATS_LO, &half, 2), 0);
	assert_int_equal(drv_reg(drv, OHCA_REG_FEATS_LO), 0);
	/* An offset without a register reads as zero and ignores writes. */
	drv_set_reg(drv, 0x3ffc, 1);
	assert_int_equal(drv_reg(drv, 0x3ffc), 0);
	drv_set_reg(drv, OHCA_REG_MAGIC, 1);
	assert_int_equal(drv_reg(drv, OHCA_REG_MAGIC), OHCA_MAGIC);
	drv_close(drv);
}

static void test_enable(void **state)
{
	struct drv *drv = open_drv();
	uint32_t beat;

	(void)state;
	assert_int_equal(drv_enable(drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	/* Read-only now */
	drv_set_reg64(drv, OHCA_REG_CMDQ_SQ_LO, 0);
	drv_set_reg(drv, OHCA_REG_CMDQ_CFG, 7);
	drv_set_reg64(drv, OHCA_REG_FEATS_LO, 0);
	assert_int_equal(drv_reg(drv, OHCA_REG_CMDQ_SQ_LO), (uint32_t)drv->sq_addr);
	assert_int_equal(drv_reg(drv, OHCA_REG_CMDQ_CFG), DRV_LOG_CMDS);
	assert_int_equal(drv_reg(drv, OHCA_REG_FEATS_LO), DRV_ALL_FEATS);
	/* Enabling again has no effect */
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
	beat = drv_reg(drv, OHCA_REG_HEARTBEAT);
	while (drv_reg(drv, OHCA_REG_HEARTBEAT) == beat)
		;
	drv_reset(drv);
	assert_reset(drv);
	assert_int_equal(drv_reg(drv, OHCA_REG_CMDQ_SQ_LO), 0);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
	drv_close(drv);
}

/* Each size of the command ring, a few times around it. */
static void test_ring_sizes(void **state)
{
	struct drv *drv = open_drv();
	unsigned int log, i;

	(void)state;
	for (log = OHCA_CMDQ_MIN_LOG_SIZE; log <= OHCA_CMDQ_MAX_LOG_SIZE; log++) {
		assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
		drv_reset(drv);
		memset(drv->cq, 0, 4096);
		drv_set_reg(drv, OHCA_REG_SW_VERSION, DRV_VERSION);
		drv_set_reg(drv, OHCA_REG_CMDQ_CFG, log);
		drv_set_reg64(drv, OHCA_REG_CMDQ_SQ_LO, drv->sq_addr);
		drv_set_reg64(drv, OHCA_REG_CMDQ_CQ_LO, drv->cq_addr);
		drv_set_reg64(drv, OHCA_REG_CMDQ_REC_LO, drv->rec_addr);
		drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
		assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
		for (i = 0; i < 3U << log; i++) {
			unsigned int at = i & ((1U << log) - 1);

			drv->sq[at] =
				(struct ohca_cmd){.opcode = htole16(0xeeee), .tag = htole16(i)};
			__atomic_store_n(&drv->rec->pi, htole32(i + 1), __ATOMIC_RELEASE);
			drv_set_reg(drv, OHCA_REG_CMDQ_DB, i + 1);
			drv_until8(&drv->cq[at].owner, 1, !(i >> log & 1), "a completion");
			assert_int_equal(le16toh(drv->cq[at].tag), i);
		}
		drv_reset(drv);
	}
	drv_close(drv);
}

/* Enable with all registers set and one of them invalid. */
static void spoil(uint64_t off, uint32_t val)
{
	struct drv *drv = open_drv();

	drv->next = DRV_MEM + 0x100000;
	drv_set_reg(drv, OHCA_REG_SW_VERSION, DRV_VERSION);
	drv_set_reg(drv, OHCA_REG_CMDQ_CFG, DRV_LOG_CMDS);
	drv_set_reg64(drv, OHCA_REG_CMDQ_SQ_LO, DRV_MEM);
	drv_set_reg64(drv, OHCA_REG_CMDQ_CQ_LO, DRV_MEM + 0x1000);
	drv_set_reg64(drv, OHCA_REG_CMDQ_REC_LO, DRV_MEM + 0x2000);
	drv_set_reg(drv, off, val);
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	assert_fatal(drv, OHCA_FATAL_CONFIG);
	/* Only a reset ends this state */
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	assert_fatal(drv, OHCA_FATAL_CONFIG);
	drv_reset(drv);
	assert_reset(drv);
	assert_int_equal(drv_reg(drv, OHCA_REG_FATAL), 0);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
	drv_close(drv);
}

static void test_bad_configurations(void **state)
{
	(void)state;
	spoil(OHCA_REG_FEATS_LO, 8);
	spoil(OHCA_REG_FEATS_HI, 1);
	spoil(OHCA_REG_CMDQ_CFG, OHCA_CMDQ_MIN_LOG_SIZE - 1);
	spoil(OHCA_REG_CMDQ_CFG, OHCA_CMDQ_MAX_LOG_SIZE + 1);
	spoil(OHCA_REG_CMDQ_CFG, UINT32_MAX);
	spoil(OHCA_REG_CMDQ_SQ_LO, 64);
	spoil(OHCA_REG_CMDQ_SQ_HI, 0x7fff);
	spoil(OHCA_REG_CMDQ_CQ_LO, 0x800);
	spoil(OHCA_REG_CMDQ_CQ_HI, 0xffffffff);
	spoil(OHCA_REG_CMDQ_REC_LO, 32);
	spoil(OHCA_REG_CMDQ_REC_HI, 0);
}

/* Enable with that distance of UARs. */
static void enable_uars(struct drv *drv, uint64_t feats, uint32_t shift, uint32_t status)
{
	drv_reset(drv);
	drv->uar_shift = shift;
	assert_int_equal(drv_enable(drv, feats), status);
	if (status == OHCA_STATUS_FATAL)
		assert_fatal(drv, OHCA_FATAL_CONFIG);
	else
		assert_int_equal(drv_reg(drv, OHCA_REG_UAR_SHIFT), shift);
}

/*
 * UARs are as far apart as software asks for, within limits; without the feature, the register has
 * no effect.
 */
static void test_distance_of_uars(void **state)
{
	static const uint32_t bad[] = {
		0, 1, OHCA_UAR_SHIFT_MIN - 1, OHCA_UAR_SHIFT_MAX + 1, 32, UINT32_MAX};
	struct ohca_query_device_out limits;
	struct drv *drv = open_drv();
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		enable_uars(drv, OHCA_FEAT_UAR_SHIFT, bad[i], OHCA_STATUS_FATAL);
	for (i = OHCA_UAR_SHIFT_MIN; i <= OHCA_UAR_SHIFT_MAX; i++) {
		enable_uars(drv, OHCA_FEAT_UAR_SHIFT, i, OHCA_STATUS_READY);
		drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &limits, sizeof(limits));
		assert_int_equal(le32toh(limits.max_uar), 4096 << OHCA_UAR_SHIFT_MIN >> i);
	}
	drv_reset(drv);
	drv_set_reg(drv, OHCA_REG_UAR_SHIFT, 99);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
	drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &limits, sizeof(limits));
	assert_int_equal(le32toh(limits.max_uar), 4096);
	drv_close(drv);
}

static void test_enable_without_configuration(void **state)
{
	struct drv *drv = open_drv();

	(void)state;
	drv_set_reg(drv, OHCA_REG_SW_VERSION, DRV_VERSION);
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	assert_fatal(drv, OHCA_FATAL_CONFIG);
	drv_close(drv);
}

/* Enable with another version, after a reset. */
static void enable_as(struct drv *drv, uint32_t version)
{
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
	drv_reset(drv);
	drv_set_reg(drv, OHCA_REG_CMDQ_CFG, DRV_LOG_CMDS);
	drv_set_reg64(drv, OHCA_REG_CMDQ_SQ_LO, drv->sq_addr);
	drv_set_reg64(drv, OHCA_REG_CMDQ_CQ_LO, drv->cq_addr);
	drv_set_reg64(drv, OHCA_REG_CMDQ_REC_LO, drv->rec_addr);
	drv_set_reg(drv, OHCA_REG_SW_VERSION, version);
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
}

/*
 * Another major version of software is refused, and so is version 0; another minor version is not.
 */
static void test_software_version(void **state)
{
	static const uint32_t bad[] = {0, 1 << 16 | 3, (OHCA_VERSION_MAJOR + 1) << 16, UINT32_MAX};
	struct drv *drv = open_drv();
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		enable_as(drv, bad[i]);
		assert_fatal(drv, OHCA_FATAL_VERSION);
		drv_reset(drv);
	}
	enable_as(drv, DRV_VERSION | 0xffff);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
	drv_close(drv);
}

static void test_enable_without_bus_master(void **state)
{
	struct drv *drv = open_drv();

	(void)state;
	vu_cfg_wr(drv->vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	drv_enable(drv, DRV_ALL_FEATS);
	assert_fatal(drv, OHCA_FATAL_CONFIG);
	drv_close(drv);
}

static void test_bus_master_off_stops_everything(void **state)
{
	struct drv *drv = drv_start(server->sock[0], 0);
	struct ohca_cmd cmd = {.opcode = htole16(0xffff), .tag = htole16(7)};
	unsigned int i;

	(void)state;
	vu_cfg_wr(drv->vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	drv_post(drv, &cmd);
	drv_kick(drv);
	for (i = 0; i < 100; i++)
		drv_reg(drv, OHCA_REG_HEARTBEAT);
	assert_int_equal(drv->cq[1].owner, 0);
	vu_cfg_wr(drv->vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_int_equal(drv_wait(drv).status, OHCA_CMD_BAD_OPCODE);
	drv_close(drv);
}

/* Not even the word by which software sees that a UAR is awake is written, and the UAR is awake when it can be. */
static void test_wake_without_bus_master(void **state)
{
	struct drv *drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	struct ohca_cmd cmd = {.opcode = htole16(0xffff)};

	(void)state;
	drv_until32(&drv->shadow->asleep, 1, 1, "the UAR falls asleep");
	vu_cfg_wr(drv->vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	drv_post(drv, &cmd);
	__atomic_store_n(&drv->rec->pi, htole32(drv->pi), __ATOMIC_RELEASE);
	assert_true(drv_ring(drv, 0, drv->shadow, 0));
	drv_reg(drv, OHCA_REG_STATUS);
	assert_int_equal(le32toh(__atomic_load_n(&drv->shadow->asleep, __ATOMIC_ACQUIRE)), 1);
	vu_cfg_wr(drv->vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_int_equal(drv_wait(drv).status, OHCA_CMD_BAD_OPCODE);
	drv_close(drv);
}

static void test_command_index_jumps(void **state)
{
	struct drv *drv = drv_start(server->sock[0], 0);
	uint32_t beat;

	(void)state;
	drv->pi += (1 << DRV_LOG_CMDS) + 1;
	__atomic_store_n(&drv->rec->pi, htole32(drv->pi), __ATOMIC_RELEASE);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi - 1);
	while (!(drv_reg(drv, OHCA_REG_STATUS) & OHCA_STATUS_FATAL))
		;
	assert_fatal(drv, OHCA_FATAL_CMDQ);
	beat = drv_reg(drv, OHCA_REG_HEARTBEAT);
	assert_int_equal(drv_reg(drv, OHCA_REG_HEARTBEAT), beat);
	drv_close(drv);
}

static void test_command_doorbell_jumps(void **state)
{
	struct drv *drv = drv_start(server->sock[0], 0);

	(void)state;
	/* An old value is allowed: the write was delayed while the device took more commands. */
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi - 1);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi - 3 * (1 << DRV_LOG_CMDS));
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi + (1 << DRV_LOG_CMDS) + 1);
	assert_fatal(drv, OHCA_FATAL_CMDQ);
	drv_reset(drv);
	assert_int_equal(drv_enable(drv, 0), OHCA_STATUS_READY);
	drv_first_uar(drv);
	drv_close(drv);
}

static void test_command_queue_memory_goes(void **state)
{
	struct drv *drv = drv_start(server->sock[0], 0);

	(void)state;
	assert_int_equal(vu_dma_unmap(drv->vu, DRV_MEM, DRV_MEM_SIZE), 0);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi + 1);
	while (!(drv_reg(drv, OHCA_REG_STATUS) & OHCA_STATUS_FATAL))
		;
	assert_fatal(drv, OHCA_FATAL_CMDQ);
	drv_close(drv);
}

/* The device has lost all objects: commands find none. */
static void check_forgotten(struct drv *drv)
{
	struct ohca_handle h;

	assert_reset(drv);
	assert_int_equal(drv_enable(drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	drv_first_uar(drv);
	assert_int_equal(drv_destroy(drv, OHCA_CMD_FREE_PD, 1), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_ALLOC_PD, NULL, 0, &h, sizeof(h)), OHCA_CMD_OK);
	assert_int_equal(le32toh(h.id), 1);
}

static void make_objects(struct drv *drv)
{
	struct drv_eq *eq = drv_eq_new(drv, 4, 1, 0);
	int i;

	drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	for (i = 0; i < 5; i++)
		drv_cq_new(drv, i, eq->eqn);
	for (i = 0; i < 100; i++)
		drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
}

static void test_every_reset_forgets(void **state)
{
	struct drv *drv = drv_start(server->sock[0], DRV_ALL_FEATS);

	(void)state;
	make_objects(drv);
	drv_reset(drv);
	check_forgotten(drv);

	make_objects(drv);
	assert_int_equal(vu_reset(drv->vu), 0);
	vu_enable(drv->vu, DRV_VECTORS);
	check_forgotten(drv);

	make_objects(drv);
	vu_cfg_wr(drv->vu, drv->vu->pcie_cap + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR);
	vu_enable(drv->vu, DRV_VECTORS);
	check_forgotten(drv);

	make_objects(drv);
	drv_close(drv);
	drv = open_drv();
	check_forgotten(drv);
	drv_close(drv);
}

static void test_reset_with_commands_under_way(void **state)
{
	struct drv *drv = drv_open(server->sock[0]);
	int round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		drv->next = DRV_MEM;
		assert_int_equal(drv_enable(drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
		drv_first_uar(drv);
		for (i = 0; i < 1 << DRV_LOG_CMDS; i++) {
			struct ohca_cmd cmd = {
				.opcode = htole16(OHCA_CMD_ALLOC_PD),
				.out_len = htole16(8),
				.out_addr = htole64(drv->sq_addr + 0x800),
			};

			drv_post(drv, &cmd);
		}
		drv_kick(drv);
		for (i = 0; i < round % 7; i++)
			drv_reg(drv, OHCA_REG_STATUS);
		drv_reset(drv);
		assert_reset(drv);
	}
	drv_close(drv);
}

static void test_doorbells_before_enable(void **state)
{
	struct drv *drv = open_drv();

	(void)state;
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, 1);
	vu_wr32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_WAKE, 1);
	vu_wr64(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB, UINT64_MAX);
	assert_int_equal(vu_rd64(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB), 0);
	assert_int_equal(drv_enable(drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	/* UARs and queues that do not exist */
	vu_wr32(drv->vu, OHCA_BAR_UAR, 17 * OHCA_UAR_SIZE + OHCA_UAR_WAKE, 1);
	vu_wr64(drv->vu, OHCA_BAR_UAR, 4095 * OHCA_UAR_SIZE + OHCA_UAR_SQ_DB, UINT64_MAX);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
	drv_close(drv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_configuration_reads_back),
		cmocka_unit_test(test_reset_values),
		cmocka_unit_test(test_registers_are_32_bits_wide),
		cmocka_unit_test(test_enable),
		cmocka_unit_test(test_ring_sizes),
		cmocka_unit_test(test_bad_configurations),
		cmocka_unit_test(test_distance_of_uars),
		cmocka_unit_test(test_enable_without_configuration),
		cmocka_unit_test(test_software_version),
		cmocka_unit_test(test_enable_without_bus_master),
		cmocka_unit_test(test_bus_master_off_stops_everything),
		cmocka_unit_test(test_wake_without_bus_master),
		cmocka_unit_test(test_command_index_jumps),
		cmocka_unit_test(test_command_doorbell_jumps),
		cmocka_unit_test(test_command_queue_memory_goes),
		cmocka_unit_test(test_every_reset_forgets),
		cmocka_unit_test(test_reset_with_commands_under_way),
		cmocka_unit_test(test_doorbells_before_enable),
	};

	return RUN_TESTS(tests, start_one_hca, stop_hcas);
}
