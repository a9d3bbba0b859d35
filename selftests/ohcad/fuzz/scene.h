/* SPDX-License-Identifier: GPL-2.0 */
/* An HCA with objects of all kinds, for packets, commands and work requests of fuzz targets. */

#ifndef SELFTESTS_OHCAD_FUZZ_SCENE_H
#define SELFTESTS_OHCAD_FUZZ_SCENE_H

#include "rig.h"
#include "rig_srq.h"

/* The QPs of a scene.  A QP whose peer is of another kind is next to that kind. */
enum scene_qp {
	SCENE_RC,
	SCENE_RC_SRQ, /* IPv6, MTU 4096, receives from an SRQ */
	SCENE_RC_ODP, /* all pages of its memory are missing at first */
	SCENE_UC,
	SCENE_UD,
	SCENE_GSI,
	SCENE_XRC_INI,
	SCENE_XRC_TGT,
	SCENE_TM, /* matches tags */
	SCENE_TM_PEER,
	SCENE_ETH, /* frames of the port */
	SCENE_RAW, /* frames of a flow */
	SCENE_NUM_QPS,
};

/* Its shared receive queues */
enum scene_srq {
	SCENE_SRQ,
	SCENE_SRQ_XRC,
	SCENE_SRQ_TM,
	SCENE_NUM_SRQS,
};

#define SCENE_IOVA 0x7f0000000100ULL
#define SCENE_LEN (64ULL << 10)
#define SCENE_RECV_LEN 8192U
#define SCENE_TAG 5 /* tag of two messages that SCENE_TM waits for */

/**
 * struct scene - the objects
 * @mr: a region with all pages and all rights
 * @odp: a region of the same pages, with on-demand paging
 * @window: of type 2B, bound to a part of @mr and to SCENE_RC
 * @fast: of type OHCA_MKEY_FAST_REG, without pages
 * @ops: queue of tag operations
 * @cq: of all of its queues
 * @next_recv: number of the next receive
 */
struct scene {
	struct rig_hca *hca;
	struct rig_mr *mr, *odp;
	uint32_t window, fast;
	uint32_t xrcdn;
	struct rig_srq *srq[SCENE_NUM_SRQS];
	struct rig_qp *qp[SCENE_NUM_QPS], *ops;
	struct drv_cq *cq;
	uint32_t next_recv;
};

/* Create it on an unused HCA; its QPs are connected to those of @peer's scene. */
void scene_new(struct scene *scene, struct rig_hca *hca, unsigned int peer);

/* The kind of the peer's QP. */
unsigned int scene_mate(unsigned int kind);
/* The SRQ of the QP, or NULL. */
struct rig_srq *scene_srq_of(struct scene *scene, unsigned int kind);
/* Post a receive for the QP. */
void scene_recv(struct scene *scene, unsigned int kind, uint32_t len);
/* Post a send of @len bytes. */
void scene_send(struct scene *scene, unsigned int kind, uint8_t opcode, uint32_t len);
/* Reset the QP and connect it again. */
void scene_reconnect(struct scene *scene, unsigned int kind, unsigned int peer);
/* Take all completions. */
void scene_drain(struct scene *scene);

#endif
