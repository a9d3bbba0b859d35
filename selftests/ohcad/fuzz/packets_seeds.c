// SPDX-License-Identifier: GPL-2.0
/*
 * Initial inputs of the target "packets": the packets between two HCAs with the same scene, whose
 * fabrics are connected.  One HCA is that of the target: its events are recorded.
 */

#include <endian.h>

#include "fabric/fabric.h"
#include "inproc.h"
#include "packets_input.h"
#include "rig_odp.h"
#include "packet/roce.h"
#include "scene.h"
#include "target.h"
#include "uplink_end.h"
#include "world.h"

#define MAX_FRAMES 512
#define SHORT 24U
#define LONG 2600U /* three packets of the usual MTU */

/**
 * struct sent - a frame that was sent and not received yet
 */
struct sent {
	struct uplink *to;
	size_t len;
	uint8_t *bytes;
};

static struct server *server;
static struct rig *rig;
static struct scene scenes[2]; /* the first one is the target's */
static struct sent sent[MAX_FRAMES];
static unsigned int num_sent;
static struct seed seed;

static struct uplink *uplink_of(unsigned int side)
{
	return list_entry(inproc_fabric(side)->uplinks->list.next, struct uplink, link);
}

static void keep(struct uplink *from, const uint8_t *frame, size_t len)
{
	struct sent *s = &sent[num_sent++];

	s->to = uplink_of(from == uplink_of(0));
	s->len = len;
	s->bytes = malloc(len);
	if (!s->bytes || num_sent == MAX_FRAMES)
		abort();
	memcpy(s->bytes, frame, len);
}

static void record(const struct packets_record *rec)
{
	seed_put(&seed, rec, sizeof(*rec));
}

/* The kind of the destination QP of the packet */
static bool find_qp(const struct roce_packet *p, uint8_t *kind)
{
	unsigned int i;

	for (i = 0; i < SCENE_NUM_QPS; i++) {
		if (scenes[0].qp[i]->qpn != p->bth.dest_qpn)
			continue;
		*kind = i;
		return true;
	}
	return false;
}

static void record_frame(const uint8_t *frame, size_t len)
{
	struct packets_record rec = {.kind = PACKETS_FRAME, .len = htole16(len)};
	struct roce_packet p;

	if (roce_peek(&p, frame, len) == PACKET_GOOD && roce_decode(&p) == PACKET_GOOD &&
	    find_qp(&p, &rec.qp)) {
		const struct qp *qp = inproc_qp(scenes[0].qp[rec.qp]);
		int32_t psn = 0;

		rec.kind |= PACKETS_TO_QP;
		if (qp_is(qp, QPT_CONNECTED))
			psn = psn_diff(p.bth.pkt.psn, pkt_is_response(p.bth.pkt.op)
							      ? rc_req(qp)->una
							      : rc_resp(qp)->epsn);
		if (psn >= -128 && psn < 128 && p.bth.service != BTH_UD) {
			rec.kind |= PACKETS_IN_ORDER;
			rec.psn = psn;
		}
	}
	record(&rec);
	seed_put(&seed, frame, len);
}

/* Deliver the frames of the last round. */
static void deliver(void)
{
	unsigned int num = num_sent, i;

	for (i = 0; i < num; i++) {
		struct sent *s = &sent[i];

		if (s->to == uplink_of(0))
			record_frame(s->bytes, s->len);
		uplink_receive(s->to, s->bytes, s->len);
		free(s->bytes);
	}
	memmove(sent, sent + num, (num_sent - num) * sizeof(*sent));
	num_sent -= num;
}

static void start(void)
{
	setenv("OHCAD_WIRE", "stream", 1);
	server = server_start(2);
	rig = rig_open(server);
	unsetenv("OHCAD_WIRE");
	uplink_end = keep;
	inproc_hook = deliver;
}

static void stop(void)
{
	uplink_end = NULL;
	inproc_hook = NULL;
	rig_close(rig);
	server_stop(server);
}

static void begin(void)
{
	world_begin();
	inproc_renew(rig);
	scene_new(&scenes[0], &rig->hca[0], 1);
	scene_new(&scenes[1], &rig->hca[1], 0);
	inproc_settle();
	seed.len = 0;
}

