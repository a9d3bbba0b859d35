// SPDX-License-Identifier: GPL-2.0
/* Rules for faults of an HCA: parsing, and effects.  Time passes only in rounds: no short state is missed on a busy host. */

#include <endian.h>

#include "harness.h"
#include "fabric/ib_error.h"
#include "fabric/port.h"
#include "hca/adapter.h"
#include "inject/hca_fault.h"
#include "inject/hca_rule.h"
#include "hcas.h"
#include "inproc.h"
#include "inproc_clock.h"
#include "pair.h"

static struct pair p;
static struct rig_hca *ha;
static struct hca *hca;

static int up(void **state)
{
	(void)state;
	inproc_clock_start();
	p = pair_open(server, NULL);
	ha = p.a->hca;
	hca = inproc_hca(0);
	return 0;
}

static int down(void **state)
{
	(void)state;
	hca_rule_clear(hca->fabric, 0);
	hca_fault_clear(hca);
	port_plug(hca->ports[0], true);
	rig_close(p.rig);
	inproc_clock_stop();
	return 0;
}

static struct hca_rule *parse(const char *text)
{
	char why[RULE_MAX_WHY] = "";
	struct hca_rule *rule = hca_rule_parse(text, why, sizeof(why));

	assert_true(hca_rule_is(text));
	if (!rule)
		fail_msg("%s: %s", text, why);
	assert_string_equal(rule->text, text);
	return rule;
}

static const struct hca_rule *add(const char *text)
{
	struct hca_rule *rule = parse(text);

	assert_int_equal(hca_rule_add(hca->fabric, rule), 0);
	return rule;
}

static void wait_until_done(const struct hca_rule *rule)
{
	while (!hca_rule_done(rule))
		inproc_step();
}

static void wait_for_state(const struct hca_rule *rule, enum hca_rule_state state)
{
	while (rule->state != state)
		inproc_step();
}

static int alloc_pd(void)
{
	struct ohca_handle out;

	return drv_cmd(ha->drv, OHCA_CMD_ALLOC_PD, NULL, 0, &out, sizeof(out));
}

static void post_write(void)
{
	struct ohca_sge sge = rig_sge(p.ma, PAIR_IOVA, 8);
	struct rig_wr wr = {.opcode = OHCA_OP_RDMA_WRITE,
			    .flags = OHCA_WQE_SIGNALED,
			    .num_sge = 1,
			    .sge = &sge,
			    .raddr = PAIR_IOVA,
			    .rkey = p.mb->key};

	rig_post_send(p.a, &wr);
}

static uint32_t status(void)
{
	return drv_reg(ha->drv, OHCA_REG_STATUS);
}

/* Text */

