// SPDX-License-Identifier: GPL-2.0
/*
 * Ethernet frames wait for a receiver that is short of receives, but not for one that posts no
 * more.
 */

#include <endian.h>

#include "fabric/fabric.h"
#include "harness.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "rig_assert.h"
#include "rig_raw.h"

#define HCAS 3
#define IOVA 0x100000ULL
#define SLOT 4096 /* of a frame */
#define SLOTS 64
#define LEN (2ULL * SLOTS * SLOT) /* frames to send, then room for received ones */

/* A TCP frame that is segmented: 54 bytes of headers, and data */
#define HDR_LEN 54
#define MSS 1000

static struct rig *rig;
static struct raw eth[HCAS];
static struct rig_mr *mr[HCAS];
static unsigned int posted[HCAS], taken[HCAS];

static int open_lan(void **state)
{
	unsigned int i;

	(void)state;
	inproc_clock_start();
	rig = rig_open(server);
	for (i = 0; i < HCAS; i++) {
		eth[i] = raw_new(&rig->hca[i], OHCA_QPT_ETH, OHCA_QP_F_PRIVILEGED);
		mr[i] = rig_mr_new(&rig->hca[i], IOVA, LEN, OHCA_ACCESS_LOCAL_WRITE, 0);
		posted[i] = 0;
		taken[i] = 0;
	}
	return 0;
}

static int close_lan(void **state)
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

static uint64_t slot(unsigned int n)
{
	return IOVA + n % SLOTS * SLOT;
}

/* Send frame @n; its length and contents depend on @n. */
static void send(unsigned int from, unsigned int to, unsigned int n)
{
	struct ohca_sge sge = rig_sge(mr[from], slot(n), 100 + n);
	struct rig_wr wr = {.wr_id = n,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge};

	rig_mr_fill(mr[from], slot(n), 100 + n, n);
	rig_mr_set(mr[from], slot(n), rig->hca[to].mac, 6);
	rig_mr_set(mr[from], slot(n) + 6, rig->hca[from].mac, 6);
	rig_post_send(eth[from].qp, &wr);
}

static void assert_sent(unsigned int from, unsigned int n)
{
	struct ohca_cqe cqe = rig_wait_send(eth[from].qp);

	assert_int_equal(cqe.status, 0);
	assert_int_equal(le64toh(cqe.wr_id), n);
}

static bool has_sent(unsigned int from)
{
	struct ohca_cqe cqe;

	inproc_settle();
	return drv_cq_poll(eth[from].qp->scq, &cqe);
}

static void post(unsigned int to, unsigned int num)
{
	while (num--) {
		struct ohca_sge sge =
			rig_sge(mr[to], IOVA + LEN / 2 + posted[to] % SLOTS * SLOT, SLOT);

		rig_post_recv(eth[to].qp, posted[to]++, &sge, 1);
	}
}

/* Address of the next received frame, of @len bytes. */
static uint64_t arrived(unsigned int to, uint32_t len, uint8_t opcode)
{
	struct ohca_cqe cqe = rig_wait_recv(eth[to].qp);

	assert_int_equal(cqe.status, 0);
	assert_int_equal(cqe.opcode, opcode);
	assert_int_equal(le32toh(cqe.byte_len), len);
	return IOVA + LEN / 2 + taken[to]++ % SLOTS * SLOT;
}

static void assert_arrived(unsigned int from, unsigned int to, unsigned int n)
{
	uint64_t at = arrived(to, 100 + n, OHCA_CQE_RECV);
	uint8_t sent[SLOT], got[SLOT];

	rig_mr_get(mr[from], slot(n), sent, 100 + n);
	rig_mr_get(mr[to], at, got, 100 + n);
	assert_memory_equal(sent, got, 100 + n);
}

/* Receive @num frames: senders then wait for this receiver for as many milliseconds. */
static void earn(unsigned int to, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		post(to, 1);
		send(2, to, 0);
		assert_sent(2, 0);
		assert_arrived(2, to, 0);
	}
}

static void test_waits(void **state)
{
	unsigned int i;

	(void)state;
	earn(1, 20);
	for (i = 0; i < 3; i++)
		send(0, 1, i);
	inproc_elapse(5 * MS);
	assert_false(has_sent(0));
	post(1, 2);
	for (i = 0; i < 2; i++) {
		assert_sent(0, i);
		assert_arrived(0, 1, i);
	}
	inproc_elapse(5 * MS);
	assert_false(has_sent(0));
	post(1, 1);
	assert_sent(0, 2);
	assert_arrived(0, 1, 2);
	assert_int_equal(count(0, OHCA_CNT_ETH_WAITED), 2);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 0);
}