static void end(void (*emit)(const char *name, const struct seed *seed), const char *name)
{
	inproc_settle();
	if (seed.len)
		emit(name, &seed);
}

/* A send of @side; a send of the target is recorded. */
static void post(unsigned int side, unsigned int kind, uint8_t opcode, uint32_t len)
{
	const struct packets_record rec = {
		.kind = PACKETS_SEND, .qp = kind, .psn = opcode, .len = htole16(len)};

	if (!side)
		record(&rec);
	scene_send(&scenes[side], kind, opcode, len);
	inproc_settle();
	scene_drain(&scenes[0]);
	scene_drain(&scenes[1]);
}

/* Map the pages of the target's region that are missing. */
static void map_pages(void)
{
	const struct packets_record rec = {.kind = PACKETS_PAGES, .more = 255};

	record(&rec);
}

static bool has_op(unsigned int kind, uint8_t opcode)
{
	switch (kind) {
	case SCENE_UD:
	case SCENE_GSI:
		return opcode == OHCA_OP_SEND || opcode == OHCA_OP_SEND_IMM;
	case SCENE_ETH:
	case SCENE_RAW:
		return opcode == OHCA_OP_SEND;
	case SCENE_UC:
		return opcode <= OHCA_OP_RDMA_WRITE_IMM && opcode != OHCA_OP_SEND_INV;
	case SCENE_XRC_TGT:
	case SCENE_TM:
		return false;
	default:
		return opcode <= OHCA_OP_FLUSH && opcode != OHCA_OP_MASKED_CMP_SWAP &&
		       opcode != OHCA_OP_MASKED_FETCH_ADD;
	}
}

static bool is_eight(uint8_t opcode)
{
	return opcode >= OHCA_OP_CMP_SWAP && opcode <= OHCA_OP_ATOMIC_WRITE;
}

static void one_op(unsigned int side, unsigned int kind, uint8_t opcode,
		   void (*emit)(const char *name, const struct seed *seed))
{
	bool frames = kind == SCENE_UD || kind == SCENE_GSI || kind == SCENE_ETH ||
		      kind == SCENE_RAW;
	char name[64];

	begin();
	post(side, kind, opcode, is_eight(opcode) ? 8 : SHORT);
	if (!frames && !is_eight(opcode))
		post(side, kind, opcode, LONG);
	if (kind == SCENE_RC_ODP) {
		rig_odp_map(scenes[0].odp, 0, scenes[0].odp->num_pages, true);
		rig_odp_map(scenes[1].odp, 0, scenes[1].odp->num_pages, true);
		map_pages();
		inproc_settle();
	}
	snprintf(name, sizeof(name), "%s-qp%u-op%u", side ? "in" : "out", kind, opcode);
	end(emit, name);
}

/* A message with a tag, and a rendezvous; they match tags of the target. */
static void tags(uint8_t opcode, void (*emit)(const char *name, const struct seed *seed))
{
	struct ohca_tmh tmh = {.opcode = opcode, .tag = htobe64(SCENE_TAG)};
	struct ohca_rvh rvh;

	begin();
	rvh.va = htobe64(SCENE_IOVA);
	rvh.rkey = htobe32(scenes[1].mr->key);
	rvh.len = htobe32(LONG);
	rig_mr_set(scenes[1].mr, SCENE_IOVA, &tmh, sizeof(tmh));
	rig_mr_set(scenes[1].mr, SCENE_IOVA + sizeof(tmh), &rvh, sizeof(rvh));
	post(1, SCENE_TM_PEER, OHCA_OP_SEND, sizeof(tmh) + sizeof(rvh));
	end(emit, opcode == OHCA_TMH_RNDV ? "tag-rndv" : "tag-eager");
}

void fuzz_seeds(void (*emit)(const char *name, const struct seed *seed))
{
	unsigned int side, kind, opcode;

	start();
	for (side = 0; side < 2; side++) {
		for (kind = 0; kind < SCENE_NUM_QPS; kind++) {
			for (opcode = OHCA_OP_SEND; opcode <= OHCA_OP_FLUSH; opcode++) {
				if (has_op(kind, opcode))
					one_op(side, kind, opcode, emit);
			}
		}
	}
	tags(OHCA_TMH_EAGER, emit);
	tags(OHCA_TMH_RNDV, emit);
	stop();
}
