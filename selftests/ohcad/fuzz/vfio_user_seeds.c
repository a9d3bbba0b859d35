// SPDX-License-Identifier: GPL-2.0
/* Initial inputs of the target "vfio_user": messages of QEMU, firmware and a driver. */

#include <endian.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "vfio_user_input.h"
#include "ohca/ohca_cmd.h"
#include "target.h"
#include "vfio/vfio_user_wire.h"

#define REGS (VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_REGS)
#define UAR (VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_UAR)
#define MSIX (VFIO_PCI_BAR0_REGION_INDEX + OHCA_BAR_MSIX)
#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

/* Offsets of the device's capabilities */
#define PM_CAP 0x40
#define EXP_CAP 0x48
#define MSIX_CAP 0x88

#define MEM 0x100000000ULL /* DMA address of the shared memory */

typedef void emit_fn(const char *name, const struct seed *seed);

static struct seed seed;

static void put(uint8_t kind, uint8_t fds, uint8_t cmd, const void *bytes, size_t len)
{
	const struct client_record rec = {
		.kind = kind, .fds = fds, .cmd = cmd, .len = htole16(len)};

	seed_put(&seed, &rec, sizeof(rec));
	seed_put(&seed, bytes, len);
}

static void message(uint8_t cmd, const void *bytes, size_t len)
{
	put(CLIENT_MESSAGE, 0, cmd, bytes, len);
}

static void emit_as(emit_fn *emit, const char *name)
{
	emit(name, &seed);
	seed.len = 0;
}

static void read_region(uint32_t region, uint64_t off, uint32_t len)
{
	const struct vfio_user_region_rw rw = {off, region, len};

	message(VFIO_USER_REGION_READ, &rw, sizeof(rw));
}

static void write_region(uint32_t region, uint64_t off, const void *bytes, uint32_t len)
{
	struct {
		struct vfio_user_region_rw rw;
		uint8_t bytes[64];
	} msg = {.rw = {off, region, len}};

	memcpy(msg.bytes, bytes, len);
	message(VFIO_USER_REGION_WRITE, &msg, sizeof(msg.rw) + len);
}

static void write32(uint32_t region, uint64_t off, uint32_t val)
{
	val = htole32(val);
	write_region(region, off, &val, sizeof(val));
}

static void write16(uint32_t region, uint64_t off, uint16_t val)
{
	val = htole16(val);
	write_region(region, off, &val, sizeof(val));
}

static void put_map(uint64_t addr, uint64_t size, uint64_t offset, uint8_t fds)
{
	const struct vfio_user_dma_map map = {
		.argsz = sizeof(map), .flags = 3, .offset = offset, .addr = addr, .size = size};

	put(CLIENT_MESSAGE, fds, VFIO_USER_DMA_MAP, &map, sizeof(map));
}

static void put_unmap(uint64_t addr, uint64_t size, uint32_t flags)
{
	const struct vfio_user_dma_unmap unmap = {sizeof(unmap), flags, addr, size};

	message(VFIO_USER_DMA_UNMAP, &unmap, sizeof(unmap));
}

static void infos(emit_fn *emit)
{
	struct vfio_device_info device = {.argsz = sizeof(device)};
	struct vfio_region_info region = {.argsz = 64};
	struct vfio_irq_info irq = {.argsz = sizeof(irq)};

	message(VFIO_USER_DEVICE_GET_INFO, &device, 16);
	for (region.index = 0; region.index < VFIO_PCI_NUM_REGIONS; region.index++)
		message(VFIO_USER_DEVICE_GET_REGION_INFO, &region, sizeof(region));
	for (irq.index = 0; irq.index < VFIO_PCI_NUM_IRQS; irq.index++)
		message(VFIO_USER_DEVICE_GET_IRQ_INFO, &irq, sizeof(irq));
	emit_as(emit, "infos");
}

static void memory(emit_fn *emit)
{
	put_map(0, 0x10000, 0, 1);
	put_map(0x10000, 0x8000, 0x10000, 1);
	put_map(0xfee00000, 0x1000, 0, 0);
	put_map(0x40000, 0x1000, 0, 1 | CLIENT_FD_SOCKET);
	put_unmap(0x10000, 0x8000, 0);
	put(CLIENT_SHRINK, 0, 0, NULL, 0);
	put_unmap(0, 0, VFIO_USER_DMA_UNMAP_ALL);
	emit_as(emit, "memory");
}

