// SPDX-License-Identifier: GPL-2.0
/*
 * Q_Keys and P_Keys between two machines on InfiniBand, in a subnet whose manager has given both ports the partitions below.
 * Side 0 sends.  A packet with a wrong key does not arrive: the sender of a datagram notices nothing, a connection ends
 * after its retries.  The port that refused it counts it.
 */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define GRH 40
#define LEN 512
#define QKEY 0x11111111
#define QKEY_OF_QP 0x80000000 /* this bit: the sender's QP has the key */
#define WR_RIGHT 100 /* a datagram that arrives */

/* Of the partitions: both ports are full members, the first port only is one, both are limited members. */
#define PKEY_DEFAULT 0xffff
#define PKEY_BOTH 0x8001
#define PKEY_FIRST 0x8002
#define PKEY_LIMITED 0x0003

static struct vu_dev dev;
static struct sess sess;
static struct ibv_mr *mr;
static uint8_t *buf;
static struct vu_qp qp;
static struct ibv_ah *ah;
static struct vu_addr mine, theirs;

static void cleanup(void)
{
	if (ah)
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
	ah = NULL;
	vu_qp_destroy(&qp);
}

static int pkey_index(uint16_t pkey)
{
	int index = ibv_get_pkey_index(dev.ctx, VU_PORT, htobe16(pkey));

	if (index < 0)
		tap_fail(__FILE__, __LINE__, "the port has no P_Key %#x", pkey);
	return index;
}

/* The port's counters of violations */
struct violations {
	uint32_t pkey, qkey;
};

static struct violations violations(void)
{
	struct ibv_port_attr port = {0};

	EXPECT_EQ(ibv_query_port(dev.ctx, VU_PORT, &port), 0);
	return (struct violations){port.bad_pkey_cntr, port.qkey_viol_cntr};
}

/* Datagrams */

/* QPs on both sides, with these P_Keys and Q_Keys */
static bool ud_start(uint16_t pkey0, uint16_t pkey1, uint32_t qkey0, uint32_t qkey1)
{
	int index = pkey_index(sess.side ? pkey1 : pkey0);
	struct ibv_ah_attr attr = {.port_num = VU_PORT};

	if (index < 0 || !vu_ud_create(&dev, &qp, index, sess.side ? qkey1 : qkey0))
		return false;
	vu_qp_addr(&dev, &qp, &mine);
	if (!sess_xchg(&sess, &mine, &theirs, sizeof(mine)))
		return false;
	attr.dlid = theirs.lid;
	ah = ibv_create_ah(dev.pd, &attr);
	return EXPECT(ah);
}

/* A datagram from side 0 with this Q_Key */
static bool ud_send(uint64_t wr_id, uint32_t qkey)
{
	vu_fill(buf, LEN, wr_id);
	return vu_ud_send(&qp, ah, theirs.qpn, qkey, mr, buf, LEN, wr_id);
}

/* The next datagram that side 1 receives has these contents. */
static bool ud_receive(uint64_t wr_id)
{
	struct ibv_wc wc;

	return vu_wait_wc(qp.rcq, &wc, wr_id, IBV_WC_SUCCESS) &&
	       EXPECT_EQ(wc.byte_len, GRH + LEN) && EXPECT_EQ(vu_check(buf + GRH, LEN, wr_id), -1);
}

static bool ud_post(uint64_t wr_id)
{
	return EXPECT_EQ(vu_post_recv(&qp, wr_id, mr, buf, GRH + LEN), 0);
}

/**
 * struct ud_case - a datagram, and one with right keys after it
 * @pkey, @qkey: those of the sides' QPs
 * @sent: Q_Key of the datagram
 * @pkey_viols, @qkey_viols: by how much the receiver's counters grow
 */
struct ud_case {
	uint16_t pkey[2];
	uint32_t qkey[2];
	uint32_t sent;
	unsigned int pkey_viols, qkey_viols;
};

/* The receiver has one receive for the datagram that arrives, whichever it is. */
static void test_ud(const void *arg)
{
	const struct ud_case *c = arg;
	bool arrives = !c->pkey_viols && !c->qkey_viols;
	struct violations before, after;

	before = violations();
	if (!ud_start(c->pkey[0], c->pkey[1], c->qkey[0], c->qkey[1]))
		return;
	if (sess.side && !ud_post(arrives ? 1 : WR_RIGHT))
		return;
	if (!sess_sync(&sess) || (!sess.side && !ud_send(1, c->sent)) || !sess_sync(&sess))
		return;
	if (arrives) {
		if (sess.side)
			ud_receive(1);
		return;
	}
	after = violations();
	EXPECT_EQ(after.pkey - before.pkey, sess.side ? c->pkey_viols : 0);
	EXPECT_EQ(after.qkey - before.qkey, sess.side ? c->qkey_viols : 0);
	/* A P_Key is the QP's: side 0 can't send a right one by it. */
	if (c->pkey_viols) {
		struct ibv_wc wc;

		if (sess.side)
			EXPECT_EQ(ibv_poll_cq(qp.rcq, 1, &wc), 0);
		return;
	}
	if (sess.side)
		ud_receive(WR_RIGHT);
	else
		ud_send(WR_RIGHT, c->qkey[1]);
}

