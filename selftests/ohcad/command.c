// SPDX-License-Identifier: GPL-2.0
/* Every command of the device with a valid input. */

#include <endian.h>
#include <stdlib.h>

#include "command.h"

void objects_init(struct objects *obj, struct drv *drv)
{
	obj->drv = drv;
	obj->eq = drv_eq_new(drv, 4, 1, 0);
	obj->cq = drv_cq_new(drv, 4, obj->eq->eqn);
	obj->pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
}

static void in_none(const struct objects *obj, union input *in)
{
	(void)obj;
	(void)in;
}

static void in_query_port(const struct objects *obj, union input *in)
{
	(void)obj;
	in->query_port.port = 1;
}

static void in_modify_port(const struct objects *obj, union input *in)
{
	(void)obj;
	in->modify_port.port = 1;
	in->modify_port.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN);
}

static void in_set_gid(const struct objects *obj, union input *in)
{
	(void)obj;
	in->set_gid.port = 1;
}

static void in_query_gid(const struct objects *obj, union input *in)
{
	(void)obj;
	in->query_gid.port = 1;
}

static void in_query_pkey(const struct objects *obj, union input *in)
{
	(void)obj;
	in->query_pkey.port = 1;
	in->query_pkey.num = 1;
}

static void in_alloc_uar(const struct objects *obj, union input *in)
{
	in->alloc_uar.shadow_addr = htole64(drv_alloc(obj->drv, 4096));
}

static void in_create_eq(const struct objects *obj, union input *in)
{
	struct drv_eq tmp;

	in->create_eq = drv_eq_in(obj->drv, 4, 1, 0, &tmp);
}

static void in_create_cq(const struct objects *obj, union input *in)
{
	struct drv_cq tmp;

	in->create_cq = drv_cq_in(obj->drv, 3, obj->eq->eqn, &tmp);
}

static void in_create_mkey(const struct objects *obj, union input *in)
{
	uint64_t addr = drv_alloc(obj->drv, 4096);

	in->create_mkey.xlt = drv_xlt(obj->drv, addr, 4096, 12);
	in->create_mkey.length = htole64(4096);
	in->create_mkey.pdn = htole32(obj->pdn);
}

static void in_alloc_dm(const struct objects *obj, union input *in)
{
	(void)obj;
	in->alloc_dm.length = htole64(4096);
}

static void in_create_qp(const struct objects *obj, union input *in)
{
	struct ohca_create_qp_in *qp = &in->create_qp;
	uint64_t addr = drv_alloc(obj->drv, 8192);

	qp->buf = drv_xlt(obj->drv, addr, 4096 + 128, 12);
	qp->rq_offset = htole32(2048);
	qp->sq_rec_offset = htole32(4096);
	qp->rq_rec_offset = htole32(4096 + 64);
	qp->pdn = htole32(obj->pdn);
	qp->send_cqn = htole32(obj->cq->cqn);
	qp->recv_cqn = htole32(obj->cq->cqn);
	qp->slot = htole16(1);
	qp->max_send_sge = htole16(1);
	qp->max_recv_sge = htole16(1);
	qp->type = OHCA_QPT_RC;
	qp->sq_log_size = 4;
	qp->sq_log_stride = 6;
	qp->rq_log_size = 4;
	qp->rq_log_stride = 5;
}

/* The handle of a new object, created with the input from another builder. */
static void in_handle_of(const struct objects *obj, union input *in, uint16_t create,
			 void (*build)(const struct objects *obj, union input *in), size_t len)
{
	union input tmp = {0};

	build(obj, &tmp);
	in->handle.id = htole32(drv_create(obj->drv, create, &tmp, len));
}

static void in_free_uar(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_ALLOC_UAR, in_alloc_uar, sizeof(in->alloc_uar));
}

static void in_free_pd(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_ALLOC_PD, in_none, 0);
}

static void in_free_xrcd(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_ALLOC_XRCD, in_none, 0);
}

static void in_alloc_counters(const struct objects *obj, union input *in)
{
	(void)obj;
	in->alloc_counters.port = 1;
}

static void in_counters(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_ALLOC_COUNTERS, in_alloc_counters,
		     sizeof(in->alloc_counters));
}

