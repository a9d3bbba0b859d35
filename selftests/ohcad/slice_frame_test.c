// SPDX-License-Identifier: GPL-2.0
/*
 * A frame that matches the flows of many QPs comes to a few of them in each round, and a few segments of a large frame are sent in
 * each round.  Meanwhile, a message of another HCA is sent and received.
 */

#include <endian.h>
#include <string.h>

#include "eth/flow_table.h"
#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "qp/sched.h"
#include "rig_assert.h"
#include "rig_raw.h"
#include "slice_bed.h"
#include "tcp_packet.h"

/* What short turns have room for; inproc_step() has two rounds */
#define IN_A_TURN (SCHED_SHORT / SCHED_MESSAGE)
/* A turn of the sender, and one in which the frame comes to more QPs */
#define IN_A_STEP (4 * IN_A_TURN)

#define TAKERS (2 * FLOW_MAX_SAME)
#define FRAMES 3

static struct raw sender, taker[TAKERS + 1];
static uint32_t flow[TAKERS + 1];
static unsigned int got[TAKERS + 1];
static uint8_t frames[FRAMES][RAW_UDP_LEN];

/* Half of the flows match all frames, and the others those of IPv4. */
static uint32_t new_flow(unsigned int i)
{
	struct ohca_create_flow_in in = raw_flow_in(taker[i].qp->qpn);

	if (i >= FLOW_MAX_SAME && i < TAKERS) {
		in.value.ether_type = htobe16(0x0800);
		in.mask.ether_type = htobe16(0xffff);
	}
	return raw_flow_new(&slice_rig->hca[BUSY], &in);
}

static void new_taker(unsigned int i)
{
	struct ohca_sge sge;
	unsigned int k;

	taker[i] = raw_new(&slice_rig->hca[BUSY], OHCA_QPT_ETH, 0);
	for (k = 0; k < FRAMES; k++) {
		sge = rig_sge(taker[i].mr, 0x10000 + k * RAW_ROOM, RAW_ROOM);
		rig_post_recv(taker[i].qp, k, &sge, 1);
	}
}

static void open_flows(void)
{
	unsigned int i;

	memset(got, 0, sizeof(got));
	for (i = 0; i <= TAKERS; i++)
		new_taker(i);
	for (i = 0; i < TAKERS; i++)
		flow[i] = new_flow(i);
	sender = raw_new(&slice_rig->hca[BUSY], OHCA_QPT_ETH, 0);
	for (i = 0; i < FRAMES; i++) {
		memcpy(frames[i], raw_udp, RAW_UDP_LEN);
		frames[i][RAW_UDP_LEN - 1] = i;
		rig_mr_set(sender.mr, 0x10000 + i * 64, frames[i], RAW_UDP_LEN);
	}
	slice_round();
}

static void post(unsigned int i)
{
	struct ohca_sge sge = rig_sge(sender.mr, 0x10000 + i * 64, RAW_UDP_LEN);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .num_sge = 1, .sge = &sge};

	rig_post_send(sender.qp, &wr);
}

/* Take the frames that have come, each of them in order and as it was sent.  Returns how many there are. */
static unsigned int take(void)
{
	uint8_t data[RAW_UDP_LEN];
	unsigned int i, num = 0;
	struct ohca_cqe cqe;

	for (i = 0; i <= TAKERS; i++) {
		for (; drv_cq_poll(taker[i].qp->rcq, &cqe); num++) {
			drv_cq_ack(taker[i].qp->rcq);
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
			assert_int_equal(le64toh(cqe.wr_id), got[i]);
			assert_int_equal(le32toh(cqe.byte_len), RAW_UDP_LEN);
			rig_mr_get(taker[i].mr, 0x10000 + got[i] * RAW_ROOM, data, sizeof(data));
			assert_memory_equal(data, frames[got[i]++], sizeof(data));
		}
	}
	return num;
}

static unsigned int part(void)
{
	return slice_part(take, IN_A_STEP);
}

/* Rounds in which few get it, until nobody does any more.  Returns how many have. */
static unsigned int parts(void)
{
	return slice_parts(take, IN_A_STEP);
}

static void test_many_flows(void **state)
{
	unsigned int i;

	(void)state;
	open_flows();
	for (i = 0; i < FRAMES; i++)
		post(i);
	assert_int_equal(parts(), FRAMES * TAKERS);
	for (i = 0; i < TAKERS; i++)
		assert_int_equal(got[i], FRAMES);
	assert_int_equal(got[TAKERS], 0);
}

/* Flows go in the middle, those too that come next; one that comes then does not get the frame. */
static void test_changes_of_flows(void **state)
{
	unsigned int num, i;

	(void)state;
	open_flows();
	post(0);
	num = part() + part();
	assert_in_range(num, 1, 2 * IN_A_STEP);
	for (i = 0; i < num + 2; i++)
		assert_int_equal(drv_destroy(slice_drv(), OHCA_CMD_DESTROY_FLOW, flow[i]), 0);
	flow[TAKERS] = new_flow(TAKERS);
	num += take() + parts();
	assert_in_range(num, TAKERS - 2, TAKERS);
	assert_int_equal(got[TAKERS], 0);
}

