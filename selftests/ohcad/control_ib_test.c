// SPDX-License-Identifier: GPL-2.0
/* What the control socket shows of HCAs with InfiniBand ports. */

#include <stdlib.h>

#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "rig.h"

static int start_ib(void **state)
{
	setenv("OHCAD_LINK", "ib", 1);
	return start_two_hcas(state);
}

static void test_ports(void **state)
{
	struct json_object *result = ctl_call(server, "show-ports", NULL), *row, *entry;
	struct rig *rig;

	(void)state;
	row = ctl_row(result, "ports", "hca", "hca0");
	assert_string_equal(ctl_string(row, "link"), "infiniband");
	assert_string_equal(ctl_string(row, "state"), "down");
	assert_int_equal(ctl_number(row, "lid"), 0);
	json_object_put(result);
	rig = rig_open(server);
	result = ctl_call(server, "show-ports", NULL);
	row = ctl_row(result, "ports", "hca", "hca1");
	assert_string_equal(ctl_string(row, "state"), "active");
	assert_string_equal(ctl_string(row, "port_state"), "Active");
	assert_int_equal(ctl_number(row, "lid"), rig->hca[1].lid);
	assert_int_equal(ctl_number(row, "lmc"), 0);
	assert_int_equal(ctl_number(row, "sm_lid"), rig->hca[0].lid);
	assert_int_equal(json_object_array_length(ctl_field(row, "gids")), 1);
	entry = json_object_array_get_idx(ctl_field(row, "gids"), 0);
	assert_string_equal(ctl_string(entry, "gid"), "fe80::100:2");
	assert_int_equal(json_object_array_length(ctl_field(row, "pkeys")), 1);
	entry = json_object_array_get_idx(ctl_field(row, "pkeys"), 0);
	assert_int_equal(ctl_number(entry, "index"), 0);
	assert_int_equal(ctl_number(entry, "pkey"), 0xffff);
	json_object_put(result);
	rig_close(rig);
}

static void test_uplinks(void **state)
{
	char dir[] = "/tmp/ohcad-test.XXXXXX", hca[128], uplink[128];
	struct json_object *result, *row;
	struct server *other, at = {};
	const char *argv[] = {getenv("OHCAD"), "--hca",	    hca,	"--uplink",
			      uplink,	       "--control", at.control, NULL};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(hca, sizeof(hca), "socket=%s/hca,mac=02:00:00:00:00:09,link=ib", dir);
	snprintf(uplink, sizeof(uplink), "stream=unix:%s/uplink,listen,link=ib", dir);
	snprintf(at.control, sizeof(at.control), "%s/control", dir);
	other = server_start_argv(argv, at.control);
	result = ctl_call(&at, "show-uplinks", NULL);
	row = ctl_row(result, "uplinks", "name", uplink);
	assert_string_equal(ctl_string(row, "link"), "infiniband");
	assert_int_equal(ctl_number(row, "switch_port"), 2);
	assert_string_equal(ctl_string(row, "port_state"), "Down");
	assert_false(ctl_bool(row, "up"));
	json_object_put(result);
	assert_true(server_stop(other));
	assert_int_equal(rmdir(dir), 0);
}

static void assert_links(struct server *at, const char *hca, const char *link, const char *next)
{
	struct json_object *result = ctl_call(at, "show-ports", NULL), *row, *field;

	row = ctl_row(result, "ports", "hca", hca);
	assert_string_equal(ctl_string(row, "link"), link);
	assert_int_equal(json_object_object_get_ex(row, "next_link", &field), !!next);
	if (next)
		assert_string_equal(json_object_get_string(field), next);
	json_object_put(result);
}