static void in_destroy_eq(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_EQ, in_create_eq, sizeof(in->create_eq));
}

static void in_destroy_cq(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_CQ, in_create_cq, sizeof(in->create_cq));
}

static void in_modify_cq(const struct objects *obj, union input *in)
{
	in->modify_cq.cqn = htole32(obj->cq->cqn);
}

static void in_resize_cq(const struct objects *obj, union input *in)
{
	struct drv_cq tmp;

	in->resize_cq = drv_cq_resize_in(obj->cq, 4, &tmp);
}

static void in_destroy_mkey(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_MKEY, in_create_mkey, sizeof(in->create_mkey));
}

static void in_modify_mkey(const struct objects *obj, union input *in)
{
	union input tmp = {0};

	in_destroy_mkey(obj, &tmp);
	in->modify_mkey.key = tmp.handle.id;
	in->modify_mkey.attr_mask = htole32(OHCA_MKEY_ATTR_ACCESS);
}

static void in_modify_pages(const struct objects *obj, union input *in)
{
	struct ohca_create_mkey_in region = {
		.xlt = {.page_shift = 12},
		.length = htole64(4096),
		.pdn = htole32(obj->pdn),
		.type = OHCA_MKEY_ODP,
	};

	in->modify_pages.key =
		htole32(drv_create(obj->drv, OHCA_CMD_CREATE_MKEY, &region, sizeof(region)));
	in->modify_pages.op = OHCA_PAGES_UNMAP;
	in->modify_pages.num = htole64(1);
}

static void in_free_dm(const struct objects *obj, union input *in)
{
	struct ohca_alloc_dm_in dm = {.length = htole64(1)};
	struct ohca_alloc_dm_out out = {0};

	drv_cmd(obj->drv, OHCA_CMD_ALLOC_DM, &dm, sizeof(dm), &out, sizeof(out));
	in->handle.id = out.id;
}

static void in_qp(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_QP, in_create_qp, sizeof(in->create_qp));
}

static void in_modify_qp(const struct objects *obj, union input *in)
{
	in_qp(obj, in);
	in->modify_qp.attr_mask = htole32(OHCA_QP_STATE | OHCA_QP_COUNTERS);
	in->modify_qp.attr.state = OHCA_QPS_RESET;
}

static void in_attach_mcast(const struct objects *obj, union input *in)
{
	union input tmp = {0};

	in_create_qp(obj, &tmp);
	tmp.create_qp.type = OHCA_QPT_UD;
	tmp.create_qp.sq_log_size = 3;
	tmp.create_qp.sq_log_stride = 7;
	in->mcast.qpn =
		htole32(drv_create(obj->drv, OHCA_CMD_CREATE_QP, &tmp, sizeof(tmp.create_qp)));
	in->mcast.gid[0] = 0xff;
}

static void in_detach_mcast(const struct objects *obj, union input *in)
{
	in_attach_mcast(obj, in);
	if (drv_cmd(obj->drv, OHCA_CMD_ATTACH_MCAST, &in->mcast, sizeof(in->mcast), NULL, 0))
		abort();
}

static void in_create_srq(const struct objects *obj, union input *in)
{
	struct ohca_create_srq_in *srq = &in->create_srq;

	srq->buf = drv_xlt(obj->drv, drv_alloc(obj->drv, 4096), 512 + 64, 12);
	srq->rec_offset = htole32(512);
	srq->pdn = htole32(obj->pdn);
	srq->max_sge = htole16(1);
	srq->log_size = 4;
	srq->log_stride = 5;
}

static void in_srq(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_SRQ, in_create_srq, sizeof(in->create_srq));
}

static void in_modify_srq(const struct objects *obj, union input *in)
{
	union input tmp = {0};

	in_srq(obj, &tmp);
	in->modify_srq.srqn = tmp.handle.id;
	in->modify_srq.attr_mask = htole32(OHCA_SRQ_ATTR_LIMIT);
}

