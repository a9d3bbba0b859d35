// SPDX-License-Identifier: GPL-2.0
/* Forwarding tables with a loop: two switches with several cables between them. */

#include <endian.h>

#include "harness.h"
#include "ib_wired.h"
#include "inproc_clock.h"
#include "mad_request.h"
#include "packet/ib.h"
#include "packet/sm_attr.h"
#include "rig_assert.h"

#define CABLES 3
#define LOST_LID 0x15 /* nobody's, but the tables lead to it */
#define MLID 0xc001

static struct ib_port *cable(unsigned int i, unsigned int num)
{
	return &sw(i)->ports[UPLINK_PORT + num];
}

/* One more cable between the switches, whose ports are active */
static void add_cable(unsigned int num)
{
	char text[128];
	uint8_t state;
	unsigned int i;

	snprintf(text, sizeof(text), "stream=unix:%s/cable%u,listen,link=ib", server->dir, num);
	inproc_add_uplink(inproc_fabric(0), text);
	snprintf(text, sizeof(text), "stream=unix:%s/cable%u,link=ib", server->dir, num);
	inproc_add_uplink(inproc_fabric(1), text);
	inproc_settle();
	for (state = IB_PORT_ARMED; state <= IB_PORT_ACTIVE; state++) {
		for (i = 0; i < 2; i++)
			ib_link_set_state(cable(i, num), state);
	}
}

/* The first switch does not know where packets of its HCA are from: those that come back are not stopped there. */
static void hide_source(void)
{
	*ib_switch_linear_room(sw(0), LID(0), 1) = IB_SWITCH_NO_PORT;
	ib_switch_changed(sw(0));
}

static int open_loop(void **state)
{
	unsigned int i;

	ib_wired_start_subnet(state);
	for (i = 1; i < CABLES; i++)
		add_cable(i);
	/* By one cable, and back by the other one */
	for (i = 0; i < 2; i++) {
		*ib_switch_linear_room(sw(i), LOST_LID, 1) = cable(i, i)->num;
		*ib_switch_mcast_room(sw(i), MLID - LID_MCAST) = (1 << 1) | ((1 << CABLES) - 1)
										    << UPLINK_PORT;
		ib_switch_changed(sw(i));
	}
	return 0;
}

/* What has left the switches by the cables since the last call, and what they have discarded */
static uint64_t sent(uint64_t *discards)
{
	static uint64_t last, last_discards;
	uint64_t all = 0, lost = 0, num;
	unsigned int i, j;

	for (i = 0; i < 2; i++) {
		for (j = 0; j < CABLES; j++) {
			all += cable(i, j)->counters.xmit.pkts;
			lost += cable(i, j)->counters.xmit_discards;
		}
	}
	num = all - last;
	*discards = lost - last_discards;
	last = all;
	last_discards = lost;
	return num;
}

/* Until nothing moves any more; it takes less than a second. */
static uint64_t settle(uint64_t *discards)
{
	uint64_t end = inproc_clock() + 1000 * MS, sum = 0, lost, num;

	*discards = 0;
	do {
		inproc_settle();
		num = sent(&lost);
		sum += num;
		*discards += lost;
		assert_true(inproc_clock() < end);
	} while (num);
	return sum;
}

static void send_ud(struct ud *ud, uint32_t dest_qpn)
{
	struct ohca_sge sge = rig_sge(ud->mr[0], PAIR_IOVA, LEN);
	struct rig_wr wr = rig_datagram(ud->qp[1], &ud->av, &sge);

	wr.dest_qpn = dest_qpn;
	rig_post_send(ud->qp[0], &wr);
	assert_int_equal(rig_wait_send(ud->qp[0]).status, OHCA_WC_SUCCESS);
}

/* A packet ends after as many hops as there may be, and the port by which it would go on counts it. */
static void test_unicast(void **state)
{
	struct ud ud = open_ud();
	uint64_t discards;

	(void)state;
	hide_source();
	settle(&discards);
	ud.av.ib.dlid = htole16(LOST_LID);
	send_ud(&ud, ud.qp[1]->qpn);
	assert_int_equal(settle(&discards), IB_MAX_HOPS);
	assert_int_equal(discards, 1);
	assert_int_equal(cable(0, 0)->counters.xmit_discards, 1);
	/* Others are not disturbed. */
	ud.av.ib.dlid = htole16(LID(1));
	recv_at(&ud, 1);
	send_ud(&ud, ud.qp[1]->qpn);
	assert_int_equal(rig_wait_recv(ud.qp[1]).status, OHCA_WC_SUCCESS);
	assert_int_equal(settle(&discards), 1);
	assert_int_equal(discards, 0);
}

/* A request is sent again, and ends as it does when packets are lost. */
static void test_connected(void **state)
{
	struct rig_qp *qp = rig_qp_new(&rig->hca[0], &(struct rig_qp_opts){0});
	struct rig_mr *mr = rig_mr_new(&rig->hca[0], PAIR_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(mr, PAIR_IOVA, LEN);
	const struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	uint64_t discards;

	(void)state;
	hide_source();
	settle(&discards);
	qp->attr.av = (struct ohca_av){.ib.dlid = htole16(LOST_LID), .port = 1};
	qp->attr.dest_qpn = htole32(5);
	qp->attr.timeout = 8; /* 1 ms */
	qp->attr.retry_cnt = 2;
	assert_to_rts(qp);
	rig_post_send(qp, &wr);
	assert_int_equal(rig_wait_send(qp).status, OHCA_WC_RETRY_EXC_ERR);
	assert_int_equal(settle(&discards), 3 * IB_MAX_HOPS);
	assert_int_equal(discards, 3);
}

static void test_smp(void **state)
{
	struct mad_packet p = mad_request(MAD_CLASS_SM_LID, MAD_GET, SM_NODE_INFO, 0);
	uint64_t discards;

	(void)state;
	settle(&discards);
	p.slid = LID(0);
	p.dlid = LOST_LID;
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	assert_int_equal(settle(&discards), IB_MAX_HOPS);
	assert_int_equal(discards, 1);
	assert_int_equal(cable(0, 0)->counters.xmit_discards, 1);
}

/* Each switch sends a copy to each other cable: without end, they would fill the links. */
static void test_mcast(void **state)
{
	struct ud ud = open_ud();
	uint64_t discards, hops;

	(void)state;
	hide_source();
	settle(&discards);
	ud.av.ib.dlid = htole16(MLID);
	ud.av.ib.flags = OHCA_AV_GRH;
	memcpy(ud.av.dgid, (const uint8_t[16]){0xff, 0x12, [15] = 1}, 16);
	send_ud(&ud, QPN_MCAST);
	hops = settle(&discards);
	assert_in_range(hops, IB_MAX_HOPS, IB_MAX_HOPS_MCAST);
	assert_in_range(discards, CABLES, IB_MAX_HOPS_MCAST);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_loop, ib_wired_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unicast),
		TEST(test_connected),
		TEST(test_smp),
		TEST(test_mcast),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
