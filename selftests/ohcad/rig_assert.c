// SPDX-License-Identifier: GPL-2.0
/* Assertions about the state and completions of a rig's QPs. */

#include <endian.h>

#include "harness.h"
#include "rig_assert.h"

void assert_cqe(struct ohca_cqe cqe, uint8_t status, uint32_t vendor_err, uint64_t wr_id)
{
	assert_int_equal(cqe.status, status);
	assert_int_equal(le32toh(cqe.vendor_err), vendor_err);
	assert_int_equal(le64toh(cqe.wr_id), wr_id);
}

void assert_state(struct rig_qp *qp, enum ohca_qp_state state)
{
	assert_int_equal(rig_query(qp).state, state);
}

void assert_to_rts(struct rig_qp *qp)
{
	assert_int_equal(rig_to_init(qp), OHCA_CMD_OK);
	assert_int_equal(rig_to_rtr(qp), OHCA_CMD_OK);
	assert_int_equal(rig_to_rts(qp), OHCA_CMD_OK);
}

int try_create_qp(struct rig_hca *hca, const struct ohca_create_qp_in *in)
{
	struct ohca_handle out;
	int status = drv_cmd(hca->drv, OHCA_CMD_CREATE_QP, in, sizeof(*in), &out, sizeof(out));

	if (!status)
		assert_int_equal(drv_destroy(hca->drv, OHCA_CMD_DESTROY_QP, le32toh(out.id)), 0);
	return status;
}

uint64_t rig_counter(struct rig_hca *hca, enum ohca_counter counter)
{
	struct ohca_query_counters_out out;
	struct ohca_query_counters_in in = {.port = 1};

	assert_int_equal(drv_cmd(hca->drv, OHCA_CMD_QUERY_COUNTERS, &in, sizeof(in), &out,
				 sizeof(out)),
			 OHCA_CMD_OK);
	return le64toh(out.value[counter]);
}