/* Types of ports: at once without a driver, after a reset with one */
static void test_types(void **state)
{
	struct json_object *result;
	struct drv *drv;

	(void)state;
	assert_links(server, "hca0", "infiniband", NULL);
	ctl_do(server, "port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"eth\"}");
	assert_links(server, "hca0", "ethernet", NULL);
	result = ctl_call(server, "show-topology", NULL);
	assert_null(ctl_row(result, "nodes", "node", "hca0"));
	assert_non_null(ctl_row(result, "nodes", "node", "hca1"));
	json_object_put(result);
	ctl_do(server, "port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"auto\"}");
	assert_links(server, "hca0", "infiniband", NULL);
	result = ctl_call(server, "show-topology", NULL);
	assert_int_equal(ctl_number(ctl_row(result, "nodes", "node", "hca0"), "links_up"), 1);
	json_object_put(result);
	drv = drv_start(server->sock[0], OHCA_FEAT_SHADOW_DB);
	ctl_do(server, "port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"eth\"}");
	assert_links(server, "hca0", "infiniband", "ethernet");
	drv_reset(drv);
	assert_links(server, "hca0", "ethernet", NULL);
	ctl_do(server, "port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"ib\"}");
	drv_close(drv);
	assert_links(server, "hca0", "infiniband", NULL);
	assert_true(ctl_fails(server, "port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"opa\"}",
			      "EINVAL", "type is ib, eth or auto, not 'opa'"));
	assert_true(ctl_fails(server, "port", "{\"hca\":\"hca0\",\"port\":2,\"type\":\"ib\"}",
			      "ENOENT", "no such port"));
	assert_true(ctl_fails(server, "port", "{\"hca\":\"hca0\",\"port\":0,\"type\":\"ib\"}",
			      "ENOENT", "no such port"));
	assert_true(ctl_fails(server, "port", "{\"hca\":\"hca0\",\"port\":1}", "EINVAL",
			      "needs the argument type"));
}

/* A row of show-cables: the cable at that port */
static struct json_object *cable(struct json_object *result, const char *node, unsigned int port)
{
	struct json_object *rows = ctl_field(result, "cables"), *row;
	size_t i;

	for (i = 0; i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		if ((!strcmp(ctl_string(row, "node"), node) && ctl_number(row, "port") == port) ||
		    (!strcmp(ctl_string(row, "to"), node) && ctl_number(row, "to_port") == port))
			return row;
	}
	fail_msg("no cable at port %u of %s", port, node);
	return NULL;
}

static void assert_cable(struct server *at, const char *node, unsigned int port, const char *state)
{
	struct json_object *result = ctl_call(at, "show-cables", NULL);

	assert_string_equal(ctl_string(cable(result, node, port), "port_state"), state);
	json_object_put(result);
}

static void assert_node(struct server *at, const char *node, unsigned int links_up,
			const char *state)
{
	struct json_object *result = ctl_call(at, "show-topology", NULL), *row;

	row = ctl_row(result, "nodes", "node", node);
	assert_int_equal(ctl_number(row, "links_up"), links_up);
	assert_string_equal(ctl_string(row, "state"), state);
	json_object_put(result);
}

