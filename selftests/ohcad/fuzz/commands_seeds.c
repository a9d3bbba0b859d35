// SPDX-License-Identifier: GPL-2.0
/*
 * Initial inputs of the target "commands": the accesses of a driver and a library, on a device that
 * already has the scene.  New queues have one page, because only the input gets to the target, not
 * the memory that it points to.
 */

#include <endian.h>

#include "commands_input.h"
#include "inproc.h"
#include "rig_odp.h"
#include "scene.h"
#include "target.h"
#include "world.h"

static struct server *server;
static struct rig *rig;
static struct scene scene;
static struct seed seed;

static void put(uint8_t kind, uint8_t arg, const void *bytes, size_t len)
{
	const struct commands_record rec = {.kind = kind, .arg = arg, .len = htole16(len)};

	seed_put(&seed, &rec, sizeof(rec));
	seed_put(&seed, bytes, len);
}

static void put_word(uint8_t kind, uint8_t arg, uint32_t word)
{
	word = htole32(word);
	put(kind, arg, &word, sizeof(word));
}

static void put_handle(uint8_t opcode, uint32_t id)
{
	struct ohca_handle in = {.id = htole32(id)};

	put(COMMANDS_CMD, opcode, &in, sizeof(in));
}

/* Put the bytes at @at into the target's memory too. */
static void put_mem(const void *at, size_t len)
{
	struct {
		__le32 off;
		uint8_t bytes[64];
	} mem;

	mem.off = htole32((const uint8_t *)at - (uint8_t *)drv_ptr(scene.hca->drv, DRV_MEM));
	memcpy(mem.bytes, at, len);
	put(COMMANDS_MEM, 0, &mem, sizeof(mem.off) + len);
}

#define PUT_CMD(opcode, in) put(COMMANDS_CMD, opcode, &(in), sizeof(in))

static void begin(void)
{
	world_begin();
	inproc_renew(rig);
	scene_new(&scene, &rig->hca[0], 0);
	/* Room for input and output of commands */
	drv_alloc(scene.hca->drv, OHCA_CMD_MAX_LEN);
	drv_alloc(scene.hca->drv, OHCA_CMD_MAX_LEN);
	seed.len = 0;
}

typedef void emit_fn(const char *name, const struct seed *seed);

static void queries(emit_fn *emit)
{
	struct ohca_query_counters_in counters = {.port = 1};
	struct ohca_query_port_in port = {.port = 1};

	begin();
	put(COMMANDS_CMD, OHCA_CMD_QUERY_DEVICE, NULL, 0);
	PUT_CMD(OHCA_CMD_QUERY_PORT, port);
	PUT_CMD(OHCA_CMD_QUERY_COUNTERS, counters);
	put_handle(OHCA_CMD_QUERY_QP, scene.qp[SCENE_RC]->qpn);
	put_handle(OHCA_CMD_QUERY_SRQ, scene.srq[SCENE_SRQ]->srqn);
	put_handle(OHCA_CMD_QUERY_MKEY, COMMANDS_KEY);
	emit("queries", &seed);
}

static void port(emit_fn *emit)
{
	struct ohca_modify_port_in in = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	struct ohca_set_gid_in gid = {
		.index = htole16(2), .port = 1, .type = OHCA_GID_ROCE_V2, .vlan = htole16(5)};
	struct ohca_set_link_layer_in link = {.port = 1, .link_layer = OHCA_LINK_INFINIBAND};

	begin();
	PUT_CMD(OHCA_CMD_MODIFY_PORT, in);
	in.admin_up = 1;
	in.promisc = 1;
	PUT_CMD(OHCA_CMD_MODIFY_PORT, in);
	memcpy(gid.gid, scene.hca->gid, 16);
	memcpy(gid.mac, scene.hca->mac, 6);
	PUT_CMD(OHCA_CMD_SET_GID, gid);
	memset(&gid, 0, sizeof(gid));
	gid.port = 1;
	PUT_CMD(OHCA_CMD_SET_GID, gid);
	PUT_CMD(OHCA_CMD_SET_LINK_LAYER, link);
	link.link_layer = OHCA_LINK_CONFIGURED;
	PUT_CMD(OHCA_CMD_SET_LINK_LAYER, link);
	emit("port", &seed);
}

