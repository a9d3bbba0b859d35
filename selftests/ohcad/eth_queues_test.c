// SPDX-License-Identifier: GPL-2.0
/*
 * A port with several Ethernet receive queues: the hash chooses a queue, and a frame waits for that
 * queue only.
 */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "refuse.h"
#include "rig_assert.h"
#include "rig_raw.h"
#include "eth/toeplitz.h"

#define NUM 4 /* queues of the receiver */
#define SENDERS 2
#define LOG_ENTRIES 5
#define ENTRIES (1U << LOG_ENTRIES)
#define FLOWS 100

#define IOVA 0x10000ULL /* address of raw.mr */
#define AT_ADDRS 26 /* offsets of the addresses, and of the ports in raw_udp */
#define HASHED 12

/* A TCP frame that is segmented: 54 bytes of headers, and data */
#define HDR_LEN 54
#define MSS 1000

static const uint8_t key[OHCA_RSS_KEY_LEN] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static struct rig *rig;
static struct raw queues[NUM], from[SENDERS];
static uint32_t tbl, rss;

static struct drv *drv(void)
{
	return rig->hca[0].drv;
}

/* Entry n is queue n modulo @num. */
static struct ohca_create_ind_tbl_in tbl_in(unsigned int num)
{
	struct ohca_create_ind_tbl_in in = {.log_size = LOG_ENTRIES};
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		in.wqn[i] = htole32(queues[i % num].qp->qpn);
	return in;
}

static uint32_t tbl_new(unsigned int num)
{
	struct ohca_create_ind_tbl_in in = tbl_in(num);

	return drv_create(drv(), OHCA_CMD_CREATE_IND_TBL, &in, sizeof(in));
}

static uint32_t rss_new(uint32_t table)
{
	struct ohca_create_rss_in in = {.ind_tbl = htole32(table),
					.fields = htole16(OHCA_RSS_FIELDS),
					.function = OHCA_RSS_TOEPLITZ,
					.port = 1};

	memcpy(in.key, key, sizeof(in.key));
	return drv_create(drv(), OHCA_CMD_CREATE_RSS, &in, sizeof(in));
}

static void destroy(uint16_t opcode, uint32_t id)
{
	assert_int_equal(drv_destroy(drv(), opcode, id), 0);
}

