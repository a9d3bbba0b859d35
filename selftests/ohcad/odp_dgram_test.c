// SPDX-License-Identifier: GPL-2.0
/* Missing pages with unreliable types: the sender waits, what comes in is dropped. */

#include <endian.h>

#include "harness.h"
#include "hcas.h"
#include "link_hook.h"
#include "pair.h"
#include "rig_odp.h"

#define SRC (PAIR_IOVA + 0x2ec0)
#define DST (PAIR_IOVA + 0x5ee0)
#define SRC_PAGE 2 /* its number */

static struct pair p;

static int down(void **state)
{
	(void)state;
	rig_close(p.rig);
	return 0;
}

static int up_uc(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UC};

	(void)state;
	p = pair_open(server, &opts);
	return 0;
}

static int up_ud(void **state)
{
	struct rig_qp_opts opts = {.type = OHCA_QPT_UD, .ext = true};

	(void)state;
	p = pair_open(server, &opts);
	return 0;
}

static void post(uint8_t op, uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.ma, SRC, len);
	struct rig_wr wr = {
		.wr_id = op,
		.opcode = op,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.raddr = DST,
		.rkey = p.mb->key,
	};

	if (p.a->type == OHCA_QPT_UD) {
		wr.av = &p.a->attr.av;
		wr.dest_qpn = p.b->qpn;
		wr.qkey = RIG_QKEY;
	}
	rig_post_send(p.a, &wr);
}

static void post_recv(uint32_t len)
{
	struct ohca_sge sge = rig_sge(p.mb, DST, len);

	rig_post_recv(p.b, 5, &sge, 1);
}

static void assert_send(enum ohca_wc_status status, uint32_t vendor_err)
{
	struct ohca_cqe cqe = rig_wait_send(p.a);

	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
}

static void nothing_completes(void)
{
	struct ohca_cqe cqe;

	inproc_settle();
	assert_false(drv_cq_poll(p.a->scq, &cqe));
	assert_false(drv_cq_poll(p.b->rcq, &cqe));
}

static struct rig_fault take_fault(struct rig_mr *mr, uint64_t first, uint64_t num)
{
	struct rig_fault f;

	inproc_settle();
	assert_true(rig_fault_poll(mr->hca, &f));
	assert_int_equal(f.key, mr->key);
	assert_int_equal(f.first, first);
	assert_int_equal(f.num, num);
	assert_false(f.write);
	return f;
}

static void assert_no_fault(struct rig_hca *hca)
{
	struct rig_fault f;

	inproc_settle();
	assert_false(rig_fault_poll(hca, &f));
}

/* The sender waits; what is behind it too. */
static void check_send(uint32_t len, uint64_t num, uint32_t header)
{
	struct rig_fault f;

	rig_odp(p.ma, RIG_ALL_ACCESS);
	rig_mr_fill(p.ma, SRC, len, 1);
	post_recv(len + header);
	post_recv(len + header);
	post(OHCA_OP_SEND, len);
	post(OHCA_OP_SEND_IMM, len);
	f = take_fault(p.ma, SRC_PAGE, num);
	nothing_completes();
	assert_no_fault(p.a->hca);
	/* It takes no turns meanwhile. */
	assert_true(list_empty(&inproc_qp(p.a)->run));
	assert_int_equal(rig_odp_map(p.ma, f.first, f.num, false), OHCA_CMD_OK);
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_int_equal(rig_wait_recv(p.b).opcode, OHCA_CQE_RECV);
	assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	assert_true(rig_mr_is(p.mb, DST + header, len, 1));
	/* Refused, and the key is destroyed. */
	assert_int_equal(rig_odp_unmap(p.ma, 0, 20), OHCA_CMD_OK);
	post(OHCA_OP_SEND, len);
	f = take_fault(p.ma, SRC_PAGE, num);
	assert_int_equal(rig_odp_fail(p.ma, f.first, 1), OHCA_CMD_OK);
	assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_DMA);
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_SQE);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	post(OHCA_OP_SEND, len);
	take_fault(p.ma, SRC_PAGE, num);
	/* It is not drained before, or never began. */
	assert_int_equal(rig_modify(p.a, OHCA_QPS_SQD, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_RTS, OHCA_QP_STATE), OHCA_CMD_OK);
	nothing_completes();
	assert_int_equal(rig_mr_destroy(p.ma), OHCA_CMD_OK);
	assert_send(OHCA_WC_LOC_PROT_ERR, OHCA_VENDOR_ERR_KEY);
	assert_no_fault(p.a->hca);
}

static void test_ud_send(void **state)
{
	(void)state;
	check_send(1000, 2, OHCA_GRH_LEN);
}

static void test_uc_send(void **state)
{
	(void)state;
	check_send(100000, 26, 0);
}

static uint64_t out_of_buffer(void)
{
	return inproc_qp(p.b)->counters->value[OHCA_CNT_OUT_OF_BUFFER];
}

/* A message that meets a missing page is lost; its receive is there for the next one. */
static void check_receive(uint8_t op, uint32_t len, uint32_t header)
{
	uint64_t lost = out_of_buffer();

	rig_odp(p.mb, RIG_ALL_ACCESS);
	rig_mr_fill(p.ma, SRC, len, op);
	if (op_receives(op))
		post_recv(len + header);
	post(op, len);
	assert_send(OHCA_WC_SUCCESS, 0);
	assert_no_fault(p.b->hca);
	nothing_completes();
	assert_true(out_of_buffer() > lost);
	assert_int_equal(rig_odp_map(p.mb, 0, 40, true), OHCA_CMD_OK);
	nothing_completes();
	post(op, len);
	assert_send(OHCA_WC_SUCCESS, 0);
	if (op_receives(op))
		assert_int_equal(rig_wait_recv(p.b).status, OHCA_WC_SUCCESS);
	inproc_settle();
	assert_true(rig_mr_is(p.mb, DST + header, len, op));
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

/* A QP that waits goes away. */
static void check_gone(void)
{
	rig_odp(p.ma, RIG_ALL_ACCESS);
	post(OHCA_OP_SEND, 8);
	take_fault(p.ma, SRC_PAGE, 1);
	rig_to_reset(p.a);
	assert_int_equal(rig_odp_map(p.ma, 0, 20, true), OHCA_CMD_OK);
	nothing_completes();
	rig_address(p.a, p.b);
	assert_false(rig_to_init(p.a) || rig_to_rtr(p.a) || rig_to_rts(p.a));
	assert_int_equal(rig_odp_unmap(p.ma, 0, 20), OHCA_CMD_OK);
	post(OHCA_OP_SEND, 8);
	take_fault(p.ma, SRC_PAGE, 1);
	assert_int_equal(rig_modify(p.a, OHCA_QPS_ERR, OHCA_QP_STATE), OHCA_CMD_OK);
	assert_send(OHCA_WC_WR_FLUSH_ERR, OHCA_VENDOR_ERR_FLUSH);
	assert_int_equal(rig_qp_destroy(p.a), OHCA_CMD_OK);
	assert_int_equal(rig_odp_map(p.ma, 0, 20, true), OHCA_CMD_OK);
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
		cmocka_unit_test_setup_teardown(test_ud_send, up_ud, down),
		cmocka_unit_test_setup_teardown(test_uc_send, up_uc, down),
		cmocka_unit_test_setup_teardown(test_ud_receive, up_ud, down),
		cmocka_unit_test_setup_teardown(test_uc_receive, up_uc, down),
		cmocka_unit_test_setup_teardown(test_ud_gone, up_ud, down),
		cmocka_unit_test_setup_teardown(test_uc_gone, up_uc, down),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
