// SPDX-License-Identifier: GPL-2.0
/* The types of QPs. */

#include "eth/eth.h"
#include "eth/rss.h"
#include "hca/qp_types.h"
#include "transport/rc.h"
#include "transport/tm.h"
#include "transport/ud.h"

const struct qp_type *const hca_qp_types[QP_NUM_TYPES] = {
	[OHCA_QPT_SMI] = &smi_type,	    [OHCA_QPT_GSI] = &gsi_type,
	[OHCA_QPT_RC] = &rc_type,	    [OHCA_QPT_UC] = &uc_type,
	[OHCA_QPT_UD] = &ud_type,	    [OHCA_QPT_ETH] = &eth_type,
	[OHCA_QPT_XRC_INI] = &xrc_ini_type, [OHCA_QPT_XRC_TGT] = &xrc_tgt_type,
	[OHCA_QPT_RWQ] = &rwq_type,	    [OHCA_QPT_TM] = &tm_type,
};
