// SPDX-License-Identifier: GPL-2.0
/*
 * The multicast example: both sides join a group by the connection manager, each one receives the
 * other one's messages, with the GRH before them, and they leave; after that, no messages arrive.
 * Two sides: of one machine, or with -2 of two machines.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sched.h>
#include <string.h>

#include "cm_util.h"

#define GRH 40
#define GRH_DST_END 36 /* offset of the destination's last four bytes, of IPv4 or a GID */
#define SLOT 4096
#define MESSAGES 8
#define PROBE 100
#define MAX_PROBES 1000
#define PROBE_MS 100
#define GROUP "239.77.1.1"
#define OTHER_GROUP "239.77.1.2"
#define QKEY_UDP 0x01234567

static struct sess sess;
static struct rdma_event_channel *ch;
static struct cm_end end;
static uint8_t *buf;
static struct ibv_mr *mr;

/**
 * struct member - membership of a group
 * @addr: of the group; not joined if it is 0
 * @dgid: its GID
 * @ah, @qpn, @qkey: to send to it
 */
static struct member {
	struct sockaddr_in addr;
	union ibv_gid dgid;
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
} members[2];

static bool leave(struct member *m)
{
	bool ok = true;

	if (m->ah)
		ok = EXPECT_EQ(ibv_destroy_ah(m->ah), 0);
	if (m->addr.sin_addr.s_addr)
		ok &= EXPECT_EQ(rdma_leave_multicast(end.id, (struct sockaddr *)&m->addr), 0);
	memset(m, 0, sizeof(*m));
	return ok;
}

static void cleanup(void)
{
	leave(&members[0]);
	leave(&members[1]);
	if (mr)
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	mr = NULL;
	cm_end_destroy(&end);
	if (ch)
		rdma_destroy_event_channel(ch);
	ch = NULL;
}

/* Create an identifier with a route to the groups, its datagram QP, and memory. */
static bool start(void)
{
	struct sockaddr_in mine, group = {.sin_family = AF_INET};

	cm_self(&mine, 0);
	inet_pton(AF_INET, GROUP, &group.sin_addr);
	ch = rdma_create_event_channel();
	if (!EXPECT(ch) || !EXPECT_EQ(rdma_create_id(ch, &end.id, NULL, RDMA_PS_UDP), 0) ||
	    !EXPECT_EQ(rdma_resolve_addr(end.id, (struct sockaddr *)&mine,
					 (struct sockaddr *)&group, CM_TIMEOUT_MS),
		       0) ||
	    !cm_expect(ch, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) || !cm_end_create(&end, false))
		return false;
	memset(buf, 0, MESSAGES * SLOT);
	mr = ibv_reg_mr(end.pd, buf, MESSAGES * SLOT, IBV_ACCESS_LOCAL_WRITE);
	return EXPECT(mr);
}

static bool join(struct member *m, const char *group)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	struct cm_event event;

	inet_pton(AF_INET, group, &addr.sin_addr);
	if (!EXPECT_EQ(rdma_join_multicast(end.id, (struct sockaddr *)&addr, m), 0))
		return false;
	m->addr = addr;
	if (!cm_expect(ch, RDMA_CM_EVENT_MULTICAST_JOIN, &event) || !EXPECT_EQ(event.ev.status, 0))
		return false;
	EXPECT(event.ev.param.ud.private_data == m);
	m->qpn = event.ev.param.ud.qp_num;
	m->qkey = event.ev.param.ud.qkey;
	EXPECT_EQ(m->qkey, QKEY_UDP);
	m->dgid = event.ev.param.ud.ah_attr.grh.dgid;
	m->ah = ibv_create_ah(end.pd, &event.ev.param.ud.ah_attr);
	return EXPECT(m->ah);
}

static bool send_to(const struct member *m, uint32_t len, uint64_t seed, uint32_t imm)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buf, .length = len, .lkey = mr->lkey};
	struct ibv_send_wr *bad,
		wr = {
			.wr_id = imm,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND_WITH_IMM,
			.send_flags = IBV_SEND_SIGNALED,
			.imm_data = htonl(imm),
			.wr.ud = {.ah = m->ah, .remote_qpn = m->qpn, .remote_qkey = m->qkey},
		};
	struct ibv_wc wc;

	vu_fill(buf, len, seed);
	return EXPECT_EQ(ibv_post_send(end.q.qp, &wr, &bad), 0) && cm_wait_comp(&end, &wc, imm) &&
	       EXPECT_EQ(wc.opcode, IBV_WC_SEND);
}

static bool post_receives(void)
{
	uint32_t i;

	for (i = 0; i < MESSAGES; i++)
		if (!EXPECT_EQ(vu_post_recv(&end.q, i, mr, buf + i * SLOT, SLOT), 0))
			return false;
	return true;
}

/* The receive request @wr_id has this message, sent to the group by the other side's QP. */
static bool receive(const struct member *m, uint64_t wr_id, uint32_t len, uint64_t seed,
		    uint32_t imm, uint32_t src_qp)
{
	const uint8_t *slot = buf + wr_id * SLOT;
	struct ibv_wc wc;

	return cm_wait_comp(&end, &wc, wr_id) && EXPECT_EQ(wc.opcode, IBV_WC_RECV) &&
	       EXPECT_EQ(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM) &&
	       EXPECT_EQ(wc.byte_len, GRH + len) && EXPECT_EQ(ntohl(wc.imm_data), imm) &&
	       EXPECT_EQ(wc.src_qp, src_qp) &&
	       EXPECT(!memcmp(slot + GRH_DST_END, m->dgid.raw + 12, 4)) &&
	       EXPECT_EQ(vu_check(slot + GRH, len, seed), -1);
}

