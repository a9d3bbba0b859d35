// SPDX-License-Identifier: GPL-2.0
/* Rules for faults of packets: parsing, and the packets that they match. */

#include "harness.h"
#include "device/hca.h"
#include "packet/pkt.h"
#include "inject/pkt_rule.h"
#include "fabric/port.h"
#include "packet/roce.h"

static struct hca hcas[2] = {{.name = "hca0"}, {.name = "hca1"}};
static struct port ports[2];

static int init_hcas(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(hcas); i++)
		ports[i].hca = &hcas[i];
	return 0;
}

static struct pkt_rule *parse(const char *text)
{
	char why[RULE_MAX_WHY] = "";
	struct pkt_rule *rule = pkt_rule_parse(text, why, sizeof(why));

	if (!rule)
		fail_msg("%s: %s", text, why);
	assert_string_equal(rule->text, text);
	return rule;
}

static void refuse(const char *text, const char *expected)
{
	char why[RULE_MAX_WHY] = "";
	struct pkt_rule *rule = pkt_rule_parse(text, why, sizeof(why));

	assert_null(rule);
	assert_string_equal(why, expected);
}

static void test_actions(void **state)
{
	static const struct {
		const char *text;
		uint8_t action;
		uint64_t delay;
		uint32_t after;
	} good[] = {
		{"drop", RULE_DROP, 0, 0},
		{"delay=1us", RULE_DELAY, 1000, 0},
		{"delay=20ms", RULE_DELAY, 20000000, 0},
		{"delay=10s", RULE_DELAY, 10000000000ULL, 0},
		{"reorder", RULE_REORDER, 0, 1},
		{"reorder=1000", RULE_REORDER, 0, 1000},
		{"duplicate", RULE_DUPLICATE, 0, 0},
		{"corrupt", RULE_CORRUPT, 0, 0},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		struct pkt_rule *rule = parse(good[i].text);

		assert_int_equal(rule->action, good[i].action);
		assert_int_equal(rule->delay, good[i].delay);
		assert_int_equal(rule->after, good[i].after);
		assert_null(rule->hca);
		assert_false(rule->rx);
		assert_int_equal(rule->qpn, RULE_ANY_QP);
		assert_int_equal(rule->chance, 1ULL << 32);
		assert_int_equal(rule->count, RULE_NO_LIMIT);
		assert_int_equal(rule->skip, 0);
		pkt_rule_free(rule);
	}
}

static void test_values(void **state)
{
	struct pkt_rule *rule = parse("drop,count=3,qp=0x11,psn=16777214-2,p=25%,skip=7,seed=5,"
				      "hca=left,dir=rx,dlid=0xc001");

	(void)state;
	assert_int_equal(rule->count, 3);
	assert_int_equal(rule->qpn, 17);
	assert_int_equal(rule->dlid, 0xc001);
	assert_int_equal(rule->psn, 0xfffffe);
	assert_int_equal(rule->psns, 5);
	assert_int_equal(rule->chance, 1 << 30);
	assert_int_equal(rule->skip, 7);
	assert_int_equal(rule->state, 5);
	assert_string_equal(rule->hca, "left");
	assert_true(rule->rx);
	pkt_rule_free(rule);
	rule = parse("drop,p=0.5,psn=3,dir=tx");
	assert_int_equal(rule->chance, 1U << 31);
	assert_int_equal(rule->psn, 3);
	assert_int_equal(rule->psns, 1);
	pkt_rule_free(rule);
	rule = parse("drop,p=0");
	assert_int_equal(rule->chance, 0);
	pkt_rule_free(rule);
}

