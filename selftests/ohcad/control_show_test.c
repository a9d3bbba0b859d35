// SPDX-License-Identifier: GPL-2.0
/* Output of the control socket about HCAs and their objects, and unplugged cables. */

#include <endian.h>

#include "ctl.h"
#include "harness.h"
#include "hcas.h"
#include "pair.h"

#define MANY_QPS 150
#define STATE_DOWN 1
#define STATE_ACTIVE 4

static void assert_hca(const char *name, const char *state, bool connected)
{
	struct json_object *result = ctl_call(server, "show-hcas", NULL), *row;

	assert_int_equal(json_object_array_length(ctl_field(result, "hcas")), 2);
	row = ctl_row(result, "hcas", "name", name);
	assert_non_null(row);
	assert_string_equal(ctl_string(row, "state"), state);
	assert_int_equal(ctl_bool(row, "connected"), connected);
	ctl_bool(row, "awake");
	json_object_put(result);
}

/* The control thread notices only later that a client has disconnected. */
static void wait_disconnected(const char *name)
{
	bool connected = true;

	while (connected) {
		struct json_object *result = ctl_call(server, "show-hcas", NULL);

		connected = ctl_bool(ctl_row(result, "hcas", "name", name), "connected");
		json_object_put(result);
	}
}

static void test_hcas(void **state)
{
	struct json_object *result = ctl_call(server, "show-hcas", NULL), *row;
	struct drv *drv;

	(void)state;
	row = ctl_row(result, "hcas", "name", "hca1");
	assert_string_equal(ctl_string(row, "socket"), server->sock[1]);
	assert_string_equal(ctl_string(row, "mac"), "02:00:00:00:00:02");
	json_object_put(result);
	assert_hca("hca1", "reset", false);
	drv = drv_open(server->sock[1]);
	assert_hca("hca1", "reset", true);
	drv_enable(drv, DRV_ALL_FEATS);
	assert_hca("hca1", "ready", true);
	drv_reset(drv);
	assert_hca("hca1", "reset", true);
	ctl_do(server, "fault-add", "{\"rule\":\"slow-reset,hca=hca1\"}");
	drv_reset(drv);
	assert_hca("hca1", "resetting", true);
	ctl_do(server, "fault-clear", NULL);
	assert_hca("hca1", "reset", true);
	/* A feature that does not exist. */
	drv_enable(drv, 1ULL << 40);
	assert_hca("hca1", "fatal", true);
	assert_hca("hca0", "reset", false);
	drv_close(drv);
	wait_disconnected("hca1");
	assert_hca("hca1", "reset", false);
	drv = drv_start(server->sock[0], DRV_ALL_FEATS);
	/* The HCA can't access the bus: bus mastering is off. */
	vu_cfg_wr(drv->vu, 4, 2, vu_cfg_rd(drv->vu, 4, 2) & ~4U);
	assert_hca("hca0", "stalled", true);
	drv_close(drv);
	wait_disconnected("hca0");
}