static void in_create_flow(const struct objects *obj, union input *in)
{
	union input qp = {0};

	in_create_qp(obj, &qp);
	qp.create_qp.type = OHCA_QPT_ETH;
	in->create_flow.qpn =
		htole32(drv_create(obj->drv, OHCA_CMD_CREATE_QP, &qp, sizeof(qp.create_qp)));
	in->create_flow.port = 1;
}

static void in_destroy_flow(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_FLOW, in_create_flow, sizeof(in->create_flow));
}

static void in_create_ind_tbl(const struct objects *obj, union input *in)
{
	struct ohca_create_qp_in wq = {
		.buf = drv_xlt(obj->drv, drv_alloc(obj->drv, 4096), 512 + 64, 12),
		.rq_rec_offset = htole32(512),
		.pdn = htole32(obj->pdn),
		.recv_cqn = htole32(obj->cq->cqn),
		.max_recv_sge = htole16(1),
		.type = OHCA_QPT_RWQ,
		.rq_log_size = 4,
		.rq_log_stride = 5,
	};

	in->create_ind_tbl.wqn[0] =
		htole32(drv_create(obj->drv, OHCA_CMD_CREATE_QP, &wq, sizeof(wq)));
}

static void in_destroy_ind_tbl(const struct objects *obj, union input *in)
{
	in_handle_of(obj, in, OHCA_CMD_CREATE_IND_TBL, in_create_ind_tbl,
		     sizeof(in->create_ind_tbl));
}

static void in_create_rss(const struct objects *obj, union input *in)
{
	union input tmp = {0};

	in_destroy_ind_tbl(obj, &tmp);
	in->create_rss.ind_tbl = tmp.handle.id;
	in->create_rss.fields = htole16(OHCA_RSS_FIELDS);
	in->create_rss.function = OHCA_RSS_TOEPLITZ;
}

static void in_set_link_layer(const struct objects *obj, union input *in)
{
	(void)obj;
	in->set_link_layer.port = 1;
}

#define H sizeof(struct ohca_handle)
#define IN(name) sizeof(struct ohca_##name##_in), 0, in_##name, 0
#define CREATE(name, destroy) sizeof(struct ohca_##name##_in), H, in_##name, destroy

