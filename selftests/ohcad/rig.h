/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One or more HCAs of one device with active ports, and all objects needed for messages between
 * their QPs: a scripted libohca.  The ports are RoCE ports, or with OHCAD_LINK=ib InfiniBand ports.
 * An error that only a broken test or device can cause ends the program with a message.  All
 * objects exist until rig_close().
 */

#ifndef SELFTESTS_OHCAD_RIG_H
#define SELFTESTS_OHCAD_RIG_H

#include "drv.h"
#include "server.h"

#define RIG_PSN 0xfffff0 /* wraps soon */
#define RIG_QKEY 0x11111111
#define RIG_GSI_QKEY 0x80010000

/**
 * struct rig_hca - an HCA with an active port
 * @gid: entry 0 of the GID table
 * @lid: of an InfiniBand port
 * @async: EQ of asynchronous events
 * @comp: EQ of completion events
 */
struct rig_hca {
	struct drv *drv;
	uint8_t gid[16];
	uint8_t mac[6];
	uint16_t lid;
	uint32_t pdn;
	struct drv_eq *async, *comp;
	unsigned int next_slot;
};

/**
 * struct rig - all of them
 * @first: number of the server's HCA that is the first one here
 * @infiniband: their ports are InfiniBand
 */
struct rig {
	struct rig_hca hca[SERVER_MAX_HCAS];
	unsigned int num;
	unsigned int first;
	bool infiniband;
};

/* A path to @to's port, from HCAs of the same link layer */
struct ohca_av rig_av(const struct rig_hca *to);

struct rig *rig_open(const struct server *server);
/* The HCAs from @first on only; @infiniband: which of them must be the first ones with InfiniBand ports */
struct rig *rig_open_some(const struct server *server, unsigned int first, unsigned int num,
			  bool infiniband);
/*
 * The same, but InfiniBand ports are not configured.  When HCA number i of the rig, from 0, has the LID i + 1 and its port is
 * active, rig_take_lids() is called.
 */
struct rig *rig_open_bare(const struct server *server, unsigned int first, unsigned int num,
			  bool infiniband);
void rig_take_lids(struct rig *rig);
void rig_close(struct rig *rig);
/* Reset all HCAs: they are as after rig_open(), without any objects created since. */
void rig_renew(struct rig *rig);
/* The same of one of them; if it has an InfiniBand port, rig_set_up_subnet() is to follow */
void rig_renew_hca(struct rig *rig, unsigned int i);
/* Give the InfiniBand ports of all HCAs LIDs, and make them active; those that are active stay as they are. */
void rig_set_up_subnet(struct rig *rig);

/**
 * struct rig_mr - a memory region of scattered pages
 * @key: lkey and rkey
 * @iova: of byte 0
 * @pages: DMA address of each page
 * @xlt: the translation of the pages for the device
 */
struct rig_mr {
	struct rig_hca *hca;
	uint32_t key;
	uint64_t iova;
	uint64_t length;
	uint64_t *pages;
	uint64_t num_pages;
	struct ohca_xlt xlt;
};

#define RIG_ALL_ACCESS \
	(OHCA_ACCESS_LOCAL_WRITE | OHCA_ACCESS_REMOTE_WRITE | OHCA_ACCESS_REMOTE_READ)

/*
 * A region of @length bytes whose pages are in shuffled order in memory; @distinct: number of
 * different pages, which repeat, 0: all.
 */
struct rig_mr *rig_mr_new(struct rig_hca *hca, uint64_t iova, uint64_t length, uint8_t access,
			  uint64_t distinct);
int rig_mr_destroy(struct rig_mr *mr);
void rig_mr_set(struct rig_mr *mr, uint64_t iova, const void *buf, uint64_t len);
void rig_mr_get(struct rig_mr *mr, uint64_t iova, void *buf, uint64_t len);
/* Fill with bytes that depend on @seed and the distance to @iova; compare with them. */
void rig_mr_fill(struct rig_mr *mr, uint64_t iova, uint64_t len, uint32_t seed);
bool rig_mr_is(struct rig_mr *mr, uint64_t iova, uint64_t len, uint32_t seed);

/**
 * struct rig_qp_opts - geometry; zero is the default
 */
struct rig_qp_opts {
	uint8_t type; /* OHCA_QPT_RC */
	bool smi; /* the type is OHCA_QPT_SMI */
	uint8_t flags;
	uint8_t log_size; /* 6 */
	uint8_t cq_log_size; /* 8 */
	struct drv_cq *cq; /* two of its own */
	uint16_t max_sge; /* 4 */
	uint16_t max_inline; /* 0 */
	uint32_t pdn; /* the HCA's */
	bool ext; /* room for struct ohca_wqe_ext */
	uint32_t srqn; /* none */
	bool tags; /* the SRQ is of type OHCA_SRQ_TM */
	uint32_t xrcdn; /* OHCA_QPT_XRC_TGT */
	uint8_t port; /* 1 */
};

