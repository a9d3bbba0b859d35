// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of each type of QP: its transitions, and the required and optional attributes
 * of each (InfiniBand specification, 11.2.5.2).
 */

#include "harness.h"
#include "qp/qp.h"

#define NUM_TYPES (OHCA_QPT_XRC_TGT + 1)
#define NUM_STATES (OHCA_QPS_ERR + 1)

static const uint8_t types[] = {OHCA_QPT_GSI, OHCA_QPT_RC,	OHCA_QPT_UC,	 OHCA_QPT_UD,
				OHCA_QPT_ETH, OHCA_QPT_XRC_INI, OHCA_QPT_XRC_TGT};

/* Attributes, with short names as in the specification's tables */
enum {
	CUR = OHCA_QP_CUR_STATE,
	NOTIFY = OHCA_QP_EN_SQD_ASYNC_NOTIFY,
	ACCESS = OHCA_QP_ACCESS_FLAGS,
	PKEY = OHCA_QP_PKEY_INDEX,
	PORT = OHCA_QP_PORT,
	QKEY = OHCA_QP_QKEY,
	AV = OHCA_QP_AV,
	ALT = OHCA_QP_ALT_PATH,
	MIG = OHCA_QP_PATH_MIG_STATE,
	MTU = OHCA_QP_PATH_MTU,
	TIMEOUT = OHCA_QP_TIMEOUT,
	RETRY = OHCA_QP_RETRY_CNT,
	RNR = OHCA_QP_RNR_RETRY,
	RQ_PSN = OHCA_QP_RQ_PSN,
	RD = OHCA_QP_MAX_QP_RD_ATOMIC,
	RNR_TIMER = OHCA_QP_MIN_RNR_TIMER,
	SQ_PSN = OHCA_QP_SQ_PSN,
	DEST_RD = OHCA_QP_MAX_DEST_RD_ATOMIC,
	DEST = OHCA_QP_DEST_QPN,
};

/**
 * struct rule - a transition other than to RESET or ERR
 * @need: by type of QP: attributes that are required
 * @may: attributes that are allowed as well
 * @none: types that do not have this transition
 */
struct rule {
	uint8_t from, to;
	uint32_t need[NUM_TYPES];
	uint32_t may[NUM_TYPES];
	uint32_t none;
};

#define STAY                                                               \
	{                                                                  \
		[OHCA_QPT_RC] = CUR | ACCESS | RNR_TIMER | ALT | MIG,      \
		[OHCA_QPT_UC] = CUR | ACCESS | ALT | MIG,                  \
		[OHCA_QPT_XRC_INI] = CUR | ACCESS | ALT | MIG,             \
		[OHCA_QPT_XRC_TGT] = CUR | ACCESS | RNR_TIMER | ALT | MIG, \
		[OHCA_QPT_UD] = CUR | QKEY,                                \
		[OHCA_QPT_GSI] = CUR | QKEY,                               \
		[OHCA_QPT_ETH] = CUR,                                      \
	}

#define INIT                                               \
	{                                                  \
		[OHCA_QPT_RC] = PKEY | PORT | ACCESS,      \
		[OHCA_QPT_UC] = PKEY | PORT | ACCESS,      \
		[OHCA_QPT_XRC_INI] = PKEY | PORT | ACCESS, \
		[OHCA_QPT_XRC_TGT] = PKEY | PORT | ACCESS, \
		[OHCA_QPT_UD] = PKEY | PORT | QKEY,        \
		[OHCA_QPT_GSI] = PKEY | QKEY,              \
		[OHCA_QPT_ETH] = PORT,                     \
	}

