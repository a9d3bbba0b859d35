// SPDX-License-Identifier: GPL-2.0
/*
 * A multicast datagram that no turns of its sender are for comes to a few members of the group in each round, in which a message
 * of another HCA is sent and received: one that comes from an uplink, or by the rules for faults.
 */

#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "net/wire.h"
#include "outsider.h"
#include "packet/roce.h"
#include "qp/sched.h"
#include "rig_assert.h"
#include "slice_bed.h"

#define MEMBERS 128U
#define LEN 100U
#define IOVA 0x10000ULL
#define ROOM 4096U
#define GROUP {[10] = 0xff, 0xff, 239, 1, 2, 3}
#define MCAST_QPN 0xffffff
#define DATAGRAMS 3U
#define IN_A_TURN (SCHED_SHORT / SCHED_MESSAGE)
/* It arrives, and comes to more of them in two rounds */
#define IN_A_STEP (4 * IN_A_TURN)

static struct rig_qp *member[MEMBERS + 1];
static struct rig_mr *mr;
static unsigned int got[MEMBERS + 1];
static int outside = -1;

static int mcast(uint16_t opcode, const struct rig_qp *qp)
{
	struct ohca_mcast_in in = {.qpn = htole32(qp->qpn), .gid = GROUP};

	return drv_cmd(qp->hca->drv, opcode, &in, sizeof(in), NULL, 0);
}

static struct rig_qp *new_qp(void)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .log_size = 2, .ext = true};
	struct rig_qp *qp = rig_qp_new(&slice_rig->hca[BUSY], &opts);

	assert_int_equal(rig_to_init(qp) || rig_to_rtr(qp) || rig_to_rts(qp), 0);
	return qp;
}

static struct rig_qp *new_member(void)
{
	struct rig_qp *qp = new_qp();
	struct ohca_sge sge;
	unsigned int i;

	assert_int_equal(mcast(OHCA_CMD_ATTACH_MCAST, qp), 0);
	for (i = 0; i < DATAGRAMS; i++) {
		sge = rig_sge(mr, IOVA + (1 + i) * ROOM, ROOM);
		rig_post_recv(qp, i, &sge, 1);
	}
	return qp;
}

static void open_group(void)
{
	unsigned int i;

	mr = rig_mr_new(&slice_rig->hca[BUSY], IOVA, (1 + DATAGRAMS) * ROOM,
			OHCA_ACCESS_LOCAL_WRITE, 0);
	memset(got, 0, sizeof(got));
	memset(member, 0, sizeof(member));
	for (i = 0; i < MEMBERS; i++)
		member[i] = new_member();
	slice_round();
}

/* Take the completions of all members, each in order.  Returns how many there are. */
static unsigned int take(void)
{
	unsigned int i, num = 0;
	struct ohca_cqe cqe;

	for (i = 0; i <= MEMBERS; i++) {
		for (; member[i] && drv_cq_poll(member[i]->rcq, &cqe); num++) {
			drv_cq_ack(member[i]->rcq);
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			assert_int_equal(le32toh(cqe.byte_len), OHCA_GRH_LEN + LEN);
			assert_int_equal(be32toh(cqe.imm_data), got[i]++);
		}
	}
	return num;
}

static unsigned int part(void)
{
	return slice_part(take, IN_A_STEP);
}

static unsigned int parts(void)
{
	return slice_parts(take, IN_A_STEP);
}

/* From an uplink, with this immediate data */
static void put_datagram(uint32_t imm)
{
	static const uint8_t gid[16] = {[10] = 0xff, 0xff, 10, 8, 8, 8}, to[16] = GROUP;
	struct gid_entry from = {
		.mac = {2, 0xee, 0, 0, 0, 1}, .vlan = OHCA_VLAN_NONE, .type = OHCA_GID_ROCE_V2};
	struct ohca_av av = {.dmac = {1, 0, 0x5e, 1, 2, 3}, .hop_limit = 1, .port = 1};
	static uint8_t data[LEN], frame[ROCE_MAX_FRAME];
	struct iovec iov = {data, LEN};
	struct iov_pos payload = {.iov = &iov};
	const struct roce_path path = {.av = &av,
				       .from = &from,
				       .sport = 0xc000,
				       .bth = {.service = BTH_UD,
					       .pkey = PKEY_DEFAULT,
					       .dest_qpn = MCAST_QPN,
					       .qkey = RIG_QKEY}};
	const struct pkt pkt = {.op = PKT_SEND,
				.flags = PKT_FIRST | PKT_LAST | PKT_IMM,
				.npsn = 1,
				.imm = htobe32(imm),
				.iov = &iov,
				.num = 1,
				.len = LEN};
	uint32_t len, be;

	memcpy(from.gid, gid, sizeof(gid));
	memcpy(av.dgid, to, sizeof(to));
	len = roce_encode(frame, &path, &pkt, &payload);
	be = htobe32(len);
	assert_int_equal(write(outside, &be, sizeof(be)), sizeof(be));
	assert_int_equal(write(outside, frame, len), len);
}

static int start_uplink(void **state)
{
	static char path[128];

	start_two_hcas(state);
	strcpy(server->dir, "/tmp/ohcad-far.XXXXXX");
	assert_non_null(mkdtemp(server->dir));
	assert_int_equal(wire_init(inproc_fabric(0), inproc_hca(0)->loop), 0);
	outside = outsider(path, sizeof(path), "");
	return slice_open(state);
}

