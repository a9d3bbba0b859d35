// SPDX-License-Identifier: GPL-2.0
/* Multicast groups: their members, and delivery to them. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "rig.h"

#define IOVA 0x10000ULL
#define LEN (1ULL << 20)
#define NUM_HCAS 3 /* start_three_hcas() */
#define MCAST_QPN 0xffffff
#define MAX_MCAST 8192
#define MAX_MCAST_QP 1024

static struct rig *rig;
static struct rig_mr *mr[NUM_HCAS];
static const uint8_t group[16] = {0xff, 0x0e, [15] = 1};

/* Write an entry of an HCA's GID table: an IPv6 address. */
static void set_gid(unsigned int hca, uint16_t index, uint16_t vlan)
{
	struct ohca_set_gid_in in = {
		.gid = {0xfe, 0x80, [15] = hca + 1},
		.index = htole16(index),
		.port = 1,
		.type = OHCA_GID_ROCE_V2,
		.vlan = htole16(vlan),
	};

	memcpy(in.mac, rig->hca[hca].mac, 6);
	assert_int_equal(drv_cmd(rig->hca[hca].drv, OHCA_CMD_SET_GID, &in, sizeof(in), NULL, 0), 0);
}

static int open_rig(void **state)
{
	unsigned int i;

	(void)state;
	rig = rig_open(server);
	for (i = 0; i < NUM_HCAS; i++) {
		mr[i] = rig_mr_new(&rig->hca[i], IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
		set_gid(i, 1, OHCA_VLAN_NONE);
	}
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	rig_close(rig);
	return 0;
}

static struct rig_qp *new_qp(unsigned int hca, uint8_t flags)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .flags = flags, .log_size = 2};
	struct rig_qp *qp = rig_qp_new(&rig->hca[hca], &opts);

	assert_int_equal(rig_to_init(qp) || rig_to_rtr(qp) || rig_to_rts(qp), 0);
	return qp;
}

static int mcast(uint16_t opcode, struct rig_qp *qp, const uint8_t *gid)
{
	struct ohca_mcast_in in = {.qpn = htole32(qp->qpn)};

	memcpy(in.gid, gid, 16);
	return drv_cmd(qp->hca->drv, opcode, &in, sizeof(in), NULL, 0);
}

static int attach(struct rig_qp *qp, const uint8_t *gid)
{
	return mcast(OHCA_CMD_ATTACH_MCAST, qp, gid);
}

static int detach(struct rig_qp *qp, const uint8_t *gid)
{
	return mcast(OHCA_CMD_DETACH_MCAST, qp, gid);
}

static unsigned int index_of(const struct rig_qp *qp)
{
	return qp->hca - rig->hca;
}

static void post_recv(struct rig_qp *qp)
{
	struct ohca_sge sge = rig_sge(mr[index_of(qp)], IOVA + 4096, 1000);

	rig_post_recv(qp, 1, &sge, 1);
}

/* Send a message of 100 bytes to a GID from entry @sgid_index of the table. */
static void send_from(struct rig_qp *qp, uint32_t dest_qpn, const uint8_t *gid, uint16_t sgid_index)
{
	struct ohca_sge sge = rig_sge(mr[index_of(qp)], IOVA, 100);
	struct ohca_av av = {
		.dmac = {0x33, 0x33},
		.sgid_index = htole16(sgid_index),
		.hop_limit = 1,
		.port = 1,
	};
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.av = &av,
		.dest_qpn = dest_qpn,
		.qkey = RIG_QKEY,
	};
	struct ohca_cqe cqe;

	memcpy(av.dgid, gid, 16);
	rig_post_send(qp, &wr);
	cqe = rig_wait_send(qp);
	drv_cq_ack(qp->scq);
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
}

static void send(struct rig_qp *qp)
{
	send_from(qp, MCAST_QPN, group, 1);
}

static void assert_got(struct rig_qp *qp, const struct rig_qp *from)
{
	struct ohca_cqe cqe = rig_wait_recv(qp);

	drv_cq_ack(qp->rcq);
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	assert_int_equal(cqe.flags, OHCA_CQE_F_RQ | OHCA_CQE_F_GRH);
	assert_int_equal(le32toh(cqe.byte_len), OHCA_GRH_LEN + 100);
	assert_int_equal(le32toh(cqe.src_qpn), from->qpn);
	assert_memory_equal(cqe.smac, from->hca->mac, 6);
}