static void control_topology(struct server *at)
{
	struct json_object *result = ctl_call(at, "show-topology", NULL), *row;

	assert_true(ctl_fails(at, "port", "{\"hca\":\"hca0\",\"port\":1,\"type\":\"eth\"}",
			      "EOPNOTSUPP", "keep their types"));
	row = ctl_row(result, "nodes", "node", "S");
	assert_string_equal(ctl_string(row, "type"), "switch");
	assert_string_equal(ctl_string(row, "guid"), "0x0000000000200000");
	assert_int_equal(ctl_number(row, "ports"), 4);
	assert_string_equal(ctl_string(ctl_row(result, "nodes", "node", "B"), "hca"), "hca0");
	json_object_put(result);
	assert_node(at, "S", 2, "up");
	assert_cable(at, "S", 1, "Initialize");
	ctl_do(at, "cable", "{\"node\":\"S\",\"port\":1,\"state\":\"down\"}");
	assert_cable(at, "A", 1, "Down");
	assert_node(at, "S", 1, "up");
	ctl_do(at, "cable", "{\"node\":\"A\",\"port\":1,\"state\":\"up\"}");
	/* It was taken out at the other end. */
	assert_cable(at, "A", 1, "Down");
	ctl_do(at, "cable", "{\"node\":\"S\",\"port\":1,\"state\":\"up\"}");
	assert_cable(at, "A", 1, "Initialize");
	ctl_do(at, "node", "{\"node\":\"S\",\"state\":\"down\"}");
	assert_node(at, "S", 0, "down");
	assert_cable(at, "B", 1, "Down");
	ctl_do(at, "node", "{\"node\":\"S\",\"state\":\"up\"}");
	assert_node(at, "S", 2, "up");
	assert_true(ctl_fails(at, "node", "{\"node\":\"T\",\"state\":\"up\"}", "ENOENT",
			      "there is no node 'T'"));
	assert_true(ctl_fails(at, "node", "{\"node\":\"S\",\"state\":\"off\"}", "EINVAL",
			      "neither up nor down"));
	assert_true(ctl_fails(at, "cable", "{\"node\":\"S\",\"port\":3,\"state\":\"up\"}", "ENOENT",
			      "no cable at port 3"));
	assert_true(ctl_fails(at, "cable", "{\"node\":\"S\",\"port\":5,\"state\":\"up\"}", "ENOENT",
			      "no cable at port 5"));
	assert_true(ctl_fails(at, "cable", "{\"node\":\"S\",\"port\":1,\"state\":\"\"}", "EINVAL",
			      "neither up nor down"));
	/* No port has a LID. */
	result = ctl_call(at, "show-routes", NULL);
	assert_int_equal(json_object_array_length(ctl_field(result, "routes")), 0);
	json_object_put(result);
	assert_true(ctl_fails(at, "show-routes", "{\"sl\":16}", "EINVAL", "sl is 0 to 15"));
	assert_true(ctl_fails(at, "show-routes", "{\"from\":\"1\"}", "EINVAL", "from is not"));
	assert_true(ctl_fails(at, "show-topology", "{\"from\":\"x\"}", "EINVAL", "from is not"));
	assert_true(ctl_fails(at, "show-cables", "{\"from\":\"1\"}", "EINVAL", "from is not"));
}

/* Of the rule with this text */
static uint64_t rule_hits(struct server *at, const char *text)
{
	struct json_object *result = ctl_call(at, "fault-show", NULL);
	uint64_t hits = ctl_number(ctl_row(result, "faults", "rule", text), "hits");

	json_object_put(result);
	return hits;
}

static void wait_for_hits(struct server *at, const char *text, uint64_t hits)
{
	while (rule_hits(at, text) < hits)
		;
}

/* Of port 1 of S; its row of the cable may begin with the other end. */
static uint64_t cable_errors(struct server *at)
{
	struct json_object *result = ctl_call(at, "show-cables", NULL);
	struct json_object *row = cable(result, "S", 1);
	bool first = !strcmp(ctl_string(row, "node"), "S");
	uint64_t errors = ctl_number(row, first ? "errors" : "to_errors");

	json_object_put(result);
	return errors;
}

static void add_rule(struct server *at, const char *text)
{
	char args[128];

	snprintf(args, sizeof(args), "{\"rule\":\"%s\"}", text);
	ctl_do(at, "fault-add", args);
}

