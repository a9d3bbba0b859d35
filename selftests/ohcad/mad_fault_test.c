// SPDX-License-Identifier: GPL-2.0
/* Rules for management datagrams, and for P_Keys of packets: their text, and what they do. */

#include <endian.h>
#include <stdlib.h>

#include "harness.h"
#include "ib_rig.h"
#include "inject/pkt_fault.h"
#include "inproc_assert.h"
#include "rig_assert.h"

#define IOVA 0x7f0000000100ULL
#define INTO (IOVA + 8192)
#define LEN 100

static struct rig_mr *mr[2];
static struct ohca_av av;

static int open_subnet(void **state)
{
	unsigned int i;

	ib_rig_open(state);
	for (i = 0; i < 2; i++)
		mr[i] = rig_mr_new(&hca[i], IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	ib_bed_up();
	av = (struct ohca_av){.ib.dlid = htole16(BED_LID(1)), .port = 1};
	ib.num_got = 0;
	return 0;
}

static struct pkt_rule *parse(const char *text)
{
	char why[RULE_MAX_WHY] = "";
	struct pkt_rule *rule = pkt_rule_parse(text, why, sizeof(why));

	if (!rule)
		fail_msg("%s: %s", text, why);
	return rule;
}

static const struct pkt_rule *add(const char *text)
{
	struct pkt_rule *rule = parse(text);

	assert_int_equal(pkt_fault_add(inproc_fabric(0), inproc_hca(0)->loop, rule), 0);
	return rule;
}

/* Text */

static void test_text(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"drop,class=tcp", "class: there is no 'tcp'"},
		{"drop,class=256", "class: there is no '256'"},
		{"drop,attr=port", "attr: there is no 'port'"},
		{"drop,method=put", "method: there is no 'put'"},
		{"drop,class=sm,op=rc", "class, attr and method are of ud packets only"},
		{"status=4", "status needs class, attr or method"},
		{"status,class=sm", "status needs a number"},
		{"status=65536,class=sm", "status: '65536' is not a number from 0 to 65535"},
		{"pkey", "pkey needs a number"},
		{"pkey=1,dir=rx", "pkey is for packets that leave: no dir=rx"},
	};
	struct pkt_rule *rule = parse("delay=1ms,class=sm,attr=p-key-table,method=trap-repress");
	char why[RULE_MAX_WHY];
	unsigned int i;

	(void)state;
	assert_true(mad_match_given(&rule->mad));
	assert_int_equal(rule->mad.mgmt_class, MAD_CLASS_SM_LID);
	assert_int_equal(rule->mad.attr, SM_PKEY_TABLE);
	assert_int_equal(rule->mad.method, MAD_TRAP_REPRESS);
	pkt_rule_free(rule);
	rule = parse("status=0x1c,class=0x32,attr=0xff12,method=0x81");
	assert_int_equal(rule->value, 0x1c);
	assert_int_equal(rule->mad.mgmt_class, 0x32);
	assert_int_equal(rule->mad.attr, 0xff12);
	assert_int_equal(rule->mad.method, MAD_GET_RESP);
	pkt_rule_free(rule);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_null(pkt_rule_parse(bad[i].text, why, sizeof(why)));
		assert_string_equal(why, bad[i].why);
	}
}

/* Subnet management */

static int node_info(const uint8_t *route)
{
	uint8_t data[SMP_DATA_LEN];

	return ib_get(SM_NODE_INFO, 0, route, data);
}

static void test_smp_drop(void **state)
{
	const struct pkt_rule *rule;
	uint8_t data[SMP_DATA_LEN];
	uint64_t rcv;

	(void)state;
	/* Rules that are not about management leave it alone. */
	add("drop");
	add("drop,dir=rx");
	assert_int_equal(node_info(to_hca1), MAD_OK);
	pkt_fault_clear(inproc_fabric(0), 0);
	rule = add("drop,hca=hca1,dir=rx,class=sm,attr=node-info,count=1");
	rcv = ib_port_of(1)->counters.rcv.pkts;
	assert_int_equal(ib_get(SM_NODE_DESC, 0, to_hca1, data), MAD_OK);
	assert_int_equal(node_info(to_hca2), MAD_OK);
	assert_int_equal(node_info(to_hca1), -1);
	assert_true(pkt_rule_done(rule));
	assert_int_equal(ib_port_of(1)->counters.rcv.pkts, rcv + 1);
	assert_int_equal(node_info(to_hca1), MAD_OK);
}

