// SPDX-License-Identifier: GPL-2.0
/* An HCA that offers no more than a profile of the specification. */

#include <endian.h>

#include "command.h"
#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "ohca/ohca_regs.h"

static struct drv *drv;

static void use_profile(const char *name)
{
	char args[64];

	snprintf(args, sizeof(args), "{\"hca\":\"hca0\",\"profile\":\"%s\"}", name);
	ctl_do(server, "profile", args);
}

static struct ohca_query_device_out query_device(void)
{
	struct ohca_query_device_out out = {};

	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)),
			 OHCA_CMD_OK);
	return out;
}

/* Reset the device, and enable it with everything that it offers. */
static void restart(void)
{
	drv_reset(drv);
	assert_int_equal(drv_enable(drv, drv_reg(drv, OHCA_REG_CAPS_LO)), OHCA_STATUS_READY);
	drv_first_uar(drv);
}

static void start_with(const char *name)
{
	use_profile(name);
	drv = drv_open(server->sock[0]);
	restart();
}

static int down(void **state)
{
	(void)state;
	drv_close(drv);
	use_profile("all");
	return 0;
}

static void test_minimal_rc(void **state)
{
	struct ohca_query_port_in in = {.port = 1};
	struct ohca_query_port_out port = {};
	struct ohca_query_device_out dev;

	(void)state;
	start_with("minimal-rc");
	assert_int_equal(drv_reg(drv, OHCA_REG_CAPS_LO), OHCA_FEAT_ETH);
	assert_int_equal(drv_reg(drv, OHCA_REG_CAPS_HI), 0);
	dev = query_device();
	assert_int_equal(drv->out_len, OHCA_QUERY_DEVICE_OUT_MIN);
	assert_true(!dev.caps && !dev.max_srq && !dev.max_srq_wr && !dev.max_xrcd);
	assert_true(!dev.max_mcast && !dev.max_mcast_qp && !dev.max_counters && !dev.clock_khz);
	assert_true(!dev.max_fast_reg && !dev.dm_pages && !dev.max_inline);
	assert_int_equal(le32toh(dev.max_qp_wr), 16);
	assert_int_equal(le32toh(dev.max_cqe), 64);
	assert_int_equal(le16toh(dev.max_send_sge), 1);
	assert_int_equal(le16toh(dev.max_recv_sge), 1);
	assert_int_equal(dev.max_rd_atomic, 1);
	assert_int_equal(le32toh(dev.max_msg_size), 1 << 20);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &port, sizeof(port)),
			 OHCA_CMD_OK);
	assert_int_equal(drv->out_len, OHCA_QUERY_PORT_OUT_MIN);
	assert_int_equal(le16toh(port.gid_tbl_len), 1);
}

static void assert_max(uint16_t opcode, const void *in, size_t len, unsigned int max)
{
	struct ohca_handle out;

	while (max--)
		assert_int_equal(drv_cmd(drv, opcode, in, len, &out, sizeof(out)), OHCA_CMD_OK);
	assert_int_equal(drv_cmd(drv, opcode, in, len, &out, sizeof(out)), OHCA_CMD_NO_RESOURCE);
}

static void test_limits(void **state)
{
	struct ohca_create_mkey_in mkey = {.type = OHCA_MKEY_DMA,
					   .access = OHCA_ACCESS_LOCAL_WRITE};
	struct ohca_set_gid_in gid = {.index = htole16(1), .port = 1, .vlan = OHCA_VLAN_NONE};
	struct ohca_create_cq_in in;
	struct ohca_handle out;
	struct drv_eq *eq;
	struct drv_cq cq;
	unsigned int i;

	(void)state;
	start_with("minimal-rc");
	mkey.pdn = htole32(drv_create(drv, OHCA_CMD_ALLOC_PD, NULL, 0));
	assert_max(OHCA_CMD_ALLOC_PD, NULL, 0, 3);
	assert_max(OHCA_CMD_CREATE_MKEY, &mkey, sizeof(mkey), 4);
	eq = drv_eq_new(drv, 4, 1, 0);
	drv_eq_new(drv, 4, 1, 0);
	in = drv_cq_in(drv, 7, eq->eqn, &cq);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_CQ, &in, sizeof(in), &out, sizeof(out)),
			 OHCA_CMD_BAD_PARAM);
	for (i = 0; i < 4; i++)
		drv_cq_new(drv, 6, eq->eqn);
	in = drv_cq_in(drv, 6, eq->eqn, &cq);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_CQ, &in, sizeof(in), &out, sizeof(out)),
			 OHCA_CMD_NO_RESOURCE);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_GID, &gid, sizeof(gid), NULL, 0),
			 OHCA_CMD_BAD_PARAM);
}

