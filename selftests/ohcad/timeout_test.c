// SPDX-License-Identifier: GPL-2.0
/* The time-out of a requester, by a clock that the test controls.  The peer answers nothing. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "link_hook.h"
#include "pair.h"

#define TIMEOUT 10
#define T (4096ULL << TIMEOUT)

static struct pair p;
/* The packet that the device has sent last, and when */
static struct pkt last;
static uint64_t sent_at;
static unsigned int num_sent;

static void capture(struct qp *src, const struct pkt *pkt)
{
	(void)src;
	last = *pkt;
	sent_at = inproc_clock();
	num_sent++;
}

static int open_pair(void **state)
{
	(void)state;
	p = pair_new(server, NULL);
	p.a->attr.timeout = TIMEOUT;
	p.a->attr.retry_cnt = 1;
	rig_connect(p.a, p.b);
	num_sent = 0;
	link_capture = capture;
	inproc_clock_start();
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	link_capture = NULL;
	inproc_clock_stop();
	rig_close(p.rig);
	return 0;
}

static void post(uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 10);
	struct rig_wr wr = rig_write(&sge, PAIR_IOVA, p.mb->key);

	wr.wr_id = wr_id;
	rig_post_send(p.a, &wr);
	inproc_settle();
}

static void ack(uint32_t psn)
{
	const struct pkt pkt = {
		.op = PKT_ACK, .syndrome = AETH_ACK_NO_CREDITS, .psn = psn, .npsn = 1};

	requester_rx(inproc_qp(p.a), &pkt);
}

#define SLACK 50000 /* ns that the rounds of the device take */

/* The device sends a packet again a time-out after @start, or little later. */
static void assert_sent_again(uint64_t start, uint32_t psn)
{
	unsigned int before = num_sent;

	while (num_sent == before && inproc_clock() < start + 2 * T)
		inproc_elapse(1000);
	assert_int_equal(num_sent, before + 1);
	assert_int_equal(last.psn, psn);
	assert_in_range(sent_at - start, T, T + T / 4 + SLACK);
}

/* Nothing is acknowledged: sent again after T, and given up after the second one. */
static void test_silence(void **state)
{
	(void)state;
	post(1);
	assert_int_equal(num_sent, 1);
	assert_sent_again(sent_at, RIG_PSN);
	inproc_elapse(T + T / 4 + SLACK);
	assert_int_equal(num_sent, 2);
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_RETRY_EXC_ERR);
}

/* The time begins again when something is acknowledged, wherever that is in a period of the timer. */
static void test_progress(void **state)
{
	uint64_t start = 0;
	unsigned int i;

	(void)state;
	for (i = 0; i < 20; i++)
		post(i);
	assert_int_equal(num_sent, 20);
	for (i = 0; i < 19; i++) {
		inproc_elapse(T / 20 * i);
		assert_int_equal(num_sent, 20);
		start = inproc_clock();
		ack(psn_add(RIG_PSN, i));
		assert_int_equal(rig_wait_send(p.a).status, 0);
	}
	assert_sent_again(start, psn_add(RIG_PSN, 19));
	ack(psn_add(RIG_PSN, 19));
	assert_int_equal(rig_wait_send(p.a).status, 0);
	inproc_elapse(4 * T);
	assert_int_equal(num_sent, 21);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_silence),
		TEST(test_progress),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
