// SPDX-License-Identifier: GPL-2.0
/* Accesses to missing pages that are never mapped: they fail, or the waiting QP is destroyed. */

#include <endian.h>

#include "odp_bed.h"

/* Software refuses: the statuses are those of inaccessible memory. */
static void test_fail(void **state)
{
	unsigned int i, side;
	struct rig_fault f;

	(void)state;
	for (i = 0; i < 2 * ODP_OPS; i++) {
		uint8_t op = odp_ops[i / 2];
		bool send = op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM;
		struct rig_mr *mr;

		side = i % 2;
		mr = side ? odp.mb : odp.ma;
		rig_odp(mr, ODP_ACCESS);
		f = odp_miss(op, 8, mr);
		/* A refusal of another page has no effect. */
		assert_int_equal(rig_odp_fail(mr, f.first + 1, 10), OHCA_CMD_OK);
		assert_int_equal(rig_odp_fail(mr, 0, f.first), OHCA_CMD_OK);
		odp_assert_no_cqe();
		odp_assert_no_fault(mr->hca);
		assert_int_equal(rig_odp_fail(mr, f.first, 1), OHCA_CMD_OK);
		if (side)
			odp_assert_send(OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK);
		else
			odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
		if (side && op_receives(op))
			odp_assert_recv(send ? OHCA_WC_LOC_PROT_ERR : OHCA_WC_LOC_ACCESS_ERR,
					OHCA_VENDOR_ERR_DMA);
		if (side && !send)
			rig_wait_event(odp.b->hca, OHCA_EVENT_QP_ACCESS_ERR, odp.b->qpn);
		odp_reconnect();
		/* The key is unchanged. */
		assert_int_equal(rig_odp_map(mr, 0, 20, true), OHCA_CMD_OK);
		if (op_receives(op))
			odp_post_recv(ODP_DST, 8);
		odp_post(op, ODP_SRC, 8, ODP_DST);
		odp_assert_send(OHCA_WC_SUCCESS, 0);
		if (op_receives(op))
			odp_assert_recv(OHCA_WC_SUCCESS, 0);
	}
}

/* A page that is mapped after the refusal, before the access is tried again, is used. */
static void test_fail_then_map(void **state)
{
	struct qp *qa = inproc_qp(odp.a);
	struct rig_fault f;

	(void)state;
	rig_odp(odp.mb, ODP_ACCESS);
	f = odp_miss(OHCA_OP_RDMA_WRITE, 8, odp.mb);
	link_pass(0);
	qa->attr.timeout = 10;
	rc_req(qa)->retry_left = 7;
	assert_int_equal(rig_odp_fail(odp.mb, f.first, 1), OHCA_CMD_OK);
	inproc_settle();
	odp_serve_fault(odp.mb, &f);
	/* The QP asked for the packet in vain; the sender finds out by its own timer. */
	link_capture = NULL;
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	/* Pages that were refused before are requested again. */
	assert_int_equal(rig_odp_unmap(odp.mb, 0, ODP_PAGES), OHCA_CMD_OK);
	f = odp_miss(OHCA_OP_RDMA_WRITE, 8, odp.mb);
	odp_serve_fault(odp.mb, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
}

/* The fault is refused when the response has arrived. */
static void test_response_fails(void **state)
{
	struct rig_fault f;

	(void)state;
	rig_odp(odp.ma, ODP_ACCESS);
	assert_int_equal(rig_odp_map(odp.ma, 0, ODP_PAGES, true), OHCA_CMD_OK);
	odp_unmap_at_response(odp.ma);
	odp_post(OHCA_OP_RDMA_READ, ODP_SRC, 300000, ODP_DST);
	f = odp_take_fault(odp.ma, ODP_SRC, 300000, true);
	assert_int_equal(rig_odp_fail(odp.ma, f.first, 1), OHCA_CMD_OK);
	odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
}

/* A page that is mapped to an inaccessible address is an error, not a missing page. */
static void test_nowhere(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * ODP_OPS; i++) {
		uint8_t op = odp_ops[i / 2];
		struct rig_mr *mr = i % 2 ? odp.mb : odp.ma, copy = *mr;
		uint64_t nowhere[20];
		unsigned int j;

		for (j = 0; j < 20; j++)
			nowhere[j] = DRV_NOWHERE;
		rig_odp(mr, ODP_ACCESS);
		copy.key = mr->key;
		copy.pages = nowhere;
		assert_int_equal(rig_odp_map(&copy, 0, 20, true), OHCA_CMD_OK);
		if (op_receives(op))
			odp_post_recv(ODP_DST, 8);
		odp_post(op, ODP_SRC, 8, ODP_DST);
		if (i % 2)
			odp_assert_send(OHCA_WC_REM_OP_ERR, OHCA_VENDOR_ERR_NAK);
		else
			odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
		odp_assert_no_fault(mr->hca);
		odp_reconnect();
		assert_int_equal(rig_odp_map(mr, 0, 20, true), OHCA_CMD_OK);
	}
}

