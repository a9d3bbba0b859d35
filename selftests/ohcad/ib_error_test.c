// SPDX-License-Identifier: GPL-2.0
/* Errors of InfiniBand links, on demand: counters, thresholds, and the traps 129 to 131. */

#include <endian.h>

#include "harness.h"
#include "ib_bed.h"
#include "inproc_assert.h"
#include "inject/hca_rule.h"
#include "packet/pm_attr.h"

static void fault(const char *text)
{
	struct hca_rule *rule = inproc_add_hca_rule(inproc_fabric(0), text);

	while (!hca_rule_done(rule))
		inproc_step();
}

/* PortCounters by the switch's agent, or by that of HCA 1 */
static struct port_counters counters(bool of_switch)
{
	struct port_counters c = {.port = of_switch ? 2 : 1};
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, PM_PORT_COUNTERS, 0);
	struct ohca_mad_in in = {.port = 1};
	struct ohca_mad_out out;

	memcpy(p.mad + PM_DATA, &c, sizeof(c));
	if (of_switch) {
		assert_true(ib_ask_node(ib_port_of(0)->peer, &p));
		memcpy(&c, p.mad + PM_DATA, sizeof(c));
		return c;
	}
	memcpy(in.mad, p.mad, sizeof(in.mad));
	assert_int_equal(drv_cmd(ib.drv[1], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	memcpy(&c, out.mad + PM_DATA, sizeof(c));
	return c;
}

static void set_thresholds(const uint8_t *route, uint32_t port, uint8_t thresholds)
{
	struct port_info info;

	assert_int_equal(ib_get(SM_PORT_INFO, port, route, &info), MAD_OK);
	info.speed_supported_state &= 0xf0;
	info.phys_state_down_default = 0;
	info.phy_errors_overrun = thresholds;
	assert_int_equal(ib_set(SM_PORT_INFO, port, route, &info), MAD_OK);
	assert_int_equal(info.phy_errors_overrun, thresholds);
	ib.num_got = 0;
}

/* The trap that has come since, and is repressed */
static void expect_trap(uint16_t number, uint16_t lid, uint8_t port)
{
	const struct notice *notice = (const struct notice *)ib.got[0].smp.data;
	struct mad_packet p = ib.got[0];

	while (!ib.num_got)
		inproc_step();
	p = ib.got[0];
	assert_int_equal(p.hdr.method, MAD_TRAP);
	assert_int_equal(be16toh(notice->trap), number);
	assert_int_equal(notice->generic_type, NOTICE_GENERIC | NOTICE_URGENT);
	assert_int_equal(be16toh(notice->issuer_lid), lid);
	assert_int_equal(be16toh(notice->local.lid), lid);
	assert_int_equal(notice->local.port, port);
	p.hdr.method = MAD_TRAP_REPRESS;
	p.dlid = lid;
	p.slid = BED_LID(0);
	ib_send_smp(inproc_hca(0)->ports[0], &p);
	ib.num_got = 0;
}

static void test_counters(void **state)
{
	struct port_counters c;

	(void)state;
	fault("link-error=symbol,hca=hca1,num=70000");
	fault("link-error=recovery,hca=hca1,num=3");
	fault("link-error=rcv,hca=hca1,num=5");
	fault("link-error=rcv-remote,hca=hca1,num=6");
	fault("link-error=downed,hca=hca1,num=4");
	c = counters(false);
	assert_int_equal(be16toh(c.symbol_errors), 0xffff);
	assert_int_equal(c.link_recovery, 3);
	assert_int_equal(c.link_downed, 4);
	assert_int_equal(be16toh(c.rcv_errors), 5);
	assert_int_equal(be16toh(c.rcv_remote_errors), 6);
	assert_int_equal(c.integrity_overrun >> 4, 15);
	c = counters(true);
	assert_int_equal(c.symbol_errors, 0);
	fault("link-error=symbol,hca=hca1,at=switch");
	assert_int_equal(be16toh(counters(true).symbol_errors), 1);
	/* Not the port: its link is as it was. */
	assert_int_equal(ib_port_of(1)->state, IB_PORT_INIT);
}

static void test_link_integrity(void **state)
{
	(void)state;
	ib_bed_up();
	set_thresholds(to_hca1, 0, 0x80);
	fault("link-error=symbol,hca=hca1,num=6");
	fault("link-error=rcv,hca=hca1,num=2");
	inproc_settle();
	assert_int_equal(ib.num_got, 0);
	assert_int_equal(counters(false).integrity_overrun, 0);
	fault("link-error=symbol,hca=hca1");
	expect_trap(TRAP_LINK_INTEGRITY, BED_LID(1), 1);
	assert_int_equal(counters(false).integrity_overrun, 0x10);
	fault("link-error=symbol,hca=hca1,num=19");
	expect_trap(TRAP_LINK_INTEGRITY, BED_LID(1), 1);
	assert_int_equal(counters(false).integrity_overrun, 0x30);
	/* The rest was not forgotten. */
	fault("link-error=symbol,hca=hca1,num=8");
	expect_trap(TRAP_LINK_INTEGRITY, BED_LID(1), 1);
}

static void test_switch(void **state)
{
	(void)state;
	ib_bed_up();
	set_thresholds(to_switch, 2, 0x03);
	fault("link-error=overrun,hca=hca1,at=switch,num=2");
	inproc_settle();
	assert_int_equal(ib.num_got, 0);
	fault("link-error=overrun,hca=hca1,at=switch");
	expect_trap(TRAP_BUFFER_OVERRUN, BED_SWITCH_LID, 2);
	assert_int_equal(counters(true).integrity_overrun, 1);
	fault("link-error=flow-control,hca=hca1,at=switch");
	expect_trap(TRAP_FLOW_CONTROL, BED_SWITCH_LID, 2);
}

static void test_times(void **state)
{
	(void)state;
	fault("link-error=symbol,hca=hca1,num=10,every=100us,count=5");
	assert_int_equal(be16toh(counters(false).symbol_errors), 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ib_bed_open, ib_bed_close)

static const struct CMUnitTest tests[] = {
	TEST(test_counters),
	TEST(test_link_integrity),
	TEST(test_switch),
	TEST(test_times),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
