// SPDX-License-Identifier: GPL-2.0
/* Assertions about events and completions once the device has nothing more to do. */

#include <endian.h>

#include "harness.h"
#include "inproc_assert.h"

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
