// SPDX-License-Identifier: GPL-2.0
/* Subnet management agents of HCAs and of the switch: attributes, and routes to them. */

#include <endian.h>

#include "harness.h"
#include "ib_bed.h"
#include "refuse.h"

/* Attributes that all nodes have */

static void test_node_info(void **state)
{
	struct node_info *info;
	uint8_t data[SMP_DATA_LEN];

	(void)state;
	info = (struct node_info *)data;
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_switch, data), MAD_OK);
	assert_int_equal(info->base_version, 1);
	assert_int_equal(info->class_version, 1);
	assert_int_equal(info->node_type, NODE_SWITCH);
	assert_int_equal(info->num_ports, 8);
	assert_int_equal(info->local_port, 1);
	assert_int_equal(be64toh(info->node_guid), 0x000000ffff000001);
	assert_true(info->port_guid == info->node_guid && info->system_guid == info->node_guid);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, to_hca1, data), MAD_OK);
	assert_int_equal(info->node_type, NODE_CA);
	assert_int_equal(info->num_ports, 1);
	assert_int_equal(be64toh(info->node_guid), 0x000000fffe000002);
	assert_int_equal(be64toh(info->port_guid), 0x0000000001000002);
	assert_int_equal(be16toh(info->partition_cap), IB_PORT_PKEYS);
	assert_int_equal(be16toh(info->device_id), OHCA_PCI_DEVICE_ID);
	assert_int_equal(info->vendor_id[1] << 8 | info->vendor_id[2], OHCA_PCI_VENDOR_ID);
	/* It is read-only, and nothing is connected to the switch's other ports. */
	assert_int_equal(ib_set(SM_NODE_INFO, 0, to_hca1, data), MAD_BAD_ATTR);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, (const uint8_t[]){1, 7, 0}, data), -1);
	assert_int_equal(ib_get(SM_NODE_INFO, 0, (const uint8_t[]){1, 200, 0}, data), -1);
}

static void test_node_desc(void **state)
{
	struct ohca_set_node_desc_in in = {"node1 ohca0"};
	char desc[SMP_DATA_LEN];

	(void)state;
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_hca1, desc), MAD_OK);
	assert_string_equal(desc, "OHCA hca1");
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_switch, desc), MAD_OK);
	assert_string_equal(desc, "OHCA switch");
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_SET_NODE_DESC, &in, sizeof(in), NULL, 0), 0);
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_hca1, desc), MAD_OK);
	assert_string_equal(desc, "node1 ohca0");
	drv_reset(ib.drv[1]);
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_hca1, desc), MAD_OK);
	assert_string_equal(desc, "OHCA hca1");
}

static struct ohca_query_gid_out query_gid(unsigned int hca, uint16_t index)
{
	struct ohca_query_gid_in in = {.index = htole16(index), .port = 1};
	struct ohca_query_gid_out out;

	assert_int_equal(
		drv_cmd(ib.drv[hca], OHCA_CMD_QUERY_GID, &in, sizeof(in), &out, sizeof(out)), 0);
	return out;
}