static void objects(emit_fn *emit)
{
	static const uint8_t allocs[] = {OHCA_CMD_ALLOC_PD, OHCA_CMD_ALLOC_XRCD};
	struct ohca_alloc_counters_in counters = {.port = 1};
	struct ohca_alloc_uar_in uar = {0};
	unsigned int i;

	begin();
	for (i = 0; i < sizeof(allocs); i++) {
		put(COMMANDS_CMD, allocs[i], NULL, 0);
		put_handle(allocs[i] + 1, 2);
	}
	PUT_CMD(OHCA_CMD_ALLOC_COUNTERS, counters);
	put_handle(OHCA_CMD_FREE_COUNTERS, 1);
	uar.shadow_addr = htole64(drv_alloc(scene.hca->drv, 4096));
	PUT_CMD(OHCA_CMD_ALLOC_UAR, uar);
	put_handle(OHCA_CMD_FREE_UAR, 1);
	emit("objects", &seed);
}

static void queues(emit_fn *emit)
{
	struct drv *drv = scene.hca->drv;
	struct ohca_modify_cq_in moder = {.cqn = htole32(1), .count = htole16(4)};
	struct ohca_resize_cq_in resize;
	struct ohca_create_eq_in eq_in;
	struct ohca_create_cq_in cq_in;
	struct drv_cq cq, to;
	struct drv_eq eq;

	begin();
	eq_in = drv_eq_in(drv, 4, 3, 0, &eq);
	PUT_CMD(OHCA_CMD_CREATE_EQ, eq_in);
	cq_in = drv_cq_in(drv, 4, 3, &cq);
	PUT_CMD(OHCA_CMD_CREATE_CQ, cq_in);
	PUT_CMD(OHCA_CMD_MODIFY_CQ, moder);
	resize = drv_cq_resize_in(scene.cq, 5, &to);
	put_mem(to.rec, sizeof(*to.rec));
	PUT_CMD(OHCA_CMD_RESIZE_CQ, resize);
	put_handle(OHCA_CMD_DESTROY_CQ, scene.qp[SCENE_RC]->scq->cqn);
	put_handle(OHCA_CMD_DESTROY_EQ, 3);
	emit("queues", &seed);
}

static void regions(emit_fn *emit)
{
	struct ohca_create_mkey_in in = {.pdn = htole32(scene.hca->pdn), .access = 0x5f};
	struct ohca_modify_mkey_in modify = {.key = htole32(COMMANDS_KEY + 4)};
	struct ohca_alloc_dm_in dm = {.length = htole64(8192)};
	uint8_t type;

	begin();
	in.xlt = scene.mr->xlt;
	in.iova = htole64(SCENE_IOVA);
	in.length = htole64(SCENE_LEN);
	PUT_CMD(OHCA_CMD_CREATE_MKEY, in);
	modify.attr_mask = htole32(OHCA_MKEY_ATTR_XLT);
	modify.attr.xlt = scene.mr->xlt;
	modify.attr.iova = htole64(SCENE_IOVA);
	modify.attr.length = htole64(SCENE_LEN);
	PUT_CMD(OHCA_CMD_MODIFY_MKEY, modify);
	PUT_CMD(OHCA_CMD_ALLOC_DM, dm);
	for (type = OHCA_MKEY_FAST_REG; type <= OHCA_MKEY_MW_2; type++) {
		memset(&in, 0, sizeof(in));
		in.pdn = htole32(scene.hca->pdn);
		in.type = type;
		in.max_pages = type == OHCA_MKEY_FAST_REG ? htole32(16) : 0;
		PUT_CMD(OHCA_CMD_CREATE_MKEY, in);
		put_handle(OHCA_CMD_QUERY_MKEY, COMMANDS_KEY + 5);
	}
	put_handle(OHCA_CMD_DESTROY_MKEY, COMMANDS_KEY + 5);
	put_handle(OHCA_CMD_FREE_DM, 1);
	emit("regions", &seed);
}

static void pages(emit_fn *emit)
{
	struct ohca_modify_pages_in in = {
		.key = htole32(COMMANDS_KEY + 1), .op = OHCA_PAGES_MAP, .num = htole64(4)};
	size_t head = offsetof(struct ohca_modify_pages_in, page);
	unsigned int i;

	begin();
	for (i = 0; i < 4; i++)
		in.page[i] = htole64(scene.mr->pages[i] | OHCA_PAGE_PRESENT | OHCA_PAGE_WRITE);
	put(COMMANDS_CMD, OHCA_CMD_MODIFY_PAGES, &in, head + 4 * sizeof(in.page[0]));
	in.op = OHCA_PAGES_UNMAP;
	put(COMMANDS_CMD, OHCA_CMD_MODIFY_PAGES, &in, head);
	emit("pages", &seed);
}

