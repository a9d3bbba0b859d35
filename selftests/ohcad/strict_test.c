// SPDX-License-Identifier: GPL-2.0
/* Rules for software, as an HCA with the option "strict" sees them: each that is broken is logged and counted. */

#include <endian.h>

#include "ctl.h"
#include "drv.h"
#include "harness.h"
#include "hcas.h"

static struct drv *drv;

static int start_strict(void **state)
{
	(void)state;
	server = server_start_strict();
	return 0;
}

static uint64_t broken_rules(void)
{
	struct json_object *result = ctl_call(server, "show-hcas", NULL);
	uint64_t num = ctl_number(ctl_row(result, "hcas", "name", "hca0"), "broken_rules");

	json_object_put(result);
	return num;
}

static int up(void **state)
{
	(void)state;
	drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	return 0;
}

static int down(void **state)
{
	(void)state;
	drv_close(drv);
	return 0;
}

/* Since @before, software has broken @rule once, and no other one. */
static void assert_broken(uint64_t before, const char *rule)
{
	char text[48];

	assert_int_equal(broken_rules(), before + 1);
	snprintf(text, sizeof(text), "software breaks %s: ", rule);
	assert_true(server_logged(server, text));
}

static void test_good(void **state)
{
	struct drv_eq *eq = drv_eq_new(drv, 4, 1, OHCA_EQ_ASYNC);

	(void)state;
	eq = drv_eq_new(drv, 4, 2, 0);
	drv_cq_new(drv, 4, eq->eqn);
	assert_int_equal(broken_rules(), 0);
	assert_false(server_logged(server, "software breaks"));
}

static void test_register_access(void **state)
{
	uint64_t before = broken_rules();
	uint16_t half = 0;

	(void)state;
	assert_int_equal(vu_read(drv->vu, OHCA_BAR_REGS, OHCA_REG_MAGIC, &half, 2), 0);
	assert_broken(before, "S-102");
	assert_int_equal(vu_write(drv->vu, OHCA_BAR_REGS, OHCA_REG_FEATS_LO, &half, 2), 0);
	assert_broken(before + 1, "S-102");
}

static void test_trying(void **state)
{
	uint64_t before = broken_rules();
	struct ohca_handle handle;

	(void)state;
	assert_int_equal(drv_cmd(drv, 0xffff, NULL, 0, &handle, sizeof(handle)),
			 OHCA_CMD_BAD_OPCODE);
	assert_broken(before, "S-104");
}

static void test_feature_not_offered(void **state)
{
	uint64_t before = broken_rules();

	(void)state;
	drv_reset(drv);
	assert_int_equal(drv_enable(drv, 1ULL << 63), OHCA_STATUS_FATAL);
	assert_broken(before, "S-105");
}

/* Writes during a reset; the device may get a doorbell or a second reset then. */
static void test_write_during_reset(void **state)
{
	uint64_t before = broken_rules();

	(void)state;
	ctl_do(server, "fault-add", "{\"rule\":\"slow-reset,hca=hca0\"}");
	drv_reset(drv);
	assert_true(drv_reg(drv, OHCA_REG_STATUS) & OHCA_STATUS_RESETTING);
	drv_set_reg(drv, OHCA_REG_CMDQ_DB, 0);
	drv_reset(drv);
	assert_int_equal(broken_rules(), before);
	drv_set_reg(drv, OHCA_REG_SW_VERSION, DRV_VERSION);
	assert_broken(before, "S-106");
	drv_set_reg(drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	assert_broken(before + 1, "S-106");
	ctl_do(server, "fault-clear", NULL);
	drv_wait_reset(drv);
	assert_int_equal(drv_reg(drv, OHCA_REG_STATUS), 0);
}

static void test_record_not_zero(void **state)
{
	uint64_t before = broken_rules();
	struct ohca_create_eq_in in;
	struct drv_eq eq;

	(void)state;
	in = drv_eq_in(drv, 4, 1, 0, &eq);
	eq.rec->ci = htole32(1);
	drv_create(drv, OHCA_CMD_CREATE_EQ, &in, sizeof(in));
	assert_broken(before, "S-302");
}

static void test_ring_not_zero(void **state)
{
	struct drv_eq *eq = drv_eq_new(drv, 4, 1, 0);
	uint64_t before = broken_rules();
	struct ohca_create_cq_in in;
	struct drv_cq cq;

	(void)state;
	in = drv_cq_in(drv, 6, eq->eqn, &cq);
	cq.ring[63].owner = 1;
	drv_create(drv, OHCA_CMD_CREATE_CQ, &in, sizeof(in));
	assert_broken(before, "S-304");
}

static void test_odp_without_events(void **state)
{
	struct ohca_create_mkey_in in = {
		.type = OHCA_MKEY_ODP,
		.access = OHCA_ACCESS_LOCAL_WRITE,
		.pdn = htole32(drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0)),
		.length = htole64(4096),
		.xlt.page_shift = 12,
	};
	uint64_t before = broken_rules();

	(void)state;
	drv_create(drv, OHCA_CMD_CREATE_MKEY, &in, sizeof(in));
	assert_broken(before, "S-303");
}

static void test_doorbell_by_halves(void **state)
{
	uint64_t before = broken_rules();

	(void)state;
	vu_wr32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB, 0);
	assert_broken(before, "S-801");
	vu_wr32(drv->vu, OHCA_BAR_UAR, OHCA_UAR_SQ_DB + 4, 0);
	assert_broken(before + 1, "S-801");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, up, down),
		cmocka_unit_test_setup_teardown(test_register_access, up, down),
		cmocka_unit_test_setup_teardown(test_trying, up, down),
		cmocka_unit_test_setup_teardown(test_feature_not_offered, up, down),
		cmocka_unit_test_setup_teardown(test_write_during_reset, up, down),
		cmocka_unit_test_setup_teardown(test_record_not_zero, up, down),
		cmocka_unit_test_setup_teardown(test_ring_not_zero, up, down),
		cmocka_unit_test_setup_teardown(test_odp_without_events, up, down),
		cmocka_unit_test_setup_teardown(test_doorbell_by_halves, up, down),
	};

	return RUN_TESTS(tests, start_strict, stop_hcas);
}