/*
 * Senders do not wait for a QP that has received nothing; for others they wait as long as its
 * credit lasts.
 */
static void test_credit(void **state)
{
	(void)state;
	send(0, 1, 1);
	assert_true(has_sent(0));
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 1);
	assert_int_equal(count(0, OHCA_CNT_ETH_WAITED), 0);

	earn(1, 20);
	send(0, 1, 2);
	send(0, 1, 3);
	inproc_elapse(19 * MS);
	assert_false(has_sent(0));
	inproc_elapse(2 * MS);
	assert_sent(0, 2);
	assert_sent(0, 3);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 3);
	send(0, 1, 4);
	assert_true(has_sent(0));
	assert_int_equal(count(0, OHCA_CNT_ETH_WAITED), 1);

	post(1, 1);
	send(0, 1, 5);
	assert_sent(0, 5);
	assert_arrived(0, 1, 5);
}

/* The credit is at most 100 ms, however many frames were received. */
static void test_most(void **state)
{
	(void)state;
	earn(1, 300);
	send(0, 1, 1);
	inproc_elapse(99 * MS);
	assert_false(has_sent(0));
	inproc_elapse(2 * MS);
	assert_sent(0, 1);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 1);
}

/* A receiver that always posts at the last moment does not delay others for long. */
static void test_slow_receiver(void **state)
{
	unsigned int i, lost = 0;
	uint64_t since;

	(void)state;
	earn(1, 100);
	since = inproc_clock();
	for (i = 0; i < 50; i++) {
		uint64_t end = inproc_clock() + 10 * MS;

		send(0, 1, i);
		while (inproc_clock() < end && !has_sent(0))
			;
		if (inproc_clock() >= end) {
			post(1, 1);
			assert_sent(0, i);
			assert_arrived(0, 1, i);
		} else {
			lost++;
		}
	}
	assert_in_range(lost, 30, 45);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), lost);
	assert_true(inproc_clock() - since < 160 * MS);
}

/* Frames stay in order; frames from other senders and to other receivers do not wait with them. */
static void test_others(void **state)
{
	(void)state;
	earn(1, 50);
	post(2, 2);
	send(0, 1, 1);
	send(0, 2, 2);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	send(1, 2, 3);
	assert_sent(1, 3);
	assert_arrived(1, 2, 3);
	post(1, 1);
	assert_sent(0, 1);
	assert_sent(0, 2);
	assert_arrived(0, 1, 1);
	assert_arrived(0, 2, 2);
}

/* A broadcast frame does not wait. */
static void test_broadcast(void **state)
{
	static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uint8_t frame[RAW_UDP_LEN];

	(void)state;
	memcpy(frame, raw_udp, sizeof(frame));
	memcpy(frame, all, sizeof(all));
	earn(1, 50);
	raw_post(&eth[2]);
	raw_send(&eth[0], frame, sizeof(frame));
	raw_assert_got(&eth[2], frame, sizeof(frame));
	assert_int_equal(count(0, OHCA_CNT_ETH_WAITED), 0);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 1);
}

static void set_admin(unsigned int hca, bool up)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1, .admin_up = up};

	assert_int_equal(drv_cmd(rig->hca[hca].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
			 0);
}

/* The receiver's link goes down, or its QP is destroyed, while a frame waits. */
static void test_receiver_goes(void **state)
{
	(void)state;
	earn(1, 50);
	send(0, 1, 1);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	set_admin(1, false);
	assert_sent(0, 1);

	set_admin(1, true);
	send(0, 1, 2);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	rig_to_reset(eth[1].qp);
	assert_sent(0, 2);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 0);
}

/* The sender's queue stops, or its QP is destroyed, while a frame waits. */
static void test_sender_goes(void **state)
{
	struct ohca_cqe cqe;

	(void)state;
	earn(1, 50);
	send(0, 1, 1);
	inproc_elapse(MS);
	rig_to_reset(eth[0].qp);
	post(1, 1);
	inproc_elapse(5 * MS);
	assert_false(drv_cq_poll(eth[1].qp->rcq, &cqe));
	send(2, 1, 2);
	assert_sent(2, 2);
	assert_arrived(2, 1, 2);

	send(2, 1, 3);
	inproc_elapse(MS);
	assert_false(has_sent(2));
	assert_int_equal(rig_qp_destroy(eth[2].qp), 0);
	post(1, 1);
	inproc_elapse(5 * MS);
	assert_false(drv_cq_poll(eth[1].qp->rcq, &cqe));
}