static void connection(uint8_t type, emit_fn *emit)
{
	struct rig_qp_opts opts = {.type = type, .log_size = 3};
	struct ohca_modify_qp_in modify;
	static struct rig_qp qp;
	struct ohca_create_qp_in in;
	uint8_t state;
	char name[32];

	begin();
	opts.cq = scene.cq;
	in = rig_qp_in(scene.hca, &opts, &qp);
	PUT_CMD(OHCA_CMD_CREATE_QP, in);
	/* Reset a QP of the scene and connect it again. */
	for (state = OHCA_QPS_RESET; state <= OHCA_QPS_RTS; state++) {
		const struct rig_qp *old = scene.qp[type == OHCA_QPT_RC	  ? SCENE_RC
						    : type == OHCA_QPT_UC ? SCENE_UC
									  : SCENE_UD];

		memset(&modify, 0, sizeof(modify));
		modify.qpn = htole32(old->qpn);
		modify.attr_mask = htole32(state ? rig_required(type, state) : OHCA_QP_STATE);
		if (state)
			modify.attr = old->attr;
		modify.attr.state = state;
		PUT_CMD(OHCA_CMD_MODIFY_QP, modify);
	}
	put_handle(OHCA_CMD_DESTROY_QP, scene.qp[SCENE_RC_SRQ]->qpn);
	snprintf(name, sizeof(name), "connection-%u", type);
	emit(name, &seed);
}

static void srqs(emit_fn *emit)
{
	struct ohca_modify_srq_in modify = {.attr_mask = htole32(OHCA_SRQ_ATTR_LIMIT),
					    .limit = htole32(2)};
	struct rig_srq_opts opts = {.xrcdn = scene.xrcdn, .cqn = scene.cq->cqn};
	struct ohca_create_srq_in in;
	static struct rig_srq srq;

	begin();
	in = rig_srq_in(scene.hca, &opts, &srq);
	PUT_CMD(OHCA_CMD_CREATE_SRQ, in);
	opts = (struct rig_srq_opts){.max_tags = 4, .cqn = scene.cq->cqn};
	in = rig_srq_in(scene.hca, &opts, &srq);
	PUT_CMD(OHCA_CMD_CREATE_SRQ, in);
	modify.srqn = htole32(scene.srq[SCENE_SRQ]->srqn);
	PUT_CMD(OHCA_CMD_MODIFY_SRQ, modify);
	modify = rig_srq_resize_in(scene.srq[SCENE_SRQ], 5, &srq);
	put_mem(srq.rec, sizeof(*srq.rec));
	PUT_CMD(OHCA_CMD_MODIFY_SRQ, modify);
	put_handle(OHCA_CMD_DESTROY_SRQ, 4);
	emit("srqs", &seed);
}

static void frames(emit_fn *emit)
{
	struct ohca_create_flow_in flow = {.port = 1, .priority = htole16(3)};
	struct ohca_create_ind_tbl_in table = {.log_size = 0};
	struct ohca_create_rss_in rss = {.fields = htole16(OHCA_RSS_FIELDS),
					 .function = OHCA_RSS_TOEPLITZ};
	struct ohca_mcast_in mcast = {.gid = {0xff, 0x0e, [15] = 2}};

	begin();
	/* The queues of the scene's table come after its QPs. */
	table.wqn[0] = htole32(scene.ops->qpn + 1);
	PUT_CMD(OHCA_CMD_CREATE_IND_TBL, table);
	rss.ind_tbl = htole32(2);
	PUT_CMD(OHCA_CMD_CREATE_RSS, rss);
	flow.qpn = htole32(scene.qp[SCENE_RAW]->qpn);
	flow.value.ip_version = 4;
	flow.mask.ip_version = 0xff;
	PUT_CMD(OHCA_CMD_CREATE_FLOW, flow);
	put_handle(OHCA_CMD_DESTROY_FLOW, 1);
	put_handle(OHCA_CMD_DESTROY_IND_TBL, 2);
	mcast.qpn = htole32(scene.qp[SCENE_UD]->qpn);
	PUT_CMD(OHCA_CMD_ATTACH_MCAST, mcast);
	PUT_CMD(OHCA_CMD_DETACH_MCAST, mcast);
	emit("frames", &seed);
}