static void test_guids(void **state)
{
	uint64_t guids[8];
	struct ohca_query_gid_out gid;
	struct ohca_query_gid_in in = {.port = 1};

	(void)state;
	assert_int_equal(ib_get(SM_GUID_INFO, 0, to_hca1, guids), MAD_OK);
	assert_int_equal(be64toh(guids[0]), 0x0000000001000002);
	assert_int_equal(guids[1], 0);
	gid = query_gid(1, 0);
	assert_int_equal(gid.type, OHCA_GID_IB);
	assert_memory_equal(gid.gid, ((uint8_t[]){0xfe, 0x80, 0, 0, 0, 0, 0, 0}), 8);
	assert_memory_equal(gid.gid + 8, guids, 8);
	assert_int_equal(query_gid(1, 1).type, OHCA_GID_NONE);
	ib_expect_no_event(1);
	/* The first entry stays. */
	guids[0] = 1;
	guids[1] = htobe64(0x1122334455667788);
	assert_int_equal(ib_set(SM_GUID_INFO, 0, to_hca1, guids), MAD_OK);
	assert_int_equal(be64toh(guids[0]), 0x0000000001000002);
	assert_int_equal(be64toh(guids[1]), 0x1122334455667788);
	ib_expect_event(1, OHCA_EVENT_GID_CHANGE);
	gid = query_gid(1, 1);
	assert_int_equal(gid.type, OHCA_GID_IB);
	assert_memory_equal(gid.gid + 8, &guids[1], 8);
	assert_int_equal(ib_set(SM_GUID_INFO, 0, to_hca1, guids), MAD_OK);
	ib_expect_no_event(1);
	/* One by which another port is known is not this one's. */
	guids[1] = htobe64(0x0000000001000001);
	guids[2] = htobe64(0x1122334455667799);
	assert_int_equal(ib_set(SM_GUID_INFO, 0, to_hca1, guids), MAD_BAD_FIELD);
	assert_int_equal(query_gid(1, 2).type, OHCA_GID_NONE);
	ib_expect_no_event(1);
	assert_int_equal(ib_get(SM_GUID_INFO, IB_PORT_GUIDS / 8, to_hca1, guids), MAD_BAD_FIELD);
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_GID, struct ohca_query_gid_in, in, index,
	       htole16(IB_PORT_GUIDS), OHCA_CMD_BAD_PARAM);
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_GID, struct ohca_query_gid_in, in, port, 2,
	       OHCA_CMD_BAD_PARAM);
	REFUSE_AT(ib.drv[1], OHCA_CMD_QUERY_GID, struct ohca_query_gid_in, in, rsvd[4], 1,
		  OHCA_CMD_BAD_PARAM, offsetof(struct ohca_query_gid_in, rsvd));
}

static void test_pkeys(void **state)
{
	struct ohca_query_pkey_in in = {.num = 32, .port = 1};
	struct ohca_query_pkey_out out;
	uint16_t pkeys[32];

	(void)state;
	assert_int_equal(ib_get(SM_PKEY_TABLE, 0, to_hca1, pkeys), MAD_OK);
	assert_int_equal(pkeys[0], 0xffff);
	assert_int_equal(pkeys[1], 0);
	pkeys[1] = htobe16(0x8001);
	assert_int_equal(ib_set(SM_PKEY_TABLE, 0, to_hca1, pkeys), MAD_OK);
	ib_expect_event(1, OHCA_EVENT_PKEY_CHANGE);
	assert_int_equal(ib_set(SM_PKEY_TABLE, 0, to_hca1, pkeys), MAD_OK);
	ib_expect_no_event(1);
	memset(pkeys, 0, sizeof(pkeys));
	pkeys[31] = htobe16(0x7abc);
	assert_int_equal(ib_set(SM_PKEY_TABLE, 3, to_hca1, pkeys), MAD_OK);
	assert_int_equal(ib_set(SM_PKEY_TABLE, 4, to_hca1, pkeys), MAD_BAD_FIELD);
	assert_int_equal(port_pkey(inproc_hca(1)->ports[0], 1), 0x8001);
	assert_int_equal(port_pkey(inproc_hca(1)->ports[0], 127), 0x7abc);
	assert_int_equal(port_pkey(inproc_hca(1)->ports[0], 128), 0);
	assert_int_equal(
		drv_cmd(ib.drv[1], OHCA_CMD_QUERY_PKEY, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(le16toh(out.pkey[0]), 0xffff);
	assert_int_equal(le16toh(out.pkey[1]), 0x8001);
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_PKEY, struct ohca_query_pkey_in, in, num, 33,
	       OHCA_CMD_BAD_PARAM);
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_PKEY, struct ohca_query_pkey_in, in, num, 0,
	       OHCA_CMD_BAD_PARAM);
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_PKEY, struct ohca_query_pkey_in, in, first, htole16(128),
	       OHCA_CMD_BAD_PARAM);
	REFUSE_AT(ib.drv[1], OHCA_CMD_QUERY_PKEY, struct ohca_query_pkey_in, in, first,
		  htole16(127), OHCA_CMD_BAD_PARAM, offsetof(struct ohca_query_pkey_in, num));
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_PKEY, struct ohca_query_pkey_in, in, port, 0,
	       OHCA_CMD_BAD_PARAM);
	REFUSE(ib.drv[1], OHCA_CMD_QUERY_PKEY, struct ohca_query_pkey_in, in, rsvd, 1,
	       OHCA_CMD_BAD_PARAM);
	/* A switch has a table for each port. */
	assert_int_equal(ib_set(SM_PKEY_TABLE, 2 << 16, to_switch, pkeys), MAD_OK);
	assert_int_equal(ib_switch_of()->ports[2].pkeys[31], 0x7abc);
	assert_int_equal(ib_set(SM_PKEY_TABLE, 9 << 16, to_switch, pkeys), MAD_BAD_FIELD);
}

