// SPDX-License-Identifier: GPL-2.0
/* Queue pairs of the HCAs of the InfiniBand bed. */

#include "harness.h"
#include "ib_rig.h"

struct rig_hca hca[BED_HCAS];

int ib_rig_open(void **state)
{
	unsigned int i;

	ib_bed_open(state);
	for (i = 0; i < BED_HCAS; i++) {
		memset(&hca[i], 0, sizeof(hca[i]));
		hca[i].drv = ib.drv[i];
		hca[i].async = ib.async[i];
		hca[i].comp = drv_eq_new(ib.drv[i], 6, 1, 0);
		hca[i].pdn = drv_create(ib.drv[i], OHCA_CMD_ALLOC_PD, NULL, 0);
		hca[i].next_slot = 1;
	}
	return 0;
}

void ib_to_rts(struct rig_qp *qp)
{
	assert_int_equal(rig_to_init(qp), 0);
	assert_int_equal(rig_to_rtr(qp), 0);
	assert_int_equal(rig_to_rts(qp), 0);
}

struct rig_qp *ib_new_qp(unsigned int i, uint8_t type)
{
	struct rig_qp_opts opts = {.type = type,
				   .flags = type == OHCA_QPT_GSI ? OHCA_QP_F_PRIVILEGED : 0};
	struct rig_qp *qp = rig_qp_new(&hca[i], &opts);

	ib_to_rts(qp);
	return qp;
}