static void test_values(void **state)
{
	struct hca_rule *rule = parse("fail-command,hca=left");

	(void)state;
	assert_int_equal(rule->action, HCA_RULE_FAIL_COMMAND);
	assert_int_equal(rule->event, HCA_RULE_COMMAND);
	assert_int_equal(rule->value, HCA_RULE_NONE);
	assert_int_equal(rule->op, HCA_RULE_NONE);
	assert_int_equal(rule->count, 1);
	assert_int_equal(rule->skip, 0);
	assert_string_equal(rule->name, "left");
	hca_rule_free(rule);
	rule = parse("fail-command=0xa,op=create-qp,skip=7,count=3,after=2s,hca=x");
	assert_int_equal(rule->value, OHCA_CMD_INTERNAL);
	assert_int_equal(rule->op, OHCA_CMD_CREATE_QP);
	assert_int_equal(rule->skip, 7);
	assert_int_equal(rule->count, 3);
	assert_int_equal(rule->after, 2000000000);
	hca_rule_free(rule);
	rule = parse("fail-cq,hca=x,on=completion,type=rc+xrc");
	assert_int_equal(rule->event, HCA_RULE_COMPLETION);
	assert_int_equal(rule->types,
			 1 << OHCA_QPT_RC | 1 << OHCA_QPT_XRC_INI | 1 << OHCA_QPT_XRC_TGT);
	hca_rule_free(rule);
	rule = parse("fail-hca,hca=x,on=command,op=0x7fff");
	assert_int_equal(rule->value, OHCA_FATAL_INTERNAL);
	assert_int_equal(rule->op, 0x7fff);
	hca_rule_free(rule);
	rule = parse("link-down,hca=x,for=20ms,every=1s,count=5");
	assert_int_equal(rule->action, HCA_RULE_LINK_DOWN);
	assert_int_equal(rule->event, 0);
	assert_int_equal(rule->duration, 20000000);
	assert_int_equal(rule->every, 1000000000);
	hca_rule_free(rule);
	rule = parse("link-error=rcv-remote,hca=x,num=300,at=switch");
	assert_int_equal(rule->action, HCA_RULE_LINK_ERROR);
	assert_int_equal(rule->value, IB_ERROR_RCV_REMOTE);
	assert_int_equal(rule->num, 300);
	assert_true(rule->at_switch);
	hca_rule_free(rule);
	rule = parse("slow-reset=3s,hca=x,skip=1,count=2");
	assert_int_equal(rule->action, HCA_RULE_SLOW_RESET);
	assert_int_equal(rule->event, HCA_RULE_RESET);
	assert_int_equal(rule->duration, 3000000000);
	hca_rule_free(rule);
	rule = parse("cut-output=32,hca=x,op=query-port");
	assert_int_equal(rule->event, HCA_RULE_COMMAND);
	assert_int_equal(rule->value, 32);
	hca_rule_free(rule);
	rule = parse("set-output=2047:0xff,hca=x,on=command");
	assert_int_equal(rule->num, 2047);
	assert_int_equal(rule->value, 255);
	hca_rule_free(rule);
	rule = parse("slow-reset,hca=x");
	assert_int_equal(rule->duration, 0);
	hca_rule_free(rule);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"fail-command", "hca=NAME is missing"},
		{"fail-command=0,hca=x", "fail-command: '0' is not a number from 1 to 255"},
		{"fail-command=,hca=x", "fail-command: '' is not a number from 1 to 255"},
		{"fail-command,hca=x,on=doorbell", "fail-command can only have on=command"},
		{"fail-command,hca=x,op=create-world", "op: there is no 'create-world'"},
		{"fail-command,hca=x,op=65536", "op: there is no '65536'"},
		{"fail-command,hca=x,op=1,op=2", "op is given twice"},
		{"fail-command,hca=", "hca needs a value"},
		{"fail-command,hca=x,for=1s", "fail-command can't have for"},
		{"fail-command,hca=x,every=1s", "every and on= exclude each other"},
		{"fail-command,hca=x,count=0", "count: '0' is not a number of at least 1"},
		{"fail-command,hca=x,p=1", "unknown 'p=1'"},
		{"fail-command,hca=x,type=rc", "type needs on=doorbell or on=completion"},
		{"fail-eq,hca=x", "fail-eq needs a number"},
		{"fail-eq=x,hca=x", "fail-eq: 'x' is not a number from 0 to 4294967294"},
		{"fail-cq,hca=x", "fail-cq needs a number, or on=completion"},
		{"fail-cq=1,hca=x,op=1", "op needs on=command"},
		{"fail-cq=1,hca=x,skip=1", "skip needs on="},
		{"fail-hca=5,hca=x", "fail-hca: '5' is not a number from 1 to 4"},
		{"fail-hca,hca=x,for=1s", "fail-hca can't have for"},
		{"fail-hca,hca=x,count=2", "count needs every, or on="},
		{"fail-hca,hca=x,on=rain", "on: 'rain' is not command, doorbell or completion"},
		{"fail-hca,hca=x,on=completion,type=tcp", "type: there is no 'tcp'"},
		{"unplug=1,hca=x", "unplug takes no value"},
		{"unplug,hca=x,after=1", "after: '1' is not a time from 1us to 86400s, with us, "
					 "ms or s"},
		{"unplug,hca=x,on=command,count=2", "count needs for, so that the fault ends"},
		{"link-down,hca=x,for=1s,count=2", "count needs every, or on="},
		{"link-down,hca=x,for=1s,count=2,every=1s", "every must be longer than for"},
		{"link-down,hca=x,num=2", "num needs link-error or add-event"},
		{"link-error,hca=x", "link-error needs the kind of the errors"},
		{"link-error=rain,hca=x", "link-error: there is no 'rain'"},
		{"link-error=symbol,hca=x,num=0", "num: '0' is not a number from 1 to 4294967295"},
		{"link-error=symbol,hca=x,at=moon", "at: 'moon' is not hca or switch"},
		{"link-error=symbol,hca=x,for=1s", "link-error can't have for"},
		{"slow-reset=1,hca=x", "slow-reset: '1' is not a time from 1us to 86400s, with us, "
				       "ms or s"},
		{"cut-output,hca=x", "cut-output needs a number of bytes"},
		{"cut-output=2049,hca=x", "cut-output: '2049' is not a number from 0 to 2048"},
		{"cut-output=1,hca=x,on=doorbell", "cut-output can only have on=command"},
		{"set-output,hca=x", "set-output needs OFFSET:VALUE"},
		{"set-output=1,hca=x", "set-output needs OFFSET:VALUE"},
		{"set-output=2048:1,hca=x", "set-output: '2048' is not a number from 0 to 2047"},
		{"set-output=1:256,hca=x", "set-output: '256' is not a number from 0 to 255"},
		{"set-cqe,hca=x", "set-cqe needs OFFSET:VALUE"},
		{"set-cqe=63:1,hca=x", "set-cqe: '63' is not a number from 0 to 62"},
		{"set-cqe=1:1,hca=x,on=completion", "set-cqe can't have on"},
		{"set-eqe=15:1,hca=x", "set-eqe: '15' is not a number from 0 to 14"},
		{"set-eqe=1:1,hca=x,type=rc", "type needs on=doorbell or on=completion"},
		{"add-event,hca=x", "add-event needs TYPE:NUMBER"},
		{"add-event=256:1,hca=x", "add-event: '256' is not a number from 0 to 255"},
		{"add-event=1:1,hca=x,num=0", "num: '0' is not a number from 1 to 4294967295"},
		{"slow-reset,hca=x,after=1s", "slow-reset can only have hca, skip and count"},
		{"slow-reset=1s,hca=x,for=1s", "slow-reset can only have hca, skip and count"},
		{"slow-reset=1s,hca=x,on=command", "slow-reset can only have hca, skip and count"},
	};
	static const char *const others[] = {"", "drop", "fail", "fail-commands", "link-downs=1"};
	char why[RULE_MAX_WHY];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_null(hca_rule_parse(bad[i].text, why, sizeof(why)));
		assert_string_equal(why, bad[i].why);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		assert_false(hca_rule_is(others[i]));
		assert_null(hca_rule_parse(others[i], why, sizeof(why)));
		assert_string_equal(why, "there is no such fault");
	}
}