static void test_refused(void **state)
{
	static const char first[] = "it begins with drop, delay=TIME, reorder, duplicate, "
				    "corrupt, pkey=KEY, status=STATUS, fail-command, fail-eq, "
				    "fail-cq, fail-hca, unplug, "
				    "link-down, link-error, slow-reset, cut-output, "
				    "set-output, set-cqe, set-eqe, add-event, node-down, "
				    "cable-down or cable-error";

	(void)state;
	refuse("", first);
	refuse("loss", first);
	refuse("hca=hca0,drop", first);
	refuse("drop=1", "drop takes no value");
	refuse("corrupt=", "corrupt takes no value");
	refuse("delay", "delay needs a time");
	refuse("delay=5", "delay: '5' is not a time from 1us to 10s, with us, ms or s");
	refuse("delay=0ms", "delay: '0ms' is not a time from 1us to 10s, with us, ms or s");
	refuse("delay=11s", "delay: '11s' is not a time from 1us to 10s, with us, ms or s");
	refuse("delay=-1s", "delay: '-1s' is not a time from 1us to 10s, with us, ms or s");
	refuse("reorder=0", "reorder: '0' is not a number from 1 to 1000");
	refuse("reorder=", "reorder: '' is not a number from 1 to 1000");
	refuse("drop,drop", "unknown 'drop'");
	refuse("drop,port=1", "unknown 'port=1'");
	refuse("drop,qp", "qp needs a value");
	refuse("drop,qp=", "qp needs a value");
	refuse("drop,qp=1,qp=2", "qp is given twice");
	refuse("drop,qp=16777216", "qp: '16777216' is not a number from 0 to 16777215");
	refuse("drop,qp=0x", "qp: '0x' is not a number from 0 to 16777215");
	refuse("drop,qp=1x", "qp: '1x' is not a number from 0 to 16777215");
	refuse("drop,dlid=0", "dlid: '0' is not a number from 1 to 65535");
	refuse("drop,dlid=65536", "dlid: '65536' is not a number from 1 to 65535");
	refuse("drop,dlid=x", "dlid: 'x' is not a number from 1 to 65535");
	refuse("drop,psn=1-", "psn: '1-' is not N or N-N, numbers from 0 to 16777215");
	refuse("drop,psn=1-16777216", "psn: '1-16777216' is not N or N-N, numbers from 0 to "
				      "16777215");
	refuse("drop,p=1.1", "p: '1.1' is not a number from 0 to 1, nor one from 0% to 100%");
	refuse("drop,p=101%", "p: '101%' is not a number from 0 to 1, nor one from 0% to 100%");
	refuse("drop,p=-0", "p: '-0' is not a number from 0 to 1, nor one from 0% to 100%");
	refuse("drop,p=nan", "p: 'nan' is not a number from 0 to 1, nor one from 0% to 100%");
	refuse("drop,p=1%%", "p: '1%%' is not a number from 0 to 1, nor one from 0% to 100%");
	refuse("drop,p=.", "p: '.' is not a number from 0 to 1, nor one from 0% to 100%");
	refuse("drop,count=0", "count: '0' is not a number of at least 1");
	refuse("drop,count=x", "count: 'x' is not a number of at least 1");
	refuse("drop,skip=-1", "skip: '-1' is not a number from 0 to 18446744073709551614");
	refuse("drop,dir=up", "dir: 'up' is not tx or rx");
	refuse("drop,op=ack+", "op: there is no ''");
	refuse("drop,op=ack+nack", "op: there is no 'nack'");
	refuse("drop,op=ud-ack", "op: there is no 'ud-ack'");
	refuse("drop,op=rc-", "op: there is no 'rc-'");
}

/* Every opcode and condition has a name, and the names have their meaning. */
static void test_names(void **state)
{
	uint8_t i;

	(void)state;
	for (i = 0; i < BTH_NUM_OPS; i++) {
		struct pkt_rule *rule;
		char text[64];

		assert_int_equal(bth_op_name(i) != NULL, bth_op(BTH_RC, i) != NULL);
		if (!bth_op_name(i))
			continue;
		snprintf(text, sizeof(text), "drop,op=%s", bth_op_name(i));
		rule = parse(text);
		assert_int_equal(rule->ops[BTH_RC], 1U << i);
		assert_int_equal(rule->ops[BTH_UC], bth_op(BTH_UC, i) ? 1U << i : 0);
		assert_int_equal(rule->ops[BTH_UD], bth_op(BTH_UD, i) ? 1U << i : 0);
		assert_int_equal(rule->ops[BTH_XRC], bth_op(BTH_XRC, i) ? 1U << i : 0);
		pkt_rule_free(rule);
		snprintf(text, sizeof(text), "drop,op=rc-%s", bth_op_name(i));
		rule = parse(text);
		assert_int_equal(rule->ops[BTH_RC], 1U << i);
		assert_int_equal(rule->ops[BTH_XRC], 0);
		pkt_rule_free(rule);
	}
}

#define BIT(op) (1U << BTH_OP_##op)

static void test_classes(void **state)
{
	static const struct {
		const char *name;
		uint32_t ops;
	} classes[] = {
		{"ack", BIT(ACK)},
		{"read", BIT(READ_REQUEST) | BIT(READ_FIRST) | BIT(READ_MIDDLE) | BIT(READ_LAST) |
				 BIT(READ_ONLY)},
		{"atomic", BIT(CMP_SWAP) | BIT(FETCH_ADD) | BIT(ATOMIC_ACK)},
		{"send", BIT(SEND_FIRST) | BIT(SEND_MIDDLE) | BIT(SEND_LAST) | BIT(SEND_LAST_IMM) |
				 BIT(SEND_ONLY) | BIT(SEND_ONLY_IMM) | BIT(SEND_LAST_INV) |
				 BIT(SEND_ONLY_INV)},
		{"write", BIT(WRITE_FIRST) | BIT(WRITE_MIDDLE) | BIT(WRITE_LAST) |
				  BIT(WRITE_LAST_IMM) | BIT(WRITE_ONLY) | BIT(WRITE_ONLY_IMM)},
		{"response", BIT(ACK) | BIT(READ_FIRST) | BIT(READ_MIDDLE) | BIT(READ_LAST) |
				     BIT(READ_ONLY) | BIT(ATOMIC_ACK)},
		{"ack+cmp-swap", BIT(ACK) | BIT(CMP_SWAP)},
	};
	struct pkt_rule *rule, *other;
	unsigned int i;
	char text[64];

	(void)state;
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		snprintf(text, sizeof(text), "drop,op=%s", classes[i].name);
		rule = parse(text);
		assert_int_equal(rule->ops[BTH_RC], classes[i].ops);
		pkt_rule_free(rule);
	}
	/* All requests and all responses are all packets. */
	rule = parse("drop,op=request+response");
	other = parse("drop");
	assert_memory_equal(rule->ops, other->ops, sizeof(rule->ops));
	assert_int_equal(rule->ops[BTH_UD], BIT(SEND_ONLY) | BIT(SEND_ONLY_IMM));
	pkt_rule_free(rule);
	pkt_rule_free(other);
	rule = parse("drop,op=ud+xrc-read");
	assert_int_equal(rule->ops[BTH_RC], 0);
	assert_int_equal(rule->ops[BTH_UD], BIT(SEND_ONLY) | BIT(SEND_ONLY_IMM));
	assert_int_equal(rule->ops[BTH_XRC] & BIT(READ_REQUEST), BIT(READ_REQUEST));
	pkt_rule_free(rule);
}