static void node_faults(struct server *at)
{
	static const char node[] = "node-down,node=S,for=1ms,every=2ms,count=2";
	static const char cable[] = "cable-down,node=S,port=1,for=80000s";
	static const char error[] = "cable-error=recovery,node=S,port=1,num=7";
	static const struct {
		const char *text, *kind, *why;
	} bad[] = {
		{"node-down,node=T", "ENOENT", "there is no node 'T', or no cable at its port"},
		{"cable-down,node=S,port=3", "ENOENT", "no node 'S', or no cable at its port"},
		{"cable-down,node=S,port=5", "ENOENT", "no node 'S', or no cable at its port"},
		{"node-down", "EINVAL", "node=NAME is missing"},
		{"node-down=1,node=S", "EINVAL", "node-down takes no value"},
		{"node-down,node=S,port=1", "EINVAL", "node-down can't have port"},
		{"node-down,node=S,num=1", "EINVAL", "num needs cable-error"},
		{"node-down,node=S,node=S", "EINVAL", "node is given twice"},
		{"node-down,node=S,count=2", "EINVAL", "count needs for, so that the fault ends"},
		{"node-down,node=S,for=1s,count=2", "EINVAL", "count needs every"},
		{"node-down,node=S,for=2s,every=2s,count=2", "EINVAL",
		 "every must be longer than for"},
		{"node-down,node=S,count=0", "EINVAL", "count: '0' is not a number from 1 to"},
		{"node-down,node=S,hca=B", "EINVAL", "unknown 'hca"},
		{"node-down,node", "EINVAL", "node needs a value"},
		{"cable-down,node=S", "EINVAL", "cable-down needs port=N"},
		{"cable-down,node=S,port=255", "EINVAL",
		 "port: '255' is not a number from 1 to 254"},
		{"cable-error,node=S,port=1", "EINVAL", "cable-error needs the kind of the errors"},
		{"cable-error=rain,node=S,port=1", "EINVAL", "cable-error: there is no 'rain'"},
		{"cable-error=rcv,node=S,port=1,for=1s", "EINVAL", "cable-error can't have for"},
		{"cable-error=rcv,node=S,port=1,num=0", "EINVAL",
		 "num: '0' is not a number from 1 to 4294967295"},
	};
	char args[128];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(args, sizeof(args), "{\"rule\":\"%s\"}", bad[i].text);
		assert_true(ctl_fails(at, "fault-add", args, bad[i].kind, bad[i].why));
	}
	add_rule(at, cable);
	wait_for_hits(at, cable, 1);
	assert_cable(at, "A", 1, "Down");
	assert_cable(at, "B", 1, "Initialize");
	/* Its fault ends with it. */
	ctl_do(at, "fault-clear", NULL);
	assert_cable(at, "A", 1, "Initialize");
	add_rule(at, error);
	wait_for_hits(at, error, 1);
	assert_int_equal(cable_errors(at), 7);
	add_rule(at, node);
	wait_for_hits(at, node, 2);
	ctl_do(at, "fault-clear", NULL);
	assert_node(at, "S", 2, "up");
	add_rule(at, "node-down,node=S");
	wait_for_hits(at, "node-down,node=S", 1);
	ctl_do(at, "fault-clear", NULL);
	assert_node(at, "S", 0, "down");
	ctl_do(at, "node", "{\"node\":\"S\",\"state\":\"up\"}");
}

static void test_topology(void **state)
{
	static const char text[] = "Switch 4 \"S\"\n[1] \"A\"\n[2] \"B\"\n"
				   "Ca 1 \"A\"\n[1] \"S\"[1]\nCa 1 \"B\"\n[1] \"S\"[2]\n";
	static const char *const hcas[] = {"mac=02:00:00:00:00:09,link=ib,node=B", NULL};
	struct server *at = server_start_topology(text, hcas);

	(void)state;
	control_topology(at);
	node_faults(at);
	assert_true(server_stop(at));
}