/* Every opcode of the device has a name. */
static void test_opcodes(void **state)
{
	static const char *const names[] = {
		"query-device",	  "query-port",	     "modify-port",    "set-gid",
		"alloc-uar",	  "free-uar",	     "alloc-pd",       "free-pd",
		"alloc-xrcd",	  "free-xrcd",	     "query-counters", "alloc-counters",
		"free-counters",  "create-eq",	     "destroy-eq",     "create-cq",
		"destroy-cq",	  "modify-cq",	     "resize-cq",      "create-mkey",
		"destroy-mkey",	  "modify-mkey",     "query-mkey",     "modify-pages",
		"alloc-dm",	  "free-dm",	     "create-qp",      "modify-qp",
		"query-qp",	  "destroy-qp",	     "attach-mcast",   "detach-mcast",
		"create-ind-tbl", "destroy-ind-tbl", "create-rss",     "create-srq",
		"modify-srq",	  "query-srq",	     "destroy-srq",    "create-flow",
		"destroy-flow",	  "query-gid",	     "query-pkey",     "mad",
		"set-node-desc",  "set-link-layer",
	};
	bool named[256] = {false};
	char text[64];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct hca_rule *rule;

		snprintf(text, sizeof(text), "fail-command,hca=x,op=%s", names[i]);
		rule = parse(text);
		assert_false(named[rule->op]);
		named[rule->op] = true;
		hca_rule_free(rule);
	}
	for (i = 0; i < ARRAY_SIZE(named); i++) {
		if (!named[i])
			assert_int_equal(drv_cmd(ha->drv, i, NULL, 0, NULL, 0),
					 OHCA_CMD_BAD_OPCODE);
	}
}

/* Faults */