static void test_ports(void **state)
{
	struct rig *rig = rig_open(server);
	struct ohca_modify_port_in in = {
		.attr_mask = htole32(OHCA_PORT_ATTR_MAC), .port = 1, .mac = {2, 9}};
	struct json_object *result = ctl_call(server, "show-ports", NULL), *row, *gid, *learned;

	(void)state;
	/* An address that nobody has, and one that another has */
	assert_int_equal(drv_cmd(rig->hca[0].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
			 0);
	assert_int_equal(drv_cmd(rig->hca[1].drv, OHCA_CMD_MODIFY_PORT, &in, sizeof(in), NULL, 0),
			 OHCA_CMD_BUSY);
	assert_int_equal(json_object_array_length(ctl_field(result, "ports")), 2);
	json_object_put(result);
	result = ctl_call(server, "show-ports", "{\"hca\":\"hca1\"}");
	assert_int_equal(json_object_array_length(ctl_field(result, "ports")), 1);
	row = ctl_row(result, "ports", "hca", "hca1");
	assert_string_equal(ctl_string(row, "state"), "active");
	assert_string_equal(ctl_string(row, "cable"), "in");
	assert_true(ctl_bool(row, "admin_up"));
	assert_false(ctl_bool(row, "promisc"));
	assert_false(ctl_bool(row, "large_rx"));
	assert_false(ctl_bool(row, "netdev"));
	assert_string_equal(ctl_string(row, "mac"), "02:00:00:00:00:02");
	assert_int_equal(ctl_number(row, "max_mtu"), 4096);
	assert_string_equal(ctl_string(row, "trust"), "own");
	assert_false(ctl_bool(row, "mirror"));
	assert_int_equal(ctl_number(row, "refused_addresses"), 1);
	gid = json_object_array_get_idx(ctl_field(row, "gids"), 0);
	assert_int_equal(ctl_number(gid, "index"), 0);
	assert_string_equal(ctl_string(gid, "mac"), "02:00:00:00:00:02");
	assert_non_null(strchr(ctl_string(gid, "gid"), ':'));
	json_object_put(result);
	result = ctl_call(server, "show-ports", NULL);
	row = ctl_row(result, "ports", "hca", "hca0");
	learned = json_object_array_get_idx(ctl_field(row, "learned"), 0);
	assert_string_equal(ctl_string(learned, "mac"), "02:09:00:00:00:00");
	assert_true(ctl_bool(learned, "in_use"));
	assert_int_equal(ctl_number(row, "refused_addresses"), 0);
	json_object_put(result);
	assert_true(ctl_fails(server, "show-ports", "{\"hca\":\"hca2\"}", "ENODEV", "hca2"));
	assert_true(ctl_fails(server, "show-ports", "{\"hca\":1}", "EINVAL", "hca is no hca"));
	rig_close(rig);
}

/* The row of the QP.  The caller has to put the whole result. */
static struct json_object *show_qp(const struct rig_qp *qp, struct json_object **result)
{
	struct json_object *row;
	char qpn[16];

	snprintf(qpn, sizeof(qpn), "%u", qp->qpn);
	*result = ctl_call(server, "show-qps", "{\"hca\":\"hca0\"}");
	row = ctl_row(*result, "qps", "qpn", qpn);
	assert_non_null(row);
	assert_string_equal(ctl_string(row, "hca"), "hca0");
	return row;
}

static void test_qp(void **state)
{
	const struct rig_qp_opts opts = {};
	const struct pair_layout layout = {.len = 10000, .src_sge = 1, .dst_sge = 1};
	struct pair p = pair_new(server, &opts);
	struct json_object *row, *result;

	(void)state;
	row = show_qp(p.a, &result);
	assert_string_equal(ctl_string(row, "type"), "RC");
	assert_string_equal(ctl_string(row, "state"), "RESET");
	assert_false(json_object_object_get_ex(row, "peer_qpn", NULL));
	json_object_put(result);
	rig_connect(p.a, p.b);
	pair_check_message(&p, OHCA_OP_RDMA_WRITE_IMM, &layout, 1);
	row = show_qp(p.a, &result);
	assert_string_equal(ctl_string(row, "state"), "RTS");
	assert_int_equal(ctl_number(row, "peer_qpn"), p.b->qpn);
	assert_false(ctl_bool(row, "wire"));
	assert_int_equal(ctl_number(row, "counters"), 0);
	assert_int_equal(ctl_number(row, "psn"), ctl_number(row, "unacked_psn"));
	assert_true(ctl_number(row, "psn") > RIG_PSN);
	assert_int_equal(ctl_number(row, "expected_psn"), RIG_PSN);
	assert_int_equal(ctl_number(ctl_field(row, "send_queue"), "posted"), 1);
	assert_int_equal(ctl_number(ctl_field(row, "send_queue"), "completed"), 1);
	assert_int_equal(ctl_number(ctl_field(row, "receive_queue"), "posted"), 0);
	json_object_put(result);
	rig_close(p.rig);
}

static unsigned int count_rows(const char *cmd, const char *name, unsigned int *replies)
{
	struct json_object *result = ctl_call(server, cmd, "{\"hca\":\"hca0\"}"), *next;
	unsigned int rows;
	char args[128];

	*replies = 1;
	rows = json_object_array_length(ctl_field(result, name));
	while (json_object_object_get_ex(result, "next", &next)) {
		snprintf(args, sizeof(args), "{\"hca\":\"hca0\",\"from\":\"%s\"}",
			 json_object_get_string(next));
		json_object_put(result);
		result = ctl_call(server, cmd, args);
		rows += json_object_array_length(ctl_field(result, name));
		(*replies)++;
	}
	json_object_put(result);
	return rows;
}

/* Long lists are returned in parts. */
static void test_many(void **state)
{
	static const char *const wrong[] = {"", "1", "0:", "0:1:", "0:1 ", "x:y"};
	const struct rig_qp_opts opts = {.log_size = 1, .cq_log_size = 1};
	struct rig *rig = rig_open(server);
	unsigned int i, replies;
	char args[64];

	(void)state;
	assert_int_equal(count_rows("show-qps", "qps", &replies), 0);
	assert_int_equal(replies, 1);
	for (i = 0; i < MANY_QPS; i++) {
		rig_qp_new(&rig->hca[0], &opts);
		drv_alloc_counters(rig->hca[0].drv, 1);
	}
	assert_int_equal(count_rows("show-qps", "qps", &replies), MANY_QPS);
	assert_true(replies > 1);
	assert_int_equal(count_rows("show-counters", "counters", &replies), MANY_QPS + 1);
	assert_true(replies > 1);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(args, sizeof(args), "{\"from\":\"%s\"}", wrong[i]);
		assert_true(ctl_fails(server, "show-qps", args, "EINVAL", "from"));
	}
	ctl_do(server, "show-qps", "{\"from\":\"4000000000:4000000000\"}");
	ctl_do(server, "show-qps", "{\"from\":\"1:4294967295\"}");
	rig_close(rig);
}