/* A message that is delivered is delivered before the send completes. */
static void assert_nothing(struct rig_qp *qp)
{
	struct ohca_cqe cqe;

	assert_false(drv_cq_poll(qp->rcq, &cqe));
}

/* All QPs of the group, on any HCA, and no others. */
static void test_replication(void **state)
{
	struct rig_qp *qp[NUM_HCAS * 3];
	unsigned int i, round;
	uint8_t grh[OHCA_GRH_LEN];

	(void)state;
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = new_qp(i % NUM_HCAS, 0);
		if (i < NUM_HCAS * 2)
			assert_int_equal(attach(qp[i], group), 0);
	}
	for (round = 0; round < 20; round++) {
		struct rig_qp *from = qp[round % ARRAY_SIZE(qp)];

		rig_mr_fill(mr[index_of(from)], IOVA, 100, round);
		for (i = 0; i < ARRAY_SIZE(qp); i++) {
			if (i < NUM_HCAS * 2 || !round)
				post_recv(qp[i]);
		}
		send(from);
		for (i = 0; i < NUM_HCAS * 2; i++)
			assert_got(qp[i], from);
		for (; i < ARRAY_SIZE(qp); i++)
			assert_nothing(qp[i]);
		for (i = 0; i < NUM_HCAS; i++)
			assert_true(rig_mr_is(mr[i], IOVA + 4096 + OHCA_GRH_LEN, 100, round));
	}
	rig_mr_get(mr[0], IOVA + 4096, grh, sizeof(grh));
	assert_memory_equal(grh + 24, group, 16);
}

/*
 * A QP without a receive, with another Q_Key, or not ready, does not prevent delivery to the
 * others.
 */
static void test_not_taken(void **state)
{
	struct rig_qp *qp[5];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = new_qp(1, 0);
		assert_int_equal(attach(qp[i], group), 0);
		if (i != 0)
			post_recv(qp[i]);
	}
	qp[1]->attr.qkey = htole32(5);
	assert_int_equal(rig_modify(qp[1], 0, OHCA_QP_QKEY), 0);
	rig_to_reset(qp[2]);
	assert_int_equal(rig_modify(qp[3], OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_int_equal(rig_wait_recv(qp[3]).status, OHCA_WC_WR_FLUSH_ERR);
	send(qp[4]);
	assert_got(qp[4], qp[4]);
	for (i = 0; i < 4; i++)
		assert_nothing(qp[i]);
	/* The QP is still in the group after a reset. */
	assert_int_equal(rig_to_init(qp[2]) || rig_to_rtr(qp[2]), 0);
	post_recv(qp[2]);
	send(qp[4]);
	assert_got(qp[2], qp[4]);
}

static void test_no_loopback(void **state)
{
	struct rig_qp *a = new_qp(0, OHCA_QP_F_NO_MCAST_LOOPBACK), *b = new_qp(0, 0),
		      *c = new_qp(1, 0);
	struct rig_qp *qp[] = {a, b, c};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		assert_int_equal(attach(qp[i], group), 0);
		post_recv(qp[i]);
	}
	send(a);
	assert_got(b, a);
	assert_got(c, a);
	assert_nothing(a);
	/* It receives messages of others. */
	post_recv(b);
	send(b);
	assert_got(a, b);
	assert_got(b, b);
}