static void test_smp_status(void **state)
{
	struct mad_packet p = ib_lid_request(MAD_GET, SM_NODE_INFO, 0, BED_LID(1));

	(void)state;
	add("status=0x1c,hca=hca1,class=sm,attr=node-info");
	/* ib_ask() looks for the direction bit. */
	assert_int_equal(node_info(to_hca1), MAD_BAD_FIELD);
	assert_int_equal(be16toh(ib_ask(0, &p)->hdr.status), MAD_BAD_FIELD);
	assert_int_equal(node_info(to_hca2), MAD_OK);
}

static void test_smp_delay(void **state)
{
	const struct pkt_rule *rule = add("delay=20ms,hca=hca1,class=sm,method=get-resp");

	(void)state;
	assert_int_equal(node_info(to_hca1), -1);
	assert_int_equal(rule->hits, 1);
	ib.num_got = 0;
	while (!ib.num_got)
		inproc_step();
	assert_int_equal(ib.got[0].hdr.attr_id, htobe16(SM_NODE_INFO));
	assert_int_equal(ib.got[0].hdr.method, MAD_GET_RESP);
	/* What waits for a link that is gone by then is lost. */
	assert_int_equal(node_info(to_hca1), -1);
	port_plug(inproc_hca(1)->ports[0], false);
	ib.num_got = 0;
	while (inproc_fabric(0)->faults->deferred.num)
		inproc_step();
	assert_int_equal(ib.num_got && ib.got[0].hdr.method == MAD_GET_RESP, 0);
}

/* A trap is sent again. */
static void test_lost_traps(void **state)
{
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_CAPS),
		.port = 1,
		.set_caps = htole32(PORT_CAP_SM),
	};
	const struct pkt_rule *rule = add("drop,hca=hca2,class=sm,attr=notice,method=trap,count=2");

	(void)state;
	assert_int_equal(drv_cmd(ib.drv[2], OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0), 0);
	assert_int_equal(rule->hits, 1);
	assert_int_equal(ib.num_got, 0);
	while (!ib.num_got)
		inproc_step();
	assert_int_equal(rule->hits, 2);
	assert_int_equal(ib.got[0].hdr.method, MAD_TRAP);
}

/* General management */

static struct rig_qp *gsi;

/* A request to the performance management agent of the switch; the status of the answer, -1: none */
static int ask_pm(void)
{
	struct mad_packet p = mad_request(MAD_CLASS_PM, MAD_GET, 0x0001, 0);
	struct ohca_sge sge = rig_sge(mr[0], IOVA, MAD_LEN), into = rig_sge(mr[0], INTO, 1024);
	struct ohca_sq_wqe fields = {.ud.dest_qpn = htole32(1), .ud.qkey = htole32(RIG_GSI_QKEY)};
	struct rig_wr wr;
	struct mad_hdr hdr;
	struct ohca_cqe cqe;

	av.ib.dlid = htole16(BED_SWITCH_LID);
	wr = rig_datagram(gsi, &av, &sge);
	wr.fields = &fields;
	rig_mr_set(mr[0], IOVA, p.mad, MAD_LEN);
	rig_post_recv(gsi, 5, &into, 1);
	rig_post_send(gsi, &wr);
	rig_wait_send(gsi);
	inproc_settle();
	if (!drv_cq_poll(gsi->rcq, &cqe))
		return -1;
	rig_mr_get(mr[0], INTO + OHCA_GRH_LEN, &hdr, sizeof(hdr));
	assert_int_equal(hdr.tid, p.hdr.tid);
	return be16toh(hdr.status);
}