static uint64_t counter(const char *hca, const char *name)
{
	struct json_object *result = ctl_call(server, "show-counters", NULL);
	struct json_object *row = ctl_row(result, "counters", "hca", hca);
	uint64_t value;

	assert_int_equal(ctl_number(row, "set"), 0);
	value = ctl_number(ctl_field(row, "values"), name);
	json_object_put(result);
	return value;
}

static void test_counters(void **state)
{
	const struct rig_qp_opts opts = {};
	const struct pair_layout layout = {.len = 10000, .src_sge = 1, .dst_sge = 1};
	struct pair p = pair_open(server, &opts);
	struct json_object *result;

	(void)state;
	assert_int_equal(counter("hca0", "tx_packets"), 0);
	pair_check_message(&p, OHCA_OP_RDMA_WRITE, &layout, 1);
	assert_int_equal(counter("hca0", "tx_bytes"), 10000);
	assert_int_equal(counter("hca1", "rx_bytes"), 10000);
	assert_int_equal(counter("hca1", "rx_write_requests"), 1);
	result = ctl_call(server, "show-counters", "{\"hca\":\"hca0\"}");
	assert_int_equal(json_object_object_length(
				 ctl_field(ctl_row(result, "counters", "hca", "hca0"), "values")),
			 OHCA_NUM_COUNTERS);
	json_object_put(result);
	rig_close(p.rig);
}

/* What is used of a quota, as ohcactl shows it */
static uint64_t used(const char *hca, const char *name)
{
	struct json_object *result = ctl_call(server, "show-quotas", NULL), *rows;
	uint64_t num = UINT64_MAX;
	size_t i;

	rows = ctl_field(result, "quotas");
	for (i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(ctl_string(row, "hca"), hca) || strcmp(ctl_string(row, "quota"), name))
			continue;
		num = ctl_number(row, "used");
		assert_true(num <= ctl_number(row, "max"));
		if (strcmp(name, "log") != 0)
			assert_int_equal(ctl_number(row, "refused"), 0);
	}
	json_object_put(result);
	return num;
}