static void test_vl_tables(void **state)
{
	uint8_t data[SMP_DATA_LEN], same[SMP_DATA_LEN];

	(void)state;
	memset(data, 0, sizeof(data));
	memset(data, 0x35, 8);
	memcpy(same, data, sizeof(same));
	assert_int_equal(ib_set(SM_SL2VL, 0, to_hca1, data), MAD_OK);
	assert_memory_equal(data, same, sizeof(same));
	assert_int_equal(ib_set(SM_SL2VL, 1 << 8 | 2, to_switch, data), MAD_OK);
	assert_int_equal(ib_get(SM_SL2VL, 2 << 8 | 1, to_switch, data), MAD_OK);
	assert_int_equal(data[0], 0);
	assert_int_equal(ib_get(SM_SL2VL, 9 << 8 | 1, to_switch, data), MAD_BAD_FIELD);
	memset(data, 0, sizeof(data));
	memset(data, 0x11, 16);
	memcpy(same, data, sizeof(same));
	assert_int_equal(ib_set(SM_VL_ARB, 3 << 16, to_hca1, data), MAD_OK);
	assert_memory_equal(data, same, sizeof(same));
	assert_int_equal(ib_get(SM_VL_ARB, 1 << 16, to_hca1, data), MAD_OK);
	assert_int_equal(data[0], 0);
	assert_int_equal(ib_get(SM_VL_ARB, 2 << 16, to_hca1, data), MAD_BAD_FIELD);
	assert_int_equal(ib_get(SM_VL_ARB, 1 << 16 | 9, to_switch, data), MAD_BAD_FIELD);
}

/* Attributes of the switch */

static void test_forwarding_tables(void **state)
{
	uint8_t data[SMP_DATA_LEN], same[SMP_DATA_LEN];
	struct switch_info *info = (struct switch_info *)data;
	uint16_t masks[32] = {0};

	(void)state;
	assert_int_equal(ib_get(SM_SWITCH_INFO, 0, to_switch, data), MAD_OK);
	assert_int_equal(be16toh(info->linear_cap), 0xc000);
	assert_int_equal(be16toh(info->mcast_cap), IB_SWITCH_MLIDS);
	assert_true(info->life_state_change & SWITCH_STATE_CHANGE);
	info->linear_top = htobe16(0xc000);
	assert_int_equal(ib_set(SM_SWITCH_INFO, 0, to_switch, data), MAD_BAD_FIELD);
	assert_int_equal(ib_get(SM_SWITCH_INFO, 0, to_switch, data), MAD_OK);
	info->linear_top = htobe16(0xbfff);
	info->life_state_change = 18 << SWITCH_LIFE_SHIFT | SWITCH_STATE_CHANGE;
	assert_int_equal(ib_set(SM_SWITCH_INFO, 0, to_switch, data), MAD_OK);
	assert_int_equal(info->life_state_change, 18 << SWITCH_LIFE_SHIFT);
	assert_int_equal(be16toh(info->linear_top), 0xbfff);
	memset(data, 3, sizeof(data));
	memcpy(same, data, sizeof(same));
	assert_int_equal(ib_set(SM_LINEAR_FDB, 0xc000 / 64 - 1, to_switch, data), MAD_OK);
	assert_memory_equal(data, same, sizeof(same));
	assert_int_equal(ib_switch_linear(ib_switch_of(), 0xbfff), 3);
	assert_int_equal(ib_set(SM_LINEAR_FDB, 0xc000 / 64, to_switch, data), MAD_BAD_FIELD);
	masks[1] = htobe16(0x000c);
	assert_int_equal(ib_set(SM_MCAST_FDB, 1, to_switch, masks), MAD_OK);
	assert_int_equal(*ib_switch_mcast_room(ib_switch_of(), 33), 0x000c);
	assert_int_equal(ib_get(SM_MCAST_FDB, 1, to_switch, masks), MAD_OK);
	assert_int_equal(be16toh(masks[1]), 0x000c);
	assert_int_equal(ib_get(SM_MCAST_FDB, 1U << 28 | 1, to_switch, masks), MAD_OK);
	assert_int_equal(masks[1], 0);
	assert_int_equal(ib_get(SM_MCAST_FDB, 9U << 28, to_switch, masks), MAD_BAD_FIELD);
	assert_int_equal(ib_get(SM_MCAST_FDB, IB_SWITCH_MLIDS / 32, to_switch, masks),
			 MAD_BAD_FIELD);
	/* An HCA has no such attributes, and no node has random forwarding tables. */
	assert_int_equal(ib_get(SM_SWITCH_INFO, 0, to_hca1, data), MAD_BAD_ATTR);
	assert_int_equal(ib_get(SM_LINEAR_FDB, 0, to_hca1, data), MAD_BAD_ATTR);
	assert_int_equal(ib_get(0x1a, 0, to_switch, data), MAD_BAD_ATTR);
}

