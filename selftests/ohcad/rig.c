// SPDX-License-Identifier: GPL-2.0
/* HCAs, regions and QPs for tests of the transport. */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "subnet.h"

#define PAGE 4096ULL

#define DIE(...)                                      \
	do {                                          \
		fprintf(stderr, "rig: " __VA_ARGS__); \
		fputc('\n', stderr);                  \
		abort();                              \
	} while (0)

static void must(int status, const char *what)
{
	if (status)
		DIE("%s: status %d", what, status);
}

/* Initialize HCA number @i; its driver @drv is up. */
static void set_up_hca(const struct rig *rig, struct rig_hca *hca, struct drv *drv, unsigned int i)
{
	struct ohca_modify_port_in up = {
		.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1, .admin_up = 1};
	struct ohca_set_gid_in gid = {
		.port = 1, .type = OHCA_GID_ROCE_V2, .vlan = htole16(OHCA_VLAN_NONE)};

	memset(hca, 0, sizeof(*hca));
	hca->drv = drv;
	hca->next_slot = 1;
	hca->pdn = drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0);
	hca->async = drv_eq_new(drv, 8, 1, OHCA_EQ_ASYNC);
	hca->comp = drv_eq_new(drv, 8, 2, 0);
	hca->mac[0] = 2;
	hca->mac[5] = rig->first + i + 1;
	if (rig->infiniband)
		return;
	must(drv_cmd(drv, OHCA_CMD_MODIFY_PORT, &up, sizeof(up), NULL, 0), "port up");

	memset(hca->gid + 10, 0xff, 2);
	hca->gid[12] = 10;
	hca->gid[15] = rig->first + i + 1;
	memcpy(gid.gid, hca->gid, 16);
	memcpy(gid.mac, hca->mac, 6);
	must(drv_cmd(drv, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL, 0), "set GID");
}

void rig_take_lids(struct rig *rig)
{
	struct ohca_query_gid_in in = {.port = 1};
	struct ohca_query_gid_out out;
	unsigned int i;

	for (i = 0; i < rig->num; i++) {
		struct rig_hca *hca = &rig->hca[i];

		hca->lid = i + 1;
		must(drv_cmd(hca->drv, OHCA_CMD_QUERY_GID, &in, sizeof(in), &out, sizeof(out)),
		     "query GID");
		memcpy(hca->gid, out.gid, 16);
	}
}

void rig_set_up_subnet(struct rig *rig)
{
	struct subnet subnet;

	if (!rig->infiniband)
		return;
	subnet_open(&subnet, &rig->hca[0]);
	subnet_up(&subnet, rig->num);
	must(rig_qp_destroy(subnet.qp), "destroy QP 0");
	rig_take_lids(rig);
}

struct rig *rig_open_bare(const struct server *server, unsigned int first, unsigned int num,
			  bool infiniband)
{
	uint64_t feats = infiniband ? OHCA_FEAT_SHADOW_DB : DRV_ALL_FEATS;
	struct rig *rig = calloc(1, sizeof(*rig));

	if (!rig)
		DIE("no memory");
	rig->infiniband = infiniband;
	rig->first = first;
	for (; rig->num < num; rig->num++)
		set_up_hca(rig, &rig->hca[rig->num],
			   drv_start(server->sock[first + rig->num], feats), rig->num);
	return rig;
}

struct rig *rig_open_some(const struct server *server, unsigned int first, unsigned int num,
			  bool infiniband)
{
	struct rig *rig = rig_open_bare(server, first, num, infiniband);

	rig_set_up_subnet(rig);
	return rig;
}

struct rig *rig_open(const struct server *server)
{
	return rig_open_some(server, 0, server->num_hcas, subnet_used());
}

void rig_renew_hca(struct rig *rig, unsigned int i)
{
	drv_restart(rig->hca[i].drv);
	set_up_hca(rig, &rig->hca[i], rig->hca[i].drv, i);
}

void rig_renew(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < rig->num; i++)
		rig_renew_hca(rig, i);
	rig_set_up_subnet(rig);
}

void rig_close(struct rig *rig)
{
	while (rig->num)
		drv_close(rig->hca[--rig->num].drv);
	free(rig);
}

