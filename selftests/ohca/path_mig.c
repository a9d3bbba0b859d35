// SPDX-License-Identifier: GPL-2.0
/*
 * Path migration between two machines whose InfiniBand ports have two LIDs each (LMC 1): path 0 is that of the first
 * LIDs, path 1 that of the second ones.  Side 0 sends; rules for faults make a path fail (ohcactl).
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_util.h"

#define LEN 3000
#define SLOTS 16
#define MESSAGES 400
#define ALT_TIMEOUT 16

#define MIG_MASK (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

static struct vu_dev dev;
static struct sess sess;
static struct ibv_mr *mr;
static uint8_t *buf;
static struct vu_qp qp;
static struct vu_addr mine, theirs;
static uint8_t alt_port; /* environment OHCA_ALT_PORT, or the port itself: then by other LIDs */
static uint16_t alt_lid; /* of the other side's */
static uint64_t seed;

static bool ohcactl(const char *what)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "ohca-host ohcactl fault %s > /dev/null", what);
	return EXPECT_EQ(system(cmd), 0);
}

/* Packets of that service to the other side's first LID are lost. */
static bool fail_path(const char *service)
{
	char rule[64];

	snprintf(rule, sizeof(rule), "add drop,op=%s,dlid=%u", service, theirs.lid);
	return ohcactl(rule);
}

static void cleanup(void)
{
	struct ibv_async_event event;

	vu_qp_destroy(&qp);
	if (!sess.side)
		ohcactl("clear");
	while (vu_async_pending(dev.ctx, &event))
		;
}

/* Connected by path 0, with few retries: 2 of 0.13 s */
static bool connect_qps(void)
{
	struct vu_qp_opts opts = VU_QP_OPTS;

	opts.timeout = 15;
	opts.retry_cnt = 2;
	opts.send_wr = opts.recv_wr = SLOTS;
	return vu_connect_sess(&dev, &sess, &qp, &opts, &mine, &theirs);
}

/* The LIDs and ports of path 0, on which the connection is made, and of path 1 */
static struct ibv_ah_attr path_ah(unsigned int path)
{
	if (path && alt_port != VU_PORT)
		return (struct ibv_ah_attr){.dlid = alt_lid, .port_num = alt_port};
	return (struct ibv_ah_attr){
		.dlid = theirs.lid + path, .src_path_bits = path, .port_num = VU_PORT};
}

static struct ibv_qp_attr alternate(unsigned int path)
{
	return (struct ibv_qp_attr){
		.path_mig_state = IBV_MIG_REARM,
		.alt_ah_attr = path_ah(path),
		.alt_port_num = path_ah(path).port_num,
		.alt_timeout = ALT_TIMEOUT,
	};
}

static bool rearm(unsigned int path)
{
	struct ibv_qp_attr attr = alternate(path);

	return EXPECT_EQ(ibv_modify_qp(qp.qp, &attr, MIG_MASK), 0);
}

static int set_mig_state(enum ibv_mig_state state)
{
	struct ibv_qp_attr attr = {.path_mig_state = state};

	return ibv_modify_qp(qp.qp, &attr, IBV_QP_PATH_MIG_STATE);
}

static struct ibv_qp_attr query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0xa5, sizeof(attr));
	EXPECT_EQ(ibv_query_qp(qp.qp, &attr, IBV_QP_STATE | IBV_QP_AV | MIG_MASK, &init), 0);
	return attr;
}

static bool mig_state_is(enum ibv_mig_state state)
{
	return EXPECT_EQ(query().path_mig_state, state);
}

/* LEN bytes to the other side: side 0 sends, side 1 receives. */
static bool message(enum ibv_wc_status status)
{
	struct ibv_wc wc;

	seed++;
	if (sess.side) {
		if (!EXPECT_EQ(vu_post_recv(&qp, seed, mr, buf, LEN), 0) || !sess_sync(&sess))
			return false;
		return vu_wait_wc(qp.rcq, &wc, seed, IBV_WC_SUCCESS) &&
		       EXPECT_EQ(wc.byte_len, LEN) && EXPECT_EQ(vu_check(buf, LEN, seed), -1);
	}
	vu_fill(buf, LEN, seed);
	return sess_sync(&sess) &&
	       EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, seed, IBV_SEND_SIGNALED, mr, buf, LEN, 0,
				      0),
			 0) &&
	       vu_wait_wc(qp.scq, &wc, seed, status);
}