static void test_command(void **state)
{
	const struct hca_rule *rule = add("fail-command=7,hca=hca0,op=alloc-pd,skip=1,count=2");
	const struct hca_rule *any;
	struct ohca_handle out;

	(void)state;
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_ALLOC_XRCD, NULL, 0, &out, sizeof(out)),
			 OHCA_CMD_OK);
	assert_int_equal(alloc_pd(), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(alloc_pd(), OHCA_CMD_NO_RESOURCE);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_true(hca_rule_done(rule));
	assert_int_equal(rule->matched, 3);
	assert_int_equal(rule->hits, 2);
	/* Each of several rules counts by itself. */
	rule = add("fail-command=6,hca=hca0");
	any = add("fail-command=10,hca=hca0");
	assert_int_equal(alloc_pd(), OHCA_CMD_BUSY);
	assert_int_equal(any->hits, 0);
	assert_int_equal(alloc_pd(), OHCA_CMD_INTERNAL);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_true(hca_rule_done(rule) && hca_rule_done(any));
}

static void test_command_timeout(void **state)
{
	const struct hca_rule *rule = add("fail-command,hca=hca0,op=alloc-pd");
	struct ohca_cmd cmd = {.opcode = htole16(OHCA_CMD_ALLOC_PD)};
	const struct ohca_cmd_cqe *cqe = &ha->drv->cq[ha->drv->ci % (1U << DRV_LOG_CMDS)];
	uint8_t owner = cqe->owner;

	(void)state;
	drv_post(ha->drv, &cmd);
	drv_kick(ha->drv);
	inproc_settle();
	assert_int_equal(cqe->owner, owner);
	assert_int_equal(rule->hits, 1);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

static void test_fatal(void **state)
{
	const struct hca_rule *rule = add("fail-hca=2,hca=hca0,on=command,op=alloc-pd,skip=2");

	(void)state;
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	assert_int_equal(status(), OHCA_STATUS_READY);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
	wait_until_done(rule);
	assert_int_equal(status(), OHCA_STATUS_FATAL);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_FATAL), OHCA_FATAL_CMDQ);
}

/* The queue of the completion, for the right type of QP */
static void test_cq(void **state)
{
	const struct hca_rule *other = add("fail-cq,hca=hca0,on=completion,type=ud+uc");
	const struct hca_rule *rule = add("fail-cq,hca=hca0,on=completion,type=rc,skip=3");
	const struct hca_rule *nobody = add("fail-cq=99,hca=hca0,on=doorbell");
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		post_write();
		assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
	}
	assert_int_equal(rule->hits, 0);
	post_write();
	wait_until_done(rule);
	rig_wait_event(ha, OHCA_EVENT_CQ_ERR, p.a->scq->cqn);
	post_write();
	inproc_settle();
	assert_int_equal(rig_query(p.a).state, OHCA_QPS_ERR);
	assert_int_equal(other->matched, 0);
	/* There is no such queue: nothing else happens. */
	assert_int_equal(nobody->hits, 1);
	assert_int_equal(status(), OHCA_STATUS_READY);
}

static void test_eq(void **state)
{
	const struct hca_rule *rule;
	struct ohca_eqe eqe;
	char text[64];

	(void)state;
	while (drv_eq_poll(ha->async, &eqe))
		drv_eq_ack(ha->async);
	snprintf(text, sizeof(text), "fail-eq=%u,hca=hca0,for=2ms", ha->async->eqn);
	rule = add(text);
	wait_for_state(rule, HCA_RULE_ACTIVE);
	port_plug(hca->ports[0], false);
	inproc_settle();
	if (rule->state == HCA_RULE_ACTIVE)
		assert_false(drv_eq_poll(ha->async, &eqe));
	wait_until_done(rule);
	rig_wait_event(ha, OHCA_EVENT_PORT_ERR, 1);
}

static void test_unplug(void **state)
{
	const struct hca_rule *rule = add("unplug,hca=hca0,after=1ms,for=1ms");

	(void)state;
	assert_int_equal(rule->state, HCA_RULE_EARLY);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), OHCA_MAGIC);
	wait_for_state(rule, HCA_RULE_ACTIVE);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), UINT32_MAX);
	wait_until_done(rule);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), OHCA_MAGIC);
	assert_int_equal(status(), 0);
}