/* Send a TCP frame with @data bytes, to be segmented. */
static void send_large(uint32_t data)
{
	/* clang-format off */
	static const uint8_t headers[] = {
		0x52, 0x4f, 0x48, 0, 0, 0, 0x52, 0x4f, 0x48, 0, 0, 1, 0x08, 0x00, /* Ethernet */
		0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IPv4 */
		0x12, 0x34, 80, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0, /* TCP */
	};
	/* clang-format on */
	struct ohca_sq_wqe fields = {.eth = {.csum_start = htole16(34),
					     .csum_offset = htole16(16),
					     .ip_start = htole16(14),
					     .hdr_len = htole16(HDR_LEN),
					     .mss = htole16(MSS)}};
	struct ohca_sge sge = rig_sge(mr[0], IOVA, HDR_LEN + data);
	struct rig_wr wr = {.wr_id = 9,
			    .opcode = OHCA_OP_SEND,
			    .flags = OHCA_WQE_SIGNALED | OHCA_WQE_CSUM | OHCA_WQE_TSO,
			    .num_sge = 1,
			    .sge = &sge,
			    .fields = &fields};

	_Static_assert(sizeof(headers) == HDR_LEN, "the headers");
	rig_mr_fill(mr[0], IOVA, HDR_LEN + data, 9);
	rig_mr_set(mr[0], IOVA, headers, HDR_LEN);
	rig_mr_set(mr[0], IOVA, rig->hca[1].mac, 6);
	rig_mr_set(mr[0], IOVA + 6, rig->hca[0].mac, 6);
	rig_post_send(eth[0].qp, &wr);
}

/* At @at are @len bytes of the large frame's data, from @off on. */
static void assert_data(uint64_t at, uint32_t off, uint32_t len)
{
	uint8_t sent[SLOT], got[SLOT];

	rig_mr_get(mr[0], IOVA + HDR_LEN + off, sent, len);
	rig_mr_get(mr[1], at, got, len);
	assert_memory_equal(sent, got, len);
}

/* Segments are sent when there are receives for all of them. */
static void test_segments(void **state)
{
	unsigned int i;

	(void)state;
	earn(1, 50);
	send_large(4 * MSS);
	post(1, 3);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	post(1, 1);
	assert_sent(0, 9);
	for (i = 0; i < 4; i++)
		assert_data(arrived(1, HDR_LEN + MSS, OHCA_CQE_RECV) + HDR_LEN, i * MSS, MSS);
	assert_int_equal(count(0, OHCA_CNT_ETH_WAITED), 1);

	/* More segments than the receiver's queue has room for: the first ones arrive. */
	send_large(65 * MSS);
	post(1, 64);
	assert_sent(0, 9);
	for (i = 0; i < 64; i++)
		assert_data(arrived(1, HDR_LEN + MSS, OHCA_CQE_RECV) + HDR_LEN, i * MSS, MSS);
	assert_int_equal(count(1, OHCA_CNT_ETH_NO_BUFFER), 1);
}

/* A frame for a port that accepts large frames waits for receives with room for it. */
static void test_large(void **state)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_LARGE_RX), .port = 1, .large_rx = 1};
	uint32_t len = HDR_LEN + 12 * MSS;
	uint64_t at;

	(void)state;
	assert_int_equal(drv_cmd(rig->hca[1].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
			 0);
	earn(1, 50);
	send_large(12 * MSS);
	post(1, 2);
	inproc_elapse(MS);
	assert_false(has_sent(0));
	post(1, 1);
	assert_sent(0, 9);
	at = arrived(1, SLOT, OHCA_CQE_RECV_PART);
	assert_data(at + HDR_LEN, 0, SLOT - HDR_LEN);
	at = arrived(1, SLOT, OHCA_CQE_RECV_PART);
	assert_data(at, SLOT - HDR_LEN, SLOT);
	at = arrived(1, len - 2 * SLOT, OHCA_CQE_RECV);
	assert_data(at, 2 * SLOT - HDR_LEN, len - 2 * SLOT);
}

#define LAN_TEST(f) cmocka_unit_test_setup_teardown(f, open_lan, close_lan)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAN_TEST(test_waits),	      LAN_TEST(test_credit),	  LAN_TEST(test_most),
		LAN_TEST(test_slow_receiver), LAN_TEST(test_others),	  LAN_TEST(test_broadcast),
		LAN_TEST(test_receiver_goes), LAN_TEST(test_sender_goes), LAN_TEST(test_segments),
		LAN_TEST(test_large),
	};

	return RUN_TESTS(tests, start_three_hcas, stop_hcas);
}