/* Both have set the alternate path, and a message has armed them. */
static bool arm(unsigned int path)
{
	return rearm(path) && sess_sync(&sess) && message(IBV_WC_SUCCESS) && sess_sync(&sess) &&
	       mig_state_is(IBV_MIG_ARMED);
}

/* This side has just migrated to that path. */
static bool migrated_to(unsigned int path)
{
	struct ibv_qp_attr attr;

	if (!vu_wait_async(dev.ctx, IBV_EVENT_PATH_MIG, qp.qp))
		return false;
	attr = query();
	return EXPECT_EQ(attr.path_mig_state, IBV_MIG_MIGRATED) &&
	       EXPECT_EQ(attr.ah_attr.dlid, path_ah(path).dlid) &&
	       EXPECT_EQ(attr.ah_attr.src_path_bits, path_ah(path).src_path_bits) &&
	       EXPECT_EQ(attr.port_num, path_ah(path).port_num) &&
	       EXPECT_EQ(attr.timeout, ALT_TIMEOUT) && EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
}

static bool no_event(void)
{
	struct ibv_async_event event;

	return EXPECT(!vu_async_pending(dev.ctx, &event));
}

/* Tests */

static void test_caps(const void *arg)
{
	(void)arg;
	EXPECT(dev.attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG);
	EXPECT(alt_port != VU_PORT || dev.port.lmc == 1);
}

/* The command is refused, and the QP is what it was. */
static void refused(struct ibv_qp_attr attr, int mask)
{
	EXPECT_EQ(ibv_modify_qp(qp.qp, &attr, mask), EINVAL);
	mig_state_is(IBV_MIG_MIGRATED);
}

