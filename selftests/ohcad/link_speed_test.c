// SPDX-License-Identifier: GPL-2.0
/* Speeds and widths of InfiniBand links: what ports support, what comes of both ends, what a Set changes. */

#include <endian.h>

#include "harness.h"
#include "ib_bed.h"

#define EXT_NONE 30 /* LinkSpeedExtEnabled */
#define EXT_COUNTS 0x80000000U /* AttributeModifier */

/* The link of HCA 1 with another cable, between ports that support @hca and @sw */
static void recable(const struct ib_speeds *hca, const struct ib_speeds *sw)
{
	struct ib_port *at = ib_port_of(1), *peer = at->peer;

	ib_link_disconnect(at);
	ib_port_set_supported(at, hca);
	ib_port_set_supported(peer, sw);
	ib_link_connect(at, peer);
}

static struct ohca_query_port_out query(unsigned int hca)
{
	struct ohca_query_port_in in = {.port = 1};
	struct ohca_query_port_out out;

	assert_int_equal(
		drv_cmd(ib.drv[hca], OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)), 0);
	return out;
}

static struct ib_speeds parse(const char *speed, const char *width)
{
	struct ib_speeds speeds;

	assert_true(ib_speed_parse(&speeds, speed));
	assert_true(ib_width_parse(&speeds, width));
	return speeds;
}

static void test_names(void **state)
{
	struct ib_speeds speeds = parse("EDR", "4");

	(void)state;
	assert_memory_equal(&speeds, &ib_speeds_default, sizeof(speeds));
	speeds = parse("NDR", "12");
	assert_int_equal(speeds.speed, 7);
	assert_int_equal(speeds.ext, 15);
	assert_int_equal(speeds.width, 31);
	speeds = parse("SDR", "1");
	assert_int_equal(speeds.speed, 1);
	assert_int_equal(speeds.ext, 0);
	assert_int_equal(speeds.width, 1);
	assert_false(ib_speed_parse(&speeds, "FDR10"));
	assert_false(ib_speed_parse(&speeds, "edr"));
	assert_false(ib_speed_parse(&speeds, ""));
	assert_false(ib_width_parse(&speeds, "3"));
	assert_false(ib_width_parse(&speeds, "04"));
	assert_false(ib_width_parse(&speeds, "4x"));
	assert_false(ib_width_parse(&speeds, ""));
}

/* Numbers of active_speed are those of enum ib_port_speed. */
static void test_best_of_both(void **state)
{
	static const struct {
		const char *hca[2], *sw[2];
		uint16_t speed;
		uint8_t width;
		uint16_t caps;
		uint32_t rate;
	} links[] = {
		{{"EDR", "4"}, {"EDR", "4"}, 32, 2, 0x0010, 100000},
		{{"NDR", "4"}, {"NDR", "4"}, 128, 2, 0x0430, 400000},
		{{"HDR", "2"}, {"NDR", "12"}, 64, 16, 0x0030, 100000},
		{{"NDR", "12"}, {"FDR", "8"}, 16, 4, 0x0430, 109088},
		{{"NDR", "12"}, {"QDR", "12"}, 4, 8, 0x0430, 96000},
		{{"SDR", "12"}, {"NDR", "1"}, 1, 1, 0x0010, 2000},
		{{"DDR", "1"}, {"DDR", "4"}, 2, 1, 0x0000, 4000},
	};
	struct ohca_query_port_out out;
	struct ib_speeds hca, sw;
	struct port_info info;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		hca = parse(links[i].hca[0], links[i].hca[1]);
		sw = parse(links[i].sw[0], links[i].sw[1]);
		recable(&hca, &sw);
		out = query(1);
		assert_int_equal(out.state, IB_PORT_INIT);
		assert_int_equal(le16toh(out.active_speed), links[i].speed);
		assert_int_equal(out.active_width, links[i].width);
		assert_int_equal(le16toh(out.cap_mask2), links[i].caps);
		assert_true(le32toh(out.cap_mask) & PORT_CAP_CAP_MASK2);
		assert_int_equal(ib_speeds_rate(&ib_port_of(1)->active), links[i].rate);
		assert_int_equal(ib_get(SM_PORT_INFO, 0, to_hca1, &info), MAD_OK);
		assert_int_equal(info.width_supported, hca.width);
		assert_int_equal(info.width_active, links[i].width);
		assert_int_equal(info.speed_supported_state >> 4, hca.speed);
		assert_int_equal(info.speed_ext_active_supported & 15, hca.ext);
		assert_int_equal(be16toh(info.cap_mask2), links[i].caps);
		if (links[i].speed >= 16)
			assert_int_equal(info.speed_ext_active_supported >> 4, links[i].speed >> 4);
		assert_int_equal(ib_get(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
		assert_int_equal(info.width_supported, sw.width);
		assert_int_equal(info.width_active, links[i].width);
	}
}

/* Set(PortInfo) of HCA 1 with what is enabled; 0: no change */
static void enable(uint8_t width, uint8_t speed, uint8_t ext)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, 0, to_hca1, &info), MAD_OK);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = 0;
	info.width_enabled = width;
	info.speed_active_enabled = speed;
	info.speed_ext_enabled = ext;
	/* The answer may not come any more. */
	ib_set(SM_PORT_INFO, EXT_COUNTS, to_hca1, &info);
}