/**
 * struct rig_qp - a queue pair
 * @attr: attributes of the next transitions by rig_connect(); the caller may change them before
 */
struct rig_qp {
	struct rig_hca *hca;
	uint32_t qpn;
	uint8_t type;
	unsigned int slot;
	uint8_t log_size, sq_log_stride, rq_log_stride;
	uint16_t max_sge;
	uint8_t *sq, *rq;
	struct ohca_wq_rec *sq_rec, *rq_rec;
	uint32_t sq_pi, rq_pi;
	struct drv_cq *scq, *rcq;
	struct ohca_qp_attr attr;
};

/*
 * The input of the command, for tests that make it invalid; @qp is filled in except for its number.
 */
struct ohca_create_qp_in rig_qp_in(struct rig_hca *hca, const struct rig_qp_opts *opts,
				   struct rig_qp *qp);
struct rig_qp *rig_qp_new(struct rig_hca *hca, const struct rig_qp_opts *opts);
int rig_qp_destroy(struct rig_qp *qp);

/* The attributes that a QP of the type needs on the way to INIT, RTR or RTS. */
uint32_t rig_required(uint8_t type, enum ohca_qp_state to);
/* Modify with the attributes of qp->attr that @mask names; returns the command's status. */
int rig_modify(struct rig_qp *qp, enum ohca_qp_state state, uint32_t mask);
struct ohca_qp_attr rig_query(struct rig_qp *qp);
int rig_to_init(struct rig_qp *qp);
int rig_to_rtr(struct rig_qp *qp);
int rig_to_rts(struct rig_qp *qp);
/* To RESET: indices begin at 0. */
void rig_to_reset(struct rig_qp *qp);
/* Set each one as the other one's destination in qp->attr. */
void rig_address(struct rig_qp *a, struct rig_qp *b);
/* Both to RTS. */
void rig_connect(struct rig_qp *a, struct rig_qp *b);

/**
 * struct rig_wr - a work request
 * @inl: inline data of @inl_len bytes, if not NULL
 * @inv_key: OHCA_OP_SEND_INV, OHCA_OP_LOCAL_INV
 * @fields: if not NULL, the fields of the operation, in place of @raddr and @rkey
 * @ext: if not NULL, the extension (struct rig_qp_opts.ext)
 */
struct rig_wr {
	uint64_t wr_id;
	uint8_t opcode;
	uint8_t flags;
	uint16_t num_sge;
	const struct ohca_sge *sge;
	const void *inl;
	uint16_t inl_len;
	uint32_t imm;
	uint32_t inv_key;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t srqn; /* OHCA_QPT_XRC_INI */
	const struct ohca_av *av; /* of a datagram */
	uint32_t dest_qpn, qkey;
	const struct ohca_sq_wqe *fields;
	const struct ohca_wqe_ext *ext;
};

/* WQEs, for tests that write random bytes. */
void *rig_sq_entry(struct rig_qp *qp, uint32_t idx);
void *rig_rq_entry(struct rig_qp *qp, uint32_t idx);

/* A signaled SEND of a datagram of one element to a QP with RIG_QKEY; the work request ID is 77 */
struct rig_wr rig_datagram(const struct rig_qp *to, const struct ohca_av *av,
			   const struct ohca_sge *sge);
/* A signaled RDMA WRITE of one element; the work request ID is 77. */
struct rig_wr rig_write(const struct ohca_sge *sge, uint64_t raddr, uint32_t rkey);

/* Write a WQE; rig_ring() then passes all of them to the device. */
void rig_put_send(struct rig_qp *qp, const struct rig_wr *wr);
void rig_ring(struct rig_qp *qp);
void rig_post_send(struct rig_qp *qp, const struct rig_wr *wr);
void rig_post_recv(struct rig_qp *qp, uint64_t wr_id, const struct ohca_sge *sge, uint16_t num_sge);

struct ohca_sge rig_sge(const struct rig_mr *mr, uint64_t addr, uint32_t len);

/* Wait for a completion of the send or receive queue. */
struct ohca_cqe rig_wait_send(struct rig_qp *qp);
struct ohca_cqe rig_wait_recv(struct rig_qp *qp);
/* Wait for an asynchronous event of @type for @id; other events are skipped. */
void rig_wait_event(struct rig_hca *hca, enum ohca_event type, uint32_t id);

#endif
