// SPDX-License-Identifier: GPL-2.0
/* Ports that are no faster than their links, and static rates, in time that the test makes. */

#include <endian.h>

#include "device/object.h"
#include "fabric/ib_traffic.h"
#include "harness.h"
#include "ib_rig.h"
#include "inject/pkt_fault.h"
#include "inproc_clock.h"
#include "packet/pm_attr.h"
#include "qp/pace.h"
#include "qp/qp.h"
#include "rig_assert.h"

#define IOVA 0x7f0000000000ULL
#define SIZE (4U << 20)
#define LEN (1U << 20)
#define NS_PER_BYTE 4 /* at 1x SDR, and at a static rate of 2.5 Gb/s */
#define RATE_2_5 2 /* enum ib_rate */
#define MLID 0xc000

/* What LEN bytes take with their headers; what may be sent before a QP waits, and be caught up with */
#define TIME ((uint64_t)LEN * NS_PER_BYTE)
#define SLACK ((64U << 10) * NS_PER_BYTE + 100000)

static struct rig_mr *mr[2];

static int open_subnet(void **state)
{
	unsigned int i;

	ib_rig_open(state);
	for (i = 0; i < 2; i++)
		mr[i] = rig_mr_new(&hca[i], IOVA, SIZE, RIG_ALL_ACCESS, 0);
	assert_int_equal(pacer_new(inproc_hca(0)->ports[0]), 0);
	return 0;
}

/* The link of HCA 0 is as slow as there are, or as it was. */
static void link_up(bool slow)
{
	const struct ib_speeds sdr = {.width = PORT_WIDTH_1X, .speed = PORT_SPEED_SDR};
	struct ib_port *at = ib_port_of(0), *peer = at->peer;

	ib_link_disconnect(at);
	if (slow)
		ib_port_set_supported(at, &sdr);
	ib_link_connect(at, peer);
	ib_bed_up();
	inproc_clock_start();
}

static int close_subnet(void **state)
{
	inproc_clock_stop();
	return ib_bed_close(state);
}

/* A connection from HCA 0 */
static struct rig_qp *connect_rc_sl(uint8_t rate, uint8_t sl)
{
	struct rig_qp *from = rig_qp_new(&hca[0], NULL), *to = rig_qp_new(&hca[1], NULL);

	from->attr.timeout = 20;
	from->attr.path_mtu = 5;
	to->attr.path_mtu = 5;
	from->attr.av = ib_av_to(1);
	from->attr.av.ib.static_rate = rate;
	from->attr.av.sl = sl;
	to->attr.av = ib_av_to(0);
	ib_connect(from, to);
	return from;
}

static struct rig_qp *connect_rc(uint8_t rate)
{
	return connect_rc_sl(rate, 0);
}

static void post_write(struct rig_qp *from, uint32_t len)
{
	ib_post_write(from, rig_sge(mr[0], IOVA, len), IOVA, mr[1]->key);
}

static uint64_t write_time(struct rig_qp *from, uint32_t len)
{
	uint64_t begin = inproc_clock();

	post_write(from, len);
	assert_cqe(rig_wait_send(from), OHCA_WC_SUCCESS, 0, 77);
	return inproc_clock() - begin;
}

static void assert_took(uint64_t took, uint64_t expected)
{
	assert_in_range(took + SLACK, expected, expected + 2 * SLACK);
}

static void test_port(void **state)
{
	uint64_t took;

	(void)state;
	link_up(true);
	took = write_time(connect_rc(0), LEN);
	assert_took(took, TIME);
	assert_in_range(ib_waited(ib_port_of(0)), took / 2, took);
	/* The other direction is not concerned. */
	assert_int_equal(ib_waited(ib_port_of(1)), 0);
}

static void test_not_asked(void **state)
{
	(void)state;
	pace_class.fini(inproc_hca(0));
	inproc_hca(0)->ports[0]->pacer = NULL;
	link_up(true);
	assert_in_range(write_time(connect_rc(2), LEN), 0, TIME / 10);
	assert_int_equal(ib_waited(ib_port_of(0)), 0);
}

/* Two QPs have half of the link each. */
static void test_shared(void **state)
{
	struct rig_qp *qp[2];
	uint64_t begin, end;

	(void)state;
	link_up(true);
	qp[0] = connect_rc(0);
	qp[1] = connect_rc(0);
	begin = inproc_clock();
	post_write(qp[0], LEN);
	post_write(qp[1], LEN);
	rig_wait_send(qp[0]);
	end = inproc_clock();
	rig_wait_send(qp[1]);
	assert_took(inproc_clock() - begin, 2 * TIME);
	assert_in_range(inproc_clock() - end, 0, SLACK);
}

