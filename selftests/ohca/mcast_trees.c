// SPDX-License-Identifier: GPL-2.0
/*
 * Very many multicast groups, each with a multicast LID and a tree of its own: the subnet
 * administrator creates them for side 1, which receives, and adds side 0, which sends.
 *
 * usage: mcast_trees -2 NUM [COMMAND]
 * COMMAND runs in the machine of side 0 while there are NUM groups.
 */

#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sa_mcm.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umad_agent.h"
#include "verbs_util.h"

#define MAX_GROUPS 16384 /* multicast LIDs */
#define FIRST_MLID 0xc000
#define QKEY 0x7ee5
#define GRH 40
#define SLOT 64 /* of a message that has come, with its GRH */
#define DEPTH 4 /* of vu_ud_create() */
#define BATCH 3 /* messages; one that comes twice has room, too */
#define JOINS                                                          \
	(UMAD_SA_MCM_COMP_MASK_MGID | UMAD_SA_MCM_COMP_MASK_PORT_GID | \
	 UMAD_SA_MCM_COMP_MASK_JOIN_STATE)
#define CREATES                                                              \
	(JOINS | UMAD_SA_MCM_COMP_MASK_QKEY | UMAD_SA_MCM_COMP_MASK_TCLASS | \
	 UMAD_SA_MCM_COMP_MASK_PKEY | UMAD_SA_MCM_COMP_MASK_FLOW_LABEL | UMAD_SA_MCM_COMP_MASK_SL)

static struct sess sess;
static struct vu_dev dev;
static struct vu_qp qp;
static struct agent agent;
static struct ibv_mr *mr;
static unsigned int num, joined;
static uint16_t mlids[MAX_GROUPS];

static union ibv_gid mgid_of(unsigned int group)
{
	union ibv_gid mgid = {.raw = {0xff, 0x12, 0x7e, 0xe5}};

	mgid.global.interface_id = htobe64(group);
	return mgid;
}

/* EPROTO and a status, if the administrator refuses it */
static int ask(uint8_t method, unsigned int group, uint64_t comps, uint16_t *status)
{
	union ibv_gid mgid = mgid_of(group);
	struct umad_sa_mcmember_record rec = {
		.qkey = htobe32(QKEY),
		.pkey = htobe16(0xffff),
		.scope_state = umad_sa_mcm_set_scope_state(UMAD_SA_MCM_ADDR_SCOPE_LINK_LOCAL,
							   UMAD_SA_MCM_JOIN_STATE_FULL_MEMBER),
	};
	struct sa_request request = {
		.lid = dev.port.sm_lid,
		.method = method,
		.attr_id = UMAD_SA_ATTR_MCMEMBER_REC,
		.comp_mask = comps,
		.record = &rec,
		.len = sizeof(rec),
	};
	int err;

	memcpy(rec.mgid, mgid.raw, sizeof(rec.mgid));
	memcpy(rec.portgid, dev.gid.raw, sizeof(rec.portgid));
	err = agent_ask_sa(&agent, &request);
	*status = request.status;
	if (!err)
		mlids[group] = be16toh(rec.mlid);
	return err;
}

static void rate(const char *what, unsigned int count, uint64_t began)
{
	tap_diag("%s: %u in %.1f s", what, count, (vu_now() - began) / 1000.0);
}

/* The groups 0 to @end - 1 */
static bool join(unsigned int end)
{
	uint64_t began = vu_now(), comps = sess.side ? CREATES : JOINS;
	uint16_t status;

	for (joined = 0; joined < end; joined++) {
		if (!EXPECT_EQ(ask(UMAD_METHOD_SET, joined, comps, &status), 0)) {
			tap_diag("group %u: status %#x", joined, status);
			return false;
		}
	}
	rate(sess.side ? "groups created" : "groups joined", end, began);
	return true;
}

/* Each group has another multicast LID. */
static void all_differ(void)
{
	static bool used[MAX_GROUPS];
	unsigned int i;

	for (i = 0; i < num; i++) {
		if (!EXPECT(mlids[i] >= FIRST_MLID && mlids[i] < FIRST_MLID + MAX_GROUPS - 1 &&
			    !used[mlids[i] - FIRST_MLID]))
			return;
		used[mlids[i] - FIRST_MLID] = true;
	}
}

/* What has to be received is joined first, as that creates the groups. */
static void test_join(const void *arg)
{
	static uint16_t theirs[MAX_GROUPS];

	(void)arg;
	if ((sess.side && !join(num)) || !sess_sync(&sess) || (!sess.side && !join(num)) ||
	    !sess_xchg(&sess, mlids, theirs, sizeof(mlids)))
		return;
	all_differ();
	EXPECT_EQ(memcmp(mlids, theirs, num * sizeof(*mlids)), 0);
}

static bool post_recv(unsigned int i)
{
	return EXPECT_EQ(vu_post_recv(&qp, i, mr, (char *)mr->addr + i * SLOT, SLOT), 0);
}

static bool send_to(unsigned int group)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .dlid = mlids[group], .port_num = VU_PORT, .grh.hop_limit = 1};
	uint32_t *message = mr->addr;
	struct ibv_ah *ah;
	bool good;

	attr.grh.dgid = mgid_of(group);
	ah = ibv_create_ah(dev.pd, &attr);
	if (!EXPECT(ah))
		return false;
	*message = htonl(group);
	good = vu_ud_send(&qp, ah, 0xffffff, QKEY, mr, message, sizeof(*message), group);
	return EXPECT_EQ(ibv_destroy_ah(ah), 0) && good;
}