static void test_refused(const void *arg)
{
	struct vu_qp_opts opts = VU_QP_OPTS;
	struct ibv_qp_attr good, attr;

	(void)arg;
	if (!connect_qps())
		return;
	good = alternate(1);
#define REFUSED(field, value)            \
	do {                             \
		attr = good;             \
		attr.field = value;      \
		refused(attr, MIG_MASK); \
	} while (0)
	REFUSED(alt_port_num, dev.attr.phys_port_cnt + 1);
	REFUSED(alt_ah_attr.port_num, dev.attr.phys_port_cnt + 1);
	REFUSED(alt_ah_attr.dlid, 0);
	REFUSED(alt_ah_attr.src_path_bits, 128);
	REFUSED(alt_timeout, 32);
	REFUSED(alt_pkey_index, 1000);
	REFUSED(path_mig_state, IBV_MIG_ARMED);
	REFUSED(path_mig_state, 3);
	/* What is no transition */
	attr = good;
	attr.qp_state = IBV_QPS_SQD;
	refused(attr, IBV_QP_STATE | IBV_QP_ALT_PATH);
	attr.qp_state = IBV_QPS_RTR;
	refused(attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
	/* A QP that waits for its peer does not migrate. */
	EXPECT_EQ(ibv_modify_qp(qp.qp, &good, MIG_MASK), 0);
	EXPECT_EQ(set_mig_state(IBV_MIG_MIGRATED), EINVAL);
	mig_state_is(IBV_MIG_REARM);
	vu_qp_destroy(&qp);
	/* On the way: with the others to RTR, not before, and the state not before RTS */
	if (!vu_qp_create(&dev, &qp, &opts))
		return;
	attr = good;
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = VU_PORT;
	refused(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS |
			      IBV_QP_ALT_PATH);
	vu_to_init(&qp, &opts);
	refused(good, IBV_QP_ALT_PATH);
}

static void test_query(const void *arg)
{
	struct ibv_qp_attr attr;

	(void)arg;
	if (!connect_qps())
		return;
	attr = query();
	EXPECT_EQ(attr.path_mig_state, IBV_MIG_MIGRATED);
	EXPECT_EQ(attr.alt_port_num, 0);
	if (!rearm(1))
		return;
	attr = query();
	EXPECT_EQ(attr.path_mig_state, IBV_MIG_REARM);
	EXPECT_EQ(attr.alt_port_num, alt_port);
	EXPECT_EQ(attr.alt_timeout, ALT_TIMEOUT);
	EXPECT_EQ(attr.alt_pkey_index, 0);
	EXPECT_EQ(attr.alt_ah_attr.dlid, path_ah(1).dlid);
	EXPECT_EQ(attr.alt_ah_attr.src_path_bits, path_ah(1).src_path_bits);
	EXPECT_EQ(attr.alt_ah_attr.port_num, alt_port);
	EXPECT_EQ(attr.alt_ah_attr.is_global, 0);
	EXPECT_EQ(attr.ah_attr.dlid, theirs.lid);
}

static void test_arming(const void *arg)
{
	(void)arg;
	if (!connect_qps() || !message(IBV_WC_SUCCESS) || !mig_state_is(IBV_MIG_MIGRATED))
		return;
	/* One alone waits. */
	if (!sess.side && !rearm(1))
		return;
	if (!message(IBV_WC_SUCCESS) ||
	    !mig_state_is(sess.side ? IBV_MIG_MIGRATED : IBV_MIG_REARM) || !sess_sync(&sess))
		return;
	if (arm(1) && message(IBV_WC_SUCCESS))
		no_event();
}

/* Software moves one side; the other one follows when something comes. */
static void test_by_software(const void *arg)
{
	unsigned int path;

	(void)arg;
	if (!connect_qps())
		return;
	for (path = 1; path <= 2; path++) {
		if (!arm(path % 2))
			return;
		if (!sess.side &&
		    (!EXPECT_EQ(set_mig_state(IBV_MIG_MIGRATED), 0) || !migrated_to(path % 2)))
			return;
		if (!message(IBV_WC_SUCCESS) || (sess.side && !migrated_to(path % 2)) ||
		    !sess_sync(&sess))
			return;
	}
	EXPECT_EQ(set_mig_state(IBV_MIG_MIGRATED), 0);
	no_event();
}

/* Software moves the receiver: the sender finds out when its retries are used up. */
static void test_by_receiver(const void *arg)
{
	(void)arg;
	if (!connect_qps() || !arm(1))
		return;
	if (sess.side && (!EXPECT_EQ(set_mig_state(IBV_MIG_MIGRATED), 0) || !migrated_to(1)))
		return;
	if (message(IBV_WC_SUCCESS) && (sess.side || migrated_to(1)))
		no_event();
}

static bool send_many(void)
{
	unsigned int sent = 0, done = 0;
	struct ibv_wc wc;

	while (done < MESSAGES) {
		if (sent == MESSAGES / 2 && !fail_path("rc"))
			return false;
		for (; sent < MESSAGES && sent < done + SLOTS / 2; sent++) {
			uint8_t *at = buf + sent % SLOTS * LEN;

			vu_fill(at, LEN, sent);
			if (!EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, sent, IBV_SEND_SIGNALED, mr,
						    at, LEN, 0, 0),
				       0))
				return false;
			if (sent + 1 == MESSAGES / 2) {
				sent++;
				break;
			}
		}
		if (!vu_wait_wc(qp.scq, &wc, done, IBV_WC_SUCCESS))
			return false;
		done++;
	}
	return true;
}

static bool post_slot(unsigned int i)
{
	return EXPECT_EQ(vu_post_recv(&qp, i, mr, buf + i % SLOTS * LEN, LEN), 0);
}

static bool receive_many(void)
{
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < MESSAGES; i++) {
		if (!vu_wait_wc(qp.rcq, &wc, i, IBV_WC_SUCCESS) ||
		    !EXPECT_EQ(vu_check(buf + i % SLOTS * LEN, LEN, i), -1))
			return false;
		if (i + SLOTS < MESSAGES && !post_slot(i + SLOTS))
			return false;
	}
	return true;
}

