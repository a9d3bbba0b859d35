// SPDX-License-Identifier: GPL-2.0
/* Rules for packets between two InfiniBand fabrics that an uplink joins: what only such packets have. */

#include <endian.h>

#include "harness.h"
#include "ib_rig.h"
#include "ib_wired.h"
#include "inject/pkt_fault.h"
#include "inproc_assert.h"
#include "inproc_clock.h"
#include "mad_request.h"
#include "packet/pm_attr.h"
#include "rig_assert.h"

#define FROM PAIR_IOVA
#define INTO (PAIR_IOVA + 4096)

static struct pair p;

static int open_pair(void **state)
{
	ib_wired_start_subnet(state);
	p.a = rig_qp_new(&rig->hca[0], NULL);
	p.b = rig_qp_new(&rig->hca[1], NULL);
	p.ma = rig_mr_new(&rig->hca[0], PAIR_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	p.mb = rig_mr_new(&rig->hca[1], PAIR_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	p.a->attr.timeout = 8; /* 1 ms */
	p.a->attr.retry_cnt = 3;
	rig_connect(p.a, p.b);
	return 0;
}

/* Of the first fabric */
static const struct pkt_rule *add(const char *text)
{
	char why[RULE_MAX_WHY] = "";
	struct pkt_rule *rule = pkt_rule_parse(text, why, sizeof(why));

	if (!rule)
		fail_msg("%s: %s", text, why);
	assert_int_equal(pkt_fault_add(inproc_fabric(0), inproc_hca(0)->loop, rule), 0);
	return rule;
}

/* P_Keys */

static void write_rc(void)
{
	ib_post_write(p.a, rig_sge(p.ma, FROM, LEN), INTO, p.mb->key);
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
}

static void enforce(struct ib_port *at)
{
	at->enforce = PORT_ENFORCE_IN;
	ib_port_changed(at);
}

/* It is refused by the port at the end, or by a switch on the way; then it is sent again. */
static void test_pkey_of_connection(void **state)
{
	const struct ib_port *end = inproc_hca(1)->ports[0]->ib;
	struct ib_port *near = inproc_hca(0)->ports[0]->ib->peer, *far = uplink_port(1);
	const struct pkt_rule *rule = add("pkey=0x1234,hca=hca0,count=1");

	(void)state;
	write_rc();
	assert_int_equal(rule->hits, 1);
	assert_int_equal(end->pkey_viols, 1);
	assert_int_equal(stats(1)->not_peer, 1);
	enforce(far);
	add("pkey=0x1234,hca=hca0,count=1");
	write_rc();
	assert_int_equal(far->counters.rcv_constraint, 1);
	enforce(near);
	add("pkey=0x1234,hca=hca0,count=1");
	write_rc();
	assert_int_equal(near->counters.rcv_constraint, 1);
	assert_int_equal(far->counters.rcv_constraint, 1);
	assert_int_equal(end->pkey_viols, 1);
	/* A limited member of the partition */
	add("pkey=0x7fff,hca=hca0");
	write_rc();
	assert_int_equal(rig_counter(&rig->hca[0], OHCA_CNT_TIMEOUTS), 3);
}

static void test_pkey_of_datagram(void **state)
{
	struct ud ud = open_ud();
	struct ohca_sge sge = rig_sge(ud.mr[0], PAIR_IOVA, LEN);
	struct rig_wr wr = rig_datagram(ud.qp[1], &ud.av, &sge);

	(void)state;
	add("pkey=0x1234,hca=hca0,op=ud,count=1");
	recv_at(&ud, 1);
	rig_post_send(ud.qp[0], &wr);
	rig_wait_send(ud.qp[0]);
	inproc_assert_no_cqe(ud.qp[1]->rcq);
	assert_int_equal(inproc_hca(1)->ports[0]->ib->pkey_viols, 1);
	rig_post_send(ud.qp[0], &wr);
	rig_wait_send(ud.qp[0]);
	assert_int_equal(rig_wait_recv(ud.qp[1]).status, OHCA_WC_SUCCESS);
}

/* What comes from the uplink */

static struct rig_qp *gsi;

static void open_gsi(void)
{
	const struct rig_qp_opts opts = {.type = OHCA_QPT_GSI, .flags = OHCA_QP_F_PRIVILEGED};

	gsi = rig_qp_new(&rig->hca[0], &opts);
	assert_to_rts(gsi);
}

static void post_request(void)
{
	struct mad_packet mad = mad_request(MAD_CLASS_PM, MAD_GET, PM_CLASS_PORT_INFO, 0);
	const struct ohca_av av = {.ib.dlid = htole16(SW_LID(1)), .port = 1};
	struct ohca_sge sge = rig_sge(p.ma, FROM, MAD_LEN), into = rig_sge(p.ma, INTO, 1024);
	struct rig_wr wr = rig_datagram(gsi, &av, &sge);

	wr.dest_qpn = QPN_GSI;
	wr.qkey = RIG_GSI_QKEY;
	rig_mr_set(p.ma, FROM, mad.mad, MAD_LEN);
	rig_post_recv(gsi, 5, &into, 1);
	rig_post_send(gsi, &wr);
	assert_int_equal(rig_wait_send(gsi).status, OHCA_WC_SUCCESS);
	inproc_settle();
}

/* The status of the answer of the other switch's performance management, -1: none */
static int answer(void)
{
	struct ohca_cqe cqe;
	struct mad_hdr hdr;

	if (!drv_cq_poll(gsi->rcq, &cqe))
		return -1;
	assert_int_equal(le16toh(cqe.ib.slid), SW_LID(1));
	rig_mr_get(p.ma, INTO + OHCA_GRH_LEN, &hdr, sizeof(hdr));
	assert_int_equal(hdr.method, MAD_GET_RESP);
	return be16toh(hdr.status);
}

static int ask(void)
{
	post_request();
	return answer();
}

static void test_gmp(void **state)
{
	const struct pkt_rule *rule;

	(void)state;
	open_gsi();
	assert_int_equal(ask(), MAD_OK);
	rule = add("status=0xc,hca=hca0,dir=rx,class=pm,attr=class-port-info,count=1");
	assert_int_equal(ask(), MAD_BAD_ATTR);
	assert_int_equal(rule->matched, 1);
	assert_int_equal(ask(), MAD_OK);
	/* The rest of the datagram is what it was, and its CRCs are right. */
	assert_int_equal(stats(0)->bad_icrc + stats(0)->malformed, 0);
	add("drop,hca=hca0,dir=rx,class=sa");
	rule = add("drop,hca=hca0,dir=rx,class=pm,method=get-resp,count=1");
	assert_int_equal(ask(), -1);
	assert_int_equal(rule->hits, 1);
	assert_int_equal(ask(), MAD_OK);
	rule = add("delay=20ms,hca=hca0,dir=rx,class=pm,count=1");
	assert_int_equal(ask(), -1);
	inproc_elapse(30 * MS);
	assert_int_equal(answer(), MAD_OK);
	/* Rules about other things see it as well. */
	rule = add("drop,hca=hca0,dir=rx,op=ud,count=1");
	assert_int_equal(ask(), -1);
	assert_int_equal(rule->hits, 1);
}

/* The LID that packets are for */
static void test_dlid(void **state)
{
	const struct pkt_rule *other, *rule;

	(void)state;
	assert_int_equal(LID(0), 1);
	other = add("drop,hca=hca0,dir=rx,dlid=77");
	rule = add("drop,hca=hca0,dir=rx,dlid=1,count=1");
	write_rc();
	assert_int_equal(rule->hits, 1);
	assert_int_equal(other->matched, 0);
	assert_int_equal(rig_counter(&rig->hca[0], OHCA_CNT_TIMEOUTS), 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_pair, ib_wired_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pkey_of_connection),
		TEST(test_pkey_of_datagram),
		TEST(test_gmp),
		TEST(test_dlid),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
