// SPDX-License-Identifier: GPL-2.0
/*
 * Members of partitions on InfiniBand: of each partition below, each of two ports is a full
 * member, a limited one or none.  By each transport service, by multicast and by management
 * datagrams, in both directions, packets arrive if both are members and one of them is a full
 * one.  Otherwise they
 * are refused, and the port that gets them counts it; a switch that enforces partitions stops
 * those of a partition that the port behind it is not in.
 *
 * usage: partitions -2 FILE
 * FILE has a line "P_KEY MLID" for the broadcast group of each partition.  OHCA_IBDEV is the
 * adapter, and OHCA_HCA its name in ohcad.
 */

#include <endian.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umad_agent.h"
#include "verbs_util.h"

#define GRH 40
#define LEN 256
#define QKEY 0xb1b /* of IPoIB, which is in the groups too */
#define WR 7
#define MAD_QKEY 0x80010000
#define MAD_TIMEOUT 1000 /* ms, of requests that are refused */

/* All ports are limited members of this one.  A port that is in no other one sends by it. */
#define PKEY_COMMON 0x7fff
#define PKEY_FULL 0x8000

enum kind {
	FULL,
	LIMITED,
	NONE
};

/**
 * struct pair - the members of a partition
 * @key: its P_Key, without the bit of full members
 * @kind: of either side's port
 */
struct pair {
	const char *name;
	uint16_t key;
	enum kind kind[2];
};

enum service {
	RC,
	UC,
	UD,
	XRC,
	MCAST
};

/**
 * struct part_case - packets in both directions
 * @forged: side 1 is no member, and sends by the P_Key of the partition all the same
 */
struct part_case {
	const struct pair *pair;
	enum service service;
	bool forged;
};

static struct vu_dev dev;
static struct sess sess;
static struct ibv_mr *mr;
static uint8_t *out, *in;
static const char *groups_file;

/* The sending QP, and the receiving one, which may be the same; the other side's */
static struct ibv_cq *scq, *rcq;
static struct ibv_qp *sqp, *rqp;
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static struct ibv_ah *ah;

/**
 * struct ends - one side
 * @sqpn, @rqpn: the QP that sends, and the one that receives
 * @srqn: XRC: the SRQ
 */
struct ends {
	uint32_t sqpn, rqpn, srqn;
	uint16_t lid;
};

static struct ends mine, theirs;

static bool is_connected(enum service service)
{
	return service == RC || service == XRC;
}

static bool is_datagram(enum service service)
{
	return service == UD || service == MCAST;
}

static void cleanup(void)
{
	if (ah)
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
	if (rqp && rqp != sqp)
		EXPECT_EQ(ibv_destroy_qp(rqp), 0);
	if (sqp)
		EXPECT_EQ(ibv_destroy_qp(sqp), 0);
	if (srq)
		EXPECT_EQ(ibv_destroy_srq(srq), 0);
	if (xrcd)
		EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
	if (scq)
		EXPECT_EQ(ibv_destroy_cq(scq), 0);
	if (rcq)
		EXPECT_EQ(ibv_destroy_cq(rcq), 0);
	ah = NULL;
	sqp = rqp = NULL;
	srq = NULL;
	xrcd = NULL;
	scq = rcq = NULL;
}

/* Members and keys */

static bool reaches(const struct pair *pair)
{
	return pair->kind[0] != NONE && pair->kind[1] != NONE &&
	       (pair->kind[0] == FULL || pair->kind[1] == FULL);
}

static int pkey_index(const struct pair *pair)
{
	enum kind kind = pair->kind[sess.side];
	uint16_t pkey = kind == NONE ? PKEY_COMMON : pair->key | (kind == FULL ? PKEY_FULL : 0);
	int index = ibv_get_pkey_index(dev.ctx, VU_PORT, htobe16(pkey));

	if (index < 0)
		tap_fail(__FILE__, __LINE__, "the port has no P_Key %#x", pkey);
	return index;
}

/* Of the packets that come to this side, how many its port refuses; the others do not get there. */
static unsigned int refused_here(const struct part_case *c)
{
	enum kind from = c->pair->kind[!sess.side], to = c->pair->kind[sess.side];

	if (reaches(c->pair) || (from != NONE && to == NONE) || (c->forged && !sess.side))
		return 0;
	/* opensm has no tree for a group of one member.  The other QP of the group is IPoIB's. */
	if (c->service == MCAST)
		return from == NONE ? 0 : 2;
	return is_connected(c->service) ? 2 : 1; /* once more */
}

