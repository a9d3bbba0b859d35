// SPDX-License-Identifier: GPL-2.0
/* An HCA with objects of all kinds. */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig_odp.h"
#include "scene.h"

#define ALL_ACCESS                                                          \
	(RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC | OHCA_ACCESS_MW_BIND | \
	 OHCA_ACCESS_FLUSH_GLOBAL | OHCA_ACCESS_FLUSH_PERSISTENT)
#define ODP_ACCESS (RIG_ALL_ACCESS | OHCA_ACCESS_REMOTE_ATOMIC)
#define REMOTE_ACCESS \
	(OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ | OHCA_ACCESS_REMOTE_ATOMIC)
#define LOG_CQ 6
#define MAX_TAGS 8
#define RECEIVES 3 /* receives of each queue at the beginning */
#define ETHER_TYPE_TEST 0x88b5

static void must(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "scene: %s: status %d\n", what, status);
	abort();
}

static void ipv6_gid(uint8_t gid[16], unsigned int number)
{
	memset(gid, 0, 16);
	gid[0] = 0xfd;
	gid[15] = number + 1;
}

/* Set the GID of HCA number @n; the first entry of the table is that of the rig, IPv4. */
static void set_gid(struct scene *scene, unsigned int n)
{
	struct ohca_set_gid_in in = {.index = htole16(1),
				     .port = 1,
				     .type = OHCA_GID_ROCE_V2,
				     .vlan = htole16(OHCA_VLAN_NONE)};

	ipv6_gid(in.gid, n);
	memcpy(in.mac, scene->hca->mac, 6);
	must(drv_cmd(scene->hca->drv, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0), "set GID");
}

static void new_srqs(struct scene *scene)
{
	struct rig_srq_opts opts = {0};

	scene->srq[SCENE_SRQ] = rig_srq_new(scene->hca, &opts);
	opts.cqn = scene->cq->cqn;
	opts.xrcdn = scene->xrcdn;
	scene->srq[SCENE_SRQ_XRC] = rig_srq_new(scene->hca, &opts);
	opts.xrcdn = 0;
	opts.max_tags = MAX_TAGS;
	scene->srq[SCENE_SRQ_TM] = rig_srq_new(scene->hca, &opts);
}

/* A tag that matches whatever the upper half of the message's tag is. */
static void add_tag(struct scene *scene, uint32_t handle, uint64_t tag)
{
	struct ohca_sge sge = rig_sge(scene->mr, SCENE_IOVA, SCENE_RECV_LEN);
	struct ohca_sq_wqe fields = {0};
	struct rig_wr wr = {
		.opcode = OHCA_OP_TAG_ADD, .num_sge = 1, .sge = &sge, .fields = &fields};

	fields.tag.tag = htole64(tag);
	fields.tag.mask = htole64(0xffffffff);
	fields.tag.handle = htole32(handle);
	rig_post_send(scene->ops, &wr);
}

static void new_qp(struct scene *scene, unsigned int kind)
{
	static const struct {
		uint8_t type;
		uint8_t flags;
	} kinds[SCENE_NUM_QPS] = {
		[SCENE_RC] = {OHCA_QPT_RC, OHCA_QP_F_PRIVILEGED},
		[SCENE_RC_SRQ] = {OHCA_QPT_RC, 0},
		[SCENE_RC_ODP] = {OHCA_QPT_RC, 0},
		[SCENE_UC] = {OHCA_QPT_UC, 0},
		[SCENE_UD] = {OHCA_QPT_UD, 0},
		[SCENE_GSI] = {OHCA_QPT_GSI, OHCA_QP_F_PRIVILEGED},
		[SCENE_XRC_INI] = {OHCA_QPT_XRC_INI, 0},
		[SCENE_XRC_TGT] = {OHCA_QPT_XRC_TGT, 0},
		[SCENE_TM] = {OHCA_QPT_RC, 0},
		[SCENE_TM_PEER] = {OHCA_QPT_RC, 0},
		[SCENE_ETH] = {OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED},
		[SCENE_RAW] = {OHCA_QPT_ETH, 0},
	};
	struct rig_qp_opts opts = {
		.type = kinds[kind].type,
		.flags = kinds[kind].flags,
		.log_size = 4,
		.cq = scene->cq,
		.max_sge = 2,
		.max_inline = 64,
		.ext = true,
	};

	if (kind == SCENE_RC_SRQ)
		opts.srqn = scene->srq[SCENE_SRQ]->srqn;
	if (kind == SCENE_TM)
		opts.srqn = scene->srq[SCENE_SRQ_TM]->srqn;
	opts.tags = kind == SCENE_TM;
	opts.xrcdn = kind == SCENE_XRC_TGT ? scene->xrcdn : 0;
	scene->qp[kind] = rig_qp_new(scene->hca, &opts);
}

static void new_ops(struct scene *scene)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_TM,
				   .log_size = 4,
				   .cq = scene->cq,
				   .srqn = scene->srq[SCENE_SRQ_TM]->srqn,
				   .max_sge = OHCA_TM_MAX_SGE};

	scene->ops = rig_qp_new(scene->hca, &opts);
	must(rig_modify(scene->ops, OHCA_QPS_RTS, OHCA_QP_STATE), "tags: to RTS");
}