/* All flows go: nothing is left to be done. */
static void test_end_of_flows(void **state)
{
	unsigned int i;

	(void)state;
	open_flows();
	post(0);
	part();
	for (i = TAKERS; i--;)
		assert_int_equal(drv_destroy(slice_drv(), OHCA_CMD_DESTROY_FLOW, flow[i]), 0);
	take();
	assert_int_equal(parts(), 0);
	assert_int_equal(inproc_hca(BUSY)->num_jobs, 0);
}

static void test_reset(void **state)
{
	(void)state;
	open_flows();
	post(0);
	part();
	assert_int_equal(inproc_hca(BUSY)->num_jobs, 1);
	drv_set_reg(slice_drv(), OHCA_REG_CTRL, OHCA_CTRL_RESET);
	assert_int_equal(inproc_hca(BUSY)->num_jobs, 0);
	while (inproc_hca(BUSY)->to_reset)
		slice_round();
	rig_renew_hca(slice_rig, BUSY);
}

/* What waits has a limit, whatever comes. */
static void test_flood(void **state)
{
	unsigned int i, k;

	(void)state;
	open_flows();
	for (k = 0; k < 4; k++) {
		for (i = 0; i < 32; i++)
			post(0);
		for (i = 0; i < 16; i++) {
			slice_round();
			assert_in_range(inproc_hca(BUSY)->num_jobs, 0, SCHED_MAX_JOBS);
		}
	}
	for (i = 0; inproc_hca(BUSY)->num_jobs; i++) {
		assert_true(i < SCHED_MAX_JOBS * TAKERS);
		inproc_step();
	}
}

#define IOVA 0x100000ULL
#define LEN (1ULL << 20)
#define SLOT 512U
#define RX (IOVA + LEN / 2)
#define DATA 60000U
#define MSS 400U
#define SEGMENTS (DATA / MSS)

/* A large frame from the busy HCA to the other one */
static struct rig_qp *from, *to;
static struct rig_mr *from_mr, *to_mr;
static struct tcp_packet large;
static unsigned int num_got;
static unsigned int num_small; /* of those, frames that are no segments */

static struct rig_qp *netdev(unsigned int hca)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_ETH,
					 .flags = OHCA_QP_F_PRIVILEGED,
					 .log_size = 9,
					 .cq_log_size = 10};
	struct rig_qp *qp = rig_qp_new(&slice_rig->hca[hca], &opts);

	assert_int_equal(rig_to_init(qp) || rig_to_rtr(qp) || rig_to_rts(qp), 0);
	return qp;
}

static void post_receives(unsigned int first, unsigned int num)
{
	unsigned int i;

	for (i = first; i < first + num; i++) {
		struct ohca_sge sge = rig_sge(to_mr, RX + i * SLOT, SLOT);

		rig_post_recv(to, i, &sge, 1);
	}
}