static void test_gmp(void **state)
{
	const struct pkt_rule *rule;

	(void)state;
	gsi = ib_new_qp(0, OHCA_QPT_GSI);
	assert_int_equal(ask_pm(), MAD_OK);
	rule = add("status=0xc,hca=hca0,dir=rx,class=pm,attr=class-port-info,count=1");
	assert_int_equal(ask_pm(), MAD_BAD_ATTR);
	assert_int_equal(rule->matched, 1);
	assert_int_equal(ask_pm(), MAD_OK);
	rule = add("drop,hca=hca0,class=pm,method=get,count=1");
	add("drop,hca=hca0,class=sa");
	assert_int_equal(ask_pm(), -1);
	assert_int_equal(rule->hits, 1);
}

/* P_Keys */

static void test_pkey_of_datagrams(void **state)
{
	struct rig_qp *a = ib_new_qp(0, OHCA_QPT_UD), *b = ib_new_qp(1, OHCA_QPT_UD);
	struct ohca_sge sge = rig_sge(mr[0], IOVA, LEN), into = rig_sge(mr[1], INTO, 1024);
	struct rig_wr wr = rig_datagram(b, &av, &sge);
	unsigned int i;

	(void)state;
	rig_post_recv(b, 5, &into, 1);
	add("pkey=0x1234,hca=hca0,count=2");
	add("pkey=0x7fff,hca=hca0");
	for (i = 0; i < 2; i++) {
		rig_post_send(a, &wr);
		assert_cqe(rig_wait_send(a), OHCA_WC_SUCCESS, 0, wr.wr_id);
		inproc_settle();
		inproc_assert_no_cqe(b->rcq);
	}
	assert_int_equal(ib_port_of(1)->pkey_viols, 2);
	assert_int_equal(ib.got[0].hdr.method, MAD_TRAP);
	assert_int_equal(((const struct notice *)ib.got[0].smp.data)->trap, htobe16(TRAP_BAD_PKEY));
	/* A limited member of the partition */
	rig_post_send(a, &wr);
	rig_wait_send(a);
	assert_cqe(rig_wait_recv(b), OHCA_WC_SUCCESS, 0, 5);
}

static uint8_t write_rc(struct rig_qp *from)
{
	return ib_wait_write(from, rig_sge(mr[0], IOVA, LEN), INTO, mr[1]->key);
}

static void test_pkey_of_connection(void **state)
{
	struct rig_qp *from = rig_qp_new(&hca[0], NULL), *to = rig_qp_new(&hca[1], NULL);
	struct ib_port *in = ib_port_of(0)->peer;

	(void)state;
	from->attr.timeout = 8; /* 1 ms */
	from->attr.retry_cnt = 3;
	from->attr.av = ib_av_to(1);
	to->attr.av = ib_av_to(0);
	ib_connect(from, to);
	add("pkey=0x1234,hca=hca0,count=1");
	assert_int_equal(write_rc(from), OHCA_WC_SUCCESS);
	assert_int_equal(ib_port_of(1)->pkey_viols, 1);
	/* The switch refuses it if it enforces partitions. */
	in->enforce = PORT_ENFORCE_IN;
	ib_port_changed(in);
	add("pkey=0x1234,hca=hca0,count=1");
	assert_int_equal(write_rc(from), OHCA_WC_SUCCESS);
	assert_int_equal(ib_port_of(1)->pkey_viols, 1);
	assert_int_equal(in->counters.rcv_constraint, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_subnet, ib_bed_close)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_text),  TEST(test_smp_drop),	     TEST(test_smp_status),
	TEST(test_smp_delay),	      TEST(test_lost_traps),	     TEST(test_gmp),
	TEST(test_pkey_of_datagrams), TEST(test_pkey_of_connection),
};

int main(void)
{
	return RUN_TESTS(tests, NULL, NULL);
}