/* The next message is of that group, and no other one has come. */
static bool received(unsigned int group)
{
	const uint32_t *message;
	struct ibv_wc wc;

	if (!vu_wait(qp.rcq, &wc, 1) || !EXPECT_EQ(wc.status, IBV_WC_SUCCESS))
		return false;
	message = (const uint32_t *)((char *)mr->addr + wc.wr_id * SLOT + GRH);
	return EXPECT_EQ(ntohl(*message), group) && post_recv(wc.wr_id);
}

static bool attach(void)
{
	uint64_t began = vu_now();
	union ibv_gid mgid;
	unsigned int i;

	for (i = 0; i < num; i++) {
		mgid = mgid_of(i);
		if (!EXPECT_EQ(ibv_attach_mcast(qp.qp, &mgid, mlids[i]), 0))
			return false;
	}
	rate("groups attached", num, began);
	for (i = 0; i < DEPTH; i++) {
		if (!post_recv(i))
			return false;
	}
	return true;
}

static void detach(void)
{
	union ibv_gid mgid;
	unsigned int i;

	for (i = 0; i < num; i++) {
		mgid = mgid_of(i);
		EXPECT_EQ(ibv_detach_mcast(qp.qp, &mgid, mlids[i]), 0);
	}
}

/*
 * The manager writes the last tables after it has answered.  Until it has, the first message to a
 * group may be lost, so the first ones are sent to the last group, until one has come.
 */
static bool last_tree_is_there(void)
{
	uint32_t tries = 0, theirs = 0;
	struct ibv_wc wc;

	do {
		if (!sess.side && !send_to(num - 1))
			return false;
		if (sess.side && ibv_poll_cq(qp.rcq, 1, &wc) == 1) {
			tries = 1;
			if (!post_recv(wc.wr_id))
				return false;
		}
		if (!sess_xchg(&sess, &tries, &theirs, sizeof(tries)))
			return false;
	} while (!tries && !theirs);
	/* What was sent after the one that has come */
	while (sess.side && ibv_poll_cq(qp.rcq, 1, &wc) == 1) {
		if (!post_recv(wc.wr_id))
			return false;
	}
	return sess_sync(&sess);
}

static void test_messages(const void *arg)
{
	unsigned int i, k;
	uint64_t began;

	(void)arg;
	if (!vu_ud_create(&dev, &qp, 0, QKEY) || (sess.side && !attach()) || !sess_sync(&sess) ||
	    !last_tree_is_there())
		return;
	began = vu_now();
	for (i = 0; i < num; i += BATCH) {
		for (k = i; k < i + BATCH && k < num; k++) {
			if (!(sess.side ? received(k) : send_to(k)))
				return;
		}
		if (!sess_sync(&sess))
			return;
	}
	rate("messages", num, began);
	if (sess.side)
		detach();
}

static void test_command(const void *arg)
{
	if (!sess.side)
		EXPECT_EQ(system(arg), 0);
	sess_sync(&sess);
}

/* All that the subnet has room for: the last one is refused because there is none. */
static void test_limit(const void *arg)
{
	uint16_t status = 0;
	int err = 0;

	(void)arg;
	while (sess.side && joined < MAX_GROUPS) {
		err = ask(UMAD_METHOD_SET, joined, CREATES, &status);
		if (err)
			break;
		joined++;
	}
	if (sess.side) {
		tap_diag("%u groups, and then the status is %#x", joined, status);
		EXPECT(joined > num);
		EXPECT_EQ(status, UMAD_SA_STATUS_NO_RESOURCES << 8);
	}
	sess_sync(&sess);
}

/* Both: the last one that leaves a group ends it. */
static void test_leave(const void *arg)
{
	uint64_t began = vu_now();
	uint16_t status;
	unsigned int i;

	(void)arg;
	for (i = 0; i < joined; i++) {
		if (!EXPECT_EQ(ask(UMAD_SA_METHOD_DELETE, i, JOINS, &status), 0))
			return;
	}
	rate("groups left", joined, began);
	sess_sync(&sess);
}

static void cleanup(void)
{
	vu_qp_destroy(&qp);
}

int main(int argc, char **argv)
{
	const struct tap_test tests[] = {
		{"groups", test_join, NULL},
		{"a message to each", test_messages, NULL},
		{"meanwhile", test_command, argc > 3 ? argv[3] : "true"},
		{"as many as there is room for", test_limit, NULL},
		{"both leave them", test_leave, NULL},
	};
	int status;

	if (argc < 3 || argc > 4 || strcmp(argv[1], "-2") || (num = atoi(argv[2])) < 1 ||
	    num > MAX_GROUPS)
		tap_bail("usage: mcast_trees -2 NUM [COMMAND]");
	sess_start(&sess, true);
	vu_open(&dev);
	mr = vu_alloc_mr(&dev, DEPTH * SLOT);
	if (!agent_open(&agent, UMAD_CLASS_SUBN_ADM))
		tap_bail("no agent");
	status = sess_run(&sess, tests, ARRAY_SIZE(tests), cleanup);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	vu_close(&dev);
	return status;
}