/* PortInfo */

static struct port_info port_info(const uint8_t *route, uint32_t num)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, num, route, &info), MAD_OK);
	return info;
}

static void test_port_info(void **state)
{
	struct port_info info = port_info(to_hca1, 0);

	(void)state;
	assert_int_equal(be64toh(info.gid_prefix), 0xfe80000000000000);
	assert_int_equal(info.lid, 0);
	assert_int_equal(info.local_port, 1);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_INIT);
	assert_int_equal(info.phys_state_down_default, PORT_PHYS_LINK_UP << 4 | PORT_PHYS_POLLING);
	assert_int_equal(info.width_active, PORT_WIDTH_4X);
	assert_int_equal(info.speed_ext_active_supported >> 4, PORT_SPEED_EXT_EDR);
	assert_int_equal(info.init_type_reply_mtu_cap & 15, 5);
	assert_int_equal(info.vl_cap_init_type >> 4, PORT_VL_CAP);
	/* A manager takes a link down for others. */
	assert_int_equal(info.oper_vls_enforce >> 4, PORT_VL_CAP);
	info = port_info(to_switch, 0);
	assert_int_equal(info.local_port, 1);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_ACTIVE);
	info = port_info(to_switch, 2);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_INIT);
	assert_int_equal(info.cap_mask, 0);
	info = port_info(to_switch, 8);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_DOWN);
	assert_int_equal(info.phys_state_down_default >> 4, PORT_PHYS_POLLING);
	assert_int_equal(ib_get(SM_PORT_INFO, 9, to_switch, &info), MAD_BAD_FIELD);
	assert_int_equal(ib_get(SM_PORT_INFO, 2, to_hca1, &info), MAD_BAD_FIELD);
	assert_int_equal(ib_get(SM_PORT_INFO, 0x80000001, to_hca1, &info), MAD_OK);
}

/* A Set() with one invalid field changes nothing. */
#define WRONG(field, value)                                                                        \
	do {                                                                                       \
		struct port_info _good = port_info(to_hca1, 0), _bad;                              \
		_good.speed_supported_state &= 0xf0;                                               \
		_good.phys_state_down_default &= 0x0f;                                             \
		_good.lid = htobe16(0x20);                                                         \
		_bad = _good;                                                                      \
		_bad.field = value;                                                                \
		assert_int_equal(ib_set(SM_PORT_INFO, 0x80000000, to_hca1, &_bad), MAD_BAD_FIELD); \
		assert_int_equal(ib_port_of(1)->lid, 0);                                           \
	} while (0)

static void test_port_info_wrong(void **state)
{
	(void)state;
	WRONG(lid, htobe16(0xc000));
	WRONG(lid, htobe16(0xffff));
	WRONG(sm_lid, htobe16(0xffff));
	WRONG(mkey_protect_lmc, 6);
	WRONG(width_enabled, PORT_WIDTH_8X);
	WRONG(speed_active_enabled, 8);
	WRONG(speed_ext_enabled, PORT_SPEED_EXT_HDR);
	WRONG(mtu_sm_sl, 0);
	WRONG(mtu_sm_sl, 6 << 4);
	WRONG(oper_vls_enforce, 5 << 4);
	WRONG(speed_supported_state, IB_PORT_INIT);
	WRONG(speed_supported_state, IB_PORT_ACTIVE);
	WRONG(speed_supported_state, 5);
	WRONG(phys_state_down_default, 4 << 4);
	WRONG(phys_state_down_default, 3);
	ib_expect_no_event(1);
}