/* The key is destroyed. */
static void test_key_destroyed(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * ODP_OPS; i++) {
		uint8_t op = odp_ops[i / 2];
		bool send = op == OHCA_OP_SEND || op == OHCA_OP_SEND_IMM;
		struct rig_mr *mr = i % 2 ? odp.mb : odp.ma;

		rig_odp(mr, ODP_ACCESS);
		odp_miss(op, 8, mr);
		assert_int_equal(rig_mr_destroy(mr), OHCA_CMD_OK);
		if (i % 2 == 0)
			odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
		else
			odp_assert_send(send ? OHCA_WC_REM_OP_ERR : OHCA_WC_REM_ACCESS_ERR,
					OHCA_VENDOR_ERR_NAK);
		if (i % 2 && op_receives(op))
			odp_assert_recv(send ? OHCA_WC_LOC_PROT_ERR : OHCA_WC_LOC_ACCESS_ERR,
					OHCA_VENDOR_ERR_KEY);
		odp_assert_no_fault(mr->hca);
		odp_reconnect();
		rig_odp(mr, ODP_ACCESS);
		assert_int_equal(rig_odp_map(mr, 0, 20, true), OHCA_CMD_OK);
	}
}

/* The waiting QP is destroyed or reset. */
static void test_qp_gone(void **state)
{
	unsigned int i, side, how;
	struct rig_fault f;

	for (i = 0; i < ODP_OPS; i++) {
		for (side = 0; side < 2; side++) {
			for (how = 0; how < 3; how++) {
				struct rig_mr *mr = side ? odp.mb : odp.ma;
				struct rig_qp *qp = side ? odp.b : odp.a;

				rig_odp(mr, ODP_ACCESS);
				f = odp_miss(odp_ops[i], 8, mr);
				if (how == 0)
					assert_int_equal(rig_qp_destroy(qp), OHCA_CMD_OK);
				else if (how == 1)
					rig_to_reset(qp);
				else
					assert_int_equal(rig_modify(qp, OHCA_QPS_ERR,
								    OHCA_QP_STATE),
							 OHCA_CMD_OK);
				odp_serve_fault(mr, &f);
				inproc_settle();
				assert_int_equal(rig_mr_destroy(mr), OHCA_CMD_OK);
				rig_close(odp.rig);
				odp_up(state);
			}
		}
	}
}

/* A reset of the function while accesses wait. */
static void test_reset(void **state)
{
	(void)state;
	rig_odp(odp.ma, ODP_ACCESS);
	odp_miss(OHCA_OP_SEND, 8, odp.ma);
	drv_reset(odp.a->hca->drv);
	rig_odp(odp.mb, ODP_ACCESS);
	inproc_settle();
	drv_reset(odp.b->hca->drv);
	inproc_settle();
}

static void port_changes(struct rig_hca *hca, unsigned int num)
{
	struct ohca_modify_port_in in = {.attr_mask = htole32(OHCA_PORT_ATTR_ADMIN), .port = 1};
	unsigned int i;

	for (i = 0; i < num; i++) {
		in.admin_up = i & 1;
		assert_int_equal(drv_cmd(hca->drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
				 OHCA_CMD_OK);
	}
}

/* Faults of two QPs while the event queue is full: both are reported when there is room. */
static void test_eq_full(void **state)
{
	struct rig_qp *a2 = rig_qp_new(odp.a->hca, NULL), *b2 = rig_qp_new(odp.b->hca, NULL);
	struct rig_qp *a1 = odp.a;
	struct rig_fault f;

	(void)state;
	rig_connect(a2, b2);
	rig_odp(odp.ma, ODP_ACCESS);
	/* Both queues hold 256. */
	port_changes(odp.a->hca, 300);
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, ODP_DST);
	odp.a = a2;
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC + 8192, 8, ODP_DST);
	inproc_settle();
	/* The first QP is destroyed before its fault was reported. */
	assert_int_equal(rig_modify(a1, OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	f = (struct rig_fault){0};
	while (!rig_fault_poll(odp.ma->hca, &f))
		inproc_step();
	assert_int_equal(f.first, odp_page_of(odp.ma, ODP_SRC + 8192));
	assert_int_equal(f.num, 1);
	odp_serve_fault(odp.ma, &f);
	odp_assert_send(OHCA_WC_SUCCESS, 0);
	odp_assert_no_fault(odp.ma->hca);
	odp.a = a1;
	/* The same for a key that is destroyed meanwhile. */
	odp_reconnect();
	port_changes(odp.a->hca, 300);
	odp_post(OHCA_OP_RDMA_WRITE, ODP_SRC, 8, ODP_DST);
	inproc_settle();
	assert_int_equal(rig_mr_destroy(odp.ma), OHCA_CMD_OK);
	odp_assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
	odp_assert_no_fault(odp.a->hca);
}

#define ODP_TEST(fn) cmocka_unit_test_setup_teardown(fn, odp_up, odp_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ODP_TEST(test_fail),	ODP_TEST(test_fail_then_map), ODP_TEST(test_response_fails),
		ODP_TEST(test_nowhere), ODP_TEST(test_key_destroyed), ODP_TEST(test_qp_gone),
		ODP_TEST(test_reset),	ODP_TEST(test_eq_full),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