/* Steer frames of an unused type to SCENE_RAW. */
static void new_flow(struct scene *scene)
{
	struct ohca_create_flow_in in = {.qpn = htole32(scene->qp[SCENE_RAW]->qpn), .port = 1};

	in.value.ether_type = htobe16(ETHER_TYPE_TEST);
	in.mask.ether_type = 0xffff;
	drv_create(scene->hca->drv, OHCA_CMD_CREATE_FLOW, &in, sizeof(in));
}

/* Distribute UDP datagrams, except those of RoCE, by a hash to two queues. */
static void new_rss(struct scene *scene)
{
	struct rig_qp_opts opts = {
		.type = OHCA_QPT_RWQ, .log_size = 2, .cq = scene->cq, .max_sge = 2};
	struct ohca_create_ind_tbl_in table = {.log_size = 1};
	struct ohca_create_rss_in rss = {.fields = htole16(OHCA_RSS_FIELDS),
					 .function = OHCA_RSS_TOEPLITZ};
	struct ohca_create_flow_in flow = {.port = 1, .priority = htole16(1)};
	struct ohca_sge sge = rig_sge(scene->mr, SCENE_IOVA, SCENE_RECV_LEN);
	struct drv *drv = scene->hca->drv;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct rig_qp *wq = rig_qp_new(scene->hca, &opts);

		must(rig_modify(wq, OHCA_QPS_RTR, OHCA_QP_STATE), "RWQ: to RTR");
		rig_post_recv(wq, i, &sge, 1);
		table.wqn[i] = htole32(wq->qpn);
	}
	rss.ind_tbl = htole32(drv_create(drv, OHCA_CMD_CREATE_IND_TBL, &table, sizeof(table)));
	flow.qpn = htole32(drv_create(drv, OHCA_CMD_CREATE_RSS, &rss, sizeof(rss)));
	flow.value.ip_proto = 17;
	flow.mask.ip_proto = 0xff;
	drv_create(drv, OHCA_CMD_CREATE_FLOW, &flow, sizeof(flow));
}

static void join_group(struct scene *scene)
{
	struct ohca_mcast_in in = {.gid = {0xff, 0x0e, [15] = 1},
				   .qpn = htole32(scene->qp[SCENE_UD]->qpn)};

	must(drv_cmd(scene->hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0), "attach");
}

