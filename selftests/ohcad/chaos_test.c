// SPDX-License-Identifier: GPL-2.0
/*
 * A host that does anything at all to its HCA: commands with fields changed at random, garbage in
 * queues, records and shadow pages, doorbells, memory that goes and comes, resets.  Two other HCAs of
 * the device go on as if nothing were.
 *
 *   chaos_test [SEED [EPISODES]]
 */

#include <endian.h>
#include <sched.h>
#include <linux/pci_regs.h>

#include "command.h"
#include "harness.h"
#include "pair.h"
#include "rig_odp.h"
#include "rig_srq.h"

#define SAFE 0x5a5a5a000000ULL /* command queue: no address that is made up here comes near */
#define AWAY 0x800000000ULL
#define AWAY_SIZE (1ULL << 20)
#define QPS 12
#define STEPS 400
#define MAX_HANDLES 64

static unsigned long seed = 1, episodes = 60;
static uint64_t rng;

static struct server *server;
static struct drv *drv; /* driver of the HCA that is used wrongly */
static struct rig_hca hca;
static struct objects obj;
static struct rig_qp *qps[QPS];
static struct rig_srq *srq;
static struct rig_mr *mr;
static struct pair good;
static bool away_mapped;
static uint32_t handles[MAX_HANDLES];

