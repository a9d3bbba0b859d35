// SPDX-License-Identifier: GPL-2.0
/* Injected faults of the device: commands, queues, the whole device. */

#include <endian.h>

#include "fabric/port.h"
#include "harness.h"
#include "inject/hca_fault.h"
#include "hcas.h"
#include "inproc.h"
#include "pair.h"

static struct rig *rig;
static struct rig_hca *ha, *hb;
static struct hca *hca;

static int up(void **state)
{
	(void)state;
	rig = rig_open(server);
	ha = &rig->hca[0];
	hb = &rig->hca[1];
	hca = inproc_hca(0);
	return 0;
}

static int down(void **state)
{
	(void)state;
	hca_fault_clear(hca);
	rig_close(rig);
	return 0;
}

static int alloc_pd(void)
{
	struct ohca_handle out;

	return drv_cmd(ha->drv, OHCA_CMD_ALLOC_PD, NULL, 0, &out, sizeof(out));
}

static int alloc_xrcd(void)
{
	struct ohca_handle out;

	return drv_cmd(ha->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0, &out, sizeof(out));
}

static void test_refused(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(hca_fault_cmd(hca, HCA_FAULT_ANY, OHCA_CMD_OK, 1), -EINVAL);
	assert_int_equal(hca_fault_cmd(hca, HCA_FAULT_ANY, -2, 1), -EINVAL);
	assert_int_equal(hca_fault_cmd(hca, HCA_FAULT_ANY, 256, 1), -EINVAL);
	assert_int_equal(hca_fault_cmd(hca, HCA_FAULT_ANY, OHCA_CMD_BUSY, 0), -EINVAL);
	assert_int_equal(hca_fault_cmd(hca, -2, OHCA_CMD_BUSY, 1), -EINVAL);
	assert_int_equal(hca_fault_cmd(hca, 0x10000, OHCA_CMD_BUSY, 1), -EINVAL);
	assert_int_equal(hca_fault_cq(hca, 0), -ENOENT);
	assert_int_equal(hca_fault_eq(hca, 0, true), -ENOENT);
	assert_int_equal(hca_fault_fatal(hca, OHCA_FATAL_NONE), -EINVAL);
	assert_int_equal(hca_fault_fatal(hca, OHCA_FATAL_INTERNAL + 1), -EINVAL);
	for (i = 0; i < HCA_FAULT_CMDS; i++)
		assert_int_equal(hca_fault_cmd(hca, 0xeeee, OHCA_CMD_BUSY, 1), 0);
	assert_int_equal(hca_fault_cmd(hca, 0xeeee, OHCA_CMD_BUSY, 1), -ENOSPC);
	hca_fault_clear(hca);
	assert_int_equal(hca_fault_cmd(hca, 0xeeee, OHCA_CMD_BUSY, 1), 0);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

static void test_command_status(void **state)
{
	(void)state;
	assert_int_equal(hca_fault_cmd(hca, OHCA_CMD_ALLOC_PD, OHCA_CMD_NO_RESOURCE, 2), 0);
	assert_int_equal(hca_fault_cmd(hca, OHCA_CMD_ALLOC_PD, OHCA_CMD_INTERNAL, 1), 0);
	assert_int_equal(alloc_xrcd(), OHCA_CMD_OK);
	assert_int_equal(alloc_pd(), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(ha->drv->syndrome, 0);
	assert_int_equal(alloc_pd(), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(alloc_pd(), OHCA_CMD_INTERNAL);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_int_equal(hca_fault_cmd(hca, HCA_FAULT_ANY, OHCA_CMD_BUSY, 2), 0);
	assert_int_equal(alloc_pd(), OHCA_CMD_BUSY);
	assert_int_equal(alloc_xrcd(), OHCA_CMD_BUSY);
	assert_int_equal(alloc_xrcd(), OHCA_CMD_OK);
}

/* Post a command that the device takes without a completion. */
static void lose(uint16_t opcode)
{
	struct ohca_cmd cmd = {.opcode = htole16(opcode)};
	const struct ohca_cmd_cqe *cqe;
	uint32_t ring = 1U << DRV_LOG_CMDS;

	assert_int_equal(hca_fault_cmd(hca, opcode, HCA_FAULT_TIMEOUT, 1), 0);
	drv_post(ha->drv, &cmd);
	drv_kick(ha->drv);
	inproc_settle();
	cqe = &ha->drv->cq[ha->drv->ci % ring];
	assert_int_not_equal(cqe->owner & 1, !(ha->drv->ci / ring & 1));
}

/* Other commands complete, more of them than the ring has entries; a reset ends the fault. */
static void test_command_timeout(void **state)
{
	unsigned int i;

	(void)state;
	lose(OHCA_CMD_ALLOC_PD);
	for (i = 0; i < 3U << DRV_LOG_CMDS; i++)
		assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	lose(OHCA_CMD_ALLOC_XRCD);
	for (i = 0; i < 3U << DRV_LOG_CMDS; i++)
		assert_int_equal(alloc_xrcd(), OHCA_CMD_OK);
	drv_set_reg(ha->drv, OHCA_REG_CMDQ_DB, ha->drv->pi);
	inproc_settle();
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
	assert_int_equal(hca_fault_cmd(hca, 0xeeee, HCA_FAULT_TIMEOUT, 1), 0);
	drv_reset(ha->drv);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	/* Lost commands do not survive the reset. */
	lose(0xeeee);
}

static void test_cq_error(void **state)
{
	struct rig_qp *a = rig_qp_new(ha, NULL), *b = rig_qp_new(hb, NULL);
	struct rig_mr *mb = rig_mr_new(hb, PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct rig_mr *ma = rig_mr_new(ha, PAIR_IOVA, 4096, RIG_ALL_ACCESS, 0);
	struct ohca_sge sge = rig_sge(ma, PAIR_IOVA, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = mb->key};
	struct ohca_cqe cqe;
	struct ohca_eqe eqe;

	(void)state;
	rig_connect(a, b);
	rig_post_send(a, &wr);
	assert_int_equal(rig_wait_send(a).status, OHCA_WC_SUCCESS);
	assert_int_equal(hca_fault_cq(hca, a->scq->cqn), 0);
	rig_wait_event(ha, OHCA_EVENT_CQ_ERR, a->scq->cqn);
	/* Once */
	assert_int_equal(hca_fault_cq(hca, a->scq->cqn), 0);
	inproc_settle();
	assert_false(drv_eq_poll(ha->async, &eqe));
	/* Its QPs enter the error state as after an overrun. */
	rig_post_send(a, &wr);
	inproc_settle();
	assert_false(drv_cq_poll(a->scq, &cqe));
	assert_int_equal(rig_query(a).state, OHCA_QPS_ERR);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), OHCA_STATUS_READY);
}

/*
 * Events that occur while the EQ is full are reported afterwards: each kind once, with the last
 * state.
 */
static void test_eq_overrun(void **state)
{
	struct rig_qp *qp = rig_qp_new(ha, NULL), *other = rig_qp_new(ha, NULL);
	struct ohca_eqe eqe;

	(void)state;
	while (drv_eq_poll(ha->async, &eqe))
		drv_eq_ack(ha->async);
	assert_int_equal(hca_fault_eq(hca, ha->async->eqn, true), 0);
	assert_int_equal(hca_fault_cq(hca, qp->scq->cqn), 0);
	assert_int_equal(hca_fault_cq(hca, other->scq->cqn), 0);
	inproc_settle();
	assert_false(drv_eq_poll(ha->async, &eqe));
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_int_equal(hca_fault_eq(hca, ha->async->eqn, false), 0);
	eqe = drv_eq_wait(ha->async);
	assert_int_equal(eqe.type, OHCA_EVENT_CQ_ERR);
	assert_int_equal(le32toh(eqe.id), qp->scq->cqn);
	eqe = drv_eq_wait(ha->async);
	assert_int_equal(le32toh(eqe.id), other->scq->cqn);
	inproc_settle();
	assert_false(drv_eq_poll(ha->async, &eqe));
}

/* Every reason takes the link down, and is reported by an event, as there is an asynchronous EQ. */
static void test_fatal(void **state)
{
	enum ohca_fatal why;
	struct ohca_eqe eqe;

	(void)state;
	assert_true(hca->ports[0]->active);
	for (why = OHCA_FATAL_CONFIG; why <= OHCA_FATAL_INTERNAL; why++) {
		while (drv_eq_poll(ha->async, &eqe))
			drv_eq_ack(ha->async);
		assert_int_equal(hca_fault_fatal(hca, why), 0);
		assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), OHCA_STATUS_FATAL);
		assert_int_equal(drv_reg(ha->drv, OHCA_REG_FATAL), why);
		assert_false(hca->ports[0]->active);
		assert_true(drv_eq_poll(ha->async, &eqe));
		assert_int_equal(eqe.type, OHCA_EVENT_DEVICE_FATAL);
		assert_int_equal(hca_fault_fatal(hca, why), -EALREADY);
		drv_reset(ha->drv);
		assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
		drv_first_uar(ha->drv);
		ha->async = drv_eq_new(ha->drv, 4, 0, OHCA_EQ_ASYNC);
	}
}

/* Registers read as all ones and writes have no effect; afterwards the device is as after a reset. */
static void test_silent(void **state)
{
	struct ohca_cmd cmd = {.opcode = htole16(OHCA_CMD_ALLOC_PD)};

	(void)state;
	hca_fault_silent(hca, true);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), UINT32_MAX);
	drv_set_reg(ha->drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	drv_post(ha->drv, &cmd);
	drv_kick(ha->drv);
	inproc_settle();
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), UINT32_MAX);
	assert_int_equal(hca->qps.count, 0);

	hca_fault_silent(hca, false);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), OHCA_MAGIC);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), 0);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_CMDQ_SQ_LO), 0);
	drv_reset(ha->drv);
	vu_enable(ha->drv->vu, DRV_VECTORS);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)
	const struct CMUnitTest tests[] = {
		TEST(test_refused),  TEST(test_command_status), TEST(test_command_timeout),
		TEST(test_cq_error), TEST(test_eq_overrun),	TEST(test_fatal),
		TEST(test_silent),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