/* In the middle of many messages; none is lost, and none comes twice. */
static void test_path_fails(const void *arg)
{
	unsigned int i;

	(void)arg;
	if (!connect_qps() || !arm(1))
		return;
	for (i = 0; sess.side && i < SLOTS; i++)
		if (!post_slot(i))
			return;
	if (!sess_sync(&sess) || !(sess.side ? receive_many() : send_many()))
		return;
	if (migrated_to(1) && sess_sync(&sess))
		no_event();
}

/* Nowhere to migrate to */
static void test_no_alternate(const void *arg)
{
	(void)arg;
	if (!connect_qps() || !EXPECT_EQ(set_mig_state(IBV_MIG_REARM), 0) || !sess_sync(&sess) ||
	    !message(IBV_WC_SUCCESS) || !sess_sync(&sess) || !mig_state_is(IBV_MIG_ARMED))
		return;
	EXPECT_EQ(set_mig_state(IBV_MIG_MIGRATED), EINVAL);
	mig_state_is(IBV_MIG_ARMED);
	if (!sess.side && fail_path("rc") && sess_sync(&sess)) {
		struct ibv_wc wc;

		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 7, IBV_SEND_SIGNALED, mr, buf, LEN, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 7, IBV_WC_RETRY_EXC_ERR);
		vu_wait_async(dev.ctx, IBV_EVENT_PATH_MIG_ERR, qp.qp);
		EXPECT_EQ(vu_state(&qp), IBV_QPS_ERR);
		sess_sync(&sess);
	} else if (sess.side && sess_sync(&sess) && sess_sync(&sess)) {
		no_event();
	}
}

/* The receiver has another alternate path than the sender. */
static void test_wrong_alternate(const void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	if (!connect_qps() || !arm(!sess.side))
		return;
	if (!sess.side) {
		if (!EXPECT_EQ(set_mig_state(IBV_MIG_MIGRATED), 0) || !migrated_to(1))
			return;
		EXPECT_EQ(vu_post_send(&qp, IBV_WR_SEND, 7, IBV_SEND_SIGNALED, mr, buf, LEN, 0, 0),
			  0);
		vu_wait_wc(qp.scq, &wc, 7, IBV_WC_RETRY_EXC_ERR);
		sess_sync(&sess);
		return;
	}
	if (!vu_wait_async(dev.ctx, IBV_EVENT_PATH_MIG_ERR, qp.qp) || !sess_sync(&sess))
		return;
	no_event();
	mig_state_is(IBV_MIG_ARMED);
	EXPECT_EQ(query().ah_attr.dlid, theirs.lid);
}

static const struct tap_test tests[] = {
	{"the device can do it, and there are two ways", test_caps, NULL},
	{"what is wrong is refused", test_refused, NULL},
	{"query", test_query, NULL},
	{"both sides arm each other", test_arming, NULL},
	{"the sender migrates, and back", test_by_software, NULL},
	{"the receiver migrates", test_by_receiver, NULL},
	{"the path fails under load", test_path_fails, NULL},
	{"the path fails, and there is no other one", test_no_alternate, NULL},
	{"the receiver can't follow", test_wrong_alternate, NULL},
};

/* Each side gets to know the LID of the other one's alternate port. */
static void find_alt_port(void)
{
	const char *port = getenv("OHCA_ALT_PORT");
	struct ibv_port_attr attr;

	alt_port = port ? atoi(port) : VU_PORT;
	if (ibv_query_port(dev.ctx, alt_port, &attr) ||
	    !sess_xchg(&sess, &attr.lid, &alt_lid, sizeof(alt_lid)))
		tap_bail("no alternate port");
}

int main(int argc, char **argv)
{
	sess_start(&sess, argc > 1 && !strcmp(argv[1], "-2"));
	vu_open(&dev);
	find_alt_port();
	mr = vu_alloc_mr(&dev, SLOTS * LEN);
	buf = mr->addr;
	return sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
}