static void test_link_flaps(void **state)
{
	const struct hca_rule *rule = add("link-down,hca=hca0,after=1ms,for=500us,every=2ms,count="
					  "4");
	unsigned int i;

	(void)state;
	assert_true(hca->ports[0]->active);
	for (i = 0; i < 4; i++) {
		rig_wait_event(ha, OHCA_EVENT_PORT_ERR, 1);
		rig_wait_event(ha, OHCA_EVENT_PORT_ACTIVE, 1);
	}
	wait_until_done(rule);
	assert_int_equal(rule->hits, 4);
	assert_true(hca->ports[0]->active);
}

/* At each doorbell, except while the link is down */
static void test_link_doorbell(void **state)
{
	const struct hca_rule *rule = add("link-down,hca=hca0,on=doorbell,for=1ms,count=2,skip=1");

	(void)state;
	post_write();
	assert_int_equal(rig_wait_send(p.a).status, OHCA_WC_SUCCESS);
	assert_int_equal(rule->hits, 0);
	post_write();
	wait_for_state(rule, HCA_RULE_ACTIVE);
	assert_false(hca->ports[0]->active);
	post_write();
	wait_for_state(rule, HCA_RULE_WATCHING);
	assert_int_equal(rule->hits, 1);
	assert_true(hca->ports[0]->active);
	post_write();
	wait_until_done(rule);
	assert_int_equal(rule->hits, 2);
}

/* Deleting a rule ends a fault that has a duration, and keeps the effect of one that has none. */
static void test_clear(void **state)
{
	const struct hca_rule *rule = add("link-down,hca=hca0,for=100s"), *early;
	uint32_t id = rule->id;

	(void)state;
	early = add("unplug,hca=hca0,after=1ms");
	assert_int_equal(early->id, id + 1);
	assert_ptr_equal(hca_rule_next(hca->fabric, NULL), rule);
	assert_ptr_equal(hca_rule_next(hca->fabric, rule), early);
	assert_null(hca_rule_next(hca->fabric, early));
	assert_true(hca_rule_clear(hca->fabric, early->id));
	assert_false(hca_rule_clear(hca->fabric, id + 1));
	wait_for_state(rule, HCA_RULE_ACTIVE);
	assert_false(hca->ports[0]->active);
	assert_true(hca_rule_clear(hca->fabric, id));
	assert_true(hca->ports[0]->active);
	assert_null(hca_rule_next(hca->fabric, NULL));
	wait_until_done(add("link-down,hca=hca0"));
	assert_true(hca_rule_clear(hca->fabric, 0));
	assert_false(hca->ports[0]->active);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), OHCA_MAGIC);
}

/* A rule does not affect an HCA without a driver. */
static void test_begin(void **state)
{
	const struct hca_rule *rule;

	(void)state;
	drv_reset(ha->drv);
	rule = add("fail-hca,hca=hca0");
	inproc_settle();
	assert_int_equal(rule->state, HCA_RULE_NEW);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	wait_until_done(rule);
	assert_int_equal(status(), OHCA_STATUS_FATAL);
	/* It takes effect once. */
	drv_reset(ha->drv);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	inproc_settle();
	assert_int_equal(status(), OHCA_STATUS_READY);
	assert_int_equal(rule->hits, 1);
}

/* The output of a command: a part of it, and with another byte */
static void test_output(void **state)
{
	struct ohca_query_port_in in = {.port = 1};
	const struct hca_rule *cut = add("cut-output=32,hca=hca0,op=query-port,skip=1");
	const struct hca_rule *set = add("set-output=1:0x55,hca=hca0,op=query-port,skip=2");
	struct ohca_query_port_out whole, out;
	unsigned int i;

	(void)state;
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &whole, 64), 0);
	assert_int_equal(ha->drv->out_len, sizeof(whole));
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, 64), 0);
	assert_int_equal(ha->drv->out_len, 32);
	assert_memory_equal(&out, &whole, 32);
	assert_true(hca_rule_done(cut));
	assert_int_equal(set->hits, 0);
	assert_int_equal(drv_cmd(ha->drv, OHCA_CMD_QUERY_PORT, &in, sizeof(in), &out, 64), 0);
	assert_int_equal(ha->drv->out_len, sizeof(whole));
	assert_int_equal(out.state, 0x55);
	out.state = whole.state;
	assert_memory_equal(&out, &whole, sizeof(out));
	/* A command that has no such byte */
	add("set-output=4:1,hca=hca0");
	for (i = 0; i < 2; i++)
		assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

