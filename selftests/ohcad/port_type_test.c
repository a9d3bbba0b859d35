// SPDX-License-Identifier: GPL-2.0
/* The link layer of a port changes at a reset: by the driver's command, or asked for from outside. */

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/capture.h"
#include "device/profile.h"
#include "fabric/fabric.h"
#include "fabric/ib_node.h"
#include "fabric/ib_switch.h"
#include "harness.h"
#include "inject/hca_rule.h"
#include "inject/pkt_fault.h"
#include "inproc_assert.h"
#include "pcapng_file.h"
#include "ports_bed.h"
#include "rig_assert.h"

static int up_mixed(void **state)
{
	(void)state;
	return ports_up(OHCA_LINK_INFINIBAND, OHCA_LINK_ETHERNET);
}

static int up_eth(void **state)
{
	(void)state;
	return ports_up(OHCA_LINK_ETHERNET, OHCA_LINK_ETHERNET);
}

static int set_link(unsigned int i, uint8_t num, uint8_t link)
{
	const struct ohca_set_link_layer_in in = {.port = num, .link_layer = link};

	return drv_cmd(ports_hca[i].drv, OHCA_CMD_SET_LINK_LAYER, &in, sizeof(in), NULL, 0);
}

static uint64_t caps(unsigned int i)
{
	struct ohca_query_device_out out;

	assert_int_equal(
		drv_cmd(ports_hca[i].drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	return le64toh(out.caps);
}

/* Both HCAs are reset, and their drivers find ports of these link layers. */
static void restart(uint8_t first, uint8_t second)
{
	unsigned int i;

	ports_links[0] = first;
	ports_links[1] = second;
	for (i = 0; i < PORTS_HCAS; i++) {
		drv_close(ports_hca[i].drv);
		ports_open(i);
		assert_int_equal(ports_query(i, 1).link_layer, first);
		assert_int_equal(ports_query(i, 2).link_layer, second);
	}
	ports_settle();
}

static void change_both(uint8_t num, uint8_t link, uint8_t first, uint8_t second)
{
	unsigned int i;

	for (i = 0; i < PORTS_HCAS; i++)
		assert_int_equal(set_link(i, num, link), OHCA_CMD_OK);
	restart(first, second);
}

static void traffic(uint8_t from, uint8_t to)
{
	struct rig_qp *a, *b;

	ports_connect(&a, from, 1, &b, to);
	ports_write(a, b);
	ports_write(b, a);
}

static void test_query(void **state)
{
	struct ohca_query_port_out out = ports_query(0, 2);

	(void)state;
	assert_true(caps(0) & OHCA_CAP_LINK_LAYER);
	assert_int_equal(out.link_layers, 1 << OHCA_LINK_ETHERNET | 1 << OHCA_LINK_INFINIBAND);
	assert_int_equal(out.next_link_layer, OHCA_LINK_ETHERNET);
	assert_int_equal(ports_query(0, 1).next_link_layer, OHCA_LINK_INFINIBAND);
}

static void test_refused(void **state)
{
	struct ohca_set_link_layer_in in = {.port = 2, .link_layer = OHCA_LINK_INFINIBAND};
	struct drv *drv = ports_hca[0].drv;

	(void)state;
	assert_int_equal(set_link(0, 0, OHCA_LINK_ETHERNET), OHCA_CMD_BAD_PARAM);
	assert_int_equal(set_link(0, PORTS_NUM + 1, OHCA_LINK_ETHERNET), OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_set_link_layer_in, port));
	assert_int_equal(set_link(0, 2, OHCA_LINK_INFINIBAND + 1), OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_set_link_layer_in, link_layer));
	in.rsvd[5] = 1;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_LINK_LAYER, &in, sizeof(in), NULL, 0),
			 OHCA_CMD_BAD_PARAM);
	assert_int_equal(drv->syndrome, offsetof(struct ohca_set_link_layer_in, rsvd));
	assert_int_equal(ports_query(0, 2).next_link_layer, OHCA_LINK_ETHERNET);
	assert_int_equal(port_want_link(ports_port(0, 2), OHCA_LINK_INFINIBAND + 1), -EINVAL);
}

/* A device without the capability: its profile has none. */
static void test_profile(void **state)
{
	(void)state;
	inproc_hca(0)->next_profile = hca_profile_find("verbs");
	drv_close(ports_hca[0].drv);
	ports_hca[0].drv = drv_start("0", OHCA_FEAT_ETH);
	assert_false(caps(0) & OHCA_CAP_LINK_LAYER);
	assert_int_equal(ports_query(0, 2).link_layers, 0);
	assert_int_equal(ports_query(0, 2).next_link_layer, 0);
	assert_int_equal(set_link(0, 2, OHCA_LINK_INFINIBAND), OHCA_CMD_UNSUPPORTED);
	assert_int_equal(port_want_link(ports_port(0, 2), OHCA_LINK_INFINIBAND), -EOPNOTSUPP);
}