static uint32_t msg_len(uint32_t i)
{
	static const uint32_t lens[] = {1, 64, 1000, 1024};

	return lens[i % ARRAY_SIZE(lens)];
}

/*
 * Whether this datagram arrives soon.  Those that were sent before it come first, or have found no
 * receive request.
 */
static bool probe_arrives(uint32_t imm)
{
	uint64_t deadline = vu_now() + PROBE_MS * tap_slow();
	struct ibv_wc wc;

	while (vu_now() < deadline) {
		if (!ibv_poll_cq(end.cq, 1, &wc)) {
			sched_yield();
			continue;
		}
		if (!EXPECT_EQ(wc.status, IBV_WC_SUCCESS) || !EXPECT_EQ(wc.wr_id, PROBE))
			return false;
		if (ntohl(wc.imm_data) == imm)
			return true;
		if (!EXPECT_EQ(vu_post_recv(&end.q, PROBE, mr, buf, SLOT), 0))
			return false;
	}
	return false;
}

/*
 * A subnet manager answers a join before it has set the switches, and what is sent until then is lost:
 * the sender repeats a datagram until it arrives.  Receive requests are posted after that, when the
 * last one that was sent has arrived.
 */
static bool reach(const struct member *m, bool sends)
{
	uint32_t got = 0, got_there, tries;

	if (!sends && !EXPECT_EQ(vu_post_recv(&end.q, PROBE, mr, buf, SLOT), 0))
		return false;
	for (tries = 0; tries < MAX_PROBES; tries++) {
		if ((sends && !send_to(m, 1, 0, PROBE + tries)) || !sess_sync(&sess))
			return false;
		if (!sends)
			got = probe_arrives(PROBE + tries);
		if (!sess_xchg(&sess, &got, &got_there, sizeof(got)))
			return false;
		if (got || got_there)
			return true;
	}
	return EXPECT(!"the group is reached");
}

/* Side *@arg sends. */
static void test_group(const void *arg)
{
	const int *sender = arg;
	uint32_t qpn, i;

	if (!start() || !join(&members[0], GROUP) || !reach(&members[0], sess.side == *sender) ||
	    (sess.side != *sender && !post_receives()) ||
	    !sess_xchg(&sess, &end.q.qp->qp_num, &qpn, sizeof(qpn)))
		return;
	for (i = 0; i < MESSAGES; i++) {
		uint64_t seed = sess.test * 100 + i;

		if (sess.side == *sender ? !send_to(&members[0], msg_len(i), seed, i + 1)
					 : !receive(&members[0], i, msg_len(i), seed, i + 1, qpn))
			return;
	}
	if (!sess_sync(&sess) || !leave(&members[0]))
		return;
	cm_quiet(ch);
	sess_sync(&sess);
}

/*
 * Both are in two groups.  Side 1 leaves the first one: a message to the other group arrives once,
 * and one to the left group does not.
 */
static void test_leave(const void *arg)
{
	uint64_t seed = sess.test;
	uint32_t qpn, i;
	struct ibv_wc wc;

	(void)arg;
	if (!start() || !join(&members[0], GROUP) || !join(&members[1], OTHER_GROUP) ||
	    !reach(&members[0], !sess.side) || !reach(&members[1], !sess.side) ||
	    (sess.side && !post_receives()) ||
	    !sess_xchg(&sess, &end.q.qp->qp_num, &qpn, sizeof(qpn)))
		return;
	for (i = 0; i < 2; i++)
		if (sess.side ? !receive(&members[i], i, 100, seed + i, i + 1, qpn)
			      : !send_to(&members[i], 100, seed + i, i + 1))
			return;
	if (!sess_sync(&sess) || (sess.side && !leave(&members[0])) || !sess_sync(&sess))
		return;
	if (sess.side) {
		/* the second group's message was sent after the first one's */
		if (receive(&members[1], 2, 200, seed + 20, 20, qpn))
			EXPECT_EQ(ibv_poll_cq(end.cq, 1, &wc), 0);
	} else if (!send_to(&members[0], 200, seed + 10, 10) ||
		   !send_to(&members[1], 200, seed + 20, 20)) {
		return;
	}
	sess_sync(&sess);
}

/* Joining again after leaving. */
static void test_again(const void *arg)
{
	uint32_t i, qpn;

	(void)arg;
	if (!start())
		return;
	for (i = 0; i < 4; i++)
		if (!join(&members[0], GROUP) || (i < 3 && !leave(&members[0])))
			return;
	if (!reach(&members[0], !sess.side) || (sess.side && !post_receives()) ||
	    !sess_xchg(&sess, &end.q.qp->qp_num, &qpn, sizeof(qpn)))
		return;
	if (sess.side)
		receive(&members[0], 0, 512, sess.test, 1, qpn);
	else
		send_to(&members[0], 512, sess.test, 1);
	sess_sync(&sess);
}

static const int side0, side1 = 1;

static const struct tap_test tests[] = {
	{"side 0 sends to the group", test_group, &side0},
	{"side 1 sends to the group", test_group, &side1},
	{"who left the group hears nothing", test_leave, NULL},
	{"joined again after leaving", test_again, NULL},
};

int main(int argc, char **argv)
{
	int status;

	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	buf = vu_alloc(MESSAGES * SLOT);
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	vu_free(buf, MESSAGES * SLOT);
	return status;
}