static void test_enabled(void **state)
{
	(void)state;
	ib_bed_up();
	ib_expect_event(1, OHCA_EVENT_LID_CHANGE);
	ib_expect_event(1, OHCA_EVENT_SM_CHANGE);
	ib_expect_event(1, OHCA_EVENT_PORT_ACTIVE);
	/* What does not change the link leaves it as it is. */
	enable(0, 0, 0);
	enable(PORT_WIDTH_4X, 0, 0);
	enable(255, 15, 31);
	assert_int_equal(ib_port_of(1)->state, IB_PORT_ACTIVE);
	ib_expect_no_event(1);
	enable(PORT_WIDTH_1X | PORT_WIDTH_2X, 0, 0);
	ib_expect_event(1, OHCA_EVENT_PORT_ERR);
	assert_int_equal(query(1).state, IB_PORT_INIT);
	assert_int_equal(query(1).active_width, PORT_WIDTH_2X);
	assert_int_equal(le16toh(query(1).active_speed), 32);
	assert_int_equal(ib_port_of(1)->peer->state, IB_PORT_INIT);
	assert_true(ib_switch_of()->state_change);
	enable(0, PORT_SPEED_SDR | PORT_SPEED_DDR, EXT_NONE);
	assert_int_equal(le16toh(query(1).active_speed), PORT_SPEED_DDR);
	/* A state that is asked for together with that is for the link that goes. */
	enable(255, 15, 31);
	assert_int_equal(le16toh(query(1).active_speed), 32);
	assert_int_equal(query(1).active_width, PORT_WIDTH_4X);
	/* A reset enables all. */
	enable(PORT_WIDTH_1X, 0, 0);
	assert_int_equal(query(1).active_width, PORT_WIDTH_1X);
	drv_reset(ib.drv[1]);
	assert_int_equal(ib_port_of(1)->active.width, PORT_WIDTH_4X);
}

static void test_disabled_with_speed(void **state)
{
	struct port_info info;

	(void)state;
	assert_int_equal(ib_get(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = PORT_PHYS_DISABLED << 4;
	info.width_enabled = PORT_WIDTH_1X;
	assert_int_equal(ib_set(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	assert_int_equal(info.phys_state_down_default >> 4, PORT_PHYS_DISABLED);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = PORT_PHYS_POLLING << 4;
	assert_int_equal(ib_set(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	assert_int_equal(info.width_active, PORT_WIDTH_1X);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_INIT);
}

static void test_nothing_in_common(void **state)
{
	struct port_info info;

	(void)state;
	enable(PORT_WIDTH_4X, 0, 0);
	assert_int_equal(ib_get(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = 0;
	info.width_enabled = PORT_WIDTH_1X;
	assert_int_equal(ib_set(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	assert_int_equal(info.speed_supported_state & 15, IB_PORT_DOWN);
	assert_int_equal(query(1).state, IB_PORT_DOWN);
	assert_int_equal(query(1).phys_state, PORT_PHYS_POLLING);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = 0;
	info.width_enabled = PORT_WIDTH_1X | PORT_WIDTH_4X;
	assert_int_equal(ib_set(SM_PORT_INFO, 2, to_switch, &info), MAD_OK);
	assert_int_equal(query(1).state, IB_PORT_INIT);
	assert_int_equal(query(1).active_width, PORT_WIDTH_4X);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ib_bed_open, ib_bed_close)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names),	TEST(test_best_of_both),      TEST(test_enabled),
	TEST(test_disabled_with_speed), TEST(test_nothing_in_common),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