static int open_port(void **state)
{
	unsigned int i;

	(void)state;
	inproc_clock_start();
	rig = rig_open(server);
	for (i = 0; i < NUM; i++)
		queues[i] = raw_new(&rig->hca[0], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	for (i = 0; i < SENDERS; i++)
		from[i] = raw_new(&rig->hca[1], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
	tbl = tbl_new(NUM);
	rss = rss_new(tbl);
	return 0;
}

static int close_port(void **state)
{
	(void)state;
	rig_close(rig);
	inproc_clock_stop();
	return 0;
}

static uint64_t count(unsigned int hca, enum ohca_counter counter)
{
	return rig_counter(&rig->hca[hca], counter);
}

/* A datagram to the port; the number selects the flow. */
static void make_frame(uint8_t frame[RAW_UDP_LEN], uint16_t flow)
{
	uint16_t be = htobe16(flow);

	memcpy(frame, raw_udp, RAW_UDP_LEN);
	memcpy(frame, rig->hca[0].mac, 6);
	memcpy(frame + RAW_AT_UDP, &be, sizeof(be));
}

/* The queue that the hash of a frame's addresses and ports selects */
static unsigned int queue_of(const uint8_t *frame)
{
	return toeplitz(key, frame + AT_ADDRS, HASHED) % ENTRIES % NUM;
}

/* A flow whose hash selects queue @nth */
static uint16_t flow_to(unsigned int queue)
{
	uint8_t frame[RAW_UDP_LEN];
	uint16_t flow = 1;

	do {
		make_frame(frame, ++flow);
	} while (queue_of(frame) != queue);
	return flow;
}

static void assert_goes_to(unsigned int queue, const uint8_t *frame, uint32_t len)
{
	raw_post(&queues[queue]);
	raw_send(&from[0], frame, len);
	raw_assert_got(&queues[queue], frame, len);
}

/* Send a frame of the flow without waiting. */
static void post_frame(unsigned int sender, uint16_t flow)
{
	struct ohca_sge sge = rig_sge(from[sender].mr, IOVA, RAW_UDP_LEN);
	struct rig_wr wr = {
		.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED, .num_sge = 1, .sge = &sge};
	uint8_t frame[RAW_UDP_LEN];

	make_frame(frame, flow);
	rig_mr_set(from[sender].mr, IOVA, frame, sizeof(frame));
	rig_post_send(from[sender].qp, &wr);
}

static bool has_sent(unsigned int sender)
{
	struct ohca_cqe cqe;

	inproc_settle();
	return drv_cq_poll(from[sender].qp->scq, &cqe);
}

static void assert_sent(unsigned int sender)
{
	assert_int_equal(rig_wait_send(from[sender].qp).status, 0);
}

static void assert_got(unsigned int queue, uint16_t flow)
{
	uint8_t frame[RAW_UDP_LEN];

	make_frame(frame, flow);
	raw_assert_got(&queues[queue], frame, sizeof(frame));
}

/* Receive @num frames in the queue: senders then wait for it for as many milliseconds. */
static void earn(unsigned int queue, unsigned int num)
{
	uint8_t frame[RAW_UDP_LEN];

	make_frame(frame, flow_to(queue));
	while (num--)
		assert_goes_to(queue, frame, sizeof(frame));
}

/* Many flows reach each of the queues, and each flow always reaches the same one. */
static void test_spread(void **state)
{
	unsigned int i, round, got[NUM] = {0};
	uint8_t frame[RAW_UDP_LEN];

	(void)state;
	for (round = 0; round < 2; round++) {
		for (i = 0; i < FLOWS; i++) {
			make_frame(frame, 1000 + i);
			assert_goes_to(queue_of(frame), frame, sizeof(frame));
			got[queue_of(frame)]++;
		}
	}
	for (i = 0; i < NUM; i++)
		assert_true(got[i] >= FLOWS / NUM);
}

/*
 * A frame without hashed fields goes to the queue of entry 0; a broadcast frame goes to the queue
 * of its hash.
 */
static void test_others(void **state)
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const uint8_t arp[] = {0x08, 0x06};
	uint8_t frame[RAW_UDP_LEN];

	(void)state;
	make_frame(frame, flow_to(2));
	memcpy(frame, all, sizeof(all));
	assert_goes_to(2, frame, sizeof(frame));
	memcpy(frame + 12, arp, sizeof(arp));
	assert_goes_to(0, frame, sizeof(frame));
}

/*
 * The RSS QP created last distributes the frames; without one, the QP that entered RTR last
 * receives all.
 */
static void test_change(void **state)
{
	uint8_t frame[RAW_UDP_LEN];
	uint32_t one_tbl, one;

	(void)state;
	make_frame(frame, flow_to(2));
	assert_goes_to(2, frame, sizeof(frame));
	one_tbl = tbl_new(1);
	one = rss_new(one_tbl);
	assert_goes_to(0, frame, sizeof(frame));
	destroy(OHCA_CMD_DESTROY_QP, rss);
	destroy(OHCA_CMD_DESTROY_IND_TBL, tbl);
	assert_goes_to(0, frame, sizeof(frame));
	destroy(OHCA_CMD_DESTROY_QP, one);
	destroy(OHCA_CMD_DESTROY_IND_TBL, one_tbl);
	assert_goes_to(NUM - 1, frame, sizeof(frame));

	rig_to_reset(queues[1].qp);
	assert_int_equal(rig_modify(queues[1].qp, OHCA_QPS_INIT, OHCA_QP_STATE | OHCA_QP_PORT), 0);
	assert_int_equal(rig_modify(queues[1].qp, OHCA_QPS_RTR, OHCA_QP_STATE), 0);
	assert_goes_to(1, frame, sizeof(frame));
	assert_int_equal(rig_qp_destroy(queues[1].qp), 0);
	raw_send(&from[0], frame, sizeof(frame));
	assert_int_equal(count(1, OHCA_CNT_ETH_WAITED), 0);
	raw_assert_none(&queues[NUM - 1]);
}

/* A frame waits for its queue; frames to other queues do not wait. */
static void test_waits(void **state)
{
	uint16_t to_1 = flow_to(1), to_2 = flow_to(2);

	(void)state;
	earn(1, 20);
	post_frame(0, to_1);
	inproc_elapse(5 * MS);
	assert_false(has_sent(0));

	raw_post(&queues[2]);
	post_frame(1, to_2);
	assert_sent(1);
	assert_got(2, to_2);
	assert_false(has_sent(0));

	raw_post(&queues[1]);
	assert_sent(0);
	assert_got(1, to_1);
	assert_int_equal(count(1, OHCA_CNT_ETH_WAITED), 1);
	assert_int_equal(count(0, OHCA_CNT_ETH_NO_BUFFER), 0);
}

/*
 * Frames received by one queue give the others no credit, and waiting for one uses no credit of
 * others.
 */
static void test_credit(void **state)
{
	uint16_t to_1 = flow_to(1), to_2 = flow_to(2);

	(void)state;
	earn(1, 20);
	post_frame(0, to_2);
	assert_true(has_sent(0));
	assert_int_equal(count(0, OHCA_CNT_ETH_NO_BUFFER), 1);
	assert_int_equal(count(1, OHCA_CNT_ETH_WAITED), 0);

	earn(2, 20);
	post_frame(0, to_1);
	inproc_elapse(19 * MS);
	assert_false(has_sent(0));
	inproc_elapse(2 * MS);
	assert_sent(0);
	assert_int_equal(count(0, OHCA_CNT_ETH_NO_BUFFER), 2);

	post_frame(0, to_2);
	inproc_elapse(19 * MS);
	assert_false(has_sent(0));
	inproc_elapse(2 * MS);
	assert_sent(0);
	assert_int_equal(count(0, OHCA_CNT_ETH_NO_BUFFER), 3);
	assert_int_equal(count(1, OHCA_CNT_ETH_WAITED), 2);
}

/* A queue stops while a frame waits for it: the other queues still receive. */
static void test_queue_stops(void **state)
{
	uint16_t to_1 = flow_to(1), to_2 = flow_to(2);

	(void)state;
	earn(1, 50);
	post_frame(0, to_1);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	assert_int_equal(rig_modify(queues[1].qp, OHCA_QPS_ERR, OHCA_QP_STATE), 0);
	assert_sent(0);
	post_frame(0, to_1);
	assert_sent(0);
	raw_post(&queues[2]);
	post_frame(0, to_2);
	assert_sent(0);
	assert_got(2, to_2);
	raw_assert_none(&queues[1]);
}

/* Send a TCP frame with @data bytes to be segmented; returns the bytes that are hashed. */
static const uint8_t *send_large(uint32_t data)
{
	/* clang-format off */
	static uint8_t headers[] = {
		0, 0, 0, 0, 0, 0, 0x52, 0x4f, 0x48, 0, 0, 1, 0x08, 0x00, /* Ethernet */
		0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IPv4 */
		0x12, 0x34, 80, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0, /* TCP */
	};
	/* clang-format on */
	struct ohca_sq_wqe fields = {.eth = {.csum_start = htole16(34),
					     .csum_offset = htole16(16),
					     .ip_start = htole16(14),
					     .hdr_len = htole16(HDR_LEN),
					     .mss = htole16(MSS)}};
	struct ohca_sge sge = rig_sge(from[0].mr, IOVA, HDR_LEN + data);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED | OHCA_WQE_CSUM | OHCA_WQE_TSO,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields};

	_Static_assert(sizeof(headers) == HDR_LEN, "the headers");
	memcpy(headers, rig->hca[0].mac, 6);
	rig_mr_fill(from[0].mr, IOVA, HDR_LEN + data, 9);
	rig_mr_set(from[0].mr, IOVA, headers, HDR_LEN);
	rig_post_send(from[0].qp, &wr);
	return headers;
}