static int stop_uplink(void **state)
{
	slice_close(state);
	close(outside);
	return stop_hcas(state);
}

/* All get all of them, in this order. */
static void test_datagrams(void **state)
{
	unsigned int i;

	(void)state;
	open_group();
	for (i = 0; i < DATAGRAMS; i++)
		put_datagram(i);
	assert_int_equal(parts(), DATAGRAMS * MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		assert_int_equal(got[i], DATAGRAMS);
}

/* Members leave in the middle, the next ones too; one that joins does not get what was sent before. */
static void test_changes_of_the_group(void **state)
{
	unsigned int first, num, i;

	(void)state;
	open_group();
	put_datagram(0);
	first = part() + part();
	assert_in_range(first, 1, 2 * IN_A_STEP);
	for (i = 0; i < first + 2; i++)
		assert_int_equal(mcast(OHCA_CMD_DETACH_MCAST, member[i]), 0);
	member[MEMBERS] = new_member();
	num = take() + parts();
	assert_in_range(first + num, MEMBERS - 2, MEMBERS);
	assert_int_equal(got[MEMBERS], 0);
}

/* All members leave, and the group is made again: it does not get what was sent to the one before. */
static void test_end_of_the_group(void **state)
{
	unsigned int i;

	(void)state;
	open_group();
	put_datagram(0);
	put_datagram(1);
	part();
	for (i = MEMBERS; i--;)
		assert_int_equal(mcast(OHCA_CMD_DETACH_MCAST, member[i]), 0);
	take();
	member[MEMBERS] = new_member();
	assert_int_equal(parts(), 0);
	assert_int_equal(inproc_hca(BUSY)->num_jobs, 0);
	put_datagram(0);
	assert_int_equal(parts(), 1);
	assert_int_equal(got[MEMBERS], 1);
}

static void test_reset_of_the_hca(void **state)
{
	(void)state;
	open_group();
	put_datagram(0);
	part();
	assert_int_equal(inproc_hca(BUSY)->num_jobs, 1);
	rig_renew_hca(slice_rig, BUSY);
	assert_int_equal(inproc_hca(BUSY)->num_jobs, 0);
	assert_int_equal(slice_quota(QUOTA_MEMBERS)->used, 0);
}

/* What waits has a limit, and so it does not take the memory of the HCA's own objects. */
static void test_flood(void **state)
{
	unsigned int i, most = 0;

	(void)state;
	open_group();
	for (i = 0; i < 4 * SCHED_MAX_JOBS; i++) {
		put_datagram(0);
		if (i % 16 == 15)
			slice_round();
		if (most < inproc_hca(BUSY)->num_jobs)
			most = inproc_hca(BUSY)->num_jobs;
	}
	assert_in_range(most, SCHED_MAX_JOBS / 2, SCHED_MAX_JOBS);
	for (i = 0; inproc_hca(BUSY)->num_jobs; i++) {
		assert_true(i < 4 * SCHED_MAX_JOBS * MEMBERS);
		inproc_step();
	}
}

static struct rig_qp *sender;

static void post_datagram(uint32_t imm)
{
	struct ohca_sge sge = rig_sge(mr, IOVA, LEN);
	struct ohca_av av = {.dmac = {0x33, 0x33}, .hop_limit = 1, .port = 1, .dgid = GROUP};
	struct rig_wr wr = {.opcode = OHCA_OP_SEND_IMM,
			    .num_sge = 1,
			    .sge = &sge,
			    .imm = imm,
			    .av = &av,
			    .dest_qpn = MCAST_QPN,
			    .qkey = RIG_QKEY};

	rig_post_send(sender, &wr);
}

static int start_faults(void **state)
{
	setenv("OHCAD_FAULT", "drop,p=0", 1);
	start_two_hcas(state);
	unsetenv("OHCAD_FAULT");
	return slice_open(state);
}

static int stop_faults(void **state)
{
	slice_close(state);
	return stop_hcas(state);
}

/* The sender ends in the middle: members get it anyway. */
static void test_by_rules(void **state)
{
	unsigned int i, num;

	(void)state;
	open_group();
	sender = new_qp();
	for (i = 0; i < DATAGRAMS; i++)
		post_datagram(i);
	num = part();
	assert_true(num > 0);
	assert_int_equal(rig_qp_destroy(sender), 0);
	num += take();
	assert_int_equal(num + parts(), DATAGRAMS * MEMBERS);
	for (i = 0; i < MEMBERS; i++)
		assert_int_equal(got[i], DATAGRAMS);
}

#define UPLINK_TEST(fn) cmocka_unit_test_setup_teardown(fn, start_uplink, stop_uplink)
#define FAULT_TEST(fn) cmocka_unit_test_setup_teardown(fn, start_faults, stop_faults)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UPLINK_TEST(test_datagrams),
		UPLINK_TEST(test_changes_of_the_group),
		UPLINK_TEST(test_end_of_the_group),
		UPLINK_TEST(test_reset_of_the_hca),
		UPLINK_TEST(test_flood),
		FAULT_TEST(test_by_rules),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