static void config(emit_fn *emit)
{
	unsigned int bar;

	read_region(CONFIG, 0, 256);
	for (bar = 0; bar < 6; bar++) {
		write32(CONFIG, PCI_BASE_ADDRESS_0 + 4 * bar, ~0U);
		read_region(CONFIG, PCI_BASE_ADDRESS_0 + 4 * bar, 4);
	}
	write16(CONFIG, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	write16(CONFIG, PM_CAP + PCI_PM_CTRL, 3);
	write16(CONFIG, PM_CAP + PCI_PM_CTRL, 0);
	write16(CONFIG, MSIX_CAP + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
	write16(CONFIG, EXP_CAP + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
	message(VFIO_USER_DEVICE_RESET, NULL, 0);
	emit_as(emit, "config");
}

static void put_irqs(uint32_t flags, uint32_t start, uint32_t count, uint8_t fds, const void *data,
		     size_t len)
{
	struct {
		struct vfio_irq_set set;
		uint8_t data[32];
	} msg = {.set = {.argsz = sizeof(msg.set) + len,
			 .flags = flags,
			 .index = VFIO_PCI_MSIX_IRQ_INDEX,
			 .start = start,
			 .count = count}};

	if (len)
		memcpy(msg.data, data, len);
	put(CLIENT_MESSAGE, fds, VFIO_USER_DEVICE_SET_IRQS, &msg, sizeof(msg.set) + len);
}

static void irqs(emit_fn *emit)
{
	static const uint8_t bools[4] = {1, 0, 1, 1};
	unsigned int vector;

	put_irqs(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 4, 4 | CLIENT_FD_EVENT,
		 NULL, 0);
	write16(CONFIG, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	for (vector = 0; vector < 4; vector++)
		write32(MSIX, 16 * vector + PCI_MSIX_ENTRY_VECTOR_CTRL, vector & 1);
	write16(CONFIG, MSIX_CAP + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
	put_irqs(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK, 0, 2, 0, NULL, 0);
	put_irqs(VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 4, 0, bools, 4);
	put_irqs(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, 0, 2, 0, NULL, 0);
	read_region(MSIX, 0, 64);
	read_region(MSIX, 0x1000, 8);
	put_irqs(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 1, 2, 0, NULL, 0);
	put_irqs(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 0, 0, NULL, 0);
	emit_as(emit, "irqs");
}

static void put_mem(uint32_t off, const void *bytes, size_t len)
{
	struct {
		__le32 off;
		uint8_t bytes[256];
	} msg = {.off = htole32(off)};

	memcpy(msg.bytes, bytes, len);
	put(CLIENT_MEM, 0, 0, &msg, sizeof(msg.off) + len);
}

/* Pages of the shared memory */
enum page {
	PAGE_SQ,
	PAGE_CQ,
	PAGE_REC,
	PAGE_SHADOW,
	PAGE_IN,
	PAGE_OUT,
	PAGE_EQ,
};

#define AT(page) ((page) * 4096U)

/* Initialize the device with the client's memory, and execute commands. */
static void bring_up(emit_fn *emit)
{
	struct ohca_create_eq_in eq = {
		.buf = {.addr = htole64(MEM + AT(PAGE_EQ)), .npages = htole32(1), .page_shift = 12},
		.rec_offset = htole32(1024),
		.vector = htole16(1),
		.log_size = 4,
		.flags = OHCA_EQ_ASYNC};
	struct ohca_alloc_uar_in uar = {.shadow_addr = htole64(MEM + AT(PAGE_SHADOW))};
	struct ohca_modify_port_in port = {
		.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1, .admin_up = 1};
	struct ohca_cmd cmds[] = {
		{.opcode = htole16(OHCA_CMD_ALLOC_UAR), .in_len = htole16(sizeof(uar))},
		{.opcode = htole16(OHCA_CMD_CREATE_EQ), .in_len = htole16(sizeof(eq))},
		{.opcode = htole16(OHCA_CMD_MODIFY_PORT), .in_len = htole16(sizeof(port))},
		{.opcode = htole16(OHCA_CMD_QUERY_DEVICE), .in_len = 0},
	};
	struct ohca_cmdq_rec rec = {.pi = htole32(4)};
	unsigned int i;

	put_map(MEM, CLIENT_MEM_SIZE, 0, 1);
	write16(CONFIG, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	read_region(REGS, OHCA_REG_MAGIC, 4);
	write32(REGS, OHCA_REG_SW_VERSION, OHCA_VERSION_MAJOR << 16 | OHCA_VERSION_MINOR);
	write32(REGS, OHCA_REG_FEATS_LO, OHCA_FEAT_SHADOW_DB | OHCA_FEAT_ETH);
	write32(REGS, OHCA_REG_CMDQ_CFG, 2);
	write32(REGS, OHCA_REG_CMDQ_SQ_LO, AT(PAGE_SQ));
	write32(REGS, OHCA_REG_CMDQ_SQ_LO + 4, MEM >> 32);
	write32(REGS, OHCA_REG_CMDQ_CQ_LO, AT(PAGE_CQ));
	write32(REGS, OHCA_REG_CMDQ_CQ_LO + 4, MEM >> 32);
	write32(REGS, OHCA_REG_CMDQ_REC_LO, AT(PAGE_REC));
	write32(REGS, OHCA_REG_CMDQ_REC_LO + 4, MEM >> 32);
	write32(REGS, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	put_mem(AT(PAGE_IN), &uar, sizeof(uar));
	put_mem(AT(PAGE_IN) + 256, &eq, sizeof(eq));
	put_mem(AT(PAGE_IN) + 512, &port, sizeof(port));
	for (i = 0; i < 4; i++) {
		cmds[i].in_addr = htole64(MEM + AT(PAGE_IN) + 256 * i);
		cmds[i].out_addr = htole64(MEM + AT(PAGE_OUT) + 512 * i);
		cmds[i].out_len = htole16(512);
	}
	put_mem(AT(PAGE_SQ), cmds, sizeof(cmds));
	put_mem(AT(PAGE_REC), &rec, sizeof(rec));
	write32(REGS, OHCA_REG_CMDQ_DB, 4);
	write32(UAR, OHCA_UAR_WAKE, 1);
	read_region(UAR, OHCA_UAR_CLOCK, 8);
	put_unmap(MEM, CLIENT_MEM_SIZE, 0);
	emit_as(emit, "bring-up");
}

static void multi(emit_fn *emit)
{
	struct {
		uint64_t count;
		struct vfio_user_region_write1 write[2];
	} msg = {.count = 2,
		 .write = {{.rw = {PCI_COMMAND, CONFIG, 2}, .data = {6}},
			   {.rw = {OHCA_REG_CTRL, REGS, 4}, .data = {1}}}};

	put(CLIENT_MESSAGE | CLIENT_NO_REPLY, 0, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg));
	put(CLIENT_HALVES, 0, VFIO_USER_REGION_WRITE_MULTI, &msg, sizeof(msg));
	emit_as(emit, "multi");
}

/* Messages with counts that are too large: of data, of a region, of interrupts, of a reply. */
static void refused(emit_fn *emit)
{
	struct {
		uint64_t count;
		struct vfio_user_region_write1 write[2];
	} multi = {.count = 3,
		   .write = {{.rw = {PCI_COMMAND, CONFIG, 2}}, {.rw = {PCI_COMMAND, CONFIG, 2}}}};
	struct vfio_user_region_rw rw = {0, CONFIG, 64};
	static const uint8_t bools[2];

	message(VFIO_USER_REGION_WRITE, &rw, sizeof(rw));
	message(VFIO_USER_REGION_WRITE_MULTI, &multi, sizeof(multi));
	multi.count = 1;
	multi.write[0].rw.count = 64;
	message(VFIO_USER_REGION_WRITE_MULTI, &multi, sizeof(multi));
	read_region(CONFIG, 4092, 64);
	read_region(CONFIG, 1ULL << 40, 4);
	read_region(REGS, UINT64_MAX, 4);
	read_region(MSIX, 0xffff, 2);
	write32(UAR, 1ULL << 32, 1);
	read_region(UAR, 0, (1 << 20) + 1);
	read_region(VFIO_PCI_NUM_REGIONS, 0, 4);
	put_irqs(VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 4, 0, bools, 2);
	put_irqs(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 4, 2 | CLIENT_FD_EVENT,
		 NULL, 0);
	put_irqs(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1U << 20, 0, NULL, 0);
	put_irqs(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK, UINT32_MAX, 2, 0, NULL, 0);
	put_map(MEM, CLIENT_MEM_SIZE + 4096, 4096, 1);
	put_map(UINT64_MAX - 4095, 8192, 0, 1);
	emit_as(emit, "refused");
}

/* A client that sends its own version message */
static void version(emit_fn *emit)
{
	static const char caps[] = "{\"capabilities\":{\"max_data_xfer_size\":4096,\"max_dma_"
				   "maps\":5,\"pgsizes\":4096}}";
	struct {
		struct vfio_user_hdr hdr;
		struct vfio_user_version version;
		char caps[sizeof(caps)];
	} __attribute__((packed)) msg = {.hdr = {.cmd = VFIO_USER_VERSION, .size = sizeof(msg)},
					 .version = {VFIO_USER_MAJOR, VFIO_USER_MINOR}};

	memcpy(msg.caps, caps, sizeof(caps));
	put(CLIENT_HANG_UP, 0, 1, NULL, 0);
	put(CLIENT_BYTES, 0, 0, &msg, sizeof(msg));
	message(VFIO_USER_DEVICE_RESET, NULL, 0);
	emit_as(emit, "version");
}

/* A client with many long replies that it does not read */
static void deaf(emit_fn *emit)
{
	unsigned int i;

	put(CLIENT_DEAF, 0, 0, NULL, 0);
	for (i = 0; i < 4; i++)
		read_region(UAR, 0, 1 << 20);
	put(CLIENT_DEAF, 0, 0, NULL, 0);
	put(CLIENT_TIME, 0, 10, NULL, 0);
	read_region(CONFIG, 0, 4096);
	emit_as(emit, "deaf");
}

void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed))
{
	infos(emit);
	memory(emit);
	config(emit);
	irqs(emit);
	bring_up(emit);
	multi(emit);
	refused(emit);
	version(emit);
	deaf(emit);
}
