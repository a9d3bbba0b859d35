// SPDX-License-Identifier: GPL-2.0
/* Faults injected by the control socket, as the adapter's driver sees them. */

#include <endian.h>

#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "rig.h"

static struct rig *rig;
static struct rig_hca *ha;

static int up(void **state)
{
	(void)state;
	rig = rig_open(server);
	ha = &rig->hca[0];
	return 0;
}

static int down(void **state)
{
	(void)state;
	ctl_do(server, "fail-clear", "{\"hca\":\"hca0\"}");
	rig_close(rig);
	return 0;
}

static int alloc_pd(void)
{
	struct ohca_handle out;

	return drv_cmd(ha->drv, OHCA_CMD_ALLOC_PD, NULL, 0, &out, sizeof(out));
}

static unsigned int rows(const char *name)
{
	struct json_object *result = ctl_call(server, "fail-show", "{\"hca\":\"hca0\"}");
	unsigned int num = json_object_array_length(ctl_field(result, name));

	json_object_put(result);
	return num;
}

static bool unplugged(void)
{
	struct json_object *result = ctl_call(server, "fail-show", "{\"hca\":\"hca0\"}");
	bool res = ctl_bool(result, "unplugged");

	json_object_put(result);
	return res;
}

/* A command for hca0, with one more argument whose value is a number */
static void hca0(const char *cmd, const char *name, uint32_t value)
{
	char args[96];

	snprintf(args, sizeof(args), "{\"hca\":\"hca0\",\"%s\":%u}", name, value);
	ctl_do(server, cmd, args);
}

static bool hca0_fails(const char *cmd, const char *more, const char *name, const char *text)
{
	char args[96];

	snprintf(args, sizeof(args), "{\"hca\":\"hca0\"%s}", more);
	return ctl_fails(server, cmd, args, name, text);
}

static void test_refused(void **state)
{
	unsigned int i;

	(void)state;
	assert_true(hca0_fails("fail-command", ",\"status\":0", "EINVAL", "status 0"));
	assert_true(hca0_fails("fail-command", ",\"status\":256", "EINVAL", "256"));
	assert_true(hca0_fails("fail-command", ",\"opcode\":65536", "EINVAL", "65536"));
	assert_true(hca0_fails("fail-command", ",\"count\":0", "EINVAL", "count"));
	assert_true(hca0_fails("fail-command", ",\"count\":4294967296", "EINVAL", "count"));
	assert_true(hca0_fails("fail-eq", "", "EINVAL", "eq"));
	assert_true(hca0_fails("fail-eq", ",\"eq\":0", "ENOENT", "event queue"));
	assert_true(hca0_fails("fail-eq", ",\"eq\":4294967297", "ENOENT", "event queue"));
	assert_true(hca0_fails("fail-cq", ",\"cq\":0", "ENOENT", "completion queue"));
	assert_true(hca0_fails("fail-hca", ",\"reason\":0", "EINVAL", "reason"));
	assert_true(hca0_fails("fail-hca", ",\"reason\":5", "EINVAL", "5"));
	assert_true(ctl_fails(server, "unplug", NULL, "EINVAL", "hca"));
	for (i = 0; i < 16; i++)
		hca0("fail-command", "opcode", 0xeeee);
	assert_true(hca0_fails("fail-command", "", "ENOSPC", "16"));
	assert_int_equal(rows("commands"), 16);
	ctl_do(server, "fail-clear", "{\"hca\":\"hca0\"}");
	assert_int_equal(rows("commands"), 0);
}

static void test_commands(void **state)
{
	struct json_object *result, *row;

	(void)state;
	ctl_do(server, "fail-command",
	       "{\"hca\":\"hca0\",\"count\":2,\"opcode\":\"0x11\",\"status\":10}");
	result = ctl_call(server, "fail-show", "{\"hca\":\"hca0\"}");
	row = json_object_array_get_idx(ctl_field(result, "commands"), 0);
	assert_int_equal(ctl_number(row, "count"), 2);
	assert_int_equal(ctl_number(row, "opcode"), 0x11);
	assert_int_equal(ctl_number(row, "status"), 10);
	json_object_put(result);
	ctl_do(server, "fail-clear", "{\"hca\":\"hca0\"}");

	hca0("fail-command", "status", OHCA_CMD_BUSY);
	assert_int_equal(alloc_pd(), OHCA_CMD_BUSY);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

static void test_queues(void **state)
{
	struct drv_cq *cq = drv_cq_new(ha->drv, 4, ha->comp->eqn);

	(void)state;
	hca0("fail-eq", "eq", ha->async->eqn);
	assert_int_equal(rows("eqs"), 1);
	hca0("fail-cq", "cq", cq->cqn);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	ctl_do(server, "fail-clear", "{\"hca\":\"hca0\"}");
	assert_int_equal(rows("eqs"), 0);
	rig_wait_event(ha, OHCA_EVENT_CQ_ERR, cq->cqn);
}

static void test_fatal(void **state)
{
	(void)state;
	hca0("fail-hca", "reason", OHCA_FATAL_CMDQ);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), OHCA_STATUS_FATAL);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_FATAL), OHCA_FATAL_CMDQ);
	assert_true(hca0_fails("fail-hca", "", "EALREADY", "already"));
	drv_reset(ha->drv);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	ctl_do(server, "fail-hca", "{\"hca\":\"hca0\"}");
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_FATAL), OHCA_FATAL_INTERNAL);
}

/* The other adapter is not affected. */
static void test_unplug(void **state)
{
	struct drv *other = rig->hca[1].drv;

	(void)state;
	ctl_do(server, "unplug", "{\"hca\":\"hca0\"}");
	assert_true(unplugged());
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), UINT32_MAX);
	assert_int_equal(drv_reg(other, OHCA_REG_STATUS), OHCA_STATUS_READY);
	ctl_do(server, "plug", "{\"hca\":\"hca0\"}");
	assert_false(unplugged());
	vu_cfg_wr(ha->drv->vu, 4, 2, 6); /* memory, bus master */
	drv_wait_reset(ha->drv);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_STATUS), 0);
	drv_reset(ha->drv);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)
	const struct CMUnitTest tests[] = {
		TEST(test_refused), TEST(test_commands), TEST(test_queues),
		TEST(test_fatal),   TEST(test_unplug),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