/* xorshift64*: the same everywhere. */
static uint32_t rnd(uint32_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return ((rng * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

static uint64_t rnd64(void)
{
	return (uint64_t)rnd(UINT32_MAX) << 32 ^ (uint64_t)rnd(UINT32_MAX) << 7 ^ rnd(256);
}

/* A number that is likely to be a corner case. */
static uint64_t odd_number(void)
{
	static const uint64_t values[] = {
		0,     1,	   2,	      63,	  64,	      4095,	 4096,
		65535, 1ULL << 24, INT32_MAX, UINT32_MAX, 1ULL << 47, INT64_MAX, UINT64_MAX,
	};

	switch (rnd(5)) {
	case 0:
		return rnd64();
	case 1:
		return DRV_MEM + (uint64_t)rnd(1000) * 4096;
	case 2:
		return AWAY + (uint64_t)rnd(256) * 4096;
	case 3:
		return handles[rnd(MAX_HANDLES)];
	default:
		return values[rnd(ARRAY_SIZE(values))] + rnd(3) - 1;
	}
}

static bool is_fatal(void)
{
	return drv_reg(drv, OHCA_REG_STATUS) != OHCA_STATUS_READY;
}

/*
 * As drv_raw(), but for an HCA that may be fatal, or whose shadow page may have lost the doorbell.
 */
static int try_raw(const struct ohca_cmd *cmd)
{
	uint8_t *owner = &drv->cq[drv->ci & ((1U << DRV_LOG_CMDS) - 1)].owner;
	uint8_t want = !(drv->ci >> DRV_LOG_CMDS & 1);

	drv_post(drv, cmd);
	__atomic_store_n(&drv->rec->pi, htole32(drv->pi), __ATOMIC_RELEASE);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, drv->pi);
	while ((__atomic_load_n(owner, __ATOMIC_ACQUIRE) & 1) != want) {
		if (is_fatal())
			return -1;
		sched_yield();
	}
	return drv_wait(drv).status;
}

static uint64_t mailbox;

static int try_cmd(uint16_t opcode, const void *in, size_t in_len, size_t out_len)
{
	struct ohca_cmd cmd = {
		.opcode = htole16(opcode),
		.tag = htole16(drv->pi),
		.in_len = htole16(in_len),
		.out_len = htole16(out_len),
		.in_addr = htole64(mailbox),
		.out_addr = htole64(mailbox + 2048),
	};
	struct ohca_handle *out = drv_ptr(drv, mailbox + 2048);
	int status;

	memcpy(drv_ptr(drv, mailbox), in, in_len);
	status = try_raw(&cmd);
	if (!status && out_len == sizeof(*out))
		handles[rnd(MAX_HANDLES)] = le32toh(out->id);
	return status;
}

static void spoil(void *bytes, size_t len)
{
	uint8_t *b = bytes;
	uint64_t value;
	unsigned int i, at;

	for (i = 1 + rnd(3); i && len; i--) {
		at = rnd(len);
		value = odd_number();
		switch (rnd(3)) {
		case 0:
			b[at] ^= 1 << rnd(8);
			break;
		case 1:
			b[at] = value;
			break;
		default:
			at &= ~7U;
			memcpy(b + at, &value, len - at < 8 ? len - at : 8);
		}
	}
}

static void step_command(void)
{
	const struct command *c = &commands[rnd(num_commands)];
	struct objects mine = obj;
	union input in = {0};
	uint64_t next = drv->next;

	/*
	 * Commands that create an object first would wait for it; a random handle is enough here.
	 */
	if (c->opcode == OHCA_CMD_MODIFY_QP)
		in.modify_qp.qpn = htole32(qps[rnd(QPS)]->qpn);
	else if (command_makes(c))
		in.handle.id = htole32(odd_number());
	else
		c->build(&mine, &in);
	if (rnd(4))
		spoil(&in, c->in_len + (rnd(8) ? 0 : 8));
	try_cmd(rnd(50) ? c->opcode : rnd(65536), &in, c->in_len + (rnd(8) ? 0 : rnd(64)),
		c->out_len);
	drv->next = rnd(2) ? next : drv->next;
}

static void step_modify(void)
{
	static const uint8_t path[] = {OHCA_QPS_RESET, OHCA_QPS_INIT, OHCA_QPS_RTR,
				       OHCA_QPS_RTS,   OHCA_QPS_SQD,  OHCA_QPS_ERR};
	static const uint32_t masks[] = {
		0,
		OHCA_QP_PKEY_INDEX | OHCA_QP_PORT | OHCA_QP_ACCESS_FLAGS,
		OHCA_QP_AV | OHCA_QP_PATH_MTU | OHCA_QP_DEST_QPN | OHCA_QP_RQ_PSN |
			OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_MIN_RNR_TIMER,
		OHCA_QP_TIMEOUT | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY | OHCA_QP_SQ_PSN |
			OHCA_QP_MAX_QP_RD_ATOMIC,
		0,
		0,
	};
	struct rig_qp *qp = qps[rnd(QPS)];
	struct ohca_modify_qp_in in = {.qpn = htole32(qp->qpn), .attr = qp->attr};
	unsigned int i;

	/* Mostly all state transitions; each step may fail. */
	for (i = 0; i < 4; i++) {
		in.attr.state = path[i];
		in.attr_mask = htole32(OHCA_QP_STATE | masks[i]);
		if (!rnd(10))
			spoil(&in, sizeof(in));
		if (try_cmd(OHCA_CMD_MODIFY_QP, &in, sizeof(in), 0) < 0)
			return;
		if (!i) {
			qp->sq_pi = 0;
			qp->rq_pi = 0;
		}
		if (!rnd(12))
			i = rnd(ARRAY_SIZE(path));
	}
}

static void step_post(void)
{
	struct rig_qp *qp = qps[rnd(QPS)];
	struct ohca_sge sge[2] = {rig_sge(mr, mr->iova + rnd(8192), rnd(30000)),
				  rig_sge(mr, mr->iova + rnd(8192), rnd(30000))};
	struct rig_wr wr = {
		.wr_id = rnd64(),
		.opcode = rnd(8),
		.flags = rnd(32),
		.num_sge = rnd(3),
		.sge = sge,
		.raddr = rnd(2) ? mr->iova + rnd(8192) : good.mb->iova,
		.rkey = rnd(2) ? mr->key : good.mb->key,
	};
	unsigned int n = 1 + rnd(10);

	wr.flags &= ~OHCA_WQE_INLINE;
	if (!rnd(6))
		spoil(sge, sizeof(sge));
	while (n--) {
		if (rnd(3))
			rig_post_recv(qp, 7, sge, 1);
		if (rnd(3))
			rig_srq_post(srq, 7, sge, 1);
		rig_put_send(qp, &wr);
		if (!rnd(6))
			spoil(rig_sq_entry(qp, qp->sq_pi - 1), 64);
	}
	__atomic_store_n(&qp->sq_rec->pi, htole32(qp->sq_pi), __ATOMIC_RELEASE);
	if (drv->shadow)
		drv_ring(drv, 0, drv->shadow, qp->slot);
}

/* Pages of the region, some of whose memory is unmapped and mapped in some episodes. */
static void step_pages(void)
{
	uint64_t first = rnd(mr->num_pages), num = 1 + rnd(mr->num_pages - first), i;
	uint64_t bits = OHCA_PAGE_PRESENT | (rnd(4) ? OHCA_PAGE_WRITE : 0);
	union input in = {.modify_pages = {.key = htole32(mr->key),
					   .op = rnd(3),
					   .first = htole64(first),
					   .num = htole64(num)}};
	size_t len = offsetof(struct ohca_modify_pages_in, page);

	for (i = 0; in.modify_pages.op == OHCA_PAGES_MAP && i < num; i++, len += 8) {
		uint64_t addr = rnd(10) ? mr->pages[first + i] : AWAY + rnd(512) * 4096;

		in.modify_pages.page[i] = htole64(rnd(20) ? addr | bits : 0);
	}
	if (!rnd(8))
		spoil(&in, len);
	try_cmd(OHCA_CMD_MODIFY_PAGES, &in, len, 0);
}

static void step_scribble(void)
{
	uint64_t len = drv->next - DRV_MEM;
	unsigned int n = 1 + rnd(30);

	while (n--)
		spoil(drv_ptr(drv, DRV_MEM + (rnd(len) & ~63ULL)), 64);
	if (!rnd(4))
		memset(drv_ptr(drv, DRV_MEM + rnd(len)), rnd(256), 1);
}

static void step_shadow(void)
{
	unsigned int n = 1 + rnd(8);

	while (n--)
		drv->shadow->direct[rnd(7)] = rnd(3) ? rnd64() : UINT64_MAX;
	drv->shadow->summary = rnd64();
	drv->shadow->indirect[rnd(64)] = rnd64();
	drv_ring(drv, 0, drv->shadow, 4000);
}

static void step_doorbell(void)
{
	uint64_t off = (uint64_t)(rnd(2) ? 0 : rnd(4096)) * OHCA_UAR_SIZE + rnd(4) * 8;

	if (rnd(2))
		vu_wr64(drv->vu, OHCA_BAR_UAR, off,
			(uint64_t)(rnd(2) ? qps[rnd(QPS)]->qpn : rnd64()) << OHCA_SQ_DB_QPN_SHIFT |
				rnd(100));
	else
		vu_wr32(drv->vu, OHCA_BAR_UAR, off, rnd64());
}

static void away_unmap(void)
{
	assert_int_equal(vu_dma_unmap(drv->vu, AWAY, AWAY_SIZE), 0);
	away_mapped = false;
}

static void away_map(uint32_t flags)
{
	int fd = drv->vu->mems[drv->vu->num_mems - 1].fd;

	assert_int_equal(vu_dma_map(drv->vu, AWAY, AWAY_SIZE, fd, 0, flags), 0);
	away_mapped = true;
}

static void step_memory(void)
{
	if (away_mapped)
		away_unmap();
	else
		away_map(VFIO_DMA_MAP_FLAG_READ | (rnd(4) ? VFIO_DMA_MAP_FLAG_WRITE : 0));
}

static void step_registers(void)
{
	static const uint16_t regs[] = {OHCA_REG_MAGIC,
					OHCA_REG_FEATS_LO,
					OHCA_REG_STATUS,
					OHCA_REG_CMDQ_CFG,
					OHCA_REG_CMDQ_SQ_LO,
					OHCA_REG_CMDQ_REC_HI,
					0x80,
					0x3ff8};

	drv_set_reg(drv, regs[rnd(ARRAY_SIZE(regs))], rnd64());
	if (!rnd(4))
		vu_cfg_wr(drv->vu, PCI_COMMAND, 2, rnd(2) ? PCI_COMMAND_MEMORY : 0);
	drv_reg(drv, rnd(0x4000) & ~3U);
	vu_cfg_wr(drv->vu, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

static void (*const steps[])(void) = {
	step_command, step_command,   step_command,  step_modify, step_post,
	step_post,    step_post,      step_scribble, step_shadow, step_doorbell,
	step_memory,  step_registers, step_pages,    step_pages,
};

/* Create objects of all kinds, in order; some of them in memory that will be unmapped. */
static void begin(void)
{
	uint64_t next;
	unsigned int i;

	if (drv->vu->mems[drv->vu->num_mems - 1].iova != AWAY) {
		vu_mem_new(drv->vu, SAFE, 16 * 4096);
		vu_mem_new(drv->vu, AWAY, AWAY_SIZE);
	} else {
		if (away_mapped)
			away_unmap();
		away_map(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE);
	}
	away_mapped = true;
	drv->next = SAFE;
	assert_int_equal(drv_enable(drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	mailbox = drv_alloc(drv, 4096);
	drv->next = DRV_MEM;
	drv_first_uar(drv);
	memset(&hca, 0, sizeof(hca));
	objects_init(&obj, drv);
	hca.drv = drv;
	hca.pdn = obj.pdn;
	hca.comp = obj.eq;
	hca.async = drv_eq_new(drv, 4, 0, OHCA_EQ_ASYNC);
	hca.next_slot = 1;
	memcpy(hca.gid, good.a->hca->gid, 16);
	hca.gid[15] = 99;
	memcpy(hca.mac, good.a->hca->mac, 6);
	hca.mac[5] = 99;

	{
		struct ohca_set_gid_in gid = {.port = 1, .type = OHCA_GID_ROCE_V2, .vlan = 0xffff};
		struct ohca_modify_port_in up = {
			.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1, .admin_up = 1};

		memcpy(gid.gid, hca.gid, 16);
		memcpy(gid.mac, hca.mac, 6);
		assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL, 0), 0);
		assert_int_equal(drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &up, sizeof(up), NULL, 0), 0);
	}
	mr = rig_mr_new(&hca, 0x10000, 65536, RIG_ALL_ACCESS, 0);
	if (rnd(2))
		rig_odp(mr, RIG_ALL_ACCESS);
	next = drv->next;
	if (!rnd(3))
		drv->next = AWAY + QPS * 65536;
	srq = rig_srq_new(&hca, NULL);
	if (drv->next > AWAY)
		drv->next = next;
	handles[rnd(MAX_HANDLES)] = srq->srqn;
	for (i = 0; i < QPS; i++) {
		struct rig_qp_opts opts = {.log_size = 4, .cq_log_size = 3 + rnd(4)};
		bool away = !rnd(3);

		if (!rnd(3))
			opts.srqn = srq->srqn;
		next = drv->next;
		if (away)
			drv->next = AWAY + i * 65536;
		qps[i] = rig_qp_new(&hca, &opts);
		if (away)
			drv->next = next;
		handles[rnd(MAX_HANDLES)] = qps[i]->qpn;
	}
	/* Some are connected with each other, some with a foreign queue */
	for (i = 0; i < QPS; i += 2)
		rig_address(qps[i], rnd(4) ? qps[i + 1] : good.b);
}

static void end(void)
{
	switch (rnd(5)) {
	case 0:
		assert_int_equal(vu_reset(drv->vu), 0);
		break;
	case 1:
		vu_cfg_wr(drv->vu, drv->vu->pcie_cap + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR);
		break;
	case 2:
		drv_close(drv);
		drv = drv_open(server->sock[2]);
		return;
	case 3:
		/* The new configuration only takes effect with a reset. */
		spoil(drv->sq, 4096);
		spoil(drv->rec, 64);
		drv_set_reg(drv, OHCA_REG_CMDQ_DB, rnd64());
		break;
	default:
		break;
	}
	drv_reset(drv);
	vu_enable(drv->vu, DRV_VECTORS);
	while (drv->num_owned)
		free(drv->owned[--drv->num_owned]);
}

static void test_chaos(void **state)
{
	const struct pair_layout layout = {.len = 5000, .src_sge = 1, .dst_sge = 1};
	struct server two;
	unsigned long e, i;

	(void)state;
	print_message("# seed %lu, %lu episodes\n", seed, episodes);
	rng = seed * 0x9e3779b97f4a7c15ULL | 1;
	server = server_start(3);
	two = *server;
	two.num_hcas = 2;
	good = pair_open(&two, NULL);
	drv = drv_open(server->sock[2]);
	for (e = 0; e < episodes; e++) {
		begin();
		for (i = rnd(STEPS); i && !is_fatal(); i--) {
			steps[rnd(ARRAY_SIZE(steps))]();
			if (!rnd(20))
				pair_check_message(&good, pair_all_ops[rnd(PAIR_OPS)], &layout, i);
		}
		end();
		pair_check_message(&good, pair_all_ops[rnd(PAIR_OPS)], &layout, e);
	}
	drv_close(drv);
	rig_close(good.rig);
	assert_true(server_stop(server));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chaos),
	};

	if (argc > 1)
		seed = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		episodes = strtoul(argv[2], NULL, 0);
	return RUN_TESTS(tests, NULL, NULL);
}
