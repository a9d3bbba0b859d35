// SPDX-License-Identifier: GPL-2.0
/* Assertions about events and completions once the device has nothing more to do. */

#include <endian.h>

#include "harness.h"
#include "inproc_assert.h"
#include "inject/hca_rule.h"

void inproc_assert_no_cqe(struct drv_cq *cq)
{
	struct ohca_cqe cqe;

	inproc_settle();
	assert_false(drv_cq_poll(cq, &cqe));
}

void inproc_assert_event(struct rig_hca *hca, enum ohca_event type, uint32_t id)
{
	struct ohca_eqe eqe;

	inproc_settle();
	do
		assert_true(drv_eq_poll(hca->async, &eqe));
	while (eqe.type == OHCA_EVENT_PORT_ACTIVE || eqe.type == OHCA_EVENT_COMM_EST);
	drv_eq_ack(hca->async);
	assert_int_equal(eqe.type, type);
	assert_int_equal(le32toh(eqe.id), id);
}

void inproc_assert_no_event(struct rig_hca *hca)
{
	struct ohca_eqe eqe;

	inproc_settle();
	while (drv_eq_poll(hca->async, &eqe))
		assert_true(eqe.type == OHCA_EVENT_PORT_ACTIVE || eqe.type == OHCA_EVENT_COMM_EST);
	drv_eq_ack(hca->async);
}

void inproc_assert_message(struct rig_qp *from, struct rig_qp *to)
{
	struct rig_wr wr = {.opcode = OHCA_OP_SEND, .flags = OHCA_WQE_SIGNALED};
	struct ohca_cqe cqe;

	rig_post_recv(to, 0, NULL, 0);
	rig_post_send(from, &wr);
	inproc_step();
	assert_true(drv_cq_poll(to->rcq, &cqe));
	assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	drv_cq_ack(to->rcq);
	while (drv_cq_poll(from->scq, &cqe))
		assert_int_equal(cqe.status, OHCA_WC_SUCCESS);
	drv_cq_ack(from->scq);
}

struct hca_rule *inproc_add_hca_rule(struct fabric *fabric, const char *text)
{
	char why[RULE_MAX_WHY] = "";
	struct hca_rule *rule = hca_rule_parse(text, why, sizeof(why));

	if (!rule)
		fail_msg("%s: %s", text, why);
	assert_int_equal(hca_rule_add(fabric, rule), 0);
	return rule;
}
