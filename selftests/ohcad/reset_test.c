// SPDX-License-Identifier: GPL-2.0
/*
 * The reset of an HCA with many objects takes place in slices, between which other HCAs have their turns.  The end
 * of bus mastering stops it at once.
 */

#include <endian.h>
#include <stdio.h>
#include <time.h>

#include "base/loop.h"
#include "harness.h"
#include "hca/adapter.h"
#include "hcas.h"
#include "pair.h"
#include "rig.h"
#include "inproc.h"

#define MANY 8192
#define FEW (MANY / 8)

static struct rig *rig;

static int open_rig(void **state)
{
	(void)state;
	rig = rig_open(server);
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	rig_close(rig);
	return 0;
}

/* QPs of the first HCA, all of one slot, which share their memory and never leave RESET */
static void make_qps(unsigned int num)
{
	struct rig_hca *hca = &rig->hca[0];
	struct rig_qp qp;
	struct ohca_create_qp_in in = rig_qp_in(hca, NULL, &qp);

	while (num--)
		drv_create(hca->drv, OHCA_CMD_CREATE_QP, &in, sizeof(in));
}

static void reset(void)
{
	drv_set_reg(rig->hca[0].drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
}

static uint32_t status(void)
{
	return drv_reg(rig->hca[0].drv, OHCA_REG_STATUS);
}

static bool resetting(void)
{
	return status() & OHCA_STATUS_RESETTING;
}

/* ns of this thread for the reset of so many QPs */
static uint64_t cost_of_reset(unsigned int num)
{
	struct timespec from, to;

	make_qps(num);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	reset();
	while (inproc_hca(0)->to_reset)
		inproc_poll();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	assert_int_equal(inproc_hca(0)->qps.count, 0);
	rig_renew(rig);
	return (to.tv_sec - from.tv_sec) * 1000000000LL + to.tv_nsec - from.tv_nsec;
}

/* Eight times the QPs take eight times as long, not 64 times, though all have one doorbell slot. */
static void test_time_is_linear(void **state)
{
	uint64_t few = cost_of_reset(FEW), many = cost_of_reset(MANY);

	(void)state;
	print_message("# reset: %u QPs %llu us, %u QPs %llu us\n", FEW,
		      (unsigned long long)few / 1000, MANY, (unsigned long long)many / 1000);
	assert_true(many < 24 * few);
}

/* Between two slices another HCA has its turn: its messages to itself arrive. */
static void test_others_have_turns(void **state)
{
	struct rig_qp *a = rig_qp_new(&rig->hca[1], NULL), *b = rig_qp_new(&rig->hca[1], NULL);
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED};
	uint32_t left, before;
	struct ohca_cqe cqe;
	unsigned int rounds;

	(void)state;
	rig_connect(a, b);
	make_qps(MANY);
	reset();
	assert_int_equal(status() & OHCA_STATUS_RESETTING, OHCA_STATUS_RESETTING);
	before = MANY;
	for (rounds = 0; inproc_hca(0)->to_reset; rounds++) {
		rig_post_recv(b, rounds, NULL, 0);
		rig_post_send(a, &wr);
		inproc_poll();
		left = inproc_hca(0)->qps.count;
		assert_true(left < before || !left);
		before = left;
		assert_true(drv_cq_poll(b->rcq, &cqe));
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		drv_cq_ack(b->rcq);
		while (drv_cq_poll(a->scq, &cqe))
			assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
		drv_cq_ack(a->scq);
	}
	assert_true(rounds > 8);
	assert_int_equal(status(), 0);
	rig_renew(rig);
}

/*
 * A peer goes on sending to a QP that is to be freed: it gets no answer, and nothing is written.  It is the last QP of
 * the HCA, so it exists during most of the reset.
 */
