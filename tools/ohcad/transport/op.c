// SPDX-License-Identifier: GPL-2.0
/* Operations of a send queue: the rules. */

#include "transport/op.h"

#define CONNECTED (QPT(OHCA_QPT_RC) | QPT(OHCA_QPT_UC) | QPT(OHCA_QPT_XRC_INI))
#define RELIABLE (QPT(OHCA_QPT_RC) | QPT(OHCA_QPT_XRC_INI))

#define ALWAYS (OHCA_WQE_SIGNALED | OHCA_WQE_FENCE)
#define MESSAGE (ALWAYS | OHCA_WQE_SOLICITED | OHCA_WQE_INLINE)

#define ATOMIC(ext)                                    \
	{.types = RELIABLE,                            \
	 .kind = OP_READ_ATOMIC,                       \
	 .flags = ALWAYS | OHCA_WQE_SOLICITED | (ext), \
	 .must = (ext),                                \
	 .fixed = true,                                \
	 .len = 8}

const struct op_rule op_rules[OP_NUM] = {
	[OHCA_OP_SEND] = {.types = CONNECTED, .flags = MESSAGE},
	[OHCA_OP_SEND_IMM] = {.types = CONNECTED, .flags = MESSAGE},
	[OHCA_OP_SEND_INV] = {.types = RELIABLE, .flags = MESSAGE},
	[OHCA_OP_RDMA_WRITE] = {.types = CONNECTED, .flags = MESSAGE},
	[OHCA_OP_RDMA_WRITE_IMM] = {.types = CONNECTED, .flags = MESSAGE},
	[OHCA_OP_RDMA_READ] = {.types = RELIABLE,
			       .kind = OP_READ_ATOMIC,
			       .flags = ALWAYS | OHCA_WQE_SOLICITED},
	[OHCA_OP_CMP_SWAP] = ATOMIC(0),
	[OHCA_OP_FETCH_ADD] = ATOMIC(0),
	[OHCA_OP_MASKED_CMP_SWAP] = ATOMIC(OHCA_WQE_EXT),
	[OHCA_OP_MASKED_FETCH_ADD] = ATOMIC(OHCA_WQE_EXT),
	[OHCA_OP_ATOMIC_WRITE] = {.types = RELIABLE,
				  .kind = OP_READ_ATOMIC,
				  .flags = MESSAGE,
				  .fixed = true,
				  .len = 8},
	[OHCA_OP_FLUSH] = {.types = QPT(OHCA_QPT_RC),
			   .kind = OP_READ_ATOMIC,
			   .flags = ALWAYS,
			   .fixed = true},
	[OHCA_OP_LOCAL_INV] = {.types = CONNECTED, .kind = OP_LOCAL, .flags = ALWAYS, .fixed = true},
	[OHCA_OP_BIND_MW] = {.types = CONNECTED, .kind = OP_LOCAL, .flags = ALWAYS, .fixed = true},
	[OHCA_OP_REG_MR] = {.types = CONNECTED,
			    .kind = OP_LOCAL,
			    .flags = ALWAYS | OHCA_WQE_EXT,
			    .must = OHCA_WQE_EXT,
			    .qp_flags = OHCA_QP_F_PRIVILEGED,
			    .fixed = true},
};

uint32_t op_mask(uint64_t caps)
{
	static const struct {
		uint64_t cap;
		uint32_t ops;
	} needs[] = {
		{OHCA_CAP_ATOMIC, OPS_ATOMIC},
		{OHCA_CAP_ATOMIC_WRITE, OPS(OHCA_OP_ATOMIC_WRITE)},
		{OHCA_CAP_FLUSH, OPS(OHCA_OP_FLUSH)},
		{OHCA_CAP_MEM_MGT,
		 OPS(OHCA_OP_SEND_INV) | OPS(OHCA_OP_LOCAL_INV) | OPS(OHCA_OP_REG_MR)},
		{OHCA_CAP_MW, OPS(OHCA_OP_BIND_MW)},
	};
	uint32_t ops = ~0U;
	unsigned int i;

	for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if (!(caps & needs[i].cap))
			ops &= ~needs[i].ops;
	}
	return ops;
}
