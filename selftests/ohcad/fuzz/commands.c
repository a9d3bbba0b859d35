// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: commands and work requests of a malicious guest; see commands_input.h.  Beside it two other guests exchange
 * messages, which must not notice anything.
 */

#include <endian.h>

#include "commands_input.h"
#include "inproc.h"
#include "neighbours.h"
#include "records.h"
#include "scene.h"
#include "target.h"
#include "world.h"

#define BAR2 VFIO_PCI_BAR2_REGION_INDEX
#define BAR2_SIZE (2ULL * HCA_MAX_UAR * OHCA_UAR_SIZE)
#define MORE_MEM (256U << 10) /* further memory, for the objects that an input creates */
#define MAX_KEYS 64
#define MAX_BYTES OHCA_CMD_MAX_LEN
#define OUT_ROOM OHCA_CMD_MAX_LEN

static struct server *server;
static struct rig *rig;
static struct scene scene;
static uint32_t keys[MAX_KEYS];
static unsigned int num_keys;
static uint64_t in_addr, out_addr; /* addresses of the input and output of commands */

static void add_key(uint32_t key)
{
	keys[num_keys++ % MAX_KEYS] = key;
}

static struct rig_qp *qp_of(uint8_t arg)
{
	unsigned int kind = arg % (SCENE_NUM_QPS + 1);

	return kind == COMMANDS_OPS ? scene.ops : scene.qp[kind];
}

/* Take bytes of the input, and replace the key numbers in them by keys. */
static size_t take_bytes(struct input *in, const struct commands_record *rec,
			 uint8_t bytes[MAX_BYTES])
{
	size_t len = le16toh(rec->len), i;
	const uint8_t *from;

	if (len > MAX_BYTES)
		len = MAX_BYTES;
	from = input_bytes(in, &len);
	memset(bytes, 0, MAX_BYTES);
	if (len)
		memcpy(bytes, from, len);
	for (i = 0; i + 4 <= len; i += 4) {
		uint32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		word = le32toh(word);
		if ((word & ~0xffU) != COMMANDS_KEY)
			continue;
		word = htole32(keys[(word & 0xff) % (num_keys < MAX_KEYS ? num_keys : MAX_KEYS)]);
		memcpy(bytes + i, &word, sizeof(word));
	}
	return len;
}

static void kick(const struct commands_record *rec)
{
	struct drv *drv = scene.hca->drv;

	if (rec->kind & COMMANDS_QUIET)
		return;
	drv_kick(drv);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi);
}

static void do_cmd(const struct commands_record *rec, const uint8_t *bytes, size_t len)
{
	struct drv *drv = scene.hca->drv;
	struct ohca_cmd cmd = {
		.opcode = htole16(rec->arg),
		.tag = htole16(drv->pi),
		.in_len = htole16(len),
		.out_len = htole16(OUT_ROOM),
		.in_addr = htole64(in_addr),
		.out_addr = htole64(out_addr),
	};
	struct ohca_handle *out = drv_ptr(drv, out_addr);

	memcpy(drv_ptr(drv, in_addr), bytes, len);
	out->id = 0;
	drv_post(drv, &cmd);
	kick(rec);
	records_step();
	if (rec->arg == OHCA_CMD_CREATE_MKEY && out->id)
		add_key(le32toh(out->id));
}

static void do_raw_cmd(const struct commands_record *rec, const uint8_t *bytes)
{
	struct ohca_cmd cmd;

	memcpy(&cmd, bytes, sizeof(cmd));
	drv_post(scene.hca->drv, &cmd);
	kick(rec);
}

static void do_send(const struct commands_record *rec, const uint8_t *bytes, size_t len)
{
	struct rig_qp *qp = qp_of(rec->arg);
	size_t stride = 1U << qp->sq_log_stride;
	uint8_t *entry;

	if (!qp->sq || !qp->sq_log_stride)
		return;
	entry = rig_sq_entry(qp, qp->sq_pi++);
	memset(entry, 0, stride);
	memcpy(entry, bytes, len < stride ? len : stride);
	if (!(rec->kind & COMMANDS_QUIET) && scene.hca->drv->shadow)
		rig_ring(qp);
}

static void do_recv(const struct commands_record *rec, const uint8_t *bytes, size_t len)
{
	unsigned int kind = rec->arg % SCENE_NUM_QPS;
	struct rig_srq *srq = scene_srq_of(&scene, kind);
	struct rig_qp *qp = scene.qp[kind];
	struct ohca_wq_rec *rec_of = srq ? srq->rec : qp->rq_rec;
	size_t stride = 1U << (srq ? srq->log_stride : qp->rq_log_stride);
	uint32_t *pi = srq ? &srq->pi : &qp->rq_pi;
	uint8_t *entry;

	if (!srq && !qp->rq)
		return;
	entry = srq ? rig_srq_entry(srq, *pi) : rig_rq_entry(qp, *pi);
	memset(entry, 0, stride);
	memcpy(entry, bytes, len < stride ? len : stride);
	++*pi;
	if (!(rec->kind & COMMANDS_QUIET))
		__atomic_store_n(&rec_of->pi, htole32(*pi), __ATOMIC_RELEASE);
}