/* Cables of a topology are InfiniBand. */
static void test_topology(void **state)
{
	struct server *server = inproc_start_topology(2, "Hca 1 \"a\"\n[1] \"b\"[1]\n"
							 "Hca 1 \"b\"\n[1] \"a\"[1]\n");
	const struct ohca_set_link_layer_in in = {.port = 1, .link_layer = OHCA_LINK_ETHERNET};
	struct drv *drv = drv_start(server->sock[0], OHCA_FEAT_SHADOW_DB);
	struct ohca_query_device_out out;

	(void)state;
	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_DEVICE, NULL, 0, &out, sizeof(out)), 0);
	assert_false(le64toh(out.caps) & OHCA_CAP_LINK_LAYER);
	assert_int_equal(drv_cmd(drv, OHCA_CMD_SET_LINK_LAYER, &in, sizeof(in), NULL, 0),
			 OHCA_CMD_UNSUPPORTED);
	assert_int_equal(port_want_link(hca_port(inproc_hca(0), 1), OHCA_LINK_ETHERNET),
			 -EOPNOTSUPP);
	drv_close(drv);
	assert_true(server_stop(server));
}

/* There and back.  Nothing changes before the reset, and the next reset changes nothing. */
static void test_second(void **state)
{
	struct rig_qp *a, *b;

	(void)state;
	traffic(2, 2);
	ports_connect(&a, 2, 1, &b, 2);
	assert_int_equal(set_link(0, 2, OHCA_LINK_INFINIBAND), OHCA_CMD_OK);
	assert_int_equal(ports_query(0, 2).link_layer, OHCA_LINK_ETHERNET);
	assert_int_equal(ports_query(0, 2).next_link_layer, OHCA_LINK_INFINIBAND);
	ports_write(a, b);
	change_both(2, OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
	assert_false(caps(0) & OHCA_CAP_RAW);
	assert_false(inproc_hca(0)->offered & OHCA_FEAT_ETH);
	assert_ptr_equal(ports_port(0, 2)->ib->node, ports_port(0, 1)->ib->node);
	assert_ptr_equal(ports_port(0, 1)->ib->node->ports[2], ports_port(0, 2)->ib);
	traffic(1, 1);
	traffic(2, 2);
	traffic(1, 2);
	restart(OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
	traffic(2, 1);
	change_both(2, OHCA_LINK_CONFIGURED, OHCA_LINK_INFINIBAND, OHCA_LINK_ETHERNET);
	assert_true(caps(0) & OHCA_CAP_RAW);
	assert_null(ports_port(0, 1)->ib->node->ports[2]);
	assert_memory_equal(ports_query(0, 2).mac, ports_port(0, 2)->perm_mac, 6);
	traffic(1, 1);
	traffic(2, 2);
}

/* The only InfiniBand ports of the process: the switch goes with the last one, and comes with the first one. */
static void test_first(void **state)
{
	(void)state;
	change_both(1, OHCA_LINK_ETHERNET, OHCA_LINK_ETHERNET, OHCA_LINK_ETHERNET);
	assert_null(inproc_fabric(0)->ib_switch);
	assert_true(list_empty(&inproc_fabric(0)->ib_nodes));
	assert_false(caps(0) & OHCA_CAP_PATH_MIG);
	traffic(1, 1);
	traffic(1, 2);
	change_both(1, OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND, OHCA_LINK_ETHERNET);
	assert_non_null(inproc_fabric(0)->ib_switch);
	traffic(1, 1);
	traffic(2, 2);
}

/* Ports that never were InfiniBand */
static void test_new(void **state)
{
	(void)state;
	change_both(2, OHCA_LINK_INFINIBAND, OHCA_LINK_ETHERNET, OHCA_LINK_INFINIBAND);
	traffic(1, 1);
	traffic(2, 2);
	change_both(2, OHCA_LINK_CONFIGURED, OHCA_LINK_ETHERNET, OHCA_LINK_ETHERNET);
	traffic(2, 1);
}

/* Asked for from outside: an event for each change, and none for what is to be so anyway. */
static void test_event(void **state)
{
	struct ohca_eqe eqe;
	unsigned int i;

	(void)state;
	for (i = 0; i < PORTS_HCAS; i++) {
		assert_int_equal(port_want_link(ports_port(i, 2), OHCA_LINK_ETHERNET), 0);
		assert_int_equal(port_want_link(ports_port(i, 2), OHCA_LINK_INFINIBAND), 0);
		assert_int_equal(port_want_link(ports_port(i, 2), OHCA_LINK_INFINIBAND), 0);
		inproc_settle();
		assert_true(drv_eq_poll(ports_hca[i].async, &eqe));
		drv_eq_ack(ports_hca[i].async);
		assert_int_equal(eqe.type, OHCA_EVENT_LINK_LAYER);
		assert_int_equal(le32toh(eqe.id), 2);
		assert_false(drv_eq_poll(ports_hca[i].async, &eqe));
		assert_int_equal(ports_query(i, 2).link_layer, OHCA_LINK_ETHERNET);
		assert_int_equal(ports_query(i, 2).next_link_layer, OHCA_LINK_INFINIBAND);
	}
	traffic(2, 2);
	restart(OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
	traffic(2, 2);
	/* The driver knows what it has done itself. */
	assert_int_equal(set_link(0, 2, OHCA_LINK_CONFIGURED), OHCA_CMD_OK);
	inproc_settle();
	assert_false(drv_eq_poll(ports_hca[0].async, &eqe));
}

/* Without software there is nothing to wait for. */
static void test_no_driver(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < PORTS_HCAS; i++) {
		drv_close(ports_hca[i].drv);
		assert_int_equal(port_want_link(ports_port(i, 1), OHCA_LINK_ETHERNET), 0);
		assert_null(ports_port(i, 1)->ib);
		assert_int_equal(port_want_link(ports_port(i, 2), OHCA_LINK_INFINIBAND), 0);
		assert_non_null(ports_port(i, 2)->ib);
		assert_int_equal(ports_port(i, 2)->ib->phys, PORT_PHYS_LINK_UP);
	}
	ports_links[0] = OHCA_LINK_ETHERNET;
	ports_links[1] = OHCA_LINK_INFINIBAND;
	for (i = 0; i < PORTS_HCAS; i++)
		ports_open(i);
	ports_settle();
	traffic(1, 1);
	traffic(2, 2);
}

/* The cable stays out, and a port with a pace has it whenever it is InfiniBand. */
static void test_cable_and_pace(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < PORTS_HCAS; i++)
		ports_port(i, 2)->pace = true;
	port_plug(ports_port(1, 2), false);
	assert_int_equal(set_link(1, 2, OHCA_LINK_INFINIBAND), OHCA_CMD_OK);
	drv_close(ports_hca[1].drv);
	assert_non_null(ports_port(1, 2)->ib);
	assert_non_null(ports_port(1, 2)->pacer);
	assert_int_equal(ports_port(1, 2)->ib->state, IB_PORT_DOWN);
	assert_false(ports_port(1, 2)->cable);
	/* There was no link in between. */
	assert_int_equal(ports_port(1, 2)->ib->counters.link_downed, 0);
	assert_int_equal(ports_port(1, 2)->ib->peer->counters.link_downed, 0);
	port_plug(ports_port(1, 2), true);
	assert_int_equal(ports_port(1, 2)->ib->state, IB_PORT_INIT);
	assert_int_equal(set_link(0, 2, OHCA_LINK_INFINIBAND), OHCA_CMD_OK);
	ports_links[1] = OHCA_LINK_INFINIBAND;
	ports_open(1);
	restart(OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
	traffic(2, 2);
	change_both(2, OHCA_LINK_CONFIGURED, OHCA_LINK_INFINIBAND, OHCA_LINK_ETHERNET);
	assert_null(ports_port(1, 2)->pacer);
	traffic(2, 2);
}

/* Packets that wait at the port are lost. */
static void test_deferred(void **state)
{
	static const char *const rules[] = {"delay=10s", "delay=10s,class=sm"};
	const struct mad_packet smp = {.hdr.mgmt_class = MAD_CLASS_SM_LID};
	struct fabric *fabric = inproc_fabric(0);
	struct pkt_rule *rule;
	struct rig_qp *a, *b;
	struct rig_mr *mr;
	struct ohca_sge sge;
	struct rig_wr wr;
	char why[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		rule = pkt_rule_parse(rules[i], why, sizeof(why));
		assert_non_null(rule);
		assert_int_equal(pkt_fault_add(fabric, inproc_hca(0)->loop, rule), 0);
	}
	ports_connect(&a, 1, 1, &b, 1);
	mr = rig_mr_new(&ports_hca[0], PORTS_IOVA, 1 << 16, RIG_ALL_ACCESS, 0);
	sge = rig_sge(mr, PORTS_IOVA, 64);
	wr = rig_write(&sge, PORTS_IOVA, mr->key);
	rig_post_send(a, &wr);
	fabric->smp_hook(ports_port(0, 1)->ib, &smp);
	inproc_settle();
	assert_int_equal(fabric->faults->deferred.num, 2);
	assert_int_equal(set_link(0, 1, OHCA_LINK_ETHERNET), OHCA_CMD_OK);
	drv_close(ports_hca[0].drv);
	assert_int_equal(fabric->faults->deferred.num, 0);
	assert_true(pkt_fault_clear(fabric, 0));
	ports_links[0] = OHCA_LINK_ETHERNET;
	ports_open(0);
}

/* Each of these rules is found once, and there are no others. */
static void assert_rules(const uint32_t *id, unsigned int num)
{
	const struct fabric *fabric = inproc_fabric(0);
	const struct hca_rule *rule = NULL;
	unsigned int i, all = 0, found[PORTS_HCAS] = {0};

	while ((rule = hca_rule_next(fabric, rule)) && ++all <= num) {
		for (i = 0; i < num; i++)
			found[i] += rule->id == id[i];
	}
	assert_int_equal(all, num);
	for (i = 0; i < num; i++)
		assert_int_equal(found[i], 1);
}

/* A rule of each HCA: both are found, and cleared in either order. */
static void check_hca_rules(void)
{
	struct fabric *fabric = inproc_fabric(0);
	uint32_t id[PORTS_HCAS];
	unsigned int first;

	for (first = 0; first < PORTS_HCAS; first++) {
		id[0] = inproc_add_hca_rule(fabric, "unplug,hca=hca0,after=60s")->id;
		id[1] = inproc_add_hca_rule(fabric, "unplug,hca=hca1,after=60s")->id;
		assert_rules(id, 2);
		assert_true(hca_rule_clear(fabric, id[first]));
		assert_rules(&id[!first], 1);
		assert_true(hca_rule_clear(fabric, id[!first]));
		assert_rules(NULL, 0);
	}
}

/* A port of another type is the last one of the fabric then.  Rules for HCAs are found in any order of ports. */
static void test_hca_rules(void **state)
{
	unsigned int i, num;

	(void)state;
	check_hca_rules();
	for (num = PORTS_NUM; num; num--) {
		for (i = 0; i < PORTS_HCAS; i++) {
			assert_int_equal(port_want_link(ports_port(i, num), OHCA_LINK_INFINIBAND),
					 0);
			drv_reset(ports_hca[i].drv);
			assert_non_null(ports_port(i, num)->ib);
			check_hca_rules();
		}
	}
	restart(OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
	traffic(1, 2);
}

/* In a capture, a port of another type is another interface. */
static void test_capture(void **state)
{
	char dir[] = "/tmp/ohcad-type.XXXXXX", path[64];
	struct capture_options opts = {.path = path};
	struct captures *captures = &inproc_fabric(0)->captures;
	unsigned int i, packets[PF_ERF + 1] = {0};
	struct pf *pf;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	assert_int_equal(capture_start(captures, inproc_hca(0)->loop, &opts), 0);
	traffic(2, 2);
	change_both(2, OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND, OHCA_LINK_INFINIBAND);
	traffic(2, 2);
	inproc_settle();
	assert_int_equal(capture_stop(captures), 0);
	pf = pf_read(path);
	for (i = 0; i < pf->num_ifs; i++) {
		if (!strcmp(pf->ifs[i].name, "hca0/2"))
			packets[pf->ifs[i].link] += pf->ifs[i].packets;
	}
	assert_int_not_equal(packets[PF_ETHERNET], 0);
	assert_int_not_equal(packets[PF_ERF], 0);
	pf_free(pf);
	captures_fini(captures);
	unlink(path);
	rmdir(dir);
}

#define WITH(test, how) cmocka_unit_test_setup_teardown(test, how, ports_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(test_query, up_mixed),	WITH(test_refused, up_mixed),
		WITH(test_profile, up_mixed),	cmocka_unit_test(test_topology),
		WITH(test_second, up_mixed),	WITH(test_first, up_mixed),
		WITH(test_new, up_eth),		WITH(test_event, up_mixed),
		WITH(test_no_driver, up_mixed), WITH(test_cable_and_pace, up_mixed),
		WITH(test_deferred, up_mixed),	WITH(test_hca_rules, up_eth),
		WITH(test_capture, up_mixed),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