static const struct rule rules[] = {
	{OHCA_QPS_RESET, OHCA_QPS_INIT, .need = INIT},
	{OHCA_QPS_INIT, OHCA_QPS_INIT, .may = INIT},
	{OHCA_QPS_INIT, OHCA_QPS_RTR,
	 .need = {[OHCA_QPT_RC] = AV | MTU | DEST | RQ_PSN | DEST_RD | RNR_TIMER,
		  [OHCA_QPT_UC] = AV | MTU | DEST | RQ_PSN,
		  [OHCA_QPT_XRC_INI] = AV | MTU | DEST | RQ_PSN,
		  [OHCA_QPT_XRC_TGT] = AV | MTU | DEST | RQ_PSN | DEST_RD | RNR_TIMER},
	 .may = {[OHCA_QPT_RC] = ACCESS | PKEY | ALT,
		 [OHCA_QPT_UC] = ACCESS | PKEY | ALT,
		 [OHCA_QPT_XRC_INI] = ACCESS | PKEY | ALT,
		 [OHCA_QPT_XRC_TGT] = ACCESS | PKEY | ALT,
		 [OHCA_QPT_UD] = PKEY | QKEY,
		 [OHCA_QPT_GSI] = PKEY | QKEY}},
	{OHCA_QPS_RTR, OHCA_QPS_RTS,
	 .need = {[OHCA_QPT_RC] = TIMEOUT | RETRY | RNR | SQ_PSN | RD,
		  [OHCA_QPT_UC] = SQ_PSN,
		  [OHCA_QPT_XRC_INI] = TIMEOUT | RETRY | RNR | SQ_PSN | RD,
		  [OHCA_QPT_XRC_TGT] = TIMEOUT | SQ_PSN,
		  [OHCA_QPT_UD] = SQ_PSN,
		  [OHCA_QPT_GSI] = SQ_PSN},
	 .may = STAY},
	{OHCA_QPS_RTS, OHCA_QPS_RTS, .may = STAY},
	{OHCA_QPS_RTS, OHCA_QPS_SQD,
	 .may = {NOTIFY, NOTIFY, NOTIFY, NOTIFY, NOTIFY, NOTIFY, NOTIFY, NOTIFY, NOTIFY, NOTIFY,
		 NOTIFY}},
	{OHCA_QPS_SQD, OHCA_QPS_RTS, .may = STAY},
	{OHCA_QPS_SQD, OHCA_QPS_SQD,
	 .may = {[OHCA_QPT_RC] = PORT | AV | TIMEOUT | RETRY | RNR | RD | DEST_RD | ACCESS | PKEY |
				 RNR_TIMER | ALT | MIG,
		 [OHCA_QPT_UC] = AV | ACCESS | PKEY | ALT | MIG,
		 [OHCA_QPT_XRC_INI] = PORT | AV | TIMEOUT | RETRY | RNR | RD | ACCESS | PKEY | ALT |
				      MIG,
		 [OHCA_QPT_XRC_TGT] = PORT | AV | TIMEOUT | DEST_RD | ACCESS | PKEY | RNR_TIMER |
				      ALT | MIG,
		 [OHCA_QPT_UD] = PKEY | QKEY,
		 [OHCA_QPT_GSI] = PKEY | QKEY},
	 .none = 1 << OHCA_QPT_ETH},
	{OHCA_QPS_SQE, OHCA_QPS_RTS,
	 .may = {[OHCA_QPT_UC] = CUR | ACCESS, [OHCA_QPT_UD] = CUR | QKEY, [OHCA_QPT_GSI] = CUR | QKEY},
	 .none = 1 << OHCA_QPT_ETH | 1 << OHCA_QPT_RC | 1 << OHCA_QPT_XRC_INI |
		 1 << OHCA_QPT_XRC_TGT},
};

/* Does the transition exist?  Sets its attributes. */
static bool allowed(uint8_t type, unsigned int from, unsigned int to, uint32_t *need, uint32_t *may)
{
	bool has_sqe = type == OHCA_QPT_UC || type == OHCA_QPT_UD || type == OHCA_QPT_GSI;
	unsigned int i;

	*need = 0;
	*may = 0;
	if (to == OHCA_QPS_RESET)
		return from != OHCA_QPS_SQE || has_sqe;
	if (to == OHCA_QPS_ERR)
		return from != OHCA_QPS_RESET && (from != OHCA_QPS_SQE || has_sqe);
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].from != from || rules[i].to != to || rules[i].none & 1U << type)
			continue;
		*need = rules[i].need[type];
		*may = rules[i].may[type];
		return true;
	}
	return false;
}

static void check(uint8_t type, unsigned int from, unsigned int to)
{
	uint32_t need, may, bit;
	bool ok = allowed(type, from, to, &need, &may);

	assert_int_equal(qp_check_transition(type, from, to, OHCA_QP_STATE | need),
			 ok ? OHCA_CMD_OK : OHCA_CMD_BAD_STATE);
	if (!ok)
		return;
	assert_int_equal(qp_check_transition(type, from, to, need | may), OHCA_CMD_OK);
	for (bit = 1; bit; bit <<= 1) {
		enum ohca_cmd_status want = OHCA_CMD_OK;

		if (need & bit) {
			assert_int_equal(qp_check_transition(type, from, to,
							     OHCA_QP_STATE | (need & ~bit)),
					 OHCA_CMD_BAD_STATE);
			continue;
		}
		if (!(may & bit) && bit != OHCA_QP_STATE && bit != OHCA_QP_COUNTERS)
			want = OHCA_CMD_BAD_STATE;
		assert_int_equal(qp_check_transition(type, from, to, need | bit), want);
	}
}

static void test_all(void **state)
{
	unsigned int t, from, to;

	(void)state;
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (from = 0; from < NUM_STATES; from++) {
			for (to = 0; to < NUM_STATES; to++)
				check(types[t], from, to);
		}
	}
}

/* A counter set can be bound in each state, without another attribute. */
static void test_counters(void **state)
{
	unsigned int t, s;

	(void)state;
	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (s = 0; s < NUM_STATES; s++)
			assert_int_equal(qp_check_transition(types[t], s, s, OHCA_QP_COUNTERS),
					 OHCA_CMD_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_counters),
	};

	return RUN_TESTS(tests, NULL, NULL);
}