/* Other groups, and addresses that look like multicast. */
static void test_addresses(void **state)
{
	static const uint8_t groups[][16] = {
		{0xff, 0x0e, [15] = 1},
		{0xff, 0x0e, [15] = 2},
		{[10] = 0xff, 0xff, 224, 0, 0, 1},
		{[10] = 0xff, 0xff, 239, 255, 255, 255},
	};
	static const uint8_t unicast[][16] = {
		{0xfe, 0x80, [15] = 1},
		{[10] = 0xff, 0xff, 223, 0, 0, 1},
		{[10] = 0xff, 0xff, 240, 0, 0, 1},
		{[10] = 0xff, 0, 224, 0, 0, 1},
		{0},
	};
	struct rig_qp *sender = new_qp(0, 0), *qp[ARRAY_SIZE(groups)];
	unsigned int i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = new_qp(1, 0);
		assert_int_equal(attach(qp[i], groups[i]), 0);
		post_recv(qp[i]);
	}
	for (i = 0; i < ARRAY_SIZE(unicast); i++) {
		assert_int_equal(attach(qp[0], unicast[i]), OHCA_CMD_BAD_PARAM);
		assert_int_equal(qp[0]->hca->drv->syndrome, offsetof(struct ohca_mcast_in, gid));
		assert_int_equal(detach(qp[0], unicast[i]), OHCA_CMD_BAD_PARAM);
	}
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		/* IPv4 groups from the IPv4 GID */
		send_from(sender, MCAST_QPN, groups[i], i < 2 ? 1 : 0);
		assert_got(qp[i], sender);
		post_recv(qp[i]);
		for (j = 0; j < ARRAY_SIZE(qp); j++)
			assert_nothing(qp[j]);
	}
	/* Not to QP 0xffffff, and not to a multicast GID */
	send_from(sender, qp[0]->qpn, group, 1);
	send_from(sender, MCAST_QPN, unicast[0], 1);
	assert_nothing(qp[0]);
}

static void test_vlan(void **state)
{
	struct rig_qp *a = new_qp(0, 0), *b = new_qp(1, 0), *c = new_qp(2, 0);

	(void)state;
	set_gid(0, 2, 7);
	set_gid(1, 2, 7);
	set_gid(2, 1, 8); /* only entry 0 is still without a VLAN */
	assert_int_equal(attach(b, group) || attach(c, group), 0);
	post_recv(b);
	post_recv(c);
	send_from(a, MCAST_QPN, group, 2);
	assert_got(b, a);
	assert_nothing(c);
	post_recv(b);
	send_from(a, MCAST_QPN, group, 1);
	assert_got(b, a);
	assert_got(c, a);
}

static void test_port_down(void **state)
{
	struct ohca_modify_port_in down = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	struct rig_qp *a = new_qp(0, 0), *b = new_qp(1, 0);

	(void)state;
	assert_int_equal(attach(a, group) || attach(b, group), 0);
	post_recv(a);
	post_recv(b);
	assert_int_equal(drv_cmd(b->hca->drv, OHCA_CMD_MODIFY_PORT, &down, sizeof(down), NULL, 0),
			 0);
	send(a);
	assert_got(a, a);
	assert_nothing(b);
	post_recv(a);
	assert_int_equal(drv_cmd(a->hca->drv, OHCA_CMD_MODIFY_PORT, &down, sizeof(down), NULL, 0),
			 0);
	send(a);
	assert_nothing(a);
}

