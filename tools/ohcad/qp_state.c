// SPDX-License-Identifier: GPL-2.0
/* Rules of the QP state machine (InfiniBand specification, 10.3.1 and 11.2.5.2). */

#include "qp.h"

/**
 * struct qp_transition - a transition that exists
 * @types: for which types of QP, bits 1 << OHCA_QPT_*
 * @required: attributes without which it is refused
 * @optional: attributes that it may have as well; OHCA_QP_STATE always may
 */
struct qp_transition {
	uint8_t from, to;
	uint16_t types;
	uint32_t required;
	uint32_t optional;
};

#define RC (1 << OHCA_QPT_RC)
#define ETH (1 << OHCA_QPT_ETH)

#define PATH (OHCA_QP_AV | OHCA_QP_PATH_MTU | OHCA_QP_DEST_QPN)
#define RETRY (OHCA_QP_TIMEOUT | OHCA_QP_RETRY_CNT | OHCA_QP_RNR_RETRY)

static const struct qp_transition transitions[] = {
	{OHCA_QPS_RESET, OHCA_QPS_RESET, RC | ETH, 0, 0},
	{OHCA_QPS_RESET, OHCA_QPS_INIT, RC,
	 OHCA_QP_PKEY_INDEX | OHCA_QP_PORT | OHCA_QP_ACCESS_FLAGS, 0},
	{OHCA_QPS_RESET, OHCA_QPS_INIT, ETH, OHCA_QP_PORT, 0},

	{OHCA_QPS_INIT, OHCA_QPS_RESET, RC | ETH, 0, 0},
	{OHCA_QPS_INIT, OHCA_QPS_ERR, RC | ETH, 0, 0},
	{OHCA_QPS_INIT, OHCA_QPS_INIT, RC, 0,
	 OHCA_QP_PKEY_INDEX | OHCA_QP_PORT | OHCA_QP_ACCESS_FLAGS},
	{OHCA_QPS_INIT, OHCA_QPS_INIT, ETH, 0, OHCA_QP_PORT},
	{OHCA_QPS_INIT, OHCA_QPS_RTR, RC,
	 PATH | OHCA_QP_RQ_PSN | OHCA_QP_MAX_DEST_RD_ATOMIC | OHCA_QP_MIN_RNR_TIMER,
	 OHCA_QP_ACCESS_FLAGS | OHCA_QP_PKEY_INDEX},
	{OHCA_QPS_INIT, OHCA_QPS_RTR, ETH, 0, 0},

	{OHCA_QPS_RTR, OHCA_QPS_RESET, RC | ETH, 0, 0},
	{OHCA_QPS_RTR, OHCA_QPS_ERR, RC | ETH, 0, 0},
	{OHCA_QPS_RTR, OHCA_QPS_RTS, RC, RETRY | OHCA_QP_SQ_PSN | OHCA_QP_MAX_QP_RD_ATOMIC,
	 OHCA_QP_CUR_STATE | OHCA_QP_ACCESS_FLAGS | OHCA_QP_MIN_RNR_TIMER},
	{OHCA_QPS_RTR, OHCA_QPS_RTS, ETH, 0, OHCA_QP_CUR_STATE},

	{OHCA_QPS_RTS, OHCA_QPS_RESET, RC | ETH, 0, 0},
	{OHCA_QPS_RTS, OHCA_QPS_ERR, RC | ETH, 0, 0},
	{OHCA_QPS_RTS, OHCA_QPS_RTS, RC, 0,
	 OHCA_QP_CUR_STATE | OHCA_QP_ACCESS_FLAGS | OHCA_QP_MIN_RNR_TIMER},
	{OHCA_QPS_RTS, OHCA_QPS_RTS, ETH, 0, OHCA_QP_CUR_STATE},
	{OHCA_QPS_RTS, OHCA_QPS_SQD, RC | ETH, 0, OHCA_QP_EN_SQD_ASYNC_NOTIFY},

	{OHCA_QPS_SQD, OHCA_QPS_RESET, RC | ETH, 0, 0},
	{OHCA_QPS_SQD, OHCA_QPS_ERR, RC | ETH, 0, 0},
	{OHCA_QPS_SQD, OHCA_QPS_RTS, RC, 0,
	 OHCA_QP_CUR_STATE | OHCA_QP_ACCESS_FLAGS | OHCA_QP_MIN_RNR_TIMER},
	{OHCA_QPS_SQD, OHCA_QPS_RTS, ETH, 0, OHCA_QP_CUR_STATE},
	{OHCA_QPS_SQD, OHCA_QPS_SQD, RC, 0,
	 OHCA_QP_PORT | OHCA_QP_AV | RETRY | OHCA_QP_MAX_QP_RD_ATOMIC | OHCA_QP_MAX_DEST_RD_ATOMIC |
		 OHCA_QP_ACCESS_FLAGS | OHCA_QP_PKEY_INDEX | OHCA_QP_MIN_RNR_TIMER},

	{OHCA_QPS_ERR, OHCA_QPS_RESET, RC | ETH, 0, 0},
	{OHCA_QPS_ERR, OHCA_QPS_ERR, RC | ETH, 0, 0},
};

enum ohca_cmd_status qp_check_transition(uint8_t type, enum ohca_qp_state from,
					 enum ohca_qp_state to, uint32_t mask)
{
	const struct qp_transition *tr;
	unsigned int i;

	for (i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		tr = &transitions[i];
		if (tr->from != from || tr->to != to || !(tr->types & 1 << type))
			continue;
		if ((mask & tr->required) != tr->required ||
		    mask & ~(tr->required | tr->optional | OHCA_QP_STATE))
			return OHCA_CMD_BAD_STATE;
		return OHCA_CMD_OK;
	}
	return OHCA_CMD_BAD_STATE;
}