static void assert_large(unsigned int queue, uint8_t opcode, uint32_t len)
{
	struct ohca_cqe cqe = rig_wait_recv(queues[queue].qp);

	assert_int_equal(cqe.status, 0);
	assert_int_equal(cqe.opcode, opcode);
	assert_int_equal(le32toh(cqe.byte_len), len);
}

/*
 * All segments of a frame, or the unsegmented frame, go to the same queue, and the frame waits for
 * receives of that queue.
 */
static void test_large(void **state)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_LARGE_RX), .port = 1, .large_rx = 1};
	unsigned int queue, i;

	(void)state;
	for (i = 0; i < NUM; i++)
		earn(i, 20);
	queue = queue_of(send_large(3 * MSS));
	for (i = 0; i < 3; i++)
		raw_post(&queues[(queue + 1) % NUM]);
	raw_post(&queues[queue]);
	raw_post(&queues[queue]);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	raw_post(&queues[queue]);
	assert_sent(0);
	for (i = 0; i < 3; i++)
		assert_large(queue, OHCA_CQE_RECV, HDR_LEN + MSS);

	assert_int_equal(drv_cmd(drv(), OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
	send_large(3 * MSS);
	raw_post(&queues[queue]);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	raw_post(&queues[queue]);
	assert_sent(0);
	assert_large(queue, OHCA_CQE_RECV_PART, RAW_ROOM);
	assert_large(queue, OHCA_CQE_RECV, HDR_LEN + 3 * MSS - RAW_ROOM);
}

/* A port that goes down and up again still has its queues. */
static void test_port_down(void **state)
{
	struct ohca_modify_port_in in = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	uint8_t frame[RAW_UDP_LEN];
	int up;

	(void)state;
	make_frame(frame, flow_to(3));
	for (up = 0; up < 2; up++) {
		in.admin_up = up;
		assert_int_equal(drv_cmd(drv(), OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
		if (!up)
			raw_send(&from[0], frame, sizeof(frame));
	}
	raw_assert_none(&queues[3]);
	assert_goes_to(3, frame, sizeof(frame));
}

/*
 * Referenced objects can't be destroyed.  A table can't mix types of queues, and a flow can't have
 * the port's RSS QP as its destination.
 */
static void test_refused(void **state)
{
	struct ohca_create_ind_tbl_in good = tbl_in(NUM);
	struct ohca_create_flow_in flow = raw_flow_in(rss);
	struct raw rwq = raw_new(&rig->hca[0], OHCA_QPT_RWQ, 0);
	struct raw other = raw_new(&rig->hca[0], OHCA_QPT_ETH, 0);
	unsigned int i;

	(void)state;
#define TBL(n, to)                                                                             \
	REFUSE_AT(drv(), OHCA_CMD_CREATE_IND_TBL, struct ohca_create_ind_tbl_in, good, wqn[n], \
		  htole32((to).qp->qpn), OHCA_CMD_BAD_PARAM,                                   \
		  offsetof(struct ohca_create_ind_tbl_in, wqn[(n) ? (n) : 1]))
	TBL(3, rwq);
	TBL(3, other);
	TBL(0, rwq); /* the next one differs */
	refuse(drv(), OHCA_CMD_CREATE_FLOW, &flow, sizeof(flow), OHCA_CMD_BAD_PARAM,
	       offsetof(struct ohca_create_flow_in, qpn));
	assert_int_equal(drv_destroy(drv(), OHCA_CMD_DESTROY_IND_TBL, tbl), OHCA_CMD_BUSY);
	for (i = 0; i < NUM; i++)
		assert_int_equal(rig_qp_destroy(queues[i].qp), OHCA_CMD_BUSY);
	destroy(OHCA_CMD_DESTROY_QP, rss);
	destroy(OHCA_CMD_DESTROY_IND_TBL, tbl);
	for (i = 0; i < NUM; i++)
		assert_int_equal(rig_qp_destroy(queues[i].qp), 0);
}

/* A reset destroys all of it; frames to the port are then dropped. */
static void test_reset(void **state)
{
	uint8_t frame[RAW_UDP_LEN];

	(void)state;
	make_frame(frame, flow_to(1));
	earn(1, 20);
	drv_reset(drv());
	raw_send(&from[0], frame, sizeof(frame));
	assert_int_equal(count(1, OHCA_CNT_ETH_WAITED), 0);
}

#define PORT_TEST(f) cmocka_unit_test_setup_teardown(f, open_port, close_port)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PORT_TEST(test_spread), PORT_TEST(test_others),	   PORT_TEST(test_change),
		PORT_TEST(test_waits),	PORT_TEST(test_credit),	   PORT_TEST(test_queue_stops),
		PORT_TEST(test_large),	PORT_TEST(test_port_down), PORT_TEST(test_refused),
		PORT_TEST(test_reset),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