static void test_static_rate(void **state)
{
	struct rig_qp *slow, *fast;
	uint64_t begin;

	(void)state;
	link_up(false);
	slow = connect_rc(RATE_2_5);
	fast = connect_rc(0);
	assert_in_range(write_time(fast, LEN), 0, TIME / 10);
	begin = inproc_clock();
	post_write(slow, LEN);
	assert_in_range(write_time(fast, LEN), 0, TIME / 5);
	assert_cqe(rig_wait_send(slow), OHCA_WC_SUCCESS, 0, 77);
	assert_took(inproc_clock() - begin, TIME);
}

/* The address of each datagram has a rate of its own. */
static void test_datagrams(void **state)
{
	struct rig_qp *a, *b;
	struct ohca_sge sge = rig_sge(mr[0], IOVA, 4096);
	struct ohca_av av = {.ib.dlid = htole16(BED_LID(1)), .port = 1};
	uint64_t begin;
	unsigned int i, num = 50;

	(void)state;
	link_up(false);
	a = ib_new_qp(0, OHCA_QPT_UD);
	b = ib_new_qp(1, OHCA_QPT_UD);
	for (av.ib.static_rate = 0; av.ib.static_rate <= RATE_2_5; av.ib.static_rate += RATE_2_5) {
		struct rig_wr wr = rig_datagram(b, &av, &sge);

		begin = inproc_clock();
		for (i = 0; i < num; i++)
			rig_post_send(a, &wr);
		for (i = 0; i < num; i++)
			assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
		assert_took(inproc_clock() - begin,
			    av.ib.static_rate ? (uint64_t)num * 4096 * NS_PER_BYTE : 0);
	}
}

/* One to a multicast group comes to all members, in parts, and then the next datagram is sent. */
static void test_multicast(void **state)
{
	uint16_t masks[32] = {htobe16(0x0006)};
	struct rig_qp *from, *member[8], group = {.qpn = 0xffffff};
	struct ohca_sge sge = rig_sge(mr[0], IOVA, 4096), into = rig_sge(mr[1], IOVA, 8192);
	struct ohca_av av = {.ib = {.dlid = htole16(MLID), .flags = OHCA_AV_GRH},
			     .port = 1,
			     .dgid = {0xff, 0x12, [15] = 1}};
	struct rig_wr wr;
	unsigned int i, n;

	(void)state;
	link_up(true);
	assert_int_equal(ib_set(SM_MCAST_FDB, 0, to_switch, masks), MAD_OK);
	from = ib_new_qp(0, OHCA_QPT_UD);
	for (i = 0; i < ARRAY_SIZE(member); i++) {
		member[i] = ib_new_qp(1, OHCA_QPT_UD);
		assert_int_equal(ib_mcast(OHCA_CMD_ATTACH_MCAST, member[i], MLID), OHCA_CMD_OK);
		rig_post_recv(member[i], 1, &into, 1);
		rig_post_recv(member[i], 2, &into, 1);
	}
	for (n = 0; n < 2; n++) {
		wr = rig_datagram(&group, &av, &sge);
		rig_post_send(from, &wr);
		assert_cqe(rig_wait_send(from), OHCA_WC_SUCCESS, 0, wr.wr_id);
		for (i = 0; i < ARRAY_SIZE(member); i++)
			assert_int_equal(rig_wait_recv(member[i]).status, OHCA_WC_SUCCESS);
	}
}

