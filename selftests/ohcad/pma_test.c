// SPDX-License-Identifier: GPL-2.0
/* Performance management agents of HCAs and of the switch. */

#include <endian.h>

#include "harness.h"
#include "ib_bed.h"
#include "packet/pm_attr.h"

/* OHCA_CMD_MAD of an HCA; the status in the response */
static uint16_t pm(unsigned int hca, uint8_t method, uint16_t attr, void *data, size_t len)
{
	struct ohca_mad_in in = {.port = 1};
	struct mad_hdr *hdr = (struct mad_hdr *)in.mad;
	struct ohca_mad_out out;

	hdr->base_version = 1;
	hdr->mgmt_class = MAD_CLASS_PM;
	hdr->class_version = 1;
	hdr->method = method;
	hdr->attr_id = htobe16(attr);
	memcpy(in.mad + PM_DATA, data, len);
	assert_int_equal(drv_cmd(ib.drv[hca], OHCA_CMD_MAD, &in, sizeof(in), &out, sizeof(out)), 0);
	assert_int_equal(out.result, OHCA_MAD_REPLY);
	hdr = (struct mad_hdr *)out.mad;
	assert_int_equal(hdr->method, MAD_GET_RESP);
	memcpy(data, out.mad + PM_DATA, len);
	return be16toh(hdr->status);
}

/* The same for the switch, which has no driver */
static uint16_t pm_switch(uint8_t method, uint16_t attr, void *data, size_t len)
{
	struct mad_packet p = {.slid = BED_LID(0), .dlid = BED_SWITCH_LID, .dest_qpn = 1};

	memset(p.mad, 0, sizeof(p.mad));
	p.hdr.base_version = 1;
	p.hdr.mgmt_class = MAD_CLASS_PM;
	p.hdr.class_version = 1;
	p.hdr.method = method;
	p.hdr.attr_id = htobe16(attr);
	memcpy(p.mad + PM_DATA, data, len);
	assert_true(ib_ask_node(ib_port_of(0)->peer, &p));
	assert_int_equal(p.slid, BED_SWITCH_LID);
	assert_int_equal(p.dlid, BED_LID(0));
	assert_int_equal(p.hdr.method, MAD_GET_RESP);
	memcpy(data, p.mad + PM_DATA, len);
	return be16toh(p.hdr.status);
}

static struct port_counters get(unsigned int hca)
{
	struct port_counters c = {.port = 1};