static unsigned int violations(void)
{
	struct ibv_port_attr port = {0};

	EXPECT_EQ(ibv_query_port(dev.ctx, VU_PORT, &port), 0);
	return port.bad_pkey_cntr;
}

/* Queue pairs */

static struct ibv_qp *create_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type,
		.send_cq = scq,
		.recv_cq = rcq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = dev.pd,
	};
	struct ibv_qp *qp;

	if (type == IBV_QPT_XRC_RECV) {
		init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init.xrcd = xrcd;
	}
	qp = ibv_create_qp_ex(dev.ctx, &init);
	EXPECT(qp);
	return qp;
}

static bool create_srq(void)
{
	xrcd = vu_open_xrcd(&dev);
	srq = xrcd ? vu_create_xrc_srq(&dev, xrcd, rcq) : NULL;
	return EXPECT(srq) && EXPECT_EQ(ibv_get_srq_num(srq, &mine.srqn), 0);
}

static bool create(enum service service)
{
	static const enum ibv_qp_type types[] = {[RC] = IBV_QPT_RC,
						 [UC] = IBV_QPT_UC,
						 [UD] = IBV_QPT_UD,
						 [XRC] = IBV_QPT_XRC_SEND,
						 [MCAST] = IBV_QPT_UD};

	scq = ibv_create_cq(dev.ctx, 4, NULL, NULL, 0);
	rcq = ibv_create_cq(dev.ctx, 4, NULL, NULL, 0);
	if (!EXPECT(scq) || !EXPECT(rcq) || (service == XRC && !create_srq()))
		return false;
	sqp = create_qp(types[service]);
	/* Multicast is not looped back to the QP that sends. */
	rqp = service == XRC ? create_qp(IBV_QPT_XRC_RECV) : sqp;
	if (!sqp || !rqp)
		return false;
	mine.sqpn = sqp->qp_num;
	mine.rqpn = rqp->qp_num;
	mine.lid = dev.port.lid;
	return sess_xchg(&sess, &mine, &theirs, sizeof(mine));
}

/* To RTS, by that entry of the port's table; @sends, @receives: the QP has a queue for that. */
static bool connect_qp(struct ibv_qp *qp, enum service service, int index, uint32_t dest,
		       bool sends, bool receives)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = index,
		.port_num = VU_PORT,
		.qkey = QKEY,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.ah_attr = {.dlid = theirs.lid, .port_num = VU_PORT},
		.timeout = 14, /* 67 ms */
		.retry_cnt = 1,
		.min_rnr_timer = 1,
	};
	int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	int rtr = IBV_QP_STATE, rts = IBV_QP_STATE | IBV_QP_SQ_PSN;

	init |= is_datagram(service) ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	if (!is_datagram(service))
		rtr |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (is_connected(service) && receives)
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (is_connected(service) && sends)
		rts |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC;
	if (!EXPECT_EQ(ibv_modify_qp(qp, &attr, init), 0))
		return false;
	attr.qp_state = IBV_QPS_RTR;
	if (!EXPECT_EQ(ibv_modify_qp(qp, &attr, rtr), 0))
		return false;
	attr.qp_state = IBV_QPS_RTS;
	return !sends || EXPECT_EQ(ibv_modify_qp(qp, &attr, rts), 0);
}

static bool connect_qps(enum service service, int index)
{
	if (service != XRC)
		return connect_qp(sqp, service, index, theirs.rqpn, true, true);
	return connect_qp(rqp, service, index, theirs.sqpn, false, true) &&
	       connect_qp(sqp, service, index, theirs.rqpn, true, false);
}

/* Messages */

static bool post_recv(void)
{
	struct ibv_sge sge = {.addr = (uintptr_t)in, .length = GRH + LEN, .lkey = mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = WR, .sg_list = &sge, .num_sge = 1};

	return EXPECT_EQ(srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(rqp, &wr, &bad),
			 0);
}

/* @status is what a connected service completes with; the others notice nothing. */
static bool send_message(enum service service, enum ibv_wc_status status)
{
	struct ibv_sge sge = {.addr = (uintptr_t)out, .length = LEN, .lkey = mr->lkey};
	struct ibv_send_wr *bad, wr = {
					 .wr_id = WR,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
				 };
	struct ibv_wc wc;

	if (is_datagram(service)) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = service == MCAST ? 0xffffff : theirs.rqpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	if (service == XRC)
		wr.qp_type.xrc.remote_srqn = theirs.srqn;
	vu_fill(out, LEN, sess.test * 2 + sess.side);
	return EXPECT_EQ(ibv_post_send(sqp, &wr, &bad), 0) &&
	       vu_wait_wc(scq, &wc, WR, is_connected(service) ? status : IBV_WC_SUCCESS);
}