static void test_xmit_wait(void **state)
{
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, PM_PORT_COUNTERS, 0);
	struct port_counters c = {.port = 1};
	struct ohca_mad_in in = {.port = 1};
	struct ohca_mad_out out;
	uint64_t wait;

	(void)state;
	link_up(true);
	write_time(connect_rc(0), LEN);
	/* Until the link has sent all of it */
	inproc_elapse(MS);
	wait = ib_waited(ib_port_of(0));
	memcpy(p.mad + PM_DATA, &c, sizeof(c));
	memcpy(in.mad, p.mad, sizeof(in.mad));
	assert_int_equal(drv_cmd(ib.drv[0], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	memcpy(&c, out.mad + PM_DATA, sizeof(c));
	assert_int_equal(be32toh(c.xmit_wait), wait / 1000);
	/* CounterSelect2 has its bit. */
	c.select = 0;
	c.select2 = 1;
	c.xmit_wait = 0;
	p.hdr.method = MAD_SET;
	memcpy(p.mad + PM_DATA, &c, sizeof(c));
	memcpy(in.mad, p.mad, sizeof(in.mad));
	assert_int_equal(drv_cmd(ib.drv[0], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	memcpy(&c, out.mad + PM_DATA, sizeof(c));
	assert_int_equal(c.xmit_wait, 0);
	assert_true(be32toh(c.xmit_pkts) > LEN / 4096);
}

/* VL arbitration: each service level has the lane of its number. */

static void set_lanes(void)
{
	struct ib_port *ib = ib_port_of(0);
	unsigned int i;

	link_up(true);
	for (i = 0; i < 4; i++)
		ib->sl2vl[i] = 2 * i << 4 | (2 * i + 1);
	ib->oper_vls = 4; /* VL0 to VL7 */
	ib_port_changed(ib);
}

/* Lanes and their weights */
static void set_weights(bool high, const char *entries, unsigned int num)
{
	uint8_t *table = ib_port_of(0)->vl_arb[high];

	memset(table, 0, SMP_DATA_LEN);
	memcpy(table, entries, 2 * num);
}

/* Both write LEN bytes.  What the first one takes until it ends; both together take the time of both. */
static uint64_t race(struct rig_qp *first, struct rig_qp *other)
{
	uint64_t begin = inproc_clock(), took;

	post_write(other, LEN);
	post_write(first, LEN);
	assert_cqe(rig_wait_send(first), OHCA_WC_SUCCESS, 0, 77);
	took = inproc_clock() - begin;
	assert_cqe(rig_wait_send(other), OHCA_WC_SUCCESS, 0, 77);
	assert_took(inproc_clock() - begin, 2 * TIME);
	return took;
}

/* It had so many percent of the link while it sent. */
static void assert_share(uint64_t took, unsigned int percent)
{
	assert_in_range(took + SLACK, TIME * 100 / (percent + 6),
			TIME * 100 / (percent - 6) + SLACK);
}

static void test_weights(void **state)
{
	struct rig_qp *qp[2];
	unsigned int i;

	(void)state;
	set_lanes();
	for (i = 0; i < 2; i++)
		qp[i] = connect_rc_sl(0, i);
	assert_share(race(qp[0], qp[1]), 50);
	set_weights(false, "\0\100\1\20", 2);
	assert_share(race(qp[0], qp[1]), 80);
	set_weights(false, "\0\20\1\100", 2);
	assert_share(race(qp[1], qp[0]), 80);
	/* Entries of the same lane add up; those without a weight do not count. */
	set_weights(false, "\0\40\1\20\0\0\0\40", 4);
	assert_share(race(qp[0], qp[1]), 80);
}

static void test_priority(void **state)
{
	struct rig_qp *high, *low;

	(void)state;
	set_lanes();
	low = connect_rc_sl(0, 0);
	high = connect_rc_sl(0, 1);
	set_weights(true, "\1\1", 1);
	set_weights(false, "\0\377", 1);
	ib_port_of(0)->vl_high_limit = 255;
	assert_share(race(high, low), 94);
	/* One turn each */
	ib_port_of(0)->vl_high_limit = 0;
	assert_share(race(high, low), 50);
	/* 48 KiB, which are three turns */
	ib_port_of(0)->vl_high_limit = 12;
	assert_share(race(high, low), 75);
}

/* A lane without a weight has what is left. */
static void test_no_weight(void **state)
{
	struct rig_qp *with, *without;

	(void)state;
	set_lanes();
	with = connect_rc_sl(0, 0);
	without = connect_rc_sl(0, 2);
	set_weights(false, "\0\1\1\1", 2);
	assert_share(race(with, without), 94);
	assert_took(write_time(without, LEN), TIME);
}

/* Those of a service level as well */
static void test_lane_of_datagrams(void **state)
{
	struct rig_qp *rc, *a, *b;
	struct ohca_sge sge = rig_sge(mr[0], IOVA, 4096);
	struct ohca_av av = {.ib.dlid = htole16(BED_LID(1)), .port = 1, .sl = 1};
	unsigned int i, num = 60, done = 0;
	struct ohca_cqe cqe;
	struct rig_wr wr;

	(void)state;
	set_lanes();
	rc = connect_rc_sl(0, 0);
	a = ib_new_qp(0, OHCA_QPT_UD);
	b = ib_new_qp(1, OHCA_QPT_UD);
	wr = rig_datagram(b, &av, &sge);
	set_weights(false, "\0\100\1\20", 2);
	for (i = 0; i < num; i++)
		rig_put_send(a, &wr);
	post_write(rc, LEN / 2);
	rig_ring(a);
	rig_wait_send(rc);
	while (drv_cq_poll(a->scq, &cqe))
		done++;
	/* A quarter of what the connection has had */
	assert_in_range(done, LEN / 2 / 4096 / 4 - 6, LEN / 2 / 4096 / 4 + 6);
	for (; done < num; done++)
		rig_wait_send(a);
}

/* A rule holds back a READ until a datagram was sent: it is answered in no QP's turn, and not in parts of that one's. */
static void test_late_read(void **state)
{
	struct rig_qp *rc, *a, *b;
	struct ohca_sge sge = rig_sge(mr[0], IOVA, 32 << 10);
	struct rig_wr wr = rig_write(&sge, IOVA, mr[1]->key);
	struct ohca_av av = {.ib.dlid = htole16(BED_LID(1)), .port = 1};
	char why[RULE_MAX_WHY];
	struct pkt_rule *rule = pkt_rule_parse("delay=1ms,op=rdma-read-request", why, sizeof(why));

	(void)state;
	link_up(false);
	rc = connect_rc(0);
	a = ib_new_qp(0, OHCA_QPT_UD);
	b = ib_new_qp(1, OHCA_QPT_UD);
	assert_int_equal(pkt_fault_add(inproc_fabric(0), inproc_hca(0)->loop, rule), 0);
	wr.opcode = OHCA_OP_RDMA_READ;
	rig_post_send(rc, &wr);
	inproc_elapse(MS / 10);
	sge.length = htole32(100);
	wr = rig_datagram(b, &av, &sge);
	rig_post_send(a, &wr);
	assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
	assert_cqe(rig_wait_send(rc), OHCA_WC_SUCCESS, 0, 77);
	assert_int_equal(rule->hits, 1);
}

/* QPs that wait may go. */
static void test_gone(void **state)
{
	struct rig_qp *from, *other;

	(void)state;
	link_up(true);
	from = connect_rc(0);
	other = connect_rc(0);
	post_write(from, LEN);
	post_write(other, LEN);
	inproc_elapse(MS);
	assert_int_equal(rig_qp_destroy(from), 0);
	inproc_elapse(MS);
	assert_int_equal(rig_modify(other, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_int_equal(rig_wait_send(other).status, OHCA_WC_WR_FLUSH_ERR);
	other = connect_rc(0);
	post_write(other, LEN);
	inproc_elapse(MS);
	drv_reset(ib.drv[0]);
	inproc_elapse(MS);
}

/* This comes after the port's timer: what that has chosen does not run yet. */
static void stop_at_turn(struct timer *timer)
{
	struct hca *dev = inproc_hca(0);

	(void)timer;
	dev->ready = list_empty(&dev->run);
}

/* It is the QP's turn, and it has not run yet.  No other one waits. */
static void wait_for_turn(const struct rig_qp *qp)
{
	static struct timer timer = {.fn = stop_at_turn};
	struct hca *dev = inproc_hca(0);
	uint64_t end = inproc_clock() + MS;

	inproc_elapse(MS / 20);
	while (dev->ready) {
		assert_in_range(inproc_clock(), 0, end);
		/* In the next round */
		loop_timer_arm(dev->loop, &timer, inproc_clock() + 1000);
		inproc_step();
	}
	dev->ready = true;
	assert_ptr_equal(dev->run.next, &qp_get(dev, qp->qpn)->run);
}

/* One may go when it is its turn.  Others send nevertheless, whether they come before it would have run or later. */
static void test_gone_at_turn(void **state)
{
	static const uint8_t states[] = {OHCA_QPS_RESET, OHCA_QPS_ERR};
	unsigned int i, before;
	struct ohca_cqe cqe;

	(void)state;
	link_up(true);
	for (i = 0; i <= ARRAY_SIZE(states); i++) {
		for (before = 0; before < 2; before++) {
			struct rig_qp *from = connect_rc(0), *other = connect_rc(0);

			post_write(from, LEN);
			wait_for_turn(from);
			if (before) {
				struct qp *qp = qp_get(inproc_hca(0), from->qpn);

				/* As if a timer of the other one had been first */
				list_del(&qp->run);
				post_write(other, 4096);
				qp_schedule(qp_get(inproc_hca(0), other->qpn));
				qp_schedule(qp);
			}
			if (i < ARRAY_SIZE(states))
				assert_int_equal(rig_modify(from, states[i], OHCA_QP_STATE), 0);
			else
				assert_int_equal(rig_qp_destroy(from), 0);
			if (!before)
				post_write(other, 4096);
			inproc_elapse(MS);
			assert_true(drv_cq_poll(other->scq, &cqe));
			assert_cqe(cqe, OHCA_WC_SUCCESS, 0, 77);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_subnet, close_subnet)

static const struct CMUnitTest tests[] = {
	TEST(test_port),	 TEST(test_not_asked),	       TEST(test_shared),
	TEST(test_static_rate),	 TEST(test_datagrams),	       TEST(test_multicast),
	TEST(test_xmit_wait),	 TEST(test_weights),	       TEST(test_priority),
	TEST(test_no_weight),	 TEST(test_lane_of_datagrams), TEST(test_gone),
	TEST(test_gone_at_turn), TEST(test_late_read),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