/* Nodes of adapters that have Ethernet ports too, and a cable between two ports of an adapter */
static void test_vpi(void **state)
{
	static const char text[] = "Switch 4 \"S\"\n[1] \"A\"\n[2] \"B\"[2]\n"
				   "Ca 2 \"A\"\n[1] \"S\"[1]\nCa 2 \"B\"\n[2] \"S\"[2]\n"
				   "Ca 2 \"C\"\n[1] \"C\"[2]\n[2] \"C\"[1]\n";
	static const char *const hcas[] = {
		"name=a,mac=02:00:00:00:00:08,ports=ib+eth,node=A",
		"name=b,mac=02:00:00:00:01:08,ports=eth+ib,node=B",
		"name=c,mac=02:00:00:00:02:08,ports=ib+ib,node=C",
		NULL,
	};
	struct server *at = server_start_topology(text, hcas);
	struct json_object *result, *row;

	(void)state;
	result = ctl_call(at, "show-topology", NULL);
	row = ctl_row(result, "nodes", "node", "A");
	assert_string_equal(ctl_string(row, "hca"), "a");
	assert_int_equal(ctl_number(row, "ports"), 2);
	assert_string_equal(ctl_string(ctl_row(result, "nodes", "node", "B"), "hca"), "b");
	json_object_put(result);
	assert_node(at, "A", 1, "up");
	assert_node(at, "B", 1, "up");
	assert_node(at, "C", 2, "up");
	assert_cable(at, "A", 1, "Initialize");
	assert_cable(at, "B", 2, "Initialize");
	assert_cable(at, "C", 1, "Initialize");
	ctl_do(at, "node", "{\"node\":\"B\",\"state\":\"down\"}");
	assert_node(at, "B", 0, "down");
	assert_node(at, "S", 1, "up");
	ctl_do(at, "node", "{\"node\":\"B\",\"state\":\"up\"}");
	assert_node(at, "B", 1, "up");
	ctl_do(at, "cable", "{\"node\":\"A\",\"port\":1,\"state\":\"down\"}");
	assert_cable(at, "S", 1, "Down");
	assert_true(ctl_fails(at, "cable", "{\"node\":\"A\",\"port\":2,\"state\":\"up\"}", "ENOENT",
			      "no cable at port 2"));
	assert_true(ctl_fails(at, "cable", "{\"node\":\"B\",\"port\":1,\"state\":\"up\"}", "ENOENT",
			      "no cable at port 1"));
	assert_true(server_stop(at));
}

/* What show-cables has of the cable of hca1 */
static uint64_t cable_count(const char *field)
{
	struct json_object *result = ctl_call(server, "show-cables", NULL);
	uint64_t value = ctl_number(cable(result, "hca1", 1), field);

	json_object_put(result);
	return value;
}

/* The rig's subnet manager has asked the HCA through its cable.  LinkDownedCounter is no error here. */
static void test_counters(void **state)
{
	struct rig *rig = rig_open(server);
	const char *errors, *to_errors;
	struct json_object *result;
	uint64_t sent, received;

	(void)state;
	sent = cable_count("xmit_data");
	received = cable_count("rcv_data");
	assert_true(sent > 0);
	assert_true(received > 0);
	ctl_do(server, "link", "{\"hca\":\"hca1\",\"state\":\"down\"}");
	ctl_do(server, "link", "{\"hca\":\"hca1\",\"state\":\"up\"}");
	assert_int_equal(cable_count("errors"), 0);
	assert_int_equal(cable_count("to_errors"), 0);
	ctl_do(server, "fault-add", "{\"rule\":\"link-error=recovery,hca=hca1,num=5\"}");
	result = ctl_call(server, "show-cables", NULL);
	/* The ends are in the order of their GUIDs. */
	errors = strcmp(ctl_string(cable(result, "hca1", 1), "node"), "hca1") ? "to_errors"
									      : "errors";
	to_errors = strcmp(errors, "errors") ? "errors" : "to_errors";
	assert_int_equal(ctl_number(cable(result, "hca1", 1), errors), 5);
	assert_int_equal(ctl_number(cable(result, "hca1", 1), to_errors), 0);
	json_object_put(result);
	ctl_do(server, "fault-clear", NULL);
	rig_close(rig);
}

static void test_qp0(void **state)
{
	const struct rig_qp_opts opts = {.smi = true, .flags = OHCA_QP_F_PRIVILEGED};
	struct rig *rig = rig_open(server);
	struct json_object *result;

	(void)state;
	rig_qp_new(&rig->hca[1], &opts);
	result = ctl_call(server, "show-qps", "{\"hca\":\"hca1\"}");
	assert_string_equal(ctl_string(ctl_row(result, "qps", "qpn", "0"), "type"), "SMI");
	json_object_put(result);
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),	 cmocka_unit_test(test_uplinks),
		cmocka_unit_test(test_topology), cmocka_unit_test(test_vpi),
		cmocka_unit_test(test_counters), cmocka_unit_test(test_qp0),
		cmocka_unit_test(test_types),
	};

	return RUN_TESTS(tests, start_ib, stop_hcas);
}