/* The translation table of a region's pages. */
static struct ohca_xlt mr_xlt(struct rig_mr *mr)
{
	struct drv *drv = mr->hca->drv;
	uint64_t entries = mr->num_pages, i;
	const uint64_t *from = mr->pages;
	struct ohca_xlt xlt = {
		.npages = htole32(entries),
		.offset = htole32(mr->iova % PAGE),
		.page_shift = 12,
		.addr = htole64(mr->pages[0]),
	};
	uint64_t *above = NULL;

	while (entries > 1) {
		uint64_t tables = (entries + 511) / 512;
		uint64_t table = drv_alloc(drv, tables * PAGE);
		__le64 *to = drv_ptr(drv, table);

		for (i = 0; i < entries; i++)
			to[i] = htole64(from[i]);
		free(above);
		above = calloc(tables, sizeof(*above));
		for (i = 0; i < tables; i++)
			above[i] = table + i * PAGE;
		from = above;
		entries = tables;
		xlt.addr = htole64(table);
		xlt.levels++;
	}
	free(above);
	return xlt;
}

struct rig_mr *rig_mr_new(struct rig_hca *hca, uint64_t iova, uint64_t length, uint8_t access,
			  uint64_t distinct)
{
	struct rig_mr *mr = drv_own(hca->drv, sizeof(*mr));
	struct ohca_create_mkey_in in = {
		.iova = htole64(iova),
		.length = htole64(length),
		.pdn = htole32(hca->pdn),
		.access = access,
	};
	uint64_t base, i;

	mr->hca = hca;
	mr->iova = iova;
	mr->length = length;
	mr->num_pages = (iova % PAGE + length + PAGE - 1) / PAGE;
	mr->pages = drv_own(hca->drv, mr->num_pages * sizeof(*mr->pages));
	if (!distinct)
		distinct = mr->num_pages;
	base = drv_alloc(hca->drv, distinct * PAGE);
	/* Exchange neighbours: no two pages are consecutive in memory. */
	for (i = 0; i < mr->num_pages; i++)
		mr->pages[i] = base + (i % distinct) * PAGE;
	for (i = 0; i + 1 < distinct; i += 2) {
		mr->pages[i] = base + (i + 1) * PAGE;
		mr->pages[i + 1] = base + i * PAGE;
	}
	mr->xlt = mr_xlt(mr);
	in.xlt = mr->xlt;
	mr->key = drv_create(hca->drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	return mr;
}

int rig_mr_destroy(struct rig_mr *mr)
{
	return drv_destroy(mr->hca->drv, OHCA_CMD_DESTROY_MKEY, mr->key);
}

/* The byte at @iova; *@run is set to the number of bytes up to the end of its page. */
static uint8_t *mr_ptr(struct rig_mr *mr, uint64_t iova, uint64_t *run)
{
	uint64_t off = mr->iova % PAGE + (iova - mr->iova);

	*run = PAGE - off % PAGE;
	return (uint8_t *)drv_ptr(mr->hca->drv, mr->pages[off / PAGE]) + off % PAGE;
}

void rig_mr_set(struct rig_mr *mr, uint64_t iova, const void *buf, uint64_t len)
{
	const uint8_t *from = buf;
	uint64_t run;

	while (len) {
		uint8_t *to = mr_ptr(mr, iova, &run);

		if (run > len)
			run = len;
		memcpy(to, from, run);
		iova += run;
		from += run;
		len -= run;
	}
}

void rig_mr_get(struct rig_mr *mr, uint64_t iova, void *buf, uint64_t len)
{
	uint8_t *to = buf;
	uint64_t run;

	while (len) {
		uint8_t *from = mr_ptr(mr, iova, &run);

		if (run > len)
			run = len;
		memcpy(to, from, run);
		iova += run;
		to += run;
		len -= run;
	}
}

static uint8_t pattern(uint64_t i, uint32_t seed)
{
	uint64_t x = (i >> 3) * 0x9e3779b97f4a7c15ULL + seed * 0xd1b54a32d192ed03ULL;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	return x >> (8 * (i & 7));
}

void rig_mr_fill(struct rig_mr *mr, uint64_t iova, uint64_t len, uint32_t seed)
{
	uint64_t run, i, done = 0;

	while (done < len) {
		uint8_t *to = mr_ptr(mr, iova + done, &run);

		for (i = 0; i < run && done < len; i++)
			to[i] = pattern(done++, seed);
	}
}

bool rig_mr_is(struct rig_mr *mr, uint64_t iova, uint64_t len, uint32_t seed)
{
	uint64_t run, i, done = 0;

	while (done < len) {
		const uint8_t *from = mr_ptr(mr, iova + done, &run);

		for (i = 0; i < run && done < len; i++) {
			if (from[i] != pattern(done++, seed))
				return false;
		}
	}
	return true;
}

static uint8_t log2_up(uint64_t n)
{
	uint8_t log = 0;

	while (1ULL << log < n)
		log++;
	return log;
}

static bool is_datagram(uint8_t type)
{
	return type == OHCA_QPT_UD || type == OHCA_QPT_GSI || type == OHCA_QPT_SMI;
}

/* Remove the receive queue from the input; an SRQ may stay. */
static void drop_recv_queue(struct ohca_create_qp_in *in, uint32_t srqn, struct ohca_xlt buf)
{
	in->buf = buf;
	in->rq_offset = 0;
	in->rq_rec_offset = 0;
	in->max_recv_sge = 0;
	in->rq_log_size = 0;
	in->rq_log_stride = 0;
	if (srqn) {
		in->flags |= OHCA_QP_F_SRQ;
		in->srqn = htole32(srqn);
	} else {
		in->recv_cqn = 0;
	}
}

/* Remove the send queue from the input. */
static void drop_send_queue(struct ohca_create_qp_in *in)
{
	in->sq_rec_offset = 0;
	in->uar = 0;
	in->send_cqn = 0;
	in->slot = 0;
	in->max_send_sge = 0;
	in->max_inline = 0;
	in->sq_log_size = 0;
	in->sq_log_stride = 0;
}

static struct drv_cq *new_cq(struct rig_hca *hca, const struct rig_qp_opts *opts)
{
	return drv_cq_new(hca->drv, opts->cq_log_size ? opts->cq_log_size : 8, hca->comp->eqn);
}

struct ohca_create_qp_in rig_qp_in(struct rig_hca *hca, const struct rig_qp_opts *opts,
				   struct rig_qp *qp)
{
	static const struct rig_qp_opts none;
	struct ohca_create_qp_in in = {0};
	uint32_t rq_off, rec_off, inline_len;
	uint64_t addr;

	if (!opts)
		opts = &none;
	memset(qp, 0, sizeof(*qp));
	qp->hca = hca;
	qp->log_size = opts->log_size ? opts->log_size : 6;
	qp->max_sge = opts->max_sge ? opts->max_sge : 4;
	inline_len = opts->max_inline > qp->max_sge * 16 ? opts->max_inline : qp->max_sge * 16;
	qp->type = opts->type || opts->smi ? opts->type : OHCA_QPT_RC;
	if (is_datagram(qp->type) || opts->ext)
		inline_len += OHCA_SQ_WQE_EXT;
	qp->sq_log_stride = log2_up(OHCA_SQ_WQE_HDR + inline_len);
	qp->rq_log_stride = log2_up(OHCA_RQ_WQE_HDR + qp->max_sge * 16);
	qp->slot = hca->next_slot;
	qp->scq = opts->cq ? opts->cq : new_cq(hca, opts);
	qp->rcq = opts->cq ? opts->cq : new_cq(hca, opts);

	rq_off = 1U << (qp->log_size + qp->sq_log_stride);
	rec_off = rq_off + (1U << (qp->log_size + qp->rq_log_stride));
	rec_off = (rec_off + 63) & ~63U;
	addr = drv_alloc(hca->drv, rec_off + 128);
	qp->sq = drv_ptr(hca->drv, addr);
	qp->rq = qp->sq + rq_off;
	qp->sq_rec = (struct ohca_wq_rec *)(qp->sq + rec_off);
	qp->rq_rec = qp->sq_rec + 1;

	in.buf = drv_xlt(hca->drv, addr, rec_off + 128, 12);
	in.rq_offset = htole32(rq_off);
	in.sq_rec_offset = htole32(rec_off);
	in.rq_rec_offset = htole32(rec_off + 64);
	in.pdn = htole32(opts->pdn ? opts->pdn : hca->pdn);
	in.send_cqn = htole32(qp->scq->cqn);
	in.recv_cqn = htole32(qp->rcq->cqn);
	in.slot = htole16(qp->slot);
	in.max_send_sge = htole16(qp->max_sge);
	in.max_recv_sge = htole16(qp->max_sge);
	in.max_inline = htole16(opts->max_inline);
	in.type = qp->type;
	if (qp->type == OHCA_QPT_SMI || qp->type == OHCA_QPT_GSI)
		in.port = opts->port ? opts->port : 1;
	in.flags = opts->flags;
	in.sq_log_size = qp->log_size;
	in.sq_log_stride = qp->sq_log_stride;
	in.rq_log_size = qp->log_size;
	in.rq_log_stride = qp->rq_log_stride;
	if (opts->srqn || qp->type == OHCA_QPT_XRC_INI)
		drop_recv_queue(&in, opts->srqn, drv_xlt(hca->drv, addr, rec_off + 64, 12));
	if (qp->type == OHCA_QPT_RWQ)
		drop_send_queue(&in);
	if (qp->type == OHCA_QPT_TM) {
		in.flags &= ~OHCA_QP_F_SRQ;
		in.recv_cqn = 0;
	}
	if (opts->tags)
		in = (struct ohca_create_qp_in){
			.type = qp->type, .flags = in.flags, .srqn = in.srqn, .pdn = in.pdn};
	if (qp->type == OHCA_QPT_XRC_TGT)
		in = (struct ohca_create_qp_in){
			.type = qp->type, .flags = opts->flags, .xrcdn = htole32(opts->xrcdn)};
	return in;
}

struct rig_qp *rig_qp_new(struct rig_hca *hca, const struct rig_qp_opts *opts)
{
	struct rig_qp *qp = drv_own(hca->drv, sizeof(*qp));
	struct ohca_create_qp_in in = rig_qp_in(hca, opts, qp);
	struct ohca_qp_attr *attr = &qp->attr;

	qp->qpn = drv_create(hca->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
	/* Only many QPs have to share slots; a test has fewer. */
	if (++hca->next_slot == OHCA_SHADOW_SLOTS)
		hca->next_slot = 1;
	attr->path_mtu = 3;
	attr->access = OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ;
	attr->timeout = 14;
	attr->retry_cnt = 7;
	attr->rnr_retry = 7;
	attr->min_rnr_timer = 1;
	attr->max_rd_atomic = 16;
	attr->max_dest_rd_atomic = 16;
	attr->port = opts && opts->port ? opts->port : 1;
	if (is_datagram(qp->type))
		attr->qkey = htole32(qp->type == OHCA_QPT_GSI	? RIG_GSI_QKEY
				     : qp->type == OHCA_QPT_SMI ? 0
								: RIG_QKEY);
	attr->sq_psn = htole32(RIG_PSN);
	attr->rq_psn = htole32(RIG_PSN);
	return qp;
}

int rig_qp_destroy(struct rig_qp *qp)
{
	return drv_destroy(qp->hca->drv, OHCA_CMD_DESTROY_QP, qp->qpn);
}

int rig_modify(struct rig_qp *qp, enum ohca_qp_state state, uint32_t mask)
{
	struct ohca_modify_qp_in in = {
		.qpn = htole32(qp->qpn),
		.attr_mask = htole32(mask),
		.attr = qp->attr,
	};

	in.attr.state = state;
	return drv_cmd(qp->hca->drv, OHCA_CMD_MODIFY_QP, &in, sizeof(in), NULL, 0);
}

struct ohca_qp_attr rig_query(struct rig_qp *qp)
{
	struct ohca_handle in = {.id = htole32(qp->qpn)};
	struct ohca_query_qp_out out;

	must(drv_cmd(qp->hca->drv, OHCA_CMD_QUERY_QP, &in, sizeof(in), &out, sizeof(out)), "query "
											   "QP");
	return out.attr;
}

#define PORT (OHCA_QP_PKEY_INDEX | OHCA_QP_PORT)
#define PATH (OHCA_QP_AV | OHCA_QP_PATH_MTU | OHCA_QP_DEST_QPN | OHCA_QP_RQ_PSN)
#define RETRY (OHCA_QP_TIMEOUT | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY)

uint32_t rig_required(uint8_t type, enum ohca_qp_state to)
{
	static const struct {
		uint32_t init, rtr, rts;
	} masks[] = {
		[OHCA_QPT_SMI] = {OHCA_QP_PKEY_INDEX | OHCA_QP_QKEY, 0, OHCA_QP_SQ_PSN},
		[OHCA_QPT_GSI] = {OHCA_QP_PKEY_INDEX | OHCA_QP_QKEY, 0, OHCA_QP_SQ_PSN},
		[OHCA_QPT_RC] = {PORT | OHCA_QP_ACCESS_FLAGS,
				 PATH | OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_MIN_RNR_TIMER,
				 RETRY | OHCA_QP_SQ_PSN | OHCA_QP_MAX_QP_RD_ATOMIC},
		[OHCA_QPT_UC] = {PORT | OHCA_QP_ACCESS_FLAGS, PATH, OHCA_QP_SQ_PSN},
		[OHCA_QPT_UD] = {PORT | OHCA_QP_QKEY, 0, OHCA_QP_SQ_PSN},
		[OHCA_QPT_ETH] = {OHCA_QP_PORT, 0, 0},
		[OHCA_QPT_XRC_INI] = {PORT | OHCA_QP_ACCESS_FLAGS, PATH,
				      RETRY | OHCA_QP_SQ_PSN | OHCA_QP_MAX_QP_RD_ATOMIC},
		[OHCA_QPT_XRC_TGT] = {PORT | OHCA_QP_ACCESS_FLAGS,
				      PATH | OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_MIN_RNR_TIMER,
				      OHCA_QP_TIMEOUT | OHCA_QP_SQ_PSN},
		[OHCA_QPT_TM] = {0, 0, 0},
	};
	uint32_t mask = to == OHCA_QPS_INIT  ? masks[type].init
			: to == OHCA_QPS_RTR ? masks[type].rtr
					     : masks[type].rts;

	return OHCA_QP_STATE | mask;
}

int rig_to_init(struct rig_qp *qp)
{
	return rig_modify(qp, OHCA_QPS_INIT, rig_required(qp->type, OHCA_QPS_INIT));
}

int rig_to_rtr(struct rig_qp *qp)
{
	return rig_modify(qp, OHCA_QPS_RTR, rig_required(qp->type, OHCA_QPS_RTR));
}

int rig_to_rts(struct rig_qp *qp)
{
	return rig_modify(qp, OHCA_QPS_RTS, rig_required(qp->type, OHCA_QPS_RTS));
}

void rig_to_reset(struct rig_qp *qp)
{
	must(rig_modify(qp, OHCA_QPS_RESET, OHCA_QP_STATE), "to RESET");
	qp->sq_pi = 0;
	qp->rq_pi = 0;
	qp->sq_rec->pi = 0;
	qp->rq_rec->pi = 0;
}

struct ohca_av rig_av(const struct rig_hca *to)
{
	struct ohca_av av = {.port = 1};

	if (to->lid) {
		av.ib.dlid = htole16(to->lid);
		return av;
	}
	memcpy(av.dgid, to->gid, 16);
	memcpy(av.dmac, to->mac, 6);
	av.hop_limit = 64;
	return av;
}

static void set_av(struct rig_qp *qp, const struct rig_qp *peer)
{
	qp->attr.av = rig_av(peer->hca);
	qp->attr.dest_qpn = htole32(peer->qpn);
}

void rig_address(struct rig_qp *a, struct rig_qp *b)
{
	set_av(a, b);
	set_av(b, a);
}

void rig_connect(struct rig_qp *a, struct rig_qp *b)
{
	rig_address(a, b);
	must(rig_to_init(a) || (a != b && rig_to_init(b)), "to INIT");
	must(rig_to_rtr(a) || (a != b && rig_to_rtr(b)), "to RTR");
	must(rig_to_rts(a) || (a != b && rig_to_rts(b)), "to RTS");
}

void *rig_sq_entry(struct rig_qp *qp, uint32_t idx)
{
	return qp->sq + ((idx & ((1U << qp->log_size) - 1)) << qp->sq_log_stride);
}

void *rig_rq_entry(struct rig_qp *qp, uint32_t idx)
{
	return qp->rq + ((idx & ((1U << qp->log_size) - 1)) << qp->rq_log_stride);
}

void rig_put_send(struct rig_qp *qp, const struct rig_wr *wr)
{
	struct ohca_sq_wqe *wqe = rig_sq_entry(qp, qp->sq_pi++);
	uint8_t *data = (uint8_t *)wqe + OHCA_SQ_WQE_HDR;

	memset(wqe, 0, sizeof(*wqe));
	wqe->opcode = wr->opcode;
	wqe->flags = wr->flags;
	wqe->imm_data = htobe32(wr->imm);
	wqe->wr_id = htole64(wr->wr_id);
	if (wr->av) {
		wqe->flags |= OHCA_WQE_EXT;
		wqe->ud.dest_qpn = htole32(wr->dest_qpn);
		wqe->ud.qkey = htole32(wr->qkey);
		memcpy(data, wr->av, sizeof(*wr->av));
		data += OHCA_SQ_WQE_EXT;
	} else {
		wqe->rdma.raddr = htole64(wr->raddr);
		wqe->rdma.rkey = htole32(wr->rkey);
		wqe->rdma.srqn = htole32(wr->srqn);
	}
	if (wr->opcode == OHCA_OP_SEND_INV || wr->opcode == OHCA_OP_LOCAL_INV)
		wqe->inv_key = htole32(wr->inv_key);
	if (wr->fields)
		memcpy(wqe->rsvd, wr->fields->rsvd, sizeof(wqe->rsvd));
	if (wr->ext) {
		wqe->flags |= OHCA_WQE_EXT;
		memcpy(data, wr->ext, OHCA_SQ_WQE_EXT);
		data += OHCA_SQ_WQE_EXT;
	}
	if (wr->inl) {
		wqe->flags |= OHCA_WQE_INLINE;
		wqe->num_sge = htole16(wr->inl_len);
		memcpy(data, wr->inl, wr->inl_len);
	} else {
		wqe->num_sge = htole16(wr->num_sge);
		if (wr->num_sge)
			memcpy(data, wr->sge, wr->num_sge * sizeof(*wr->sge));
	}
}

void rig_ring(struct rig_qp *qp)
{
	__atomic_store_n(&qp->sq_rec->pi, htole32(qp->sq_pi), __ATOMIC_RELEASE);
	drv_ring(qp->hca->drv, 0, qp->hca->drv->shadow, qp->slot);
}

struct rig_wr rig_datagram(const struct rig_qp *to, const struct ohca_av *av,
			   const struct ohca_sge *sge)
{
	struct rig_wr wr = {
		.wr_id = 77,
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = sge,
		.av = av,
		.dest_qpn = to->qpn,
		.qkey = RIG_QKEY,
	};

	return wr;
}

struct rig_wr rig_write(const struct ohca_sge *sge, uint64_t raddr, uint32_t rkey)
{
	return (struct rig_wr){
		.wr_id = 77,
		.opcode = OHCA_OP_RDMA_WRITE,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = sge,
		.raddr = raddr,
		.rkey = rkey,
	};
}

void rig_post_send(struct rig_qp *qp, const struct rig_wr *wr)
{
	rig_put_send(qp, wr);
	rig_ring(qp);
}

void rig_post_recv(struct rig_qp *qp, uint64_t wr_id, const struct ohca_sge *sge, uint16_t num_sge)
{
	struct ohca_rq_wqe *wqe = rig_rq_entry(qp, qp->rq_pi++);

	wqe->wr_id = htole64(wr_id);
	wqe->num_sge = htole32(num_sge);
	wqe->rsvd = 0;
	if (num_sge)
		memcpy(wqe->sge, sge, num_sge * sizeof(*sge));
	__atomic_store_n(&qp->rq_rec->pi, htole32(qp->rq_pi), __ATOMIC_RELEASE);
}

struct ohca_sge rig_sge(const struct rig_mr *mr, uint64_t addr, uint32_t len)
{
	struct ohca_sge sge = {
		.addr = htole64(addr),
		.length = htole32(len),
		.lkey = htole32(mr->key),
	};

	return sge;
}

struct ohca_cqe rig_wait_send(struct rig_qp *qp)
{
	return drv_cq_wait(qp->scq);
}

struct ohca_cqe rig_wait_recv(struct rig_qp *qp)
{
	return drv_cq_wait(qp->rcq);
}

void rig_wait_event(struct rig_hca *hca, enum ohca_event type, uint32_t id)
{
	struct ohca_eqe eqe;

	do
		eqe = drv_eq_wait(hca->async);
	while (eqe.type != type || le32toh(eqe.id) != id);
}
