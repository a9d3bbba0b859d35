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
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_uplinks),
		cmocka_unit_test(test_qp0),
	};

	return RUN_TESTS(tests, start_ib, stop_hcas);
}