	assert_int_equal(pm(hca, MAD_GET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_OK);
	assert_int_equal(c.port, 1);
	return c;
}

static void test_class_port_info(void **state)
{
	struct class_port_info info = {0};
	uint8_t data[192] = {0};

	(void)state;
	assert_int_equal(pm(1, MAD_GET, PM_CLASS_PORT_INFO, &info, sizeof(info)), MAD_OK);
	assert_int_equal(info.base_version, 1);
	assert_int_equal(be16toh(info.cap_mask),
			 PM_CAP_ALL_PORTS | PM_CAP_EXT_WIDTH | PM_CAP_XMIT_WAIT);
	assert_int_equal(pm(1, MAD_SET, PM_CLASS_PORT_INFO, &info, sizeof(info)), MAD_BAD_ATTR);
	/* PortSamplesControl */
	assert_int_equal(pm(1, MAD_GET, 0x0010, data, sizeof(data)), MAD_BAD_ATTR);
	assert_int_equal(pm(1, 0x15, PM_PORT_COUNTERS, data, sizeof(data)), MAD_BAD_METHOD);
	data[1] = 2;
	assert_int_equal(pm(1, MAD_GET, PM_PORT_COUNTERS, data, sizeof(data)), MAD_BAD_FIELD);
	assert_int_equal(pm(1, MAD_GET, PM_PORT_COUNTERS_EXT, data, sizeof(data)), MAD_BAD_FIELD);
	data[1] = 0;
	assert_int_equal(pm(1, MAD_GET, PM_PORT_COUNTERS, data, sizeof(data)), MAD_BAD_FIELD);
}

static void test_counters(void **state)
{
	struct hca *hca = inproc_hca(1);
	struct port_counters c;
	uint64_t pkts;
	uint32_t id;

	(void)state;
	pkts = be32toh(get(1).xmit_pkts);
	/* Counts of a counter set that QPs were bound to, and that was freed */
	id = drv_alloc_counters(ib.drv[1], 1);
	hca->port_counters[0].value[OHCA_CNT_TX_PKTS] = 100;
	hca->port_counters[0].value[OHCA_CNT_TX_BYTES] = 4000;
	counters_get(hca, id)->value[OHCA_CNT_TX_PKTS] = 10;
	counters_get(hca, id)->value[OHCA_CNT_RX_PKTS] = 7;
	c = get(1);
	assert_int_equal(be32toh(c.xmit_pkts), pkts + 110);
	assert_int_equal(drv_destroy(ib.drv[1], OHCA_CMD_FREE_COUNTERS, id), 0);
	c = get(1);
	assert_int_equal(be32toh(c.xmit_pkts), pkts + 110);
	assert_int_equal(be32toh(c.rcv_pkts), pkts + 7);
	/* Only selected counters are set. */
	c.select = htobe16(1 << 14);
	c.xmit_pkts = htobe32(5);
	c.rcv_pkts = 0;
	assert_int_equal(pm(1, MAD_SET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_OK);
	assert_int_equal(be32toh(c.xmit_pkts), 5);
	hca->port_counters[0].value[OHCA_CNT_TX_PKTS]++;
	c = get(1);
	assert_int_equal(be32toh(c.xmit_pkts), 6);
	assert_int_equal(be32toh(c.rcv_pkts), pkts + 7);
	/* The counters do not wrap. */
	hca->port_counters[0].value[OHCA_CNT_TX_PKTS] += 1ULL << 32;
	ib_port_of(1)->counters.link_downed = 300;
	ib_port_of(1)->counters.xmit_discards = 70000;
	c = get(1);
	assert_int_equal(c.xmit_pkts, 0xffffffff);
	assert_int_equal(c.link_downed, 0xff);
	assert_int_equal(c.xmit_discards, 0xffff);
}

static void test_counters_ext(void **state)
{
	struct hca *hca = inproc_hca(1);
	struct port_counters_ext c = {.port = PM_ALL_PORTS};
	uint64_t data;

	(void)state;
	hca->port_counters[0].value[OHCA_CNT_TX_PKTS] = 1ULL << 33;
	hca->port_counters[0].value[OHCA_CNT_TX_MCAST] = 3;
	assert_int_equal(pm(1, MAD_GET, PM_PORT_COUNTERS_EXT, &c, sizeof(c)), MAD_OK);
	assert_true(be64toh(c.counter[2]) >= 1ULL << 33);
	assert_int_equal(be64toh(c.counter[6]), 3);
	assert_int_equal(be64toh(c.counter[4]) + 3, be64toh(c.counter[2]));
	data = c.counter[0];
	c.select = htobe16(1 << 2);
	memset(c.counter, 0, sizeof(c.counter));
	assert_int_equal(pm(1, MAD_SET, PM_PORT_COUNTERS_EXT, &c, sizeof(c)), MAD_OK);
	assert_int_equal(c.counter[2], 0);
	assert_true(c.counter[0] == data);
	/* The others are unchanged. */
	assert_int_equal(get(1).xmit_pkts, 0xffffffff);
}

/* What an HCA sends, the switch receives. */
static void test_switch(void **state)
{
	struct port_counters c = {.port = 2};
	struct hca *hca = inproc_hca(1);
	uint32_t rcv;

	(void)state;
	ib_bed_up();
	assert_int_equal(pm_switch(MAD_GET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_OK);
	assert_int_equal(c.rcv_pkts, get(1).xmit_pkts);
	assert_int_equal(c.xmit_pkts, get(1).rcv_pkts);
	rcv = be32toh(c.rcv_pkts);
	hca->port_counters[0].value[OHCA_CNT_TX_PKTS] = 1000;
	assert_int_equal(pm_switch(MAD_GET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_OK);
	assert_int_equal(be32toh(c.rcv_pkts), rcv + 1000);
	/* Also after the HCA was reset */
	drv_reset(ib.drv[1]);
	assert_int_equal(get(0).link_downed, 0);
	assert_int_equal(pm_switch(MAD_GET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_OK);
	assert_true(be32toh(c.rcv_pkts) >= rcv + 1000);
	assert_int_equal(c.link_downed, 1);
	c.port = PM_ALL_PORTS;
	c.select = htobe16(1 << 2);
	c.link_downed = 0;
	assert_int_equal(pm_switch(MAD_SET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_OK);
	assert_int_equal(c.link_downed, 0);
	c.port = 9;
	assert_int_equal(pm_switch(MAD_GET, PM_PORT_COUNTERS, &c, sizeof(c)), MAD_BAD_FIELD);
}

/* Requests without a response */
static void test_no_answer(void **state)
{
	struct mad_packet p = {.slid = BED_LID(0), .dlid = BED_SWITCH_LID, .dest_qpn = 1};

	(void)state;
	memset(p.mad, 0, sizeof(p.mad));
	ib_bed_up();
	assert_false(ib_ask_node(ib_port_of(0)->peer, &p));
	p.hdr.base_version = 1;
	p.hdr.mgmt_class = MAD_CLASS_PM;
	p.hdr.method = MAD_GET_RESP;
	assert_false(ib_ask_node(ib_port_of(0)->peer, &p));
	p.hdr.method = MAD_GET;
	assert_true(ib_ask_node(ib_port_of(0)->peer, &p));
	assert_int_equal(be16toh(p.hdr.status), MAD_BAD_VERSION);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ib_bed_open, ib_bed_close)

static const struct CMUnitTest tests[] = {
	TEST(test_class_port_info), TEST(test_counters),  TEST(test_counters_ext),
	TEST(test_switch),	    TEST(test_no_answer),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