/* A guest that makes errors */
static void misfortune(emit_fn *emit)
{
	static const uint8_t bus[] = {COMMANDS_UNMAP,	  COMMANDS_MAP,	   COMMANDS_MASTER_OFF,
				      COMMANDS_MASTER_ON, COMMANDS_ABSENT, COMMANDS_PRESENT,
				      COMMANDS_MASTER_ON, COMMANDS_ENABLE};
	const struct {
		__le32 off;
		__le64 value;
	} __attribute__((packed)) db = {htole32(OHCA_UAR_SQ_DB | 1),
					htole64((uint64_t)scene.qp[SCENE_RC]->qpn
						<< OHCA_SQ_DB_QPN_SHIFT)};
	unsigned int i;

	begin();
	put(COMMANDS_BAR, 0, &db, sizeof(db));
	put_word(COMMANDS_RECORD, 0, 5);
	put_word(COMMANDS_TIME, 4, 1000000);
	put_word(COMMANDS_REG, OHCA_REG_CMDQ_DB / 4, 3);
	for (i = 0; i < sizeof(bus); i++)
		put(COMMANDS_BUS, bus[i], NULL, 0);
	put_word(COMMANDS_MEM, 0, 0x3000);
	put_word(COMMANDS_REG, OHCA_REG_CTRL / 4, OHCA_CTRL_RESET);
	put_word(COMMANDS_REG, OHCA_REG_CTRL / 4, OHCA_CTRL_ENABLE);
	emit("misfortune", &seed);
}

/* Replace the scene's keys in an entry by their numbers. */
static void name_keys(uint8_t *entry, size_t len)
{
	const uint32_t ours[] = {scene.mr->key, scene.odp->key, scene.window, scene.fast};
	unsigned int i;
	size_t at;

	for (at = 0; at + 4 <= len; at += 4) {
		for (i = 0; i < 4; i++) {
			uint32_t word = htole32(ours[i]), name = htole32(COMMANDS_KEY + i);

			if (!memcmp(entry + at, &word, 4))
				memcpy(entry + at, &name, 4);
		}
	}
}

/* The WQE that scene_send() writes */
static void put_send(unsigned int kind, uint8_t opcode, uint32_t len)
{
	const struct rig_qp *qp = scene.qp[kind];
	uint8_t entry[OHCA_WQE_STRIDE_MAX];
	size_t stride = 1U << qp->sq_log_stride;

	scene_send(&scene, kind, opcode, len);
	memcpy(entry, rig_sq_entry(scene.qp[kind], qp->sq_pi - 1), stride);
	name_keys(entry, stride);
	put(COMMANDS_SEND, kind, entry, stride);
}

static void sends(emit_fn *emit)
{
	static const uint8_t kinds[] = {SCENE_RC,  SCENE_RC_SRQ,  SCENE_RC_ODP,	 SCENE_UC,
					SCENE_UD,  SCENE_XRC_INI, SCENE_TM_PEER, SCENE_ETH,
					SCENE_RAW, SCENE_GSI};
	unsigned int i;
	uint8_t opcode;
	char name[32];

	for (i = 0; i < sizeof(kinds); i++) {
		for (opcode = OHCA_OP_SEND; opcode <= OHCA_OP_FLUSH; opcode++) {
			bool eight = opcode >= OHCA_OP_CMP_SWAP && opcode <= OHCA_OP_ATOMIC_WRITE;

			begin();
			put_send(kinds[i], opcode, eight ? 8 : 2600);
			snprintf(name, sizeof(name), "send-qp%u-op%u", kinds[i], opcode);
			emit(name, &seed);
		}
	}
}