/* Completions with another byte, of the right type of QP */
static void test_cqe(void **state)
{
	const struct hca_rule *other = add("set-cqe=20:0x55,hca=hca0,type=ud");
	const struct hca_rule *rule = add("set-cqe=20:0x55,hca=hca0,type=rc,skip=1,count=2");
	const struct hca_rule *status_rule = add("set-cqe=60:19,hca=hca0,skip=2");
	static const uint32_t idx[] = {0, 0x55, 0x55, 3};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(idx); i++) {
		struct ohca_cqe cqe;

		post_write();
		cqe = rig_wait_send(p.a);
		assert_int_equal(le32toh(cqe.wqe_idx), idx[i]);
		assert_int_equal(cqe.status, i == 2 ? OHCA_WC_FATAL_ERR : OHCA_WC_SUCCESS);
	}
	assert_true(hca_rule_done(rule) && hca_rule_done(status_rule));
	assert_int_equal(other->matched, 0);
}

/* An event with another byte */
static void test_eqe(void **state)
{
	const struct hca_rule *rule = add("set-eqe=0:9,hca=hca0");

	(void)state;
	port_plug(hca->ports[0], false);
	rig_wait_event(ha, OHCA_EVENT_PORT_ERR, 9);
	assert_true(hca_rule_done(rule));
	port_plug(hca->ports[0], true);
	rig_wait_event(ha, OHCA_EVENT_PORT_ACTIVE, 1);
}

/* More events than the queue has room for, which did not happen */
static void test_add_event(void **state)
{
	const struct hca_rule *rule = add("add-event=0x77:0x123456,hca=hca0,num=5000");
	struct ohca_eqe eqe;
	unsigned int num = 0;

	(void)state;
	while (num < 5000) {
		if (!drv_eq_poll(ha->async, &eqe)) {
			inproc_step();
			continue;
		}
		drv_eq_ack(ha->async);
		if (eqe.type != 0x77)
			continue;
		assert_int_equal(le32toh(eqe.id), 0x123456);
		num++;
	}
	wait_until_done(rule);
	assert_int_equal(rule->hits, 1);
	inproc_settle();
	assert_false(drv_eq_poll(ha->async, &eqe));
	/* There is room again for those that happen. */
	port_plug(hca->ports[0], false);
	rig_wait_event(ha, OHCA_EVENT_PORT_ERR, 1);
}

/* While there is no room, the device looks for it in intervals of milliseconds, and not in each round. */
static void test_add_event_waits(void **state)
{
	const struct hca_rule *rule = add("add-event=0x77:0x123456,hca=hca0,num=5000");
	unsigned int looks = 0, num = 0;
	struct ohca_eqe eqe;
	uint64_t end, last;

	(void)state;
	wait_for_state(rule, HCA_RULE_ACTIVE);
	inproc_elapse(20 * MS);
	last = rule->timer.deadline;
	for (end = inproc_clock() + 20 * MS; inproc_clock() < end; inproc_step()) {
		looks += rule->timer.deadline != last;
		last = rule->timer.deadline;
	}
	assert_true(rule->timer.pos && rule->left);
	assert_in_range(looks, 3, 5);
	/* Nothing is lost. */
	for (; num < 5000; num += eqe.type == 0x77) {
		while (!drv_eq_poll(ha->async, &eqe))
			inproc_step();
		drv_eq_ack(ha->async);
	}
	wait_until_done(rule);
}

static void assert_resetting(void)
{
	assert_true(status() & OHCA_STATUS_RESETTING);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_MAGIC), OHCA_MAGIC);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_VERSION), DRV_VERSION);
}

/* As the PCI function resets the device; the bus is as before. */
static void function_level_reset(void)
{
	hca_reset(hca);
}

/* The first reset is as usual, the next two are slow. */
static void test_slow_reset(void **state)
{
	const struct hca_rule *rule = add("slow-reset=2ms,hca=hca0,skip=1,count=2");
	unsigned int i;

	(void)state;
	drv_reset(ha->drv);
	assert_int_equal(status(), 0);
	for (i = 1; i <= 2; i++) {
		assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
		drv_reset(ha->drv);
		assert_resetting();
		assert_int_equal(rule->hits, i);
		wait_for_state(rule, i == 1 ? HCA_RULE_WATCHING : HCA_RULE_DONE);
		assert_int_equal(status(), 0);
	}
	drv_reset(ha->drv);
	assert_int_equal(status(), 0);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
	assert_int_equal(alloc_pd(), OHCA_CMD_OK);
}