static void test_quotas(void **state)
{
	struct rig *rig = rig_open(server);
	uint64_t pages = used("hca0", "pages"), others = used("hca1", "pages");

	(void)state;
	assert_true(pages);
	rig_mr_new(&rig->hca[0], 0, 100 * 4096, RIG_ALL_ACCESS, 0);
	assert_int_equal(used("hca0", "pages"), pages + 100);
	assert_int_equal(used("hca1", "pages"), others);
	rig_close(rig);
}

/* Lines about machines that come and go all the time are not logged any more. */
static void test_quota_of_log(void **state)
{
	struct json_object *result, *rows, *row = NULL;
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++)
		vu_close(vu_open(server->sock[0]));
	result = ctl_call(server, "show-quotas", "{\"hca\":\"hca0\"}");
	rows = ctl_field(result, "quotas");
	for (i = 0; i < json_object_array_length(rows); i++) {
		row = json_object_array_get_idx(rows, i);
		if (!strcmp(ctl_string(row, "quota"), "log"))
			break;
	}
	assert_true(ctl_number(row, "refused") >= 20);
	assert_in_range(ctl_number(row, "used"), 20, 100);
	json_object_put(result);
}

static void test_uplinks(void **state)
{
	struct json_object *result = ctl_call(server, "show-uplinks", NULL), *row;
	char dir[] = "/tmp/ohcad-test.XXXXXX", hca[128], uplink[128];
	struct server *other, at = {};
	const char *argv[] = {getenv("OHCAD"), "--hca",	    hca,	"--uplink",
			      uplink,	       "--control", at.control, NULL};

	(void)state;
	assert_int_equal(json_object_array_length(ctl_field(result, "uplinks")), 0);
	json_object_put(result);
	assert_non_null(mkdtemp(dir));
	snprintf(hca, sizeof(hca), "socket=%s/hca,mac=02:00:00:00:00:09", dir);
	snprintf(uplink, sizeof(uplink), "stream=unix:%s/uplink,listen", dir);
	snprintf(at.control, sizeof(at.control), "%s/control", dir);
	other = server_start_argv(argv, at.control);
	result = ctl_call(&at, "show-uplinks", NULL);
	row = ctl_row(result, "uplinks", "name", uplink);
	assert_non_null(row);
	assert_false(ctl_bool(row, "up"));
	assert_string_equal(ctl_string(row, "link"), "ethernet");
	assert_int_equal(ctl_number(row, "in"), 0);
	assert_int_equal(ctl_number(ctl_field(result, "packets"), "bad_icrc"), 0);
	json_object_put(result);
	assert_true(server_stop(other));
	assert_int_equal(rmdir(dir), 0);
}

/* More ports than one reply has: each is listed once. */
static void test_many_ports(void **state)
{
	struct server *other = server_start(SERVER_MAX_HCAS);
	struct json_object *result = ctl_call(other, "show-ports", NULL);
	char args[64], name[16];
	unsigned int i;

	(void)state;
	for (i = 0; i < SERVER_MAX_HCAS; i++) {
		snprintf(name, sizeof(name), "hca%u", i);
		if (!ctl_row(result, "ports", "hca", name)) {
			snprintf(args, sizeof(args), "{\"from\":\"%s\"}",
				 ctl_string(result, "next"));
			json_object_put(result);
			result = ctl_call(other, "show-ports", args);
		}
		assert_non_null(ctl_row(result, "ports", "hca", name));
	}
	assert_false(json_object_object_get_ex(result, "next", NULL));
	json_object_put(result);
	assert_true(server_stop(other));
}

/* Cables */

static uint8_t port_state(struct drv *drv)
{
	const struct ohca_query_port_in in = {.port = 1};
	struct ohca_query_port_out out;

	assert_int_equal(drv_cmd(drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, sizeof(out)), 0);
	return out.state;
}

static void post_write(struct pair *p, uint64_t wr_id)
{
	struct ohca_sge sge = rig_sge(p->ma, PAIR_IOVA, 4096);
	struct rig_wr wr = {
		.wr_id = wr_id,
		.opcode = OHCA_OP_RDMA_WRITE,
		.flags = OHCA_WQE_SIGNALED,
		.num_sge = 1,
		.sge = &sge,
		.raddr = PAIR_IOVA,
		.rkey = p->mb->key,
	};

	rig_post_send(p->a, &wr);
}