static void open_netdevs(unsigned int receives)
{
	const struct tcp_shape shape = {.data = DATA, .mss = MSS};
	uint8_t link[14] = {[12] = 0x08};

	num_got = 0;
	num_small = 0;
	from = netdev(BUSY);
	to = netdev(OTHER);
	from_mr = rig_mr_new(&slice_rig->hca[BUSY], IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	to_mr = rig_mr_new(&slice_rig->hca[OTHER], IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
	memcpy(link, slice_rig->hca[OTHER].mac, 6);
	memcpy(link + 6, slice_rig->hca[BUSY].mac, 6);
	tcp_packet_make(&large, &shape, link, sizeof(link));
	assert_int_equal(tcp_packet_segments(&large), SEGMENTS);
	rig_mr_set(from_mr, IOVA, large.bytes, large.len);
	post_receives(0, receives);
	slice_round();
}

static void post_large(void)
{
	const struct ohca_sq_wqe fields = {.eth = {.csum_start = htole16(large.tcp),
						   .csum_offset = htole16(16),
						   .ip_start = htole16(large.ip),
						   .hdr_len = htole16(large.hdr_len),
						   .mss = htole16(large.mss)}};
	struct ohca_sge sge = rig_sge(from_mr, IOVA, large.len);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED | OHCA_WQE_CSUM | OHCA_WQE_TSO,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields};

	rig_post_send(from, &wr);
}

/* Take the segments that have come, as they are to be, from @first on.  Returns how many there are. */
static unsigned int take_segments(unsigned int first)
{
	static uint8_t want[TCP_MAX_LEN], data[SLOT];
	unsigned int num = 0;
	struct ohca_cqe cqe;
	uint32_t len;

	for (; drv_cq_poll(to->rcq, &cqe); num_got++) {
		drv_cq_ack(to->rcq);
		assert_int_equal(cqe.status, 0);
		assert_int_equal(le64toh(cqe.wr_id), num_got);
		if (le32toh(cqe.byte_len) == RAW_UDP_LEN) {
			num_small++;
			continue;
		}
		len = tcp_packet_segment(&large, first + num++, want);
		assert_int_equal(le32toh(cqe.byte_len), len);
		rig_mr_get(to_mr, RX + num_got * SLOT, data, len);
		assert_memory_equal(data, want, len);
	}
	return num;
}

static bool is_sent(enum ohca_wc_status status)
{
	struct ohca_cqe cqe;

	if (!drv_cq_poll(from->scq, &cqe))
		return false;
	assert_int_equal(cqe.status, status);
	return true;
}

/* A step in which few of them come.  Returns how many have. */
static unsigned int segments_part(unsigned int first)
{
	unsigned int num;

	slice_round();
	num = take_segments(first);
	assert_in_range(num, 0, 2 * IN_A_TURN);
	return num;
}

static void wait_for_rest(unsigned int num)
{
	while (num < SEGMENTS)
		num += segments_part(num);
	slice_round();
	assert_true(is_sent(OHCA_WC_SUCCESS));
	assert_int_equal(take_segments(SEGMENTS), 0);
}

static void test_segments(void **state)
{
	(void)state;
	open_netdevs(2 * SEGMENTS);
	post_large();
	wait_for_rest(0);
	post_large();
	wait_for_rest(0);
}

/* A frame that was given up in the middle is not gone on with. */
static void test_reset_of_the_sender(void **state)
{
	unsigned int num;

	(void)state;
	open_netdevs(2 * SEGMENTS);
	post_large();
	num = segments_part(0);
	num += segments_part(num);
	assert_in_range(num, 1, 4 * IN_A_TURN);
	rig_to_reset(from);
	take_segments(num);
	assert_int_equal(rig_to_init(from) || rig_to_rtr(from) || rig_to_rts(from), 0);
	post_large();
	wait_for_rest(0);
}

/* In ERR it is flushed. */
static void test_error_of_the_sender(void **state)
{
	unsigned int num;

	(void)state;
	open_netdevs(2 * SEGMENTS);
	post_large();
	num = segments_part(0);
	assert_int_equal(rig_modify(from, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	take_segments(num);
	inproc_settle();
	assert_true(is_sent(OHCA_WC_WR_FLUSH_ERR));
	assert_int_equal(take_segments(SEGMENTS), 0);
}

/* In SQD all of the frame is sent; then the queue is drained. */
static void test_drained(void **state)
{
	struct rig_hca *hca = &slice_rig->hca[BUSY];
	struct ohca_eqe eqe;
	unsigned int num;

	(void)state;
	open_netdevs(2 * SEGMENTS);
	while (drv_eq_poll(hca->async, &eqe))
		drv_eq_ack(hca->async);
	post_large();
	post_large();
	num = segments_part(0);
	from->attr.en_sqd_async_notify = 1;
	assert_int_equal(
		rig_modify(from, OHCA_QPS_SQD, OHCA_QP_STATE | OHCA_QP_EN_SQD_ASYNC_NOTIFY), 0);
	num += take_segments(num);
	wait_for_rest(num);
	inproc_assert_event(hca, OHCA_EVENT_SQ_DRAINED, from->qpn);
	assert_int_equal(rig_modify(from, OHCA_QPS_RTS, OHCA_QP_STATE), 0);
	wait_for_rest(take_segments(0));
}

/* A small frame takes one of the receives that the large one needs: the rest of that waits for another one. */
static void test_waiting(void **state)
{
	unsigned int num, i;

	(void)state;
	open_netdevs(2 * SEGMENTS);
	sender = raw_new(&slice_rig->hca[BUSY], OHCA_QPT_ETH, 0);
	memcpy(frames[0], raw_udp, RAW_UDP_LEN);
	memcpy(frames[0], slice_rig->hca[OTHER].mac, 6);
	rig_mr_set(sender.mr, 0x10000, frames[0], RAW_UDP_LEN);
	post_large();
	wait_for_rest(0);
	post_large();
	num = segments_part(0);
	post(0);
	for (i = 0; i < 2 * SEGMENTS; i++)
		num += segments_part(num);
	assert_int_equal(num_small, 1);
	assert_in_range(num, 1, SEGMENTS - 1);
	assert_false(is_sent(OHCA_WC_SUCCESS));
	post_receives(2 * SEGMENTS, 1);
	wait_for_rest(num);
}

#define SLICE_TEST(fn) cmocka_unit_test_setup_teardown(fn, slice_open, slice_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLICE_TEST(test_many_flows),
		SLICE_TEST(test_changes_of_flows),
		SLICE_TEST(test_end_of_flows),
		SLICE_TEST(test_reset),
		SLICE_TEST(test_flood),
		SLICE_TEST(test_segments),
		SLICE_TEST(test_reset_of_the_sender),
		SLICE_TEST(test_error_of_the_sender),
		SLICE_TEST(test_drained),
		SLICE_TEST(test_waiting),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