static const struct pkt_place here = {
	.service = BTH_RC, .opcode = BTH_OP_ACK, .qpn = 20, .psn = 1000};

/* Does the rule match a packet at @here that differs in one field? */
#define HITS(rule, field, val)                  \
	({                                      \
		struct pkt_place _place = here; \
		_place.port = &ports[0];        \
		_place.field = val;             \
		pkt_rule_hits(rule, &_place);   \
	})

static void test_match(void **state)
{
	struct pkt_rule *rule = parse("drop,hca=hca0,op=ack+read,qp=20,psn=999-1001");

	(void)state;
	assert_true(HITS(rule, psn, 999));
	assert_true(HITS(rule, psn, 1000));
	assert_true(HITS(rule, psn, 1001));
	assert_false(HITS(rule, psn, 998));
	assert_false(HITS(rule, psn, 1002));
	assert_false(HITS(rule, qpn, 21));
	assert_true(HITS(rule, opcode, BTH_OP_READ_LAST));
	assert_false(HITS(rule, opcode, BTH_OP_ATOMIC_ACK));
	assert_true(HITS(rule, service, BTH_XRC));
	assert_false(HITS(rule, service, BTH_UD));
	assert_false(HITS(rule, rx, true));
	assert_false(HITS(rule, port, &ports[1]));
	assert_int_equal(rule->matched, 5);
	assert_int_equal(rule->hits, 5);
	pkt_rule_free(rule);
	rule = parse("drop,dlid=5");
	assert_true(HITS(rule, dlid, 5));
	assert_false(HITS(rule, dlid, 4));
	assert_false(HITS(rule, dlid, 0));
	pkt_rule_free(rule);
	rule = parse("drop,dir=rx");
	assert_false(HITS(rule, rx, false));
	assert_true(HITS(rule, rx, true));
	pkt_rule_free(rule);
}

static void test_count(void **state)
{
	struct pkt_rule *rule = parse("drop,skip=2,count=3");
	unsigned int i;

	(void)state;
	for (i = 0; i < 10; i++)
		assert_int_equal(HITS(rule, qpn, 1), i >= 2 && i < 5);
	assert_int_equal(rule->hits, 3);
	/* A rule that is exhausted examines no more packets. */
	assert_int_equal(rule->matched, 5);
	assert_true(pkt_rule_done(rule));
	pkt_rule_free(rule);
}

/* Bit i: the rule matched packet i of 64. */
static uint64_t draw(const char *text)
{
	struct pkt_rule *rule = parse(text);
	uint64_t bits = 0;
	unsigned int i;

	for (i = 0; i < 64; i++)
		bits |= (uint64_t)HITS(rule, qpn, 1) << i;
	pkt_rule_free(rule);
	return bits;
}

static void test_chance(void **state)
{
	struct pkt_rule *rule = parse("drop,p=1%");
	unsigned int i;

	(void)state;
	for (i = 0; i < 100000; i++)
		HITS(rule, qpn, 1);
	assert_in_range(rule->hits, 800, 1200);
	pkt_rule_free(rule);
	assert_int_equal(draw("drop,p=0"), 0);
	assert_int_equal(draw("drop,p=100%"), UINT64_MAX);
	/* The choices depend on the seed; the default is 1. */
	assert_int_equal(draw("drop,p=0.5"), draw("drop,p=50%,seed=1"));
	assert_int_equal(draw("drop,p=0.5,seed=2"), draw("drop,p=0.5,seed=2"));
	assert_true(draw("drop,p=0.5,seed=2") != draw("drop,p=0.5"));
	/* A higher probability matches the same packets, and more. */
	assert_int_equal(draw("drop,p=0.25") & ~draw("drop,p=0.5"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actions), cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_names),
		cmocka_unit_test(test_classes), cmocka_unit_test(test_match),
		cmocka_unit_test(test_count),	cmocka_unit_test(test_chance),
	};

	return RUN_TESTS(tests, init_hcas, NULL);
}