static void local_ops(emit_fn *emit)
{
	struct {
		struct ohca_sq_wqe wqe;
		struct ohca_wqe_ext ext;
	} bind = {.wqe = {.opcode = OHCA_OP_BIND_MW, .flags = OHCA_WQE_SIGNALED}},
	  inv = {.wqe = {.opcode = OHCA_OP_LOCAL_INV, .flags = OHCA_WQE_SIGNALED}},
	  reg = {.wqe = {.opcode = OHCA_OP_REG_MR, .flags = OHCA_WQE_SIGNALED | OHCA_WQE_EXT}};

	begin();
	inv.wqe.inv_key = htole32(COMMANDS_KEY + 2);
	put(COMMANDS_SEND, SCENE_RC, &inv, sizeof(inv));
	bind.wqe.bind.addr = htole64(SCENE_IOVA);
	bind.wqe.bind.length = htole64(4096);
	bind.wqe.bind.lkey = htole32(COMMANDS_KEY);
	bind.wqe.bind.rkey = htole32(COMMANDS_KEY + 2);
	bind.wqe.bind.new_rkey = htole32(scene.window);
	bind.wqe.bind.access = OHCA_ACCESS_REMOTE_WRITE;
	put(COMMANDS_SEND, SCENE_RC, &bind, sizeof(bind));
	reg.wqe.reg.iova = htole64(SCENE_IOVA);
	reg.wqe.reg.length = htole64(4096);
	reg.wqe.reg.key = htole32(COMMANDS_KEY + 3);
	reg.wqe.reg.access = OHCA_ACCESS_LOCAL_WRITE;
	reg.ext.xlt = scene.mr->xlt;
	reg.ext.xlt.npages = htole32(2);
	put(COMMANDS_SEND, SCENE_RC, &reg, sizeof(reg));
	emit("local-ops", &seed);
}

static void put_tag(uint8_t opcode, uint32_t handle)
{
	struct {
		struct ohca_sq_wqe wqe;
		struct ohca_sge sge;
	} op = {.wqe = {.opcode = opcode, .flags = OHCA_WQE_SIGNALED}};

	op.wqe.tag.handle = htole32(handle);
	if (opcode == OHCA_OP_TAG_ADD) {
		op.wqe.num_sge = htole16(1);
		op.wqe.tag.tag = htole64(SCENE_TAG);
		op.wqe.tag.mask = ~0ULL;
		op.sge.addr = htole64(SCENE_IOVA);
		op.sge.length = htole32(4096);
		op.sge.lkey = htole32(COMMANDS_KEY);
	}
	put(COMMANDS_SEND, COMMANDS_OPS, &op, sizeof(op));
}

/* Two tags, one of which a message matches; the message is in the region. */
static void tags(uint8_t opcode, emit_fn *emit)
{
	struct {
		__le32 off;
		struct ohca_tmh tmh;
		struct ohca_rvh rvh;
	} __attribute__((packed)) mem = {.tmh = {.opcode = opcode, .tag = htobe64(SCENE_TAG)}};

	begin();
	mem.off = htole32(scene.mr->pages[0] - DRV_MEM + SCENE_IOVA % 4096);
	mem.rvh.va = htobe64(SCENE_IOVA + 0x1000);
	mem.rvh.len = htobe32(2600);
	mem.rvh.rkey = htobe32(scene.mr->key);
	put(COMMANDS_MEM, 0, &mem, sizeof(mem));
	put_tag(OHCA_OP_TAG_ADD, 2);
	put_tag(OHCA_OP_TAG_ADD, 3);
	put_tag(OHCA_OP_TAG_DEL, 3);
	put_send(SCENE_TM_PEER, OHCA_OP_SEND, sizeof(mem) - 4);
	put_tag(OHCA_OP_TAG_SYNC, 0);
	emit(opcode == OHCA_TMH_RNDV ? "tag-rndv" : "tag-eager", &seed);
}

static void receives(emit_fn *emit)
{
	struct {
		struct ohca_rq_wqe wqe;
		struct ohca_sge sge[2];
	} recv = {.wqe = {.num_sge = htole32(2)}};
	unsigned int i;

	for (i = 0; i < 2; i++) {
		recv.sge[i].addr = htole64(SCENE_IOVA);
		recv.sge[i].length = htole32(1000);
		recv.sge[i].lkey = htole32(COMMANDS_KEY + i);
	}
	begin();
	for (i = 0; i < SCENE_NUM_QPS; i++)
		put(COMMANDS_RECV, i, &recv, sizeof(recv));
	emit("receives", &seed);
}

void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed))
{
	server = server_start(1);
	rig = rig_open(server);
	begin();
	queries(emit);
	port(emit);
	objects(emit);
	queues(emit);
	regions(emit);
	pages(emit);
	connection(OHCA_QPT_RC, emit);
	connection(OHCA_QPT_UC, emit);
	connection(OHCA_QPT_UD, emit);
	srqs(emit);
	frames(emit);
	misfortune(emit);
	sends(emit);
	local_ops(emit);
	tags(OHCA_TMH_EAGER, emit);
	tags(OHCA_TMH_RNDV, emit);
	receives(emit);
	rig_close(rig);
	server_stop(server);
}