/* What has come, or that nothing has.  A QP whose message was refused has flushed receives. */
static void received(const struct part_case *c)
{
	unsigned int grh = is_datagram(c->service) ? GRH : 0;
	struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR};

	if (!reaches(c->pair)) {
		EXPECT_EQ(ibv_poll_cq(rcq, 1, &wc), c->service == RC ? 1 : 0);
		EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	} else if (vu_wait_wc(rcq, &wc, WR, IBV_WC_SUCCESS)) {
		EXPECT_EQ(wc.byte_len, grh + LEN);
		EXPECT_EQ(vu_check(in + grh, LEN, sess.test * 2 + !sess.side), -1);
	}
}

static bool forge(const struct pair *pair)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd),
		 "ohca-host ohcactl fault add pkey=%#x,qp=%u,hca=%s,count=1 > /dev/null",
		 pair->key | PKEY_FULL, sqp->qp_num, getenv("OHCA_HCA"));
	return EXPECT_EQ(system(cmd), 0);
}

static void test_unicast(const struct part_case *c)
{
	enum ibv_wc_status status = reaches(c->pair) ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR;
	int index = pkey_index(c->pair);
	unsigned int before;

	if (index < 0 || !create(c->service))
		return;
	if (c->service == UD) {
		struct ibv_ah_attr attr = {.dlid = theirs.lid, .port_num = VU_PORT};

		ah = ibv_create_ah(dev.pd, &attr);
		if (!EXPECT(ah))
			return;
	}
	if (!connect_qps(c->service, index) || !post_recv() ||
	    (c->forged && sess.side && !forge(c->pair)))
		return;
	before = violations();
	if (!sess_sync(&sess) || !send_message(c->service, status) || !sess_sync(&sess))
		return;
	received(c);
	EXPECT_EQ(violations() - before, refused_here(c));
}

/* Multicast */

/* The broadcast group of IPoIB in that partition */
static union ibv_gid mgid_of(const struct pair *pair)
{
	uint16_t pkey = pair->key | PKEY_FULL;
	union ibv_gid mgid = {.raw = {0xff, 0x12, 0x40, 0x1b, pkey >> 8, pkey & 0xff, [12] = 0xff,
				      0xff, 0xff, 0xff}};

	return mgid;
}

static uint16_t mlid_of(const struct pair *pair)
{
	FILE *file = fopen(groups_file, "r");
	unsigned int key, mlid, found = 0;

	while (file && fscanf(file, "%x %x", &key, &mlid) == 2) {
		if ((key & ~PKEY_FULL) == pair->key)
			found = mlid;
	}
	if (file)
		fclose(file);
	if (!found)
		tap_fail(__FILE__, __LINE__, "no MLID of P_Key %#x in %s", pair->key, groups_file);
	return found;
}

/* A side that is not in the partition is not in the group, either. */
static void send_to_group(const struct part_case *c, int from)
{
	union ibv_gid mgid = mgid_of(c->pair);
	uint16_t mlid = mlid_of(c->pair);
	bool joins = sess.side != from && c->pair->kind[sess.side] != NONE;
	unsigned int before = violations();

	if (joins && (!post_recv() || !EXPECT_EQ(ibv_attach_mcast(rqp, &mgid, mlid), 0)))
		return;
	if (!sess_sync(&sess) || (sess.side == from && !send_message(MCAST, IBV_WC_SUCCESS)) ||
	    !sess_sync(&sess))
		return;
	if (!joins)
		return;
	received(c);
	EXPECT_EQ(violations() - before, refused_here(c));
	EXPECT_EQ(ibv_detach_mcast(rqp, &mgid, mlid), 0);
}

static void test_mcast(const struct part_case *c)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .dlid = mlid_of(c->pair), .port_num = VU_PORT, .grh.hop_limit = 1};
	int index = pkey_index(c->pair);

	attr.grh.dgid = mgid_of(c->pair);
	if (index < 0 || !attr.dlid || !create(MCAST))
		return;
	ah = ibv_create_ah(dev.pd, &attr);
	if (!EXPECT(ah) || !connect_qps(MCAST, index))
		return;
	send_to_group(c, 0);
	send_to_group(c, 1);
}

static void test_case(const void *arg)
{
	const struct part_case *c = arg;

	if (c->service == MCAST)
		test_mcast(c);
	else
		test_unicast(c);
}