static void do_mem(const uint8_t *bytes, size_t len)
{
	struct drv *drv = scene.hca->drv;
	uint64_t used = drv->next - DRV_MEM + MORE_MEM, off;
	uint32_t word;

	if (len <= sizeof(word))
		return;
	memcpy(&word, bytes, sizeof(word));
	len -= sizeof(word);
	off = le32toh(word) % used;
	if (len > used - off)
		len = used - off;
	memcpy((uint8_t *)drv_ptr(drv, DRV_MEM) + off, bytes + sizeof(word), len);
}

/* Producer and consumer indexes, and arm counters */
static void do_record(const struct commands_record *rec, const uint8_t *bytes)
{
	struct rig_qp *qp = qp_of(rec->arg >> 3);
	struct rig_srq *srq = scene.srq[rec->arg % SCENE_NUM_SRQS];
	void *records[] = {
		qp->sq_rec,
		qp->rq_rec,
		srq->rec,
		scene.cq->rec,
		scene.hca->async->rec,
		scene.hca->comp->rec,
		scene.hca->drv->rec,
	};
	uint8_t *at = records[rec->arg % (sizeof(records) / sizeof(records[0]))];

	if (at)
		memcpy(at + (bytes[4] & 15) * 4, bytes, 4);
}

static void do_bar(const uint8_t *bytes)
{
	struct vu *vu = scene.hca->drv->vu;
	uint64_t off, val;
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	memcpy(&val, bytes + sizeof(word), sizeof(val));
	word = le32toh(word);
	/* The lowest bit selects the size of the access. */
	off = word % BAR2_SIZE & ~7ULL;
	if (word & 1)
		vu_wr64(vu, BAR2, off, le64toh(val));
	else
		vu_wr32(vu, BAR2, off | (word & 4), le64toh(val));
	vu_rd32(vu, BAR2, off | (word & 4));
}

/* The rings of the scene, and room for input and output. */
static void take_memory(void)
{
	in_addr = drv_alloc(scene.hca->drv, MAX_BYTES);
	out_addr = drv_alloc(scene.hca->drv, OUT_ROOM);
}

static void do_bus(uint8_t arg)
{
	struct drv *drv = scene.hca->drv;
	struct hca *hca = inproc_hca(0);

	switch (arg % COMMANDS_BUS_KINDS) {
	case COMMANDS_UNMAP:
		vu_dma_unmap(drv->vu, DRV_MEM, DRV_MEM_SIZE);
		break;
	case COMMANDS_MAP:
		inproc_map(drv->vu);
		break;
	case COMMANDS_MASTER_OFF:
		inproc_set_bus_master(hca, false);
		break;
	case COMMANDS_MASTER_ON:
		inproc_set_bus_master(hca, true);
		break;
	case COMMANDS_ENABLE:
		drv_reset(drv);
		drv->next = DRV_MEM;
		drv_enable(drv, DRV_ALL_FEATS);
		take_memory();
		break;
	default:
		pci_set_present(hca->fn, arg % COMMANDS_BUS_KINDS == COMMANDS_PRESENT);
	}
}

static void happen(struct input *in, const void *record)
{
	const struct commands_record *rec = record;
	uint8_t bytes[MAX_BYTES];
	size_t len = take_bytes(in, rec, bytes);
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	word = le32toh(word);
	switch ((rec->kind & ~COMMANDS_QUIET) % COMMANDS_KINDS) {
	case COMMANDS_RAW_CMD:
		do_raw_cmd(rec, bytes);
		break;
	case COMMANDS_SEND:
		do_send(rec, bytes, len);
		break;
	case COMMANDS_RECV:
		do_recv(rec, bytes, len);
		break;
	case COMMANDS_MEM:
		do_mem(bytes, len);
		break;
	case COMMANDS_RECORD:
		do_record(rec, bytes);
		break;
	case COMMANDS_REG:
		drv_set_reg(scene.hca->drv, rec->arg * 4, word);
		drv_reg(scene.hca->drv, rec->arg * 4);
		break;
	case COMMANDS_BAR:
		do_bar(bytes);
		break;
	case COMMANDS_TIME:
		world_sleep((uint64_t)word << (rec->arg % 12));
		break;
	case COMMANDS_BUS:
		do_bus(rec->arg);
		break;
	default:
		do_cmd(rec, bytes, len);
	}
}

static void stop(void)
{
	rig_close(rig);
	neighbours_close();
	server_stop(server);
}

/* The device's state at the beginning of each input */
static void begin(void)
{
	struct hca *hca;

	if (!rig) {
		server = server_start(3);
		rig = rig_open_some(server, 0, 1, false);
		neighbours_open(server, 1);
		atexit(stop);
	}
	hca = inproc_hca(0);
	world_begin();
	memcpy(hca->next_links, hca->made_links, sizeof(hca->next_links));
	pci_set_present(hca->fn, true);
	inproc_set_bus_master(hca, true);
	inproc_map(rig->hca[0].drv->vu);
	inproc_renew(rig);
	scene_new(&scene, &rig->hca[0], 0);
	take_memory();
	num_keys = 0;
	add_key(scene.mr->key);
	add_key(scene.odp->key);
	add_key(scene.window);
	add_key(scene.fast);
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct commands_record rec;

	begin();
	records_run(&in, &rec, sizeof(rec), happen, neighbours_talk);
	return 0;
}