static void test_commands(void **state)
{
	struct rig_qp *qp = new_qp(0, 0), *rc = rig_qp_new(&rig->hca[0], NULL), none = *qp;
	struct rig_qp_opts opts = {.type = OHCA_QPT_GSI, .flags = OHCA_QP_F_PRIVILEGED};
	struct rig_qp *gsi = rig_qp_new(&rig->hca[0], &opts);
	struct rig_qp *from = new_qp(1, 0);
	struct ohca_mcast_in in = {.qpn = htole32(qp->qpn), .rsvd = htole16(1)};

	(void)state;
	none.qpn = 0xfffff;
	assert_int_equal(attach(&none, group), OHCA_CMD_BAD_HANDLE);
	assert_int_equal(attach(rc, group), OHCA_CMD_BAD_PARAM);
	assert_int_equal(rc->hca->drv->syndrome, offsetof(struct ohca_mcast_in, qpn));
	assert_int_equal(attach(gsi, group), OHCA_CMD_BAD_PARAM);
	memcpy(in.gid, group, 16);
	assert_int_equal(drv_cmd(qp->hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0),
			 OHCA_CMD_BAD_PARAM);
	in.rsvd = 0;
	in.mlid = htole16(0xc000); /* a group of Ethernet has no LID */
	assert_int_equal(drv_cmd(qp->hca->drv, OHCA_CMD_ATTACH_MCAST, &in, sizeof(in), NULL, 0),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(detach(qp, group), OHCA_CMD_BAD_HANDLE);

	/* Attaching twice is the same as attaching once. */
	assert_int_equal(attach(qp, group), 0);
	assert_int_equal(attach(qp, group), 0);
	post_recv(qp);
	post_recv(qp);
	send(from);
	assert_got(qp, from);
	assert_nothing(qp);
	assert_int_equal(detach(qp, group), 0);
	assert_int_equal(detach(qp, group), OHCA_CMD_BAD_HANDLE);
	send(from);
	assert_nothing(qp);
	assert_int_equal(attach(qp, group), 0);
	send(from);
	assert_got(qp, from);
	/* Destroyed while it is in a group */
	assert_int_equal(rig_qp_destroy(qp), 0);
	send(from);
	assert_int_equal(detach(qp, group), OHCA_CMD_BAD_HANDLE);
}

static void number_gid(uint8_t gid[16], uint32_t n)
{
	memset(gid, 0, 16);
	gid[0] = 0xff;
	memcpy(gid + 12, &n, sizeof(n));
}

/* The maximum number of groups, each with its own traffic; destroying the QP detaches it from all. */
static void test_max_groups(void **state)
{
	struct rig_qp *qp = new_qp(0, 0), *other = new_qp(0, 0), *from = new_qp(1, 0);
	uint8_t gid[16];
	uint32_t i;

	(void)state;
	for (i = 0; i < MAX_MCAST; i++) {
		number_gid(gid, i);
		assert_int_equal(attach(qp, gid), 0);
	}
	number_gid(gid, i);
	assert_int_equal(attach(qp, gid), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(attach(other, gid), OHCA_CMD_NO_RESOURCE);
	for (i = 0; i < MAX_MCAST; i += 97) {
		number_gid(gid, i);
		post_recv(qp);
		send_from(from, MCAST_QPN, gid, 1);
		assert_got(qp, from);
	}
	for (i = 0; i < MAX_MCAST; i += 2) {
		number_gid(gid, i);
		assert_int_equal(detach(qp, gid), 0);
	}
	post_recv(qp);
	for (i = 0; i < 100; i++) {
		number_gid(gid, i * 2);
		send_from(from, MCAST_QPN, gid, 1);
		assert_nothing(qp);
		number_gid(gid, i * 2 + 1);
		send_from(from, MCAST_QPN, gid, 1);
		assert_got(qp, from);
		post_recv(qp);
	}
	assert_int_equal(rig_qp_destroy(qp), 0);
	for (i = 0; i < MAX_MCAST; i++) {
		number_gid(gid, i);
		assert_int_equal(attach(other, gid), 0);
	}
}

static void test_max_members(void **state)
{
	static struct rig_qp *qp[MAX_MCAST_QP + 1];
	uint8_t gid[16];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = new_qp(0, 0);
		assert_int_equal(attach(qp[i], group),
				 i < MAX_MCAST_QP ? OHCA_CMD_OK : OHCA_CMD_NO_RESOURCE);
	}
	assert_int_equal(detach(qp[3], group), 0);
	assert_int_equal(attach(qp[MAX_MCAST_QP], group), 0);
	for (i = 0; i < ARRAY_SIZE(qp); i++)
		post_recv(qp[i]);
	send(qp[0]);
	for (i = 0; i < ARRAY_SIZE(qp); i++) {
		if (i != 3)
			assert_got(qp[i], qp[0]);
	}
	assert_nothing(qp[3]);
	number_gid(gid, 1);
	assert_int_equal(attach(qp[0], gid), 0);
}

#define MCAST_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MCAST_TEST(test_replication), MCAST_TEST(test_not_taken),
		MCAST_TEST(test_no_loopback), MCAST_TEST(test_addresses),
		MCAST_TEST(test_vlan),	      MCAST_TEST(test_port_down),
		MCAST_TEST(test_commands),    MCAST_TEST(test_max_groups),
		MCAST_TEST(test_max_members),
	};

	return RUN_TESTS(tests, start_three_hcas, stop_hcas);
}