/* Traffic stops while the cable of the sender or of the receiver is unplugged, and continues. */
static void test_link_flap(void **state)
{
	static const char *const hcas[] = {"{\"hca\":\"hca0\",\"state\":\"down\"}", "{\"hca\":"
										    "\"hca1\","
										    "\"state\":"
										    "\"down\"}"};
	static const char *const back[] = {"{\"hca\":\"hca0\",\"state\":\"up\"}", "{\"hca\":"
										  "\"hca1\","
										  "\"state\":"
										  "\"up\"}"};
	const struct rig_qp_opts opts = {};
	struct pair p = pair_new(server, &opts);
	uint64_t timeouts;
	unsigned int i;

	(void)state;
	p.a->attr.timeout = 17; /* 0.5 s */
	p.a->attr.retry_cnt = 7;
	rig_connect(p.a, p.b);
	for (i = 0; i < 2; i++) {
		struct rig_hca *hca = &p.rig->hca[i];

		ctl_do(server, "link", hcas[i]);
		ctl_do(server, "link", hcas[i]); /* the cable is unplugged */
		rig_wait_event(hca, OHCA_EVENT_PORT_ERR, 1);
		assert_int_equal(port_state(hca->drv), STATE_DOWN);
		assert_int_equal(port_state(p.rig->hca[!i].drv), STATE_ACTIVE);
		timeouts = counter("hca0", "local_ack_timeout_err");
		post_write(&p, i);
		while (counter("hca0", "local_ack_timeout_err") == timeouts)
			;
		assert_int_equal(counter("hca1", "rx_write_requests"), i);
		ctl_do(server, "link", back[i]);
		rig_wait_event(hca, OHCA_EVENT_PORT_ACTIVE, 1);
		assert_int_equal(port_state(hca->drv), STATE_ACTIVE);
		pair_assert_send_done(p.a, i, OHCA_OP_RDMA_WRITE);
	}
	rig_close(p.rig);
}

/*
 * A connection does not survive a cable that stays unplugged.  The cable is still unplugged after a
 * reset.
 */
static void test_link_down(void **state)
{
	const struct rig_qp_opts opts = {};
	struct pair p = pair_new(server, &opts);
	struct json_object *result;
	struct ohca_cqe cqe;

	(void)state;
	p.a->attr.timeout = 8;
	p.a->attr.retry_cnt = 1;
	rig_connect(p.a, p.b);
	ctl_do(server, "link", "{\"hca\":\"hca1\",\"state\":\"down\"}");
	post_write(&p, 7);
	cqe = rig_wait_send(p.a);
	assert_int_equal(cqe.status, OHCA_WC_RETRY_EXC_ERR);
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_ERR);
	drv_reset(p.rig->hca[1].drv);
	result = ctl_call(server, "show-ports", "{\"hca\":\"hca1\"}");
	assert_string_equal(ctl_string(ctl_row(result, "ports", "hca", "hca1"), "cable"), "out");
	json_object_put(result);
	ctl_do(server, "link", "{\"hca\":\"hca1\",\"state\":\"up\"}");
	assert_true(ctl_fails(server, "link", "{\"hca\":\"hca1\"}", "EINVAL", "needs"));
	assert_true(ctl_fails(server, "link", "{\"hca\":\"hca1\",\"state\":\"broken\"}", "EINVAL",
			      "neither"));
	assert_true(ctl_fails(server, "link", "{\"state\":\"down\"}", "EINVAL", "needs"));
	rig_close(p.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hcas),	     cmocka_unit_test(test_ports),
		cmocka_unit_test(test_qp),	     cmocka_unit_test(test_many),
		cmocka_unit_test(test_counters),     cmocka_unit_test(test_uplinks),
		cmocka_unit_test(test_many_ports),   cmocka_unit_test(test_link_flap),
		cmocka_unit_test(test_link_down),    cmocka_unit_test(test_quotas),
		cmocka_unit_test(test_quota_of_log),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