static void test_packets_for_what_is_left(void **state)
{
	struct rig_mr *from = rig_mr_new(&rig->hca[1], PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *to = rig_mr_new(&rig->hca[0], PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(from, PAIR_IOVA, 64);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = to->key};
	struct rig_qp *a, *b;
	struct ohca_cqe cqe;
	uint8_t byte = 0;

	(void)state;
	make_qps(MANY);
	a = rig_qp_new(&rig->hca[0], NULL);
	b = rig_qp_new(&rig->hca[1], NULL);
	rig_connect(a, b);
	rig_post_send(b, &wr);
	cqe = drv_cq_wait(b->scq);
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	rig_mr_fill(from, PAIR_IOVA, 64, 7);
	rig_mr_set(to, PAIR_IOVA, &byte, 1);
	reset();
	assert_true(inproc_hca(0)->to_reset);
	assert_non_null(inproc_qp(a));
	rig_post_send(b, &wr);
	while (inproc_hca(0)->to_reset)
		inproc_poll();
	rig_mr_get(to, PAIR_IOVA, &byte, 1);
	assert_int_equal(byte, 0);
	assert_false(drv_cq_poll(b->scq, &cqe));
	rig_renew(rig);
}

/* Another reset meanwhile, of either kind, and writes to registers: the reset goes on, and ends once. */
static void test_reset_in_the_middle(void **state)
{
	struct drv *drv = rig->hca[0].drv;

	(void)state;
	make_qps(MANY);
	reset();
	inproc_poll();
	reset();
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	drv_set_reg(drv, OHCA_REG_CMDQ_CFG, 6);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, 1);
	assert_true(resetting());
	hca_reset(inproc_hca(0)); /* Function Level Reset */
	assert_true(resetting());
	while (resetting())
		inproc_poll();
	assert_int_equal(status(), 0);
	assert_int_equal(drv_reg(drv, OHCA_REG_CMDQ_CFG), 0);
}

/* The client disconnects in the middle, and the next one finds a reset that ends by itself. */
static void test_disconnect_in_the_middle(void **state)
{
	(void)state;
	make_qps(MANY);
	reset();
	inproc_poll();
	assert_true(inproc_hca(0)->to_reset);
	rig_close(rig);
	rig = rig_open(server);
	assert_int_equal(inproc_hca(0)->to_reset, 0);
	assert_int_equal(status(), OHCA_STATUS_READY);
	assert_int_equal(inproc_hca(0)->qps.count, 0);
}

/* A message from @a to @b and @to does not arrive. */
static void assert_still(struct rig_mr *to, struct rig_qp *a, struct rig_qp *b)
{
	struct ohca_cqe cqe;
	uint8_t byte;
	unsigned int i;

	for (i = 0; i < 10; i++)
		inproc_poll();
	rig_mr_get(to, PAIR_IOVA, &byte, 1);
	assert_int_equal(byte, 0);
	assert_false(drv_cq_poll(a->scq, &cqe));
	assert_false(drv_cq_poll(b->rcq, &cqe));
}

/*
 * An HCA does nothing from the moment on at which it is no bus master any more, also not for another one that has its
 * turn earlier, and goes on when it is one again.
 */
static void test_bus_master_off(void **state)
{
	struct rig_mr *from = rig_mr_new(&rig->hca[0], PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *to = rig_mr_new(&rig->hca[1], PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_qp *a = rig_qp_new(&rig->hca[0], NULL), *b = rig_qp_new(&rig->hca[1], NULL);
	struct ohca_sge sge = rig_sge(from, PAIR_IOVA, 64);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE_IMM,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = to->key};
	uint8_t byte = 7;

	(void)state;
	rig_connect(a, b);
	rig_mr_set(from, PAIR_IOVA, &byte, 1);
	rig_post_recv(b, 1, NULL, 0);
	rig_post_send(a, &wr);
	inproc_set_bus_master(inproc_hca(1), false);
	assert_still(to, a, b);
	inproc_set_bus_master(inproc_hca(1), true);
	assert_int_equal(drv_cq_wait(b->rcq).status, OHCA_WC_SUCCESS);
	assert_int_equal(drv_cq_wait(a->scq).status, OHCA_WC_SUCCESS);
	rig_mr_get(to, PAIR_IOVA, &byte, 1);
	assert_int_equal(byte, 7);
}

#define RESET_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESET_TEST(test_time_is_linear),	   RESET_TEST(test_others_have_turns),
		RESET_TEST(test_packets_for_what_is_left), RESET_TEST(test_reset_in_the_middle),
		RESET_TEST(test_disconnect_in_the_middle), RESET_TEST(test_bus_master_off),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