const struct command commands[] = {
	{OHCA_CMD_QUERY_DEVICE, 0, OHCA_QUERY_DEVICE_OUT_MIN, in_none, 0},
	{OHCA_CMD_QUERY_PORT, sizeof(struct ohca_query_port_in), OHCA_QUERY_PORT_OUT_MIN,
	 in_query_port, 0},
	{OHCA_CMD_MODIFY_PORT, IN(modify_port)},
	{OHCA_CMD_SET_GID, IN(set_gid)},
	{OHCA_CMD_QUERY_GID, sizeof(struct ohca_query_gid_in), sizeof(struct ohca_query_gid_out),
	 in_query_gid, 0},
	{OHCA_CMD_QUERY_PKEY, sizeof(struct ohca_query_pkey_in), sizeof(struct ohca_query_pkey_out),
	 in_query_pkey, 0},
	{OHCA_CMD_SET_NODE_DESC, sizeof(struct ohca_set_node_desc_in), 0, in_none, 0},
	{OHCA_CMD_SET_LINK_LAYER, IN(set_link_layer)},
	{OHCA_CMD_ALLOC_UAR, CREATE(alloc_uar, OHCA_CMD_FREE_UAR)},
	{OHCA_CMD_FREE_UAR, H, 0, in_free_uar, 0},
	{OHCA_CMD_ALLOC_PD, 0, H, in_none, OHCA_CMD_FREE_PD},
	{OHCA_CMD_FREE_PD, H, 0, in_free_pd, 0},
	{OHCA_CMD_ALLOC_XRCD, 0, H, in_none, OHCA_CMD_FREE_XRCD},
	{OHCA_CMD_FREE_XRCD, H, 0, in_free_xrcd, 0},
	{OHCA_CMD_QUERY_COUNTERS, H, OHCA_QUERY_COUNTERS_OUT_MIN, in_counters, 0},
	{OHCA_CMD_ALLOC_COUNTERS, CREATE(alloc_counters, OHCA_CMD_FREE_COUNTERS)},
	{OHCA_CMD_FREE_COUNTERS, H, 0, in_counters, 0},
	{OHCA_CMD_CREATE_EQ, CREATE(create_eq, OHCA_CMD_DESTROY_EQ)},
	{OHCA_CMD_DESTROY_EQ, H, 0, in_destroy_eq, 0},
	{OHCA_CMD_CREATE_CQ, CREATE(create_cq, OHCA_CMD_DESTROY_CQ)},
	{OHCA_CMD_DESTROY_CQ, H, 0, in_destroy_cq, 0},
	{OHCA_CMD_MODIFY_CQ, IN(modify_cq)},
	{OHCA_CMD_RESIZE_CQ, IN(resize_cq)},
	{OHCA_CMD_CREATE_MKEY, CREATE(create_mkey, OHCA_CMD_DESTROY_MKEY)},
	{OHCA_CMD_DESTROY_MKEY, H, 0, in_destroy_mkey, 0},
	{OHCA_CMD_MODIFY_MKEY, IN(modify_mkey)},
	{OHCA_CMD_QUERY_MKEY, H, sizeof(struct ohca_query_mkey_out), in_destroy_mkey, 0},
	{OHCA_CMD_MODIFY_PAGES, offsetof(struct ohca_modify_pages_in, page), 0, in_modify_pages, 0},
	{OHCA_CMD_ALLOC_DM, sizeof(struct ohca_alloc_dm_in), sizeof(struct ohca_alloc_dm_out),
	 in_alloc_dm, OHCA_CMD_FREE_DM},
	{OHCA_CMD_FREE_DM, H, 0, in_free_dm, 0},
	{OHCA_CMD_CREATE_QP, CREATE(create_qp, OHCA_CMD_DESTROY_QP)},
	{OHCA_CMD_MODIFY_QP, IN(modify_qp)},
	{OHCA_CMD_QUERY_QP, H, OHCA_QUERY_QP_OUT_MIN, in_qp, 0},
	{OHCA_CMD_DESTROY_QP, H, 0, in_qp, 0},
	{OHCA_CMD_ATTACH_MCAST, sizeof(struct ohca_mcast_in), 0, in_attach_mcast, 0},
	{OHCA_CMD_DETACH_MCAST, sizeof(struct ohca_mcast_in), 0, in_detach_mcast, 0},
	{OHCA_CMD_CREATE_IND_TBL, CREATE(create_ind_tbl, OHCA_CMD_DESTROY_IND_TBL)},
	{OHCA_CMD_DESTROY_IND_TBL, H, 0, in_destroy_ind_tbl, 0},
	{OHCA_CMD_CREATE_RSS, CREATE(create_rss, OHCA_CMD_DESTROY_QP)},
	{OHCA_CMD_CREATE_SRQ, CREATE(create_srq, OHCA_CMD_DESTROY_SRQ)},
	{OHCA_CMD_MODIFY_SRQ, IN(modify_srq)},
	{OHCA_CMD_QUERY_SRQ, H, sizeof(struct ohca_query_srq_out), in_srq, 0},
	{OHCA_CMD_DESTROY_SRQ, H, 0, in_srq, 0},
	{OHCA_CMD_CREATE_FLOW, CREATE(create_flow, OHCA_CMD_DESTROY_FLOW)},
	{OHCA_CMD_DESTROY_FLOW, H, 0, in_destroy_flow, 0},
};

const unsigned int num_commands = sizeof(commands) / sizeof(commands[0]);

bool command_makes(const struct command *command)
{
	static void (*const makers[])(const struct objects *obj, union input *in) = {
		in_free_uar,	   in_free_pd,
		in_free_xrcd,	   in_counters,
		in_destroy_eq,	   in_destroy_cq,
		in_destroy_mkey,   in_modify_mkey,
		in_free_dm,	   in_qp,
		in_modify_qp,	   in_attach_mcast,
		in_detach_mcast,   in_srq,
		in_modify_srq,	   in_modify_pages,
		in_create_ind_tbl, in_destroy_ind_tbl,
		in_create_flow,	   in_destroy_flow,
		in_create_rss,
	};
	unsigned int i;

	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (command->build == makers[i])
			return true;
	}
	return false;
}