/* What needs a capability is refused: commands, types of objects, flags. */
static void test_refused(void **state)
{
	static const uint16_t opcodes[] = {
		OHCA_CMD_QUERY_COUNTERS, OHCA_CMD_ALLOC_XRCD,	  OHCA_CMD_FREE_XRCD,
		OHCA_CMD_ALLOC_COUNTERS, OHCA_CMD_FREE_COUNTERS,  OHCA_CMD_MODIFY_CQ,
		OHCA_CMD_RESIZE_CQ,	 OHCA_CMD_MODIFY_MKEY,	  OHCA_CMD_MODIFY_PAGES,
		OHCA_CMD_ALLOC_DM,	 OHCA_CMD_FREE_DM,	  OHCA_CMD_ATTACH_MCAST,
		OHCA_CMD_DETACH_MCAST,	 OHCA_CMD_CREATE_IND_TBL, OHCA_CMD_DESTROY_IND_TBL,
		OHCA_CMD_CREATE_RSS,	 OHCA_CMD_CREATE_SRQ,	  OHCA_CMD_MODIFY_SRQ,
		OHCA_CMD_QUERY_SRQ,	 OHCA_CMD_DESTROY_SRQ,	  OHCA_CMD_CREATE_FLOW,
		OHCA_CMD_DESTROY_FLOW,
	};
	static const uint8_t keys[] = {OHCA_MKEY_FAST_REG, OHCA_MKEY_MW_1, OHCA_MKEY_MW_2,
				       OHCA_MKEY_DM, OHCA_MKEY_ODP};
	static const uint8_t types[] = {OHCA_QPT_SMI, OHCA_QPT_GSI,	OHCA_QPT_UC,
					OHCA_QPT_UD,  OHCA_QPT_XRC_INI, OHCA_QPT_XRC_TGT,
					OHCA_QPT_RWQ, OHCA_QPT_TM,	OHCA_QPT_ETH};
	static const uint8_t in[OHCA_CMD_MAX_LEN];
	uint8_t out[OHCA_CMD_MAX_LEN];
	struct ohca_create_cq_in cq_in;
	struct drv_cq cq;
	unsigned int i;

	(void)state;
	start_with("minimal-rc");
	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		assert_int_equal(drv_cmd(drv, opcodes[i], in, 1024, out, 1024),
				 OHCA_CMD_UNSUPPORTED);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		struct ohca_create_mkey_in mkey = {.type = keys[i]};

		assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_MKEY, &mkey, sizeof(mkey), out, 8),
				 OHCA_CMD_UNSUPPORTED);
	}
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ohca_create_qp_in qp = {.type = types[i]};

		assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_QP, &qp, sizeof(qp), out, 8),
				 OHCA_CMD_UNSUPPORTED);
	}
	cq_in = drv_cq_in(drv, 4, 0, &cq);
	cq_in.flags = OHCA_CQ_TIMESTAMP;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_CREATE_CQ, &cq_in, sizeof(cq_in), out, 8),
			 OHCA_CMD_UNSUPPORTED);
}

static void test_verbs(void **state)
{
	const uint64_t caps = OHCA_CAP_UD | OHCA_CAP_SRQ | OHCA_CAP_ATOMIC | OHCA_CAP_MEM_MGT |
			      OHCA_CAP_MODIFY_MKEY | OHCA_CAP_CQ_RESIZE | OHCA_CAP_COUNTERS;
	struct ohca_query_device_out dev;

	(void)state;
	start_with("verbs");
	dev = query_device();
	assert_int_equal(le64toh(dev.caps), caps);
	assert_int_equal(le32toh(dev.max_srq), 16);
	assert_int_equal(le32toh(dev.max_fast_reg), 256);
	assert_true(dev.max_counters && !dev.max_mcast && !dev.max_xrcd);
}

/* It is the same until the next reset. */
static void test_change(void **state)
{
	(void)state;
	start_with("all");
	assert_true(query_device().caps);
	use_profile("minimal-rc");
	assert_true(query_device().caps);
	restart();
	assert_int_equal(query_device().caps, 0);
	use_profile("all");
	restart();
	assert_true(query_device().caps);
	assert_true(ctl_fails(server, "profile", "{\"hca\":\"hca0\",\"profile\":\"best\"}",
			      "EINVAL", "there is no profile 'best'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_minimal_rc, down),
		cmocka_unit_test_teardown(test_limits, down),
		cmocka_unit_test_teardown(test_refused, down),
		cmocka_unit_test_teardown(test_verbs, down),
		cmocka_unit_test_teardown(test_change, down),
	};

	return RUN_TESTS(tests, start_one_hca, stop_hcas);
}
