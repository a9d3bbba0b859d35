// SPDX-License-Identifier: GPL-2.0
/* Missing pages with unreliable types: the sender waits, received packets are dropped. */

#include <endian.h>

#include "odp_bed.h"

static int up_uc(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UC};

	(void)state;
	odp = pair_open(server, &opts);
	return 0;
}

static int up_ud(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .ext = true};

	(void)state;
	odp = pair_open(server, &opts);
	return 0;
}

/* The sender waits, and later messages too. */
static void check_send(uint32_t len, uint32_t header)
{
	struct rig_fault f;

	rig_odp(odp.ma, RIG_ALL_ACCESS);
	rig_mr_fill(odp.ma, ODP_SRC, len, 1);
	odp_post_recv(ODP_DST, len + header);
	odp_post_recv(ODP_DST, len + header);
	odp_post(OHCA_OP_SEND, ODP_SRC, len, ODP_DST);
	odp_post(OHCA_OP_SEND_IMM, ODP_SRC, len, ODP_DST);
	f = odp_take_fault(odp.ma, ODP_SRC, len, false);
	odp_assert_no_cqe();
	odp_assert_no_fault(odp.a->hca);
	/* It is not scheduled meanwhile. */
	assert_true(list_empty(&inproc_qp(odp.a)->run));
	odp_serve_fault(odp.ma, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	assert_int_equal(rig_wait_recv(odp.b).opcode, OHCA_CQE_RECV);
	assert_int_equal(rig_wait_recv(odp.b).status, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(odp.mb, ODP_DST + header, len, 1));
	/* The fault is refused, and the key is destroyed. */
	assert_int_equal(rig_odp_unmap(odp.ma, 0, 20), OHCA_CMD_OK);
	odp_post(OHCA_OP_SEND, ODP_SRC, len, ODP_DST);
	f = odp_take_fault(odp.ma, ODP_SRC, len, false);
	assert_int_equal(rig_odp_fail(odp.ma, f.first, 1), OHCA_CMD_OK);
	odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
	assert_int_equal(rig_query(odp.a).state, OHCA_QPS_SQE);
	assert_int_equal(rig_modify(odp.a, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	odp_post(OHCA_OP_SEND, ODP_SRC, len, ODP_DST);
	odp_take_fault(odp.ma, ODP_SRC, len, false);
	/* Not drained before that, or never started. */
	assert_int_equal(rig_modify(odp.a, OHCA_QPS_SQD, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_int_equal(rig_modify(odp.a, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	odp_assert_no_cqe();
	assert_int_equal(rig_mr_destroy(odp.ma), OHCA_CMD_OK);
	odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
	odp_assert_no_fault(odp.a->hca);
}

static void test_ud_send(void **state)
{
	(void)state;
	check_send(1000, OHCA_GRH_LEN);
}

static void test_uc_send(void **state)
{
	(void)state;
	check_send(100000, 0);
}

static uint64_t out_of_buffer(void)
{
	return inproc_qp(odp.b)->counters->value[OHCA_CNT_OUT_OF_BUFFER];
}

/* A message for a missing page is lost; its receive is used for the next one. */
static void check_receive(uint8_t op, uint32_t len, uint32_t header)
{
	uint64_t lost = out_of_buffer();

	rig_odp(odp.mb, RIG_ALL_ACCESS);
	rig_mr_fill(odp.ma, ODP_SRC, len, op);
	if (op_receives(op))
		odp_post_recv(ODP_DST, len + header);
	odp_post(op, ODP_SRC, len, ODP_DST);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp_assert_no_fault(odp.b->hca);
	odp_assert_no_cqe();
	assert_true(out_of_buffer() > lost);
	assert_int_equal(rig_odp_map(odp.mb, 0, 40, true), OHCA_CMD_OK);
	odp_assert_no_cqe();
	odp_post(op, ODP_SRC, len, ODP_DST);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	if (op_receives(op))
		assert_int_equal(rig_wait_recv(odp.b).status, OHCA_WC_SUCCESS);
	inproc_settle();
	assert_true(rig_mr_is(odp.mb, ODP_DST + header, len, op));
}

static void test_ud_receive(void **state)
{
	(void)state;
	check_receive(OHCA_OP_SEND, 1000, OHCA_GRH_LEN);
}

static void test_uc_receive(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < PAIR_OPS; i++) {
		if (pair_all_ops[i] == OHCA_OP_RDMA_READ)
			continue;
		check_receive(pair_all_ops[i], 100, 0);
		check_receive(pair_all_ops[i], 100000, 0);
	}
}

/* A waiting QP is destroyed. */
static void check_gone(void)
{
	rig_odp(odp.ma, RIG_ALL_ACCESS);
	odp_post(OHCA_OP_SEND, ODP_SRC, 8, ODP_DST);
	odp_take_fault(odp.ma, ODP_SRC, 8, false);
	rig_to_reset(odp.a);
	assert_int_equal(rig_odp_map(odp.ma, 0, 20, true), OHCA_CMD_OK);
	odp_assert_no_cqe();
	rig_address(odp.a, odp.b);
	assert_false(rig_to_init(odp.a) || rig_to_rtr(odp.a) || rig_to_rts(odp.a));
	assert_int_equal(rig_odp_unmap(odp.ma, 0, 20), OHCA_CMD_OK);
	odp_post(OHCA_OP_SEND, ODP_SRC, 8, ODP_DST);
	odp_take_fault(odp.ma, ODP_SRC, 8, false);
	assert_int_equal(rig_modify(odp.a, OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	odp_assert_send(OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH);
	assert_int_equal(rig_qp_destroy(odp.a), OHCA_CMD_OK);
	assert_int_equal(rig_odp_map(odp.ma, 0, 20, true), OHCA_CMD_OK);
}

static void test_ud_gone(void **state)
{
	(void)state;
	check_gone();
}

static void test_uc_gone(void **state)
{
	(void)state;
	check_gone();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ud_send, up_ud, odp_down),
		cmocka_unit_test_setup_teardown(test_uc_send, up_uc, odp_down),
		cmocka_unit_test_setup_teardown(test_ud_receive, up_ud, odp_down),
		cmocka_unit_test_setup_teardown(test_uc_receive, up_uc, odp_down),
		cmocka_unit_test_setup_teardown(test_ud_gone, up_ud, odp_down),
		cmocka_unit_test_setup_teardown(test_uc_gone, up_uc, odp_down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