/* What is written to registers during a reset has no effect, now or later. */
static void test_writes_during_reset(void **state)
{
	const struct hca_rule *rule = add("slow-reset=2ms,hca=hca0");

	(void)state;
	drv_reset(ha->drv);
	drv_set_reg(ha->drv, OHCA_REG_SW_VERSION, DRV_VERSION);
	drv_set_reg64(ha->drv, OHCA_REG_CMDQ_SQ_LO, ha->drv->sq_addr);
	drv_set_reg(ha->drv, OHCA_REG_CTRL, OHCA_CTRL_ENABLE);
	drv_set_reg(ha->drv, OHCA_REG_CMDQ_DB, 1);
	drv_set_reg(ha->drv, OHCA_REG_CTRL, OHCA_CTRL_RESET);
	assert_resetting();
	assert_int_equal(rule->matched, 1);
	wait_until_done(rule);
	assert_int_equal(status(), 0);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_FATAL), OHCA_FATAL_NONE);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_SW_VERSION), 0);
	assert_int_equal(drv_reg(ha->drv, OHCA_REG_CMDQ_SQ_LO), 0);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
}

/* A function level reset may be slow as well.  It begins anew while another reset goes on. */
static void test_slow_function_reset(void **state)
{
	const struct hca_rule *rule = add("slow-reset=50s,hca=hca0");
	const struct hca_rule *next = add("slow-reset=2ms,hca=hca0");

	(void)state;
	drv_reset(ha->drv);
	assert_resetting();
	assert_int_equal(next->matched, 0);
	function_level_reset();
	assert_resetting();
	assert_true(hca_rule_done(rule));
	assert_int_equal(next->hits, 1);
	wait_until_done(next);
	assert_int_equal(status(), 0);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
}

static void test_endless_reset(void **state)
{
	const struct hca_rule *rule = add("slow-reset,hca=hca0");

	(void)state;
	drv_reset(ha->drv);
	inproc_settle();
	assert_resetting();
	assert_int_equal(rule->state, HCA_RULE_ACTIVE);
	/* The next one ends. */
	function_level_reset();
	assert_int_equal(status(), 0);
	assert_true(hca_rule_done(rule));
	/* Without the rule it ends, too. */
	rule = add("slow-reset,hca=hca0");
	drv_reset(ha->drv);
	assert_resetting();
	assert_true(hca_rule_clear(hca->fabric, rule->id));
	assert_int_equal(status(), 0);
	assert_int_equal(drv_enable(ha->drv, DRV_ALL_FEATS), OHCA_STATUS_READY);
}

static void test_limits(void **state)
{
	struct hca_rule *rule = parse("unplug,hca=hca7");
	unsigned int i;

	(void)state;
	assert_int_equal(hca_rule_add(hca->fabric, rule), -ENOENT);
	hca_rule_free(rule);
	for (i = 0; i < HCA_RULE_MAX; i++)
		add("unplug,hca=hca0,after=100s");
	rule = parse("unplug,hca=hca0,after=100s");
	assert_int_equal(hca_rule_add(hca->fabric, rule), -ENOSPC);
	hca_rule_free(rule);
	hca_rule_clear(hca->fabric, 0);
	add("unplug,hca=hca0,after=100s");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)
	const struct CMUnitTest tests[] = {
		TEST(test_values),
		TEST(test_refused),
		TEST(test_opcodes),
		TEST(test_command),
		TEST(test_command_timeout),
		TEST(test_fatal),
		TEST(test_cq),
		TEST(test_eq),
		TEST(test_unplug),
		TEST(test_link_flaps),
		TEST(test_link_doorbell),
		TEST(test_clear),
		TEST(test_begin),
		TEST(test_output),
		TEST(test_cqe),
		TEST(test_eqe),
		TEST(test_add_event),
		TEST(test_add_event_waits),
		TEST(test_slow_reset),
		TEST(test_writes_during_reset),
		TEST(test_slow_function_reset),
		TEST(test_endless_reset),
		TEST(test_limits),
	};

	return RUN_TESTS(tests, start_two_hcas, stop_hcas);
}