static uint32_t new_key(struct scene *scene, uint8_t type, uint32_t max_pages)
{
	struct ohca_create_mkey_in in = {
		.pdn = htole32(scene->hca->pdn), .type = type, .max_pages = htole32(max_pages)};

	return drv_create(scene->hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
}

/* Bind the window to the second half of the region. */
static void bind_window(struct scene *scene)
{
	uint32_t key = new_key(scene, OHCA_MKEY_MW_2, 0);
	struct ohca_sq_wqe fields = {0};
	struct rig_wr wr = {
		.opcode = OHCA_OP_BIND_MW, .flags = OHCA_WQE_SIGNALED, .fields = &fields};

	scene->window = (key & ~0xffU) | ((key + 1) & 0xff);
	fields.bind.addr = htole64(SCENE_IOVA + SCENE_LEN / 2);
	fields.bind.length = htole64(SCENE_LEN / 2);
	fields.bind.lkey = htole32(scene->mr->key);
	fields.bind.rkey = htole32(key);
	fields.bind.new_rkey = htole32(scene->window);
	fields.bind.access = REMOTE_ACCESS;
	rig_post_send(scene->qp[SCENE_RC], &wr);
	must(rig_wait_send(scene->qp[SCENE_RC]).status, "bind");
}

unsigned int scene_mate(unsigned int kind)
{
	switch (kind) {
	case SCENE_XRC_INI:
		return SCENE_XRC_TGT;
	case SCENE_XRC_TGT:
		return SCENE_XRC_INI;
	case SCENE_TM:
		return SCENE_TM_PEER;
	case SCENE_TM_PEER:
		return SCENE_TM;
	default:
		return kind;
	}
}

/* The QPs have the same numbers in every scene. */
static void connect(struct scene *scene, unsigned int kind, unsigned int peer)
{
	struct rig_qp *qp = scene->qp[kind];
	struct ohca_av *av = &qp->attr.av;

	memset(av, 0, sizeof(*av));
	if (kind == SCENE_RC_SRQ) {
		ipv6_gid(av->dgid, peer);
		av->sgid_index = htole16(1);
		qp->attr.path_mtu = 5;
	} else {
		memcpy(av->dgid, scene->hca->gid, 16);
		av->dgid[15] = peer + 1;
	}
	memcpy(av->dmac, scene->hca->mac, 6);
	av->dmac[5] = peer + 1;
	av->hop_limit = 64;
	av->port = 1;
	qp->attr.dest_qpn = htole32(scene->qp[scene_mate(kind)]->qpn);
	qp->attr.access = REMOTE_ACCESS;
	must(rig_to_init(qp), "to INIT");
	must(rig_to_rtr(qp), "to RTR");
	must(rig_to_rts(qp), "to RTS");
}

struct rig_srq *scene_srq_of(struct scene *scene, unsigned int kind)
{
	switch (kind) {
	case SCENE_RC_SRQ:
		return scene->srq[SCENE_SRQ];
	case SCENE_XRC_TGT:
		return scene->srq[SCENE_SRQ_XRC];
	case SCENE_TM:
		return scene->srq[SCENE_SRQ_TM];
	default:
		return NULL;
	}
}

void scene_recv(struct scene *scene, unsigned int kind, uint32_t len)
{
	struct rig_mr *mr = kind == SCENE_RC_ODP ? scene->odp : scene->mr;
	struct ohca_sge sge = rig_sge(mr, SCENE_IOVA, len);
	struct rig_srq *srq = scene_srq_of(scene, kind);

	if (srq)
		rig_srq_post(srq, scene->next_recv++, &sge, 1);
	else if (kind != SCENE_XRC_INI)
		rig_post_recv(scene->qp[kind], scene->next_recv++, &sge, 1);
}

void scene_send(struct scene *scene, unsigned int kind, uint8_t opcode, uint32_t len)
{
	struct rig_mr *mr = kind == SCENE_RC_ODP ? scene->odp : scene->mr;
	struct ohca_sge sge = rig_sge(mr, SCENE_IOVA, len);
	struct rig_qp *qp = scene->qp[kind];
	struct ohca_sq_wqe fields = {0};
	struct rig_wr wr = {
		.wr_id = qp->sq_pi,
		.opcode = opcode,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = opcode == OHCA_OP_FLUSH ? 0 : 1,
		.sge = &sge,
		.imm = 0x01020304,
		.inv_key = scene->window,
	};

	if (kind == SCENE_TM || kind == SCENE_XRC_TGT)
		return;
	if (kind == SCENE_UD || kind == SCENE_GSI) {
		wr.av = &qp->attr.av;
		wr.dest_qpn = qp->qpn;
		wr.qkey = le32toh(qp->attr.qkey);
	} else if (opcode == OHCA_OP_FLUSH) {
		fields.flush.raddr = htole64(SCENE_IOVA);
		fields.flush.length = htole64(len);
		fields.flush.rkey = htole32(mr->key);
		fields.flush.placement = OHCA_FLUSH_GLOBAL;
		wr.fields = &fields;
	} else {
		fields.rdma.raddr = htole64(SCENE_IOVA + SCENE_LEN / 2 - 0x100);
		fields.rdma.rkey = htole32(mr->key);
		fields.rdma.srqn = htole32(scene->srq[SCENE_SRQ_XRC]->srqn);
		fields.rdma.compare_add = htole64(1);
		wr.fields = &fields;
	}
	rig_post_send(qp, &wr);
}

void scene_drain(struct scene *scene)
{
	struct ohca_cqe cqe;
	struct ohca_eqe eqe;

	while (drv_cq_poll(scene->cq, &cqe))
		;
	drv_cq_ack(scene->cq);
	while (drv_eq_poll(scene->hca->async, &eqe))
		;
	drv_eq_ack(scene->hca->async);
	while (drv_eq_poll(scene->hca->comp, &eqe))
		;
	drv_eq_ack(scene->hca->comp);
}

void scene_reconnect(struct scene *scene, unsigned int kind, unsigned int peer)
{
	struct rig_qp *qp = scene->qp[kind];

	must(rig_modify(qp, OHCA_QPS_RESET, OHCA_QP_STATE), "to RESET");
	qp->sq_pi = 0;
	qp->rq_pi = 0;
	if (qp->sq_rec) {
		qp->sq_rec->pi = 0;
		qp->rq_rec->pi = 0;
	}
	connect(scene, kind, peer);
}

void scene_new(struct scene *scene, struct rig_hca *hca, unsigned int peer)
{
	unsigned int i, n;

	memset(scene, 0, sizeof(*scene));
	scene->hca = hca;
	set_gid(scene, hca->mac[5] - 1);
	scene->cq = drv_cq_new(hca->drv, LOG_CQ, hca->comp->eqn);
	scene->mr = rig_mr_new(hca, SCENE_IOVA, SCENE_LEN, ALL_ACCESS, 0);
	scene->odp = drv_own(hca->drv, sizeof(*scene->odp));
	*scene->odp = *scene->mr;
	rig_odp(scene->odp, ODP_ACCESS);
	scene->fast = new_key(scene, OHCA_MKEY_FAST_REG, 16);
	scene->xrcdn = drv_create(hca->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0);
	new_srqs(scene);
	for (i = 0; i < SCENE_NUM_QPS; i++)
		new_qp(scene, i);
	new_ops(scene);
	for (i = 0; i < SCENE_NUM_QPS; i++) {
		connect(scene, i, peer);
		for (n = 0; n < RECEIVES; n++)
			scene_recv(scene, i, SCENE_RECV_LEN);
	}
	add_tag(scene, 0, SCENE_TAG);
	add_tag(scene, 1, SCENE_TAG);
	new_flow(scene);
	new_rss(scene);
	join_group(scene);
	bind_window(scene);
}