static void test_port_info_set(void **state)
{
	struct ohca_query_port_in in = {.port = 1};
	struct ohca_query_port_out out;
	struct port_info info = port_info(to_hca1, 0);

	(void)state;
	info.gid_prefix = htobe64(0xfec0000000000001);
	info.lid = htobe16(0x20);
	info.sm_lid = htobe16(0x30);
	info.mkey_protect_lmc = 3;
	info.mtu_sm_sl = 4 << 4 | 2;
	info.oper_vls_enforce = 3 << 4;
	info.speed_supported_state = 0;
	info.phys_state_down_default = PORT_PHYS_SLEEP;
	info.init_type_reply_mtu_cap = 7 << 4;
	info.reregister_subnet_timeout = PORT_REREGISTER | 17;
	assert_int_equal(ib_set(SM_PORT_INFO, 0, to_hca1, &info), MAD_OK);
	assert_int_equal(info.reregister_subnet_timeout, PORT_REREGISTER | 17);
	assert_int_equal(info.oper_vls_enforce, 3 << 4);
	ib_expect_event(1, OHCA_EVENT_GID_CHANGE);
	ib_expect_event(1, OHCA_EVENT_LID_CHANGE);
	ib_expect_event(1, OHCA_EVENT_SM_CHANGE);
	ib_expect_event(1, OHCA_EVENT_CLIENT_REREGISTER);
	ib_expect_no_event(1);
	info = port_info(to_hca1, 1);
	assert_int_equal(info.reregister_subnet_timeout, 17);
	assert_int_equal(
		drv_cmd(ib.drv[1], OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(out.link_layer, OHCA_LINK_INFINIBAND);
	assert_int_equal(out.state, IB_PORT_INIT);
	assert_int_equal(out.phys_state, PORT_PHYS_LINK_UP);
	assert_int_equal(le16toh(out.lid), 0x20);
	assert_int_equal(le16toh(out.sm_lid), 0x30);
	assert_int_equal(out.lmc, 3);
	assert_int_equal(out.sm_sl, 2);
	assert_int_equal(out.subnet_timeout, 17);
	assert_int_equal(out.init_type_reply, 7);
	assert_int_equal(out.active_mtu, 4);
	assert_int_equal(out.max_mtu, 5);
	assert_int_equal(be64toh(out.subnet_prefix), 0xfec0000000000001);
	assert_int_equal(le16toh(out.active_speed), 32);
	assert_int_equal(out.active_width, 2);
	assert_true(ib_port_has_lid(ib_port_of(1), 0x27));
	assert_false(ib_port_has_lid(ib_port_of(1), 0x28));
	/* A reset restores the initial values. */
	drv_reset(ib.drv[1]);
	info = port_info(to_hca1, 0);
	assert_int_equal(info.lid, 0);
	assert_int_equal(info.mkey_protect_lmc, 0);
	assert_int_equal(info.phys_state_down_default, PORT_PHYS_LINK_UP << 4 | PORT_PHYS_POLLING);
}

/* The subnet manager activates the port of an adapter whose driver begins afterwards. */
static void test_active_before_driver(void **state)
{
	const struct port *port = ib_port_of(1)->port;

	(void)state;
	drv_reset(ib.drv[1]);
	ib_bed_up();
	assert_int_equal(ib_port_of(1)->state, IB_PORT_ACTIVE);
	assert_false(port->active);
	assert_int_equal(drv_enable(ib.drv[1], OHCA_FEAT_SHADOW_DB), OHCA_STATUS_READY);
	assert_true(port->active);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_node_info, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_node_desc, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_guids, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_pkeys, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_vl_tables, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_forwarding_tables, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_port_info, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_port_info_wrong, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_port_info_set, ib_bed_open, ib_bed_close),
	cmocka_unit_test_setup_teardown(test_active_before_driver, ib_bed_open, ib_bed_close),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