static const struct pair pairs[] = {
	{"full and full", 0x11, {FULL, FULL}},
	{"full and limited", 0x12, {FULL, LIMITED}},
	{"full and none", 0x13, {FULL, NONE}},
	{"limited and full", 0x14, {LIMITED, FULL}},
	{"limited and limited", 0x15, {LIMITED, LIMITED}},
	{"limited and none", 0x16, {LIMITED, NONE}},
	{"none and full", 0x17, {NONE, FULL}},
	{"none and limited", 0x18, {NONE, LIMITED}},
	{"none and none", 0, {NONE, NONE}},
};

#define NUM_PAIRS ARRAY_SIZE(pairs)
#define PAIR_OF_SIDE_0 2

/*
 * Management datagrams: a request to the performance management agent behind the other side's
 * QP 1, by the P_Key of each partition.  Those that are refused get no answer.
 */

static bool send_mad(const struct agent *agent, unsigned int pair)
{
	struct umad_hdr *mad = umad_get_mad(agent->umad);
	int index = pkey_index(&pairs[pair]);

	if (index < 0)
		return false;
	memset(agent->umad, 0, umad_size() + sizeof(struct umad_packet));
	mad->base_version = 1;
	mad->mgmt_class = UMAD_CLASS_PERF_MGMT;
	mad->class_version = 1;
	mad->method = UMAD_METHOD_GET;
	mad->tid = htobe64(pair);
	mad->attr_id = htobe16(UMAD_ATTR_CLASS_PORT_INFO);
	umad_set_addr(agent->umad, theirs.lid, 1, 0, MAD_QKEY);
	umad_set_pkey(agent->umad, index);
	return EXPECT_EQ(umad_send(agent->fd, agent->id, agent->umad, sizeof(struct umad_packet),
				   MAD_TIMEOUT, 0),
			 0);
}

/* An answer, or that there is none */
static bool next_answer(const struct agent *agent)
{
	const struct umad_hdr *mad = umad_get_mad(agent->umad);
	int len = sizeof(struct umad_packet);
	unsigned int pair;

	if (!EXPECT(umad_recv(agent->fd, agent->umad, &len, vu_timeout_ms()) >= 0))
		return false;
	pair = (uint32_t)be64toh(mad->tid);
	if (!EXPECT(pair < NUM_PAIRS))
		return false;
	if (umad_status(agent->umad) != (reaches(&pairs[pair]) ? 0 : ETIMEDOUT))
		tap_fail(__FILE__, __LINE__, "%s: status %d", pairs[pair].name,
			 umad_status(agent->umad));
	return true;
}

static void test_mads(const void *arg)
{
	unsigned int i, before = violations(), refused = 0;
	struct agent agent;

	(void)arg;
	mine.lid = dev.port.lid;
	if (!EXPECT(agent_open(&agent, UMAD_CLASS_PERF_MGMT)) ||
	    !sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return;
	for (i = 0; i < NUM_PAIRS; i++) {
		struct part_case c = {&pairs[i], UD, false};

		refused += refused_here(&c);
		if (!send_mad(&agent, i))
			return;
	}
	for (i = 0; i < NUM_PAIRS; i++) {
		if (!next_answer(&agent))
			return;
	}
	if (sess_sync(&sess))
		EXPECT_EQ(violations() - before, refused);
	umad_close_port(agent.fd);
}

int main(int argc, char **argv)
{
	static const char *const services[] = {"RC", "UC", "UD", "XRC", "multicast"};
	static struct part_case cases[NUM_PAIRS * ARRAY_SIZE(services)];
	static struct tap_test tests[ARRAY_SIZE(cases) + 1];
	static char names[ARRAY_SIZE(cases)][40];
	unsigned int i, num;

	for (num = 0; num < ARRAY_SIZE(cases); num++) {
		cases[num].pair = &pairs[num / ARRAY_SIZE(services)];
		cases[num].service = num % ARRAY_SIZE(services);
	}
	/* Without a member there is no group. */
	num--;
	cases[num] = (struct part_case){&pairs[PAIR_OF_SIDE_0], UD, true};
	for (i = 0; i <= num; i++) {
		snprintf(names[i], sizeof(names[i]), "%s: %s%s", cases[i].pair->name,
			 services[cases[i].service], cases[i].forged ? " with a forged P_Key" : "");
		tests[i] = (struct tap_test){names[i], test_case, &cases[i]};
	}
	tests[i] = (struct tap_test){"management datagrams in all of them", test_mads, NULL};
	if (argc != 3 || strcmp(argv[1], "-2"))
		tap_bail("usage: partitions -2 FILE");
	groups_file = argv[2];
	sess_start(&sess, true);
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, LEN + GRH + LEN);
	out = mr->addr;
	in = out + LEN;
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