#define DEFAULT {PKEY_DEFAULT, PKEY_DEFAULT}

static const struct ud_case ud_right = {DEFAULT, {QKEY, QKEY}, QKEY, 0, 0};
static const struct ud_case ud_partition = {{PKEY_BOTH, PKEY_BOTH}, {QKEY, QKEY}, QKEY, 0, 0};
static const struct ud_case ud_bad_qkey = {DEFAULT, {QKEY, QKEY}, QKEY + 1, 0, 1};
static const struct ud_case ud_own_qkey = {DEFAULT, {QKEY, QKEY}, QKEY_OF_QP, 0, 0};
static const struct ud_case ud_bad_own_qkey = {DEFAULT, {QKEY + 1, QKEY}, QKEY_OF_QP | QKEY, 0, 1};
static const struct ud_case ud_bad_pkey = {{PKEY_BOTH, PKEY_DEFAULT}, {QKEY, QKEY}, QKEY, 1, 0};
static const struct ud_case ud_limited = {{PKEY_LIMITED, PKEY_LIMITED}, {QKEY, QKEY}, QKEY, 1, 0};

/* Connections */

/**
 * struct rc_case - a message on a connection whose ends have these P_Keys
 * @at_port: the receiver's port counts what it refuses; false: the packets do not get there
 */
struct rc_case {
	uint16_t pkey[2];
	enum ibv_wc_status status;
	bool at_port;
};

static void test_rc(const void *arg)
{
	const struct rc_case *c = arg;
	struct vu_qp_opts opts = VU_QP_OPTS;
	int index = pkey_index(c->pkey[sess.side]);
	struct violations before, after;
	struct ibv_wc wc;

	/* 67 ms, once more */
	opts.timeout = 14;
	opts.retry_cnt = 1;
	opts.pkey_index = index;
	if (index < 0 || !vu_connect_sess(&dev, &sess, &qp, &opts, &mine, &theirs))
		return;
	before = violations();
	if (sess.side && !EXPECT_EQ(vu_post_recv(&qp, 1, mr, buf, LEN), 0))
		return;
	vu_fill(buf, LEN, sess.side ? 0 : sess.test);
	if (!sess_sync(&sess))
		return;
	if (!sess.side &&
	    (!EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 1, IBV_SEND_SIGNALED, mr, buf, LEN, 0, 0),
			0) ||
	     !vu_wait_wc(qp.scq, &wc, 1, c->status)))
		return;
	if (!sess_sync(&sess))
		return;
	after = violations();
	if (c->status == IBV_WC_SUCCESS) {
		if (sess.side && vu_wait_wc(qp.rcq, &wc, 1, IBV_WC_SUCCESS))
			EXPECT_EQ(vu_check(buf, LEN, sess.test), -1);
	} else if (sess.side) {
		EXPECT_EQ(ibv_poll_cq(qp.rcq, 1, &wc), 0);
		EXPECT_EQ(vu_state(&qp), IBV_QPS_RTS);
	}
	/* The message was sent twice. */
	EXPECT_EQ(after.pkey - before.pkey, sess.side && c->at_port ? 2 : 0);
	EXPECT_EQ(after.qkey, before.qkey);
}

static const struct rc_case rc_right = {{PKEY_BOTH, PKEY_BOTH}, IBV_WC_SUCCESS, false};
static const struct rc_case rc_other = {{PKEY_BOTH, PKEY_DEFAULT}, IBV_WC_RETRY_EXC_ERR, true};
static const struct rc_case rc_limited = {{PKEY_LIMITED, PKEY_LIMITED}, IBV_WC_RETRY_EXC_ERR, true};
static const struct rc_case rc_stranger = {{PKEY_FIRST, PKEY_DEFAULT}, IBV_WC_RETRY_EXC_ERR, false};

static const struct tap_test tests[] = {
	{"a datagram", test_ud, &ud_right},
	{"a datagram in another partition", test_ud, &ud_partition},
	{"a datagram with the Q_Key of its QP", test_ud, &ud_own_qkey},
	{"a datagram with a wrong Q_Key", test_ud, &ud_bad_qkey},
	{"its QP has a wrong Q_Key", test_ud, &ud_bad_own_qkey},
	{"a datagram with a P_Key of another partition", test_ud, &ud_bad_pkey},
	{"a datagram between limited members", test_ud, &ud_limited},
	{"a connection in another partition", test_rc, &rc_right},
	{"the ends are in different partitions", test_rc, &rc_other},
	{"both ends are limited members", test_rc, &rc_limited},
	{"the switch stops packets of a partition that the port is not in", test_rc, &rc_stranger},
};

int main(int argc, char **argv)
{
	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, GRH + LEN);
	buf = mr->addr;
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
